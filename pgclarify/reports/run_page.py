"""The page of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from pgclarify.client.remarks import support
from pgclarify.language.excerpts import Excerpt, flowing, mark_quote
from pgclarify.reports.formats import shortened
from pgclarify.reports.pages import render
from pgclarify.reports.run_tables import Row, RunReport

_LONGEST_TITLE = 160


def run_page(report: RunReport) -> str:
    """Render the page of a run as self-contained HTML.

    Args:
        report: The data. All text in it may be hostile.
    """
    return render("run.html", written_at=report.written_at, **run_values(report))


def run_values(report: RunReport) -> dict[str, Any]:
    """Return what templates need to show a run, in a file or on the page where people ask."""
    head = report.head
    by_rank = {passage.rank: passage for passage in report.passages}
    cited: dict[int, list[int]] = {}
    for finding in report.findings:
        for rank in finding.ranks:
            cited.setdefault(rank, []).append(finding.ordinal)
    return {
        "title": f"Run {head.run_id}: {shortened(head.question, 80)}",
        "head": head,
        "headline": shortened(head.question, _LONGEST_TITLE),
        "is_long": len(head.question) > _LONGEST_TITLE,
        "noun": report.noun,
        "findings": [_shown(finding, by_rank) for finding in report.findings if finding.is_shown],
        "less_sure": [_shown(finding, by_rank) for finding in report.findings if not finding.is_shown],
        "passages": [
            {
                "passage": passage,
                "excerpt": marked(passage, passage.quote, passage.quote_start_char),
                # The findings that cite it.
                "ordinals": list(dict.fromkeys(cited.get(passage.rank, ()))),
            }
            for passage in report.passages
        ],
        "outcomes": Counter(passage.outcome or "no verdict" for passage in report.passages),
        "stages": _timeline(report),
        "reused_tokens": (
            sum(stage.reused_prompt_tokens for stage in report.stages),
            sum(stage.reused_completion_tokens for stage in report.stages),
        ),
        "model_seconds": sum(stage.model_ms for stage in report.stages) / 1000 if report.stages else None,
        "lines": report.lines,
    }


def _shown(finding: Row, by_rank: dict[int, Row]) -> Mapping[str, Any]:
    """Return a finding, and each of its citations with its passage."""
    proofs = [
        {"proof": proof, "excerpt": marked(by_rank.get(proof["candidate_rank"]), proof["quote"], proof["start_char"])}
        for proof in finding.citations
    ]
    documents = {proof["document_id"] for proof in finding.citations}
    told = support(vars(finding), len(documents)) if finding.kind == "reading" else None
    return {"finding": finding, "proofs": proofs, "support": told}


def marked(passage: Row | None, quote: str | None, start_char: int | None) -> Excerpt | None:
    """Mark a quote in its passage.

    Args:
        passage: The passage as it is now; None if it is gone.
        quote: Verbatim; None marks nothing.
        start_char: The recorded offset of the quote in the document; None if unknown.

    Returns:
        None if the passage cannot be read. A quote that the passage does not contain is not marked.
    """
    if passage is None or passage.content is None or passage.start_char is None:
        return None
    if not quote:
        return Excerpt(flowing(passage.content), "", "")
    return mark_quote(passage.content, quote, None if start_char is None else start_char - passage.start_char)


def _timeline(report: RunReport) -> list[Mapping[str, Any]]:
    """Return each stage with its place on the time line, in thousandths of the whole."""
    # A run with no duration still needs a scale.
    whole = max((stage.start_ms + stage.duration_ms for stage in report.stages), default=0.0) or 1.0
    return [
        {
            "stage": stage,
            "left": round(stage.start_ms / whole * 1000, 1),
            "width": round(max(stage.duration_ms / whole * 1000, 2.0), 1),
        }
        for stage in report.stages
    ]
