"""The page over made-up rows, as Starlette's test client sees it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from types import SimpleNamespace
from typing import Any, cast

from starlette.testclient import TestClient

from pgclarify.client.result_records import Estimate
from pgclarify.errors import PermissionDenied
from pgclarify.page.application import application
from pgclarify.page.gate import Doors, doors_of
from pgclarify.page.sessions import Sessions
from tests.unit.reports.reported import AT, QUOTE, run_report

PORT = 8713
HERE = f"http://127.0.0.1:{PORT}"
# As browsers send them with a form of the page.
FORM = {"origin": HERE, "sec-fetch-site": "same-origin"}
DOCUMENT = f"# Letter\n\nBefore. {QUOTE} After."


def report_row(text: str = "", **changes: Any) -> dict[str, Any]:
    """The row of statement report_run."""
    report = run_report(text)
    parts = {
        "noun": report.noun,
        "findings": [vars(one) for one in report.findings],
        "passages": [vars(one) for one in report.passages],
        "stages": [vars(one) for one in report.stages],
        "lines": [vars(one) for one in report.lines],
    }
    return {**vars(report.head), "filter": None, "report": parts, **changes}


def surroundings(**changes: Any) -> dict[str, Any]:
    """The row of what stands around each page."""
    known = {"seen_by": "alice", "corpora": ["insurance", "claims"], "budgets": [], "models": [], "has_worker": True}
    return known | changes


def progress(**changes: Any) -> dict[str, Any]:
    """The row of how far a run is."""
    ended = {"status": "succeeded", "is_over": True, "is_own": True}
    return ended | {"candidates": 7, "verdicts": 7, "has_worker": True} | changes


def quote_row(text: str = "", **changes: Any) -> dict[str, Any]:
    """The row of a citation, or of a passage."""
    cited = {
        "corpus_id": 1, "document_id": f"d1{text}", "title": f"Letter{text}", "heading": f"Letter > Limits{text}",
        "quote": QUOTE, "start_char": 18, "candidate_rank": 1, "outcome": None, "reason": None, "passage_start": None,
        "passage_end": None,
    }  # fmt: skip
    return cited | changes


def document_row(content: str = DOCUMENT, **changes: Any) -> dict[str, Any]:
    """The row of a part of a document."""
    found = content.find(QUOTE)
    stored = {
        "document_id": "d1", "title": "Letter", "uri": None, "dated": AT, "updated_at": AT, "origin": "",
        "places": None, "length": len(content), "quote_start": found if found >= 0 else None, "start_char": 0,
        "content": content, "place": "page 7",
    }  # fmt: skip
    return stored | changes


@dataclass
class FakeDatabase:
    """Rows by the name of their statement, and what was sent.

    Attributes:
        rows: The rows of each statement.
        roles: Roles that the login may become; None if the page takes no roles.
        sent: Statements and calls, with the role and whether they could store something.
    """

    rows: dict[str, list[Mapping[str, Any]]] = field(default_factory=dict)
    roles: set[str] | None = None
    sent: list[tuple[str | None, bool, str, Mapping[str, Any]]] = field(default_factory=list)

    @asynccontextmanager
    async def open(self, role: str | None, may_store: bool) -> AsyncIterator[Any]:
        if self.roles is not None and role not in self.roles:
            raise PermissionDenied("this role cannot ask here")

        async def rows(name: str, **parameters: Any) -> list[Mapping[str, Any]]:
            self.sent.append((role, may_store, name, parameters))
            return self.rows.get(name, [])

        async def row(name: str, **parameters: Any) -> Mapping[str, Any] | None:
            return next(iter(await rows(name, **parameters)), None)

        async def submit(operation: str, question: str | None = None, **options: Any) -> int:
            self.sent.append((role, may_store, operation, {"question": question, **options}))
            return 42

        async def cancel(run_ids: list[int]) -> int:
            self.sent.append((role, may_store, "cancel", {"run_ids": run_ids}))
            return 1

        async def result(_run_id: int) -> list[Estimate]:
            return [Estimate(1, 1, 1, 0, 1, 18, 20, 2, 9000, 400, Decimal("0.0123"), "small")]

        client = SimpleNamespace(submit=submit, cancel=cancel, result=result)
        yield SimpleNamespace(rows=rows, row=row, client=client)

    def reading(self, role: str | None) -> Any:
        return self.open(role, may_store=False)

    def writing(self, role: str | None) -> Any:
        return self.open(role, may_store=True)


def database(**rows: Any) -> FakeDatabase:
    """A database with a run, its quotes and their document. Names are those of statements; a row may stand alone."""
    usual = {
        "page_read_surroundings": surroundings(),
        "report_run": report_row(),
        "page_read_progress": progress(),
        "page_find_quote": quote_row(),
        "page_find_passage": quote_row(candidate_rank=5, outcome="grounded"),
        "page_read_document": document_row(),
    }
    known = {name: row if isinstance(row, list) else [row] for name, row in (usual | rows).items()}
    return FakeDatabase(known)


def client(fake: FakeDatabase, doors: Doors | None = None, **options: Any) -> TestClient:
    """A browser of the page, which does not follow redirects."""
    app = application(cast("Sessions", fake), doors or doors_of(PORT, None))
    return TestClient(app, base_url=HERE, follow_redirects=False, **options)
