"""What the page shows, as one person sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pgclarify.errors import NotFound
from pgclarify.page.document import MOST_CHARACTERS, Piece, pieces
from pgclarify.page.forms import Question, Shown
from pgclarify.page.sessions import Row, Session
from pgclarify.reports.run_tables import RunReport, no_run, report_of


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What stands around each page.

    Attributes:
        seen_by: The role that asks.
        corpora: Names of the corpora that it may search.
        budgets: Budgets that bind it, the one with the least left first.
        models: Language models of the workers.
        has_worker: Whether a worker is alive.
        questions: The role's latest questions.
        form: What stands in the form.
    """

    seen_by: str
    corpora: Sequence[str]
    budgets: Sequence[Mapping[str, Any]]
    models: Sequence[str]
    has_worker: bool
    questions: Sequence[Row]
    form: Question


@dataclass(frozen=True, slots=True)
class Pane:
    """A document beside a run.

    Attributes:
        shown: What it is of.
        target: The citation or the candidate.
        document: The row of the document; None if it is gone, or closed to the role.
        pieces: Its text, or a part of it.
        copies: Passages of the run with the same text.
        has_quote: Whether its quote stands in the document.
        earlier: Where the part before begins; None at the begin.
        later: Where the part after begins; None at the end.
    """

    shown: Shown
    target: Row
    document: Row | None
    pieces: Sequence[Piece] = ()
    copies: Sequence[Row] = ()
    has_quote: bool = False
    earlier: int | None = None
    later: int | None = None

    @property
    def title(self) -> str:
        """The title of the document, or its id."""
        known = self.document["title"] if self.document is not None else self.target["title"]
        title: str = known or self.target["document_id"]
        return title


@dataclass(frozen=True, slots=True)
class SeenRun:
    """A run with what people said of it.

    Attributes:
        report: The run.
        ratings: What the role has said of readings, by ordinal.
        missing: The missing answer that it has named; None for none.
    """

    report: RunReport
    ratings: Mapping[int, Row]
    missing: str | None


async def read_surroundings(session: Session, form: Question) -> Surroundings:
    """Read what stands around each page."""
    (known,) = await session.rows("page_read_surroundings")
    return Surroundings(**known, questions=await session.rows("page_list_questions"), form=form)


async def read_run(session: Session, run_id: int) -> SeenRun:
    """Read a run.

    Raises:
        NotFound: If there is none that the role may see.
    """
    head = await session.row("report_run", run_id=run_id)
    report = report_of(head, run_id, datetime.now(UTC))
    said = await session.rows("page_read_ratings", run_id=run_id)
    return SeenRun(
        report,
        {row["ordinal"]: row for row in said if row["ordinal"] is not None},
        next((row["missing"] for row in said if row["ordinal"] is None), None),
    )


async def read_progress(session: Session, run_id: int) -> Row:
    """Read how far a run is. Errors as of read_run."""
    found = await session.row("page_read_progress", run_id=run_id)
    if found is None:
        raise no_run(run_id)
    return found


async def read_pane(session: Session, run_id: int, shown: Shown) -> Pane:
    """Read the document of a quote or a passage.

    Raises:
        NotFound: If the run has no such quote or passage that the role may see.
    """
    asked = {"run_id": run_id, "rank": shown.rank}
    target = (
        await session.row("page_find_passage", **asked)
        if shown.ordinal is None
        else await session.row("page_find_quote", ordinal=shown.ordinal, **asked)
    )
    if target is None:
        raise NotFound(
            "no such quote", detail=f"Run {run_id} has none, or none that you may see.", hint="Choose one of the page."
        )
    document = await session.row(
        "page_read_document",
        corpus_id=target["corpus_id"],
        document_id=target["document_id"],
        quote=target["quote"],
        start_char=target["start_char"],
        passage_start=target["passage_start"],
        from_char=shown.from_char,
        most=MOST_CHARACTERS,
    )
    copies = await session.rows("page_list_copies", run_id=run_id, rank=target["candidate_rank"], ordinal=shown.ordinal)
    if document is None:
        return Pane(shown, target, None, copies=copies)
    start, content, found = document["start_char"], document["content"], document["quote_start"]
    quote = None if found is None else (found, found + len(target["quote"]))
    known = target["passage_start"]
    passage = None if known is None else (known, target["passage_end"])
    end = start + len(content)
    return Pane(
        shown,
        target,
        document,
        pieces(content, start, quote, passage, document["places"] or ()),
        copies,
        has_quote=found is not None,
        earlier=max(0, start - MOST_CHARACTERS) if start > 0 else None,
        later=end if end < document["length"] else None,
    )
