"""Frozen data of evaluations: a case, the output of a method, its usage, and its metrics."""

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
"""The judge without a model."""

BOTH: Final = f"{LEXICAL}+"
"""The prefix of a model's name if the lexical judge and that model judge together."""


@dataclass(frozen=True, slots=True)
class GoldInterpretation:
    """A reading that people know.

    Attributes:
        interpretation: The question; None if only its answer is known.
        answers: Its answer in all its spellings; may be empty.
        document_ids: Documents that give the answer; empty if they are not known.
    """

    interpretation: str | None
    answers: tuple[str, ...]
    document_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """One question of a data set, with the known facts about it.

    Attributes:
        case_id: Unique in its data set.
        question: 1 to 10,000 characters.
        interpretations: The readings that people know; empty if none are known.
        answer_sets: The known answers, one set for each person. Each answer has all its spellings. Empty if none are
            known. If there are interpretations, their answers are the only set.
        document_ids: Relevant documents; empty if none are known.
        is_ambiguous: Whether people call it ambiguous; None if the data set does not say.
        history: The earlier turns, oldest first.
        kind: The kind of its ambiguity; None if the data set does not say.
        hops: Number of facts that lead to its answer, from 1; None if the data set does not say.
        rewrites: Rewrites of the question by people that are complete without the history; empty if not known.
        clarifying_questions: Clarifying questions of people; empty if not known.
        intent: What the user wants, in words, for a simulated user. None if the data set does not say.
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
        """Return the known answers, a list for each person, each in all its spellings; empty if none are known."""
        of_readings = [one.answers for one in self.interpretations]
        people = [of_readings] if any(of_readings) else [list(golds) for golds in self.answer_sets]
        known = [[names for names in golds if names] for golds in people]
        return [golds for golds in known if golds]

    @property
    def strata(self) -> tuple[str, ...]:
        """Return the strata of the case, each written NAME=VALUE: answers (one or several), kind and hops."""
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
    """A reading in the output of a method.

    Attributes:
        interpretation: A question that is complete by itself.
        answer: Its answer; None if the method found none.
        citations: Its citations, the proof first; empty if the method cites nothing.
        support: Documents behind it; 0 if the method does not count them.
    """

    interpretation: str
    answer: str | None
    citations: tuple[CitedPassage, ...] = ()
    support: int = 0


@dataclass(frozen=True, slots=True)
class Usage:
    """The model usage of a case, whether it was paid for now or before.

    Attributes:
        calls: Replies that were used.
        reused_calls: Number of these replies that came from the ledger.
        prompt_tokens: Input tokens of all replies.
        completion_tokens: Output tokens of all replies.
        model_seconds: Total time of the model for all replies, at the time of each call.
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
    """The output of a method for one case.

    Attributes:
        interpretations: The readings in the method's order; empty if there are none, which counts as an empty output.
        retrieved: The passages that the method chose from, best first. For a method that searches step by step, the
            passages of all steps: the first of each step, then the second of each, and so on.
        steps: For such a method, the passages of each step that searched, best first; a passage may be in several. For
            a conversation, the passages of a search before the first turn and after each turn.
        status: succeeded, partial or failed.
        error: Why it failed; None if it did not fail.
        error_code: The SQLSTATE of the error; of a partial output, the one of calls that failed because of the server
            and may succeed later. Else None, also if the run was cancelled.
        run_id: The run; None for methods that are no operation of the SQL API.
        usage: The model usage.
        retrievals: Number of searches in the corpus.
        seconds: Time from the question to the last answer in this evaluation.
        probability: The probability that the question is ambiguous; None for methods without it.
        notes: Further facts for readers: the relaxed question, why it stopped.
        questions: The rewritten question, the clarifying questions, or the question after each turn of a conversation;
            empty for methods that answer.
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
        answers: Its answer in all known spellings; empty if there is none.
    """

    interpretation: str | None
    answers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EvaluationPlan:
    """One method with one configuration over one data set.

    Attributes:
        name: The name of the configuration.
        data_set: The name of the data set.
        data_set_hash: SHA-256 of the cases in order, 32 bytes.
        corpus_id: The id of the corpus.
        corpus_name: The name of the corpus.
        corpus_revision: The revision of the corpus, as the evaluating role sees it.
        embedding_model: The embedding model of the corpus.
        method: As in column eval_run.method.
        settings: All given parameters of the method.
        provider: The provider that judges passages or answers: openai or extractive.
        model: The name of the model.
        prompt_version: The version of its prompts.
        judge: lexical, the name of a model, or lexical+ with the name of a model if both judge together.
        judge_version: The version of the judge's rules or prompts.
        version: The version of pgclarify.
        planned_cases: Number of cases.
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
        """Return the kind of judge, in the words of the command line."""
        if self.judge == LEXICAL:
            return "lexical"
        return "both" if self.judge.startswith(BOTH) else "model"

    @property
    def judging_model(self) -> str | None:
        """Return the model of the judge; None if it has none."""
        return None if self.judge == LEXICAL else self.judge.removeprefix(BOTH)

    @property
    def kind(self) -> str:
        """Return the SHA-256 of all facts that must be equal to resume an evaluation, as hexadecimal digits.

        These are all facts that may change an outcome: the cases, the corpus and its revision, the embedding model, the
            method and its settings, the answering model and the judge with their prompts, and the version of pgclarify.
            Names are not included.
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
    """A stored evaluation.

    Attributes:
        eval_run_id: The id of the evaluation.
        plan: Its plan; corpus_id is 0 if the corpus was dropped.
        requested_by: The role that requested it.
        created_at: When it began.
        finished_at: When it ended; None if it has not ended.
        done_cases: Number of judged cases.
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
        low: Lower end of its bootstrap 95 % interval; None if it has no interval.
        high: Upper end.
        cases: Number of cases with the metric.
    """

    value: float
    low: float | None
    high: float | None
    cases: int


@dataclass(frozen=True, slots=True)
class EvaluatedCase:
    """A stored case; see the columns of eval_case.

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
    """The corpus of an evaluation.

    Attributes:
        revision: How often the documents that the caller can find have changed.
        embedding_model: The embedding model that searches use.
        unlinked: How many passages have no neighbors in the graph yet; 0 if the caller may not know, None for a
            distributed corpus, which has no graph. It changes while a worker links them, so two descriptions that
            differ in it are equal.
    """

    corpus_id: int
    name: str
    revision: int
    embedding_model: str
    unlinked: int | None = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Begun:
    """An evaluation that was begun or resumed.

    Attributes:
        eval_run_id: The id of the evaluation.
        done: Ordinals of the judged cases.
        is_resumed: Whether an earlier start exists.
    """

    eval_run_id: int
    done: frozenset[int]
    is_resumed: bool


class ServingWorker(NamedTuple):
    """The provider and model of some of the workers that are alive and serve."""

    provider: str
    model: str
    prompt_version: str


class VerdictAnswer(NamedTuple):
    """The decision on one candidate of a run, and its usage.

    Attributes:
        answer: None unless grounded; the same holds for the quote.
        prompt_tokens: Input tokens of its reply; 0 if there was none.
        completion_tokens: Output tokens of its reply.
    """

    rank: int
    outcome: Outcome
    answer: str | None
    quote: str | None
    prompt_tokens: int
    completion_tokens: int


class TokenAverages(NamedTuple):
    """The average tokens of calls of one purpose.

    Attributes:
        prompt_tokens: Mean of the input tokens of a call.
        completion_tokens: Mean of the output tokens of a call.
        calls: Number of these calls.
    """

    prompt_tokens: float
    completion_tokens: float
    calls: int
