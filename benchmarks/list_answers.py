"""What `list_answers` finds with a real model, beside one pass that asks for all answers at once.

python -m benchmarks.list_answers DATA_DIR --base-url URL --model NAME [--top-k 8] [--evidence-tokens 900]
    [--database DIR] [--replies FILE]

DATA_DIR has ambignq.corpus.jsonl.gz and ambignq.questions.jsonl.gz. Questions are asked one after the other, and one
call is made at a time, so that a call's latency is what it costs. Everybody reads the same passages, --top-k of them,
in windows of --evidence-tokens. Beside the rounds: one pass over all of them together that asks for all answers, one
such pass over each window, and one over all that asks for as many answers as the rounds gave; each with what was said,
and with what of that a quote proves, as the rounds have it. --replies FILE keeps what was said, a line each, and a
benchmark that was cut off goes on from there; --database DIR keeps the server's data, and with them every reply (FILE
is in it unless it is named).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from psycopg.types.json import Jsonb
from pydantic import SecretStr
from rich.console import Console
from rich.table import Table

from benchmarks import kept, product
from benchmarks.all_at_once import all_at_once
from benchmarks.figures import mean_of, step
from benchmarks.ingest import MODEL
from benchmarks.kept import MeteredTables
from benchmarks.lexical_quality import read
from pgclarify.algorithms import find_variant
from pgclarify.algorithms.metrics import answer_set_scores, cover_exact_match, covered_answers
from pgclarify.database.exploration import ExplorationTables
from pgclarify.database.pool import open_pool
from pgclarify.database.presence import Presence
from pgclarify.database.runs import Runs, RunTables
from pgclarify.dialogue import ListedAnswer
from pgclarify.embedding import load_embedder
from pgclarify.errors import CompletionError, InvalidReply
from pgclarify.ledger.calls import Calls
from pgclarify.ledger.completions import PollInterval
from pgclarify.model import Candidate, Run
from pgclarify.operations.context import RunContext
from pgclarify.operations.execution import execute
from pgclarify.operations.judging.proof import prove_told
from pgclarify.operations.retrieval.evidence import split_evidence
from pgclarify.operations.retrieval.first_stage import FirstStage
from pgclarify.operations.trace import Tally
from pgclarify.protocols import Embedder
from pgclarify.providers.chat_model import ChatModel
from pgclarify.providers.endpoint import Endpoint
from pgclarify.steps import Finding
from pgclarify.vocabulary import RunStatus
from tests.fakes.context import context_of

_CORPUS = "ambignq"
_ROUNDS = "answers one by one"
_ALL, _ALL_PROVEN = "all at once", "all at once, quotes checked"
_WINDOWS, _WINDOWS_PROVEN = "all at once, by window", "all at once, by window, quotes checked"
_AS_MANY, _AS_MANY_PROVEN = "as many at once", "as many at once, quotes checked"
_NAMES = (_ROUNDS, _ALL, _ALL_PROVEN, _WINDOWS, _WINDOWS_PROVEN, _AS_MANY, _AS_MANY_PROVEN)
_Windows = list[list[Candidate]]


@dataclass(frozen=True)
class Told:
    """What one variant said to one question.

    Attributes:
        question_id: Which question.
        variant: One of _NAMES.
        answers: In order.
        calls: Calls that it asked for, paid or not.
        seconds: What these took, when they were made.
        reason: Why it went no further, or what went wrong; None if there is nothing to say.
        shown: Whether each known answer stands in what was read; by the sets of the question.
    """

    question_id: str
    variant: str
    answers: list[str]
    calls: int
    seconds: float
    reason: str | None
    shown: list[list[bool]]


class _KeptAnswers:
    """The part of a DialogueStore that lists, in memory."""

    def __init__(self) -> None:
        self.answers: dict[int, ListedAnswer] = {}

    async def record_answer(self, run: Run, answer: ListedAnswer) -> None:
        self.answers[answer.ordinal] = answer


class _Ended(MeteredTables):
    """MeteredTables that remember how the run ended."""

    status: RunStatus | None = None
    reason: str | None = None

    async def finish_run(self, run: Run, status: RunStatus, *arguments: Any, **others: Any) -> None:
        await super().finish_run(run, status, *arguments, **others)
        # Of those that failed, the error.
        self.status, self.reason = status, others.get("stop_reason") or arguments[1]


class _Asking:
    """One question at a time, by each variant."""

    def __init__(self, dsn: str, runs: Runs, endpoint: Endpoint, embedder: Embedder, given: argparse.Namespace) -> None:
        self._dsn = dsn
        self._runs = runs
        self._chat = ChatModel(endpoint)
        self._embedder = embedder
        self._given = given

    async def rounds(self, row: Mapping[str, Any]) -> list[Told]:
        run, tables, windows = await self._start(row)
        answers = _KeptAnswers()
        await execute(self._context(run, tables, answers))
        if tables.status is RunStatus.FAILED:
            raise RuntimeError(tables.reason)
        listed = [answer.answer for _, answer in sorted(answers.answers.items())]
        return [self._told(row, _ROUNDS, listed, tables, tables.reason, windows)]

    def _context(self, run: Run, tables: RunTables, answers: _KeptAnswers | None = None) -> RunContext:
        return context_of(
            run,
            tables,
            self._chat,
            passages=ExplorationTables(self._runs),
            dialogue=answers,  # type: ignore[arg-type]  # of a DialogueStore, this is what a listing needs
            embedder=self._embedder,
            poll=PollInterval(),
        )

    async def at_once(self, row: Mapping[str, Any], names: tuple[str, str], count: int | None = None) -> list[Told]:
        """Ask for all answers, or so many, in one pass over all windows together, or over each for _WINDOWS."""
        run, tables, windows = await self._start(row)
        if names[0] != _WINDOWS:
            windows = [[one for window in windows for one in window]]
        calls = Calls(tables, self._chat, most=2 * len(windows), poll=PollInterval())
        said: list[str] = []
        proven: list[str] = []
        reason = None
        for shown in windows if count != 0 else []:
            passages = [one.passage for one in shown]
            render = partial(all_at_once, row["question"], passages, count, self._given.max_answers)
            value = await calls.ask(render, tally=Tally())
            if isinstance(value, InvalidReply):
                reason = value.message
                continue
            if isinstance(value, CompletionError):
                raise value
            said += [one.answer or "" for one in value]
            proven += [one.answer or "" for one in value if _is_proven(one, shown, row["question"])]
        await tables.finish_run(run, RunStatus.SUCCEEDED, [], None)
        most = self._given.max_answers
        return [
            self._told(row, name, _distinct(answers)[:most], tables, reason, windows)
            for name, answers in zip(names, (said, proven), strict=True)
        ]

    def _told(
        self,
        row: Mapping[str, Any],
        variant: str,
        answers: list[str],
        tables: MeteredTables,
        reason: str | None,
        windows: _Windows,
    ) -> Told:
        texts = [one.passage.content for window in windows for one in window]
        reach = [covered_answers(golds, texts) for golds in _gold_sets(row)]
        return Told(row["id"], variant, answers, tables.calls, tables.seconds, reason, reach)

    async def _start(self, row: Mapping[str, Any]) -> tuple[Run, _Ended, _Windows]:
        """Submit a question, and take it in hand instead of a worker; with what everybody reads."""
        settings = {
            "search": "hybrid",
            "top_k": self._given.top_k,
            "evidence_tokens": self._given.evidence_tokens,
            "max_answers": self._given.max_answers,
        }
        statement = "select pgclarify.submit(%s, %s, 1, %s) as id"
        with product.connect(self._dsn) as connection:
            while True:
                (submitted,) = connection.execute(statement, [row["question"], _CORPUS, Jsonb({})]).fetchall()
                run = await self._runs.start(submitted["id"])
                if run is not None:
                    break
                # Answered before, by a benchmark that did not come to write it down.
                connection.execute("delete from pgclarify.run where run_id = %s", [submitted["id"]])
        run = replace(run, operation="list_answers", settings=settings)
        tables = _Ended(self._runs, run)
        found = await FirstStage(self._context(run, tables), self._embedder, None).rank(run.question)
        candidates = [Candidate(rank, one.passage, one.score, one.origin) for rank, one in enumerate(found, start=1)]
        return run, tables, split_evidence(candidates, self._given.evidence_tokens)


def _is_proven(finding: Finding, shown: Sequence[Candidate], question: str) -> bool:
    try:
        return prove_told(finding, shown, asked=question) is not None
    except InvalidReply:
        return False


def _distinct(answers: Sequence[str]) -> list[str]:
    """Variants of one answer count once here, too."""
    found: list[list[str]] = []
    for answer in answers:
        known = find_variant(answer, found)
        if known is None:
            found.append([answer])
        else:
            found[known].append(answer)
    return [variants[0] for variants in found]


def _gold_sets(row: Mapping[str, Any]) -> list[list[list[str]]]:
    """The known answers: of each reading, or of each of those who thought that there is only one."""
    readings = [reading["answers"] for reading in row["interpretations"]]
    return [readings] if readings else [[names] for names in row["single_answers"]]


class _Log:
    """What was told so far, line by line in a file.

    Attributes:
        told: All of it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        lines = path.read_text().splitlines() if path.exists() else []
        self.told = [Told(**json.loads(line)) for line in lines]

    def find(self, question_id: str, variant: str) -> Told | None:
        return next((one for one in self.told if (one.question_id, one.variant) == (question_id, variant)), None)

    def add(self, told: Sequence[Told]) -> None:
        self.told += told
        with self._path.open("a") as lines:
            lines.writelines(json.dumps(asdict(one)) + "\n" for one in told)


