"""The tables of a dialogue: detections, rewritten questions, clarifying questions, conversations and listed answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from pgclarify.database.pool import fetch
from pgclarify.database.runs import Runs
from pgclarify.dialogue import ClarifyingQuestion, Detection, ListedAnswer, MatchedRule, Rewriting, Turn
from pgclarify.model import Run


class DialogueTables:
    """`pgclarify.protocols.DialogueStore` for the runs of a worker."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    async def match_rules(self, run: Run, questions: Sequence[str]) -> list[MatchedRule]:
        """See DialogueStore."""
        rows = await fetch(
            self._runs.pool,
            "match_ambiguity_rules",
            run_id=run.run_id,
            attempt=run.attempt,
            questions=list(questions),
        )
        return [MatchedRule(**row) for row in rows]

    async def record_detections(self, run: Run, detections: Sequence[Detection]) -> None:
        """See DialogueStore."""
        await fetch(
            self._runs.pool,
            "record_detections",
            run_id=run.run_id,
            attempt=run.attempt,
            detections=json.dumps([asdict(detection) for detection in detections]),
        )

    async def record_route(self, run: Run, route: str, saved_completions: int) -> None:
        """See DialogueStore."""
        await fetch(
            self._runs.pool,
            "record_route",
            run_id=run.run_id,
            attempt=run.attempt,
            route=route,
            saved_completions=saved_completions,
        )

    async def record_rewriting(self, run: Run, rewriting: Rewriting) -> None:
        """See DialogueStore."""
        await fetch(
            self._runs.pool,
            "record_rewriting",
            run_id=run.run_id,
            attempt=run.attempt,
            rewriting=json.dumps(asdict(rewriting)),
        )

    async def record_clarifying_questions(self, run: Run, questions: Sequence[ClarifyingQuestion]) -> None:
        """See DialogueStore."""
        await fetch(
            self._runs.pool,
            "record_clarifying_questions",
            run_id=run.run_id,
            attempt=run.attempt,
            questions=json.dumps([asdict(question) for question in questions]),
        )

    async def turns(self, run: Run) -> tuple[str, list[Turn]]:
        """See DialogueStore."""
        rows = await fetch(self._runs.pool, "conversation_turns", run_id=run.run_id, attempt=run.attempt)
        return rows[0]["question"], [Turn(asked=row["asked"], reply=row["reply"]) for row in rows]

    async def record_answer(self, run: Run, answer: ListedAnswer) -> None:
        """See DialogueStore."""
        await fetch(
            self._runs.pool,
            "record_answer",
            run_id=run.run_id,
            attempt=run.attempt,
            answer=json.dumps(asdict(answer)),
        )
