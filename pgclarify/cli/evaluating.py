"""The command eval run."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from pgclarify.cli import connection, progress, terminal
from pgclarify.cli.confirming import confirm
from pgclarify.cli.options import read_options
from pgclarify.cli.rendering import Figure, printable, table
from pgclarify.data.counting import counted

if TYPE_CHECKING:
    from pgclarify.evaluation.bench import Bench
    from pgclarify.evaluation.data_sets import DataSet
    from pgclarify.evaluation.estimate import CallEstimate
    from pgclarify.evaluation.runner import Finished, Progress

_MOST_REGRESSIONS = 20
RUN_EXAMPLES = terminal.examples(
    "pgclarify eval run questions.jsonl --corpus insurance",
    "pgclarify eval run questions.jsonl -c insurance --method clarify --method rac --judge model",
    "pgclarify eval run questions.jsonl -c insurance --option top_k=10 --name narrow --part 1/2 --cases 50",
)


def run(
    data_set: Annotated[
        Path,
        typer.Argument(
            metavar="DATA_SET", help="JSON lines, gzipped or not: each has a question and its known answers."
        ),
    ],
    corpus: Annotated[
        str | None,
        typer.Option("--corpus", "-c", metavar="NAME", help="Corpus to ask; may be left out if there is only one."),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="clarify, list_answers, investigate, search, detect_ambiguity, rewrite, clarifying_questions, or a "
            "baseline: direct, dtv, dtv_unverified, rac; may be repeated.",
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", "-o", metavar="NAME=VALUE", help="An option of the method; may be repeated."),
    ] = None,
    judge: Annotated[str, typer.Option(metavar="NAME", help="The judge: lexical or model.")] = "lexical",
    cases: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Ask N questions; the choice does not depend on their order.")
    ] = None,
    part: Annotated[
        str | None, typer.Option(metavar="K/N", help="Ask the K-th of N parts: tune on 1/2, test on 2/2.")
    ] = None,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="Name of the evaluation.")] = None,
    concurrency: Annotated[int, typer.Option(metavar="N", min=1, max=64, help="Cases in flight.")] = 8,
    yes: Annotated[bool, typer.Option("--yes", "-y", metavar="", help="Do not ask for confirmation.")] = False,
    as_json: Annotated[bool, typer.Option("--json", metavar="", help="JSON lines: one object a method.")] = False,
) -> None:
    """Ask all questions of a data set, and measure the answers.

    The command first shows how many calls it makes at most. Results are kept in tables. If it is interrupted, the same
    command goes on, and nothing is paid for twice.
    """
    from pgclarify.evaluation.bench import open_bench
    from pgclarify.evaluation.data_sets import read_data_set
    from pgclarify.evaluation.estimate import estimate
    from pgclarify.evaluation.methods import check_settings
    from pgclarify.evaluation.runner import evaluate

    if name is not None and (not name.strip() or name.isdecimal() or len(name) > 150 or "\0" in name):
        raise typer.BadParameter("it is blank, long or a number; numbers are ids", param_hint="--name")
    read = read_data_set(data_set, cases=cases, part=part)
    options = read_options(option or [])
    settings = connection.load_settings()
    chosen = list(dict.fromkeys(method or ["clarify"]))
    named = {one: (name or _named(one, options)) + (f" {one}" if name and len(chosen) > 1 else "") for one in chosen}
    # A partial run is counted as such; its warning would break the progress line.
    logging.getLogger("pgclarify.client").setLevel(logging.ERROR)

    async def evaluate_all() -> bool:
        """Check every method, show what they cost, and carry them out; return whether all cases of one failed."""
        dsn = connection.checked_dsn(settings)
        async with open_bench(dsn, settings, corpus, concurrency=concurrency) as bench:
            judging = await bench.judge(judge)
            plans, methods, estimates = [], [], []
            with progress.waiting("Estimating what it costs"):
                for one, title in named.items():
                    await check_settings(bench.asking, one, options)
                    methods.append(await bench.method(one, options))
                    plan = bench.plan(title, one, options, read, judging)
                    plans.append(plan)
                    estimates.append(await estimate(bench, plan, read))
            terminal.notices().print(_about(read), soft_wrap=True)
            await _tell_missing(bench, read)
            titles = ("evaluation", "cases", "calls to pay for", "paid already", "at most", "US dollars")
            terminal.notices().print(table(titles, map(_cost, named.values(), estimates)))
            is_free = all(one.calls == 0 for one in estimates)
            confirm("this would make these calls", is_confirmed=yes or is_free)
            failed = False
            for plan, made in zip(plans, methods, strict=True):
                with progress.waiting(plan.name) as show:
                    tell = partial(_show_progress, show)
                    done = await evaluate(bench, plan, read, made, judging, concurrency=concurrency, on_progress=tell)
                failed = failed or done.figures["failed"].value == 1
                if as_json:
                    figures = {figure: asdict(one) for figure, one in done.figures.items()}
                    told = {"eval_run_id": done.eval_run_id, "name": plan.name, "figures": figures}
                    terminal.print_json(told | {"regressions": [asdict(one) for one in done.regressions]})
                else:
                    terminal.results().print(_figures(done))
                    _show_regressions(done)
        return failed

    if asyncio.run(evaluate_all()):
        raise typer.Exit(1)


def _named(method: str, options: Mapping[str, object]) -> str:
    pairs = [f"{name}={value}" for name, value in options.items()]
    return " ".join([method, *pairs])[:200]


def _show_progress(show: Callable[[str], None], done: Progress) -> None:
    line = f"{done.done:,} of {done.total:,} cases, {done.calls:,} calls"
    failed = sum(done.failures.values())
    show(f"{line}, {failed:,} failed" if failed else line)


def _about(data_set: DataSet) -> str:
    """Say what is asked, how much is known about it, and what of the file was not read."""
    cases = data_set.cases
    with_answers = sum(bool(case.known_answers) for case in cases)
    with_documents = sum(bool(case.relevant_documents) for case in cases)
    asked = f"{len(cases):,} of {data_set.total:,} cases of {data_set.name}"
    told = f"{asked}, {with_answers:,} with answers, {with_documents:,} with documents."
    unread = ", ".join(data_set.unknown_fields[:10])
    if unread:
        told += f" Fields that are not read: {unread}."
    return printable(told)


async def _tell_missing(bench: Bench, data_set: DataSet) -> None:
    """Say which relevant documents the corpus does not have; nothing if it has all."""
    relevant: set[str] = set()
    for case in data_set.cases:
        relevant.update(case.relevant_documents)
    corpus = bench.corpus.name
    missing = await bench.tables.missing_documents(corpus, sorted(relevant))
    if not missing:
        return
    ids = ", ".join(missing[:5])
    if len(missing) > 5:
        ids += ", …"
    told = f"{len(missing):,} of {len(relevant):,} relevant documents are not in corpus {corpus}"
    terminal.notices().print(printable(f"{told}, so no search finds them: {ids}."), soft_wrap=True)


def _cost(name: str, one: CallEstimate) -> Sequence[object]:
    numbers = (one.calls, one.reused, one.at_most)
    shown_numbers = ["unknown" if number is None else number for number in numbers]
    cost = "unknown"
    if one.cost_usd is not None:
        cost = f"{one.cost_usd:.4f}"
    return (name, one.cases, *shown_numbers, Figure(cost))


def _figures(done: Finished) -> Table:
    titles = ("figure", "value", "95 % interval", "cases")
    rows = []
    for name, one in done.figures.items():
        interval = ""
        if one.low is not None and one.high is not None:
            interval = f"[{shown(one.low)}, {shown(one.high)}]"
        rows.append((name, shown(one.value), Figure(interval), one.cases))
    figures = table(titles, rows)
    plan = done.plan
    figures.title = f"{done.eval_run_id}  {printable(plan.name)} on {printable(plan.data_set)}"
    figures.title_justify = "left"
    for reason, count in done.progress.failures.most_common(3):
        figures.caption = f"{count:,} failed: {printable(reason)}"
    return figures


def _show_regressions(done: Finished) -> None:
    """Show the answers that are known to be wrong, and came again; nothing if there is none."""
    if not done.regressions:
        return
    console = terminal.results()
    console.print(f"\nGiven again, and known to be wrong: {counted(len(done.regressions), 'answer')}")
    for one in done.regressions[:_MOST_REGRESSIONS]:
        run = "" if one.run_id is None else f"  (run {one.run_id})"
        console.print(printable(f"  {one.question!r}: {one.interpretation}  {one.answer}{run}"), soft_wrap=True)
    if len(done.regressions) > _MOST_REGRESSIONS:
        console.print(f"  See all with: pgclarify eval report {done.eval_run_id}")


def shown(value: float, *, sign: str = "") -> Figure:
    """Return a figure with as many digits as tell something."""
    digits = 3 if abs(value) < 100 else 0
    return Figure(f"{value:{sign},.{digits}f}")
