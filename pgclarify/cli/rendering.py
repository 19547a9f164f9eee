"""Renders the output of commands: pure functions from rows to rich renderables.

Text of corpora, models and users is untrusted data. It reaches the terminal only through `printable`, as
`rich.text.Text`, which interprets no markup.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from rich.box import Box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from pgclarify.language.foreign_text import sanitize
from pgclarify.reports.formats import dollars

Row = Mapping[str, Any]

# How many characters of a passage are shown.
_LONGEST_EXCERPT = 300

# Styles of states that need attention.
_STATES = {"failed": "red", "partial": "yellow", "cancelled": "dim", "queued": "dim", "running": "cyan"}

# The look of psql's aligned format: a rule below the header, bars between columns, no frame.
_PSQL_BOX = Box("    \n  | \n -+ \n  | \n -+ \n -+ \n  | \n    \n", ascii=True)


def printable(text: str) -> str:
    """Replace all characters of foreign text that a terminal would interpret, and return it on one line.

    As `sanitize`; and each run of white space becomes one space.
    """
    return sanitize(" ".join(text.split()))


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Return `1 document`, `2 documents`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


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
    """Render rows in psql's aligned, wrapped format, with arrays in PostgreSQL's notation.

    Args:
        rows: At least one, all with the same columns.
    """
    table = Table(box=_PSQL_BOX, show_edge=False, pad_edge=True, header_style="", leading=0)
    for column, value in rows[0].items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        table.add_column(printable(column), justify="right" if is_number else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(_psql_value(value)) for value in row.values()))
    return Group(table, Text(f"({counted(len(rows), 'row')})"))


def columns(row: Row) -> RenderableType:
    """Render one row with a line for each column, under the column's name in SQL."""
    table = Table.grid(padding=(0, 2))
    for name, value in row.items():
        table.add_row(Text(name, style="bold"), Text(_psql_value(value)))
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
        is_number = any(isinstance(row[place], int | float) for row in cells)
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


def _psql_value(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, list):
        return "{" + ",".join(printable(str(item)) for item in value) + "}"
    return printable(str(value))


def with_proof(rows: Sequence[Row]) -> str:
    """Say that the listed readings have evidence."""
    return "with its proof" if len(rows) == 1 else "each with its proof"


def readings(question: str, rows: Sequence[Row]) -> RenderableType:
    """Render the readings of a question, each with its answer and its numbered evidence.

    Args:
        question: The question.
        rows: Rows of `pgclarify.clarify`, at least one.
    """
    title = Text()
    title.append(counted(len(rows), "reading"), style="bold")
    title.append(f' of "{printable(question)}", {with_proof(rows)}')
    parts: list[RenderableType] = [title]
    number = 1
    for row in rows:
        parts.extend(_reading(row, first_citation=number))
        number += len(row["citations"] or [])
    return Group(*parts)


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


def _reading(row: Row, *, first_citation: int) -> list[RenderableType]:
    margin = Text("   ")
    parts: list[RenderableType] = [
        Text(),
        Indented(Text(f"{row['ordinal']}. ", style="bold"), Text(printable(row["interpretation"]), style="bold")),
        Indented(margin, Text(printable(row["answer"]), style="green")),
        Indented(margin, Text(f"supported by {counted(row['support'], 'document')}", style="dim")),
    ]
    if row["is_contested"]:
        parts.append(Indented(margin, Text("another reading in the same words has another answer", style="yellow")))
    for number, cited in enumerate(row["citations"] or [], start=first_citation):
        parts.extend(citation(number, cited))
    return parts


def citation(number: int, row: Row) -> list[RenderableType]:
    """Render the place of a quote, and the quote.

    Args:
        number: Its number in the margin.
        row: A row with the columns of all views of citations.
    """
    source = Text(printable(row["document_id"]), style="cyan")
    if where := place(row):
        source.append(f"  {printable(where)}", style="default")
    if not row["is_current"]:
        source.append("  (the document has changed since)", style="yellow")
    lead = Text.assemble("   ", (f"[{number}] ", "cyan"))
    quote = Text(f'"{printable(row["quote"])}"', style="italic")
    return [Indented(lead, source), Indented(Text(" " * lead.cell_len), quote)]


def place(row: Row) -> str:
    """Return title and headings of a passage; the headings of a Markdown passage usually begin with the title."""
    title, heading = row["title"], row["heading"]
    return heading if heading and title and heading.startswith(title) else ", ".join(filter(None, (title, heading)))


def empty_corpus(corpus: str | None) -> Text:
    """Say that a corpus has no documents."""
    text = Text(f"The corpus{f' {printable(corpus)}' if corpus else ''} is empty: it has 0 documents.\nLoad some: ")
    text.append(f"pgclarify load {shlex.quote(printable(corpus)) if corpus else 'CORPUS'} PATH", style="cyan")
    return text


