"""The methods that are operations of the SQL API, called as an application calls them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from pgclarify.client import (
    Ambiguity,
    Citation,
    EvidenceCitation,
    Interpretation,
    ListedAnswer,
    SearchResult,
    Step,
    StepCitation,
)
from pgclarify.database.evaluated_runs import RunFacts
from pgclarify.errors import InputError
from pgclarify.evaluated import Case, CitedPassage, Output, PredictedInterpretation, Usage
from pgclarify.evaluation.asking import Asking, Operation, Rankings, Submitted, Waiting
from pgclarify.evaluation.dialogue_methods import ClarifyingQuestions, Rewrite, corpus_to_check
from pgclarify.model import Passage
from pgclarify.protocols import Method
from pgclarify.vocabulary import StepKind, StepOutcome

_TOP_K = 20
# The last option that an operation checks before it starts is its timeout.
_CHECKED_LAST = "timeout"
_NO_TIME = 0.0
_WORD = "rental cars"


def sql_method(asking: Asking, method: str, settings: Mapping[str, Any]) -> Method:
    """Return the method of that name.

    Raises:
        ValueError: If it is not an operation of the SQL API.
    """
    made: Mapping[str, type[Operation]] = {
        "clarify": Clarify,
        "list_answers": ListAnswers,
        "investigate": Investigate,
        "search": Search,
        "detect_ambiguity": DetectAmbiguity,
        "rewrite": Rewrite,
        "clarifying_questions": ClarifyingQuestions,
    }
    if method not in made:
        raise ValueError(f"no operation is called {method}")
    return made[method](asking, settings)


async def check_settings(asking: Asking, method: str, settings: Mapping[str, Any]) -> None:
    """Check the parameters of an operation on the server, with a timeout of 0, so that it does nothing else.

    Raises:
        InputError: If one cannot be used.
        PgclarifyError: If the server refuses for another reason.
    """
    client, corpus = asking.client, asking.corpus.name
    try:
        match method:
            case "clarify":
                await client.clarify(_WORD, corpus=corpus, timeout=_NO_TIME, **settings)
            case "list_answers":
                await client.list_answers(_WORD, corpus=corpus, timeout=_NO_TIME, **settings)
            case "investigate":
                await client.investigate(_WORD, corpus=corpus, timeout=_NO_TIME, **settings)
            case "search":
                await client.search(_WORD, corpus=corpus, timeout=_NO_TIME, **settings)
            case "detect_ambiguity":
                await client.detect_ambiguity(_WORD, corpus=corpus, timeout=_NO_TIME, **settings)
            case "rewrite":
                await client.rewrite(_WORD, corpus=corpus, timeout=_NO_TIME, **settings)
            case "clarifying_questions" | "simulated_user":
                await client.clarifying_questions(
                    _WORD, corpus=corpus_to_check(asking, settings), timeout=_NO_TIME, **settings
                )
    except InputError as error:
        if error.parameter != _CHECKED_LAST:
            raise


class Clarify(Submitted):
    """`clarify`. Cites the medoid's passage first."""

    async def _submit(self, case: Case) -> int:
        asking = self._asking
        return await asking.client.submit("clarify", case.question, corpus=asking.corpus.name, **self._settings)

    async def _read(self, case: Case, run_id: int, facts: RunFacts, output: Output, rankings: Rankings) -> Output:
        found = await self._asking.client.result(run_id)
        return replace(
            output,
            interpretations=_readings(found, output.retrieved),
            notes={
                "relaxed_question": facts.relaxed_question,
                "stop_reason": facts.stop_reason,
                "answers_by_call": await self._answers_by_call(run_id, output.usage),
            },
        )

    async def _answers_by_call(self, run_id: int, usage: Usage) -> list[list[Any]]:
        """Return calls and tokens so far with the answer of each verdict, in order; other calls count as earlier."""
        verdicts = await self._asking.tables.verdict_answers(run_id)
        if not usage.calls:
            return [[0, 0, verdict.answer] for verdict in verdicts]
        calls = max(usage.calls - len(verdicts), 0)
        tokens = usage.prompt_tokens + usage.completion_tokens
        tokens -= sum(verdict.prompt_tokens + verdict.completion_tokens for verdict in verdicts)
        steps: list[list[Any]] = []
        for verdict in verdicts:
            calls += 1
            tokens += verdict.prompt_tokens + verdict.completion_tokens
            steps.append([calls, max(tokens, 0), verdict.answer])
        return steps


