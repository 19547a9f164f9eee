"""The command ask-back."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from pgclarify.cli import asking, connection, terminal
from pgclarify.cli.options import read_options
from pgclarify.cli.waiting import waiting
from pgclarify.dialogue import Form, PromptScheme

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pgclarify.cli.rendering import Row

ASK_BACK_EXAMPLES = terminal.examples(
    "pgclarify ask-back 'rental cars' --corpus insurance",
    "pgclarify ask-back 'rental cars' --corpus insurance --form select",
    "pgclarify ask-back 'rental cars' --form select --json | jq -r .reformulation",
)


def ask_back(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What you want to know, as vague as it comes.")],
    corpus: Annotated[
        str | None,
        typer.Option("--corpus", "-c", metavar="NAME", help="Corpus to ask; may be left out if there is only one."),
    ] = None,
    form: Annotated[Form, typer.Option(help="Questions to reply to, or reformulations to choose from.")] = Form.RESPOND,
    scheme: Annotated[PromptScheme, typer.Option(help="How the model is asked for them.")] = PromptScheme.AT_COT,
    history: Annotated[
        list[str] | None,
        typer.Option(
            "--history", metavar="TEXT", help="What was said before, by either side; repeated, the oldest comes first."
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option", "-o", metavar="NAME=VALUE", help="An option of pgclarify.clarifying_questions; may be repeated."
        ),
    ] = None,
    timeout: Annotated[
        str, typer.Option(metavar="INTERVAL", help="How long to wait: 90s, 5min, or any interval.")
    ] = "5min",
    as_json: Annotated[
        bool, typer.Option("--json", metavar="", help="JSON lines: one object for each question; asks nothing.")
    ] = False,
) -> None:
    """Ask back about a vague question, as far as the corpus can answer it. It needs a language model.

    On a terminal, choose or reply up to three times, and then ask what came of it.
    """
    from pgclarify.cli import rendering

    options = {"form": form.value, "scheme": scheme.value, "timeout": timeout} | read_options(option or [])
    settings = connection.load_settings()
    with connection.connect(connection.running_dsn(settings)) as database:
        rows = _propose(database, question, corpus, history or [], options)
        if as_json:
            for row in rows:
                terminal.print_json(row)
            return
        _show(database, question, rows)
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            if rows:
                terminal.results().print(rendering.explain_hint(rows[0]["run_id"]))
            return
        meant = _converse(database, question, rows, history or [], options)
        if meant is not None:
            _ask(database, meant, corpus)


def _propose(
    database: connection.Database,
    question: str | None,
    corpus: str | None,
    history: list[str],
    options: Mapping[str, object],
) -> list[Row]:
    with waiting("Thinking of what to ask back"):
        return [
            *connection.fetch(
                database,
                "client_clarifying_questions",
                question=question,
                corpus=corpus,
                history=history,
                options=json.dumps(options),
            )
        ]


def _show(database: connection.Database, question: str, rows: list[Row]) -> None:
    from pgclarify.cli import dialogue_rendering

    console = terminal.results()
    if not rows:
        console.print(dialogue_rendering.nothing_to_ask_back(question))
        return
    console.print(dialogue_rendering.proposals(question, rows))
    (run,) = connection.fetch(database, "cli_get_run", run_id=rows[0]["run_id"])
    console.print(dialogue_rendering.cut_short(run, "Some of these were not checked against the corpus."))


def _converse(
    database: connection.Database,
    question: str,
    rows: list[Row],
    history: list[str],
    options: Mapping[str, object],
) -> str | None:
    """Let a person choose or reply, up to three times: the question since then; None if they go away."""
    from pgclarify.cli import dialogue_rendering

    while rows:
        answer = _prompt(
            "\nA number, or your own words (Enter leaves it at that): "
            if options["form"] == Form.SELECT
            else "\nYour reply (Enter leaves it at that): "
        )
        if answer is None:
            return None
        if not answer:
            break
        turn = _take_turn(database, rows, answer, is_choice=options["form"] == Form.SELECT and answer.isdecimal())
        if turn is None:
            terminal.notices().print(f"There are {len(rows)} to choose from.")
            continue
        question = turn["question"]
        terminal.results().print(dialogue_rendering.question_since(turn))
        if not turn["turns_left"] or not _agrees("Ask back once more? [y/N] ", default=False):
            break
        going_on = {**options, "conversation": turn["conversation_id"]}
        # Of the conversation itself, the server knows.
        rows = _propose(database, None, None, history, going_on)
        _show(database, question, rows)
    return question if _agrees("Ask this? [Y/n] ", default=True) else None


def _take_turn(database: connection.Database, rows: list[Row], answer: str, *, is_choice: bool) -> Row | None:
    """The row of choose or reply; None if there is no such number to choose."""
    run_id = rows[0]["run_id"]
    if not is_choice:
        with waiting("Putting the question anew"):
            (turn,) = connection.fetch(database, "client_reply", run_id=run_id, reply=answer, options="{}")
        return turn
    ordinal = int(answer)
    if all(row["ordinal"] != ordinal for row in rows):
        return None
    (turn,) = connection.fetch(database, "client_choose", run_id=run_id, ordinal=ordinal)
    return turn


def _ask(database: connection.Database, question: str, corpus: str | None) -> None:
    from pgclarify.cli import rendering

    with terminal.notices().status("Reading passages"):
        rows = asking.clarify(database, question, corpus)
    console = terminal.results()
    console.print()
    console.print(asking.answer(database, question, corpus, rows))
    if rows:
        console.print(rendering.explain_hint(rows[0]["run_id"]))


def _prompt(text: str) -> str | None:
    """A line that a person types; None at the end of input."""
    try:
        return terminal.notices().input(text, markup=False, emoji=False).strip()
    except EOFError:
        return None


def _agrees(text: str, *, default: bool) -> bool:
    answer = _prompt(text)
    if answer is None:
        return False
    return answer.casefold().startswith("y") if answer else default
