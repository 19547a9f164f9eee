"""Checks of the work in a database: workers, the queue, the corpora."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pgclarify.cli.doctor.check import Check, ok, problem, warning
from pgclarify.cli.rendering import Row, counted
from pgclarify.vocabulary import AT_ENDPOINT

# It is unusual that a live worker leaves a backlog untouched for so long, or that a run takes so long.
_WAITING_SECONDS = 60
_STUCK_SECONDS = 900
_NAMES_SHOWN = 5


def check_workers(workers: Sequence[Row], *, version: str, expected: tuple[str, str | None] | None) -> list[Check]:
    """Check the workers, with one line for each finding.

    Args:
        workers: Rows of live workers, from client_list_workers.
        version: Version of this package.
        expected: Provider, and model if one is named, in the settings of this environment; None if there is none.
    """
    if not workers:
        return [
            problem(
                "workers",
                "none is alive, so nothing is indexed or answered",
                "Run: pgclarify up --detach, or pgclarify worker",
            )
        ]
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


def check_queue(queue: Row, running: Sequence[Row], *, has_workers: bool) -> list[Check]:
    """Check the queue.

    Args:
        queue: The row of cli_get_queue.
        running: Rows of cli_list_running: runs in work that the caller may see.
        has_workers: Whether a worker is alive.
    """
    checks = []
    waiting = f"{counted(queue['queued'], 'run')} waiting, {queue['running']:,} under way"
    oldest = queue["oldest_queued_seconds"] or 0.0
    if queue["queued"] and oldest > _WAITING_SECONDS:
        remedy = (
            "Run more workers, or raise PGCLARIFY_LLM_CONCURRENCY." if has_workers else "Run: pgclarify up --detach"
        )
        checks.append(warning("queue", f"{waiting}; the oldest has waited for {_duration(oldest)}", remedy))
    else:
        checks.append(ok("queue", waiting))
    stuck = [run for run in running if run["seconds"] > _STUCK_SECONDS]
    if stuck:
        longest = max(run["seconds"] for run in stuck)
        checks.append(
            warning(
                "runs",
                f"{counted(len(stuck), 'run')} under way for up to {_duration(longest)}:"
                f" {_listed({str(run['run_id']) for run in stuck})}",
                "See the worker's log; end one with: select pgclarify.cancel(array[RUN]);",
            )
        )
    return checks


def check_corpora(corpora: Sequence[Row]) -> list[Check]:
    """Check the corpora.

    Args:
        corpora: Rows of `pgclarify.corpus`.
    """
    checks = [_check_model(corpus) for corpus in corpora if corpus["error"]]
    failed = {f"{corpus['failed']:,} in {corpus['corpus']}" for corpus in corpora if corpus["failed"]}
    if failed:
        checks.append(
            warning(
                "documents",
                f"some cannot be indexed: {_listed(failed)}",
                "See why with: select id, error from pgclarify.document where error is not null;",
            )
        )
    if not checks:
        pending = sum(corpus["pending"] or 0 for corpus in corpora)
        state = f"; {counted(pending, 'document')} not searchable yet" if pending else ""
        found = counted(len(corpora), "corpus", "corpora") if corpora else "none yet"
        checks.append(ok("corpora", f"{found}{state}"))
    return checks


def models_at_endpoint(corpora: Sequence[Row]) -> set[str]:
    """Return the embedding models behind an endpoint that corpora use, or change to.

    Args:
        corpora: Rows of `pgclarify.corpus`.
    """
    models = {corpus[column] for corpus in corpora for column in ("embedding_model", "next_embedding_model")}
    return {model for model in models if model is not None and model.startswith(AT_ENDPOINT)}


def check_sources(sources: Sequence[Row]) -> list[Check]:
    """Check attached tables.

    Args:
        sources: Rows of `pgclarify.source_status`.
    """
    checks = [
        (problem if source["state"] == "failed" else warning)(
            "tables",
            f"{source['relation']}, attached to {source['corpus']}: {source['error']}",
            "Mend that and call pgclarify.resync(CORPUS, TABLE), or pgclarify.detach_table.",
        )
        for source in sources
        if source["error"]
    ]
    if not checks and sources:
        checks.append(ok("tables", f"{counted(len(sources), 'attached table')}"))
    return checks


def check_findings(findings: Sequence[Row]) -> list[Check]:
    """Check for faults of graphs and for missing costs; no check if there are none.

    Args:
        findings: Rows of `pgclarify.finding`.
    """
    return [
        warning(
            found["kind"],
            f"{found['name']}: {found['count']:,} {found['finding']}",
            found["remedy"],
        )
        for found in findings
        if found["kind"] in ("graph", "cost")
    ]


def check_budgets(budgets: Sequence[Row]) -> list[Check]:
    """Check for budgets without effect; no check if there are none.

    Args:
        budgets: Rows of cli_list_idle_budgets.
    """
    if not budgets:
        return []
    idle = {f"{budget['name']} of {budget['role_name']}" for budget in budgets}
    return [
        warning(
            "budgets",
            f"some limit nothing, since there is no such role: {_listed(idle)}",
            "Name another role with pgclarify.set_budget, option role, or remove it with pgclarify.remove_budget.",
        )
    ]


def check_identities(orphans: Sequence[Row]) -> list[Check]:
    """Check for objects of roles that no longer exist.

    Args:
        orphans: Rows of cli_list_orphaned_roles.
    """
    adoptable = _things(row for row in orphans if row["is_present"])
    gone = _things(row for row in orphans if not row["is_present"])
    checks = []
    if adoptable:
        checks.append(
            warning(
                "identities",
                f"roles have names of earlier ones, and not what these left: {_listed(adoptable)}",
                "If they are the same people, after a restore on another server, say: pgclarify init --adopt-roles",
            )
        )
    if gone:
        checks.append(ok("identities", f"roles that are gone have left: {_listed(gone)}"))
    return checks


def check_nodes(corpora: Sequence[Row]) -> list[Check]:
    """Check the nodes of a Citus cluster that distributed corpora need; no check if all search well enough.

    Args:
        corpora: Rows of cli_list_unfit_corpora.
    """
    checks = []
    errors = {f"{row['node']} ({row['error']})" for row in corpora if row["error"]}
    if errors:
        names = {row["corpus"] for row in corpora if row["error"]}
        checks.append(
            problem(
                "nodes",
                f"some do not answer, so searches of {_listed(names)} fail: {_listed(errors)}",
                "Start these servers, and let their pg_hba.conf admit pgclarify_owner from the coordinator.",
            )
        )
    unfit = [row for row in corpora if not row["error"]]
    if unfit:
        needed = max(row["ef_search"] for row in unfit)
        found = {f"{row['corpus']} on {row['node']}" for row in unfit}
        checks.append(
            warning(
                "nodes",
                f"pgclarify_owner lacks hnsw.iterative_scan = strict_order or hnsw.ef_search = {needed}, so searches"
                f" miss passages: {_listed(found)}",
                "Have a superuser run on the coordinator: alter role pgclarify_owner set hnsw.iterative_scan ="
                f" 'strict_order'; alter role pgclarify_owner set hnsw.ef_search = {needed}; then restart the workers.",
            )
        )
    return checks


def _things(orphans: Iterable[Row]) -> set[str]:
    """Say what each role has left: `carol (run 3, corpus 1)`."""
    left: dict[str, list[str]] = {}
    for row in orphans:
        left.setdefault(row["name"], []).append(f"{row['kind']} {row['count']:,}")
    return {f"{name} ({', '.join(things)})" for name, things in left.items()}


def _check_model(corpus: Row) -> Check:
    if corpus["next_embedding_model"] is None:
        return problem(
            "corpora",
            f"{corpus['corpus']} cannot be indexed now: {corpus['error']}",
            "Remove the cause, and workers index what waits. If there is no such model, use another corpus.",
        )
    return problem(
        "corpora",
        f"{corpus['corpus']} keeps its embedding model, and does not get on to {corpus['next_embedding_model']}:"
        f" {corpus['error']}",
        "Mend that and set the option embedding_model of pgclarify.alter_corpus again, or to null.",
    )


def _fits(worker: Row, provider: str, model: str | None) -> bool:
    return bool(worker["provider"] == provider and model in (None, worker["model"]))


def _model(worker: Row) -> str:
    return f"{worker['provider']} {worker['model']}"


def _listed(names: set[str]) -> str:
    shown = sorted(names)[:_NAMES_SHOWN]
    return ", ".join(shown) + (f" and {len(names) - len(shown)} more" if len(names) > len(shown) else "")


def _duration(seconds: float) -> str:
    return f"{seconds / 60:.0f} minutes" if seconds >= 120 else f"{seconds:.0f} seconds"
