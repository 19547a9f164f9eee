"""Renders what a run found, or why it found nothing: pure functions from rows to rich renderables.

A command names the function that renders its rows. It gets the question and at least one row. The others render what
all runs have: why a run ended early, what comes closest, and how to explain the run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import count

from rich.console import Group, RenderableType
from rich.text import Text

from pgclarify.cli.hints import on_the_command_line
from pgclarify.cli.rendering import Indented, Row, blank, columns, first_of, printable, psql_table
from pgclarify.client.remarks import NOT_CURRENT, day, support, title_of_passage
from pgclarify.data.counting import counted
from pgclarify.data.vocabulary import AmbiguityKind, ReasonSource
from pgclarify.reports.formats import dollars

# How many characters of a passage are shown.
_LONGEST_EXCERPT = 300
# Sources of reasons that were measured. Other sources are rules, and are named.
_MEASURED = (ReasonSource.CLASSIFIER, ReasonSource.FEATURE)


def readings(question: str, rows: Sequence[Row]) -> RenderableType:
    """Render the readings of a question, each with its answer and its numbered evidence."""
    parts: list[RenderableType] = [_proven(rows, "reading", "of", question)]
    numbers = count(1)
    for row in rows:
        parts += reading(row, numbers)
    return Group(*parts)


def reading(row: Row, numbers: Iterator[int]) -> Iterator[RenderableType]:
    """Render a reading below a blank line; numbers: those of citations that are free."""
    lead = _ordinal(row)
    documents = len(row["document_ids"])
    style = "yellow" if row["is_contested"] else "dim"
    yield Text()
    yield _line(lead, row["interpretation"], "bold")
    yield _below(lead, row["answer"], "green")
    yield _below(lead, support(row, documents), style)
    yield from _citations(row["citations"] or (), numbers)


def answers(question: str, rows: Sequence[Row]) -> RenderableType:
    """Render all answers of a question, each with its other spellings and its numbered evidence."""
    parts: list[RenderableType] = [_proven(rows, "answer", "to", question)]
    numbers = count(1)
    for row in rows:
        parts += _answer(row)
        parts += _citations(row["citations"], numbers)
    return Group(*parts)


def _answer(row: Row) -> Iterator[RenderableType]:
    """Render an answer below a blank line, without its citations."""
    lead = _ordinal(row)
    yield Text()
    yield _line(lead, row["answer"], "bold green")
    other_spellings = ", ".join(row["variants"][1:])
    if other_spellings:
        yield _below(lead, f"also: {other_spellings}", "dim")


def investigation(question: str, rows: Sequence[Row]) -> RenderableType:
    """Render an investigation: its steps and its conclusion, with numbered evidence."""
    (row,) = rows
    parts: list[RenderableType] = []
    numbers = count(1)
    for step in row["steps"]:
        if step["kind"] != "conclusion":
            parts += _step(step)
            parts += _citations(step["citations"], numbers)
            parts.append(Text())
    parts += _conclusion(question, row)
    parts += _citations(row["citations"], numbers)
    return Group(*parts)


def _step(step: Row) -> Iterator[RenderableType]:
    """Render a step of an investigation, without its citations."""
    lead = _ordinal(step)
    reason = step["reason"]
    yield _line(lead, step["question"], "bold")
    if step["answer"] is None:
        outcome = step["outcome"].replace("_", " ")
        yield _below(lead, outcome + _aside(reason), "yellow")
    else:
        yield _below(lead, step["answer"], "green")
        yield _below(lead, _confidence(step, reason), "dim")


def _conclusion(question: str, row: Row) -> Iterator[RenderableType]:
    """Render the answer of an investigation, or why there is none, without its citations."""
    asked = _quoted(question)
    remark = row["steps"][-1]["reason"] if row["steps"] else None
    if row["answer"] is None:
        none = Text(f"There is no answer to {asked}", style="yellow")
        if remark:
            none.append(f": {printable(remark)}")
        yield none
    else:
        title = Text()
        title.append(f"Answer to {asked}", style="bold")
        title.append(", with its proof")
        margin = Text("   ")
        yield title
        yield _line(margin, row["answer"], "green")
        yield _line(margin, _confidence(row, remark), "dim")


def _confidence(row: Row, remark: str | None) -> str:
    confidence = row["confidence"]
    return f"confidence {confidence:.2f}{_aside(remark)}"


def _aside(remark: str | None) -> str:
    return f" ({remark})" if remark else ""


def passages(question: str, rows: Sequence[Row]) -> RenderableType:
    """Render the passages that a search found, each with the beginning of its text."""
    title = _found(rows, "passage", "for", question)
    return Group(title, *_passages(rows))


def _passages(rows: Sequence[Row]) -> Iterator[RenderableType]:
    for row in rows:
        rank = row["rank"]
        score = row["score"]
        lead = Text(f"  {rank}. ", style="bold")
        source = _source(row)
        source.append(f"  (score {score:.4f})", style="dim")
        excerpt = _excerpt(row["content"])
        yield Indented(lead, source)
        yield _below(lead, excerpt, "italic")


def _excerpt(content: str) -> str:
    """Return the beginning of a passage, on one line, up to the end of a word."""
    line = printable(content)
    if len(line) <= _LONGEST_EXCERPT:
        return line
    words, _, _ = line[:_LONGEST_EXCERPT].rpartition(" ")
    return f"{words} ..."


def ambiguity(_: str, rows: Sequence[Row]) -> RenderableType:
    """Render whether a question is ambiguous, and the reasons; rows: the row of `pgclarify.detect_ambiguity`."""
    (row,) = rows
    probability = row["probability"]
    verdict = Text()
    if probability is None:
        verdict.append("Not judged", style="bold")
    elif row["is_ambiguous"]:
        kind = AmbiguityKind(row["kind"])
        verdict.append("Ambiguous", style="bold yellow")
        verdict.append(f", {kind}: {kind.meaning}")
    else:
        verdict.append("Clear", style="bold green")
    if probability is not None:
        verdict.append(f"  (probability {probability:.2f})", style="dim")
    mark = Text("  - ")
    reasons = [Indented(mark, _reason(reason)) for reason in row["reasons"]]
    return Group(verdict, *reasons)


def _reason(reason: Row) -> Text:
    said = printable(reason["text"])
    source = reason["source"]
    if source not in _MEASURED:
        said = f"{printable(source)}: {said}"
    return Text(said, style="dim")


def rewritten(_: str, rows: Sequence[Row]) -> RenderableType:
    """Render a rewritten question; rows: the row of `pgclarify.rewrite`."""
    return Text(printable(rows[0]["rewritten"]))


def why_rewritten(_: str, rows: Sequence[Row]) -> RenderableType:
    """Render the reason of a rewritten question; rows: the row of `pgclarify.rewrite`."""
    reason = rows[0]["reason"] or "the question is clear, and stays as it is"
    return Text(printable(reason), style="dim")


def proposals(question: str, rows: Sequence[Row]) -> RenderableType:
    """Render clarifying questions, or numbered reformulations to choose, each with its documents; and how to reply."""
    title = Text(f"What do you mean by {_quoted(question)}?", style="bold")
    parts: list[RenderableType] = [title]
    for row in rows:
        parts.append(Text())
        parts += _proposal(row)
    parts.append(_how_to_reply(rows[0]))
    return Group(*parts)


def _proposal(row: Row) -> Iterator[RenderableType]:
    lead = _ordinal(row)
    if not row["reformulation"]:
        # A number before a question would invite a number as the reply.
        lead = Text("- ", style="bold")
    yield _line(lead, row["clarifying_question"] or row["reformulation"], "bold")
    if row["document_ids"]:
        yield _below(lead, f"answered by {first_of(row['document_ids'])}", "dim")
    elif row["is_answerable"] is False:
        yield _below(lead, "no document answers it", "yellow")


def _how_to_reply(row: Row) -> Text:
    run_id = row["run_id"]
    said = "ordinal => 1" if row["reformulation"] else "'...'"
    select = f"select * from pgclarify.reply({run_id}, {said})"  # noqa: S608 - shown, not sent
    text = Text()
    text.append("\nReply: ", style="dim")
    text.append(f'psql "$(pgclarify dsn)" -c "{select}"', style="cyan")
    return text


def costs(_: str, rows: Sequence[Row]) -> RenderableType:
    """Render an estimate; rows: the row of `pgclarify.estimate`."""
    (row,) = rows
    shown = dict(row)
    if shown["cost_usd"] is None:
        shown["cost_usd"] = "unknown"
    return columns(shown)


def plain_table(_: str, rows: Sequence[Row]) -> RenderableType:
    """Render the rows of any operation as a table with their columns."""
    return psql_table(rows)


def explain_hint(run_id: int, cost_usd: Decimal | None, *, is_served: bool = False) -> Text:
    """Render the last line of a run's output: how to see what it did, and its cost unless it was answered before."""
    named = f"run {run_id}"
    if is_served:
        named += " (answered before, at no cost now)"
    elif cost_usd:
        named += f" ({dollars(cost_usd)})"
    return Text(f"\n{named}: pgclarify explain {run_id}", style="dim")


