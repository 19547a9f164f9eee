"""What `investigate` answers with a real model, with and without its parts, beside one search and one call.

python -m benchmarks.investigate DATA_DIR --base-url URL --model NAME [--questions 20] [--database DIR]

DATA_DIR has musique.corpus.jsonl.gz and musique.questions.jsonl.gz. Questions are asked one after the other, each by
every variant, and one call is made at a time, so that a call's latency is what it costs. Variants of a question share
replies, as the ledger does; each is charged for all that it asked for. With --database the server's data stay there: a
benchmark that was cut off goes on where it was.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from psycopg.types.json import Jsonb
from pydantic import SecretStr
from rich.console import Console
from rich.table import Table

from benchmarks import kept, product
from benchmarks.figures import mean_of, step
from benchmarks.ingest import MODEL
from benchmarks.kept import MeteredTables
from benchmarks.lexical_quality import read
from pgclarify.algorithms.metrics import cover_exact_match
from pgclarify.database.exploration import ExplorationTables
from pgclarify.database.investigations import StepTables
from pgclarify.database.pool import open_pool
from pgclarify.database.presence import Presence
from pgclarify.database.runs import Runs
from pgclarify.embedding import load_embedder
from pgclarify.embedding.cross_encoders import CrossEncoders
from pgclarify.errors import CompletionError
from pgclarify.ledger.calls import Calls
from pgclarify.ledger.completions import PollInterval
from pgclarify.model import Candidate, Run
from pgclarify.operations.execution import execute
from pgclarify.operations.investigation.entailment import Entailments
from pgclarify.operations.judging.proof import prove
from pgclarify.operations.retrieval.reranking import Rerankers
from pgclarify.operations.trace import Tally
from pgclarify.prompts.investigation import answer
from pgclarify.protocols import Embedder, StepStore
from pgclarify.providers.chat_model import ChatModel
from pgclarify.providers.endpoint import Endpoint
from pgclarify.steps import Finding, Step
from pgclarify.vocabulary import RunStatus
from tests.fakes.context import context_of

_CORPUS = "musique"
_LINKED_AT_ONCE = 2000
_BASELINE_DEPTH = 10

# A small model on two cores reads some 85 tokens of a prompt a second: every passage that it is shown costs more than a
# second, and a question with all its variants some two minutes. Two batches are the least with which a penalty can
# change a ranking. The first 145 questions of the data set take two steps; more of them repair a step that failed.
_OPTIONS: Mapping[str, int] = {
    "top_k": 4,
    "budget": 8,
    "batch": 4,
    "samples": 3,
    "max_steps": 2,
    "max_calls": 60,
}
_VARIANTS: Mapping[str, Mapping[str, bool | int | str]] = {
    "investigate": {},
    "without the penalty": {"penalty": False},
    "without the reasoner": {"reasoner": False},
    "without both": {"penalty": False, "reasoner": False},
    "without neighbors": {"retrieval": "fixed"},
    "without neighbors and both": {"retrieval": "fixed", "penalty": False, "reasoner": False},
    "without decomposition": {"max_steps": 0},
}
_CHECKED = "one search, one call, quote checked"
_UNCHECKED = "one search, one call, unchecked"
_NAMES = (_UNCHECKED, _CHECKED, *_VARIANTS)


@dataclass(frozen=True)
class Told:
    """What one variant said to one question.

    Attributes:
        question_id: Which question.
        variant: One of _NAMES.
        answer: None if it gave none.
        is_covered: Whether a known answer stands in it.
        calls: Calls that it asked for, paid or not.
        seconds: What these took, when they were made.
        outcome: The conclusion's, or answered and not_in_corpus.
        steps: Questions and answers on the way.
    """

    question_id: str
    variant: str
    answer: str | None
    is_covered: bool
    calls: int
    seconds: float
    outcome: str
    steps: list[list[str]]


class _KeptSteps:
    """A StepStore that remembers what it kept."""

    def __init__(self, tables: StepStore) -> None:
        self._tables = tables
        self.steps: list[Step] = []

    async def record_step(self, run: Run, step: Step) -> None:
        await self._tables.record_step(run, step)
        self.steps.append(step)


class _Asking:
    """One question at a time, by each variant."""

    def __init__(
        self,
        dsn: str,
        runs: Runs,
        chat: ChatModel,
        embedder: Embedder,
        cross_encoders: CrossEncoders,
        options: Mapping[str, int],
    ) -> None:
        self._dsn = dsn
        self._runs = runs
        self._chat = chat
        self._embedder = embedder
        self._cross_encoders = cross_encoders
        self._options = options

    async def ask(self, row: Mapping[str, Any], variant: str) -> list[Told]:
        if variant in _VARIANTS:
            return [await self._investigate(row, variant)]
        return await self._look_up_once(row)

    async def _investigate(self, row: Mapping[str, Any], variant: str) -> Told:
        options = Jsonb({**self._options, **_VARIANTS[variant]})
        run = await self._start("select pgclarify.submit_investigation(%s, %s, %s) as id", row["question"], options)
        tables = MeteredTables(self._runs, run)
        steps = _KeptSteps(StepTables(self._runs))
        context = context_of(
            run,
            tables,
            self._chat,
            passages=ExplorationTables(self._runs),
            steps=steps,
            embedder=self._embedder,
            rerankers=Rerankers(None, self._cross_encoders.get),
            entailments=Entailments(None, self._cross_encoders.get),
            poll=PollInterval(),
        )
        await execute(context)
        with product.connect(self._dsn) as connection:
            statement = "select status, error from pgclarify.run where run_id = %s"
            (ended,) = connection.execute(statement, [run.run_id]).fetchall()
        if ended["status"] == "failed":
            raise RuntimeError(ended["error"])
        *chain, end = steps.steps
        told: list[list[str]] = [[one.question, one.answer or one.outcome.value] for one in chain]
        return _told(row, variant, end.answer, tables, end.outcome.value, told)

    async def _look_up_once(self, row: Mapping[str, Any]) -> list[Told]:
        """Ask for an answer from the first passages of one hybrid search; with and without a look at its quote."""
        question = row["question"]
        run = await self._start("select pgclarify.submit(%s, %s, 1, %s) as id", question, Jsonb({}))
        tables = MeteredTables(self._runs, run)
        vector = (await self._embedder.encode([question]))[0]
        found = await ExplorationTables(self._runs).find_passages(
            run, question, vector, method="hybrid", depth=_BASELINE_DEPTH
        )
        shown = [Candidate(rank, one.passage, one.score, one.origin) for rank, one in enumerate(found, start=1)]
        passages = [one.passage for one in shown]
        findings: list[Finding] = []

        def check(finding: Finding) -> str | None:
            findings.append(finding)
            proven = prove(finding, shown, asked=question)
            return None if proven is None else proven.answer

        calls = Calls(tables, self._chat, most=2, poll=PollInterval())
        value = await calls.ask(lambda: answer(question, passages).then(check), tally=Tally())
        await tables.finish_run(run, RunStatus.SUCCEEDED, [], None)
        checked = None if isinstance(value, CompletionError) else value
        unchecked = findings[0].answer if findings else None
        return [_told(row, _CHECKED, checked, tables), _told(row, _UNCHECKED, unchecked, tables)]

    async def _start(self, statement: str, question: str, options: Jsonb) -> Run:
        """Submit a question, and take it in hand instead of a worker."""
        with product.connect(self._dsn) as connection:
            while True:
                (submitted,) = connection.execute(statement, [question, _CORPUS, options]).fetchall()
                run = await self._runs.start(submitted["id"])
                if run is not None:
                    return run
                # Answered before, by a benchmark that did not come to write it down.
                connection.execute("delete from pgclarify.run where run_id = %s", [submitted["id"]])


def _told(
    row: Mapping[str, Any],
    variant: str,
    answer: str | None,
    tables: MeteredTables,
    outcome: str | None = None,
    steps: list[list[str]] | None = None,
) -> Told:
    return Told(
        row["id"],
        variant,
        answer,
        answer is not None and cover_exact_match(answer, row["answers"]),
        tables.calls,
        tables.seconds,
        outcome or ("not_in_corpus" if answer is None else "answered"),
        steps or [],
    )


class _Log:
    """What was told so far, line by line in a file.

    Attributes:
        told: All of it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        lines = path.read_text().splitlines() if path.exists() else []
        self.told = [Told(**json.loads(line)) for line in lines]

    def add(self, told: Sequence[Told]) -> None:
        self.told += told
        with self._path.open("a") as lines:
            lines.writelines(json.dumps(asdict(one)) + "\n" for one in told)


