"""The command feedback."""

from __future__ import annotations

from typing import Annotated, Any, cast

import typer

from pgclarify.cli import connection, terminal

FEEDBACK_EXAMPLES = terminal.examples(
    "pgclarify feedback 42 1 right",
    "pgclarify feedback 42 2 wrong --comment 'That was the fee of last year.'",
    "pgclarify feedback 42 --missing '13 dollars'",
    "pgclarify feedback 42 2 --remove",
)


def feedback(
    run_id: Annotated[int, typer.Argument(metavar="RUN_ID", help="A run that is over, as ask names it.")],
    ordinal: Annotated[int | None, typer.Argument(metavar="ORDINAL", help="The reading.")] = None,
    rating: Annotated[str | None, typer.Argument(metavar="RATING", help="right, wrong or useless.")] = None,
    missing: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The right answer, which no reading has; without an ordinal.")
    ] = None,
    comment: Annotated[str | None, typer.Option(metavar="TEXT", help="Why.")] = None,
    person: Annotated[
        str | None, typer.Option(metavar="NAME", help="Who says so, if several people share the role.")
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", metavar="", help="Remove what was said.")] = False,
) -> None:
    """Say that an answer is right, wrong, useless or missing; eval from-feedback makes test cases of it."""
    if remove != (rating is None and missing is None):
        raise typer.BadParameter("pass a rating of a reading, or --missing, or --remove")
    with connection.connected() as database:
        is_changed = connection.client_of(database).give_feedback(
            run_id, ordinal, cast("Any", rating), comment=comment, person=person, missing=missing
        )
    told = ("Removed." if remove else "Noted.") if is_changed else "Nothing changed."
    terminal.notices().print(told)
