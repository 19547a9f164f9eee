"""Records as HTML, for notebooks. All texts are escaped, because they come from corpora, models and users."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from html import escape
from typing import Any, TypeAlias

from pgclarify.client.parts import Citation
from pgclarify.client.records import Answer, CitedPassage
from pgclarify.client.remarks import NOT_CURRENT, day, support, title_of_passage
from pgclarify.client.result_records import Interpretation, ListedAnswer, ProposedQuestion, SearchResult
from pgclarify.language.excerpts import Excerpt, flowing, mark_quote

_Passages: TypeAlias = Mapping[tuple[str, int], CitedPassage]
_PROOF = "margin:.4em 0 .4em 1.2em;padding-left:.8em;border-left:3px solid #8888;white-space:pre-line"
_QUIET = "opacity:.7"


def show(records: Sequence[Any], passages: Iterable[CitedPassage]) -> str:
    """Return records as HTML.

    Args:
        records: Records of one class, or lines of text.
        passages: The passages that they cite, if they could be read.
    """
    if not records:
        return f"<p style='{_QUIET}'>No rows.</p>"
    if isinstance(records[0], str):
        lines = "\n".join(records)
        return f"<pre>{escape(lines)}</pre>"
    known = {(passage.document_id, passage.passage_id): passage for passage in passages}
    shown = [_show(record, known) for record in records]
    if None in shown:
        return _table([asdict(record) for record in records])
    html = "".join(filter(None, shown))
    return f"<div style='max-width:60em'>{html}</div>"


def _show(record: object, passages: _Passages) -> str | None:
    """Return a record that has texts to read; None if a row of a table shows it best."""
    match record:
        case Interpretation():
            return _reading(record, passages)
        case ListedAnswer():
            return _listed_answer(record, passages)
        case ProposedQuestion():
            return _proposed_question(record, passages)
        case SearchResult():
            return _search_result(record)
        case Answer():
            return _answer(record, passages)
    return None


def _reading(reading: Interpretation, passages: _Passages) -> str:
    title = _title(reading.ordinal, reading.interpretation)
    answer = escape(reading.answer)
    remark = support(asdict(reading), len(reading.document_ids))
    return _paragraph(title, answer, _quiet(remark)) + _citations(reading.citations, passages)


def _listed_answer(listed: ListedAnswer, passages: _Passages) -> str:
    title = _title(listed.ordinal, listed.answer)
    other_spellings = ", ".join(listed.variants[1:])
    return _paragraph(title, _quiet(other_spellings)) + _citations(listed.citations, passages)


def _proposed_question(proposed: ProposedQuestion, passages: _Passages) -> str:
    title = _title(proposed.ordinal, proposed.clarifying_question or proposed.reformulation)
    kind = _quiet(proposed.ambiguity_type)
    return _paragraph(title, kind) + _citations(proposed.citations, passages)


def _search_result(found: SearchResult) -> str:
    source = _source(found.document_id, found.title, found.heading, found.place)
    text = escape(flowing(found.content))
    return _proof(f"{source}\n{text}")


def _answer(answer: Answer, passages: _Passages) -> str:
    """Return the readings of one of several questions, or why there is none."""
    title = f"<h4>{escape(answer.question)}</h4>"
    if answer.interpretations:
        readings = [_reading(reading, passages) for reading in answer.interpretations]
        return title + "".join(readings)
    why = str(answer.status)
    if answer.stop_code:
        why += f", {answer.stop_code}"
    return f"{title}<p style='{_QUIET}'>No reading: {why}</p>"


def _title(ordinal: int, title: str | None) -> str:
    if not title:
        return ""
    return f"<b>{ordinal}. {escape(title)}</b>"


def _quiet(text: str | None) -> str:
    """Return a text in a lighter color; nothing for none."""
    if not text:
        return ""
    return f"<span style='{_QUIET}'>{escape(text)}</span>"


def _paragraph(*lines: str) -> str:
    """Return a paragraph of lines of HTML, without those that are empty."""
    shown = "<br>".join(line for line in lines if line)
    return f"<p>{shown}</p>"


def _citations(citations: Sequence[Citation], passages: _Passages) -> str:
    return "".join(_citation(citation, passages) for citation in citations)


def _citation(citation: Citation, passages: _Passages) -> str:
    source = _source(citation.document_id, citation.title, citation.heading, citation.place)
    if citation.dated is not None:
        source += f" {day(citation.dated)}"
    if not citation.is_current:
        source += f" ({NOT_CURRENT})"
    excerpt = _excerpt(citation, passages)
    before = escape(excerpt.before)
    marked = escape(excerpt.marked)
    after = escape(excerpt.after)
    return _proof(f"{source}\n{before}<mark>{marked}</mark>{after}")


def _excerpt(citation: Citation, passages: _Passages) -> Excerpt:
    """Mark the quote in its passage; return the quote alone if the passage is not known, or does not have it now."""
    quote = citation.quote
    passage = passages.get((citation.document_id, citation.passage_id))
    if passage is not None:
        start = citation.start_char - passage.start_char
        excerpt = mark_quote(passage.content, quote, start)
        if excerpt.marked:
            return excerpt
    return mark_quote(quote, quote, 0)


def _source(document_id: str, title: str | None, heading: str | None, place: str | None) -> str:
    shown = title_of_passage(title or document_id, heading)
    if place is not None:
        shown += f", {place}"
    return _quiet(shown)


def _proof(html: str) -> str:
    return f"<div style='{_PROOF}'>{html}</div>"


def _table(rows: Sequence[Mapping[str, object]]) -> str:
    names = "".join(f"<th>{escape(name)}</th>" for name in rows[0])
    body = "".join(_table_row(row.values()) for row in rows)
    return f"<table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table>"


def _table_row(values: Iterable[object]) -> str:
    cells = "".join(f"<td>{_cell(value)}</td>" for value in values)
    return f"<tr>{cells}</tr>"


def _cell(value: object) -> str:
    return "" if value is None else escape(str(value))