async def measure(dsn: str, given: argparse.Namespace, log: _Log) -> list[Told]:
    """Ask what has not been asked yet."""
    done = {(told.question_id, told.variant) for told in log.told}
    questions = list(read(given.data_dir / "musique.questions.jsonl.gz"))[: given.questions]
    entry: dict[str, Any] = {"version": "", "provider": "none", "model": "none", "prompt_version": ""}
    key = SecretStr(os.environ.get("OPENAI_API_KEY", "none"))
    embedder, cross_encoders = load_embedder(MODEL), CrossEncoders()
    try:
        async with (
            open_pool(dsn) as pool,
            Presence.enter(dsn, **entry) as presence,
            Endpoint(
                model=given.model, base_url=given.base_url, api_key=key, concurrency=1, timeout=given.timeout
            ) as endpoint,
        ):
            runs = Runs(pool, presence.worker_id)
            options = {name: getattr(given, name) for name in _OPTIONS}
            asking = _Asking(dsn, runs, ChatModel(endpoint), embedder, cross_encoders, options)
            for number, row in enumerate(questions, start=1):
                for variant in (_CHECKED, *_VARIANTS):
                    if (row["id"], variant) in done:
                        continue
                    with step(f"{number} of {len(questions)}, {variant}"):
                        told = await asking.ask(row, variant)
                    log.add(told)
                    if given.verbose:
                        _print(row, told[0])
    finally:
        embedder.close()
        cross_encoders.close()
    asked = {row["id"] for row in questions}
    return [told for told in log.told if told.question_id in asked]