class ListAnswers(Waiting):
    """`list_answers`, whose answers are readings of the question itself."""

    async def _call(self, case: Case) -> list[ListedAnswer]:
        asking = self._asking
        return await asking.client.list_answers(
            case.question, corpus=asking.corpus.name, timeout=None, **self._settings
        )

    async def _run_of(self, question: str, found: list[ListedAnswer], asked_at: datetime) -> int | None:
        if found:
            return found[0].run_id
        asking = self._asking
        return await asking.runs.find("list_answers", question, asking.corpus.corpus_id, self._settings, since=asked_at)

    def _read(self, case: Case, found: list[ListedAnswer], retrieved: Sequence[Passage]) -> Output:
        given = [
            PredictedInterpretation(
                case.question, one.answer, _cited(one.citations, retrieved), support=len(one.document_ids)
            )
            for one in found
        ]
        return Output(tuple(given), tuple(retrieved))


class Investigate(Submitted):
    """`investigate`, whose answer is the one reading."""

    async def _submit(self, case: Case) -> int:
        asking = self._asking
        return await asking.client.submit("investigate", case.question, corpus=asking.corpus.name, **self._settings)

    async def _read(self, case: Case, run_id: int, facts: RunFacts, output: Output, rankings: Rankings) -> Output:
        (found,) = await self._asking.client.result(run_id)
        given: tuple[PredictedInterpretation, ...] = ()
        if found.answer is not None:
            cited = _cited(found.citations, output.retrieved)
            given = (PredictedInterpretation(case.question, found.answer, cited, support=len(found.document_ids)),)
        return replace(
            output,
            interpretations=given,
            # A step that found nothing counts. A question that was asked before was not searched again.
            steps=tuple(tuple(rankings.get(step.ordinal, ())) for step in found.steps if _searched(step)),
            notes={
                "outcome": found.outcome,
                "confidence": found.confidence,
                "steps": [[step.kind, step.question, step.answer] for step in found.steps],
            },
        )


class Search(Waiting):
    """`search`, which returns passages and no readings."""

    _retrievals_without_run = 1

    async def _call(self, case: Case) -> list[SearchResult]:
        asking = self._asking
        return await asking.client.search(case.question, corpus=asking.corpus.name, timeout=None, **self._given())

    async def _run_of(self, question: str, found: list[SearchResult], asked_at: datetime) -> int | None:
        if "reranker" not in self._settings:
            return None
        asking = self._asking
        kept = {name: value for name, value in self._given().items() if name != "method"}
        return await asking.runs.find("search", question, asking.corpus.corpus_id, kept, since=asked_at)

    def _read(self, case: Case, found: list[SearchResult], retrieved: Sequence[Passage]) -> Output:
        return Output(
            retrieved=tuple(
                Passage(one.document_id, one.passage_id, one.content, title=one.title, heading=one.heading)
                for one in found
            )
        )

    def _given(self) -> dict[str, Any]:
        return {"top_k": _TOP_K, **self._settings}


class DetectAmbiguity(Waiting):
    """`detect_ambiguity` with the rules and the classifier of the corpus. Only with top_k it reads passages."""

    async def _call(self, case: Case) -> Ambiguity:
        asking = self._asking
        # The passages do not change the judgement.
        given = {"top_k": 0, **self._settings}
        return await asking.client.detect_ambiguity(
            case.question, case.history, corpus=asking.corpus.name, timeout=None, **given
        )

    async def _run_of(self, question: str, found: Ambiguity, asked_at: datetime) -> int | None:
        return found.run_id

    def _read(self, case: Case, found: Ambiguity, retrieved: Sequence[Passage]) -> Output:
        return Output(
            # A question that is not in English has no probability, and is clear unless a rule says otherwise.
            probability=found.probability or 0.0,
            notes={
                "is_ambiguous": found.is_ambiguous,
                "kind": found.kind,
                "reasons": [reason.text for reason in found.reasons],
            },
        )


def _searched(step: Step) -> bool:
    return step.kind != StepKind.CONCLUSION and step.outcome != StepOutcome.REPEATED


def _readings(found: Iterable[Interpretation], retrieved: Sequence[Passage]) -> tuple[PredictedInterpretation, ...]:
    return tuple(
        PredictedInterpretation(one.interpretation, one.answer, _cited(one.citations, retrieved), support=one.support)
        for one in found
    )


def _cited(
    citations: Iterable[Citation | EvidenceCitation | StepCitation], retrieved: Sequence[Passage]
) -> tuple[CitedPassage, ...]:
    """Return citations with their passages. If a passage was deleted since, its quote is used."""
    there = {passage.passage_id: passage for passage in retrieved}
    return tuple(
        CitedPassage(
            there.get(one.passage_id)
            or Passage(one.document_id, one.passage_id, one.quote, title=one.title, heading=one.heading),
            one.quote,
        )
        for one in citations
    )
