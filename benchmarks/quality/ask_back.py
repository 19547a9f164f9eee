"""What the router in front of clarify is worth: the calls that it saves, and the known answers that it loses.

python -m benchmarks.quality.ask_back DATA_DIR. DATA_DIR has these data sets (.jsonl.gz): squad2.corpus,
squad2.ambiguous, squad2.answerable, ambignq.corpus, ambignq.questions, clamber and abg-coqa. The classifier is trained
like the one that ships, but not on the questions that are asked here (--classifier FILE takes an existing one). An
oracle answers: it knows the answers, and so shows what the router alone loses.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from psycopg.types.json import Jsonb
from rich.console import Console
from rich.table import Table

from benchmarks import product
from benchmarks.data_sets import read
from benchmarks.figures import step
from benchmarks.quality.adaptive_clarify import Carry, Known, Oracle, Question, load, load_questions, serving
from benchmarks.quality.ambiguity import trained_on_one_side
from pgclarify.algorithms.ambiguity import AmbiguityClassifier
from pgclarify.algorithms.metrics import covered_answers
from pgclarify.data.model_calls import CompletionRequest, ModelCall
from pgclarify.data.vocabulary import Purpose
from pgclarify.embedding.registry import Embedders
from pgclarify.worker.language_models import LanguageModels
from tests import openai_server
from tests.fakes.completer import Prompt
from training.splits import is_for_training

_QUOTED = 80
_NO_ANSWER = "No answer"
_WAYS: Mapping[str, Mapping[str, object]] = {
    "clarify": {},
    "ask_back": {"ask_back": "when_vague"},
    "adaptive": {"retrieval": "adaptive"},
    "adaptive, ask_back": {"retrieval": "adaptive", "ask_back": "when_vague"},
}


@dataclass(frozen=True)
class Row:
    """The results of one way of asking, over some questions.

    Attributes:
        found: Known answers that the answers of the interpretations give.
        interpretations: How many interpretations all runs have.
        calls: Model calls for each question, including those from the ledger.
        routes: How many questions took each route.
    """

    found: int
    interpretations: int
    calls: Sequence[int]
    routes: Mapping[str | None, int]


class Knowing(Oracle):
    """An oracle that also reads several passages: the first known answer in the first passage that gives one."""

    def reply(self, call: ModelCall[Any]) -> dict[str, object]:
        """Return the known answers."""
        if call.purpose != Purpose.JOINT_VERDICTS:
            return super().reply(call)
        prompt = Prompt(CompletionRequest(call.purpose, self.model, {}, call.version, call.messages))
        contents, documents = prompt.passages, call.document_ids
        for number, content in enumerate(contents, start=1):
            # If passages share a document, the answer may be in any of them.
            mine = documents[number - 1 : number] if len(documents) == len(contents) else documents
            for known in self.known(prompt.question):
                if any(known.is_given_by(document_id, content) for document_id in mine):
                    name = next((one for one in known.names if one in content), known.names[0])
                    place = max(0, content.find(name))
                    quote = content[max(0, place - _QUOTED) : place + len(name) + _QUOTED]
                    proofs = [{"passage": number, "quote": quote}]
                    return {"readings": [{"interpretation": known.reading, "answer": name, "proofs": proofs}]}
        return {"readings": []}


def questions(data_dir: Path) -> dict[str, list[Question]]:
    """All questions that the classifier was not trained on, by kind."""
    ambignq, ambiguous = (load_questions(data_dir, [corpus]) for corpus in ("ambignq", "squad2"))
    clear = [
        Question("squad2", text, (Known(text, (row["answer"],), frozenset([row["passage"]])),))
        for row in read(data_dir / "squad2.answerable.jsonl.gz")
        if row["answer"] != _NO_ANSWER and (text := row["question"].strip())
    ]
    asked = {
        "squad2.answerable": list({one.text: one for one in clear}.values()),
        "squad2.ambiguous": ambiguous,
        "ambignq": ambignq,
    }
    return {
        kind: [one for one in mine if kind == "ambignq" or not is_for_training(one.text.lower())]
        for kind, mine in asked.items()
    }


async def ask(dsn: str, asked: Sequence[Question], options: Mapping[str, object], carry: Carry) -> Row:
    """Ask questions in one way, and read the results."""
    (corpus,) = {one.corpus for one in asked}
    with product.connect(dsn) as connection:
        (submitted,) = connection.execute(
            "select pgclarify.submit_many('clarify', %s, %s, %s) as ids",
            # The oracle's quotes would not pass the checks.
            [[one.text for one in asked], corpus, Jsonb({**options, "verify": "none"})],
        ).fetchall()
        run_ids = submitted["ids"]
        await carry(run_ids)
        runs = {
            row["run_id"]: row
            for row in connection.execute(
                "select run.run_id, run.status, run.route, ("
                "    select coalesce(sum(stage.calls + stage.reused_calls), 0)::integer"
                "    from pgclarify_private.seen_stage as stage where stage.run_id = run.run_id"
                ") as calls from pgclarify.run where run.run_id = any(%s)",
                [run_ids],
            )
        }
        assert {row["status"] for row in runs.values()} == {"succeeded"}
        found = connection.execute(
            "select run_id, answer from pgclarify.interpretation where run_id = any(%s)", [run_ids]
        ).fetchall()
    answers: dict[int, list[str]] = {run_id: [] for run_id in run_ids}
    for row in found:
        answers[row["run_id"]].append(row["answer"])
    return Row(
        sum(
            sum(covered_answers([known.names for known in question.known], answers[run_id]))
            for question, run_id in zip(asked, run_ids, strict=True)
        ),
        len(found),
        [row["calls"] for row in runs.values()],
        Counter(row["route"] for row in runs.values()),
    )


def table(title: str, asked: Sequence[Question], rows: Mapping[str, Row]) -> Table:
    """Show the results of each way."""
    columns = ("way", "answered in one pass", "known answers", "readings", "calls")
    shown = Table(*columns, title=title)
    known = sum(len(one.known) for one in asked)
    for way, row in rows.items():
        gated = f"{row.routes['answered']} of {len(asked)}" if "ask_back" in way else ""
        shown.add_row(
            way,
            gated,
            f"{row.found} of {known}",
            f"{row.interpretations / len(asked):.2f}",
            f"{statistics.mean(row.calls):.1f}",
        )
    return shown


async def compare(dsn: str, asked: Mapping[str, Sequence[Question]], classifier: AmbiguityClassifier) -> list[Table]:
    """Ask an oracle all questions in each way."""
    embedders = Embedders()
    shown = []
    try:
        models = LanguageModels(Knowing([one for mine in asked.values() for one in mine]))
        async with serving(dsn, models, embedders, classifier) as carry:
            for kind, mine in asked.items():
                rows = {}
                for way, options in _WAYS.items():
                    with step(f"{kind}, {way}"):
                        rows[way] = await ask(dsn, mine, options, carry)
                shown.append(table(f"{len(mine)} questions of {kind}", mine, rows))
    finally:
        embedders.close()
    return shown


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("--questions", type=int, help="use only the first N questions of each kind")
    parser.add_argument("--classifier", type=Path, help="a classifier that was trained with --part training")
    arguments = parser.parse_args()
    if arguments.classifier:
        classifier = AmbiguityClassifier(arguments.classifier.read_bytes())
    else:
        classifier = trained_on_one_side(arguments.data_dir)
    asked = {kind: mine[: arguments.questions] for kind, mine in questions(arguments.data_dir).items()}
    with product.database() as dsn:
        with openai_server.spawn() as idle, product.worker(dsn, idle, concurrency=1):
            load(dsn, arguments.data_dir, ("squad2", "ambignq"))
        Console(width=120).print(*asyncio.run(compare(dsn, asked, classifier)))


if __name__ == "__main__":
    _main()