def less_sure(rows: Sequence[Row], run: Row) -> Text | None:
    """Say how many readings a run has that are less sure than these, and how to see them; None if it has none.

    Args:
        rows: What is shown of the run.
        run: The run, from `CommandClient.runs`.
    """
    if run.get("less_sure") is None:
        return None
    every = run["interpretations"] + run["less_sure"]
    more = every - len(rows)
    if more <= 0:
        return None
    are = "is" if more == 1 else "are"
    return Text(f"\n{more} more that {are} less sure: --include all", style="dim")


def ending(run: Row) -> list[RenderableType]:
    """Say why a run has no result or only a part, and what helps, in the words of its stop code; nothing if it has all.

    Args:
        run: The run, from `CommandClient.runs`.
    """
    if run["meaning"] is None:
        return []
    why = f"{printable(run['meaning'])} ({printable(run['stop_code'])})"
    if run["stop_reason"]:
        why += f": {printable(run['stop_reason'])}"
    return [
        Text(f"\nWhy: {why}.", style="yellow"),
        Text(f"What helps: {printable(on_the_command_line(run['help']))}"),
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
    where = "this corpus"
    if corpus:
        where = f"the corpus {printable(corpus)}"
    text = Text(f"No answer to {_quoted(question)} was found in {where}")
    # Without candidates, as after a search that found none, there was nothing to judge.
    if run["candidates"]:
        candidates = counted(run["candidates"], "passage")
        text.append(f": {run['judged']:,} of {candidates} judged")
    text.append(".")
    if pending:
        documents = counted(pending, "document")
        wait = f"\n{documents} of this corpus cannot be searched yet: ask again in a moment."
        text.append(wait, style="yellow")
    closest: list[RenderableType] = []
    if passages:
        head = "\nPlaces to look: the passages that come closest, from which no answer is shown:"
        closest = [Text(head, style="bold"), *_passages(passages)]
    return Group(text, *ending(run), *closest)


def _proven(rows: Sequence[Row], noun: str, relation: str, question: str) -> Text:
    """Render the line above all that was found, which has its proof."""
    each = "" if len(rows) == 1 else "each "
    title = _found(rows, noun, relation, question)
    return title.append(f", {each}with its proof")


def _found(rows: Sequence[Row], noun: str, relation: str, question: str) -> Text:
    """Render the line above all that was found."""
    number = counted(len(rows), noun)
    title = Text()
    title.append(number, style="bold")
    return title.append(f" {relation} {_quoted(question)}")


def _quoted(text: str) -> str:
    return f'"{printable(text)}"'


def _ordinal(row: Row) -> Text:
    return Text(f"{row['ordinal']}. ", style="bold")


def _line(lead: Text, text: str, style: str) -> Indented:
    """Render a text, which may be foreign, after its number or mark."""
    return Indented(lead, Text(printable(text), style=style))


def _below(lead: Text, text: str, style: str) -> Indented:
    """Render a text below the one that follows a number or mark."""
    return _line(blank(lead), text, style)


def _citations(citations: Sequence[Row], numbers: Iterator[int]) -> Iterator[RenderableType]:
    """Render the evidence of what was found.

    Args:
        citations: Rows with the columns of all views of citations.
        numbers: The numbers of citations that are free.
    """
    for cited in citations:
        number = next(numbers)
        lead = Text("   ")
        lead.append(f"[{number}] ", style="cyan")
        source = _source(cited)
        if cited["dated"] is not None:
            source.append(f"  {day(cited['dated'])}", style="dim")
        if not cited["is_current"]:
            source.append(f"  ({NOT_CURRENT})", style="yellow")
        quote = _quoted(cited["quote"])
        yield Indented(lead, source)
        yield _below(lead, quote, "italic")


def _source(passage: Row) -> Text:
    """Return the document of a passage, the headings above the passage, and its place."""
    source = Text()
    source.append(printable(passage["document_id"]), style="cyan")
    where = printable(title_of_passage(passage["title"], passage["heading"]))
    if where:
        source.append(f"  {where}")
    if passage["place"]:
        source.append(f"  {printable(passage['place'])}", style="dim")
    return source
