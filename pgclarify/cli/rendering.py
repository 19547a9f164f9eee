"""What commands print, as pure functions from rows to rich renderables.

Text from corpora, models and users is data: it reaches the terminal only through `printable`, as `rich.text.Text`,
which reads no markup.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from rich.box import Box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from pgclarify.foreign_text import sanitize
from pgclarify.reports.formats import dollars

Row = Mapping[str, Any]

# The look of psql's aligned format: a rule below the header, bars between columns, no frame.
_PSQL_BOX = Box("    \n  | \n -+ \n  | \n -+ \n -+ \n  | \n    \n", ascii=True)


def printable(text: str) -> str:
    """Replace everything in one line of foreign text that a terminal would act on.

    As `sanitize` does; and any run of white space becomes one space.
    """
    return sanitize(" ".join(text.split()))


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """`1 document`, `2 documents`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def failure(message: str, detail: str | None = None, hint: str | None = None) -> Text:
    """An error: one sentence, then the facts, then what to do."""
    text = Text()
    text.append("Error: ", style="bold red")
    # The product's own name stays as it is.
    text.append(printable(message if message.startswith("pgclarify") else message[:1].upper() + message[1:]))
    text.append("" if message.endswith((".", "!", "?")) else ".")
    for label, part in (("Detail", detail), ("Hint", hint)):
        if part:
            text.append(f"\n{label}: ", style="bold")
            text.append("\n  ".join(printable(line) for line in part.splitlines()))
    return text


def statement(database: str, sql: str) -> Text:
    """An SQL statement as it looks when typed into psql."""
    text = Text()
    for number, line in enumerate(sql.splitlines()):
        prompt = "=#" if number == 0 else "-#"
        text.append(f"{printable(database)}{prompt} ", style="dim")
        text.append(line.rstrip() + "\n", style="bold cyan")
    text.rstrip()
    return text


def psql_table(rows: Sequence[Row]) -> RenderableType:
    """Rows as psql shows them in its aligned, wrapped format; arrays as PostgreSQL writes them.

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


def _psql_value(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, list):
        return "{" + ",".join(printable(str(item)) for item in value) + "}"
    return printable(str(value))


def with_proof(rows: Sequence[Row]) -> str:
    """Say that what is listed has its proof."""
    return "with its proof" if len(rows) == 1 else "each with its proof"


def readings(question: str, rows: Sequence[Row]) -> RenderableType:
    """The readings of a question, each with its answer and its numbered evidence.

    Args:
        question: As it was asked.
        rows: What `pgclarify.clarify` returned, at least one.
    """
    title = Text()
    title.append(counted(len(rows), "reading"), style="bold")
    title.append(f' of "{printable(question)}", {with_proof(rows)}')
    parts: list[RenderableType] = [title]
    number = 1
    for row in rows:
        parts.extend(_reading(row, first_citation=number))
        number += len(row["citations"] or [])
    if any(row["status"] == "partial" for row in rows):
        parts.append(
            Text(
                "\nSome passages could not be judged, so there may be more readings; those above are sound.",
                style="yellow",
            )
        )
    return Group(*parts)


@dataclass(frozen=True, slots=True)
class Indented:
    """Text that wraps behind what leads its first line; unlike Padding, it leaves no blanks at the ends of lines."""

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
    for number, cited in enumerate(row["citations"] or [], start=first_citation):
        parts.extend(citation(number, cited))
    return parts


def citation(number: int, row: Row) -> list[RenderableType]:
    """Where a quote stands, and the quote.

    Args:
        number: What it is called by in the margin.
        row: With the columns that all views of citations have.
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
    """Title and headings of a passage; the heading path of a Markdown passage usually begins with the title."""
    title, heading = row["title"], row["heading"]
    return heading if heading and title and heading.startswith(title) else ", ".join(filter(None, (title, heading)))


def empty_corpus(corpus: str | None) -> Text:
    """A plain sentence where there is nothing that could be found."""
    text = Text(f"The corpus{f' {printable(corpus)}' if corpus else ''} is empty: it has 0 documents.\nLoad some: ")
    text.append(f"pgclarify load {shlex.quote(printable(corpus)) if corpus else 'CORPUS'} PATH", style="cyan")
    return text


# Of steps and of whole investigations.
_WITHOUT_ANSWER = {
    "not_in_corpus": "not found in this corpus",
    "repeated": "asked before",
    "contradicted": "the evidence contradicts itself",
    "cut_off": "not answered",
    "failed": "not answered",
}
_CONCLUSIONS = {
    "not_in_corpus": "Not found in this corpus: none of the passages that were looked at answers it.",
    "contradicted": "There is no answer: the evidence contradicts itself, and does not decide.",
    "cut_off": "There is no answer yet. Allow more calls: --option max_calls=1000",
    "failed": "There is no answer: the model could not be reached or understood on the way.",
}
_OVER_BUDGET = "There is no answer yet: a budget allows no more calls. Asked again, it pays for what is missing alone."


