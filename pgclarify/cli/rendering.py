"""Renders the output of commands: pure functions from rows to rich renderables.

Text of corpora, models and users is untrusted data. It reaches the terminal only through `printable`, as
`rich.text.Text`, which interprets no markup.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import count
from typing import Any

from rich.box import Box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from pgclarify.client.remarks import NOT_CURRENT, counted, support, title_of_passage
from pgclarify.language.foreign_text import sanitize
from pgclarify.reports.formats import dollars

Row = Mapping[str, Any]

# How many characters of a passage are shown.
_LONGEST_EXCERPT = 300
_MOST_DOCUMENTS_SHOWN = 5
_KINDS = {
    "pragmatic": "what it refers to is missing",
    "syntactic": "it is vague",
    "lexical": "a name or word in it has several meanings",
}

# Styles of states that need attention.
_STATES = {"failed": "red", "partial": "yellow", "cancelled": "dim", "queued": "dim", "running": "cyan"}

# The look of psql's aligned format: a rule below the header, bars between columns, no frame.
_PSQL_BOX = Box("    \n  | \n -+ \n  | \n -+ \n -+ \n  | \n    \n", ascii=True)


def printable(text: str) -> str:
    """Replace all characters of foreign text that a terminal would interpret, and return it on one line.

    As `sanitize`; and each run of white space becomes one space.
    """
    return sanitize(" ".join(text.split()))


def failure(message: str, detail: str | None = None, hint: str | None = None) -> Text:
    """Render an error: one sentence, then the facts, then what to do."""
    text = Text()
    text.append("Error: ", style="bold red")
    text.append(printable(_capitalized(message)))
    text.append("" if message.endswith((".", "!", "?")) else ".")
    for label, part in (("Detail", detail), ("Hint", hint)):
        if part:
            text.append(f"\n{label}: ", style="bold")
            text.append("\n  ".join(printable(line) for line in part.splitlines()))
    return text


def statement(database: str, sql: str) -> Text:
    """Render an SQL statement as typed into psql."""
    text = Text()
    for number, line in enumerate(sql.splitlines()):
        prompt = "=#" if number == 0 else "-#"
        text.append(f"{printable(database)}{prompt} ", style="dim")
        text.append(line.rstrip() + "\n", style="bold cyan")
    text.rstrip()
    return text


def psql_table(rows: Sequence[Row]) -> RenderableType:
    """Render rows in psql's aligned, wrapped format.

    Args:
        rows: At least one, all with the same columns.
    """
    table = Table(box=_PSQL_BOX, show_edge=False, pad_edge=True, header_style="", leading=0)
    for column, value in rows[0].items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        table.add_column(printable(column), justify="right" if is_number else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(_cell, row.values()))
    return Group(table, Text(f"({counted(len(rows), 'row')})"))


class Figure(str):
    """A number as it is shown, in a cell of a table."""

    __slots__ = ()


def columns(row: Row) -> RenderableType:
    """Render one row with a line for each column that has a value, under the column's name in SQL."""
    table = Table.grid(padding=(0, 2))
    for name, value in row.items():
        if value is not None:
            table.add_row(Text(name, style="bold"), _cell(value))
    return table


def table(titles: Sequence[str], rows: Iterable[Sequence[object]]) -> Table:
    """Render rows without lines between them. Numbers are on the right.

    Args:
        titles: A title for each column.
        rows: Any values; texts may be foreign.
    """
    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    cells = [*rows]
    for place, title in enumerate(titles):
        is_number = any(isinstance(row[place], int | float | Figure) for row in cells)
        made.add_column(title, justify="right" if is_number else "left", no_wrap=is_number, overflow="fold")
    for row in cells:
        made.add_row(*map(_cell, row))
    return made


def _cell(value: object) -> Text:
    match value:
        case None:
            return Text()
        case int():
            return Text(f"{value:,}")
        case float():
            return Text(f"{value:,.1f}")
        case datetime():
            return Text(f"{value:%Y-%m-%d %H:%M}")
    return Text(printable(str(value)), style=_STATES.get(str(value), ""))


@dataclass(frozen=True, slots=True)
class Indented:
    """Text with a hanging indentation; unlike Padding, without blanks at the ends of lines."""

    lead: Text
    text: Text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        margin = Text(" " * self.lead.cell_len)
        for number, line in enumerate(self.text.wrap(console, max(options.max_width - self.lead.cell_len, 1))):
            line.rstrip()
            yield Text.assemble(margin if number else self.lead, line)


