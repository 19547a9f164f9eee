"""Checks of the work in a database: workers, and what the view finding shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter

from pgclarify.cli.doctor.check import Check, Level, ok, problem, warning
from pgclarify.cli.rendering import Row, first_of
from pgclarify.data.counting import counted

# Findings of a kind.
_SHOWN = 5


def check_workers(workers: Sequence[Row], *, version: str, expected: tuple[str, str | None] | None) -> list[Check]:
    """Check the workers, with one line for each finding.

    Args:
        workers: Rows of statement client_list_workers.
        version: Version of this package.
        expected: Provider, and model if one is named, in the settings of this environment; None if there is none.
    """
    others = check_versions(workers, version)
    if workers and all(worker["version"] != version for worker in workers):
        return [problem("workers", f"none is of this version: {others[0].finding}", others[0].remedy)]
    if not workers:
        found = "none is alive, so nothing is indexed or answered"
        remedy = "Run: pgclarify up --detach, or pgclarify worker"
        return [problem("workers", found, remedy)]
    number = len(workers)
    models = first_of(_models(workers))
    checks = [ok("workers", f"{number} alive: {models}")]
    checks += others
    checks += check_models(workers, expected)
    return checks


def check_files(kinds: Sequence[Row]) -> Iterator[Check]:
    """Say what files of each corpus have and its documents do not; no check if that is nothing.

    Args:
        kinds: Rows of unread_kinds, by corpus, the most frequent kinds first.
    """
    for corpus, rows in groupby(kinds, key=itemgetter("corpus")):
        unread = list(map(_unread, rows))
        found = f"not read of the files of {corpus}: {first_of(unread)}"
        yield ok("files", found, "Column unread of pgclarify.document says it for each document.")


def _unread(row: Row) -> str:
    """Return how much of a kind files have, and in how many documents it is missing."""
    number = counted(row["number"], row["kind"])
    documents = counted(row["documents"], "document")
    return f"{number} in {documents}"


def check_versions(workers: Sequence[Row], version: str) -> list[Check]:
    """Check whether workers have the version of this package, as the schema has; no check if they do.

    Args:
        workers: As for check_workers; also none.
        version: As for check_workers.
    """
    others = [worker for worker in workers if worker["version"] != version]
    if not others:
        return []
    named = _named(others, "{version} on {host}")
    found = f"this is {version}, and there is {first_of(named)}"
    return [
        warning(
            "worker versions",
            f"{found}, which takes no runs if it knows another schema",
            "Run pgclarify down, then pgclarify up --detach, there; or restart its service with the new version.",
        )
    ]


def check_models(workers: Sequence[Row], expected: tuple[str, str | None] | None) -> list[Check]:
    """Check whether workers judge with one model, the one in this environment's settings; no check if they do.

    Args:
        workers: As for check_workers, at least one.
        expected: As for check_workers.
    """
    models = _models(workers)
    judges = first_of(models)
    if len(models) > 1:
        found = f"workers of one queue judge with different models: {judges}"
        remedy = "Give all of them the same PGCLARIFY_LLM_PROVIDER and PGCLARIFY_LLM_MODEL."
    elif expected is None or _fits(workers[0], *expected):
        return []
    else:
        wanted = " ".join(filter(None, expected))
        found = f"this environment asks for {wanted}, and the workers judge with {judges}"
        remedy = "Restart the worker with these settings: pgclarify down, then pgclarify up --detach"
    return [warning("worker models", found, remedy)]


def _fits(worker: Row, provider: str, model: str | None) -> bool:
    """Return whether a worker judges with a provider, and with a model if one is named."""
    if worker["provider"] != provider:
        return False
    return model in (None, worker["model"])


def check_findings(findings: Sequence[Row]) -> list[Check]:
    """Make checks of what is wrong in the database, with a few lines for each kind.

    Args:
        findings: Rows of statement client_list_findings.
    """
    checks: list[Check] = []
    level_and_kind = itemgetter("level", "kind")
    for _, alike in groupby(findings, level_and_kind):
        checks += _check_kind(list(alike))
    is_fine = all(check.level is Level.OK for check in checks)
    if is_fine:
        checks.append(ok("findings", "none in the queue, corpora, tables, costs and budgets"))
    return checks


def _check_kind(alike: Sequence[Row]) -> Iterator[Check]:
    """Yield checks of findings of one level and kind: the first ones, and how many more there are."""
    first = alike[0]
    kind = first["kind"]
    # A note is nothing that is wrong.
    level = Level.OK if first["level"] == "note" else Level(first["level"])
    for found in alike[:_SHOWN]:
        yield Check(kind, level, _told(found), found["remedy"])
    more = len(alike) - _SHOWN
    if more > 0:
        yield Check(kind, level, f"there are {more:,} more", "See the view pgclarify.finding.")


def _told(finding: Row) -> str:
    """Return a finding with its number, and the name of what has it."""
    told: str = finding["finding"]
    count = finding["count"]
    name = finding["name"]
    if count is not None:
        told = f"{count:,} {told}"
    if name is not None:
        told = f"{name}: {told}"
    return told


def _models(workers: Sequence[Row]) -> list[str]:
    """Return the models that workers judge with, each with its provider."""
    return _named(workers, "{provider} {model}")


def _named(workers: Sequence[Row], form: str) -> list[str]:
    """Return how workers differ, each once; form: such as `{version} on {host}`."""
    named = {form.format_map(worker) for worker in workers}
    return sorted(named)
