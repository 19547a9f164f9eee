"""The page of a run."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime

from pgclarify.data.runs import Stage
from pgclarify.language.excerpts import Excerpt
from pgclarify.reports.evidence import marked, marked_proof
from pgclarify.reports.formats import shortened
from pgclarify.reports.pages import render
from pgclarify.reports.run_report import Row, RunReport

# Names of findings, singular and plural.
_NOUNS = {"investigate": ("step", "steps"), "list_answers": ("answer", "answers")}
_LONGEST_TITLE = 160


@dataclass(frozen=True, slots=True)
class ShownProof:
    """A citation with its passage, if that may be read."""

    proof: Row
    excerpt: Excerpt | None


@dataclass(frozen=True, slots=True)
class ShownFinding:
    """A finding with its evidence."""

    finding: Row
    proofs: tuple[ShownProof, ...]


@dataclass(frozen=True, slots=True)
class ShownPassage:
    """A passage and how it was found.

    Attributes:
        via_rank: Rank of the passage that led to it; None if none did, or if that passage is not shown.
        ordinals: The findings that cite it.
    """

    passage: Row
    excerpt: Excerpt | None
    via_rank: int | None
    ordinals: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ShownStage:
    """A stage with its place on the time line, in thousandths of the whole."""

    stage: Stage
    begin_ms: float
    left: float
    width: float


def run_page(report: RunReport) -> str:
    """Render the page of a run as self-contained HTML.

    Args:
        report: The data. All text in it may be hostile.
    """
    head = report.head
    by_rank = {passage.rank: passage for passage in report.passages}
    # Two steps of an investigation may find the same passage.
    ranks = {(passage.step_ordinal, passage.passage_id): passage.rank for passage in report.passages}
    cited: dict[int, list[int]] = {}
    for finding in report.findings:
        for proof in finding.proofs:
            cited.setdefault(proof.candidate_rank, []).append(finding.ordinal)
    return render(
        "run.html",
        title=f"Run {head.run_id}: {shortened(head.question, 80)}",
        written_at=report.written_at,
        head=head,
        headline=shortened(head.question, _LONGEST_TITLE),
        is_long=len(head.question) > _LONGEST_TITLE,
        noun=_NOUNS.get(head.operation, ("reading", "readings")),
        findings=[_shown(finding, by_rank) for finding in report.findings],
        finds=head.operation != "search",
        passages=[
            ShownPassage(
                passage,
                marked(passage, passage.quote, passage.quote_start_char),
                None if passage.via_passage_id is None else ranks.get((passage.step_ordinal, passage.via_passage_id)),
                tuple(dict.fromkeys(cited.get(passage.rank, ()))),
            )
            for passage in report.passages
        ],
        judged=sum(passage.outcome in ("grounded", "abstained") for passage in report.passages),
        outcomes=Counter(passage.outcome or "not judged" for passage in report.passages),
        waited=_between(head.created_at, head.started_at),
        took=_between(head.started_at, head.finished_at),
        stages=_timeline(report),
        reused_tokens=(
            sum(stage.reused_prompt_tokens for stage in report.stages),
            sum(stage.reused_completion_tokens for stage in report.stages),
        ),
        model_seconds=sum(stage.model_ms for stage in report.stages) / 1000 if report.stages else None,
        explanation="\n".join(report.explanation),
    )


def _shown(finding: Row, by_rank: dict[int, Row]) -> ShownFinding:
    proofs = tuple(
        ShownProof(proof, marked_proof(proof, by_rank.get(proof.candidate_rank))) for proof in finding.proofs
    )
    return ShownFinding(finding, proofs)


def _between(begin: datetime | None, end: datetime | None) -> float | None:
    return None if begin is None or end is None else (end - begin).total_seconds()


def _timeline(report: RunReport) -> list[ShownStage]:
    if not report.stages:
        return []
    begin = min(stage.started_at for stage in report.stages)
    spans = [((stage.started_at - begin).total_seconds() * 1000, stage.duration_ms) for stage in report.stages]
    # A run with no duration still needs a scale.
    whole = max(start + duration for start, duration in spans) or 1.0
    return [
        ShownStage(stage, start, round(start / whole * 1000, 1), round(max(duration / whole * 1000, 2.0), 1))
        for stage, (start, duration) in zip(report.stages, spans, strict=True)
    ]
