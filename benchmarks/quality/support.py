"""What the checks of verdicts keep and lose: each check alone, and all of them together.

python -m benchmarks.quality.support DATA_DIR [--runs URL | --answerable] [--labels FILE] [--part development|held]
[--confirm URL --model NAME [--replies FILE] [--at-once N] [--pairs N]], where squad2.corpus, squad2.ambiguous and
squad2.answerable are (.jsonl.gz).

The verdicts are those of the extractive provider on the 20 nearest passages of each question of squad2.ambiguous. With
--answerable, they are on the pairs of squad2.answerable. With --runs, they are those that a worker of that database
recorded for `clarify` without checks ({"verify": "none"}). By known answers, a verdict is right if its answer contains
that of the data set, and its passage is the gold passage. Coverage is the share of questions with a right verdict.

Labels are lines of JSON: question_id, passage_id, source and label ("yes" if the passage gives this answer to this
reading). Verdicts without a label count only for figures that need no label.

With --confirm, the model at that endpoint judges again, as with the option `verify` "model": all verdicts, and those
that pass all checks. The number of calls is printed first, and --replies names a file that keeps the replies.
Paragraphs are in one of two parts. Choices were made on development.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
from rich.table import Table

from benchmarks import product
from benchmarks.data_sets import MODEL, part_of, read
from benchmarks.figures import show_tables
from benchmarks.quality.kept_replies import KeptReplies
from pgclarify.algorithms.metrics import cover_exact_match
from pgclarify.data.documents import Passage
from pgclarify.data.model_calls import ModelCall
from pgclarify.data.verdicts import Reading, Refusal
from pgclarify.embedding import load_embedder, load_span_reader
from pgclarify.evaluation.lexical_judge import LexicalJudge
from pgclarify.evaluation.records import Stated
from pgclarify.language.sentences import split_sentences
from pgclarify.operations.judging.confirmation import AT_ONCE, given_answer
from pgclarify.operations.judging.verdict_check import Quoted, check_quote, cite
from pgclarify.prompts.confirmation import confirmation
from pgclarify.protocols import Embedder
from pgclarify.providers.client import Address
from pgclarify.providers.endpoint import Endpoint
from pgclarify.providers.extractive import ExtractiveVerifier
from pgclarify.providers.extractive.scoring import THRESHOLD

_TOP_K: Final = 20
_DRAWS: Final = 2000
_SHORTENED: Final = re.compile(r"(?:\d{1,2}-)?[A-Z][a-z]{2}-\d\d")
_NO_ANSWER: Final = "No answer"
# Calls of a small local model are slow.
_TIMEOUT: Final = 600.0
# The checks that compare words.
_CHECKED: Final = tuple(one for one in Refusal if one not in (Refusal.UNPROVEN, Refusal.NOT_CONFIRMED))
_Claim: TypeAlias = tuple[Reading, str, Passage]


@dataclass(frozen=True)
class _Question:
    id: str
    text: str
    answer: str
    gold: str


@dataclass(frozen=True)
class _Verdict:
    question: _Question
    passage: Passage
    reading: Reading
    label: bool | None
    is_supported: bool

    @property
    def is_known(self) -> bool:
        """Whether the verdict is right by the known answer and the gold passage."""
        is_there = self.passage.document_id == self.question.gold
        return is_there and cover_exact_match(self.reading.answer, [self.question.answer])


def _is_in(part: str | None, gold: str) -> bool:
    return part in (None, part_of(gold))


def _passages(data_dir: Path) -> dict[str, Passage]:
    return {
        row["id"]: Passage(row["id"], 1, " ".join(row["text"].split()), title=row["title"].replace("_", " "))
        for row in read(data_dir / "squad2.corpus.jsonl.gz")
    }


def _questions(data_dir: Path, part: str | None, *, are_answerable: bool) -> list[_Question]:
    if are_answerable:
        rows = read(data_dir / "squad2.answerable.jsonl.gz")
        asked = [
            _Question(str(place), row["question"], row["answer"] or _NO_ANSWER, row["passage"])
            for place, row in enumerate(rows)
        ]
    else:
        rows = read(data_dir / "squad2.ambiguous.jsonl.gz")
        texts = {row["id"]: row["text"] for row in read(data_dir / "squad2.corpus.jsonl.gz")}
        asked = [
            _Question(row["id"], row["question"], as_written(row["answer"], texts[row["gold"][0]]), row["gold"][0])
            for row in rows
        ]
    return [one for one in asked if _is_in(part, one.gold)]


def as_written(answer: str, text: str) -> str:
    """Return a known answer; a date that a spreadsheet shortened ("13-Feb-37", "Oct-06") as its passage writes it."""
    if not _SHORTENED.fullmatch(answer):
        return answer
    (month,), numbers = re.findall(r"[A-Z]\w+", answer), re.findall(r"\d+", answer)
    dates: list[str] = re.findall(rf"(?:\d{{1,2}} )?{month}\w* (?:\d{{1,2}}, )?\d{{4}}", text)
    return next(
        date
        for date in dates
        if all(any(one.endswith(number) for one in re.findall(r"\d+", date)) for number in numbers)
    )


async def _nearest(
    embedder: Embedder, questions: Sequence[_Question], passages: dict[str, Passage]
) -> list[tuple[_Question, Passage]]:
    """Each question with its nearest passages."""
    judged = list(passages.values())
    there = await embedder.encode([f"{one.title}\n{one.content}" for one in judged])
    near = await embedder.encode([one.text for one in questions]) @ there.T
    return [
        (question, judged[place])
        for question, similarities in zip(questions, near, strict=True)
        for place in np.argsort(-similarities)[:_TOP_K]
    ]


async def _extractive(
    questions: Sequence[_Question], passages: dict[str, Passage], *, is_own: bool
) -> list[tuple[_Question, Passage, Reading]]:
    """Verdicts of the extractive provider on the gold passage of each question, or on its nearest passages."""
    embedder = load_embedder(MODEL)
    try:
        verifier = ExtractiveVerifier(embedder, load_span_reader())
        pairs = (
            [(question, passages[question.gold]) for question in questions]
            if is_own
            else await _nearest(embedder, questions, passages)
        )
        rated = [(*pair, await verifier.rate(pair[0].text, pair[1])) for pair in pairs]
        return [(question, passage, one[1]) for question, passage, one in rated if one and one[0] >= THRESHOLD]
    finally:
        embedder.close()


def _of_runs(
    dsn: str, asked: Sequence[_Question], passages: dict[str, Passage]
) -> list[tuple[_Question, Passage, Reading]]:
    """The grounded verdicts of the last run of each question."""
    questions = {one.text: one for one in asked}
    with product.connect(dsn) as connection:
        rows = connection.execute(_VERDICTS).fetchall()
    return [
        (
            questions[row["question"]],
            passages[row["document_id"]],
            Reading(row["interpretation"], row["answer"], row["quote"]),
        )
        for row in rows
        if row["question"] in questions and row["document_id"] in passages
    ]


def _labels(path: Path | None, source: str) -> dict[tuple[str, str], bool]:
    if path is None:
        return {}
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return {
        (row["question_id"], row["passage_id"]): row["label"] == "yes"
        for row in rows
        if row["source"].startswith(source)
    }


async def _verdicts(
    given: argparse.Namespace, asked: Sequence[_Question], passages: dict[str, Passage]
) -> list[_Verdict]:
    if given.runs:
        found = _of_runs(given.runs, asked, passages)
        labels = _labels(given.labels, given.source)
    else:
        found = await _extractive(asked, passages, is_own=given.answerable)
        labels = _labels(given.labels, "extractive")
    claims = [(Stated(reading.interpretation, (reading.answer,)), [passage]) for _, passage, reading in found]
    with closing(load_span_reader()) as reader:
        supported = await LexicalJudge(reader).supports(claims)
    return [
        _Verdict(question, passage, reading, labels.get((question.id, passage.document_id)), is_supported)
        for (question, passage, reading), is_supported in zip(found, supported, strict=True)
    ]


def _right(data_dir: Path, passages: dict[str, Passage], part: str | None) -> list[tuple[Reading, Passage]]:
    """Questions with their right answer and the sentence that has it."""
    right = []
    for row in read(data_dir / "squad2.answerable.jsonl.gz"):
        passage = passages[row["passage"]]
        if row["answer"] in (None, _NO_ANSWER) or not _is_in(part, row["passage"]):
            continue
        holding = [one.text for one in split_sentences(passage.content) if row["answer"].lower() in one.text.lower()]
        if holding:
            # Of several sentences, choose the one with most words of the question.
            words = set(row["question"].lower().split())
            quote = max(holding, key=lambda text: len(words.intersection(text.lower().split())))
            right.append((Reading(row["question"], row["answer"], quote), passage))
    return right


def _interval(groups: Sequence[str], parts: Sequence[float], wholes: Sequence[float]) -> str:
    """The ratio of two sums, with its 95 % bootstrap interval over questions."""
    names = sorted(set(groups))
    places = {name: place for place, name in enumerate(names)}
    above, below = np.zeros(len(names)), np.zeros(len(names))
    for group, part, whole in zip(groups, parts, wholes, strict=True):
        above[places[group]] += part
        below[places[group]] += whole
    if below.sum() == 0:
        return "none"
    drawn = np.random.default_rng(0).integers(len(names), size=(_DRAWS, len(names)))
    sums, totals = above[drawn].sum(axis=1), below[drawn].sum(axis=1)
    low, high = np.quantile(sums[totals > 0] / totals[totals > 0], [0.025, 0.975])
    return f"{above.sum() / below.sum():.2f} ({low:.2f} to {high:.2f})"


def _row(
    verdicts: Sequence[_Verdict], is_kept: Callable[[Reading, str, Passage], bool], asked: Sequence[str]
) -> list[str]:
    kept = [is_kept(one.reading, one.question.text, one.passage) for one in verdicts]
    groups = [one.question.id for one in verdicts]
    labelled = [is_it and one.label is not None for one, is_it in zip(verdicts, kept, strict=True)]
    right = [one.label is True for one in verdicts]
    known = [one.is_known for one in verdicts]
    covered = {one.question.id for one, is_it in zip(verdicts, kept, strict=True) if is_it and one.is_known}

    def lost(right: Sequence[bool]) -> str:
        return f"{sum(is_it and not stays for is_it, stays in zip(right, kept, strict=True))} of {sum(right)}"

    return [
        f"{sum(kept)} of {len(verdicts)}",
        _interval(groups, [a and b for a, b in zip(kept, known, strict=True)], kept),
        lost(known),
        _interval(asked, [one in covered for one in asked], [True] * len(asked)),
        _interval(groups, [a and b for a, b in zip(labelled, right, strict=True)], labelled),
        lost(right),
        _interval(groups, [one.is_supported and k for one, k in zip(verdicts, kept, strict=True)], kept),
    ]


def _passes(reading: Reading, question: str, passage: Passage, checks: Sequence[Refusal] = _CHECKED) -> bool:
    return not isinstance(check_quote(reading, question, passage, checks), Refusal)


def _batches(claims: Sequence[_Claim], at_once: int, *, by_question: bool) -> list[Sequence[_Claim]]:
    """Batch claims as a run does: each call has up to `at_once` claims, all of one question."""
    together: dict[str, list[_Claim]] = {}
    for claim in claims:
        together.setdefault(claim[1] if by_question else "", []).append(claim)
    return [some[start : start + at_once] for some in together.values() for start in range(0, len(some), at_once)]


def _call(batch: Sequence[_Claim]) -> ModelCall[list[bool]]:
    given = []
    for reading, _, passage in batch:
        quoted = cite(reading.quote, reading.answer, passage) or Quoted("", passage.start_char, passage.start_char)
        given.append(given_answer(passage, reading.interpretation, reading.answer, quoted))
    return confirmation(given)


async def _confirmed(
    given: argparse.Namespace, verdicts: Sequence[_Verdict], right: Sequence[_Claim]
) -> dict[str, tuple[set[_Claim], set[_Claim]]]:
    """Confirm verdicts and pairs with the model. For each way: which verdicts and which pairs it keeps."""
    claims = [(one.reading, one.question.text, one.passage) for one in verdicts]
    asked = {
        "model": _batches(claims, given.at_once, by_question=True),
        "all, model": _batches([one for one in claims if _passes(*one)], given.at_once, by_question=True),
        "": _batches(right, given.at_once, by_question=False),
    }
    print(f"{sum(map(len, asked.values()))} calls: {', '.join(str(len(batches)) for batches in asked.values())}")
    confirmed: dict[str, set[_Claim]] = {}
    async with Endpoint(
        Address(given.confirm), given.model, concurrency=given.concurrency, timeout=_TIMEOUT
    ) as endpoint:
        kept = KeptReplies(endpoint, given.replies)
        for name, batches in asked.items():
            replies = await asyncio.gather(*(kept.ask(_call(batch)) for batch in batches))
            confirmed[name] = {
                claim
                for batch, (said, _) in zip(batches, replies, strict=True)
                for claim, is_confirmed in zip(batch, said or [False] * len(batch), strict=True)
                if is_confirmed
            }
            made = [completion for _, completions in replies for completion in completions]
            seconds = sum(completion.latency_ms for completion in made) / 1000
            print(f"{name or 'pairs'}: {len(made)} replies, {seconds:.0f} seconds; {kept.lost} of all were not read")
    pairs = confirmed.pop("")
    return {
        name: (verdicts_kept, pairs if name == "model" else {one for one in pairs if _passes(*one)})
        for name, verdicts_kept in confirmed.items()
    }


async def _main(given: argparse.Namespace) -> None:
    passages = _passages(given.data_dir)
    questions = _questions(given.data_dir, given.part, are_answerable=given.answerable)
    verdicts = await _verdicts(given, questions, passages)
    found = _right(given.data_dir, passages, given.part)
    right = [(reading, reading.interpretation, passage) for reading, passage in found]
    right = random.Random(0).sample(right, min(given.pairs, len(right)))  # noqa: S311 - no secret
    # With --runs, only questions with a verdict: which other questions were asked is not known.
    asked = sorted({one.question.id for one in verdicts} if given.runs else {one.id for one in questions})
    table = Table(
        "checks",
        "kept",
        "precision, by known answers",
        "right lost",
        f"coverage, of {len(asked)} questions",
        "precision, by labels",
        "right lost",
        "precision, by words",
        "right pairs lost",
    )
    ways: dict[str, tuple[Refusal, ...]] = {"none": (), **{one.value: (one,) for one in _CHECKED}, "all": _CHECKED}
    for name, checks in ways.items():
        is_kept = partial(_passes, checks=checks)
        lost = sum(not is_kept(*one) for one in right)
        table.add_row(name, *_row(verdicts, is_kept, asked), f"{lost} of {len(right)}")
    for name, (kept, pairs) in (await _confirmed(given, verdicts, right) if given.confirm else {}).items():

        def is_confirmed(reading: Reading, question: str, passage: Passage, kept: set[_Claim] = kept) -> bool:
            return (reading, question, passage) in kept

        table.add_row(name, *_row(verdicts, is_confirmed, asked), f"{len(right) - len(pairs)} of {len(right)}")
    show_tables(table, width=190)


_VERDICTS = """
    select run.question, candidate.document_id, verdict.interpretation, verdict.answer, verdict.quote
    from (
        select distinct on (question) run_id, question from pgclarify.run
        where operation = 'clarify' and corpus = 'squad2' order by question, run_id desc
    ) as run
    inner join pgclarify.verdict using (run_id)
    inner join pgclarify.candidate using (run_id, rank)
    where verdict.outcome = 'grounded'
    order by run.run_id, verdict.rank
"""


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_dir", type=Path)
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--runs", metavar="URL", help="take the verdicts of clarify in this database")
    source.add_argument("--answerable", action="store_true", help="use the pairs of squad2.answerable")
    parser.add_argument("--labels", type=Path, help="a file of labels")
    parser.add_argument("--source", default="qwen", help="prefix of the source of labels for these runs")
    parser.add_argument("--part", choices=["development", "held"], help="the part of the paragraphs; without it, all")
    parser.add_argument("--confirm", metavar="URL", help="confirm with the model at this endpoint")
    parser.add_argument("--model", help="name of the model")
    parser.add_argument("--replies", type=Path, help="a file that keeps the model's replies")
    parser.add_argument("--at-once", type=int, default=AT_ONCE, help="how many answers a call confirms")
    parser.add_argument("--pairs", type=int, default=1000, help="how many right pairs at most")
    parser.add_argument("--concurrency", type=int, default=2, help="calls at the same time")
    asyncio.run(_main(parser.parse_args()))
