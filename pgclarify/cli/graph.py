"""The commands graph build and graph check."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from pgclarify.cli import connection, corpus, terminal
from pgclarify.cli.options import AsOneObject
from pgclarify.errors import NoWorker

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pgclarify.cli.rendering import Row

LEAST_RECALL = 0.9
_POLL_SECONDS = 0.2
# Seconds to wait for a worker that is restarting.
_WORKERLESS_SECONDS = 10.0

BUILD_EXAMPLES = terminal.examples("pgclarify graph build insurance", "pgclarify graph build insurance --no-wait")
CHECK_EXAMPLES = terminal.examples(
    "pgclarify graph check insurance",
    "pgclarify graph check insurance --sample 1000 --json | jq .recall",
)

app = typer.Typer(no_args_is_help=True, help="Build or check the graph of passages that are near each other.")

_Corpus = Annotated[str, typer.Argument(metavar="CORPUS", help="Name of a corpus that you own.")]


@app.command(epilog=BUILD_EXAMPLES)
def build(
    corpus_name: _Corpus,
    no_wait: Annotated[bool, typer.Option("--no-wait", metavar="", help="Do not wait until it is built.")] = False,
) -> None:
    """Let workers find the neighbors of every passage again, and wait for the end.

    Workers always keep the graph up to date; this command builds it anew. The old neighbors are used until then.
    """
    settings = connection.load_settings()
    with connection.connect(connection.running_dsn(settings)) as database:
        (queued,) = connection.fetch(database, "cli_build_graph", corpus=corpus_name)
        if no_wait:
            terminal.results().print(f"{queued['passages']:,} passages of {corpus_name} wait for a worker")
            return
        wait_until_linked(database, corpus_name)
        (state,) = connection.fetch(database, "client_corpus_status", corpus=corpus_name)
    terminal.results().print(f"{state['linked']:,} of {state['passages']:,} passages of {corpus_name} linked")


@app.command(epilog=CHECK_EXAMPLES)
def check(
    corpus_name: _Corpus,
    sample: Annotated[
        int, typer.Option(metavar="N", min=0, max=10_000, help="How many lists to compare with an exact search.")
    ] = 200,
    as_json: AsOneObject = False,
) -> None:
    """Look for faults in the graph, and compare some of its lists with an exact search.

    The exit code is 1 if there is a fault.
    """
    settings = connection.load_settings()
    with connection.connect(connection.running_dsn(settings)) as database:
        (found,) = connection.fetch(database, "cli_check_graph", corpus=corpus_name, sample=sample)
    problems = faults(found)
    if as_json:
        terminal.print_json({"corpus": corpus_name, **found, "faults": problems})
    else:
        terminal.results().print(checked(found))
        for problem in problems:
            terminal.notices().print(problem)
        if faults({**found, "orphans": 0}):
            terminal.notices().print(f"Build it again with: pgclarify graph build {corpus_name}")
    if problems:
        raise typer.Exit(1)


def faults(found: Row) -> list[str]:
    """Return what is wrong with a graph, one sentence each. Pending work and lower recall are not faults.

    Args:
        found: The row of check_graph.
    """
    problems = [
        f"{found[name]:,} {what}."
        for name, what in (
            ("self_edges", "passages are neighbors of themselves"),
            ("dangling", "edges lead from or to passages that are gone"),
            ("orphans", "vectors are of passages that are gone, which only another embedding model mends"),
            ("unordered", "lists are too long, name a passage twice or are not nearest first"),
        )
        if found[name]
    ]
    if found["recall"] is not None and found["recall"] < LEAST_RECALL:
        problems.append(f"Its recall is {found['recall']:.3f}, and should be {LEAST_RECALL} at least.")
    if found["unlinked"] and not found["pending"]:
        problems.append(f"{found['unlinked']:,} passages have no list, and no worker is told.")
    return problems


def checked(found: Row) -> RenderableType:
    """Render the row of check_graph: one line for each column."""
    from rich.table import Table

    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column()
    table.add_column(justify="right")
    table.add_column()
    for name, meaning in (
        ("passages", "with a vector"),
        ("linked", "with a list of neighbors"),
        ("unlinked", "without one"),
        ("pending", "waiting for a worker, to be linked or unlinked"),
        ("self_edges", "from a passage to itself"),
        ("dangling", "from or to passages that are gone"),
        ("orphans", "vectors of passages that are gone"),
        ("gaps", "lists that are shorter than they could be"),
        ("unordered", "lists that are not as they should be"),
        ("sampled", "lists compared with an exact search"),
        ("recall", "share of their true neighbors that they hold"),
    ):
        value = found[name]
        shown = "-" if value is None else f"{value:.4f}" if name == "recall" else f"{value:,}"
        table.add_row(name.replace("_", "-"), shown, meaning)
    return table


def wait_until_linked(database: connection.Database, corpus_name: str) -> None:
    """Wait until no passage of a corpus waits to be linked or unlinked.

    Raises:
        NoWorker: If no worker is there to do it.
    """
    total = 0
    last_worker = time.monotonic()
    with corpus.progress_bar() as progress:
        task = progress.add_task("Linking", total=None)
        while True:
            (state,) = connection.fetch(database, "cli_count_pending_links", corpus=corpus_name)
            pending = int(state["pending"])
            total = max(total, pending)
            progress.update(task, total=total, completed=total - pending)
            if pending == 0:
                return
            if connection.fetch(database, "client_list_workers"):
                last_worker = time.monotonic()
            elif time.monotonic() - last_worker > _WORKERLESS_SECONDS:
                raise NoWorker(
                    "no worker is running, so nothing is linked",
                    detail=f"{pending} passages of {corpus_name} wait for a worker.",
                    hint="Start one with: pgclarify up --detach",
                )
            time.sleep(_POLL_SECONDS)
