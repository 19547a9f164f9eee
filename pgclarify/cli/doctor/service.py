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
    models = _listed(_models(workers))
    checks = [ok("workers", f"{len(workers)} alive: {models}")]
    checks += _check_versions(workers, version)
    checks += check_models(workers, expected)
    return checks


def _check_versions(workers: Sequence[Row], version: str) -> list[Check]:
    """Check whether workers have the version of this package; no check if they do."""
    others = {f"{worker['version']} on {worker['host']}" for worker in workers if worker["version"] != version}
    if not others:
        return []
    found = f"this is {version}, and there is {_listed(others)}"
    return [warning("worker versions", found, "Restart those workers.")]


def check_models(workers: Sequence[Row], expected: tuple[str, str | None] | None) -> list[Check]:
    """Check whether workers judge with one model, the one in this environment's settings; no check if they do.

    Args:
        workers: As for check_workers, at least one.
        expected: As for check_workers.
    """
    models = _models(workers)
    if len(models) > 1:
        found = f"workers of one queue judge with different models: {_listed(models)}"
        remedy = "Give all of them the same PGCLARIFY_LLM_PROVIDER and PGCLARIFY_LLM_MODEL."
        return [warning("worker models", found, remedy)]
    if expected is not None and not _fits(workers[0], *expected):
        wanted = " ".join(filter(None, expected))
        found = f"this environment asks for {wanted}, and the workers judge with {_listed(models)}"
        remedy = "Restart the worker with these settings: pgclarify down, then pgclarify up --detach"
        return [warning("worker models", found, remedy)]
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
        checks += [Check(kind, level, _told(found), found["remedy"]) for found in alike[:_SHOWN]]
        more = len(alike) - _SHOWN
        if more > 0:
            checks.append(Check(kind, level, f"there are {more:,} more", "See the view pgclarify.finding."))
    if all(check.level is Level.OK for check in checks):
        checks.append(ok("findings", "none in the queue, corpora, tables, costs and budgets"))
    return checks


def _told(finding: Row) -> str:
    """Return a finding with its number, and the name of what has it."""
    told: str = finding["finding"]
    if finding["count"] is not None:
        told = f"{finding['count']:,} {told}"
    if finding["name"] is not None:
        told = f"{finding['name']}: {told}"
    return told


def _fits(worker: Row, provider: str, model: str | None) -> bool:
    return worker["provider"] == provider and (model is None or worker["model"] == model)


def _models(workers: Sequence[Row]) -> set[str]:
    """Return the models that workers judge with, each with its provider."""
    return {f"{worker['provider']} {worker['model']}" for worker in workers}


def _listed(names: set[str]) -> str:
    shown = ", ".join(sorted(names)[:_SHOWN])
    more = len(names) - _SHOWN
    return f"{shown} and {more} more" if more > 0 else shown
