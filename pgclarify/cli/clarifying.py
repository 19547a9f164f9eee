"""The command clarifying-questions: a conversation on a terminal."""

from __future__ import annotations

import re
import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from pgclarify.cli import asking, connection, terminal
from pgclarify.cli.operations import Timeout
from pgclarify.cli.options import read_options
from pgclarify.cli.waiting import read_seconds, waiting
from pgclarify.data.dialogue import Form

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import RenderableType

    from pgclarify.cli.rendering import Row

CLARIFYING_QUESTIONS_EXAMPLES = terminal.examples(
    "pgclarify clarifying-questions 'rental cars' --corpus insurance",
    "pgclarify clarifying-questions 'rental cars' --corpus insurance -o form=select",
    "pgclarify clarifying-questions 'rental cars' -o form=select --json | jq -r .reformulation",
)


# A number, as people may type it: -1, 2., #3, (1), 1,2.
_LIKE_A_NUMBER = re.compile(r"[-+#(\s]*\d[\d\s.,:;)#+-]*")
_LONGEST_ORDINAL = 9


@dataclass
class _Talk:
    """The state of a conversation.

    Attributes:
        question: The question as it is now.
        corpus: The corpus, if one was named.
        form: The form of the clarifying questions.
        rows: The last questions that have no reply yet.
        turn: The last row of reply.
        is_asked: Whether the final question was asked.
    """

    question: str
    corpus: str | None
    form: Form
    rows: list[Row]
    turn: Row | None = None
    is_asked: bool = False


