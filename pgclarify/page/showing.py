"""Renders the page from what one person sees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pgclarify import __version__
from pgclarify.client.result_records import Estimate
from pgclarify.data.vocabulary import RunStatus
from pgclarify.declared.operations import OPERATIONS
from pgclarify.errors import PgclarifyError
from pgclarify.page.reading import Pane, SeenRun, Surroundings
from pgclarify.page.sessions import Row
from pgclarify.reports.pages import environment
from pgclarify.reports.run_page import run_values

# These have readings, which can be rated once the run has ended well.
_WITH_READINGS: Final = frozenset(name for name, one in OPERATIONS.items() if one.finds_readings)
_ENDED_WELL: Final = (RunStatus.SUCCEEDED, RunStatus.PARTIAL)


@dataclass(frozen=True, slots=True)
class Page:
    """What templates show: see the classes of each part.

    Attributes:
        around: What stands around each page; None if it could not be read.
        seen: The run of the page; None on the first page.
        pane: The document beside it.
        progress: How far the run is; None once it is over.
        estimate: What the question of the form would cost, if that was asked.
        estimate_error: Why that is not known.
        error: What went wrong.
    """

    around: Surroundings | None = None
    seen: SeenRun | None = None
    pane: Pane | None = None
    progress: Row | None = None
    estimate: Estimate | None = None
    estimate_error: PgclarifyError | None = None
    error: PgclarifyError | None = None
    run_id: int | None = None

    @property
    def address(self) -> str:
        """The address of the run."""
        return f"/run/{self.run_id}"

    def quote(self, ordinal: int, rank: int) -> str:
        """Return the address of the run beside the document of a quote."""
        return f"{self.address}?quote={ordinal}.{rank}"

    def passage(self, rank: int) -> str:
        """Return the address of the run beside the document of a passage that it found."""
        return f"{self.address}?passage={rank}"

    @property
    def can_rate(self) -> bool:
        """Whether the run has readings that can be rated."""
        if self.seen is None:
            return False
        head = self.seen.report.head
        return head.operation in _WITH_READINGS and head.status in _ENDED_WELL

    def render(self, template: str = "") -> str:
        """Return the page as HTML, or a part of it.

        Args:
            template: A part; empty for the whole page.
        """
        chosen = template or ("live_home.html" if self.seen is None else "live_run.html")
        values = {"title": "pgclarify"} if self.seen is None else run_values(self.seen.report)
        return environment().get_template(chosen).render(page=self, version=__version__, **values)
