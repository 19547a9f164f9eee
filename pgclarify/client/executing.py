"""Makes methods of scripts: methods that block, and methods that are awaited."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import closing
from typing import Any, Concatenate, ParamSpec, TypeVar

from pgclarify.client import passages
from pgclarify.client.results import Results
from pgclarify.client.scripts import Call, Pause, Rows, Script, Session, Statement, Stream, described

P = ParamSpec("P")
T = TypeVar("T")


def method(script: Callable[Concatenate[Session, P], Script[T]]) -> Callable[Concatenate[Executor, P], T]:
    """Make a method that executes a script and returns its result."""

    def call(client: Executor, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with closing(script(client, *args, **kwargs)) as steps:
            try:
                step = next(steps)
                while True:
                    step = steps.send(client._take(step))
            except StopIteration as end:
                returned: T = end.value
                if isinstance(returned, Results):
                    returned._cited_passages = client.cited_passages
                return returned

    return described(call, script)


def iterating_method(
    script: Callable[Concatenate[Session, P], Stream[T]],
) -> Callable[Concatenate[Executor, P], Iterator[T]]:
    """Make a method that executes a script while the caller iterates over what it yields."""

    def call(client: Executor, /, *args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        with closing(script(client, *args, **kwargs)) as steps:
            try:
                step = next(steps)
                while True:
                    if isinstance(step, Statement | Call | Pause):
                        step = steps.send(client._take(step))
                    else:
                        yield step
                        step = next(steps)
            except StopIteration:
                return

    return described(call, script, "Iterator[{}]")


def async_method(
    script: Callable[Concatenate[Session, P], Script[T]],
) -> Callable[Concatenate[AsyncExecutor, P], Coroutine[Any, Any, T]]:
    """Make a method like `method`, to be awaited."""

    async def call(client: AsyncExecutor, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with closing(script(client, *args, **kwargs)) as steps:
            try:
                step = next(steps)
                while True:
                    step = steps.send(await client._take(step))
            except StopIteration as end:
                returned: T = end.value
                return returned

    return described(call, script)


def async_iterating_method(
    script: Callable[Concatenate[Session, P], Stream[T]],
) -> Callable[Concatenate[AsyncExecutor, P], AsyncIterator[T]]:
    """Make a method like `iterating_method`, for `async for`."""

    async def call(client: AsyncExecutor, /, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[T]:
        with closing(script(client, *args, **kwargs)) as steps:
            try:
                step = next(steps)
                while True:
                    if isinstance(step, Statement | Call | Pause):
                        step = steps.send(await client._take(step))
                    else:
                        yield step
                        step = next(steps)
            except StopIteration:
                return

    return described(call, script, "AsyncIterator[{}]")


class Executor(Session):
    """Executes scripts; each method blocks."""

    # Lists that are shown read the passages of their quotes with it.
    cited_passages = method(passages.cited_passages)

    def _take(self, step: Statement | Call | Pause) -> Rows:
        """Send a statement or a call, or wait; return the rows."""
        raise NotImplementedError


class AsyncExecutor(Session):
    """Executes scripts; each method is awaited."""

    cited_passages = async_method(passages.cited_passages)

    async def _take(self, step: Statement | Call | Pause) -> Rows:
        """Send a statement or a call, or wait; return the rows."""
        raise NotImplementedError
