"""The command eval run."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from pgclarify.cli import connection, graph, terminal
from pgclarify.errors import InputError, UnreadableFile

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pgclarify.config import Settings
    from pgclarify.evaluated import EvaluationPlan
    from pgclarify.evaluation.configurations import Configuration
    from pgclarify.evaluation.data_sets import DataSet
    from pgclarify.evaluation.estimate import ConfigurationEstimate
    from pgclarify.evaluation.opening import Bench
    from pgclarify.evaluation.runner import Finished
    from pgclarify.protocols import Judge

RUN_EXAMPLES = terminal.examples(
    "pgclarify eval run questions.jsonl --corpus insurance",
    "pgclarify eval run questions.jsonl --corpus insurance --set top_k=10,20 --set consolidation=default,conservative",
    "pgclarify eval run questions.jsonl --corpus wiki --load pages.jsonl.gz --config clarify.toml rac.toml",
    "pgclarify eval run questions.jsonl --corpus insurance --part 1/2 --cases 50 --dry-run",
    "pgclarify eval run trivia.jsonl --corpus wiki --field answers=single_answers --json | jq .metrics.answer_coverage",
)
_LONGEST_NAME = 200

app = typer.Typer(no_args_is_help=True, help="Measure how good answers are, on your own questions.")

# Options that take all following words that fit.
_MANY_VALUED: Mapping[str, Callable[[str], bool]] = {
    "--config": lambda word: word.lower().endswith(".toml"),
    "--set": lambda word: "=" in word,
    "--load": lambda word: True,
}


def spread(words: Sequence[str]) -> list[str]:
    """Rewrite `--config a.toml b.toml` as `--config a.toml --config b.toml`; likewise --set and --load."""
    written: list[str] = []
    option: str | None = None
    for word in words:
        if word.startswith("-") and word != "-":
            option = word if word in _MANY_VALUED else None
        elif option is not None and written[-1] != option and _MANY_VALUED[option](word):
            written.append(option)
        written.append(word)
    return written


class _RunCommand(TyperCommand):
    # The context is Click's, or that of Typer's own copy of it.
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401
        # Parsing removes words from the list, so it gets a copy.
        try:
            return super().parse_args(ctx, spread(args))
        except typer.BadParameter as error:
            if "--load" not in args or getattr(error.param, "name", None) != "data_set":
                raise
            raise typer.BadParameter(
                "it is missing: --load takes all words after it, so write the data set first",
                ctx=ctx,
                param_hint="DATA_SET",
            ) from None


@dataclass(frozen=True, slots=True)
class _Asked:
    """What one command evaluates."""

    corpus: str | None
    data_set: DataSet
    configurations: Sequence[Configuration]
    judge: str
    concurrency: int
    load: Sequence[str]
    is_dry: bool
    is_confirmed: bool
    as_json: bool


@app.command(cls=_RunCommand, epilog=RUN_EXAMPLES)
def run(
    data_set: Annotated[
        Path,
        typer.Argument(
            metavar="DATA_SET", help="JSON lines, gzipped or not: each line has a question and its known answers."
        ),
    ],
    corpus: Annotated[
        str | None,
        typer.Option("--corpus", "-c", metavar="NAME", help="Corpus to ask; may be left out if there is only one."),
    ] = None,
    load: Annotated[
        list[str] | None,
        typer.Option(metavar="PATH...", help="Load these into the corpus first, as pgclarify load does."),
    ] = None,
    config: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE.toml...", help=r"Configurations: name, method, judge, and a table \[options]."),
    ] = None,
    grid: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=V,V...",
            help="Values of an option, in all combinations; they replace those of a file.",
        ),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="clarify, list_answers, investigate, search, detect_ambiguity, rewrite, clarifying_questions,"
            " simulated_user, dtv, dtv_unverified, rac, one_pass, self_ask, list_at_once,"
            " rewrite_ambiguous, always_rewrite, few_shot, logistic_regression or human.",
        ),
    ] = None,
    judge: Annotated[str, typer.Option(metavar="NAME", help="The judge: lexical, model or both.")] = "lexical",
    cases: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Ask N questions; the choice does not depend on their order.")
    ] = None,
    part: Annotated[
        str | None, typer.Option(metavar="K/N", help="Ask the K-th of N parts: tune on 1/2, test on 2/2.")
    ] = None,
    field_: Annotated[
        list[str] | None,
        typer.Option("--field", metavar="PART=FIELD", help="The name of a part in the data set, if it differs."),
    ] = None,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="Name of the evaluation.")] = None,
    concurrency: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            max=64,
            help="Cases in flight; with 1, seconds are those of a single case. A waiting case of an operation "
            "other than clarify and investigate holds two connections: ours, and one that the server makes.",
        ),
    ] = 8,
    dry_run: Annotated[bool, typer.Option("--dry-run", metavar="", help="Say what it would cost, and stop.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", metavar="", help="Do not ask for confirmation.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", metavar="", help="JSON lines: one object for each configuration.")
    ] = False,
) -> None:
    """Ask all questions of a data set in one or more ways, and measure the answers.

    The command shows the estimated cost before it starts. Results are kept in tables. If the command is interrupted,
    the same command continues, and nothing is paid for twice.
    """
    from pgclarify.evaluation.case_fields import CaseFields
    from pgclarify.evaluation.configurations import JUDGES, read_configurations
    from pgclarify.evaluation.data_sets import Selection, read_data_set

    if judge not in JUDGES:
        raise typer.BadParameter(f"{judge!r} is not a judge; judges are {', '.join(JUDGES)}", param_hint="--judge")
    if load and corpus is None:
        raise typer.BadParameter("name the corpus to load into", param_hint="--corpus")
    _look_for(load or [])
    configurations = _named(read_configurations(config or [], grid or [], method=method), name)
    selection = Selection.parse(cases, part)
    read = read_data_set(data_set, fields=CaseFields.parse(field_ or []), selection=selection)
    settings = connection.load_settings()
    dsn = connection.running_dsn(settings)
    asked = _Asked(corpus, read, configurations, judge, concurrency, load or (), dry_run, yes, as_json)
    if load and corpus is not None:
        if not asyncio.run(_propose(dsn, settings, asked)):
            return
        _load(settings, dsn, corpus, load)
        graph.wait_for_links(dsn, corpus, configurations)
        asked = replace(asked, load=(), is_confirmed=True)
    asyncio.run(_evaluate(dsn, settings, asked))


def _look_for(paths: Sequence[str]) -> None:
    """Check that everything to load exists, before anything else.

    Raises:
        UnreadableFile: If something does not.
    """
    from pgclarify.cli.sources import STANDARD_INPUT, expand

    try:
        expand([path for path in paths if path != STANDARD_INPUT])
    except typer.BadParameter as error:
        raise UnreadableFile(
            "cannot read the files to load", detail=error.message, hint="Name files, folders or patterns."
        ) from None


def _named(configurations: Sequence[Configuration], name: str | None) -> list[Configuration]:
    if name is None:
        return [*configurations]
    if not name.strip() or "\x00" in name:
        raise typer.BadParameter("it is blank", param_hint="--name")
    if name.strip().isdecimal():
        raise typer.BadParameter("numbers are ids of evaluations; add a word", param_hint="--name")
    if len(configurations) == 1:
        return [replace(configurations[0], name=name.strip()[:_LONGEST_NAME])]
    return [replace(one, name=f"{name.strip()} {one.name}"[:_LONGEST_NAME]) for one in configurations]


def _load(settings: Settings, dsn: str, corpus_name: str, paths: Sequence[str]) -> None:
    """Load documents; all of them must be searchable before anything is measured.

    Raises:
        InputError: If a document could not be loaded or indexed, or would replace a document of another source.
    """
    from pgclarify.cli import corpus, planning, rendering
    from pgclarify.cli.sources import Sources

    sources = Sources(paths)
    with connection.connect(dsn) as database, corpus.progress_bar() as progress:
        planning.check(database, corpus_name, sources.names())
        skipped: Counter[str] = Counter()
        documents = sources.documents(lambda kind: skipped.update([kind]))
        report = corpus.add_documents(database, corpus_name, documents, settings)
        failed = corpus.wait_until_searchable(database, corpus_name, progress) if report.stored else []
    terminal.notices().print(rendering.loaded(corpus_name, report.changed, report.unchanged, is_searchable=True))
    if skipped:
        terminal.notices().print(rendering.skipped(skipped), soft_wrap=True)
    if sources.links_out:
        terminal.notices().print(rendering.links_out([*map(str, sources.links_out)]), soft_wrap=True)
    unread = (f"{file}: {reason}" for reason, files in report.unread.items() for file in files)
    problems = [*report.problems, *unread, *(f"{row['document_id']}: {row['error']}" for row in failed)]
    if problems:
        raise InputError(
            f"{rendering.counted(len(problems), 'document')} could not be loaded",
            detail=f"The first of them: {problems[0].rstrip('.')}.",
            hint="Correct or remove them; figures for an incomplete corpus mean little.",
        )


async def _propose(dsn: str, settings: Settings, asked: _Asked) -> bool:
    """Check everything before loading, show the cost, and ask; False for a dry run, which ends here."""
    from pgclarify.evaluation.opening import open_bench

    async with open_bench(dsn, settings, asked.corpus, concurrency=1, may_be_missing=True) as bench:
        plans = await _plan(bench, asked)
        # The documents to load are not in the corpus yet.
        return _agree(asked, plans, missing=0, unlinked=0)


async def _evaluate(dsn: str, settings: Settings, asked: _Asked) -> None:
    import logging

    from pgclarify.cli import evaluation_rendering
    from pgclarify.evaluation.configurations import follows_links
    from pgclarify.evaluation.opening import open_bench

    # A partial run is counted as such; its warning would break the progress bar.
    logging.getLogger("pgclarify.client").setLevel(logging.ERROR)
    async with open_bench(dsn, settings, asked.corpus, concurrency=asked.concurrency) as bench:
        plans = await _plan(bench, asked)
        unlinked = bench.corpus.unlinked if any(map(follows_links, asked.configurations)) else 0
        if not _agree(asked, plans, missing=await _count_missing(bench, asked.data_set), unlinked=unlinked):
            return
        done: list[Finished] = []
        try:
            for one in plans:
                # Not a list comprehension, so that finished results are shown even after an error.
                done.append(  # noqa: PERF401
                    await carry_out(
                        bench, one.configuration, one.plan, one.judge, asked.data_set, concurrency=asked.concurrency
                    )
                )
        finally:
            if done:
                _show(done, as_json=asked.as_json)
        if any(evaluation_rendering.has_failed(one) for one in done):
            raise typer.Exit(1)


async def _count_missing(bench: Bench, data_set: DataSet) -> int:
    """Count the documents known to be relevant that are not in the corpus, or that this role may not see."""
    from pgclarify.evaluation.judging import relevant_documents

    document_ids = sorted({document_id for case in data_set.cases for document_id in relevant_documents(case)})
    if not document_ids:
        return 0
    return await bench.tables.count_missing_documents(bench.corpus.corpus_id, document_ids)


def _agree(asked: _Asked, plans: Sequence[_Planned], *, missing: int, unlinked: int | None) -> bool:
    """Show the cost, and ask; False for a dry run.

    Args:
        asked: What is evaluated.
        plans: The configurations.
        missing: How many documents of the data set are not in the corpus.
        unlinked: How many passages are not linked yet, although a search will follow links; None if they never are.
    """
    from pgclarify.cli import evaluation_rendering

    estimates = [one.estimate for one in plans]
    notices = terminal.notices()
    notices.print(evaluation_rendering.data_set(asked.data_set, missing, plans[0].plan.corpus_name))
    if unlinked != 0:
        notices.print(evaluation_rendering.not_linked(unlinked), soft_wrap=True)
    notices.print(evaluation_rendering.estimates(estimates))
    if asked.load and asked.corpus is not None:
        notices.print(evaluation_rendering.to_load(asked.corpus, asked.load, is_dry=asked.is_dry))
    if asked.is_dry:
        if asked.as_json:
            for estimate in estimates:
                terminal.print_json({**asdict(estimate), "data_set": asked.data_set.name})
        return False
    if any(estimate.may_cost for estimate in estimates) and not asked.is_confirmed:
        ask_to_go_on()
    return True


@dataclass(frozen=True, slots=True)
class _Planned:
    """A valid configuration."""

    configuration: Configuration
    plan: EvaluationPlan
    judge: Judge
    estimate: ConfigurationEstimate


async def _plan(bench: Bench, asked: _Asked) -> list[_Planned]:
    """Check every configuration before executing any, and estimate its cost.

    Raises:
        PgclarifyError: If a configuration cannot be executed; it is named.
    """
    from pgclarify.evaluation.configurations import check_provider, detail_of
    from pgclarify.evaluation.estimate import Estimator

    estimator = Estimator(bench, asked.data_set.cases)
    plans = []
    for configuration in asked.configurations:
        try:
            check_provider(configuration, bench.living.provider)
            await bench.check(configuration, asked.data_set.cases)
        except InputError as error:
            raise InputError(
                f'in "{configuration.name}": {error.message}',
                detail=detail_of(error),
                hint=error.hint,
                sqlstate=error.sqlstate,
            ) from error
        judge = await bench.judge(configuration.judge or asked.judge)
        plan = bench.plan(configuration, asked.data_set, judge)
        plans.append(_Planned(configuration, plan, judge, await estimator.estimate(configuration, plan)))
    return plans


def ask_to_go_on() -> None:
    """Ask the person at the terminal whether to start; without a terminal, start.

    Raises:
        typer.Exit: If the answer is no.
    """
    if sys.stdin.isatty() and sys.stderr.isatty() and not typer.confirm("Go on?", default=True, err=True):
        terminal.notices().print("Nothing was started.")
        raise typer.Exit(1)


async def carry_out(
    bench: Bench,
    configuration: Configuration,
    plan: EvaluationPlan,
    judge: Judge,
    data_set: DataSet,
    *,
    concurrency: int,
) -> Finished:
    """Carry out one configuration, or what is left of it, with a bar and a line on what it took.

    Args:
        bench: What it is evaluated on.
        configuration: Which.
        plan: Of its evaluation.
        judge: Who judges.
        data_set: What it is asked.
        concurrency: Most cases in flight, from 1.

    Raises:
        RunFailed: If the model cannot be asked.
        NotReady: If another process is at it, or the corpus changes meanwhile.
        PgclarifyError: If it cannot go on for another reason.
    """
    from pgclarify.cli import evaluation_rendering
    from pgclarify.cli.evaluation_bar import Bar
    from pgclarify.cli.rendering import printable
    from pgclarify.evaluation.runner import Work, evaluate

    method = await bench.method(configuration, data_set.cases)
    with Bar(printable(configuration.name)) as bar:
        work = Work(
            bench.tables,
            method,
            judge,
            bench.watch,
            concurrency,
            bar.show,
            evidence=bench.evidence,
            check=bench.check_corpus,
            compare_texts=partial(bench.compare_texts, configuration),
        )
        try:
            finished = await evaluate(plan, data_set.cases, work)
        except BaseException as error:
            is_interrupted = isinstance(error, asyncio.CancelledError)
            if told := evaluation_rendering.cut_off(plan, bar.last, is_interrupted=is_interrupted):
                terminal.notices().print(told)
            raise
    if told := evaluation_rendering.carried_out(finished):
        terminal.notices().print(told)
    return finished


def _show(done: Sequence[Finished], *, as_json: bool) -> None:
    from pgclarify.cli import evaluation_rendering

    if as_json:
        for one in done:
            terminal.print_json(
                {
                    "eval_run_id": one.eval_run_id,
                    **evaluation_rendering.plan_as_json(one.plan),
                    "metrics": evaluation_rendering.metrics_as_json(one.summaries),
                    "strata": evaluation_rendering.strata_as_json(one.strata),
                    "failures": dict(evaluation_rendering.kinds_of_failures(one.failures)),
                    "resumed_cases": one.resumed_cases,
                    "paid_calls": evaluation_rendering.calls_of_a_model(one) - one.usage.reused_calls,
                    "reused_calls": one.usage.reused_calls,
                }
            )
        return
    terminal.results().print(evaluation_rendering.finished(done))
    terminal.notices().print(evaluation_rendering.next_commands(done), soft_wrap=True)
