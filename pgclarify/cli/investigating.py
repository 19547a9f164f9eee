"""The command investigate."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from pgclarify.cli import asking, connection, terminal
from pgclarify.cli.options import AsOneObject, Timeout, read_options
from pgclarify.cli.waiting import read_seconds
from pgclarify.errors import NoWorker, RunTimeout
from pgclarify.vocabulary import StepKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pgclarify.client.records import Step
    from pgclarify.client.scripts import Pause, Rows, Statement

INVESTIGATE_EXAMPLES = terminal.examples(
    "pgclarify investigate 'Who pays for the car that replaces one damaged by hail?' --corpus insurance",
    "pgclarify investigate 'Who insures it?' --option max_steps=2 --option penalty=false",
    "pgclarify investigate 'Who insures it?' --json | jq -r .answer",
)
_SECONDS_BETWEEN_LOOKS_FOR_A_WORKER = 5.0
# Long enough for a worker to restart.
_PATIENCE_SECONDS = 30.0


def investigate(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="A question that may take several steps.")],
    corpus: Annotated[
        str | None,
        typer.Option("--corpus", "-c", metavar="NAME", help="Corpus to ask; may be left out if there is only one."),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option", "-o", metavar="NAME=VALUE", help="An option of pgclarify.investigate; may be repeated."
        ),
    ] = None,
    timeout: Timeout = "5min",
    as_json: AsOneObject = False,
) -> None:
    """Split a question into steps, answer each step, and prove the answer. It needs a language model."""
    from pgclarify.cli import rendering

    options = read_options(option or [])
    settings = connection.load_settings()
    with connection.connect(connection.running_dsn(settings)) as database:
        seconds = read_seconds(database, timeout)
        run_id = asking.started(database, "investigate", question=question, corpus=corpus, options=options)
        try:
            with terminal.notices().status("Taking the question apart") as status:
                shown = 1
                for step in _steps(database, run_id, timeout, seconds):
                    if not as_json and step.kind is not StepKind.CONCLUSION:
                        # Output on the other stream would break the moving line.
                        status.stop()
                        terminal.results().print(rendering.step(asdict(step), first_citation=shown))
                        status.start()
                        shown += len(step.citations)
        except KeyboardInterrupt:
            asking.cancel(database, run_id)
            raise
        # If the run failed, this raises its error.
        (row,) = connection.fetch(database, "client_result_of_investigate", run_id=run_id)
        known = asking.get_run(database, run_id)
    if as_json:
        terminal.print_json(row)
        return
    console = terminal.results()
    console.print(
        rendering.conclusion(
            question,
            row,
            first_citation=shown,
            stop_reason=known["stop_reason"],
            is_over_budget=known["is_over_budget"],
        )
    )
    console.print(rendering.explain_hint(run_id))


def _steps(database: connection.Database, run_id: int, timeout: str, seconds: float) -> Iterator[Step]:
    """Yield the steps of a run as they arrive, until it is over.

    Raises:
        NoWorker: If no worker is running.
        RunTimeout: If the time is up; the run continues.
    """
    from pgclarify.client import Client
    from pgclarify.client.scripts import Pause

    class WatchingClient(Client):
        """A client that checks, in each pause, whether there is a worker."""

        def _take(self, step: Statement | Pause) -> Rows:
            if isinstance(step, Pause):
                look_for_worker()
            return super()._take(step)

    began = time.monotonic()
    worker_seen = worker_sought = -_PATIENCE_SECONDS

    def look_for_worker() -> None:
        nonlocal worker_seen, worker_sought
        elapsed = time.monotonic() - began
        if elapsed - worker_sought < _SECONDS_BETWEEN_LOOKS_FOR_A_WORKER:
            return
        worker_sought = elapsed
        if connection.fetch(database, "client_list_workers"):
            worker_seen = elapsed
        elif elapsed - worker_seen >= _PATIENCE_SECONDS:
            asking.cancel(database, run_id)
            raise NoWorker("no worker is running", hint="Start one with: pgclarify up --detach, or pgclarify worker.")

    try:
        yield from WatchingClient(database).steps(run_id, timeout=seconds)
    except RunTimeout as error:
        raise RunTimeout(
            f"the answer did not come within {timeout}",
            detail=f"Run {run_id} continues.",
            hint="Ask again with a longer --timeout: replies that were paid for are kept.",
            run_ids=[run_id],
        ) from error
