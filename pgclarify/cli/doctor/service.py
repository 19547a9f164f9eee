"""Checks of the work in a database: workers, and what the view finding shows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from pgclarify.cli.doctor.check import Check, Level, ok, problem, warning
from pgclarify.cli.rendering import Row

# Names in a line, and lines of a kind.
_SHOWN = 5


def check_workers(workers: Sequence[Row], *, version: str, expected: tuple[str, str | None] | None) -> list[Check]:
    """Check the workers, with one line for each finding.

    Args:
        workers: Rows of statement client_list_workers.
        version: Version of this package.
        expected: Provider, and model if one is named, in the settings of this environment; None if there is none.
    """
    if not workers:
        remedy = "Run: pgclarify up --detach, or pgclarify worker"
        return [problem("workers", "none is alive, so nothing is indexed or answered", remedy)]
    checks = [ok("workers", f"{len(workers)} alive: {_listed({_model(worker) for worker in workers})}")]
    others = {f"{worker['version']} on {worker['host']}" for worker in workers if worker["version"] != version}
    if others:
        checks.append(
            warning("worker versions", f"this is {version}, and there is {_listed(others)}", "Restart those workers.")
        )
    return checks + check_models(workers, expected)


def check_models(workers: Sequence[Row], expected: tuple[str, str | None] | None) -> list[Check]:
    """Check whether workers judge with one model, the one in this environment's settings; no check if they do.

    Args:
        workers: As for check_workers, at least one.
        expected: As for check_workers.
    """
    models = {(worker["provider"], worker["model"]) for worker in workers}
    if len(models) > 1:
        return [
            warning(
                "worker models",
                f"workers of one queue judge with different models: {_listed({_model(worker) for worker in workers})}",
                "Give all of them the same PGCLARIFY_LLM_PROVIDER and PGCLARIFY_LLM_MODEL.",
            )
        ]
    if expected is not None and not _fits(workers[0], *expected):
        return [
            warning(
                "worker models",
                f"this environment asks for {' '.join(filter(None, expected))}, and the workers judge with"
                f" {_model(workers[0])}",
                "Restart the worker with these settings: pgclarify down, then pgclarify up --detach",
            )
        ]
    return []


def check_findings(findings: Sequence[Row]) -> list[Check]:
    """Make checks of what is wrong in the database, with a few lines for each kind.

    Args:
        findings: Rows of statement client_list_findings.
    """
    checks: list[Check] = []
    for (level, kind), group in groupby(findings, lambda found: (found["level"], found["kind"])):
        alike = list(group)
        level = Level.OK if level == "note" else Level(level)
        for found in alike[:_SHOWN]:
            counted = found["finding"] if found["count"] is None else f"{found['count']:,} {found['finding']}"
            named = counted if found["name"] is None else f"{found['name']}: {counted}"
            checks.append(Check(kind, level, named, found["remedy"]))
        if len(alike) > _SHOWN:
            more = f"there are {len(alike) - _SHOWN:,} more"
            checks.append(Check(kind, level, more, "See the view pgclarify.finding."))
    if all(check.level is Level.OK for check in checks):
        checks.append(ok("findings", "none in the queue, corpora, tables, costs and budgets"))
    return checks


def _fits(worker: Row, provider: str, model: str | None) -> bool:
    return bool(worker["provider"] == provider and model in (None, worker["model"]))


def _model(worker: Row) -> str:
    return f"{worker['provider']} {worker['model']}"


def _listed(names: set[str]) -> str:
    shown = sorted(names)[:_SHOWN]
    return ", ".join(shown) + (f" and {len(names) - len(shown)} more" if len(names) > len(shown) else "")
