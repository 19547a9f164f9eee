"""Holds the replies of a model until a test has made its checks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.openai_server import HANG, Chat, Reply, Server


@contextmanager
def hold_replies(model: Server, after: int = 0) -> Iterator[None]:
    """Let a model answer a number of calls from now on, and all others when this ends."""
    answer = model.behavior
    left = after

    def behave(chat: Chat) -> Reply:
        nonlocal left
        left -= 1
        return answer(chat) if left >= 0 else HANG

    model.behavior = behave
    try:
        yield
    finally:
        model.behavior = answer
        model.releases += 1