def step(row: Row, *, first_citation: int) -> RenderableType:
    """A step of an investigation on its way to the conclusion, with its numbered evidence.

    Args:
        row: As view investigation_step has it, with its citations.
        first_citation: Number of the first of these.
    """
    margin = Text("   ")
    parts: list[RenderableType] = [
        Indented(Text(f"{row['ordinal']}. ", style="bold"), Text(printable(row["question"]), style="bold"))
    ]
    if row["answer"] is None:
        reason = f" ({printable(row['reason'])})" if row["reason"] and not _is_told(row) else ""
        parts.append(Indented(margin, Text(_WITHOUT_ANSWER[row["outcome"]] + reason, style="yellow")))
    else:
        parts.extend(_proven(row, margin, first_citation, remark=row["reason"]))
    return Group(*parts, Text())


def conclusion(
    question: str,
    row: Row,
    *,
    first_citation: int,
    stop_reason: str | None = None,
    is_over_budget: bool = False,
) -> RenderableType:
    """The end of an investigation: its answer with its numbered evidence, or a plain sentence that says why not.

    Args:
        question: As it was asked.
        row: What `pgclarify.investigation` returned.
        first_citation: Number of the first citation.
        stop_reason: Why the run went no further, where it might have.
        is_over_budget: Whether that is a budget.
    """
    last = row["steps"][-1] if row["steps"] else None
    reason = None if last is None or _is_told(last) else last["reason"]
    is_said = row["outcome"] in ("cut_off", "failed")
    parts: list[RenderableType]
    if row["answer"] is None:
        end = _OVER_BUDGET if is_over_budget and is_said else _CONCLUSIONS.get(row["outcome"], "There is no answer.")
        parts = [Text(f'"{printable(question)}"', style="bold"), Text(end, style="yellow")]
        parts.extend([Text(f"Why: {printable(reason)}", style="dim")] if reason else [])
    else:
        parts = [
            Text.assemble((f'Answer to "{printable(question)}"', "bold"), ", with its proof"),
            *_proven(row, Text("   "), first_citation, remark=reason),
        ]
    if row["status"] == "partial":
        # Without an answer for that very reason, it has been said.
        if not is_said:
            end = "proven all the same" if row["answer"] else "not the last word"
            lost = "A budget allowed no more calls" if is_over_budget else "Some calls failed or ran out"
            parts.append(Text(f"\n{lost} on the way; what is above is {end}.", style="yellow"))
        # Where a budget refused a call, the reason of the last step is that refusal, with its detail.
        is_repeated = reason is not None and (reason == stop_reason or (is_over_budget and is_said))
        if stop_reason and not is_repeated:
            parts.append(Text(f"Stopped: {printable(stop_reason)}", style="dim"))
    return Group(*parts)


def _is_told(step: Row) -> bool:
    """Whether the outcome of a step says all that its reason says: nothing was found."""
    return bool(step["abstention_code"] == "not_answered")


def explain_hint(run_id: int, cost_usd: Decimal | None = None) -> Text:
    """The last line of what a run printed: where to see what it did, and what it cost if it cost anything."""
    cost = f" ({dollars(cost_usd)})" if cost_usd else ""
    return Text(f"\nrun {run_id}{cost}: pgclarify explain {run_id}", style="dim")


def warning(message: str, hint: str | None = None) -> Text:
    """What the server warned of: one sentence, then what to do."""
    text = Text("Warning: ", style="bold yellow")
    text.append(printable(message[:1].upper() + message[1:]) + ".", style="not bold yellow")
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


def loaded(corpus: str, changed: int, unchanged: int, *, is_searchable: bool) -> Text:
    """What became of the documents of one load, as one sentence."""
    text = Text()
    if changed:
        text.append(counted(changed, "document"), style="bold")
        text.append(f" added to {printable(corpus)} or changed there")
        text.append(f", {unchanged:,} unchanged" if unchanged else "")
        text.append(": all is searchable." if is_searchable else ": the worker makes them searchable.")
    elif unchanged:
        text.append(f"Nothing new: {printable(corpus)} holds {counted(unchanged, 'document')} just so already.")
    else:
        text.append("Nothing was loaded.")
    return text


def repeated(document_ids: Sequence[str]) -> Text:
    """Documents that replaced an earlier one of the same load."""
    examples = ", ".join(printable(document_id) for document_id in document_ids[:3])
    return Text(
        f"{counted(len(document_ids), 'document')} had an id that came before, and replaced the earlier one: {examples}"
        f"{', ...' if len(document_ids) > len(document_ids[:3]) else ''}",
        style="yellow",
    )


def unreadable(problems: Sequence[str]) -> Text:
    """Files, lines and documents that could not be loaded, one a line."""
    text = Text()
    text.append(f"{len(problems):,} could not be loaded:", style="bold red")
    for problem in problems:
        text.append(f"\n  {printable(problem)}")
    return text


def unread(files: Mapping[str, Sequence[str]]) -> Text:
    """Files whose reader is not installed: the reason, which says what to install, and the first of the files.

    Args:
        files: One sentence for each, by the reason.
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
    """What was passed over, on one line, by kind."""
    listed = sorted(kinds.items(), key=lambda kind: (-kind[1], kind[0]))
    return Text(f"skipped: {', '.join(f'{number:,} {printable(kind)}' for kind, number in listed)}", style="yellow")


def not_indexed(documents: Sequence[Row]) -> Text:
    """Documents that are stored but cannot be searched, each with the reason."""
    text = Text()
    text.append(f"{counted(len(documents), 'document')} could not be indexed:", style="bold red")
    for document in documents:
        text.append(f"\n  {printable(document['document_id'])}: {printable(document['error'])}")
    return text
