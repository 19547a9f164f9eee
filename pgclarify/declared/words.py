"""Which words of the closed vocabularies each column may have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from pgclarify.data.vocabulary import (
    AmbiguityKind,
    AmbiguityType,
    BudgetPeriod,
    EmbeddingUse,
    FindingKind,
    FindingLevel,
    Level,
    LoadPhase,
    Mend,
    Origin,
    Outcome,
    PlaceKind,
    Provider,
    Purpose,
    QuestionForm,
    Rating,
    ReasonSource,
    Refusal,
    Route,
    RunStatus,
    SourceState,
    SpaceState,
    StageName,
    StepKind,
    StepOutcome,
    StopCode,
    Vocabulary,
)

DOUBTS: Final[tuple[Refusal, ...]] = (
    Refusal.FRAGMENT,
    Refusal.ANSWER_NOT_QUOTED,
    Refusal.BESIDE_THE_POINT,
    Refusal.ABOUT_ANOTHER,
)
"""Why a check may doubt a reading that is shown."""

COLUMNS: Final[Mapping[str, tuple[Vocabulary, ...]]] = {
    "run.status": tuple(RunStatus),
    "run.stop_code": tuple(StopCode),
    "run.route": tuple(Route),
    "candidate.origin": tuple(Origin),
    "verdict.outcome": tuple(Outcome),
    "verdict.abstention_code": (
        StopCode.NOT_ANSWERED,
        StopCode.NO_LANGUAGE_MODEL,
        StopCode.LANGUAGE,
        StopCode.THRESHOLD,
        *Refusal,
    ),
    "verdict.doubt_code": DOUBTS,
    "interpretation.doubt": DOUBTS,
    "interpretation.level": tuple(Level),
    "step.kind": tuple(StepKind),
    "step.outcome": tuple(StepOutcome),
    "step.abstention_code": (StopCode.NOT_ANSWERED, StopCode.NO_PASSAGE, StopCode.UNPROVEN),
    "detection.kind": tuple(AmbiguityKind),
    "ambiguity_rule.kind": tuple(AmbiguityKind),
    "clarifying_question.ambiguity_type": tuple(AmbiguityType),
    "stage.name": tuple(StageName),
    "source.state": tuple(SourceState),
    "source.load_phase": tuple(LoadPhase),
    "embedding_space.state": tuple(SpaceState),
    "budget.period": tuple(BudgetPeriod),
    "embedding_usage.operation": tuple(EmbeddingUse),
    "feedback.rating": tuple(Rating),
    "eval_case.status": (RunStatus.SUCCEEDED, RunStatus.PARTIAL, RunStatus.FAILED),
}
"""The words that a column of a table may have: its CHECK `<table>_<column>_is_known`."""

UNCHECKED: Final[Mapping[str, tuple[Vocabulary, ...]]] = {
    "clarifying_question.form": tuple(QuestionForm),
    "completion.purpose": tuple(Purpose),
    "detection.reasons": tuple(ReasonSource),
    "document.places": tuple(PlaceKind),
    "finding.kind": tuple(FindingKind),
    "finding.level": tuple(FindingLevel),
    "run.mends": tuple(Mend),
    "stage.mends": tuple(Mend),
    "worker.provider": (Provider.OPENAI, Provider.EXTRACTIVE),
}
"""Likewise for columns without a CHECK: of views, inside of JSON, or with words of earlier releases."""


def listed(words: Iterable[Vocabulary], *, with_meanings: bool = True) -> str:
    """Return words as a part of a sentence, for comments: "day (a day in UTC) or total"."""
    *others, last = [f"{one} ({one.meaning})" if with_meanings and one.meaning else str(one) for one in words]
    return f"{', '.join(others)} or {last}" if others else last
