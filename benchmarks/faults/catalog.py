"""The faults."""

from __future__ import annotations

import random
import signal
from collections.abc import Callable
from dataclasses import dataclass
from threading import Event
from typing import TypeAlias

from benchmarks.faults import wire
from benchmarks.faults.stage import Stage, send

Disturbance: TypeAlias = Callable[[Stage, Event], None]
"""Disturbs until the event is set, then restores everything."""


@dataclass(frozen=True)
class Fault:
    """One kind of fault.

    Attributes:
        name: The name in the table.
        replies: Bad replies, sent in turn; none if the fault is of another kind.
        share: Share of all calls that get a bad reply.
        disturb: Makes something else fail; None if nothing else does.
        workers: How many workers run.
        latency: Seconds that each call takes.
        is_outage: Whether all calls fail for so long that a run may fail, too.
    """

    name: str
    replies: tuple[wire.Spoil, ...] = ()
    share: float = 0.2
    disturb: Disturbance | None = None
    workers: int = 1
    latency: float = 0.0
    is_outage: bool = False


def refuse_once(seconds: float) -> Disturbance:
    """The endpoint takes no connections for these seconds."""

    def disturb(stage: Stage, over: Event) -> None:
        stage.endpoint.refuse()
        over.wait(seconds)
        stage.endpoint.listen()

    return disturb


def kill_workers(every: float) -> Disturbance:
    """SIGKILL for one worker, again and again."""

    def disturb(stage: Stage, over: Event) -> None:
        while not over.wait(every):
            stage.crew.replace(stage.dsn)

    return disturb


def stall_worker(after: float, seconds: float) -> Disturbance:
    """One worker is stopped for these seconds."""

    def disturb(stage: Stage, over: Event) -> None:
        if over.wait(after):
            return
        member = random.choice(stage.crew.members)  # noqa: S311 - not for secrets
        send(member, signal.SIGSTOP)
        over.wait(seconds)
        send(member, signal.SIGCONT)

    return disturb


def end_sessions(every: float) -> Disturbance:
    """All sessions of workers are terminated, again and again."""

    def disturb(stage: Stage, over: Event) -> None:
        while not over.wait(every):
            stage.cut_sessions()

    return disturb


def restart_server(every: float) -> Disturbance:
    """The server restarts, again and again."""

    def disturb(stage: Stage, over: Event) -> None:
        while not over.wait(every):
            stage.restart_server()

    return disturb


_HTML = "<!doctype html><html><head><title>Sign in</title></head><body><h1>Sign in</h1></body></html>"
_DEEP = '{"choices": ' + "[" * 200_000 + "]" * 200_000 + "}"

FAULTS = (
    Fault(
        "500; 429, Retry-After 1 s",
        (wire.refusal("500 Internal Server Error"), wire.refusal("429 Too Many Requests", "1")),
    ),
    Fault("429, Retry-After 1 h", (wire.refusal("429 Too Many Requests", "3600"),)),
    Fault("connection reset", (wire.raw(b"", wire.Ending.RESET),)),
    Fault("connection refused, 5 s", disturb=refuse_once(5.0), is_outage=True),
    Fault("bytes that are no HTTP", (wire.raw(b"220 mail.example ESMTP ready\r\n"), wire.raw(bytes(range(256))))),
    Fault("200 and HTML", (wire.text(_HTML), wire.text(""))),
    Fault("body cut off", (wire.truncated,)),
    Fault("a byte too many, bad chunk", (wire.byte_too_many, wire.bad_chunk)),
    Fault("header of 9 KB", (wire.long_header,)),
    Fault(
        "choices, message of other types",
        (
            wire.changed(choices=float("nan")),
            wire.changed(choices=5),
            wire.changed(choices=[None]),
            wire.changed(choices=[{"index": 0, "message": None, "finish_reason": "stop"}]),
            wire.message(content=7),
        ),
    ),
    Fault("usage a list, deep JSON", (wire.changed(usage=[1, 2, 3]), wire.text(_DEEP))),
    Fault("content in parts, always", (wire.parts,), share=1.0),
    Fault("22 MB", (wire.padded(22 * 2**20),)),
    Fault("gzip of 200 MB", (wire.bomb(200 * 2**20),), share=0.1),
    Fault("drip", (wire.drip(0.2),)),
    Fault("silence", (wire.hang,)),
    Fault("SIGKILL every 3 s", disturb=kill_workers(3.0), workers=2, latency=0.6),
    Fault("SIGSTOP, 100 s", disturb=stall_worker(2.0, 100.0), workers=2, latency=0.6),
    Fault("sessions ended every 3 s", disturb=end_sessions(3.0), workers=2, latency=0.6),
    Fault("server restarts every 4 s", disturb=restart_server(4.0), workers=2, latency=0.6),
)
