"""What operations that look at a question keep, and where they find it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from pgclarify.data.dialogue import (
    ClarifyingQuestion,
    Detection,
    ListedAnswer,
    MatchedRule,
    Rewriting,
    TrainedVersion,
    Turn,
)
from pgclarify.data.runs import Run


class DialogueStore(Protocol):
    """Detections, rewritten questions, clarifying questions and listed answers."""

    async def match_rules(self, run: Run, questions: Sequence[str]) -> list[MatchedRule]:
        """Find the rules of ambiguity that questions match: those for all corpora, and those for the run's.

        Returns:
            By question, then by rule.

        Raises:
            RunLost: If the run is no longer this worker's.
            ConfigurationError: If a rule takes too long; it names the rule.
        """

    async def trained_classifier(
        self, run: Run, known_ids: Collection[int]
    ) -> tuple[int, TrainedVersion | None] | None:
        """Find the trained version that judges the questions of a run's corpus.

        Args:
            run: The run, which has a corpus.
            known_ids: Keys of versions that the caller has read before: none of them ever changes.

        Returns:
            Its key and the version, or the key alone if it is known; None if the classifier that ships judges.

        Raises:
            RunLost: If the run is no longer this worker's.
        """

    async def record_detections(self, run: Run, detections: Sequence[Detection]) -> None:
        """Store detections, in the order of the run's questions; they replace earlier ones.

        Raises:
            RunLost: If the run is no longer this worker's.
        """

    async def record_route(self, run: Run, route: str, saved_completions: int) -> None:
        """Store the route of a run with ask_back when_vague.

        Args:
            run: The run.
            route: answered or clarified.
            saved_completions: How many calls this saved.

        Raises:
            RunLost: If the run is no longer this worker's.
        """

    async def record_rewriting(self, run: Run, rewriting: Rewriting) -> None:
        """Store the rewritten question of a run; it replaces an earlier one.

        Raises:
            RunLost: If the run is no longer this worker's.
        """

    async def record_clarifying_questions(self, run: Run, questions: Sequence[ClarifyingQuestion]) -> None:
        """Store clarifying questions with their evidence; they replace earlier ones.

        The cited candidates must be recorded already.

        Raises:
            RunLost: If the run is no longer this worker's.
        """

    async def turns(self, run: Run) -> tuple[str, list[Turn]]:
        """Read the conversation that a run of reply continues.

        Returns:
            The original question; and the questions and replies since then, in order. The last one is the turn of this
            run.

        Raises:
            RunLost: If the run is no longer this worker's.
        """

    async def record_answer(self, run: Run, answer: ListedAnswer) -> None:
        """Store an answer with its evidence; it replaces an answer with the same ordinal.

        It is durable when this returns, and visible to others while the run is not over. The candidates that it cites
        must be recorded already.

        Raises:
            RunLost: If the run is no longer this worker's.
        """
