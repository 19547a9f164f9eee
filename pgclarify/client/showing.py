"""Records as HTML, for notebooks. All texts are escaped, because they come from corpora, models and users."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from html import escape
from typing import Any, TypeAlias

from pgclarify.client.parts import Citation
from pgclarify.client.records import Answer, CitedPassage
from pgclarify.client.remarks import NOT_CURRENT, support, title_of_passage
from pgclarify.client.result_records import Interpretation, ListedAnswer, ProposedQuestion, SearchResult
from pgclarify.language.excerpts import flowing, mark_quote

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
        return f"<pre>{escape(chr(10).join(records))}</pre>"
    known = {(passage.document_id, passage.passage_id): passage for passage in passages}
    shown = [_show(record, known) for record in records]
    if all(shown):
        return f"<div style='max-width:60em'>{''.join(filter(None, shown))}</div>"
    return _table([asdict(record) for record in records])


def _show(record: object, passages: _Passages) -> str | None:
    """Return a record that has texts to read; None if a row of a table shows it best."""
    match record:
        case Interpretation():
            remark = support(record.support, is_contested=record.is_contested)
            return _item(record.ordinal, record.interpretation, record.answer, remark, record.citations, passages)
        case ListedAnswer():
            spellings = ", ".join(record.variants[1:])
            return _item(record.ordinal, record.answer, "", spellings, record.citations, passages)
        case ProposedQuestion():
            title = record.clarifying_question or record.reformulation or ""
            return _item(record.ordinal, title, "", record.ambiguity_type or "", record.citations, passages)
        case SearchResult():
            source = _source(record.document_id, record.title, record.heading)
            return _proof(f"{source}\n{escape(flowing(record.content))}")
        case Answer():
            readings = "".join(_show(reading, passages) or "" for reading in record.interpretations)
            why = f"{record.status}, {record.stop_code}" if record.stop_code else str(record.status)
            return f"<h4>{escape(record.question)}</h4>" + (readings or f"<p style='{_QUIET}'>No reading: {why}</p>")
    return None


def _item(
    ordinal: int, title: str, answer: str, remark: str, citations: Sequence[Citation], passages: _Passages
) -> str:
    parts = [f"<b>{ordinal}. {escape(title)}</b>", escape(answer), f"<span style='{_QUIET}'>{escape(remark)}</span>"]
    told = "<br>".join(part for part, text in zip(parts, (title, answer, remark), strict=True) if text)
    return f"<p>{told}</p>" + "".join(_citation(citation, passages) for citation in citations)


def _citation(citation: Citation, passages: _Passages) -> str:
    passage = passages.get((citation.document_id, citation.passage_id))
    text, start = (
        (citation.quote, 0) if passage is None else (passage.content, citation.start_char - passage.start_char)
    )
    shown = mark_quote(text, citation.quote, start)
    if not shown.marked:
        shown = mark_quote(citation.quote, citation.quote, 0)
    changed = "" if citation.is_current else f" ({NOT_CURRENT})"
    quote = f"{escape(shown.before)}<mark>{escape(shown.marked)}</mark>{escape(shown.after)}"
    return _proof(f"{_source(citation.document_id, citation.title, citation.heading)}{changed}\n{quote}")


def _source(document_id: str, title: str | None, heading: str | None) -> str:
    return f"<span style='{_QUIET}'>{escape(title_of_passage(title or document_id, heading) or '')}</span>"


def _proof(html: str) -> str:
    return f"<div style='{_PROOF}'>{html}</div>"


def _table(rows: Sequence[Mapping[str, object]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in rows[0])
    body = "".join(
        "<tr>" + "".join(f"<td>{'' if value is None else escape(str(value))}</td>" for value in row.values()) + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