def _entry(
    numbers: Iterator[int],
    mark: str,
    title: str,
    style: str,
    notes: Iterable[tuple[str, str]],
    citations: Sequence[Row] = (),
) -> Iterator[RenderableType]:
    """Render one thing that was found.

    Args:
        numbers: The numbers of citations that are free.
        mark: What stands before its title, such as its number.
        title: Its title; foreign, like all other text.
        style: The style of the title.
        notes: Lines below it, each with its style.
        citations: Its evidence: rows with the columns of all views of citations.
    """
    margin = Text(" " * len(mark))
    yield Indented(Text(mark, style="bold"), Text(printable(title), style=style))
    for note, note_style in notes:
        yield Indented(margin, Text(printable(note), style=note_style))
    for cited in citations:
        source = Text(printable(cited["document_id"]), style="cyan")
        if where := title_of_passage(cited["title"], cited["heading"]):
            source.append(f"  {printable(where)}", style="default")
        if not cited["is_current"]:
            source.append(f"  ({NOT_CURRENT})", style="yellow")
        lead = Text.assemble("   ", (f"[{next(numbers)}] ", "cyan"))
        yield Indented(lead, source)
        yield Indented(Text(" " * lead.cell_len), Text(f'"{printable(cited["quote"])}"', style="italic"))


def _found(rows: Sequence[Row], noun: str, rest: str) -> Text:
    """Render the line above all that was found, which has its proof."""
    proof = "with its proof" if len(rows) == 1 else "each with its proof"
    return Text.assemble((counted(len(rows), noun), "bold"), f" {rest}, {proof}")


def readings(question: str, rows: Sequence[Row]) -> RenderableType:
    """Render the readings of a question, each with its answer and its numbered evidence.

    Args:
        question: The question.
        rows: Rows of `pgclarify.clarify`, at least one.
    """
    title, numbers = _found(rows, "reading", f'of "{printable(question)}"'), count(1)
    return Group(title, *(part for row in rows for part in reading(row, numbers)))


def reading(row: Row, numbers: Iterator[int]) -> Iterator[RenderableType]:
    """Render a reading below a blank line; numbers: those of citations that are free."""
    remark = support(row["support"], is_contested=row["is_contested"])
    notes = [(row["answer"], "green"), (remark, "yellow" if row["is_contested"] else "dim")]
    yield Text()
    yield from _entry(numbers, f"{row['ordinal']}. ", row["interpretation"], "bold", notes, row["citations"] or ())


def answers(question: str, rows: Sequence[Row]) -> RenderableType:
    """Render all answers of a question, each with its other spellings and its numbered evidence.

    Args:
        question: The question.
        rows: Rows of `pgclarify.list_answers`, at least one.
    """
    parts: list[RenderableType] = [_found(rows, "answer", f'to "{printable(question)}"')]
    numbers = count(1)
    for row in rows:
        spelt = ", ".join(row["variants"][1:])
        notes = [(f"also: {spelt}", "dim")] if spelt else []
        mark, cited = f"{row['ordinal']}. ", row["citations"]
        parts += [Text(), *_entry(numbers, mark, row["answer"], "bold green", notes, cited)]
    return Group(*parts)


def investigation(question: str, rows: Sequence[Row]) -> RenderableType:
    """Render an investigation: its steps and its conclusion, with numbered evidence.

    Args:
        question: The question.
        rows: The row of `pgclarify.investigate`.
    """
    (row,) = rows
    parts: list[RenderableType] = []
    numbers = count(1)
    for step in row["steps"]:
        if step["kind"] == "conclusion":
            continue
        if step["answer"] is None:
            notes = [(step["outcome"].replace("_", " ") + _aside(step["reason"]), "yellow")]
        else:
            notes = [(step["answer"], "green"), (_confidence(step, step["reason"]), "dim")]
        mark, cited = f"{step['ordinal']}. ", step["citations"]
        parts += [*_entry(numbers, mark, step["question"], "bold", notes, cited), Text()]
    remark = row["steps"][-1]["reason"] if row["steps"] else None
    if row["answer"] is None:
        why = f": {printable(remark)}" if remark else ""
        parts.append(Text(f'There is no answer to "{printable(question)}"{why}', style="yellow"))
    else:
        parts.append(Text.assemble((f'Answer to "{printable(question)}"', "bold"), ", with its proof"))
        notes = [(_confidence(row, remark), "dim")]
        parts += _entry(numbers, "   ", row["answer"], "green", notes, row["citations"])
    return Group(*parts)


