"""How long a waiting caller waits for joint calls, and what a question costs, from the lengths of recorded replies.

python -m benchmarks.quality.large_model.waiting [--url URL]

An endpoint answers after 300 ms and 15 ms for each token of the reply, any number of calls at once; a token is four
characters. A question takes as long as its slowest call. The replies are those to calls about eight, or twenty,
passages, cut into what they say of the passages of each smaller call. That is an approximation: a model that sees fewer
passages may list more or fewer readings.

What a question costs is counted in the same way if all of its twenty passages are read, fewer of them as option
`recall` may allow, or batch after batch as adaptive judging does.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import Any, Final

import numpy as np
from rich.table import Table

from benchmarks.figures import show_tables
from benchmarks.quality.large_model.files import (
    CALLS,
    FEW,
    HERE,
    MANY,
    Asked,
    hash_of,
    passage_texts,
    read_asked,
    read_replies,
    with_texts,
)
from benchmarks.quality.large_model.ways import Replies, said
from pgclarify.data.model_calls import ModelCall
from pgclarify.operations.judging.planning import dealt
from pgclarify.prompts.joint_verdicts import JointVerdicts, joint_verdicts
from pgclarify.prompts.verdict import verdict

_FIRST_MS, _TOKEN_MS = 300, 15
_CHARACTERS_A_TOKEN: Final = 4
_SIZES: Final = {FEW: (1, 2, 3, 4, 8), MANY: (1, 2, 4, 7, 10, 20)}
_COSTS: Final = {
    "top_k 20": (20,),
    "top_k 12, or recall that reads 12": (12,),
    "adaptive, one batch": (8,),
    "adaptive, two batches": (8, 3),
    "adaptive, three batches": (8, 3, 4),
    "adaptive, all passages": (8, 3, 4, 5),
}
"""Passages of each batch; after the first, a third of those before."""
_WAYS: Final = {FEW: "joint_verdicts", MANY: "joint_verdicts_many"}


@dataclass(frozen=True)
class _Recorded:
    asked: Asked
    joint: JointVerdicts
    alone: Sequence[str]
    """Recorded verdicts, of the first passages."""


def _recorded(several: Sequence[Asked], count: int, replies: Replies) -> list[_Recorded]:
    found = []
    for asked in several:
        with suppress(LookupError):
            (call,) = CALLS[_WAYS[count]](asked.question, asked.passages)
            joint = said(call, replies)
            alone = [replies[hash_of(one)] for one in CALLS["verdict"](asked.question, asked.passages)]
            found.append(_Recorded(asked, joint, alone))
    return found


def _milliseconds(reply: str) -> float:
    return _FIRST_MS + _TOKEN_MS * len(reply) / _CHARACTERS_A_TOKEN


def _alone(one: _Recorded, count: int) -> float:
    """Time of one call for each passage; for passages without a recorded verdict, of what the joint reply says."""
    later = range(len(one.alone), min(count, len(one.asked.passages)))
    return max(map(_milliseconds, [*one.alone, *(_verdict(one.joint, place) for place in later)]))


def _verdict(joint: JointVerdicts, place: int) -> str:
    found = joint.of(place)
    first = found[0] if isinstance(found, tuple) else None
    return json.dumps({name: first and getattr(first, name) for name in ("interpretation", "answer", "quote")})


def _together(one: _Recorded, groups: Sequence[Sequence[int]]) -> float:
    return max(_milliseconds(_part(one.joint, group)) for group in groups)


def _part(joint: JointVerdicts, group: Sequence[int]) -> str:
    """Write what a reply says of some of its passages."""
    readings = []
    for reading in joint.readings:
        proofs = [{"passage": place + 1, "quote": quote} for place, quote in reading.proofs if place in group]
        if proofs:
            readings.append({"interpretation": reading.interpretation, "answer": reading.answer, "proofs": proofs})
    return json.dumps({"readings": readings}, ensure_ascii=False)


def _passages_of(one: _Recorded, count: int) -> int:
    return min(count, len(one.asked.passages))


def _by_rank(count: int, calls: int) -> list[list[int]]:
    size = ceil(count / calls)
    return [[*range(start, min(start + size, count))] for start in range(0, count, size)]


def _spread(count: int, calls: int) -> list[list[int]]:
    return [[*range(first, count, calls)] for first in range(calls)]


def _dealt(one: _Recorded, count: int, calls: int, deal: Callable[[int, int], list[list[int]]]) -> float:
    return _together(one, deal(_passages_of(one, count), calls))


def _table(count: int, several: Sequence[_Recorded]) -> Table:
    table = Table("calls", "p50, ms", "p95, ms", title=f"{count} passages, {len(several)} questions")

    def add(name: str, measured: Callable[[_Recorded], float]) -> None:
        times = [measured(one) for one in several]
        table.add_row(name, *(f"{np.percentile(times, share):.0f}" for share in (50, 95)))

    add("one passage a call", lambda one: _alone(one, count))
    for size in _SIZES[count]:
        calls = ceil(count / size)
        ways = {"by rank": _by_rank, "spread": _spread} if 1 < calls < count else {"": _spread}
        for name, deal in ways.items():
            add(f"{calls} of {size} {name}", partial(_dealt, count=count, calls=calls, deal=deal))
    add(
        "as pgclarify asks while a caller waits",
        lambda one: _together(one, dealt(one.asked.passages[:count], count, is_urgent=True)),
    )
    return table


def _costs(several: Sequence[_Recorded]) -> Table:
    table = Table("read", "passages", title=f"calls; tokens read and written a question, {len(several)} questions")
    for way in ("one passage a call", "joint calls", "joint calls, a caller waits"):
        table.add_column(way)
    for name, batches in _COSTS.items():
        costs = np.array([[_cost(one, batches, way) for way in (None, False, True)] for one in several])
        cells = (f"{calls:.1f}; {tokens:.0f}" for calls, tokens in costs.mean(axis=0))
        table.add_row(name, str(sum(batches)), *cells)
    return table


def _cost(one: _Recorded, batches: Sequence[int], is_urgent: bool | None) -> tuple[int, float]:
    """Count calls and tokens. is_urgent: as in `dealt`; None for one passage a call."""
    calls, characters, start = 0, 0, 0
    for size in batches:
        batch = one.asked.passages[start : start + size]
        for group in dealt(batch, 1 if is_urgent is None else MANY, is_urgent=bool(is_urgent)):
            calls += 1
            characters += _characters(one, [start + place for place in group])
        start += size
    return calls, characters / _CHARACTERS_A_TOKEN


def _characters(one: _Recorded, places: Sequence[int]) -> int:
    """Count those of a call about these passages, and of its reply."""
    passages = [one.asked.passages[place] for place in places]
    call: ModelCall[Any]
    if len(places) == 1:
        call, reply = verdict(one.asked.question, *passages), _verdict(one.joint, *places)
    else:
        call, reply = joint_verdicts(one.asked.question, passages), _part(one.joint, places)
    return sum(len(message.content) for message in call.messages) + len(reply)


def main() -> None:
    """Read the command line, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", help="a database into which the manuals were loaded")
    url = parser.parse_args().url
    several = with_texts(read_asked(HERE / "asked.jsonl.gz"), passage_texts(url) if url else ())
    replies = {asked: reply for (asked, one), reply in read_replies(HERE / "replies.jsonl.gz").items() if one == "a"}
    found = {count: _recorded(several, count, replies) for count in (FEW, MANY)}
    tables = [_table(count, those) for count, those in found.items()]
    show_tables(*tables, _costs(found[MANY]), prompts=("verdict", "joint_verdicts"))


if __name__ == "__main__":
    main()
