"""What guidance by verdicts is worth: the known answers that it covers, its calls and its time.

python -m benchmarks.quality.adaptive_clarify DATA_DIR. DATA_DIR has these data sets (.jsonl.gz): ambignq.corpus and
ambignq.questions (several answers a question); squad2.corpus and squad2.ambiguous (one answer a question). --corpora
musique adds questions in several steps, and counts each step as a reading. Two verifiers judge: an oracle, which knows
the answers and so measures the exploration alone, and the extractive verifier. With --model, the running worker judges:
start `pgclarify up --detach` with a language model first.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from psycopg.types.json import Jsonb
from rich.console import Console
from rich.table import Table

from benchmarks import product
from benchmarks.data_sets import MODEL, read
from benchmarks.figures import Figure, show, step
from pgclarify.algorithms.ambiguity import AmbiguityClassifier
from pgclarify.algorithms.metrics import cover_exact_match
from pgclarify.cli.connection import load_settings, running_dsn
from pgclarify.data.model_calls import Completion, CompletionRequest, ModelCall
from pgclarify.database.pool import open_pool
from pgclarify.database.presence import Presence
from pgclarify.database.runs import Runs, TakenRun
from pgclarify.embedding import load_span_reader
from pgclarify.embedding.cross_encoder import CrossEncoders
from pgclarify.embedding.registry import Embedders
from pgclarify.operations.missing_models import no_endpoint
from pgclarify.protocols import Sending
from pgclarify.providers.extractive import ExtractiveVerifier
from pgclarify.worker.executor import RunExecutor, models_of
from pgclarify.worker.language_models import LanguageModels
from pgclarify.worker.monitor import Monitor
from pgclarify.worker.quarantine import Quarantine
from tests import openai_server

CORPORA = ("ambignq", "squad2", "musique", "ramdocs")
CALL_SECONDS = 0.2
TOP_K = 20
BUDGETS = (8, 12, 16, 20)
T = TypeVar("T")

_AT_ONCE = 8
_TIMED = 40

Carry: TypeAlias = Callable[[Sequence[int]], Awaitable[None]]


@dataclass(frozen=True)
class Known:
    """One known answer.

    Attributes:
        reading: The question that it answers.
        names: The spellings of the answer.
        gold: The documents that give the answer; empty if they are not known.
    """

    reading: str
    names: tuple[str, ...]
    gold: frozenset[str] = frozenset()

    def is_given_by(self, document_id: str, text: str) -> bool:
        """Whether a document gives the answer; if the gold documents are not known, whether its text has the answer."""
        return document_id in self.gold if self.gold else cover_exact_match(text, self.names)


@dataclass(frozen=True)
class Question:
    """A question, its corpus, and its known answers."""

    corpus: str
    text: str
    known: tuple[Known, ...]

    def covered(self, grounded: Sequence[tuple[str, str]]) -> int:
        """How many known answers the verdicts give. Each verdict is given as its document and its answer."""
        return sum(any(one.is_given_by(*verdict) for verdict in grounded) for one in self.known)


def load_questions(data_dir: Path, corpora: Collection[str]) -> list[Question]:
    """All questions of some data sets. Of equal questions, only the first one counts."""
    questions = []
    if "ambignq" in corpora:
        for row in read(data_dir / "ambignq.questions.jsonl.gz"):
            known = [(one["question"], one["answers"]) for one in row["interpretations"]]
            known = known or [(row["question"], names) for names in row["single_answers"]]
            answers = tuple(Known(reading, tuple(names)) for reading, names in known)
            questions.append(Question("ambignq", row["question"], answers))
    if "squad2" in corpora:
        for row in read(data_dir / "squad2.ambiguous.jsonl.gz"):
            answer = Known(row["question"], (row["answer"],), frozenset(row["gold"]))
            questions.append(Question("squad2", row["question"], (answer,)))
    if "musique" in corpora:
        for row in read(data_dir / "musique.questions.jsonl.gz"):
            steps = tuple(
                Known(step["question"], (step["answer"],), frozenset([document_id]))
                for step, document_id in zip(row["decomposition"], row["gold"], strict=True)
            )
            questions.append(Question("musique", row["question"], steps))
    if "ramdocs" in corpora:
        for row in read(data_dir / "ramdocs.questions.jsonl.gz"):
            right = tuple(Known(row["question"], (name,)) for name in row["answers"])
            questions.append(Question("ramdocs", row["question"], right))
    return list({(one.corpus, one.text): one for one in questions}.values())


class Oracle:
    """A completer that knows the answers: it reads a known answer where a passage has one, and abstains elsewhere.

    Args:
        questions: The questions with their known answers.
        model: The name in the keys of its replies, so that it does not reuse replies of another model.
        seconds: How long a call takes.
    """

    provider = "oracle"

    def __init__(self, questions: Iterable[Question], *, model: str = "oracle", seconds: float = 0.0) -> None:
        self.model = model
        self._questions = {one.text: one for one in questions}
        self._seconds = seconds

    @property
    def turns_free(self) -> int:
        """0: no call is sent."""
        return 0

    def adapt(self, call: ModelCall[T]) -> ModelCall[T]:
        """Take all calls."""
        return call

    def request(self, call: ModelCall[Any]) -> CompletionRequest:
        """Decide now; `complete` returns the decision."""
        payload = {"asked": [one.content for one in call.messages], "reply": self.reply(call)}
        return CompletionRequest(call.purpose, self.model, {}, call.version, (), sample=call.sample, payload=payload)

    async def complete(self, request: CompletionRequest, sending: Sending | None = None) -> Completion:
        """Return the decision."""
        await asyncio.sleep(self._seconds)
        assert request.payload is not None
        return Completion(json.dumps(request.payload["reply"]), 0, 0, 1000 * self._seconds)

    def known(self, question: str) -> Sequence[Known]:
        """Return the known answers of a question."""
        return self._questions[question].known

    def reply(self, call: ModelCall[Any]) -> dict[str, object]:
        """Return the known answers."""
        assert call.payload is not None
        question, content = call.payload["question"], call.payload["content"]
        known = self.known(question)
        given = next((one for one in known if one.is_given_by(call.document_ids[0], content)), None)
        if given is None:
            return {"interpretation": None, "answer": None, "quote": None}
        return {"interpretation": given.reading, "answer": given.names[0], "quote": content[:200]}


@dataclass
class Row:
    """The results of one way of asking, over some questions.

    Attributes:
        covered: Known answers that were found.
        calls: Verdicts for each question, including those from the ledger.
        rounds: Batches for each question.
    """

    covered: int = 0
    calls: list[int] = field(default_factory=list)
    rounds: list[int] = field(default_factory=list)


@asynccontextmanager
async def serving(
    dsn: str, models: LanguageModels, embedders: Embedders, classifier: AmbiguityClassifier | None = None
) -> AsyncIterator[Carry]:
    """A worker in this process, which carries out the runs it is given; None means the classifier that ships."""
    completer = models.completer
    entry: dict[str, Any] = {
        "provider": completer.provider,
        "model": completer.model,
        "prompt_version": models.prompt_version,
    }
    async with open_pool(dsn) as pool, Presence.enter(dsn, version="", **entry) as presence:
        runs = Runs(pool, presence.worker_id)
        quarantine = Quarantine(asyncio.Lock())
        rules = classifier or AmbiguityClassifier.load()
        of_runs = models_of(models, embedders, CrossEncoders(), no_endpoint, rules, calls_at_once=_AT_ONCE)
        executor = RunExecutor(runs, of_runs, quarantine, Monitor())
        slots = asyncio.Semaphore(_AT_ONCE)

        async def carry_out(run_id: int) -> None:
            async with slots:
                taken = TakenRun(run_id, await runs.start(run_id), is_waited_for=False, is_of_batch=True)
                await executor.carry_out(taken)

        async def carry(run_ids: Sequence[int]) -> None:
            async with asyncio.TaskGroup() as tasks:
                for run_id in dict.fromkeys(run_ids):
                    tasks.create_task(carry_out(run_id))

        yield carry


def submit(
    connection: product.Connection, questions: Sequence[Question], retrieval: str, budget: int, verify: str
) -> Mapping[Question, int]:
    """Submit questions, and return the run of each question."""
    options = {"retrieval": retrieval, "max_passages": budget, "verify": verify}
    run_ids: dict[Question, int] = {}
    for corpus in sorted({one.corpus for one in questions}):
        mine = [one for one in questions if one.corpus == corpus]
        (row,) = connection.execute(
            "select pgclarify.submit_many('clarify', %s, %s, jsonb_build_object('top_k', %s::integer) || %s::jsonb) as ids",  # noqa: E501
            [[one.text for one in mine], corpus, TOP_K, Jsonb(options)],
        ).fetchall()
        run_ids |= dict(zip(mine, row["ids"], strict=True))
    return run_ids


def look(connection: product.Connection, run_ids: Mapping[Question, int]) -> Row:
    """Read the results of runs."""
    ids = list(run_ids.values())
    states = {
        row["status"] for row in connection.execute("select status from pgclarify.run where run_id = any(%s)", [ids])
    }
    assert states == {"succeeded"}, states
    grounded: dict[int, list[tuple[str, str]]] = {run_id: [] for run_id in ids}
    for row in connection.execute(
        "select run_id, document_id, answer from pgclarify.verdict inner join pgclarify.candidate using (run_id, rank)"
        " where run_id = any(%s) and outcome = 'grounded'",
        [ids],
    ):
        grounded[row["run_id"]].append((row["document_id"], row["answer"]))
    counted = connection.execute(
        "select sum(calls + reused_calls)::integer as calls, count(*) filter (where name = 'judgement') as rounds"
        " from pgclarify_private.seen_stage where run_id = any(%s) group by run_id",
        [ids],
    ).fetchall()
    return Row(
        sum(question.covered(grounded[run_id]) for question, run_id in run_ids.items()),
        [row["calls"] for row in counted],
        [row["rounds"] for row in counted],
    )


async def compare(
    dsn: str, questions: Sequence[Question], carry: Carry, verify: str = "checks"
) -> Mapping[tuple[str, int], Row]:
    """Ask all questions in each way."""
    rows = {}
    with product.connect(dsn) as connection:
        for retrieval in ("fixed", "adaptive"):
            for budget in BUDGETS:
                with step(f"{retrieval} {budget}"):
                    run_ids = submit(connection, questions, retrieval, budget, verify)
                    await carry(list(run_ids.values()))
                rows[retrieval, budget] = look(connection, run_ids)
    return rows


def table(title: str, questions: Sequence[Question], rows: Mapping[tuple[str, int], Row]) -> Table:
    """Show the results of each way, and those of fixed retrieval of TOP_K passages."""
    known = sum(len(one.known) for one in questions)
    most = rows["fixed", TOP_K]
    shown = Table("retrieval", "budget", "covered", "of fixed 20", "calls", "of fixed 20", "rounds", title=title)
    for column in shown.columns[1:]:
        column.justify = "right"
    for (retrieval, budget), row in rows.items():
        calls = statistics.mean(row.calls)
        shown.add_row(
            retrieval,
            str(budget),
            f"{row.covered} of {known}",
            f"{row.covered / max(1, most.covered):.2f}",
            f"{calls:.1f}",
            f"{calls / statistics.mean(most.calls):.2f}",
            f"{statistics.mean(row.rounds):.2f}",
        )
    return shown


async def judge_here(dsn: str, questions: Sequence[Question]) -> list[Table]:
    """Compare with the oracle and with the extractive verifier."""
    embedders = Embedders()
    shown = []
    try:
        for name, verifier, verify in (
            # The oracle is right by definition, but its quotes would not pass the checks.
            ("oracle", Oracle(questions), "none"),
            ("extractive", ExtractiveVerifier(await embedders.get(MODEL), load_span_reader()), "checks"),
        ):
            async with serving(dsn, LanguageModels(verifier), embedders) as carry:
                for corpus in sorted({one.corpus for one in questions}):
                    mine = [one for one in questions if one.corpus == corpus]
                    rows = await compare(dsn, mine, carry, verify)
                    shown.append(table(f"{name}, {len(mine)} questions of {corpus}", mine, rows))
            with product.connect(dsn) as connection:
                # Otherwise runs would reuse the results of the other verifier.
                connection.execute("delete from pgclarify_private.run")
    finally:
        embedders.close()
    return shown


async def time_here(dsn: str, questions: Sequence[Question]) -> list[Figure]:
    """Time one run after another in both ways. Each call of the oracle takes CALL_SECONDS."""
    embedders = Embedders()
    seconds: dict[str, list[float]] = {"fixed": [], "adaptive": []}
    try:
        for retrieval, taken in seconds.items():
            oracle = Oracle(questions, model=f"slow oracle, {retrieval}", seconds=CALL_SECONDS)
            async with serving(dsn, LanguageModels(oracle), embedders) as carry:
                with product.connect(dsn) as connection, step(f"{len(questions)} questions, {retrieval}"):
                    run_ids = list(submit(connection, questions, retrieval, TOP_K, "none").values())
                    await carry(run_ids[:1])
                    for run_id in run_ids[1:]:
                        started = time.perf_counter()
                        await carry([run_id])
                        taken.append(time.perf_counter() - started)
    finally:
        embedders.close()
    return _compared("oracle of 200 ms a call", seconds["fixed"], seconds["adaptive"])


def time_served(dsn: str, questions: Sequence[Question]) -> list[Figure]:
    """Time one call of clarify after another. The model server reads something in three of four passages."""
    seconds: dict[str, list[float]] = {"fixed": [], "adaptive": []}
    with (
        openai_server.spawn(latency=CALL_SECONDS) as endpoint,
        product.worker(dsn, endpoint, concurrency=64),
        product.connect(dsn) as connection,
        step(f"{len(questions)} questions over a server"),
    ):
        # Ask no question twice: its verdicts would come from the ledger.
        for place, question in enumerate(questions):
            retrieval = "adaptive" if place % 2 else "fixed"
            started = time.perf_counter()
            connection.execute(
                "select * from pgclarify.clarify(%s, %s, %s, options => %s)",
                [question.text, question.corpus, TOP_K, Jsonb({"retrieval": retrieval})],
            )
            if place > 1:
                seconds[retrieval].append(time.perf_counter() - started)
    return _compared("server of 200 ms a call", seconds["fixed"], seconds["adaptive"])


def _compared(what: str, fixed: Sequence[float], adaptive: Sequence[float]) -> list[Figure]:
    medians = statistics.median(fixed), statistics.median(adaptive)
    return [
        Figure(f"{what}: fixed {TOP_K}, median", medians[0], "s"),
        Figure(f"{what}: adaptive {TOP_K}, median", medians[1], "s"),
        Figure(f"{what}: adaptive over fixed, medians", medians[1] / medians[0], aim="≤ 1.5"),
        Figure(f"{what}: adaptive over fixed, means", statistics.mean(adaptive) / statistics.mean(fixed)),
    ]


def load(dsn: str, data_dir: Path, corpora: Iterable[str]) -> None:
    """Load corpora with a running worker, and wait until they are linked."""
    command = [sys.executable, "-m", "pgclarify.cli", "load"]
    environment = os.environ | {"PGCLARIFY_DATABASE_URL": dsn}
    linked = "select passages > 0 and linked = passages as are_all from pgclarify.corpus where corpus = %s"
    with product.connect(dsn) as connection:
        for corpus in corpora:
            with step(f"loading {corpus}"):
                path = str(data_dir / f"{corpus}.corpus.jsonl.gz")
                subprocess.run([*command, corpus, path], env=environment, check=True)
                while not connection.execute(linked, [corpus]).fetchall()[0]["are_all"]:
                    time.sleep(0.2)


async def judge_in_use(data_dir: Path, questions: Sequence[Question]) -> list[Table]:
    """Compare with the model of the running worker; fixed TOP_K first, because the other way reuses its calls."""
    dsn = running_dsn(load_settings())
    corpora = sorted({one.corpus for one in questions})
    load(dsn, data_dir, corpora)

    async def carry(run_ids: Sequence[int]) -> None:
        with product.connect(dsn) as connection:
            connection.execute("select pgclarify.wait(%s::bigint[], null)", [list(run_ids)])

    shown = []
    for corpus in corpora:
        mine = [one for one in questions if one.corpus == corpus]
        shown.append(table(f"model in use, {len(mine)} questions of {corpus}", mine, await compare(dsn, mine, carry)))
    return shown


def _chosen(questions: Sequence[Question], most: int | None, half: int | None) -> list[Question]:
    """The first questions of each data set, or every other one of them."""
    by_corpus: dict[str, list[Question]] = {}
    for one in questions:
        by_corpus.setdefault(one.corpus, []).append(one)
    step = slice(half, None, 1 if half is None else 2)
    return [one for mine in by_corpus.values() for one in mine[:most][step]]


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("--corpora", nargs="+", choices=CORPORA, default=["ambignq", "squad2"])
    parser.add_argument("--model", action="store_true", help="ask the model of the running worker")
    parser.add_argument("--questions", type=int, help="use only the first N questions of each data set")
    parser.add_argument("--half", type=int, choices=[0, 1], help="use every other question only")
    arguments = parser.parse_args()
    questions = load_questions(arguments.data_dir, arguments.corpora)
    questions = _chosen(questions, arguments.questions, arguments.half)
    console = Console(width=120)
    if arguments.model:
        console.print(*asyncio.run(judge_in_use(arguments.data_dir, questions)))
        return
    with product.database() as dsn:
        with openai_server.spawn() as idle, product.worker(dsn, idle, concurrency=1):
            load(dsn, arguments.data_dir, arguments.corpora)
        console.print(*asyncio.run(judge_here(dsn, questions)))
        # Choose some questions of each data set.
        timed = questions[:: max(1, len(questions) // _TIMED)][:_TIMED]
        show([*asyncio.run(time_here(dsn, timed)), *time_served(dsn, timed)])


if __name__ == "__main__":
    _main()
