"""A loop whose clock stands still while there is work, and then jumps to the next event."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def carry_out(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that may sleep for hours, without real waiting."""
    with asyncio.Runner(loop_factory=_StillLoop) as runner:
        runner.get_loop().set_default_executor(_Here())
        return runner.run(work)


class _Here(ThreadPoolExecutor):
    """Executes at once, in the loop's thread, because work in another thread would take time."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class _Selector(selectors.DefaultSelector):
    """Does not wait, but adds up how long it would have waited."""

    waited = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready:
            self.waited += timeout or 0
        return ready


class _StillLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._clock = _Selector()
        super().__init__(self._clock)

    def time(self) -> float:
        return self._clock.waited
