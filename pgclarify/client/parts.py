"""Parts of records: what several of them have, and what is no row by itself."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from pgclarify.data.vocabulary import RunStatus


@dataclass(frozen=True, slots=True)
class Citation:
    """A passage that proves a reading, an answer, a reformulation or a step.

    Attributes:
        rank: Place among the citations of the same item, from 1.
        document_id: The document, by your own id.
        title: Its title now; None if it has none or is gone.
        uri: Its address, for people; None if it has none or is gone.
        passage_id: The passage.
        heading: Headings above the passage when it was cited; None if there were none.
        quote: The words that prove the answer, verbatim.
        start_char: Offset of the quote in the current document, from 0; its former offset if the quote is gone.
        end_char: Offset of the end of the quote, likewise.
        is_current: True if the document still has the quote.
        is_medoid: True for the citation that represents its reading; None unless it is of a reading.
        dated: The date of the document, in UTC; midnight if only the day is known. None if it is unknown or gone.
        place: Where in the document it is, such as "page 7" or "sheet Prices, row 12"; None if that is unknown.
    """

    rank: int
    document_id: str
    title: str | None
    uri: str | None
    passage_id: int
    heading: str | None
    quote: str
    start_char: int
    end_char: int
    is_current: bool
    is_medoid: bool | None = None
    dated: datetime | None = None
    place: str | None = None


@dataclass(frozen=True, slots=True)
class AmbiguityReason:
    """One reason for or against ambiguity.

    Attributes:
        source: classifier, feature or rule (a row of ambiguity_rule).
        name: Name of the reason within its source.
        text: The reason in words.
    """

    source: str
    name: str
    text: str


class Ending:
    """A record with the status of a run."""

    __slots__ = ()

    status: RunStatus

    @property
    def is_over(self) -> bool:
        """Tell whether the run has ended."""
        return is_over(self.status)


def is_over(status: RunStatus) -> bool:
    """Tell whether a run in this state has ended."""
    return status not in (RunStatus.QUEUED, RunStatus.RUNNING)
