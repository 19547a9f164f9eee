"""A model that keeps its replies until a test has seen what it is to see before they come."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tests.openai_server import Chat, Reply, Server


@contextmanager
def held_back(model: Server, after: int = 0) -> Iterator[None]:
    """Let a model answer so many calls from now on, and no other until this ends.

    The server itself stands still meanwhile, and counts the call that waits as the last one.
    """
    last = model.calls + after
    answer = model.behavior
    is_over = threading.Event()

    def behave(chat: Chat) -> Reply:
        if model.calls > last:
            is_over.wait()
        return answer(chat)

    model.behavior = behave
    try:
        yield
    finally:
        model.behavior = answer
        is_over.set()