def step(row: Row, *, first_citation: int) -> RenderableType:
    """Render a step of an investigation, except the conclusion, with its numbered evidence.

    Args:
        row: A row of view investigation_step, with its citations.
        first_citation: The number of the first citation.
    """
    margin = Text("   ")
    parts: list[RenderableType] = [
        Indented(Text(f"{row['ordinal']}. ", style="bold"), Text(printable(row["question"]), style="bold"))
    ]
    if row["answer"] is None:
        reason = f" ({printable(row['reason'])})" if row["reason"] else ""
        parts.append(Indented(margin, Text(row["outcome"].replace("_", " ") + reason, style="yellow")))
    else:
        parts.extend(_proven(row, margin, first_citation, remark=row["reason"]))
    return Group(*parts, Text())


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


def _proven(row: Row, margin: Text, first_citation: int, *, remark: str | None) -> list[RenderableType]:
    aside = f" ({printable(remark)})" if remark else ""
    parts: list[RenderableType] = [
        Indented(margin, Text(printable(row["answer"]), style="green")),
        Indented(margin, Text(f"confidence {row['confidence']:.2f}{aside}", style="dim")),
    ]
    for number, cited in enumerate(row["citations"], start=first_citation):
        parts.extend(citation(number, cited))
    return parts


def passages(question: str, rows: Sequence[Row]) -> RenderableType:
    """Render the passages that a search found, each with the beginning of its text.

    Args:
        question: The question.
        rows: Rows of `pgclarify.search`, at least one.
    """
    title = Text.assemble((counted(len(rows), "passage"), "bold"), f' for "{printable(question)}"')
    return Group(title, *(part for row in rows for part in passage(row)))


def passage(row: Row) -> list[RenderableType]:
    """Render a passage of a search: document, score and the beginning of the text."""
    lead = Text(f"  {row['rank']}. ", style="bold")
    source = Text.assemble((printable(row["document_id"]), "cyan"), f"  {printable(place(row))}".rstrip())
    source.append(f"  (score {row['score']:.4f})", style="dim")
    excerpt = printable(row["content"])
    if len(excerpt) > _LONGEST_EXCERPT:
        excerpt = excerpt[:_LONGEST_EXCERPT].rpartition(" ")[0] + " ..."
    return [Indented(lead, source), Indented(Text(" " * lead.cell_len), Text(excerpt, style="italic"))]


def investigation(question: str, rows: Sequence[Row]) -> RenderableType:
    """Render an investigation: its steps and its conclusion, with numbered evidence.

    Args:
        question: The question.
        rows: The row of `pgclarify.investigate`.
    """
    (row,) = rows
    parts: list[RenderableType] = []
    number = 1
    for one in row["steps"]:
        if one["kind"] != "conclusion":
            parts.append(step(one, first_citation=number))
            number += len(one["citations"])
    remark = row["steps"][-1]["reason"] if row["steps"] else None
    if row["answer"] is None:
        why = f": {printable(remark)}" if remark else ""
        parts.append(Text(f'There is no answer to "{printable(question)}"{why}', style="yellow"))
    else:
        parts.append(Text.assemble((f'Answer to "{printable(question)}"', "bold"), ", with its proof"))
        parts.extend(_proven(row, Text("   "), number, remark=remark))
    return Group(*parts)


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
        told = "\nPlaces to look: the passages that come closest, from which no answer was read:"
        closest = [Text(told, style="bold"), *(part for row in passages for part in passage(row))]
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
        text.append(f"Nothing new: {printable(corpus)} holds {counted(unchanged, 'document')}, none of which changed.")
    else:
        text.append("Nothing was loaded.")
    return text


def repeated(document_ids: Sequence[str]) -> Text:
    """Name documents that replaced an earlier one of the same load."""
    examples = ", ".join(printable(document_id) for document_id in document_ids[:3])
    return Text(
        f"{counted(len(document_ids), 'document')} had an id that came before, and replaced the earlier one: {examples}"
        f"{', ...' if len(document_ids) > len(document_ids[:3]) else ''}",
        style="yellow",
    )


def unreadable(problems: Sequence[str]) -> Text:
    """List files, lines and documents that could not be loaded, one on each line."""
    text = Text()
    text.append(f"{len(problems):,} could not be loaded:", style="bold red")
    for problem in problems:
        text.append(f"\n  {printable(problem)}")
    return text


def unread(files: Mapping[str, Sequence[str]]) -> Text:
    """List files whose parser is not installed: the reason, which says what to install, and the first files.

    Args:
        files: One sentence for each file, by the reason.
    """
    text = Text()
    for reason, sentences in files.items():
        text.append("\n" if text else "")
        text.append(f"{len(sentences):,} could not be loaded:", style="bold red")
        text.append(f" {printable(reason)}")
        for sentence in [*sentences[:3], *(["..."] if len(sentences) > 3 else [])]:
            text.append(f"\n  {printable(sentence)}")
    return text


def skipped(kinds: Mapping[str, int]) -> Text:
    """List what was skipped, on one line, by kind."""
    listed = sorted(kinds.items(), key=lambda kind: (-kind[1], kind[0]))
    return Text(f"skipped: {', '.join(f'{number:,} {printable(kind)}' for kind, number in listed)}", style="yellow")


def not_indexed(documents: Sequence[Row]) -> Text:
    """List documents that are stored but not searchable, each with the reason."""
    text = Text()
    text.append(f"{counted(len(documents), 'document')} could not be indexed:", style="bold red")
    for document in documents:
        text.append(f"\n  {printable(document['document_id'])}: {printable(document['error'])}")
    return text