def clarifying_questions(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What you want to know; it may be vague.")],
    corpus: Annotated[
        str | None,
        typer.Option("--corpus", "-c", metavar="NAME", help="Corpus to ask; may be left out if there is only one."),
    ] = None,
    history: Annotated[
        list[str] | None,
        typer.Option(
            "--history", metavar="TEXT", help="An earlier turn, of either side; may be repeated, oldest first."
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", "-o", metavar="NAME=VALUE", help="An option of the SQL function; may be repeated."),
    ] = None,
    timeout: Timeout = "5min",
    as_json: Annotated[
        bool, typer.Option("--json", metavar="", help="JSON lines: one object for each question; not interactive.")
    ] = False,
) -> None:
    """Ask clarifying questions about a vague question that the corpus can answer. Needs a language model.

    On a terminal, choose (with -o form=select) or reply up to three times, and then ask the resulting question.
    """
    from pgclarify.cli import rendering

    seconds = read_seconds(timeout)
    options = read_options(option or [])
    with connection.connect(connection.running_dsn(connection.load_settings())) as database:
        rows, run_id = _propose(database, question, corpus, history or [], options, seconds)
        if as_json:
            for row in rows:
                terminal.print_json(row)
            return
        _show(database, question, corpus, rows, run_id)
        talk = _Talk(question, corpus, Form(str(options.get("form", Form.RESPOND))), rows)
        try:
            # If no document can answer, nothing is left to ask.
            if rows and sys.stdin.isatty() and sys.stdout.isatty():
                _converse(database, talk, history or [], options, seconds)
        finally:
            # In any case, so that typed replies and paid calls are not lost.
            console = terminal.results()
            console.print(_way_on(talk), soft_wrap=True)
            if rows and talk.turn is None:
                console.print(rendering.explain_hint(run_id))


def _propose(
    database: connection.Database,
    question: str | None,
    corpus: str | None,
    history: list[str],
    options: Mapping[str, object],
    seconds: float,
) -> tuple[list[Row], int]:
    rows, run_id = asking.perform(
        database,
        "clarifying_questions",
        "Thinking of what to ask back",
        question=question,
        corpus=corpus,
        history=history,
        timeout=seconds,
        **options,
    )
    return rows, run_id or 0


def _show(database: connection.Database, question: str, corpus: str | None, rows: list[Row], run_id: int) -> None:
    from pgclarify.cli import dialogue_rendering

    console = terminal.results()
    run = asking.get_run(database, run_id)
    if not rows:
        is_answered_by_nothing = run["stop_code"] in (None, "not_answered") and not asking.is_empty(database, corpus)
        console.print(
            dialogue_rendering.nothing_to_ask_back(question)
            if is_answered_by_nothing
            else asking.nothing(database, question, corpus, run_id)
        )
        return
    console.print(dialogue_rendering.proposals(question, rows))
    console.print(dialogue_rendering.cut_short(run, "Some of these were not checked against the corpus."))


def _way_on(talk: _Talk) -> RenderableType:
    from pgclarify.cli import dialogue_rendering

    return dialogue_rendering.way_on(
        talk.question, talk.corpus, talk.rows, talk.turn, form=talk.form, is_asked=talk.is_asked
    )


def _converse(
    database: connection.Database, talk: _Talk, history: list[str], options: Mapping[str, object], seconds: float
) -> None:
    """Let a person choose or reply, up to three times, and then ask the resulting question, if they want that."""
    from pgclarify.cli import dialogue_rendering

    while talk.rows:
        answer = _prompt(
            "\nA number, or your own words (Enter leaves it at that): "
            if talk.form is Form.SELECT
            else "\nYour reply, in your own words (Enter leaves it at that): "
        )
        if answer is None:
            return
        if not answer:
            break
        turn = _take_turn(database, talk, answer)
        if turn is None:
            continue
        talk.question, talk.turn, talk.rows = turn["question"], turn, []
        terminal.results().print(dialogue_rendering.question_since(turn))
        if not turn["turns_left"] or not _agrees("Ask back once more? [y/N] ", default=False):
            break
        going_on = {**options, "conversation": turn["conversation_id"]}
        # The server knows the turns of the conversation itself.
        talk.rows, run_id = _propose(database, None, None, history, going_on, seconds)
        _show(database, talk.question, talk.corpus, talk.rows, run_id)
    if _agrees("Ask this? [Y/n] ", default=True):
        _ask(database, talk)


def _take_turn(database: connection.Database, talk: _Talk, answer: str) -> Row | None:
    """Return the row of reply; None, with a message, if the input is neither a choice nor a reply."""
    client = connection.client_of(database)
    run_id = talk.rows[0]["run_id"]
    if not _LIKE_A_NUMBER.fullmatch(answer):
        with waiting("Putting the question anew"):
            return asdict(client.reply(run_id, answer))
    if talk.form is Form.RESPOND:
        terminal.notices().print("Reply in words: a number alone does not say which of these it is for.")
        return None
    ordinal = int(answer) if answer.isdecimal() and len(answer) <= _LONGEST_ORDINAL else 0
    if all(row["ordinal"] != ordinal for row in talk.rows):
        terminal.notices().print(
            f"There are {len(talk.rows)} to choose from. Type the number of one, or your own words."
        )
        return None
    return asdict(client.reply(run_id, ordinal=ordinal))


def _ask(database: connection.Database, talk: _Talk) -> None:
    from pgclarify.cli import rendering

    rows, run_id = asking.perform(
        database, "clarify", "Reading passages", question=talk.question, corpus=talk.corpus, timeout=60.0
    )
    talk.is_asked = True
    console = terminal.results()
    console.print()
    if rows:
        console.print(rendering.readings(talk.question, rows))
        console.print(rendering.explain_hint(rows[0]["run_id"]))
    elif run_id is not None:
        console.print(asking.nothing(database, talk.question, talk.corpus, run_id))


def _prompt(text: str) -> str | None:
    """Read a line that a person types; None at the end of input."""
    try:
        return terminal.notices().input(text, markup=False, emoji=False).strip()
    except EOFError:
        return None


def _agrees(text: str, *, default: bool) -> bool:
    """Read yes or no, and ask until it is one of them; no at the end of input."""
    while True:
        answer = _prompt(text)
        if answer is None:
            return False
        if not answer:
            return default
        said = answer.casefold()
        if said in ("y", "yes", "n", "no"):
            return said.startswith("y")
        terminal.notices().print("Type y or n.")