def _confidence(row: Row, remark: str | None) -> str:
    return f"confidence {row['confidence']:.2f}{_aside(remark)}"


def _aside(remark: str | None) -> str:
    return f" ({remark})" if remark else ""


def passages(question: str, rows: Sequence[Row]) -> RenderableType:
    """Render the passages that a search found, each with the beginning of its text.

    Args:
        question: The question.
        rows: Rows of `pgclarify.search`, at least one.
    """
    title = Text.assemble((counted(len(rows), "passage"), "bold"), f' for "{printable(question)}"')
    return Group(title, *_passages(rows))


def _passages(rows: Sequence[Row]) -> Iterator[RenderableType]:
    for row in rows:
        lead = Text(f"  {row['rank']}. ", style="bold")
        title = title_of_passage(row["title"], row["heading"]) or ""
        source = Text.assemble((printable(row["document_id"]), "cyan"), f"  {printable(title)}".rstrip())
        source.append(f"  (score {row['score']:.4f})", style="dim")
        excerpt = printable(row["content"])
        if len(excerpt) > _LONGEST_EXCERPT:
            excerpt = excerpt[:_LONGEST_EXCERPT].rpartition(" ")[0] + " ..."
        yield Indented(lead, source)
        yield Indented(Text(" " * lead.cell_len), Text(excerpt, style="italic"))


def ambiguity(_: str, rows: Sequence[Row]) -> RenderableType:
    """Render whether a question is ambiguous, and the reasons; rows: the row of `pgclarify.detect_ambiguity`."""
    (row,) = rows
    reasons = []
    for reason in row["reasons"]:
        # Measured reasons need no source; reasons of rules name it.
        source = "" if reason["source"] in ("classifier", "feature") else f"{printable(reason['source'])}: "
        reasons.append(Indented(Text("  - "), Text(f"{source}{printable(reason['text'])}", style="dim")))
    if row["probability"] is None:
        return Group(Text("Not judged", style="bold"), *reasons)
    probability = (f"  (probability {row['probability']:.2f})", "dim")
    if not row["is_ambiguous"]:
        return Group(Text.assemble(("Clear", "bold green"), probability), *reasons)
    kind = f", {row['kind']}: {_KINDS[row['kind']]}"
    return Group(Text.assemble(("Ambiguous", "bold yellow"), kind, probability), *reasons)


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
        asked, reformulation, documents = row["clarifying_question"], row["reformulation"], row["document_ids"]
        notes: list[tuple[str, str]] = []
        if documents:
            more = len(documents) - _MOST_DOCUMENTS_SHOWN
            answered = ", ".join(documents[:_MOST_DOCUMENTS_SHOWN]) + (f" and {more} more" if more > 0 else "")
            notes.append((f"answered by {answered}", "dim"))
        elif row["is_answerable"] is False:
            notes.append(("no document answers it", "yellow"))
        # A number before a question would invite a number as the reply.
        mark = "- " if asked else f"{row['ordinal']}. "
        parts += [Text(), *_entry(count(1), mark, asked or reformulation, "bold", notes)]
    said = "'...'" if rows[0]["clarifying_question"] else "ordinal => 1"
    reply = f'psql "$(pgclarify dsn)" -c "select * from pgclarify.reply({rows[0]["run_id"]}, {said})"'  # noqa: S608 - shown, not sent
    return Group(*parts, Text.assemble(("\nReply: ", "dim"), (reply, "cyan")))


def costs(_: str, rows: Sequence[Row]) -> RenderableType:
    """Render an estimate; rows: the row of `pgclarify.estimate`."""
    (row,) = rows
    return columns({**row, "cost_usd": "unknown" if row["cost_usd"] is None else row["cost_usd"]})


def plain_table(_: str, rows: Sequence[Row]) -> RenderableType:
    """Render the rows of any operation, at least one, as a table with their columns."""
    return psql_table(rows)


