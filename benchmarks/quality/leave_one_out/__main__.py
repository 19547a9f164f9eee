"""What each check of verdicts, and each rule of the reader without a model, is worth: each is left out once.

python -m benchmarks.quality.leave_one_out reader DATA_DIR [URL]: the reader reads the 5 nearest documents of each
question of ramdocs, squad2.ambiguous and the held parts of `other_things` (offices), the passages of squad2.answerable,
the plain facts of `plain_facts`, and with a URL the passages that runs of `clarify` in that database found in real
documents (corpora handbook, mattermost, guidebook and darktable).

python -m benchmarks.quality.leave_one_out claims DATA_DIR: questions of squad2.answerable and of the held organisations
of `other_things` with their answer, with that of their neighbor, and with another amount of the sentence.

python -m benchmarks.quality.leave_one_out replies DATA_DIR URL: what language models read, by recorded replies: of a
large model (benchmarks.quality.large_model), and of a small one to questions of ramdocs and squad2. In that database,
corpora ramdocs and squad2 were loaded from DATA_DIR, and the manuals of benchmarks.quality.large_model from their
repositories.

A reading is right if it has a known answer (of squad2.ambiguous, in the paragraph that has it), and wrong otherwise.
Left out of the count are answers that a document of RAMDocs with a wrong answer gives, and readings of real documents
that no person judged. Each cell says what leaving a part out adds: right and wrong readings. Coverage is the share of
known answers that readings give, precision the share of readings that are right; both with paired 95 % bootstrap
intervals over questions.
"""

from __future__ import annotations

import argparse
import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from benchmarks.data_sets import MODEL
from benchmarks.figures import show_tables
from benchmarks.quality.leave_one_out import cases as given_cases
from benchmarks.quality.leave_one_out.cases import Case
from benchmarks.quality.leave_one_out.parts import CHECKS, NOTHING, ONLY_THE_QUOTE, RULES, Part, noting
from pgclarify.algorithms.metrics import paired_bootstrap
from pgclarify.data.verdicts import AnswerSpan, Reading, Refusal
from pgclarify.embedding import load_embedder, load_span_reader
from pgclarify.language.catalog import language_of
from pgclarify.operations.judging.verdict_check import Quoted, check_quote_in
from pgclarify.protocols import Embedder, PassageReader
from pgclarify.providers.extractive import ExtractiveVerifier
from pgclarify.providers.extractive.scoring import THRESHOLD

_Read: TypeAlias = list[Reading | None]
# Right readings, wrong ones, share of the known answers that they give; and whether the question has known answers.
_Counts: TypeAlias = NDArray[np.float64]