async def measure(dsn: str, questions: Sequence[Mapping[str, Any]], given: argparse.Namespace, log: _Log) -> list[Told]:
    """Ask what has not been asked yet."""
    entry: dict[str, Any] = {"version": "", "provider": "none", "model": "none", "prompt_version": ""}
    key = SecretStr(os.environ.get("OPENAI_API_KEY", "none"))
    embedder = load_embedder(MODEL)
    try:
        async with (
            open_pool(dsn) as pool,
            Presence.enter(dsn, **entry) as presence,
            Endpoint(
                model=given.model, base_url=given.base_url, api_key=key, concurrency=1, timeout=given.timeout
            ) as endpoint,
        ):
            asking = _Asking(dsn, Runs(pool, presence.worker_id), endpoint, embedder, given)
            for number, row in enumerate(questions, start=1):
                with step(f"{number} of {len(questions)}, {row['question']}"):
                    await _ask_missing(asking, row, log)
                if given.verbose:
                    _print(row, log)
    finally:
        embedder.close()
    asked = {row["id"] for row in questions}
    return [told for told in log.told if told.question_id in asked]


async def _ask_missing(asking: _Asking, row: Mapping[str, Any], log: _Log) -> None:
    rounds = log.find(row["id"], _ROUNDS)
    if rounds is None:
        (rounds,) = told = await asking.rounds(row)
        log.add(told)
    given = (
        ((_ALL, _ALL_PROVEN), None),
        ((_WINDOWS, _WINDOWS_PROVEN), None),
        ((_AS_MANY, _AS_MANY_PROVEN), len(rounds.answers)),
    )
    for names, count in given:
        if log.find(row["id"], names[0]) is None:
            log.add(await asking.at_once(row, names, count))


