"""Renders the commands of dialogues: pure functions from rows to rich renderables.

Questions, replies and models' texts are untrusted data: they reach the terminal only through `printable`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from pgclarify.cli.rendering import Indented, Row, citation, counted, printable, with_proof

_KINDS = {
    "pragmatic": "what it refers to is missing",
    "syntactic": "it is vague",
    "lexical": "a name or word in it has several meanings",
}
_MARGIN = Text("   ")
_MOST_DOCUMENTS_SHOWN = 5


def ambiguity(_: str, rows: Sequence[Row]) -> RenderableType:
    """Render whether a question is ambiguous, and the reasons.

    Args:
        rows: The row of `pgclarify.detect_ambiguity`.
    """
    (row,) = rows
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


def rewritten(_: str, rows: Sequence[Row]) -> RenderableType:
    """Render a rewritten question; rows: the row of `pgclarify.rewrite`."""
    return Text(printable(rows[0]["rewritten"]))


def why_rewritten(_: str, rows: Sequence[Row]) -> RenderableType:
    """Render the reason of a rewritten question; rows: the row of `pgclarify.rewrite`."""
    return Text(printable(rows[0]["reason"] or "the question is clear, and stays as it is"), style="dim")


def proposals(question: str, rows: Sequence[Row]) -> RenderableType:
    """Render the clarifying questions, or numbered reformulations to choose, each with its documents; and how to reply.

    Args:
        question: The question.
        rows: Rows of `pgclarify.clarifying_questions`, at least one.
    """
    parts: list[RenderableType] = [Text(f'What do you mean by "{printable(question)}"?', style="bold")]
    for row in rows:
        parts.extend((Text(), *_proposal(row)))
    said = "'...'" if rows[0]["clarifying_question"] else "ordinal => 1"
    reply = f'psql "$(pgclarify dsn)" -c "select * from pgclarify.reply({rows[0]["run_id"]}, {said})"'  # noqa: S608 - shown, not sent
    return Group(*parts, Text.assemble(("\nReply: ", "dim"), (reply, "cyan")))


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
