"""What a large model finds one passage a call, several a call, and in one prompt, from recorded replies.

python -m benchmarks.quality.large_model [--held | --development] [--writer b] [--url URL]

It calls no model. Passages that are not ours to publish are read from the database of URL, if it is given; without it,
only questions whose passages are here are counted. All ways see the same eight passages, found by a search for the
question itself; the rows with twenty passages see twenty. What a reply about several passages says is checked, grouped
and ordered by the product; a passage that it asks about alone gets the recorded verdict of one passage a call. A
reading of RAMDocs is right if it has a known answer, one of a real document if judges who knew neither ways nor model
gave it the letter R.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray
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
from benchmarks.quality.large_model.ways import Outcome, Replies, outcome, told
from pgclarify.algorithms.metrics import paired_bootstrap
from pgclarify.embedding.registry import Embedders
from pgclarify.operations.judging.joint_reply import leans_on

_WAYS: Final = (
    ("clarify, one passage a call", "verdict", "checks"),
    ("the same, only the quote is checked", "verdict", "none"),
    ("clarify, eight passages a call", "joint_verdicts", "checks"),
    ("clarify, twenty passages a call", "joint_verdicts_many", "checks"),
    ("one prompt", "one_prompt", ""),
)
# The second less the first.
_PAIRS: Final = (
    ("clarify, one passage a call", "clarify, eight passages a call"),
    ("one prompt", "clarify, eight passages a call"),
    ("clarify, one passage a call", "clarify, twenty passages a call"),
    ("one prompt", "clarify, twenty passages a call"),
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
        "contested",
        "silent if unanswerable",
        "calls",
        "asked again alone",
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
            str(sum(each.is_contested for one in found for each in one.shown)),
            f"{sum(not one.shown for one in unanswerable)} of {len(unanswerable)}",
            f"{np.mean([one.calls for one in found]):.2f}",
            str(sum(one.again for one in found)),
            f"{np.mean([one.read for one in found]):.0f}",
            f"{np.mean([one.written for one in found]):.0f}",
        )
    return table


def differences(title: str, ways: Mapping[str, Sequence[Outcome]]) -> Table:
    """A row for each pair of ways, on the questions that both have."""
    judged = letters()
    measures: dict[str, Callable[[Outcome], tuple[int, int]]] = {
        "first right": lambda one: (one.letters(judged)[:1] == ["R"], 1),
        "known readings found": lambda one: (one.found, len(one.asked.known)),
        "readings shown": lambda one: (len(one.shown), 1),
        "documents cited": lambda one: (len(one.cited), 1),
    }
    table = Table("way", "less", "questions", *measures, title=f"differences, {title}")
    for first, second in _PAIRS:
        others = {one.asked.question: one for one in ways[first]}
        pairs = [(others[one.asked.question], one) for one in ways[second] if one.asked.question in others]
        answerable = [(other, one) for other, one in pairs if one.asked.known]
        cells = []
        for name, measure in measures.items():
            counted = pairs if name in ("readings shown", "documents cited") else answerable
            if not counted:
                break
            sides = ([measure(pair[side]) for pair in counted] for side in (0, 1))
            found = paired_bootstrap(next(sides), next(sides), _ratio)
            cells.append(f"{found.difference:+.2f} ({found.low:+.2f} to {found.high:+.2f})")
        else:
            table.add_row(second, first, str(len(pairs)), *cells)
    return table


def standing(several: Sequence[Asked], replies: Replies) -> Table:
    """A row for each way with several passages a call: what of a reply stands by itself."""
    table = Table(
        "way",
        "questions",
        "passages",
        "with readings",
        "asked again alone",
        "readings",
        "with words of another document",
        "answers with words of another document",
        title="what the replies say of passages",
    )
    for name, way, _ in _WAYS:
        found = []
        for asked in several if way.startswith("joint_verdicts") else ():
            with suppress(LookupError):
                found.append((asked, told(asked, way, replies)))
        if not found:
            continue
        readings = [
            (asked, [passage for passage, _ in of_call], place, reading)
            for asked, of_call in found
            for place, (_, said) in enumerate(of_call)
            if isinstance(said, tuple)
            for reading in said
        ]
        sayings = [said for _, of_call in found for _, said in of_call]
        table.add_row(
            name,
            str(len(found)),
            str(len(sayings)),
            str(sum(isinstance(said, tuple) for said in sayings)),
            str(sum(said is None for said in sayings)),
            str(len(readings)),
            str(sum(bool(reading.leans_on) for *_, reading in readings)),
            str(
                sum(
                    bool(leans_on(replace(reading, interpretation=""), asked.question, passages, place))
                    for asked, passages, place, reading in readings
                )
            ),
        )
    return table


def _ratio(values: NDArray[np.float64]) -> NDArray[np.float64]:
    sums = values.sum(axis=-2)
    return np.asarray(sums[..., 0] / np.maximum(1, sums[..., 1]))


def _share(parts: Sequence[int], wholes: Sequence[int]) -> str:
    if not sum(wholes):
        return ""
    low, high = share_interval(parts, wholes)
    return f"{sum(parts)} of {sum(wholes)}, {sum(parts) / sum(wholes):.2f} ({low:.2f} to {high:.2f})"


async def _outcomes(asked: Sequence[Asked], replies: Replies) -> dict[str, list[Outcome]]:
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
    recorded = read_replies(HERE / "replies.jsonl.gz")
    replies = {key: reply for (key, one), reply in recorded.items() if one == given.writer}
    ways = asyncio.run(_outcomes(asked, replies))
    tables = [standing(asked, replies)]
    for kind, wanted in {"RAMDocs": [True], "handbook and manuals": [False], "all": [True, False]}.items():
        title = f"{kind}, writer {given.writer}"
        those = {
            way: [one for one in found if (one.asked.documents == "ramdocs") in wanted] for way, found in ways.items()
        }
        tables += [table_of(title, those), differences(title, those)]
    show_tables(*tables, width=260, prompts=("verdict", "joint_verdicts", "one_prompt"))


if __name__ == "__main__":
    main()
