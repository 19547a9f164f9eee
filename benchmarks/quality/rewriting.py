"""Rewriting only what is ambiguous against rewriting everything, with a real model.

python -m benchmarks.quality.rewriting DATA_DIR --base-url URL --model NAME [--classifier FILE] [--conversations 60]
    [--replies FILE]

DATA_DIR has clamber, abg-coqa and squad2.*. The conversations come from the test side of abg-coqa's split. A third of
them is ambiguous by the data set's label. The classifier that ships is trained on all rows, including these. So another
classifier detects ambiguity here: FILE, which was trained with --part training, or one that the same script trains here
on the training side, in some minutes.

Four ways are compared, all with one reply for each question: the model's rewrite of each question; the same with
pgclarify's checks; the model's rewrite of only the questions that `rewrite` sends to the model; and `rewrite`, which
does both. A question is damaged if a name, a number or a quoted string is lost, or if its meaning changed. Its meaning
changed if the cosine of the embeddings (all-MiniLM-L6-v2) is less than 0.6 both to the question and to the question
after the last turn. The code that counts losses here is independent of the product's checks.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import re
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import SecretStr
from rich.console import Console
from rich.table import Table

from benchmarks.data_sets import MODEL, read
from benchmarks.quality.ambiguity import trained_on_one_side
from benchmarks.quality.kept_replies import KeptReplies
from pgclarify.algorithms.ambiguity import AmbiguityClassifier
from pgclarify.algorithms.rewriting_faithfulness import find_fault
from pgclarify.data.dialogue import Rewriting
from pgclarify.embedding import load_embedder
from pgclarify.operations.ambiguity.detector import Detector
from pgclarify.operations.execution import execute
from pgclarify.prompts.rewriting import rewriting as rewriting_prompt
from pgclarify.protocols import Embedder
from pgclarify.providers.endpoint import Endpoint
from tests.fakes import FakeDialogueStore, FakeStore
from tests.fakes.context import context_of
from training.splits import coqa_group, is_for_training

_LEAST_LIKENESS: Final = 0.6
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")
_QUOTED: Final = re.compile(r"[\"\u201c]([^\"\u201d]+)[\"\u201d]")


@dataclass(frozen=True)
class Asked:
    """One conversation, and the rewrites of its last question.

    Attributes:
        history: Questions and answers, oldest first.
        is_ambiguous: By the data set's label.
        is_sent: Whether `rewrite` calls the model: the question is ambiguous, or needs its history and says too little.
        detecting_ms: Milliseconds of this decision, including embeddings.
        said: The model's rewrite; None if it finds no answer in the turns, or if its reply could not be parsed.
        calling_ms: Milliseconds of the model call.
        rewritten: The result of `rewrite`.
    """

    question: str
    history: list[str]
    is_ambiguous: bool
    is_sent: bool
    detecting_ms: float
    said: str | None
    calling_ms: float
    rewritten: str


def sample(rows: Sequence[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    """Choose conversations of the test side by the hash of their id, a third of them ambiguous."""
    unseen = [row for row in rows if not is_for_training(coqa_group(row))]
    unseen.sort(key=lambda row: hashlib.sha256(row["id"].encode()).hexdigest())
    ambiguous = [row for row in unseen if row["ambiguity"] == "ambiguous"][: count // 3]
    return ambiguous + [row for row in unseen if row["ambiguity"] != "ambiguous"][: count - len(ambiguous)]


async def ask(
    rows: Sequence[dict[str, Any]],
    endpoint: Endpoint,
    replies: Path | None,
    embedder: Embedder,
    classifier: AmbiguityClassifier,
) -> list[Asked]:
    """For each question: call the model, run `rewrite`, and run the detection alone. One call at a time."""
    chat = KeptReplies(endpoint, replies)

    async def embedders(_: str) -> Embedder:
        return embedder

    detector = Detector(classifier, embedders)
    asked = []
    for row in rows:
        question = row["target_turn"]["question"]
        history = [text for turn in row["history_turns"] for text in (turn["question"], turn["answer"])]
        said, completions = await chat.ask(rewriting_prompt(question, history))
        rewriting, is_sent, _ = await _rewrite(question, history, detector, chat)
        _, _, seconds = await _rewrite(question, history, detector, None)
        asked.append(
            Asked(
                question=question,
                history=history,
                is_ambiguous=row["ambiguity"] == "ambiguous",
                is_sent=is_sent,
                detecting_ms=seconds * 1000,
                said=said,
                calling_ms=sum(completion.latency_ms for completion in completions),
                rewritten=rewriting.rewritten,
            )
        )
    return asked


async def _rewrite(
    question: str, history: Sequence[str], detector: Detector, chat: KeptReplies | None
) -> tuple[Rewriting, bool, float]:
    """Run the job `rewrite`. Returns whether it called the model, and its seconds."""
    store = FakeStore()
    dialogue = FakeDialogueStore(store)
    run = store.add_run(question, operation="rewrite", settings={"history": list(history)})
    started = time.perf_counter()
    await execute(context_of(run, store, chat, chat=chat, dialogue=dialogue, detector=detector))
    is_sent = any(stage.name == "rewriting" for stage in store.runs[run.run_id].stages)
    return dialogue.rewritings[run.run_id], is_sent, time.perf_counter() - started


async def show(asked: Sequence[Asked], embedder: Embedder, *, verbose: bool) -> None:
    """Print the table. All figures except the last two are numbers of questions: ambiguous ones, then clear ones."""
    table = Table(
        "way",
        "questions",
        "changed",
        "name, number or quotation lost",
        "meaning changed",
        "damaged",
        "calls",
        "ms a question",
    )
    for way, is_selective, is_checked in (
        ("everything, unchecked", False, False),
        ("everything, checked", False, True),
        ("what `rewrite` sends, unchecked", True, False),
    ):
        results = [_result(one, is_selective=is_selective, is_checked=is_checked) for one in asked]
        called = [one for one in asked if one.is_sent or not is_selective]
        spent = sum(one.calling_ms for one in called) + is_selective * sum(one.detecting_ms for one in asked)
        await _add(table, way, asked, results, embedder, len(called), spent / len(asked))
    detecting = statistics.fmean(one.detecting_ms for one in asked)
    spent_ms = [one.calling_ms for one in asked if one.is_sent]
    ours = [one.rewritten for one in asked]
    await _add(table, "rewrite", asked, ours, embedder, len(spent_ms), detecting + sum(spent_ms) / len(asked))
    if verbose:
        for one in asked:
            fault = None if one.said is None else find_fault(one.question, one.said, one.history)
            print(
                one.is_ambiguous,
                one.is_sent,
                one.history,
                "|",
                one.question,
                "->",
                one.said,
                "|",
                fault,
            )
    Console(width=160).print(table)


def _result(one: Asked, *, is_selective: bool, is_checked: bool) -> str:
    if one.said is None or (is_selective and not one.is_sent):
        return one.question
    if is_checked and find_fault(one.question, one.said, one.history) is not None:
        return one.question
    return one.said


async def _add(
    table: Table, way: str, asked: Sequence[Asked], results: Sequence[str], embedder: Embedder, calls: int, ms: float
) -> None:
    vectors = await embedder.encode(
        [text for one, result in zip(asked, results, strict=True) for text in (one.question, _with_turn(one), result)]
    )
    counts: dict[str, list[int]] = {name: [0, 0] for name in ("questions", "changed", "lost", "meaning", "damaged")}
    for place, (one, result) in enumerate(zip(asked, results, strict=True)):
        alone, behind_turn, rewritten = vectors[3 * place : 3 * place + 3]
        is_lost = _loses(one.question, result)
        is_changed = max(float(rewritten @ alone), float(rewritten @ behind_turn)) < _LEAST_LIKENESS
        for name, holds in (
            ("questions", True),
            ("changed", result != one.question),
            ("lost", is_lost),
            ("meaning", is_changed),
            ("damaged", is_lost or is_changed),
        ):
            counts[name][0 if one.is_ambiguous else 1] += holds
    table.add_row(way, *(f"{ambiguous} + {clear}" for ambiguous, clear in counts.values()), str(calls), f"{ms:.0f}")


def _loses(question: str, result: str) -> bool:
    """Whether a name, a number in digits or a quoted string is lost."""
    kept = result.lower()
    words = [*_NUMBER.findall(question), *(found[1] for found in _QUOTED.finditer(question))]
    # The first word is always capitalized, so it may not be a name.
    words += [word for word in question.split()[1:] if word[:1].isupper() and word not in ("I", "I'm")]
    return any(word.lower().strip("?.,!'\"").removesuffix("'s") not in kept for word in words)


def _with_turn(one: Asked) -> str:
    return " ".join((*one.history[-2:], one.question))


async def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--classifier", type=Path, help="a classifier that was trained with --part training")
    parser.add_argument("--conversations", type=int, default=60)
    parser.add_argument("--replies", type=Path, help="file of JSON lines that keeps replies")
    parser.add_argument("--verbose", action="store_true")
    given = parser.parse_args()
    if given.classifier:
        classifier = AmbiguityClassifier(given.classifier.read_bytes())
    else:
        classifier = await asyncio.to_thread(trained_on_one_side, given.data_dir)
    embedder = await asyncio.to_thread(load_embedder, MODEL)
    rows = sample(list(read(given.data_dir / "abg-coqa.jsonl.gz")), given.conversations)
    async with Endpoint(
        model=given.model, base_url=given.base_url, api_key=SecretStr("none"), concurrency=1, timeout=600
    ) as endpoint:
        asked = await ask(rows, endpoint, given.replies, embedder, classifier)
    await show(asked, embedder, verbose=given.verbose)


if __name__ == "__main__":
    asyncio.run(_main())
