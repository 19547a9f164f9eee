"""Judges of entailment that say what they were told to."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence

from pgclarify.errors import CompletionError, InvalidReply
from pgclarify.model import Completion, CompletionRequest
from pgclarify.protocols import Meter
from pgclarify.testing.completer import FakeCompleter


class FakeEntailment:
    """Knows which answers entail which.

    Args:
        pairs: Premise and hypothesis. Equal answers entail each other without being listed; nothing else does.
        error: Raised instead of any judgement.

    Attributes:
        calls: Question and pairs of every call of `entails` so far.
    """

    def __init__(self, pairs: Collection[tuple[str, str]] = (), *, error: Exception | None = None) -> None:
        self.calls: list[tuple[str, list[tuple[str, str]]]] = []
        self._pairs = frozenset(pairs)
        self._error = error

    async def entails(
        self, question: str, pairs: Sequence[tuple[str, str]], *, tally: Meter | None = None
    ) -> Sequence[bool]:
        """Judge pairs; nothing is counted."""
        self.calls.append((question, list(pairs)))
        # A real model gives way to others here.
        await asyncio.sleep(0)
        if self._error is not None:
            raise self._error
        return [premise == hypothesis or (premise, hypothesis) in self._pairs for premise, hypothesis in pairs]


class FakeEntailmentJudge(FakeCompleter):
    """A language model that compares answers by a script.

    Args:
        script: By "premise > hypothesis": yes, no, any other reply, which does not fit, or an error; a list has one for
            each time it is asked.
        otherwise: What is said of all others.
    """

    def __init__(
        self,
        script: Mapping[str, str | CompletionError | list[str | CompletionError]] | None = None,
        *,
        otherwise: str = "no",
    ) -> None:
        super().__init__(script or {}, otherwise)

    def entailment_request(
        self, question: str, premise: str, hypothesis: str, *, retry: bool = False
    ) -> CompletionRequest:
        """Render question and answers."""
        key = f"{premise} > {hypothesis}"
        return self._request("entailment", f"{question}\n{key}", key, retry=retry)

    def read_entailment(self, completion: Completion) -> bool:
        """Read yes or no.

        Raises:
            InvalidReply: If it is neither.
        """
        if completion.reply not in ("yes", "no"):
            raise InvalidReply("a judgement has the wrong form")
        return completion.reply == "yes"