def _print(row: Mapping[str, Any], log: _Log) -> None:
    print(f"  known: {_gold_sets(row)}", file=sys.stderr)
    for name in _NAMES:
        told = log.find(row["id"], name)
        if told is not None:
            print(f"    {name}: {told.answers} ({told.reason})", file=sys.stderr)


def _show(told: Sequence[Told], questions: Sequence[Mapping[str, Any]]) -> None:
    golds = {row["id"]: _gold_sets(row) for row in questions}
    several = {key for key, sets in golds.items() if max(map(len, sets)) > 1}
    for title, wanted in (("all questions", set(golds)), ("questions with several answers", several)):
        table = Table(
            "", "F1", "precision", "recall", "F1, if it stands in the answer", "answers", "calls", "seconds",
            title=f"{len(wanted)}, {title}",
        )  # fmt: skip
        for name in _NAMES:
            mine = [one for one in told if one.variant == name and one.question_id in wanted]
            if not mine:
                continue
            fits = [answer_set_scores(one.answers, golds[one.question_id]) for one in mine]
            loose = [answer_set_scores(one.answers, golds[one.question_id], cover_exact_match) for one in mine]
            table.add_row(
                name,
                mean_of([fit.f1 for fit in fits]),
                f"{statistics.mean(fit.precision for fit in fits):.2f}",
                f"{statistics.mean(fit.recall for fit in fits):.2f}",
                mean_of([fit.f1 for fit in loose]),
                f"{statistics.mean(len(one.answers) for one in mine):.1f}",
                f"{statistics.mean(one.calls for one in mine):.1f}",
                f"{statistics.mean(one.seconds for one in mine):.1f}",
            )
        Console(width=150).print(table)
    rounds = [one for one in told if one.variant == _ROUNDS]
    reach = [max(one.shown, key=lambda hits: sum(hits) / len(hits)) for one in rounds]
    print(f"Known answers that stand in what was read: {sum(map(sum, reach))} of {sum(map(len, reach))}.")
    print("Intervals of 95 %: percentile bootstrap over questions.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--model", default="local")
    parser.add_argument("--questions", type=int, help="ask the first so many only")
    parser.add_argument("--top-k", type=int, default=8)
    parser.add_argument("--evidence-tokens", type=int, default=900)
    parser.add_argument("--max-answers", type=int, default=10)
    parser.add_argument("--database", type=Path, help="keep the server's data here, and go on from there")
    parser.add_argument("--replies", type=Path, help="keep what was said here, and go on from there")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds that the endpoint may be silent")
    parser.add_argument("--verbose", action="store_true", help="print every question with its answers")
    options = parser.parse_args()
    rows = list(read(options.data_dir / "ambignq.questions.jsonl.gz"))[: options.questions]
    with kept.database(options.database) as (url, beside):
        kept.load(url, _CORPUS, options.data_dir / "ambignq.corpus.jsonl.gz")
        _show(asyncio.run(measure(url, rows, options, _Log(options.replies or beside("told.jsonl")))), rows)
