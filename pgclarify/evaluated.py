"""Frozen data of evaluations: a case, what a method gave for it, what that took, and what it was worth."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple

from pgclarify.model import Passage
from pgclarify.vocabulary import Outcome, RunStatus

LEXICAL: Final = "lexical"
"""The judge that needs no model."""

BOTH: Final = f"{LEXICAL}+"
"""What the name of a model stands behind if the lexical judge and that model judge together."""


@dataclass(frozen=True, slots=True)
class GoldInterpretation:
    """A reading that people know of.

    Attributes:
        interpretation: The question that it is; None if only its answer is known.
        answers: Its answer in all its spellings; may be empty.
        document_ids: Documents that give it; empty if it is not known which do.
    """

    interpretation: str | None
    answers: tuple[str, ...]
    document_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """One question of a data set, and what is known of it.

    Attributes:
        case_id: Unique in its data set.
        question: 1 to 10,000 characters.
        interpretations: The readings that people know of; empty if none are known.
        answer_sets: Its answers as each of several people knows them: a set for each person, of answers, each in all
            its spellings. Empty if none are known. Where there are interpretations, their answers are the one set.
        document_ids: Documents that are relevant; empty if none are known.
        is_ambiguous: Whether people call it ambiguous; None if the data set does not say.
        history: What was said before it, oldest first.
        kind: What kind of ambiguity it has; None if the data set does not say.
        hops: How many facts lead to its answer, from 1; None if the data set does not say.
        rewrites: The question as people would say it so that it stands on its own; empty if not known.
        clarifying_questions: What people would ask back about it; empty if not known.
        intent: What the person who asks it wants, in words: for a simulated user. None if the data set does not say.
    """

    case_id: str
    question: str
    interpretations: tuple[GoldInterpretation, ...] = ()
    answer_sets: tuple[tuple[tuple[str, ...], ...], ...] = ()
    document_ids: tuple[str, ...] = ()
    is_ambiguous: bool | None = None
    history: tuple[str, ...] = ()
    kind: str | None = None
    hops: int | None = None
    rewrites: tuple[str, ...] = ()
    clarifying_questions: tuple[str, ...] = ()
    intent: str | None = None

    @property
    def known_answers(self) -> list[list[tuple[str, ...]]]:
        """The answers that people know, a list for each person, each in all its spellings; empty if none are known."""
        of_readings = [one.answers for one in self.interpretations]
        people = [of_readings] if any(of_readings) else [list(golds) for golds in self.answer_sets]
        known = [[names for names in golds if names] for golds in people]
        return [golds for golds in known if golds]

    @property
    def strata(self) -> tuple[str, ...]:
        """The strata that it belongs to, each written NAME=VALUE: answers (one or several), kind and hops."""
        several = any(len(set(golds)) > 1 for golds in self.known_answers)
        named = {
            "answers": ("several" if several else "one") if self.known_answers else None,
            "kind": self.kind,
            "hops": self.hops,
        }
        return tuple(f"{name}={value}" for name, value in named.items() if value is not None)


@dataclass(frozen=True, slots=True)
class CitedPassage:
    """A passage that a method cites.

    Attributes:
        passage: As it was read.
        quote: The words that prove the answer; None if the method gives none.
    """

    passage: Passage
    quote: str | None = None


@dataclass(frozen=True, slots=True)
class PredictedInterpretation:
    """A reading that a method gave.

    Attributes:
        interpretation: A question that stands on its own.
        answer: Its answer; None if the method found none.
        citations: The first is the one that proves it; empty if the method cites nothing.
        support: Documents behind it; 0 if the method does not count them.
    """

    interpretation: str
    answer: str | None
    citations: tuple[CitedPassage, ...] = ()
    support: int = 0


@dataclass(frozen=True, slots=True)
class Usage:
    """What a case took of a model, whether it was paid for now or before.

    Attributes:
        calls: Replies that were used.
        reused_calls: How many of them came from the ledger.
        prompt_tokens: Input tokens of all of them.
        completion_tokens: Output tokens of all of them.
        model_seconds: How long the model took for all of them together, when it was asked.
    """

    calls: int = 0
    reused_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    model_seconds: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.calls + other.calls,
            self.reused_calls + other.reused_calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.model_seconds + other.model_seconds,
        )


@dataclass(frozen=True, slots=True)
class Output:
    """What a method gave for one case.

    Attributes:
        interpretations: In the method's order; empty if it gave nothing, which counts as such.
        retrieved: The passages that it chose from, best first. Of a method that searches step by step, those of all
            steps: the first of each step, then the second of each, and so on.
        steps: Of such a method, the passages of each step that searched, best first; a passage may be in several. Of a
            conversation, those that are found before its first turn, and after each.
        status: succeeded, partial or failed.
        error: Why it failed; None unless it did.
        error_code: The same as a SQLSTATE; None unless it failed, and where it was cancelled.
        run_id: The run behind it; None for methods that are no operation of the SQL API.
        usage: What it took of a model.
        retrievals: How often it searched the corpus.
        seconds: From the question to the last answer, as it went this time.
        probability: That the question is ambiguous; None for methods that do not say.
        notes: What else a reader may want to know: the relaxed question, why it stopped.
        questions: The question as it was rewritten, the questions that were asked back, or the question after each
            turn of a conversation; empty for methods that answer.
    """

    interpretations: tuple[PredictedInterpretation, ...] = ()
    retrieved: tuple[Passage, ...] = ()
    steps: tuple[tuple[Passage, ...], ...] = ()
    status: RunStatus = RunStatus.SUCCEEDED
    error: str | None = None
    error_code: str | None = None
    run_id: int | None = None
    usage: Usage = Usage()
    retrievals: int = 0
    seconds: float = 0.0
    probability: float | None = None
    notes: Mapping[str, Any] = field(default_factory=dict)
    questions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stated:
    """A reading as a judge sees it.

    Attributes:
        interpretation: The question; None if only its answer is known.
        answers: Its answer in all spellings that are known; empty if there is none.
    """

    interpretation: str | None
    answers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EvaluationPlan:
    """One method with one configuration over one data set.

    Attributes:
        name: What people call it.
        data_set: Its name.
        data_set_hash: SHA-256 of the cases in order, 32 bytes.
        corpus_id: The corpus.
        corpus_name: Its name.
        corpus_revision: Its revision, as the role that evaluates sees it.
        embedding_model: Its model.
        method: As in column eval_run.method.
        settings: All parameters of the method, as given.
        provider: Who judges passages or answers: openai or extractive.
        model: Its name.
        prompt_version: Of its prompts.
        judge: lexical, the name of a model, or this behind lexical+ if both judge together.
        judge_version: Of its rules or prompts.
        version: Of pgclarify.
        planned_cases: How many cases there are.
    """

    name: str
    data_set: str
    data_set_hash: bytes
    corpus_id: int
    corpus_name: str
    corpus_revision: int
    embedding_model: str
    method: str
    settings: Mapping[str, Any]
    provider: str
    model: str
    prompt_version: str
    judge: str
    judge_version: str
    version: str
    planned_cases: int

    @property
    def judges(self) -> Literal["lexical", "model", "both"]:
        """Who judges, as it is chosen."""
        if self.judge == LEXICAL:
            return "lexical"
        return "both" if self.judge.startswith(BOTH) else "model"

    @property
    def judging_model(self) -> str | None:
        """The model that judges, alone or not; None if none does."""
        return None if self.judge == LEXICAL else self.judge.removeprefix(BOTH)

    @property
    def kind(self) -> str:
        """What an evaluation must be equal in for another to go on with it: SHA-256, as hexadecimal digits.

        That is all that may change an outcome: the cases, the corpus and its revision, the embedding model, the method
        and its settings, who answers and who judges with which prompts, and the version of pgclarify; not its names.
        """
        compared = [
            self.data_set_hash.hex(),
            self.planned_cases,
            self.corpus_id,
            self.corpus_revision,
            self.embedding_model,
            self.method,
            self.settings,
            self.provider,
            self.model,
            self.prompt_version,
            self.judge,
            self.judge_version,
            self.version,
        ]
        return hashlib.sha256(json.dumps(compared, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Evaluation:
    """An evaluation as it is kept.

    Attributes:
        eval_run_id: Its id.
        plan: What it is of; corpus_id is 0 if the corpus was dropped.
        requested_by: The role.
        created_at: When it began.
        finished_at: When it ended; None if it has not.
        done_cases: How many cases are judged.
    """

    eval_run_id: int
    plan: EvaluationPlan
    requested_by: str
    created_at: datetime
    finished_at: datetime | None
    done_cases: int


@dataclass(frozen=True, slots=True)
class Summary:
    """A metric over all cases.

    Attributes:
        value: Its value.
        low: Lower end of its bootstrap 95 % interval; None where there is none.
        high: Upper end.
        cases: Over how many cases.
    """

    value: float
    low: float | None
    high: float | None
    cases: int


@dataclass(frozen=True, slots=True)
class EvaluatedCase:
    """A case as it is kept: see the columns of eval_case.

    Attributes:
        values: Its metrics by name.
    """

    ordinal: int
    case_id: str
    question: str
    gold: Mapping[str, Any]
    output: Mapping[str, Any]
    run_id: int | None
    status: RunStatus
    error: str | None
    usage: Usage
    seconds: float
    values: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class CorpusDescription:
    """A corpus that is evaluated on.

    Attributes:
        revision: How often what the caller can find in it has changed.
        embedding_model: The one that searches use.
    """

    corpus_id: int
    name: str
    revision: int
    embedding_model: str


@dataclass(frozen=True, slots=True)
class Begun:
    """An evaluation that was begun, or is gone on with.

    Attributes:
        eval_run_id: Its id.
        done: Ordinals of the cases that are judged.
        is_resumed: Whether it had been begun before.
    """

    eval_run_id: int
    done: frozenset[int]
    is_resumed: bool


class ServingWorker(NamedTuple):
    """Who answers on some of the workers that live and serve."""

    provider: str
    model: str
    prompt_version: str


class VerdictAnswer(NamedTuple):
    """What was decided about one candidate of a run, and what it took.

    Attributes:
        answer: None unless grounded; likewise the quote.
        prompt_tokens: Input tokens of the reply that it was read from; 0 if there was none.
        completion_tokens: Output tokens of it.
    """

    rank: int
    outcome: Outcome
    answer: str | None
    quote: str | None
    prompt_tokens: int
    completion_tokens: int


class TokenAverages(NamedTuple):
    """What calls of one purpose take.

    Attributes:
        prompt_tokens: Mean of the input tokens of a call.
        completion_tokens: Mean of the output tokens of a call.
        calls: Of how many.
    """

    prompt_tokens: float
    completion_tokens: float
    calls: int
