"""Runs a script with a scripted server."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pgclarify.client.rows import Row
from pgclarify.client.scripts import Call, Pause, Statement

T = TypeVar("T")


@dataclass(frozen=True)
class Played(Generic[T]):
    """The record of what a script did."""

    sent: list[Statement | Call]
    pauses: list[float]
    yielded: list[Any]
    returned: T


def play(script: Generator[Any, Sequence[Row], T], *replies: Sequence[Row]) -> Played[T]:
    """Run a script, with one reply for each statement, in order. It must send exactly as many statements."""
    left = list(replies)
    sent: list[Statement | Call] = []
    pauses: list[float] = []
    yielded: list[Any] = []
    answer: Sequence[Row] = ()
    try:
        step = next(script)
        while True:
            answer = ()
            if isinstance(step, Statement | Call):
                sent.append(step)
                answer = left.pop(0)
            elif isinstance(step, Pause):
                pauses.append(step.seconds)
            else:
                yielded.append(step)
            step = script.send(answer)
    except StopIteration as end:
        assert not left, "the test has replies that no statement asked for"
        return Played(sent, pauses, yielded, end.value)


def sent_name(step: Statement | Call) -> str:
    """The name of the statement or of the function."""
    return step.function if isinstance(step, Call) else step.name


def sent_values(step: Statement | Call) -> dict[str, Any]:
    """The values that are sent with it."""
    return dict(step.arguments if isinstance(step, Call) else step.parameters)
