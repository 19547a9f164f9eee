"""Renders the commands of dialogues: pure functions from rows to rich renderables.

Questions, replies and models' texts are untrusted data: they reach the terminal only through `printable`.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from pgclarify.cli.rendering import Indented, Row, citation, counted, printable, with_proof
from pgclarify.data.vocabulary import StopCode

_KINDS = {
    "pragmatic": "what it refers to is missing",
    "syntactic": "it is vague",
    "lexical": "a name or word in it has several meanings",
}
_ALL_OF = "select * from"
_MARGIN = Text("   ")
_MOST_DOCUMENTS_SHOWN = 5
# The kinds of the classifier; the longest one sets the width of the column.
_KIND_CHARS = max(len(kind) for kind in _KINDS)


def ambiguity(row: Row) -> RenderableType:
    """Render whether a question is ambiguous, and the reasons.

    Args:
        row: A row of `pgclarify.detect_ambiguity`.
    """
    return Group(_verdict(row), *_reasons(row["reasons"]))


def _verdict(row: Row) -> Text:
    if row["probability"] is None:
        return Text("Not judged", style="bold")
    probability = (f"  (probability {row['probability']:.2f})", "dim")
    if not row["is_ambiguous"]:
        return Text.assemble(("Clear", "bold green"), probability)
    return Text.assemble(("Ambiguous", "bold yellow"), f", {row['kind']}: {_KINDS[row['kind']]}", probability)


def _reasons(reasons: Iterable[Row]) -> Iterable[RenderableType]:
    for reason in reasons:
        # Measured reasons need no source; reasons of rules and corpora name it.
        source = "" if reason["source"] in ("classifier", "feature") else f"{printable(reason['source'])}: "
        yield Indented(Text("  - "), Text(f"{source}{printable(reason['text'])}", style="dim"))


def ambiguities_head() -> Text:
    """Render the header of `ambiguities`."""
    return Text(f"{'probability'}  {'kind':<{_KIND_CHARS}}  question", style="bold")


def ambiguities(rows: Iterable[Row]) -> Text:
    """Render one line for each question, which the terminal must not wrap.

    Args:
        rows: Rows of cli_list_detections.
    """
    return Text("\n").join(_line(row) for row in rows)


def _line(row: Row) -> Text:
    question = printable(row["question"])
    if row["is_ambiguous"] is None:
        return Text(f"{'':>11}  {row['status']:<{_KIND_CHARS}}  {question}", style="red")
    probability = "" if row["probability"] is None else f"{row['probability']:.2f}"
    return Text(
        f"{probability:>11}  {row['kind'] or '':<{_KIND_CHARS}}  {question}",
        style="yellow" if row["is_ambiguous"] else "",
    )


def ambiguities_end(ambiguous: int, questions: int) -> Text:
    """Say how many of them are ambiguous."""
    share = f" ({ambiguous / questions:.0%})" if questions else ""
    verb = "is" if 1 in (ambiguous, questions) else "are"
    return Text(f"{ambiguous:,} of {counted(questions, 'question')} {verb} ambiguous{share}", style="dim")


def rewriting(row: Row) -> Text:
    """Render the remarks on a rewritten question, without the question.

    Args:
        row: A row of `pgclarify.rewrite`.
    """
    default = "the question is clear, and stays as it is"
    return Text(printable(row["reason"] or default), style="dim")


def proposals(question: str | None, rows: Sequence[Row]) -> RenderableType:
    """Render the clarifying questions, or numbered reformulations to choose, each with its documents.

    Args:
        question: The question; None if a conversation has it.
        rows: Rows of `pgclarify.clarifying_questions`, at least one.
    """
    about = "" if question is None else f' by "{printable(question)}"'
    parts: list[RenderableType] = [Text(f"What do you mean{about}?", style="bold")]
    for row in rows:
        parts.extend((Text(), *_proposal(row)))
    return Group(*parts)


def _proposal(row: Row) -> Iterable[RenderableType]:
    asked = row["clarifying_question"] or row["reformulation"]
    # A number before a question would invite a number as the reply.
    mark = "- " if row["clarifying_question"] else f"{row['ordinal']}. "
    margin = Text(" " * len(mark))
    yield Indented(Text(mark, style="bold"), Text(printable(asked), style="bold"))
    if row["clarifying_question"] and row["reformulation"]:
        yield Indented(margin, Text(f"such as: {printable(row['reformulation'])}"))
    if row["document_ids"]:
        shown = ", ".join(printable(document_id) for document_id in row["document_ids"][:_MOST_DOCUMENTS_SHOWN])
        more = len(row["document_ids"]) - _MOST_DOCUMENTS_SHOWN
        yield Indented(margin, Text(f"answered by {shown}{f' and {more} more' if more > 0 else ''}", style="dim"))
    elif row["is_answerable"] is False:
        yield Indented(margin, Text("no document answers it", style="yellow"))


def nothing_to_ask_back(question: str | None) -> Text:
    """Say that there are no proposals."""
    about = "it" if question is None else f'"{printable(question)}"'
    return Text(f"There is nothing to ask back about {about}: no document answers any narrower question.")


def question_since(row: Row) -> Text:
    """Render the state of a conversation after a turn.

    Args:
        row: A row of `pgclarify.reply`.
    """
    return Text.assemble(("\nSo the question is: ", "dim"), (printable(row["question"]), "bold"))


def way_on(
    question: str,
    corpus: str | None,
    rows: Sequence[Row],
    turn: Row | None,
    *,
    form: str,
    is_asked: bool,
) -> RenderableType:
    """Render where a conversation stopped, and how to continue it.

    Args:
        question: The question as it is now.
        corpus: The corpus, if one was named.
        rows: The last questions without a reply; empty if all have one.
        turn: The last row of `pgclarify.reply`, if there is one.
        form: `respond` or `select`.
        is_asked: Whether the question has been asked already.
    """
    lines: list[tuple[str, str]] = []
    if not is_asked:
        named = f" --corpus {shlex.quote(printable(corpus))}" if corpus else ""
        lines.append(("Ask it:", f"pgclarify ask {shlex.quote(printable(question))}{named}"))
    if rows:
        run_id = rows[0]["run_id"]
        if form == "select":
            lines.append(("Choose:", _psql(f"reply({run_id}, ordinal => ORDINAL)")))
        lines.append(("Reply:", _psql(f"reply({run_id}, '...')")))
    elif turn is not None and turn["turns_left"]:
        options = f"jsonb_build_object('conversation', {turn['conversation_id']}, 'form', '{form}')"
        lines.append(("Ask back:", _psql(f"clarifying_questions(options => {options})")))
    where = f" (conversation {turn['conversation_id']})" if turn is not None else ""
    text = Text.assemble(("\nThe question is: ", "dim"), (printable(question), "bold"), (where, "dim"))
    for label, command in lines:
        text.append(f"\n{label:<9} ", "dim").append(command, "cyan")
    return text


def _psql(rows: str) -> str:
    return f'psql "$(pgclarify dsn)" -c "{_ALL_OF} pgclarify.{rows}"'


def answers(question: str, rows: Sequence[Row]) -> RenderableType:
    """Render all answers of a question, each with its other spellings and its numbered evidence.

    Args:
        question: The question.
        rows: Rows of `pgclarify.list_answers`, at least one.
    """
    title = Text()
    title.append(counted(len(rows), "answer"), style="bold")
    title.append(f' to "{printable(question)}", {with_proof(rows)}')
    parts: list[RenderableType] = [title]
    number = 1
    for row in rows:
        parts.extend((Text(), *_answer(row, first_citation=number)))
        number += len(row["citations"])
    return Group(*parts)


def _answer(row: Row, *, first_citation: int) -> Iterable[RenderableType]:
    answer = Text(printable(row["answer"]), style="bold green")
    yield Indented(Text(f"{row['ordinal']}. ", style="bold"), answer)
    others = row["variants"][1:]
    if others:
        spelt = ", ".join(printable(variant) for variant in others)
        yield Indented(_MARGIN, Text(f"also: {spelt}", style="dim"))
    for number, cited in enumerate(row["citations"], start=first_citation):
        yield from citation(number, cited)


def cut_short(run: Row, consequence: str) -> RenderableType:
    """Say why a run stopped early, if it did.

    Args:
        run: The run, from `CommandClient.runs`.
        consequence: What that means for the results above, as a sentence.
    """
    parts: list[RenderableType] = []
    if run["status"] == "partial":
        lost = {
            StopCode.BUDGET: "A budget allowed no more calls on the way.",
            StopCode.FAILED_CALLS: "Some calls failed on the way.",
        }.get(run["stop_code"], "It ended early.")
        parts.append(Text(f"\n{lost} {consequence}", style="yellow"))
    if run["stop_reason"]:
        parts.append(Text(f"\nStopped: {printable(run['stop_reason'])}", style="dim"))
    return Group(*parts)
