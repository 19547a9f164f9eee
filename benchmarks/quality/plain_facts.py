"""What the extractive provider reads in one plain sentence, and how often it reads an answer that is not there.

python -m benchmarks.quality.plain_facts [--part development|held] [--verbose]. A hundred facts in the words of offices,
manuals, policies and lists, each with a question or a few keywords and the right answers (plain_facts.jsonl). Two of
five facts are held: choices were made on the other three. A reading is right if it passes the checks of a verdict and
its answer contains a right answer. It is short if its answer is less than the sentence. Each question is also asked
about all other facts, where each reading is wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections import Counter
from pathlib import Path
from typing import Any, Final

from rich.table import Table

from benchmarks.data_sets import MODEL
from benchmarks.figures import show_tables
from pgclarify.data.documents import Passage
from pgclarify.data.verdicts import Reading, Refusal
from pgclarify.embedding import load_embedder, load_span_reader
from pgclarify.language.quotes import fold
from pgclarify.operations.judging.verdict_check import check_quote
from pgclarify.providers.extractive import ExtractiveVerifier
from pgclarify.providers.extractive.scoring import THRESHOLD

_FACTS: Final = Path(__file__).with_suffix(".jsonl")
_HELD: Final = (3, 4)


async def _read(verifier: ExtractiveVerifier, question: str, fact: str) -> Reading | None:
    passage = Passage("fact", 1, fact)
    rated = await verifier.rate(question, passage)
    if rated is None or rated[0] < THRESHOLD or isinstance(check_quote(rated[1], question, passage), Refusal):
        return None
    return rated[1]


def _is_right(answer: str, known: list[str]) -> bool:
    said = f" {fold(answer).strip(' .')} "
    return any(f" {fold(one)}" in said for one in known)


async def _main(part: str | None, *, is_verbose: bool) -> None:
    lines = _FACTS.read_text("utf-8").splitlines()
    facts: dict[str, list[dict[str, Any]]] = {"development": [], "held": []}
    for place, line in enumerate(lines):
        facts["held" if place % 5 in _HELD else "development"].append(json.loads(line))
    table = Table("part", "right", "of them short", "wrong", "nothing", "read in another fact", "ms a fact")
    embedder = load_embedder(MODEL)
    try:
        verifier = ExtractiveVerifier(embedder, load_span_reader())
        for name in [part] if part else facts:
            counts: Counter[str] = Counter()
            elsewhere, seconds = 0, 0.0
            for one in facts[name]:
                began = time.perf_counter()
                reading = await _read(verifier, one["asked"], one["fact"])
                seconds += time.perf_counter() - began
                is_right = reading is not None and _is_right(reading.answer, one["answers"])
                outcome = "right" if is_right else "wrong"
                if reading is None:
                    outcome = "nothing"
                counts[outcome] += 1
                counts["short"] += reading is not None and is_right and reading.answer.rstrip(".") != one["fact"][:-1]
                if is_verbose:
                    print(f"{outcome:8} {one['asked']} -> {reading and (reading.interpretation, reading.answer)}")
                for other in facts[name]:
                    found = other is not one and await _read(verifier, one["asked"], other["fact"])
                    elsewhere += bool(found)
                    if found and is_verbose:
                        print(f"elsewhere {one['asked']} -> {found.interpretation} {found.answer}")
            number = len(facts[name])
            shown = [f"{counts[one]} of {number}" for one in ("right", "short", "wrong", "nothing")]
            table.add_row(name, *shown, f"{elsewhere} of {number * (number - 1)}", f"{1000 * seconds / number:.0f}")
    finally:
        embedder.close()
    show_tables(table)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=["development", "held"], help="without, both")
    parser.add_argument("--verbose", action="store_true", help="print every reading")
    given = parser.parse_args()
    asyncio.run(_main(given.part, is_verbose=given.verbose))
