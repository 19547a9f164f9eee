"""Citations, in the form that a worker writes. `pgclarify.client.parts` has the form that an application reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Citation:
    """A passage that proves a result of a run: an interpretation, a step, a clarifying question or a listed answer.

    Attributes:
        candidate_rank: Names the candidate within the run; a conclusion cites candidates of other steps.
        quote: As the document spells it.
        start_char: Offset of the quote in the document.
        end_char: Offset after the quote.
        is_medoid: Whether it is the medoid of its interpretation's cluster; None if it proves no interpretation.
        reading_ordinal: Which of the verdicts on the candidate it comes from.
    """

    candidate_rank: int
    quote: str
    start_char: int
    end_char: int
    is_medoid: bool | None = None
    reading_ordinal: int = 1


@dataclass(frozen=True, slots=True)
class Result:
    """A result of a run: its fields are the columns of its table, and citations if it has any.

    Attributes:
        relation: The table.
    """

    relation: ClassVar[str]
