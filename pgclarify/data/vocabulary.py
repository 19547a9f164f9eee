"""Names that applications and workers share: states, outcomes and kinds; and the class of a document.

They are separate from the data of workers (`model`, `steps`, `dialogue`), so that the client need not import that.
Building its classes would be a third of the client's import time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Any, Final

# Prefix of the name of an embedding model behind an endpoint.
AT_ENDPOINT: Final = "endpoint:"
# Prefix of the names of threads that load models.
LOADING: Final = "loading"


class RunStatus(StrEnum):
    """States of a run; see docs/run-states.md for the diagram."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    PARTIAL = "partial"
    FAILED = "failed"
    CANCELLED = "cancelled"


class StopCode(StrEnum):
    """Why a run that was not cancelled has no result, or a partial one; docs/run-states.md defines each code."""

    NOT_ANSWERED = "not_answered"
    NO_LANGUAGE_MODEL = "no_language_model"
    LANGUAGE = "language"
    THRESHOLD = "threshold"
    UNPROVEN = "unproven"
    NO_PASSAGE = "no_passage"
    LIMIT = "limit"
    BUDGET = "budget"
    FAILED_CALLS = "failed_calls"


class Outcome(StrEnum):
    """The decision on one candidate."""

    GROUNDED = "grounded"
    ABSTAINED = "abstained"
    FAILED = "failed"
    ERASED = "erased"


class StepKind(StrEnum):
    """The kind of a step in an investigation."""

    DIRECT = "direct"
    """The question itself: it was not split, or the plan did not answer it."""

    FOLLOW_UP = "follow_up"
    """A question of the plan."""

    CONCLUSION = "conclusion"
    """Always the last one: the run's answer to the whole question."""


class StepOutcome(StrEnum):
    """How a step of an investigation ended."""

    ANSWERED = "answered"
    """A quote from a passage proves the answer."""

    NOT_IN_CORPUS = "not_in_corpus"
    """There is no evidence for an answer."""

    CUT_OFF = "cut_off"
    """The limit on calls was reached before an answer was found."""

    FAILED = "failed"
    """The model could not be reached, or its reply could not be read."""


class AmbiguityType(StrEnum):
    """How to resolve an ambiguous question. Source: AT-CoT, §3.1 and Table 1."""

    SEMANTIC = "semantic"
    """It has several meanings: choose one."""

    GENERALIZE = "generalize"
    """The user may mean something broader."""

    SPECIFY = "specify"
    """It is too broad: narrow it."""


@dataclass(frozen=True, slots=True)
class Document:
    """One citable document, as a parser of files returns it.

    Attributes:
        document_id: The user's own id; unique in its corpus.
        content: Plain text or Markdown. Offsets of passages and citations count in it.
        title: Null if the document has none.
        uri: Where people find the original.
        metadata: Any JSON object.
        readers: Roles that may read it; None means every reader of the corpus.
        dated: When it was written or published: a time, or a day. A time without a zone is in UTC. None if it is
            unknown; then the corpus may take it from the metadata.
        origin: The file of the document, as `pgclarify.ingest.naming` spells it; None without a file. A file replaces
            only its own document, which keeps its id.
        places: Where its pages, slides, sheets or rows begin: objects with start_char, kind and name, in this order.
        unread: What its file has and the content does not, such as pictures: each kind with its number.
        found_in: Where it was found, for errors: a file, or "line 3 of faq.jsonl"; None if it was not read from a file.
    """

    document_id: str
    content: str
    title: str | None = None
    uri: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    readers: tuple[str, ...] | None = None
    origin: str | None = None
    dated: date | None = None
    places: Sequence[Mapping[str, Any]] = ()
    unread: Mapping[str, int] = field(default_factory=dict)
    found_in: str | None = field(default=None, compare=False)
