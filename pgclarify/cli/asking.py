"""The command ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pgclarify.cli import connection, terminal

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pgclarify.cli.rendering import Row

ASK_EXAMPLES = terminal.examples(
    "pgclarify ask 'rental cars' --corpus insurance", "pgclarify ask 'deductible' --json | jq -r .answer"
)


def ask(
    question: Annotated[str, typer.Argument(help="What you want to know, as vague as it comes.")],
    corpus: Annotated[
        str | None, typer.Option("--corpus", "-c", help="Corpus to ask; may be left out if there is only one.")
    ] = None,
    top_k: Annotated[int, typer.Option("--top-k", "-k", min=1, max=1000, help="How many passages are looked at.")] = 20,
    timeout: Annotated[str, typer.Option(help="How long to wait: 90s, 5min, or any interval.")] = "60s",
    as_json: Annotated[bool, typer.Option("--json", help="JSON lines: one object for each reading.")] = False,
) -> None:
    """Ask a vague question; get every reading that documents answer."""
    settings = connection.load_settings()
    with connection.connect(connection.running_dsn(settings)) as database:
        with terminal.notices().status("Reading passages"):
            rows = clarify(database, question, corpus, top_k=top_k, timeout=timeout)
        if as_json:
            for row in rows:
                terminal.print_json(row)
        if not as_json or not rows:
            console = terminal.notices() if as_json else terminal.results()
            console.print(answer(database, question, corpus, rows))


def clarify(
    database: connection.Database, question: str, corpus: str | None, *, top_k: int = 20, timeout: str = "60s"
) -> list[Row]:
    """Ask, and wait for the rows of `pgclarify.clarify`: one for each reading."""
    return [*connection.fetch(database, "cli_clarify", question=question, corpus=corpus, top_k=top_k, timeout=timeout)]


def answer(database: connection.Database, question: str, corpus: str | None, rows: list[Row]) -> RenderableType:
    """What a person sees for the rows of a run."""
    from pgclarify.cli import rendering

    if rows:
        return rendering.readings(question, rows)
    corpora = connection.fetch(database, "cli_list_corpora")
    asked = corpora if corpus is None else [row for row in corpora if row["corpus"] == corpus]
    return rendering.nothing_found(question, corpus, pending=sum(row["pending"] for row in asked))