def empty_corpus(corpus: str | None) -> Text:
    """Say that a corpus has no documents."""
    text = Text(f"The corpus{f' {printable(corpus)}' if corpus else ''} is empty: it has 0 documents.\nLoad some: ")
    text.append(f"pgclarify load {shlex.quote(printable(corpus)) if corpus else 'CORPUS'} PATH", style="cyan")
    return text


def _capitalized(message: str) -> str:
    """Capitalize the first word, unless it is our own name, or no word, such as an address or pg_config."""
    first = message.partition(" ")[0]
    return message if first == "pgclarify" or not first.isalpha() else message[0].upper() + message[1:]


def explain_hint(run_id: int, cost_usd: Decimal | None = None) -> Text:
    """Render the last line of a run's output: how to see what it did, and its cost if it has one."""
    cost = f" ({dollars(cost_usd)})" if cost_usd else ""
    return Text(f"\nrun {run_id}{cost}: pgclarify explain {run_id}", style="dim")


def warning(message: str, hint: str | None = None) -> Text:
    """Render a warning of the server: one sentence, then what to do."""
    text = Text("Warning: ", style="bold yellow")
    text.append(printable(_capitalized(message)) + ".", style="not bold yellow")
    if hint:
        text.append(f"\nHint: {printable(hint)}", style="not bold default")
    return text


def ending(run: Row) -> list[RenderableType]:
    """Say why a run has no result or only a part, and what helps, in the words of its stop code; nothing if it has all.

    Args:
        run: The run, from `CommandClient.runs`.
    """
    if run["meaning"] is None:
        return []
    reason = f": {printable(run['stop_reason'])}" if run["stop_reason"] else ""
    return [
        Text(f"\nWhy: {printable(run['meaning'])} ({printable(run['stop_code'])}){reason}.", style="yellow"),
        Text(f"What helps: {printable(run['help'])}"),
    ]


def nothing_found(
    question: str, corpus: str | None, *, run: Row, passages: Sequence[Row], pending: int
) -> RenderableType:
    """Say that nothing was found, why, and what comes closest.

    Args:
        question: The question.
        corpus: The corpus, as it was named.
        run: The run, from `CommandClient.runs`.
        passages: Rows of `Client.closest_passages`, best first.
        pending: How many documents of the corpus are not searchable yet.
    """
    where = f"the corpus {printable(corpus)}" if corpus else "this corpus"
    text = Text(f'No answer to "{printable(question)}" was found in {where}')
    # Without candidates, as after a search that found none, there was nothing to judge.
    judged = f": {run['judged']:,} of {counted(run['candidates'], 'passage')} judged" if run["candidates"] else ""
    text.append(f"{judged}.")
    if pending:
        wait = f"{counted(pending, 'document')} of this corpus cannot be searched yet: ask again in a moment."
        text.append(f"\n{wait}", "yellow")
    closest: list[RenderableType] = []
    if passages:
        told = "\nPlaces to look: the passages that come closest, from which no answer is shown:"
        closest = [Text(told, style="bold"), *_passages(passages)]
    return Group(text, *ending(run), *closest)


def loaded(corpus: str, changed: int, unchanged: int, *, is_searchable: bool) -> Text:
    """Say in one sentence what was loaded."""
    text = Text()
    if changed:
        text.append(counted(changed, "document"), style="bold")
        text.append(f" added to {printable(corpus)} or changed there")
        text.append(f", {unchanged:,} unchanged" if unchanged else "")
        text.append(": all is searchable." if is_searchable else ": the worker makes them searchable.")
    elif unchanged:
        many = counted(unchanged, "document")
        text.append(f"Nothing new: {printable(corpus)} has all of it: {many}, none of which changed.")
    else:
        text.append("Nothing was loaded.")
    return text


def listed(head: str, lines: Iterable[str], remark: str = "") -> Text:
    """Render lines below a heading in red, which says what is wrong with them."""
    text = Text.assemble((head, "bold red"), printable(remark) and f" {printable(remark)}")
    for line in lines:
        text.append(f"\n  {printable(line)}")
    return text


def skipped(kinds: Mapping[str, int]) -> Text:
    """List what was skipped, on one line, by kind."""
    listed = sorted(kinds.items(), key=lambda kind: (-kind[1], kind[0]))
    return Text(f"skipped: {', '.join(f'{number:,} {printable(kind)}' for kind, number in listed)}", style="yellow")
