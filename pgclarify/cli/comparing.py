"""The command eval compare."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pgclarify.cli import connection, terminal
from pgclarify.cli.options import AsOneObject

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pgclarify.database.evaluations import EvaluationTables
    from pgclarify.evaluated import Evaluation
    from pgclarify.evaluation.comparison import Comparison, PairedCase, StratumComparison
    from pgclarify.evaluation.paired_metrics import MetricComparison

COMPARE_EXAMPLES = terminal.examples(
    "pgclarify eval compare 12 13",
    "pgclarify eval compare 'clarify top_k=10' 'clarify top_k=20' --metric answer_coverage --metric calls",
    "pgclarify eval compare 12 13 --case 4711",
    "pgclarify eval compare main branch --fail-below answer_coverage=-0.02",
)
# Rounding of a mean must not break a limit that is met exactly.
_ROUNDING = 1e-9


def compare(
    first: Annotated[
        str, typer.Argument(metavar="A", help="The evaluation to compare with: its id or name, as eval list has them.")
    ],
    second: Annotated[str, typer.Argument(metavar="B", help="The evaluation to compare with A.")],
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric", "-m", metavar="NAME", help="Compare this metric alone, and order cases by it; may be repeated."
        ),
    ] = None,
    cases: Annotated[int, typer.Option(metavar="N", min=0, help="How many of the most changed cases to show.")] = 5,
    case: Annotated[str | None, typer.Option(metavar="ID", help="Show only this case, completely.")] = None,
    fail_below: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-below",
            metavar="METRIC=DELTA",
            help="Exit with 1 if B - A (or A - B if lower is better) is below DELTA, or if they are not comparable; "
            "may be repeated.",
        ),
    ] = None,
    allow_unlike: Annotated[
        bool,
        typer.Option(
            "--allow-unlike",
            metavar="",
            help="Let --fail-below pass even if judge, corpus or cases differ, or one is not finished.",
        ),
    ] = False,
    as_json: AsOneObject = False,
) -> None:
    """Compare two evaluations case by case: what changed, in which cases, and which changes may be chance."""
    limits = _read_limits(fail_below or [])
    settings = connection.load_settings()
    dsn = connection.running_dsn(settings)
    with connection.connect(dsn) as database:
        # A pool would retry for a while; this fails at once if there is no server, or nothing is installed.
        connection.fetch(database, "eval_list", limit=0)
    with terminal.notices().status("Comparing"):
        loaded = asyncio.run(_load(dsn, (first, second), metric or [], cases, case))
    comparison = loaded.comparison
    for warning in (*loaded.warnings, *comparison.warnings, *_on_seconds(comparison, metric or [])):
        terminal.notices().print(f"Note: {_printable(warning)}", style="yellow")
    if case is not None:
        _show_case(loaded.shown[0], as_json=as_json)
    else:
        _show(loaded, metric or [], cases, as_json=as_json)
    failures = [told for name, limit in limits.items() if (told := _failure(comparison.metric(name), limit))]
    if limits and comparison.not_alike and not allow_unlike:
        failures.append(f"Failed: no like with like, so no limit holds. {' '.join(comparison.not_alike)}")
    for told in map(_printable, failures):
        terminal.notices().print(told, style="bold red")
    if failures:
        raise typer.Exit(1)


def _on_seconds(comparison: Comparison, names: Sequence[str]) -> Sequence[str]:
    """Return the notes on seconds, if these are shown."""
    are_shown = not names or not {"seconds", "model_seconds"}.isdisjoint(names)
    return [comparison.of_seconds] if comparison.of_seconds and are_shown else []


def _read_limits(given: Sequence[str]) -> dict[str, float]:
    """Read METRIC=DELTA.

    Raises:
        typer.BadParameter: If a value has another form.
    """
    limits: dict[str, float] = {}
    for one in given:
        name, _, delta = one.rpartition("=")
        try:
            limits[name] = float(delta)
        except ValueError:
            name = ""
        if not name or not math.isfinite(limits[name]):
            raise typer.BadParameter(f"{one!r} is not METRIC=DELTA", param_hint="--fail-below")
    return limits


@dataclass(frozen=True, slots=True)
class _Loaded:
    """The data to show.

    Attributes:
        comparison: The cases without the methods' outputs.
        shown: The cases to show, with the outputs.
        warnings: Other evaluations that may have been meant, in sentences.
    """

    comparison: Comparison
    shown: Sequence[PairedCase]
    warnings: Sequence[str]


async def _load(
    dsn: str, references: tuple[str, str], metrics: Sequence[str], count: int, case_id: str | None
) -> _Loaded:
    from pgclarify.database.evaluations import EvaluationTables
    from pgclarify.database.pool import open_pool
    from pgclarify.evaluation.comparison import compare as compared

    async with open_pool(dsn, application_name="pgclarify eval") as pool:
        tables = EvaluationTables(pool)
        one, other = [await tables.find(reference) for reference in references]
        cases = [await tables.cases(side.eval_run_id, has_output=False) for side in (one, other)]
        comparison = compared(one, cases[0], other, cases[1])
        if case_id is not None:
            shown = [comparison.pair(case_id)]
        else:
            shown = comparison.most_changed(comparison.order_of_cases(metrics), count)
        return _Loaded(
            comparison,
            await _whole(tables, comparison, shown),
            [
                told
                for reference, side in zip(references, (one, other), strict=True)
                if (told := await _newer(tables, reference, side))
            ],
        )


async def _newer(tables: EvaluationTables, reference: str, found: Evaluation) -> str | None:
    newer = None if reference == str(found.eval_run_id) else await tables.newer_unfinished(found.eval_run_id)
    if newer is None:
        return None
    return (
        f'"{reference}" is evaluation {found.eval_run_id} here; {newer}, of the same name, is newer, and not finished.'
    )


async def _whole(tables: EvaluationTables, comparison: Comparison, pairs: Sequence[PairedCase]) -> list[PairedCase]:
    """Read the same cases with the outputs of both methods."""
    from pgclarify.evaluation.comparison import PairedCase

    first = await tables.cases(comparison.first.eval_run_id, [pair.first.ordinal for pair in pairs])
    second = await tables.cases(comparison.second.eval_run_id, [pair.second.ordinal for pair in pairs])
    of_first, of_second = ({case.ordinal: case for case in side} for side in (first, second))
    return [PairedCase(of_first[pair.first.ordinal], of_second[pair.second.ordinal]) for pair in pairs]


def _show(loaded: _Loaded, names: Sequence[str], cases: int, *, as_json: bool) -> None:
    from pgclarify.cli import comparison_rendering as rendering

    comparison, changed = loaded.comparison, loaded.shown
    metrics = [comparison.metric(name) for name in names] or list(comparison.metrics)
    order = comparison.order_of_cases(names)
    by_stratum = {name: strata for name in names or [order] if (strata := comparison.strata(name))}
    if as_json:
        terminal.print_json(_as_json(comparison, metrics, by_stratum, changed))
        return
    console = terminal.results()
    console.print(rendering.head(comparison))
    different = [one for one in metrics if names or not one.is_equal]
    if different:
        console.print(rendering.Metrics(different, len(comparison.pairs)))
    equal = [one.metric for one in metrics if one not in different]
    if equal:
        console.print(rendering.equal_metrics(equal))
    for name, strata in by_stratum.items():
        # A metric that is equal in every case is equal in every stratum.
        if name not in equal:
            console.print(rendering.Strata(name, strata))
    if cases:
        console.print(rendering.changed_cases(changed, order))


def _show_case(pair: PairedCase, *, as_json: bool) -> None:
    from pgclarify.cli import comparison_rendering as rendering

    if as_json:
        terminal.print_json(_case_as_json(pair))
    else:
        terminal.results().print(rendering.whole_case(pair))


def _failure(compared: MetricComparison, limit: float) -> str | None:
    from pgclarify.cli.comparison_rendering import value

    if compared.gain >= limit - _ROUNDING:
        return None
    name = compared.metric
    return (
        f"Failed: {name} went from {value(name, compared.first)} to {value(name, compared.second)}. "
        f"That is {value(name, compared.gain, signed=True)}; {value(name, limit, signed=True)} is the least."
    )


def _printable(text: str) -> str:
    from pgclarify.cli.rendering import printable

    return printable(text)


def _as_json(
    comparison: Comparison,
    metrics: Sequence[MetricComparison],
    by_stratum: Mapping[str, Sequence[StratumComparison]],
    changed: Sequence[PairedCase],
) -> Mapping[str, Any]:
    return {
        "a": _side_as_json(comparison.first),
        "b": _side_as_json(comparison.second),
        "cases": len(comparison.pairs),
        "warnings": [*comparison.warnings, *_on_seconds(comparison, [one.metric for one in metrics])],
        "not_alike": list(comparison.not_alike),
        "differing": {one.name: [one.first, one.second] for one in comparison.differing},
        "metrics": [_metric_as_json(one) for one in metrics],
        "strata": [
            {
                "stratum": one.stratum,
                "cases": one.cases,
                "metric": name,
                "compared": None if one.metric is None else _metric_as_json(one.metric),
            }
            for name, strata in by_stratum.items()
            for one in strata
        ],
        "changed": [_case_as_json(pair) for pair in changed],
    }


def _metric_as_json(one: MetricComparison) -> Mapping[str, Any]:
    from dataclasses import asdict

    return asdict(one) | {"verdict": one.verdict}


def _side_as_json(evaluation: Evaluation) -> Mapping[str, Any]:
    plan = evaluation.plan
    return {
        "eval_run_id": evaluation.eval_run_id,
        "name": plan.name,
        "data_set": plan.data_set,
        "method": plan.method,
        "settings": dict(plan.settings),
        "model": plan.model,
        "judge": plan.judge,
        "done_cases": evaluation.done_cases,
        "planned_cases": plan.planned_cases,
        "finished_at": evaluation.finished_at,
    }


def _case_as_json(pair: PairedCase) -> Mapping[str, Any]:
    from pgclarify.evaluation.changes import known_answers, reading_changes, readings

    return {
        "case_id": pair.first.case_id,
        "question": pair.first.question,
        "gold": pair.first.gold,
        "a": {"values": pair.first.values, "status": pair.first.status, "error": pair.first.error},
        "b": {"values": pair.second.values, "status": pair.second.status, "error": pair.second.error},
        "readings": [
            {"change": one.change, "a": one.first, "b": one.second}
            for one in reading_changes(readings(pair.first), readings(pair.second), known_answers(pair.first.gold))
        ],
    }
