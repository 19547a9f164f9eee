"""How often a judge of evaluations is right: whether passages support claims, and whether two readings are the same.

python -m benchmarks.judge_quality DATA_DIR [--base-url URL --model NAME] [--claims N], where squad2.corpus and
squad2.answerable are (.jsonl.gz). Without a model, the lexical judge is measured. Claims about passages are:

- A question with its answer and its passage.
- The same, with the answer to another question about the passage.
- A question that its passage does not answer, with the answer to another question about the passage.
- A question with its answer, and another passage that has the words of the answer.
- The first and the third kind without an answer.

Readings are wordings by hand, of one reading and of two readings of one question.
"""

from __future__ import annotations

import argparse
import asyncio
import random
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from pathlib import Path
from typing import TypeAlias

from benchmarks.figures import Figure, show, step
from benchmarks.lexical_quality import read
from benchmarks.readings_by_hand import FIRST, SECOND, Bank
from benchmarks.readings_quality import NO_ANSWER
from pgclarify.data.documents import Passage
from pgclarify.evaluation.judges import ModelJudge
from pgclarify.evaluation.lexical_judge import LexicalJudge, is_same_answer, states_answer
from pgclarify.evaluation.records import Judge, Stated
from pgclarify.providers.chat_model import ChatModel
from pgclarify.providers.endpoint import Endpoint
from tests.fakes import FakeLedger

Claim: TypeAlias = tuple[Stated, list[Passage]]


async def measure(judge: Judge, data_dir: Path, most: int) -> list[Figure]:
    """Shares that the judge calls supported, or the same. most: claims of each kind."""
    figures = []
    with step("passages"):
        for name, claims in _claims(data_dir).items():
            drawn = random.Random(7).sample(claims, min(most, len(claims)))  # noqa: S311 - no secret
            supported = await judge.supports(drawn)
            figures.append(Figure(f"supported of {len(drawn)}: {name}", sum(supported) / len(drawn)))
    for number, bank in enumerate((FIRST, SECOND), start=1):
        for has_answers in (False, True):
            with step(f"readings, set {number}"):
                figures += await _readings(judge, bank, f"set {number}", has_answers=has_answers, most=most)
    return figures


def _claims(data_dir: Path) -> dict[str, list[Claim]]:
    rows = list(read(data_dir / "squad2.corpus.jsonl.gz"))
    passages = {row["id"]: Passage(row["id"], place, row["text"], title=row["title"]) for place, row in enumerate(rows)}
    answered: list[tuple[str, str, str]] = []
    unanswered: list[tuple[str, str]] = []
    for row in read(data_dir / "squad2.answerable.jsonl.gz"):
        if row["answer"] in (None, NO_ANSWER):
            unanswered.append((row["question"], row["passage"]))
        else:
            answered.append((row["question"], row["answer"], row["passage"]))
    told: dict[str, list[str]] = {}
    for _, answer, passage in answered:
        told.setdefault(passage, []).append(answer)

    def claim(question: str, answer: str | None, passage: str) -> Claim:
        return Stated(question, () if answer is None else (answer,)), [passages[passage]]

    return {
        "answered there": [claim(*row) for row in answered],
        "another answer from there": [
            claim(question, other, passage)
            for question, answer, passage in answered
            for other in told[passage]
            if not is_same_answer((answer,), (other,))
        ],
        "not answered there, an answer from there": [
            claim(question, other, passage) for question, passage in unanswered for other in told.get(passage, ())
        ],
        "the answer stands in another passage": [
            claim(question, answer, other)
            for question, answer, passage in answered
            for other in passages
            if other != passage and states_answer((answer,), passages[other])
        ],
        "answered there, without the answer": [claim(question, None, passage) for question, _, passage in answered],
        "not answered there, without an answer": [claim(question, None, passage) for question, passage in unanswered],
    }


async def _readings(judge: Judge, bank: Bank, name: str, *, has_answers: bool, most: int) -> list[Figure]:
    figures = []
    for is_same, what in ((True, "one reading"), (False, "two readings")):
        pairs = list(_pairs(bank, is_same=is_same, has_answers=has_answers))
        drawn = random.Random(7).sample(pairs, min(most, len(pairs)))  # noqa: S311 - no secret
        judged = [(await judge.matches(question, [one], [other]))[0] for question, one, other in drawn]
        told = "with" if has_answers else "without"
        figures.append(Figure(f"same of {len(drawn)}: {what}, {told} answers, {name}", sum(judged) / len(judged)))
    return figures


def _pairs(bank: Bank, *, is_same: bool, has_answers: bool) -> Iterator[tuple[str, Stated, Stated]]:
    for question, readings in bank.items():
        stated: list[Sequence[Stated]] = [
            [Stated(interpretation, (answer,) if has_answers else ()) for interpretation, answer in wordings]
            for wordings in readings
        ]
        if is_same:
            yield from ((question, *pair) for wordings in stated for pair in combinations(wordings, 2))
        else:
            for some, others in combinations(stated, 2):
                yield from ((question, *pair) for pair in product(some, others))


async def _main(given: argparse.Namespace) -> None:
    if given.model is None:
        show(await measure(LexicalJudge(), given.data_dir, given.claims))
        return
    async with Endpoint(model=given.model, base_url=given.base_url, concurrency=given.concurrency) as endpoint:
        judge = ModelJudge(FakeLedger(), ChatModel(endpoint))
        show(await measure(judge, given.data_dir, given.claims))
        show([Figure("calls", judge.meter.calls)])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("--base-url")
    parser.add_argument("--model", help="endpoint of a chat model; without it, the lexical judge")
    parser.add_argument("--claims", type=int, default=1000, help="how many claims of each kind at most")
    parser.add_argument("--concurrency", type=int, default=2, help="calls at the same time")
    asyncio.run(_main(parser.parse_args()))
