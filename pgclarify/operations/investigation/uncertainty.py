"""Answer uncertainty: how many different answers a model gives when it is asked several times over the same passages.

Source: SUNAR, §3.2 and Algorithm 1, lines 6-9.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from pgclarify.algorithms import confidence, semantic_sets
from pgclarify.errors import CompletionError, InvalidReply
from pgclarify.language.quotes import fold
from pgclarify.ledger.calls import Calls
from pgclarify.model import Passage
from pgclarify.operations.trace import Tally
from pgclarify.prompts.investigation import sample
from pgclarify.protocols import Entailment


@dataclass(frozen=True, slots=True)
class Samples:
    """The answers that were sampled from one batch.

    Attributes:
        answers: sa_1 ... sa_m; None says "not in these passages", or could not be read.
        sets: ac_1 ... ac_s: indices of answers that mean the same; each None is one of its own.
    """

    answers: tuple[str | None, ...]
    sets: tuple[tuple[int, ...], ...]


class SemanticEquivalence:
    """Says which answers mean the same, for one run.

    Args:
        entailment: Who judges pairs.

    Source: Kuhn et al., 2023, §3.2.
    """

    def __init__(self, entailment: Entailment) -> None:
        self._entailment = entailment

    async def group(self, question: str, answers: Sequence[str | None], tally: Tally) -> list[tuple[int, ...]]:
        """Group answers that entail each other.

        Those that are written alike are the same without being judged. "Not in these passages", which is None, agrees
        with nothing, not even with itself: passages that a model finds nothing in must not gain by its being sure of
        that.

        Args:
            question: What all of them answer.
            answers: Any number.
            tally: Where replies are counted.

        Returns:
            As `semantic_sets`.

        Raises:
            CompletionError: If a model was asked and gave no judgement, or there are not enough calls to ask.
            EmbeddingError: If a model that runs here failed.
        """
        written = [None if answer is None else fold(answer).strip(" .") for answer in answers]
        # One of each wording speaks for all of it.
        speakers: dict[str, str] = {}
        for answer, text in zip(answers, written, strict=True):
            if answer is not None and text is not None:
                speakers.setdefault(text, answer)
        pairs = list(permutations(speakers, 2))
        judged = await self._entailment.entails(
            question, [(speakers[one], speakers[other]) for one, other in pairs], tally=tally
        )
        entailed = {pair for pair, is_entailed in zip(pairs, judged, strict=True) if is_entailed}
        matrix = [
            [one is not None and (one == other or (one, other) in entailed) for other in written] for one in written
        ]
        return semantic_sets(np.array(matrix, dtype=np.bool_).reshape(len(answers), len(answers)))

    async def agree(self, question: str, first: str, second: str, tally: Tally) -> bool:
        """Tell whether two answers to a question mean the same: each entails the other."""
        return len(await self.group(question, [first, second], tally)) == 1

    async def share(self, question: str, samples: Samples, answer: str, tally: Tally) -> float:
        """Tell which share of the sampled answers means what one answer says, that answer counted as one more of them.

        Returns:
            In (0, 1]; 1 / (m + 1) if no sampled answer agrees.
        """
        answers = [*samples.answers, answer]
        return confidence(await self.group(question, answers, tally), len(samples.answers))


async def draw_samples(
    question: str,
    passages: Sequence[Passage],
    *,
    samples: int,
    calls: Calls,
    equivalence: SemanticEquivalence,
    tally: Tally,
) -> Samples:
    """Sample answers from a batch, and group them by what they mean.

    A reply that cannot be read agrees with no other. If a call failed, there are no samples: fewer answers make
    fewer sets.

    Args:
        question: A step's.
        passages: The batch.
        samples: m, at least 1.
        calls: Who asks; that many have been taken.
        equivalence: Who says which answers mean the same.
        tally: Where replies are counted; its rows are the groups.

    Raises:
        CompletionError: If a call failed, or no reply at all could be read.
        EmbeddingError: If it could not be told which answers mean the same.
        DatabaseError: If the ledger fails.

    Source: SUNAR, §3.2, Equations 2 and 3.
    """
    drawn = [sample(question, passages, number=number) for number in range(samples)]
    answers: list[str | None] = []
    unread: list[InvalidReply] = []
    for call, result in zip(drawn, await calls.make(drawn, tally), strict=True):
        try:
            if isinstance(result, CompletionError):
                raise result
            answers.append(call.read(result.completion))
        except InvalidReply as error:
            answers.append(None)
            unread.append(error)
    if len(unread) == samples:
        raise unread[0]
    sets = await equivalence.group(question, answers, tally)
    tally.rows = len(sets)
    return Samples(tuple(answers), tuple(sets))
