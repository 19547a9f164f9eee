"""The command eval compare."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pgclarify.cli import connection, terminal
from pgclarify.cli.evaluating import shown
from pgclarify.cli.rendering import Figure, printable, table
from pgclarify.errors import InputError

if TYPE_CHECKING:
    from pgclarify.database.evaluations import EvaluatedCase, Evaluation, EvaluationTables
    from pgclarify.evaluation.figures import Difference

COMPARE_EXAMPLES = terminal.examples(
    "pgclarify eval compare 12 13",
    "pgclarify eval compare main branch --fail-below coverage=-0.02 --fail-below calls=-1",
    "pgclarify eval compare 12 13 --cases 5 --json | jq .figures",
)
Pair = tuple["EvaluatedCase", "EvaluatedCase"]


def compare(
    first: Annotated[str, typer.Argument(metavar="A", help="Id or name of an evaluation: the reference.")],
    second: Annotated[str, typer.Argument(metavar="B", help="Id or name of another one.")],
    cases: Annotated[int, typer.Option(metavar="N", min=0, help="Show the N cases that changed most.")] = 5,
    by: Annotated[str, typer.Option(metavar="FIGURE", help="The figure that orders the cases.")] = "coverage",
    fail_below: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FIGURE=X", help="Exit with 1 if the gain of B over A is below X; less than 0 is always worse."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", metavar="", help="One JSON object.")] = False,
) -> None:
    """Compare two evaluations case by case: what changed, by how much, and what may be chance."""
    limits = dict(_limit(given) for given in fail_below or [])
    sides, pairs, differences = read(lambda tables: _read(tables, first, second))
    warnings = list(unlike(*sides))
    changed = [pair for pair in _by_change(pairs, by) if pair[0].figures.get(by) != pair[1].figures.get(by)][:cases]
    if as_json:
        terminal.print_json(
            {
                "a": sides[0].eval_run_id,
                "b": sides[1].eval_run_id,
                "cases": len(pairs),
                "warnings": warnings,
                "figures": [asdict(one) | {"verdict": one.verdict} for one in differences],
                "changed": [{"case_id": one.case_id, "a": one.output, "b": two.output} for one, two in changed],
            }
        )
    else:
        _show(sides, warnings, differences, changed, len(pairs), by)
    if limits:
        failures = [*warnings, *_failures(limits, differences)]
        for failure in failures:
            terminal.notices().print(f"Failed: {failure}", soft_wrap=True)
        if failures:
            raise typer.Exit(1)


def read(ask: Callable[[EvaluationTables], Awaitable[Any]]) -> Any:  # noqa: ANN401 - what ask returns
    """Ask the tables of evaluations for something."""
    from pgclarify.database.evaluations import EvaluationTables
    from pgclarify.database.pool import open_pool

    async def asked() -> Any:  # noqa: ANN401
        async with open_pool(dsn, application_name="pgclarify eval") as pool:
            return await ask(EvaluationTables(pool))

    dsn = connection.running_dsn(connection.load_settings())
    return asyncio.run(asked())


async def _read(tables: EvaluationTables, *references: str) -> tuple[list[Evaluation], list[Pair], list[Difference]]:
    from pgclarify.evaluation.figures import compare as compare_figures

    sides = [await tables.find(reference) for reference in references]
    one, other = [await tables.cases(side.eval_run_id) for side in sides]
    theirs = {(case.case_id, case.question): case for case in other}
    pairs = [(case, theirs[key]) for case in one if (key := (case.case_id, case.question)) in theirs]
    if not pairs:
        raise InputError(
            "the two evaluations have no case in common",
            detail=f"The first is of {sides[0].data_set}, the second of {sides[1].data_set}.",
            hint="See what each is of with: pgclarify eval list",
        )
    return sides, pairs, compare_figures([(case.figures, partner.figures) for case, partner in pairs])


def unlike(one: Evaluation, other: Evaluation) -> Iterable[str]:
    """Yield the reasons why two evaluations are no comparison of like with like; whole sentences."""
    for side in (one, other):
        if side.finished_at is None:
            yield f"Evaluation {side.eval_run_id} is not finished: {side.done_cases} of {side.planned_cases} cases."
    if one.data_set_hash != other.data_set_hash:
        yield "The data sets differ; only cases that both have are compared."
    if one.corpus_id != other.corpus_id:
        yield "They asked different corpora."
    for name in ("corpus_revision", "judge", "judge_version"):
        if one.conditions.get(name) != other.conditions.get(name):
            yield f"They have another {name.replace('_', ' ')}."


def _limit(given: str) -> tuple[str, float]:
    from pgclarify.evaluation.figures import FIGURES

    name, _, value = given.partition("=")
    try:
        limit = float(value)
    except ValueError:
        limit = float("nan")
    if name not in FIGURES or limit != limit:
        raise typer.BadParameter(f"{given!r} is not FIGURE=X; figures are {', '.join(FIGURES)}")
    return name, limit


def _failures(limits: dict[str, float], differences: Sequence[Difference]) -> Iterable[str]:
    there = {one.figure: one for one in differences}
    for name, limit in limits.items():
        if name not in there:
            yield f"{name} is not in both."
        elif there[name].gain < limit - 1e-9:
            yield f"{name} changed by {shown(there[name].difference, sign='+')}; the limit is {limit:+}."


def _by_change(pairs: Sequence[Pair], figure: str) -> list[Pair]:
    return sorted(pairs, key=lambda pair: -abs(pair[1].figures.get(figure, 0) - pair[0].figures.get(figure, 0)))


def _show(
    sides: Sequence[Evaluation],
    warnings: Sequence[str],
    differences: Sequence[Difference],
    changed: Sequence[Pair],
    cases: int,
    by: str,
) -> None:
    console = terminal.results()
    for label, side in zip("AB", sides, strict=True):
        told = f"{label}  {side.eval_run_id} {side.name}: {side.method} on {side.data_set}, {side.created_at:%Y-%m-%d}"
        console.print(printable(told), soft_wrap=True)
    for name in dict.fromkeys((*sides[0].settings, *sides[1].settings)):
        values = [side.settings.get(name, "default") for side in sides]
        if values[0] != values[1]:
            console.print(printable(f"differs: {name} {values[0]} and {values[1]}"), soft_wrap=True)
    for warning in warnings:
        console.print(warning, soft_wrap=True)
    console.print(f"\n{cases:,} cases that both have; differences are B - A, with 95 % intervals\n")
    figures = [
        (
            one.figure,
            shown(one.first),
            shown(one.second),
            shown(one.difference, sign="+"),
            Figure(f"[{shown(one.low, sign='+')}, {shown(one.high, sign='+')}]"),
            Figure("<0.001" if one.p < 0.001 else f"{one.p:.3f}"),
            one.verdict,
        )
        for one in differences
    ]
    console.print(table(("figure", "A", "B", "B - A", "95 % interval", "p", ""), figures))
    for case, partner in changed:
        console.print(f"\n{printable(case.question)!r}  case {printable(case.case_id)}", soft_wrap=True)
        console.print(f"  {by} {shown(case.figures.get(by, 0))} -> {shown(partner.figures.get(by, 0))}")
        for label, side_case in (("A", case), ("B", partner)):
            for given in side_case.output["interpretations"] or [{"interpretation": "(no reading)", "answer": None}]:
                told = f"  {label} {given['interpretation']}  {given['answer'] or ''}"
                console.print(printable(told), soft_wrap=True)