def _print(row: Mapping[str, Any], told: Told) -> None:
    for question, said in told.steps:
        print(f"    {question} → {said}", file=sys.stderr)
    mark = "✓" if told.is_covered else "✗"
    print(f"  {mark} {row['question']} → {told.answer or told.outcome} (known: {row['answers'][0]})", file=sys.stderr)


def _show(told: Sequence[Told]) -> None:
    table = Table("variant", "questions", "cover-EM", "of those answered", "against one call", "calls", "seconds")
    rows = {name: {one.question_id: one for one in told if one.variant == name} for name in _NAMES}
    for name, row in rows.items():
        if not row:
            continue
        answered = [one for one in row.values() if one.answer is not None]
        better = sum(one.is_covered > rows[_UNCHECKED][key].is_covered for key, one in row.items())
        worse = sum(one.is_covered < rows[_UNCHECKED][key].is_covered for key, one in row.items())
        table.add_row(
            name,
            str(len(row)),
            _share(sum(one.is_covered for one in row.values()), len(row)),
            _share(sum(one.is_covered for one in answered), len(answered)),
            f"+{better} −{worse}",  # noqa: RUF001
            mean_of([one.calls for one in row.values()], ".1f"),
            mean_of([one.seconds for one in row.values()], ".1f"),
        )
    Console(width=140).print(table)
    print("Intervals of 95 %: Wilson's for shares, percentile bootstrap for means.")


def _share(hits: int, of: int) -> str:
    """A share with Wilson's interval."""
    if not of:
        return "none"
    z = 1.96
    share = hits / of
    middle = (share + z**2 / (2 * of)) / (1 + z**2 / of)
    reach = z / (1 + z**2 / of) * math.sqrt(share * (1 - share) / of + z**2 / (4 * of**2))
    return f"{share:.2f} ({hits} of {of}; {max(middle - reach, 0):.2f} to {min(middle + reach, 1):.2f})"


def _load(dsn: str, data_dir: Path) -> None:
    """Store and link the corpus, as a worker does, unless it is there."""
    if not kept.load(dsn, _CORPUS, data_dir / "musique.corpus.jsonl.gz"):
        return
    with product.connect(dsn) as connection, step("linking them"):
        statement = "select pgclarify_private.link_passages(%s) as passages"
        while connection.execute(statement, [_LINKED_AT_ONCE]).fetchall()[0]["passages"]:
            pass


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--model", default="local")
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--database", type=Path, help="keep the server's data here, and go on from there")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds that the endpoint may be silent")
    parser.add_argument("--verbose", action="store_true", help="print every question with its steps")
    for name, value in _OPTIONS.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, default=value)
    given = parser.parse_args()
    with kept.database(given.database) as (dsn, beside):
        _load(dsn, given.data_dir)
        _show(asyncio.run(measure(dsn, given, _Log(beside("told.jsonl")))))
