"""An investigator that says what it was told to say, and the table of its steps."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, TypeAlias, TypeVar

import numpy as np

from pgclarify.errors import CompletionError, InvalidReply
from pgclarify.model import Completion, CompletionRequest, Message, Passage, Run
from pgclarify.protocols import Begin
from pgclarify.steps import Evidence, Finding, FollowUp, Step
from pgclarify.testing.store import FakeStore

Line: TypeAlias = FollowUp | Finding | str | CompletionError | None
"""What is said to one request: what is to be read, a raw reply, an error to raise, or None for an empty finding."""

T = TypeVar("T")


class FakeInvestigator:
    """Takes a question apart by a script, and counts what it is asked.

    Where a line may be a list, that has one line for each time it is asked (the second for `retry`).

    Args:
        follow_ups: What is asked next, by the number of steps so far; where there is nothing, no further question.
        answers: What is read out of the passages, by the question; what is not in it is not to be found.
        samples: The sampled answers, by the question, or by the question and the contents of the passages, joined by
            newlines; None says "not here", and so does what is not in it.
        conclusion: What the evidence says.
        gate: If given, no call of a gated purpose ends before it is set.
        gated: The purpose that the gate is for.

    Attributes:
        calls: Every request that was paid for so far, in order.
    """

    def __init__(
        self,
        follow_ups: Sequence[Line | list[Line]] = (),
        *,
        answers: Mapping[str, Line | list[Line]] | None = None,
        samples: Mapping[str, Sequence[Line]] | None = None,
        conclusion: Line | list[Line] = None,
        gate: asyncio.Event | None = None,
        gated: str = "answer",
    ) -> None:
        self.calls: list[CompletionRequest] = []
        self._follow_ups = list(follow_ups)
        self._answers = dict(answers or {})
        self._samples = dict(samples or {})
        self._conclusion = conclusion
        self._gate = gate
        self._gated = gated

    @property
    def provider(self) -> str:
        """What it passes for."""
        return "openai"

    @property
    def model(self) -> str:
        """The model's name."""
        return "fake"

    @property
    def prompt_version(self) -> str:
        """Always the same."""
        return "1"

    def asked(self, purpose: str) -> list[dict[str, Any]]:
        """What requests of a purpose were made of: question, steps, passages."""
        return [dict(call.payload or {}) for call in self.calls if call.purpose == purpose]

    def follow_up_request(self, question: str, steps: Sequence[Step], *, retry: bool = False) -> CompletionRequest:
        """Render the question and the steps."""
        return self._request("follow_up", question, steps, (), sample=int(retry))

    def sample_request(self, question: str, passages: Sequence[Passage], *, sample: int) -> CompletionRequest:
        """Render the question and the passages."""
        return self._request("sample", question, (), passages, sample=sample)

    def answer_request(self, question: str, passages: Sequence[Passage], *, retry: bool = False) -> CompletionRequest:
        """Render the question and the passages."""
        return self._request("answer", question, (), passages, sample=int(retry))

    def conclusion_request(
        self, question: str, steps: Sequence[Step], passages: Sequence[Passage], *, retry: bool = False
    ) -> CompletionRequest:
        """Render everything."""
        return self._request("conclusion", question, steps, passages, sample=int(retry))

    async def complete(self, request: CompletionRequest, begin: Begin | None = None) -> Completion:
        """Say the line, unless begin raises.

        Raises:
            CompletionError: If the line is one.
        """
        if begin is not None:
            await begin()
        self.calls.append(request)
        # A real call gives way to others here.
        await asyncio.sleep(0)
        if self._gate is not None and request.purpose == self._gated:
            await self._gate.wait()
        line = self._line(request)
        if isinstance(line, CompletionError):
            raise line
        raw = isinstance(line, str) and request.purpose != "sample"
        reply = str(line) if raw else json.dumps(asdict(line) if isinstance(line, FollowUp | Finding) else line)
        words = sum(len(message.content.split()) for message in request.messages)
        return Completion(reply, prompt_tokens=words, completion_tokens=len(reply.split()), latency_ms=0.0)

    def read_follow_up(self, completion: Completion) -> FollowUp:
        """Read what is to be asked next.

        Raises:
            InvalidReply: If the reply is not one.
        """
        return _read(completion, lambda value: FollowUp(**value) if value else FollowUp())

    def read_sample(self, completion: Completion) -> str | None:
        """Read a sampled answer.

        Raises:
            InvalidReply: If the reply is not one.
        """
        return _read(completion, lambda value: None if value is None else str(value))

    def read_answer(self, completion: Completion) -> Finding:
        """Read an answer.

        Raises:
            InvalidReply: If the reply is not one.
        """
        return _read(completion, _finding)

    def read_conclusion(self, completion: Completion) -> Finding:
        """Read the conclusion.

        Raises:
            InvalidReply: If the reply is not one.
        """
        return _read(completion, _finding)

    def _request(
        self, purpose: str, question: str, steps: Sequence[Step], passages: Sequence[Passage], *, sample: int
    ) -> CompletionRequest:
        contents = [passage.content for passage in passages]
        facts = [f"{step.question} {step.answer}" for step in steps]
        return CompletionRequest(
            purpose=purpose,
            model=self.model,
            # As the real one has it: samples are to differ.
            parameters={"temperature": 0.3 if purpose == "sample" else 0},
            prompt_version=self.prompt_version,
            messages=(Message("user", "\n".join((*contents, *facts, question))),),
            sample=sample,
            payload={"question": question, "steps": facts, "passages": contents},
        )

    def _line(self, request: CompletionRequest) -> Line:
        payload = dict(request.payload or {})
        question, passages = payload["question"], "\n".join(payload["passages"])
        if request.purpose == "sample":
            lines = self._samples.get(f"{question}\n{passages}", self._samples.get(question, ()))
            return lines[request.sample % len(lines)] if lines else None
        if request.purpose == "follow_up":
            place = len(payload["steps"])
            line: Line | list[Line] = self._follow_ups[place] if place < len(self._follow_ups) else FollowUp()
        elif request.purpose == "answer":
            line = self._answers.get(question)
        else:
            line = self._conclusion
        return line[request.sample] if isinstance(line, list) else line


