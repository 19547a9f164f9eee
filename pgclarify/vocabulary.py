"""What applications see as well as workers: states, outcomes and kinds by name, and a document.

Apart from the data of workers (`model`, `steps`, `dialogue`), so that the client need not import that: building its
classes would make up a third of the client's import time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

# With this begins the name of an embedding model that is behind an endpoint.
AT_ENDPOINT: Final = "endpoint:"


class RunStatus(StrEnum):
    """States of a run; see docs/run-states.md for the diagram."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    PARTIAL = "partial"
    FAILED = "failed"
    CANCELLED = "cancelled"


class StopCode(StrEnum):
    """Why a run that ended by itself has no result, or not all of it; docs/run-states.md says what each means."""

    NOT_ANSWERED = "not_answered"
    NO_LANGUAGE_MODEL = "no_language_model"
    LANGUAGE = "language"
    THRESHOLD = "threshold"
    UNPROVEN = "unproven"
    REPEATED = "repeated"
    NO_PASSAGE = "no_passage"
    CONTRADICTED = "contradicted"
    LIMIT = "limit"
    BUDGET = "budget"
    FAILED_CALLS = "failed_calls"


class Outcome(StrEnum):
    """What was decided about one candidate."""

    GROUNDED = "grounded"
    ABSTAINED = "abstained"
    FAILED = "failed"
    ERASED = "erased"


class StepKind(StrEnum):
    """What a step of an investigation is."""

    DIRECT = "direct"
    """The question itself, without a follow-up."""

    FOLLOW_UP = "follow_up"
    """One question that the whole one rests on."""

    CONCLUSION = "conclusion"
    """Always the last one: the run's answer to the whole question."""


class StepOutcome(StrEnum):
    """How a step of an investigation ended."""

    ANSWERED = "answered"
    """A quote from a passage proves the answer."""

    NOT_IN_CORPUS = "not_in_corpus"
    """There is no evidence for an answer."""

    REPEATED = "repeated"
    """It was asked before: the decomposition went round in a circle, and ended there."""

    CONTRADICTED = "contradicted"
    """Steps contradict each other, and the evidence does not decide between them."""

    CUT_OFF = "cut_off"
    """The limit on calls was reached before there was an answer."""

    FAILED = "failed"
    """The model could not be reached, or not be understood."""


class AmbiguityType(StrEnum):
    """What could be done about an ambiguous question. Source: AT-CoT, §3.1 and Table 1."""

    SEMANTIC = "semantic"
    """It can mean several things: settle which."""

    GENERALIZE = "generalize"
    """Something broader may be meant."""

    SPECIFY = "specify"
    """It covers too much: narrow it."""


@dataclass(frozen=True, slots=True)
class Document:
    """One citable document, as a reader of files hands it over.

    Attributes:
        document_id: The user's own id; unique in its corpus.
        content: Plain text or Markdown. Offsets of passages and citations count in it.
        title: Null if the document has none.
        uri: Where a person finds the original.
        metadata: Any JSON object.
        readers: Roles that may read it; None means every reader of the corpus.
        origin: The file that it comes from, as `pgclarify.ingest.naming` spells it; None if it comes from none. A file
            replaces only its own document, which keeps its id.
        known_as: Another origin of the same file, under which its document may be stored; None if there is none.
    """

    document_id: str
    content: str
    title: str | None = None
    uri: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    readers: tuple[str, ...] | None = None
    origin: str | None = None
    known_as: str | None = None