class _Remembering:
    """Networks that remember what they said, because a rule changes little of what they are asked."""

    def __init__(self, embedder: Embedder, reader: PassageReader) -> None:
        self.model = embedder.model
        self._embedder, self._reader = embedder, reader
        self._vectors: dict[str, NDArray[np.float32]] = {}
        self._spans: dict[tuple[str, str, str], AnswerSpan | None] = {}
        self._judged: dict[tuple[str, str, str, tuple[tuple[int, int], ...]], Sequence[float]] = {}

    async def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See Embedder."""
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if new:
            self._vectors.update(zip(new, await self._embedder.encode(new), strict=True))
        return np.stack([self._vectors[text] for text in texts])

    async def read(self, question: str, title: str, passage: str) -> AnswerSpan | None:
        """See PassageReader."""
        asked = question, title, passage
        if asked not in self._spans:
            self._spans[asked] = await self._reader.read(*asked)
        return self._spans[asked]

    async def judge(
        self, question: str, title: str, passage: str, sentences: Sequence[tuple[int, int]]
    ) -> Sequence[float]:
        """See PassageReader."""
        asked = question, title, passage, tuple(sentences)
        if asked not in self._judged:
            self._judged[asked] = await self._reader.judge(question, title, passage, sentences)
        return self._judged[asked]


async def _read(verifier: ExtractiveVerifier, case: Case) -> Reading | None:
    rated = await verifier.rate(case.question, case.passage)
    if rated is None or rated[0] < THRESHOLD:
        return None
    return rated[1]


def kept_readings(cases: Sequence[Case], read: _Read, part: Part = NOTHING) -> _Read:
    """The readings that no check refuses or doubts, without this part."""
    with part.left_out():
        checked = [
            None if reading is None else _checked(case, reading, part)
            for case, reading in zip(cases, read, strict=True)
        ]
    return [
        reading if isinstance(one, Quoted) and one.doubt is None else None
        for reading, one in zip(read, checked, strict=True)
    ]


def _checked(case: Case, reading: Reading, part: Part) -> Quoted | Refusal:
    language = language_of(case.passage.content, case.question)
    chosen = part.language if language.code == part.language.code else language
    return check_quote_in(chosen, reading, case.question, case.passage)


@dataclass
class _Tally:
    known: int
    right: int = 0
    wrong: int = 0
    unknown: int = 0
    given: set[int] = field(default_factory=set)


def _tally(cases: Sequence[Case], kept: _Read) -> dict[tuple[str, str], _Tally]:
    """Count by data set and question."""
    tallies: dict[tuple[str, str], _Tally] = {}
    for case, reading in zip(cases, kept, strict=True):
        tally = tallies.setdefault((case.data_set, case.question), _Tally(case.known))
        if reading is None:
            continue
        worth = case.worth(reading.answer)
        tally.right += bool(worth)
        tally.wrong += worth is not None and not worth
        tally.unknown += worth is None
        tally.given |= worth or set()
    return tallies


def _rows(tallies: Mapping[tuple[str, str], _Tally]) -> _Counts:
    return np.array(
        [[one.right, one.wrong, len(one.given) / max(1, one.known), one.known > 0] for one in tallies.values()]
    )


def _coverage(rows: _Counts) -> _Counts:
    shares: _Counts = rows[..., 2].sum(axis=1) / np.maximum(1, rows[..., 3].sum(axis=1))
    return shares


def _precision(rows: _Counts) -> _Counts:
    right = rows[..., 0].sum(axis=1)
    shares: _Counts = right / np.maximum(1, right + rows[..., 1].sum(axis=1))
    return shares


def _table(title: str, cases: Sequence[Case], left_out: Iterable[tuple[str, _Read]]) -> Table:
    """A row for each part; the first of `left_out` is the product."""
    sets = list(dict.fromkeys(case.data_set for case in cases))
    (_, product), *others = left_out
    before = _tally(cases, product)
    questions = len(before)
    table = Table("without", *sets, "coverage", "precision", title=f"{title}; {questions} questions")
    table.add_row("nothing", *(_totals(before, name) for name in sets), *_shares(_rows(before)))
    rows = []
    for name, kept in others:
        after = _tally(cases, kept)
        changes = [paired_bootstrap(_rows(before), _rows(after), share) for share in (_coverage, _precision)]
        shown = [f"{one.difference:+.3f} ({one.low:+.3f} to {one.high:+.3f})" for one in changes]
        cells = [_change(before, after, one) for one in sets]
        if any(cells):
            rows.append((name, *cells, *shown))
        else:
            rows.append((name, *cells, "", ""))
    for row in rows:
        table.add_row(*row)
    return table


def _shares(rows: _Counts) -> list[str]:
    return [f"{share(rows[np.newaxis])[0]:.3f}" for share in (_coverage, _precision)]


def _sums(tallies: Mapping[tuple[str, str], _Tally], name: str) -> tuple[int, int, int]:
    own = [one for (data_set, _), one in tallies.items() if data_set == name]
    return sum(one.right for one in own), sum(one.wrong for one in own), sum(one.unknown for one in own)


def _totals(tallies: Mapping[tuple[str, str], _Tally], name: str) -> str:
    right, wrong, unknown = _sums(tallies, name)
    return f"{right} right, {wrong} wrong" + (f", {unknown} not known" if unknown else "")


def _change(before: Mapping[tuple[str, str], _Tally], after: Mapping[tuple[str, str], _Tally], name: str) -> str:
    changes = [new - old for old, new in zip(_sums(before, name), _sums(after, name), strict=True)]
    return "; ".join(f"{one:+d}" for one in changes[: 3 if changes[2] else 2]) if any(changes) else ""


async def _without_rules(verifier: ExtractiveVerifier, cases: Sequence[Case]) -> tuple[_Read, list[tuple[str, _Read]]]:
    """Read the cases, and again without each rule those that it changes; then, make the checks."""
    touched: list[set[str]] = []
    read: _Read = []
    for case in cases:
        names = set[str]()
        with noting(RULES, names):
            read.append(await _read(verifier, case))
        touched.append(names)
    found = [("nothing", kept_readings(cases, read))]
    for part in RULES:
        is_value = not callable(part.instead)
        with part.left_out():
            changed = [
                await _read(verifier, case) if is_value or part.name in names else reading
                for case, names, reading in zip(cases, touched, read, strict=True)
            ]
        found.append((part.name, kept_readings(cases, changed)))
    return read, found


def _of_models(cases: Sequence[Case], read: _Read) -> Table:
    """What all checks refuse and doubt, by data set and model."""
    table = Table("readings of", "questions", "", "right", "wrong", "not known")
    for name in dict.fromkeys(case.data_set for case in cases):
        own = [(case, reading) for case, reading in zip(cases, read, strict=True) if case.data_set == name]
        counted: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
        for case, reading in own:
            if reading is not None:
                worth = case.worth(reading.answer)
                counted[_decision(_checked(case, reading, NOTHING))][2 if worth is None else 0 if worth else 1] += 1
        for decision in ("kept", "doubted", "refused"):
            questions = str(len({case.question for case, _ in own})) if decision == "kept" else ""
            table.add_row(name if questions else "", questions, decision, *map(str, counted[decision]))
    return table


def _decision(checked: Quoted | Refusal) -> str:
    return "refused" if isinstance(checked, Refusal) else "kept" if checked.doubt is None else "doubted"


def _checks(title: str, cases: Sequence[Case], read: _Read) -> Table:
    every = (NOTHING, ONLY_THE_QUOTE, *CHECKS)
    return _table(title, cases, [(part.name, kept_readings(cases, read, part)) for part in every])


async def _of_reader(data_dir: Path, url: str | None) -> list[Table]:
    embedder = load_embedder(MODEL)
    try:
        with closing(load_span_reader()) as reader:
            networks = _Remembering(embedder, reader)
            verifier = ExtractiveVerifier(cast("Embedder", networks), networks)
            cases = await given_cases.public(data_dir, embedder)
            cases += given_cases.real(url) if url else []
            read, without = await _without_rules(verifier, cases)
            return [_checks("checks, without a model", cases, read), _table("rules, without a model", cases, without)]
    finally:
        embedder.close()


def _main(what: str, data_dir: Path, url: str | None) -> None:
    if what == "reader":
        show_tables(*asyncio.run(_of_reader(data_dir, url)), width=200)
    elif what == "claims":
        cases = given_cases.claims(data_dir)
        show_tables(_checks("checks, claims", cases, [case.reading for case in cases]), width=200)
    else:
        assert url, "name the database"
        cases = given_cases.replies(url, data_dir)
        read = [case.reading for case in cases]
        tables = _checks("checks, with a model", cases, read), _of_models(cases, read)
        show_tables(*tables, width=200, prompts=["verdict"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["reader", "claims", "replies"])
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("url", nargs="?")
    given = parser.parse_args()
    _main(given.what, given.data_dir, given.url)
