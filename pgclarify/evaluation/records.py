"""The frozen data of an evaluation, and the interfaces of methods and judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from pgclarify.data.documents import Passage
from pgclarify.data.vocabulary import RunStatus


@dataclass(frozen=True, slots=True)
class GoldInterpretation:
    """A reading that people know.

    Attributes:
        interpretation: The question; None if only its answer is known.
        answers: Its answer in all its spellings; may be empty.
        document_ids: Documents that give the answer; empty if they are not known.
    """

    interpretation: str | None
    answers: tuple[str, ...] = ()
    document_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """One question of a data set, with the known facts about it.

    Attributes:
        case_id: Unique in its data set.
        question: 1 to 10,000 characters.
        interpretations: The readings that people know; empty if none are known.
        answer_sets: The known answers, one set for each person. Each answer has all its spellings.
        wrong_answers: Answers that documents give and that are known to be wrong.
        document_ids: Relevant documents; empty if none are known.
        is_ambiguous: Whether people call it ambiguous; None if the data set does not say.
        history: The earlier turns, oldest first.
    """

    case_id: str
    question: str
    interpretations: tuple[GoldInterpretation, ...] = ()
    answer_sets: tuple[tuple[tuple[str, ...], ...], ...] = ()
    wrong_answers: tuple[str, ...] = ()
    document_ids: tuple[str, ...] = ()
    is_ambiguous: bool | None = None
    history: tuple[str, ...] = ()

    @property
    def known_answers(self) -> list[list[tuple[str, ...]]]:
        """Return the known answers, a list for each person, each in all its spellings; empty if none are known."""
        of_readings = [one.answers for one in self.interpretations]
        people = [of_readings] if any(of_readings) else [list(golds) for golds in self.answer_sets]
        return [known for golds in people if (known := [names for names in golds if names])]

    @property
    def relevant_documents(self) -> frozenset[str]:
        """Return the documents that are known to be relevant to the question or to one of its readings."""
        return frozenset(self.document_ids).union(*(one.document_ids for one in self.interpretations))

    @property
    def gold(self) -> Mapping[str, Any]:
        """Return what is known, as column eval_case.gold has it."""
        return {name: value for name, value in asdict(self).items() if name not in ("case_id", "question", "history")}


@dataclass(frozen=True, slots=True)
class CitedPassage:
    """A passage that a method cites, with the words that prove the answer; None if the method quotes nothing."""

    passage: Passage
    quote: str | None = None


@dataclass(frozen=True, slots=True)
class PredictedInterpretation:
    """A reading in the output of a method.

    Attributes:
        interpretation: A question that is complete by itself.
        answer: Its answer; None if the method found none.
        citations: Its citations, the proof first; empty if the method cites nothing.
        is_contested: Whether another reading of the output asks the same, and both answers cannot be right.
    """

    interpretation: str
    answer: str | None
    citations: tuple[CitedPassage, ...] = ()
    is_contested: bool = False


@dataclass(frozen=True, slots=True)
class Usage:
    """The model usage of a case, whether it was paid for now or before.

    Attributes:
        calls: Replies that were used.
        tokens: Input and output tokens of all replies.
        cost_usd: What all replies cost at current prices; None if the model has no price.
    """

    calls: int = 0
    tokens: int = 0
    cost_usd: float | None = 0.0


@dataclass(frozen=True, slots=True)
class Output:
    """The output of a method for one case.

    Attributes:
        interpretations: The readings in the method's order; empty if there are none, which counts as an empty output.
        retrieved: The passages that the method chose from, best first.
        status: succeeded, partial or failed.
        error: Why it failed; None if it did not fail.
        error_code: The SQLSTATE of the error, also of calls that failed in a partial run; else None.
        run_id: The run; None for baselines.
        usage: The model usage.
        seconds: Time from the question to the last answer in this evaluation.
        is_ambiguous: Whether the method calls the question ambiguous; None for methods that do not say.
        questions: The rewritten question, or the clarifying questions; empty for methods that answer.
        notes: Further facts for readers: the relaxed question, why it stopped.
    """

    interpretations: tuple[PredictedInterpretation, ...] = ()
    retrieved: tuple[Passage, ...] = ()
    status: RunStatus = RunStatus.SUCCEEDED
    error: str | None = None
    error_code: str | None = None
    run_id: int | None = None
    usage: Usage = Usage()
    seconds: float = 0.0
    is_ambiguous: bool | None = None
    questions: tuple[str, ...] = ()
    notes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def readings(self) -> Sequence[PredictedInterpretation]:
        """Return the readings; none if it failed."""
        return () if self.status is RunStatus.FAILED else self.interpretations

    def as_json(self, supported: Sequence[bool] | None) -> Mapping[str, Any]:
        """Return it as column eval_case.output has it.

        Args:
            supported: Whether each reading is grounded; None if that was not judged.
        """
        return {
            "interpretations": [
                {
                    "interpretation": one.interpretation,
                    "answer": one.answer,
                    "is_grounded": None if supported is None else supported[place],
                    "citations": [
                        {
                            "document_id": cited.passage.document_id,
                            "passage_id": cited.passage.passage_id,
                            "title": cited.passage.title,
                            "quote": cited.quote,
                        }
                        for cited in one.citations
                    ],
                }
                for place, one in enumerate(self.readings)
            ],
            "retrieved": [{"document_id": one.document_id, "passage_id": one.passage_id} for one in self.retrieved],
            "questions": list(self.questions),
            "notes": dict(self.notes),
        }


@dataclass(frozen=True, slots=True)
class Stated:
    """A reading as a judge sees it.

    Attributes:
        interpretation: The question; None if only its answer is known.
        answers: Its answer in all known spellings; empty if there is none.
    """

    interpretation: str | None
    answers: tuple[str, ...] = ()


class Retriever(Protocol):
    """Searches the corpus, in the same way for all methods."""

    async def search(self, question: str, top_k: int) -> list[Passage]:
        """Find the passages that match a question best, best first.

        Raises:
            PgclarifyError: If the search failed.
        """


class Method(Protocol):
    """A method under evaluation: one way to answer a question."""

    async def answer(self, case: Case) -> Output:
        """Answer one case. An error of this case alone is an Output with status failed.

        Raises:
            PgclarifyError: If no case can be answered: no worker, no server, no corpus.
        """


class Judge(Protocol):
    """Judges the readings of a method. A judgement that a model fails to make is a no."""

    @property
    def name(self) -> str:
        """lexical, or a model's name."""

    @property
    def version(self) -> str:
        """Changes when judgements may."""

    @property
    def needs_answers(self) -> bool:
        """Whether it can only judge readings with an answer; it judges others as not supported."""

    async def supports(self, claims: Sequence[tuple[Stated, Sequence[Passage]]]) -> list[bool]:
        """Judge for each claim whether its passages answer the reading, with one of its answers if it has any.

        Raises:
            EndpointUnavailable: If a model could not be asked.
        """

    async def matches(self, question: str, readings: Sequence[Stated], among: Sequence[Stated]) -> list[bool]:
        """Judge for each reading of a question whether one of the others asks the same.

        Raises:
            EndpointUnavailable: If a model could not be asked.
        """
