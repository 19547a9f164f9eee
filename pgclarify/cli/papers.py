"""The command eval paper."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pgclarify.cli import connection, evaluating, terminal
from pgclarify.errors import ConfigurationError, InputError

if TYPE_CHECKING:
    from pgclarify.config import Settings
    from pgclarify.evaluated import EvaluationPlan
    from pgclarify.evaluation.configurations import Configuration
    from pgclarify.evaluation.estimate import ConfigurationEstimate
    from pgclarify.evaluation.opening import Bench
    from pgclarify.evaluation.papers.data import PaperData
    from pgclarify.evaluation.papers.planning import Key, TablePlan
    from pgclarify.evaluation.papers.tables import Paper
    from pgclarify.evaluation.runner import Finished

PAPER_EXAMPLES = terminal.examples(
    "pgclarify eval paper verdict --data ~/data --limit 20 --dry-run",
    "pgclarify eval paper sunar --data ~/data --set max_steps=2 --output sunar.md --output sunar.json",
    "pgclarify eval paper at-cot --data ~/data --data-set squad2 --yes",
    "pgclarify eval paper ambigprompt --data ~/data --set top_k=20",
    "pgclarify eval paper rewrite --data ~/data --data-set ours",
)
_PAPERS = ("verdict", "sunar", "at-cot", "ambigprompt", "rewrite")
_WRITTEN = (".md", ".json")


@dataclass(frozen=True, slots=True)
class _Asked:
    """The tables of one command."""

    paper: Paper
    tables: Sequence[TablePlan]
    judge: str
    concurrency: int
    is_dry: bool
    is_confirmed: bool
    outputs: Sequence[Path]

    def data(self) -> Iterator[tuple[PaperData, Sequence[TablePlan]]]:
        """Yield each data set with its tables."""
        names = dict.fromkeys(one.data.data_set.name for one in self.tables if one.data is not None)
        for name in names:
            tables = [one for one in self.tables if one.data is not None and one.data.data_set.name == name]
            if tables[0].data is not None:
                yield tables[0].data, tables


def paper(
    name: Annotated[str, typer.Argument(metavar="PAPER", help="verdict, sunar, at-cot, ambigprompt or rewrite.")],
    data: Annotated[
        Path,
        typer.Option(
            "--data",
            metavar="DIR",
            help="Folder with data sets: NAME.questions.jsonl, as eval run reads it, and NAME.corpus.jsonl, with id, "
            "text and title on each line; gzipped or not. Some have files of their own: "
            "squad2.ambiguous, abg-coqa, clamber, qulac.",
        ),
    ],
    data_set: Annotated[
        str | None,
        typer.Option("--data-set", metavar="NAME", help="Make all tables on this data set."),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Ask N questions; the choice does not depend on their order."),
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Replace an option in all rows that have it, except in rows that vary or fix it.",
        ),
    ] = None,
    judge: Annotated[str, typer.Option(metavar="NAME", help="The judge: lexical, model or both.")] = "lexical",
    concurrency: Annotated[int, typer.Option(metavar="N", min=1, max=64, help="Questions in flight.")] = 8,
    output: Annotated[
        list[Path] | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the tables here: .md or .json; may be repeated."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", metavar="", help="Say what it would cost, and stop.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", metavar="", help="Do not ask for confirmation.")] = False,
) -> None:
    """Make the tables of a paper on your data and model, with the paper's figures beside yours.

    The command loads each data set into a corpus of its own, paper-NAME. Before it pays for anything, it says how many
    calls the rows take, and which rows it leaves out and why. If it is interrupted, the same command continues; rows
    that are done are not made again.
    """
    from pgclarify.evaluation.configurations import JUDGES
    from pgclarify.evaluation.data_sets import Selection
    from pgclarify.evaluation.papers import PAPERS
    from pgclarify.evaluation.papers.planning import plan_tables

    if name not in PAPERS:
        raise typer.BadParameter(f"{name!r} is not a paper; papers are {', '.join(_PAPERS)}", param_hint="PAPER")
    if judge not in JUDGES:
        raise typer.BadParameter(f"{judge!r} is not a judge; judges are {', '.join(JUDGES)}", param_hint="--judge")
    if not data.is_dir():
        raise typer.BadParameter(f"there is no folder {str(data)!r}", param_hint="--data")
    outputs = output or []
    if wrong := next((path for path in outputs if path.suffix not in _WRITTEN or not path.parent.is_dir()), None):
        raise typer.BadParameter(
            f"cannot write {str(wrong)!r}: name a .md or .json file in a folder that exists", param_hint="--output"
        )
    tables = plan_tables(
        PAPERS[name],
        data,
        data_set=data_set,
        selection=Selection(limit),
        settings=_options(given or []),
        judge=judge,
    )
    settings = connection.load_settings()
    dsn = connection.running_dsn(settings)
    asked = _Asked(PAPERS[name], tables, judge, concurrency, dry_run, yes, outputs)
    estimates = asyncio.run(_propose(dsn, settings, asked))
    if estimates is not None:
        for found, of_it in asked.data():
            if _left(of_it):
                _load(dsn, settings, found, of_it)
        asyncio.run(_make(dsn, settings, asked, _Clock(estimates)))


def _options(given: Sequence[str]) -> Mapping[str, Any]:
    from pgclarify.evaluation.configurations import read_grid

    values = read_grid(given)
    for name, several in values.items():
        if len(several) != 1:
            raise typer.BadParameter(f"{name} takes one value here", param_hint="--set")
    return {name: value for name, (value,) in values.items()}


class _Clock:
    """Reports the progress, and the approximate time for the rest.

    Args:
        estimates: The estimated usage of each configuration.
    """

    def __init__(self, estimates: Mapping[Key, ConfigurationEstimate]) -> None:
        self._left = {key: self._weight(one) for key, one in estimates.items()}
        self._total = len(estimates)
        self._done = 0.0
        self._started = time.monotonic()

    @property
    def place(self) -> str:
        """Return the number of the next configuration and of all: 3/12."""
        return f"{self._total - len(self._left) + 1}/{self._total}"

    def has_done(self, key: Key) -> str | None:
        """Count one as done, and return the time for the others; None if none is left, or nothing was measured yet."""
        self._done += self._left.pop(key)
        left = sum(self._left.values())
        if not left or not self._done:
            return None
        minutes = (time.monotonic() - self._started) * left / self._done / 60
        done = self._total - len(self._left)
        return f"{done} of {self._total} configurations are done; the others take about {max(1, round(minutes)):,} min."

    @staticmethod
    def _weight(one: ConfigurationEstimate) -> float:
        # A call of a model takes far longer than a search, or a verdict without one.
        return 20 * (one.calls - one.paid + one.judge_calls) + one.verdicts + 5 * (one.cases - one.done)


async def _propose(dsn: str, settings: Settings, asked: _Asked) -> Mapping[Key, ConfigurationEstimate] | None:
    """Check all rows, report their usage and which are left out, and ask for confirmation; None for a dry run.

    Raises:
        ConfigurationError: If no row can be carried out.
    """
    from pgclarify.cli import evaluation_rendering, paper_rendering
    from pgclarify.evaluation.opening import open_bench
    from pgclarify.evaluation.papers.planning import check_rows

    estimates: dict[Key, ConfigurationEstimate] = {}
    notices = terminal.notices()
    notices.print(paper_rendering.heading(asked.paper))
    for data, tables in asked.data():
        async with open_bench(dsn, settings, data.corpus, concurrency=1, may_be_missing=True) as bench:
            await check_rows(bench, tables)
            estimates |= await _estimates(bench, asked, data, _left(tables))
        if _left(tables):
            notices.print(paper_rendering.data(data), soft_wrap=True)
    if told := paper_rendering.left_out(asked.tables):
        notices.print(told, soft_wrap=True)
    if not estimates:
        raise ConfigurationError(
            f"no row of {asked.paper.name} can be made here",
            detail="The reason for each row is printed above.",
            hint="Resolve one of them, and repeat the command.",
        )
    notices.print(evaluation_rendering.estimates([*estimates.values()]))
    if asked.is_dry:
        return None
    if any(one.may_cost for one in estimates.values()) and not asked.is_confirmed:
        evaluating.ask_to_go_on()
    return estimates


def _left(tables: Sequence[TablePlan]) -> dict[Key, Configuration]:
    """Return the configurations of some tables, each once."""
    keys = ((table.key(one), one.configuration) for table in tables for one in table.rows)
    found: dict[Key, Configuration] = {}
    for key, configuration in keys:
        if key is not None:
            found.setdefault(key, configuration)
    return found


async def _estimates(
    bench: Bench, asked: _Asked, data: PaperData, left: Mapping[Key, Configuration]
) -> dict[Key, ConfigurationEstimate]:
    from pgclarify.evaluation.estimate import ConfigurationEstimate, Estimator

    estimator = Estimator(bench, data.data_set.cases, passage_chars=data.passage_chars)
    judge = await bench.judge(asked.judge)
    estimates = {}
    for key, configuration in left.items():
        plan = bench.plan(configuration, data.data_set, judge)
        if await _finished(bench, plan) is None:
            estimates[key] = await estimator.estimate(configuration, plan)
        else:
            cases = plan.planned_cases
            estimates[key] = ConfigurationEstimate(configuration, cases, cases, 0, 0, 0, 0, 0, 0)
    return estimates


def _load(dsn: str, settings: Settings, data: PaperData, tables: Sequence[TablePlan]) -> None:
    """Load the documents of a data set, and wait until they are searchable, and linked if rows use links.

    Raises:
        InputError: If a document could not be loaded, or the corpus has other documents.
    """
    from pgclarify.cli import corpus, graph, rendering

    with connection.connect(dsn) as database, corpus.progress_bar() as progress:
        report = corpus.add_documents(database, data.corpus, data.documents(), settings)
        failed = corpus.wait_until_searchable(database, data.corpus, progress)
        (state,) = connection.fetch(database, "client_corpus_status", corpus=data.corpus)
    problems = [*report.problems, *(f"{row['document_id']}: {row['error']}" for row in failed)]
    if problems:
        raise InputError(
            f"{rendering.counted(len(problems), 'document')} could not be loaded",
            detail=f"The first of them: {problems[0].rstrip('.')}.",
            hint="Correct or remove them; figures for an incomplete corpus mean little.",
        )
    if state["documents"] != report.stored:
        raise InputError(
            f"the corpus {data.corpus} has other documents than {data.data_set.name}",
            detail=f"The corpus has {state['documents']:,} documents, and the data set {report.stored:,}.",
            hint=f"Drop it and repeat the command: pgclarify drop {data.corpus}",
        )
    if report.changed:
        told = rendering.loaded(data.corpus, report.changed, report.unchanged, is_searchable=True)
        terminal.notices().print(told)
    graph.wait_for_links(dsn, data.corpus, _left(tables).values())


async def _make(dsn: str, settings: Settings, asked: _Asked, clock: _Clock) -> None:
    import logging

    from pgclarify.cli import evaluation_rendering, paper_rendering
    from pgclarify.evaluation.opening import open_bench

    # Partial runs are counted. Their warnings would break the display of the progress bar.
    logging.getLogger("pgclarify.client").setLevel(logging.ERROR)
    try:
        for data, tables in asked.data():
            left = _left(tables)
            if not left:
                continue
            async with open_bench(dsn, settings, data.corpus, concurrency=asked.concurrency) as bench:
                for key, configuration in left.items():
                    finished = await _carry_out(bench, asked, data, configuration, clock.place)
                    if told := clock.has_done(key):
                        terminal.notices().print(told, style="dim")
                    for table in tables:
                        for one in table.rows:
                            if table.key(one) == key:
                                one.finished = finished
    finally:
        if any(one.finished for table in asked.tables for one in table.rows):
            terminal.results().print(paper_rendering.tables(asked.paper, asked.tables))
            for path in asked.outputs:
                path.write_text(paper_rendering.written(path.suffix, asked.paper, asked.tables), encoding="utf-8")
                terminal.notices().print(f"Written: {path}", soft_wrap=True)
    done = [one.finished for table in asked.tables for one in table.rows if one.finished is not None]
    if all(evaluation_rendering.has_failed(one) for one in done):
        raise typer.Exit(1)


async def _finished(bench: Bench, plan: EvaluationPlan) -> Finished | None:
    """Find the result of an earlier evaluation of this kind; None if there is none, or questions failed in it.

    A question may have failed because of the endpoint's settings, so such an evaluation is repeated. Only calls without
    a reply in the ledger are made.
    """
    from pgclarify.evaluated import Usage
    from pgclarify.evaluation.runner import Finished

    eval_run_id = await bench.tables.finished(plan)
    if eval_run_id is None:
        return None
    summaries = (await bench.tables.summaries([eval_run_id]))[eval_run_id]
    if "failed" in summaries and summaries["failed"].value:
        return None
    strata = (await bench.tables.strata([eval_run_id]))[eval_run_id]
    return Finished(eval_run_id, plan, summaries, strata, plan.planned_cases, Usage(), {})


async def _carry_out(
    bench: Bench, asked: _Asked, data: PaperData, configuration: Configuration, place: str
) -> Finished:
    judge = await bench.judge(asked.judge)
    plan = bench.plan(configuration, data.data_set, judge)
    if (known := await _finished(bench, plan)) is not None:
        return known
    titled = replace(configuration, name=f"{place} {configuration.name}")
    return await evaluating.carry_out(bench, titled, plan, judge, data.data_set, concurrency=asked.concurrency)
