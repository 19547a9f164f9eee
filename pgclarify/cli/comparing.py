"""The command eval compare."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
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
# Shown for a case without readings.
_NO_READING: Mapping[str, str | None] = {"interpretation": "(no reading)", "answer": None}


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
    changed = _most_changed(pairs, by)[:cases]
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

    dsn = connection.checked_dsn(connection.load_settings())
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
            continue
        found = there[name]
        if found.gain < limit - 1e-9:
            change = shown(found.difference, sign="+")
            yield f"{name} changed by {change}; the limit is {limit:+}."


def _most_changed(pairs: Sequence[Pair], figure: str) -> list[Pair]:
    """Return the pairs that have different values of a figure, by falling difference."""

    def size(pair: Pair) -> float:
        before, after = _values(pair, figure)
        return abs(after - before)

    changed = [pair for pair in pairs if pair[0].figures.get(figure) != pair[1].figures.get(figure)]
    return sorted(changed, key=size, reverse=True)


def _values(pair: Pair, figure: str) -> tuple[float, float]:
    """Return the two values of a figure, with 0 for one that is missing."""
    before, after = pair
    return before.figures.get(figure, 0), after.figures.get(figure, 0)


def _show(
    sides: Sequence[Evaluation],
    warnings: Sequence[str],
    differences: Sequence[Difference],
    changed: Sequence[Pair],
    cases: int,
    by: str,
) -> None:
    console = terminal.results()
    for line in _about(*sides):
        console.print(printable(line), soft_wrap=True)
    for warning in warnings:
        console.print(warning, soft_wrap=True)
    console.print(f"\n{cases:,} cases that both have; differences are B - A, with 95 % intervals\n")
    titles = ("figure", "A", "B", "B - A", "95 % interval", "p", "")
    console.print(table(titles, map(_figure, differences)))
    for pair in changed:
        _show_case(pair, by)


def _about(one: Evaluation, other: Evaluation) -> Iterator[str]:
    """Yield a line about each evaluation, and one for each setting that differs."""
    for label, side in (("A", one), ("B", other)):
        asked = f"{side.method} on {side.data_set}, {side.created_at:%Y-%m-%d}"
        yield f"{label}  {side.eval_run_id} {side.name}: {asked}"
    for name in dict.fromkeys((*one.settings, *other.settings)):
        first = one.settings.get(name, "default")
        second = other.settings.get(name, "default")
        if first != second:
            yield f"differs: {name} {first} and {second}"


def _figure(one: Difference) -> Sequence[object]:
    low = shown(one.low, sign="+")
    high = shown(one.high, sign="+")
    return (
        one.figure,
        shown(one.first),
        shown(one.second),
        shown(one.difference, sign="+"),
        Figure(f"[{low}, {high}]"),
        Figure("<0.001" if one.p < 0.001 else f"{one.p:.3f}"),
        one.verdict,
    )


def _show_case(pair: Pair, figure: str) -> None:
    """Show a case of both evaluations: its question, its figure, and what each answered."""
    console = terminal.results()
    case, partner = pair
    before, after = _values(pair, figure)
    console.print(f"\n{printable(case.question)!r}  case {printable(case.case_id)}", soft_wrap=True)
    console.print(f"  {figure} {shown(before)} -> {shown(after)}")
    for label, output in (("A", case.output), ("B", partner.output)):
        for reading in output["interpretations"] or [_NO_READING]:
            answer = reading["answer"] or ""
            line = f"  {label} {reading['interpretation']}  {answer}"
            console.print(printable(line), soft_wrap=True)
