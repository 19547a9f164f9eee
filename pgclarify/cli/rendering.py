"""Renders texts, tables, errors and warnings for the terminal. `result_rendering` renders what was found.

Text of corpora, models and users is untrusted data. It reaches the terminal only through `printable`, as
`rich.text.Text`, which interprets no markup.
"""

from __future__ import annotations

import mimetypes
import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from rich.box import Box
from rich.console import Console, ConsoleOptions, Group, JustifyMethod, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from pgclarify.data.counting import counted
from pgclarify.language.foreign_text import sanitize
from pgclarify.reports.formats import capitalized

Row = Mapping[str, Any]

# Styles of states that need attention.
_STATES = {"failed": "red", "partial": "yellow", "cancelled": "dim", "queued": "dim", "running": "cyan"}

# On one line.
_MOST_NAMED = 5
# On lines of their own.
_MOST_LISTED = 20
# A longer name would leave too little of a terminal with 80 columns.
_MOST_WHOLE = 56
# As readers of rows spell a place.
_LINES = re.compile(r"\blines? \d+(?: to \d+)? of ")

# Numbers are on the right.
_JUSTIFY: Mapping[bool, JustifyMethod] = {True: "right", False: "left"}

# The look of psql's aligned format: a rule below the header, bars between columns, no frame.
_PSQL_BOX = Box("    \n  | \n -+ \n  | \n -+ \n -+ \n  | \n    \n", ascii=True)


def printable(text: str) -> str:
    """Replace all characters of foreign text that a terminal would interpret, and return it on one line.

    As `sanitize`; and each run of white space becomes one space.
    """
    one_line = " ".join(text.split())
    return sanitize(one_line)


def failure(message: str, detail: str | None, hint: str | None) -> Text:
    """Render an error: one sentence, then the facts, then what to do."""
    text = Text()
    text.append("Error: ", style="bold red")
    text.append(printable(capitalized(message)))
    if not message.endswith((".", "!", "?")):
        text.append(".")
    _add_lines(text, "Detail", detail)
    _add_lines(text, "Hint", hint)
    return text


def _add_lines(text: Text, label: str, lines: str | None) -> None:
    """Add lines with a label before the first one; nothing if there are none."""
    if lines:
        shown = map(printable, lines.splitlines())
        text.append(f"\n{label}: ", style="bold")
        text.append("\n  ".join(shown))


def warning(message: str, hint: str | None) -> Text:
    """Render a warning: one sentence, then what to do."""
    text = Text("Warning: ", style="bold yellow")
    text.append(printable(capitalized(message)), style="not bold yellow")
    text.append(".", style="not bold yellow")
    if hint:
        text.append(f"\nHint: {printable(hint)}", style="not bold default")
    return text


def first_of(names: Sequence[str]) -> str:
    """Return the first names, and how many more there are: `a, b and 3 more`."""
    shown = ", ".join(names[:_MOST_NAMED])
    more = len(names) - _MOST_NAMED
    return f"{shown} and {more} more" if more > 0 else shown


def statement(database: str, sql: str) -> Text:
    """Render an SQL statement as typed into psql."""
    name = printable(database)
    prompt = f"{name}=# "
    text = Text()
    for line in sql.splitlines():
        text.append(prompt, style="dim")
        text.append(line.rstrip(), style="bold cyan")
        text.append("\n")
        prompt = f"{name}-# "
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
        table.add_column(printable(column), justify=_JUSTIFY[is_number], overflow="fold")
    for row in rows:
        table.add_row(*map(_cell, row.values()))
    number = counted(len(rows), "row")
    return Group(table, Text(f"({number})"))


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
    """Render rows without lines between them, and without empty columns. Numbers are on the right.

    Names in the first column are on one line if they are not long, because people copy them.

    Args:
        titles: A title for each column.
        rows: Any values; texts may be foreign.
    """
    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    cells = list(rows)
    filled = [place for place in range(len(titles)) if not cells or any(row[place] not in (None, "") for row in cells)]
    for place in filled:
        has_numbers = any(isinstance(row[place], int | float | Figure) for row in cells)
        is_name = place == 0 and all(_cell(row[0]).cell_len <= _MOST_WHOLE for row in cells)
        made.add_column(titles[place], justify=_JUSTIFY[has_numbers], no_wrap=has_numbers or is_name, overflow="fold")
    for row in cells:
        made.add_row(*(_cell(row[place]) for place in filled))
    return made


def _cell(value: object) -> Text:
    match value:
        case None:
            text = ""
        case int():
            text = f"{value:,}"
        case float():
            text = f"{value:,.1f}"
        case datetime():
            text = f"{value:%Y-%m-%d %H:%M}"
        case _:
            text = str(value)
    style = _STATES.get(text, "")
    return Text(printable(text), style=style)


@dataclass(frozen=True, slots=True)
class Indented:
    """Text with a hanging indentation; unlike Padding, without blanks at the ends of lines."""

    lead: Text
    text: Text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        before = self.lead
        width = max(options.max_width - before.cell_len, 1)
        for line in self.text.wrap(console, width):
            line.rstrip()
            yield Text.assemble(before, line)
            before = blank(self.lead)


def blank(lead: Text) -> Text:
    """Return as many blanks as a text is wide, to put other texts below the one that follows it."""
    return Text(" " * lead.cell_len)


