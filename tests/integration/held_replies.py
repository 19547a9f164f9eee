"""Holds the replies of a model until a test has made its checks."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tests.openai_server import Chat, Reply, Server


@contextmanager
def hold_replies(model: Server, after: int = 0) -> Iterator[None]:
    """Let a model answer a number of calls from now on, and no more calls until this ends.

    The server itself is blocked meanwhile, and counts the waiting call as the last one.
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
