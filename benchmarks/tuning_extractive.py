"""The extractive verifier: the threshold of its answers, and the quality of the questions that it builds.

python -m benchmarks.tuning_extractive DATA_DIR [FILE] [--verbose]. Thresholds are measured on the pairs of
squad2.answerable, by halves of its rows. With FILE, of benchmarks.tuning, their effect on known answers and readings is
measured, too. Questions are built for the titles of passages, which have a few words each, and checked by rules.
"""

from __future__ import annotations

import argparse
import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.figures import step
from benchmarks.ingest import MODEL
from benchmarks.lexical_quality import read
from benchmarks.tuning import Judged, half, read_judged, share_interval
from pgclarify.algorithms.metrics import covered_answers
from pgclarify.data.documents import Passage
from pgclarify.embedding import load_embedder, load_span_reader
from pgclarify.language.words import content_stems, word_set, words
from pgclarify.providers.extractive import ExtractiveVerifier
from pgclarify.providers.extractive.answer_types import is_question
from pgclarify.providers.extractive.scoring import THRESHOLD

THRESHOLDS = (0.0, 0.1, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6)
NO_ANSWER = "No answer"
_TOP_K = 20
_TITLES = 400
_PRONOUNS = word_set("it its he him his she her hers they them their theirs this these those there")


@dataclass(frozen=True)
class Pair:
    """A question and a passage.

    Attributes:
        row: The row of the data set, from 0.
        is_own: Whether the passage is the paragraph that people were shown; otherwise the nearest other one.
        is_answered: Whether the passage answers the question.
        probability: Probability of the verifier's best reading; 0 if there is none.
    """

    row: int
    is_own: bool
    is_answered: bool
    probability: float


async def rate_pairs(data_dir: Path) -> list[Pair]:
    """Judge each question of squad2.answerable with its paragraph and with the nearest other one."""
    passages = {row["id"]: row for row in read(data_dir / "squad2.corpus.jsonl.gz")}
    rows = [row for row in read(data_dir / "squad2.answerable.jsonl.gz") if row["passage"] in passages]
    embedder = load_embedder(MODEL)
    verifier = ExtractiveVerifier(embedder, load_span_reader())
    ids = list(passages)
    pairs = []
    try:
        known = await embedder.encode([passages[id_]["text"] for id_ in ids])
        asked = await embedder.encode([row["question"] for row in rows])
        similarities = asked @ known.T
        for place, row in enumerate(rows):
            similarities[place, ids.index(row["passage"])] = -1
            other = ids[int(np.argmax(similarities[place]))]
            is_answerable = row["answer"] is not None and row["answer"] != NO_ANSWER
            for id_, is_answered in ((row["passage"], is_answerable), (other, False)):
                passage = Passage(id_, place, passages[id_]["text"], title=passages[id_]["title"])
                rated = await verifier.rate(row["question"], passage)
                pairs.append(Pair(place, id_ == row["passage"], is_answered, rated[0] if rated else 0.0))
    finally:
        embedder.close()
    return pairs


def threshold_table(title: str, pairs: Sequence[Pair]) -> Table:
    """Precision, recall and F1 of "this passage answers", for each threshold."""
    shown = Table("threshold", "answered", "precision", "recall", "F1", title=title)
    for column in shown.columns:
        column.justify = "right"
    for threshold in THRESHOLDS:
        answered = [pair for pair in pairs if pair.probability >= threshold and pair.probability > 0]
        right = sum(pair.is_answered for pair in answered)
        precision, recall = right / max(1, len(answered)), right / sum(pair.is_answered for pair in pairs)
        f1 = 2 * precision * recall / max(1e-9, precision + recall)
        shown.add_row(f"{threshold:.2f}", str(len(answered)), f"{precision:.3f}", f"{recall:.3f}", f"{f1:.3f}")
    return shown


def corpus_table(title: str, judged: Sequence[Judged]) -> Table:
    """The effect of each threshold on known answers and readings, before consolidation."""
    shown = Table("threshold", "in answers", "95 %", "in quotes", "verdicts", "of them right", title=title)
    for column in shown.columns:
        column.justify = "right"
    known = [len(one.question.known) for one in judged]
    for threshold in THRESHOLDS:
        readings = [one.first(_TOP_K, threshold) for one in judged]
        golds = [[answer.names for answer in one.question.known] for one in judged]
        answers, quotes = (
            [sum(covered_answers(gold, texts)) for gold, texts in zip(golds, given, strict=True)]
            for given in (
                [[one.answer for one in mine] for mine in readings],
                [[one.quote for one in mine] for mine in readings],
            )
        )
        right = sum(
            any(covered_answers(gold, [one.answer])) for gold, mine in zip(golds, readings, strict=True) for one in mine
        )
        verdicts = sum(map(len, readings))
        low, high = share_interval(answers, known)
        shown.add_row(
            f"{threshold:.2f}",
            f"{sum(answers)} of {sum(known)} = {sum(answers) / sum(known):.3f}",
            f"{low:.2f} to {high:.2f}",
            f"{sum(quotes) / sum(known):.3f}",
            f"{verdicts / len(judged):.2f}",
            f"{right / max(1, verdicts):.3f}",
        )
    return shown