def empty_corpus(corpus: str | None) -> Text:
    """Say that a corpus has no documents."""
    name = "The corpus"
    argument = "CORPUS"
    if corpus:
        name = f"The corpus {printable(corpus)}"
        argument = shlex.quote(printable(corpus))
    text = Text(f"{name} is empty: it has 0 documents.\nLoad some: ")
    text.append(f"pgclarify load {argument} PATH", style="cyan")
    return text


def loaded(
    corpus: str,
    changed: int,
    unchanged: int,
    *,
    is_searchable: bool,
    skipped: Mapping[str, int],
    is_new: bool = False,
) -> Text:
    """Say on one line what was loaded, and what was skipped that may have text."""
    name = printable(corpus)
    left_out = {kind: number for kind, number in skipped.items() if _may_have_text(kind)}
    text = Text()
    if changed:
        text.append(counted(changed, "document"), style="bold")
        text.append(f" added to {name}" if is_new else f" added to {name} or changed there")
        if unchanged:
            text.append(f", {unchanged:,} unchanged")
        searchable = "these are searchable" if left_out else "all is searchable"
        outcome = searchable if is_searchable else "the worker makes them searchable"
        text.append(f": {outcome}.")
    elif unchanged:
        number = counted(unchanged, "document")
        text.append(f"Nothing new for {name}: {number}, none of which changed.")
    else:
        text.append("Nothing was loaded.")
    if left_out:
        text.append(f" Skipped: {_by_number(left_out)}.", style="yellow")
    return text


def _may_have_text(kind: str) -> bool:
    """Whether files with a suffix may have text that people read; not pictures, sounds and the like."""
    if not kind.startswith("."):
        return False
    found, _ = mimetypes.guess_type(f"file{kind}")
    return found is None or not found.startswith(("image/", "audio/", "video/", "font/"))


def _by_number(kinds: Mapping[str, int]) -> str:
    """Return kinds with their numbers, the most frequent first."""
    by_name = sorted(kinds)
    by_number = sorted(by_name, key=kinds.__getitem__, reverse=True)
    return _numbered({kind: kinds[kind] for kind in by_number})


def _numbered(kinds: Mapping[str, int]) -> str:
    """Return kinds with their numbers: `2 pictures, 1 chart`."""
    told = ", ".join(
        f"{number:,} {kind}" if kind.startswith(".") else counted(number, kind) for kind, number in kinds.items()
    )
    return printable(told)


def listed(head: str, lines: Iterable[str], remark: str = "") -> Text:
    """Render lines below a heading in red, which says what is wrong with them."""
    text = Text()
    text.append(head, style="bold red")
    if remark:
        text.append(f" {printable(remark)}")
    for line in lines:
        text.append(f"\n  {printable(line)}")
    return text


def problems(by_reason: Mapping[str, Sequence[str]]) -> Iterator[Text]:
    """List what could not be loaded: what has a reason of its own, then the other reasons, the most frequent last."""
    single = [f"{messages[0]}: {reason}" for reason, messages in by_reason.items() if len(messages) == 1]
    if single:
        yield listed(f"{len(single):,} could not be loaded:", single)
    for reason, messages in sorted(by_reason.items(), key=lambda pair: len(pair[1])):
        number = len(messages)
        if number > 1:
            yield listed(f"{number:,} could not be loaded:", beginning(list(_by_file(messages))), reason)


def _by_file(messages: Sequence[str]) -> Iterator[str]:
    """Yield messages; of those about lines of one file only the first, with the number of the others."""
    by_file: dict[str, list[str]] = {}
    for message in messages:
        by_file.setdefault(_LINES.sub("line of ", message), []).append(message)
    for first, *others in by_file.values():
        if others and _LINES.search(first):
            yield f"{first}, and {counted(len(others), 'more line')}"
        else:
            yield from (first, *others)


def beginning(lines: Sequence[str]) -> Iterator[str]:
    """Yield the first lines, and one that says how many more there are."""
    yield from lines[:_MOST_LISTED]
    more = len(lines) - _MOST_LISTED
    if more > 0:
        yield f"... and {more:,} more"


def not_read(documents: Mapping[str, Mapping[str, int]]) -> Iterator[Text]:
    """List on a line for each document what of its file is not read; of many documents, the first ones."""
    lines = []
    for document_id, kinds in documents.items():
        lines.append(f"not read of {document_id}: {_numbered(kinds)}")
    for line in beginning(lines):
        yield Text(printable(line), style="yellow")


def not_read_table(documents: Mapping[str, Mapping[str, int]]) -> Table:
    """Sum up what is not read: each kind, in how many documents, and how many times."""
    files: Counter[str] = Counter()
    times: Counter[str] = Counter()
    for kinds in documents.values():
        files.update(kinds.keys())
        times.update(kinds)
    rows = [(kind, number, times[kind]) for kind, number in files.most_common()]
    return table(("not read", "files", "number"), rows)


def skipped(kinds: Mapping[str, int], pictures: Collection[str] = ()) -> Text:
    """List what was skipped, on one line, by kind: the most frequent first.

    Args:
        kinds: How many things, by kind.
        pictures: The kinds that would be read by text recognition.
    """
    told = f"skipped: {_by_number(kinds)}"
    if not kinds.keys().isdisjoint(pictures):
        told += ". Pictures are read with --ocr eng, or another language"
    return Text(told, style="yellow")
