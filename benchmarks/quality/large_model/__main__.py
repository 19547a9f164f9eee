"""What a large model finds one passage a call, several a call, and in one prompt, from recorded replies.

python -m benchmarks.quality.large_model [--held | --development] [--writer b] [--url URL]

It calls no model. Passages that are not ours to publish are read from the database of URL, if it is given; without it,
only questions whose passages are here are counted. All ways see the same eight passages, found by a search for the
question itself; the rows with twenty passages see twenty. A reading of RAMDocs is right if it has a known answer, one
of a real document if judges who knew neither ways nor model gave it the letter R.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from typing import Final

import numpy as np
from rich.table import Table

from benchmarks.data_sets import MODEL
from benchmarks.figures import show_tables
from benchmarks.quality.judged import share_interval
from benchmarks.quality.large_model.files import (
    HERE,
    Asked,
    letters,
    passage_texts,
    read_asked,
    read_replies,
    with_texts,
)
from benchmarks.quality.large_model.ways import Outcome, outcome
from pgclarify.embedding.registry import Embedders

_WAYS: Final = (
    ("clarify, one passage a call", "verdict", "checks"),
    ("the same, only the quote is checked", "verdict", "none"),
    ("clarify, eight passages a call", "answering", "checks"),
    ("clarify, twenty passages a call", "answering_many", "checks"),
    ("one prompt with proofs, eight passages", "joint_verdicts", ""),
    ("one prompt with proofs, twenty passages", "joint_verdicts_many", ""),
    ("one prompt", "one_prompt", ""),
)


def table_of(title: str, ways: Mapping[str, Sequence[Outcome]]) -> Table:
    """A row for each way."""
    judged = letters()
    table = Table(
        "way",
        "questions",
        "known readings found",
        "first right",
        "with a planted answer",
        "documents cited",
        "readings: right, wrong, useless, not judged",
        "silent if unanswerable",
        "calls",
        "tokens read",
        "tokens written",
        title=title,
    )
    for way, found in ways.items():
        if not found:
            continue
        answerable = [one for one in found if one.asked.known]
        unanswerable = [one for one in found if not one.asked.known]
        sizes = [len(one.shown) for one in found]
        table.add_row(
            way,
            str(len(found)),
            _share([one.found for one in answerable], [len(one.asked.known) for one in answerable]),
            _share([one.letters(judged)[:1] == ["R"] for one in answerable], [1] * len(answerable)),
            _share([one.wrong for one in found], sizes),
            f"{np.mean([len(one.cited) for one in found]):.1f}",
            ", ".join(str(sum(one.letters(judged).count(letter) for one in found)) for letter in "RWN?"),
            f"{sum(not one.shown for one in unanswerable)} of {len(unanswerable)}",
            f"{np.mean([one.calls for one in found]):.1f}",
            f"{np.mean([one.read for one in found]):.0f}",
            f"{np.mean([one.written for one in found]):.0f}",
        )
    return table


def _share(parts: Sequence[int], wholes: Sequence[int]) -> str:
    if not sum(wholes):
        return ""
    low, high = share_interval(parts, wholes)
    return f"{sum(parts)} of {sum(wholes)}, {sum(parts) / sum(wholes):.2f} ({low:.2f} to {high:.2f})"


async def _outcomes(asked: Sequence[Asked], writer: str) -> dict[str, list[Outcome]]:
    replies = {key: reply for (key, one), reply in read_replies(HERE / "replies.jsonl.gz").items() if one == writer}
    ways: dict[str, list[Outcome]] = {}
    with closing(Embedders()) as embedders:
        embedder = await embedders.get_for_readings(MODEL)
        for name, way, verify in _WAYS:
            ways[name] = []
            for one in asked:
                with suppress(LookupError):
                    ways[name].append(await outcome(one, way, replies, embedder, verify=verify))
    return ways


def main() -> None:
    """Read the command line, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    half = parser.add_mutually_exclusive_group()
    half.add_argument("--held", action="store_true")
    half.add_argument("--development", action="store_true")
    parser.add_argument("--writer", default="a")
    parser.add_argument("--url", help="a database into which the manuals were loaded")
    given = parser.parse_args()
    asked = [
        one
        for one in with_texts(read_asked(HERE / "asked.jsonl.gz"), passage_texts(given.url) if given.url else ())
        if not (given.held and not one.is_held) and not (given.development and one.is_held)
    ]
    ways = asyncio.run(_outcomes(asked, given.writer))
    kinds = {"RAMDocs": [True], "handbook and manuals": [False], "all": [True, False]}
    tables = [
        table_of(
            f"{kind}, writer {given.writer}",
            {
                way: [one for one in found if (one.asked.documents == "ramdocs") in wanted]
                for way, found in ways.items()
            },
        )
        for kind, wanted in kinds.items()
    ]
    show_tables(*tables, width=220, prompts=("verdict", "answering", "one_prompt"))


if __name__ == "__main__":
    main()