async def build(data_dir: Path, which: int) -> list[tuple[str, str, str]]:
    """Titles of one of two samples, with the questions that were built from their passages, and the quotes."""
    rows = [row for name in ("squad2", "ambignq", "musique") for row in read(data_dir / f"{name}.corpus.jsonl.gz")]
    places = np.random.default_rng(0).permutation(len(rows))[(which - 1) * _TITLES : which * _TITLES]
    chosen = [rows[int(place)] for place in places]
    embedder = load_embedder(MODEL)
    verifier = ExtractiveVerifier(embedder, load_span_reader())
    built = []
    try:
        for place, row in enumerate(chosen):
            rated = await verifier.rate(row["title"], Passage(row["id"], place, row["text"], title=row["title"]))
            # Other readings are phrases. No rule here checks them.
            if rated and rated[0] >= THRESHOLD and rated[1].interpretation.endswith("?"):
                built.append((row["title"], rated[1].interpretation, rated[1].quote))
    finally:
        embedder.close()
    return built


def faults(title: str, question: str) -> list[str]:
    """The faults of a built question that rules can find."""
    found = [word.lower for word in words(question)]
    last = found[-1] if found else ""
    checks = {
        "does not ask": not is_question(question) or not question.endswith("?"),
        "lacks the key phrase": not content_stems(title) & content_stems(question),
        "has a pronoun": bool(_PRONOUNS.intersection(found)),
        "too short": len(found) < 3,
        "too long": len(found) > 30,
        "asks where a thing is a thing": bool(re.match(r"(?:When|Where) (?:is|are|was|were) .+ an? ", question)),
        "is cut short": last in ("and", "or", "but", "the", "a", "an", "its", "their"),
        "has loose marks": question.count("(") != question.count(")") or bool(re.search(r"[\[\]|]|\s[,.;]", question)),
    }
    return [name for name, is_wrong in checks.items() if is_wrong]


def soundness_table(title: str, built: Sequence[tuple[str, str, str]]) -> Table:
    """How many questions have each fault."""
    shown = Table("fault", "questions", "share", title=f"{title}: {len(built)} questions built for {_TITLES} titles")
    wrong = [faults(title, question) for title, question, _ in built]
    names = dict.fromkeys(name for mine in wrong for name in mine)
    for name in names:
        number = sum(name in mine for mine in wrong)
        shown.add_row(name, str(number), f"{number / len(built):.3f}")
    sound = sum(not mine for mine in wrong)
    shown.add_row("none: sound", str(sound), f"{sound / max(1, len(built)):.3f}")
    return shown


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("file", type=Path, nargs="?")
    parser.add_argument("--verbose", action="store_true", help="print the built questions")
    options = parser.parse_args()
    console = Console(width=140)
    if options.file:
        judged = read_judged(options.file, options.data_dir)
        for corpus in dict.fromkeys(one.question.corpus for one in judged):
            for which in (1, 2):
                mine = [one for one in half(judged, which) if one.question.corpus == corpus]
                console.print(corpus_table(f"{len(mine)} questions of {corpus}, half {which}", mine))
    for which in (1, 2):
        with step("building questions"):
            built = asyncio.run(build(options.data_dir, which))
        console.print(soundness_table(f"sample {which}", built))
        for title, question, quote in built if options.verbose else ():
            print(f"{title} | {question} | {quote[:160]!r} | {', '.join(faults(title, question))}")
    with step("rating pairs"):
        pairs = asyncio.run(rate_pairs(options.data_dir))
    for which in (1, 2):
        rated = [pair for pair in pairs if pair.row % 2 == which - 1]
        own = [pair for pair in rated if pair.is_own]
        near = [pair for pair in rated if pair.is_answered or not pair.is_own]
        console.print(threshold_table(f"half {which}: the paragraph that people were shown", own))
        console.print(threshold_table(f"half {which}: that answers, or the nearest other one", near))


if __name__ == "__main__":
    _main()