class FakeStepStore:
    """The steps of the runs of a `FakeStore`, in memory.

    Args:
        store: Whose runs these are.

    Attributes:
        steps: By run_id, in order.
    """

    def __init__(self, store: FakeStore) -> None:
        self.steps: dict[int, list[Step]] = {}
        self._store = store

    async def record_step(self, run: Run, step: Step) -> None:
        """Keep a step.

        Raises:
            ValueError: If it is none that the table takes.
        """
        record = await self._store.record(run)
        # The invariants that the tables check.
        is_answered = step.outcome == "answered"
        ranks = {candidate.rank for candidate in record.candidates}
        if (
            is_answered != (step.answer is not None)
            or is_answered != (step.confidence is not None)
            or is_answered != bool(step.citations)
            or not all(citation.candidate_rank in ranks for citation in step.citations)
            or not (step.confidence is None or 0 < np.float32(step.confidence) <= 1)
        ):
            raise ValueError(f"no table takes {step}")
        kept = [one for one in self.steps.get(run.run_id, []) if one.ordinal != step.ordinal]
        self.steps[run.run_id] = sorted([*kept, step], key=lambda one: one.ordinal)


def _finding(value: dict[str, Any] | None) -> Finding:
    if value is None:
        return Finding()
    evidence = tuple(Evidence(**one) for one in value.pop("evidence", ()))
    return Finding(evidence=evidence, **value)


def _read(completion: Completion, read: Callable[[Any], T]) -> T:
    try:
        return read(json.loads(completion.reply))
    except (ValueError, TypeError, AttributeError):
        raise InvalidReply("a reply has the wrong form") from None
