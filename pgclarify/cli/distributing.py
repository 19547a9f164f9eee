"""The command distribute."""

from __future__ import annotations

from typing import Annotated

import typer

from pgclarify.cli import connection, terminal
from pgclarify.cli.confirming import confirm
from pgclarify.cli.options import AsOneObject

DISTRIBUTE_EXAMPLES = terminal.examples(
    "pgclarify distribute insurance",
    "pgclarify distribute insurance --shards 32 --yes",
    "pgclarify distribute insurance --undo",
)


def distribute(
    corpus: Annotated[str, typer.Argument(metavar="CORPUS", help="Name of a corpus that you own.")],
    shards: Annotated[int, typer.Option(metavar="N", min=1, max=1000, help="Number of parts of each table.")] = 8,
    undo: Annotated[bool, typer.Option("--undo", metavar="", help="Bring the corpus back to this server.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", metavar="", help="Do not ask for confirmation.")] = False,
    as_json: AsOneObject = False,
) -> None:
    """Experimental: spread the passages and vectors of a corpus over the nodes of a Citus cluster.

    The command first says how much it would move. Questions and changes of the corpus wait while it is moved. If the
    command is interrupted or killed, nothing has changed. The server notices within ten seconds that it was killed.
    """
    from pgclarify.foreign_text import sanitize

    settings = connection.load_settings()
    with connection.connect(connection.running_dsn(settings)) as database:
        values = {"corpus": corpus, "shards": shards, "undo": undo}
        (plan,) = connection.fetch(database, "cli_distribute", **values, dry_run=True)
        moved = f"{plan['passages']:,} passages of {sanitize(corpus)}, {plan['bytes'] / 2**20:,.0f} MiB with indexes,"
        if not plan["is_moved"]:
            text = f"{moved} are {'on this server' if undo else 'distributed'} already"
        else:
            there = f"over {plan['nodes']} nodes in {plan['shards']} shards"
            needed = f"and nodes need hnsw.ef_search = {plan['ef_search']} or more"
            what = f"bring {moved} back to this server" if undo else f"spread {moved} {there}, {needed}"
            confirm(f"this would {what}", is_confirmed=yes)
            with database.transaction():
                connection.fetch(database, "cli_notice_lost_client")
                (plan,) = connection.fetch(database, "cli_distribute", **values, dry_run=False)
            text = f"{moved} are {'back on this server' if undo else f'spread {there}'}"
    if as_json:
        terminal.print_json(plan)
    else:
        terminal.results().print(text)
