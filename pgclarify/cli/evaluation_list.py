"""The command eval list."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from pgclarify.cli import connection, terminal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pgclarify.evaluated import Evaluation, Summary

LIST_EXAMPLES = terminal.examples("pgclarify eval list", "pgclarify eval list --json | jq .name")


def list_evaluations(
    limit: Annotated[int, typer.Option(metavar="N", min=1, max=100_000, help="How many of the newest.")] = 20,
    as_json: Annotated[
        bool, typer.Option("--json", metavar="", help="JSON lines: one object for each evaluation.")
    ] = False,
) -> None:
    """Show the evaluations, newest first."""
    from pgclarify.cli import evaluation_rendering

    settings = connection.load_settings()
    found, summaries, strata = asyncio.run(_read(connection.running_dsn(settings), limit))
    if as_json:
        for one in found:
            terminal.print_json(
                {
                    "eval_run_id": one.eval_run_id,
                    **evaluation_rendering.plan_as_json(one.plan),
                    "requested_by": one.requested_by,
                    "created_at": one.created_at,
                    "finished_at": one.finished_at,
                    "done_cases": one.done_cases,
                    "metrics": evaluation_rendering.metrics_as_json(summaries[one.eval_run_id]),
                    "strata": evaluation_rendering.strata_as_json(strata[one.eval_run_id]),
                }
            )
    elif found:
        terminal.results().print(evaluation_rendering.evaluations(found, summaries))
    else:
        terminal.notices().print("There is no evaluation yet. Begin one: pgclarify eval run DATA_SET --corpus NAME")


async def _read(
    dsn: str, limit: int
) -> tuple[list[Evaluation], Mapping[int, Mapping[str, Summary]], Mapping[int, Mapping[str, Mapping[str, Summary]]]]:
    from pgclarify.database.evaluations import EvaluationTables
    from pgclarify.database.pool import open_pool

    async with open_pool(dsn, application_name="pgclarify eval") as pool:
        tables = EvaluationTables(pool)
        found = await tables.evaluations(limit)
        ids = [one.eval_run_id for one in found]
        return found, await tables.summaries(ids), await tables.strata(ids)
