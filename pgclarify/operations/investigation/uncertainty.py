"""Answer uncertainty: how many different answers a model gives if it is asked several times about the same passages.

Source: SUNAR, §3.2 and Algorithm 1, lines 6-9.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from pgclarify.algorithms.uncertainty import confidence, semantic_sets
from pgclarify.data.documents import Passage
from pgclarify.data.runs import Tally
from pgclarify.errors import CompletionError, InvalidReply
from pgclarify.language.quotes import fold
from pgclarify.ledger.calls import Calls
from pgclarify.prompts.investigation import sample
from pgclarify.protocols import Entailment


@dataclass(frozen=True, slots=True)
class Samples:
    """The answers that were sampled from one batch.

    Attributes:
        answers: sa_1 ... sa_m; None means "not in these passages", or an unreadable reply.
        sets: ac_1 ... ac_s: indices of answers with the same meaning; each None is a set of its own.
        document_ids: The documents of the batch, each once.
    """

    answers: tuple[str | None, ...]
    sets: tuple[tuple[int, ...], ...]
    document_ids: tuple[str, ...] = ()


class SemanticEquivalence:
    """Decides which answers mean the same, for one run.

    Args:
        entailment: Judges pairs.

    Source: Kuhn et al., 2023, §3.2.
    """

    def __init__(self, entailment: Entailment) -> None:
        self._entailment = entailment

    async def group(
        self, question: str, answers: Sequence[str | None], tally: Tally, *, document_ids: Sequence[str] = ()
    ) -> list[tuple[int, ...]]:
        """Group answers that entail each other.

        Equal texts are the same without a judgement. None, "not in these passages", agrees with nothing, not even with
        itself: passages must not gain from a model that is sure to find nothing in them.

        Args:
            question: The question of all answers.
            answers: Any number.
            tally: Counts the replies.
            document_ids: Documents that the answers come from, if the run has not noted them as sources.

        Returns:
            As `semantic_sets`.

        Raises:
            CompletionError: If a model was called and gave no judgement, or too few calls are left.
            EmbeddingError: If a model on this machine failed.
        """
        written = [None if answer is None else fold(answer).strip(" .") for answer in answers]
        # Equal texts are compared once.
        speakers: dict[str, str] = {}
        for answer, text in zip(answers, written, strict=True):
            if answer is not None and text is not None:
                speakers.setdefault(text, answer)
        pairs = list(permutations(speakers, 2))
        judged = await self._entailment(
            question,
            [(speakers[one], speakers[other]) for one, other in pairs],
            document_ids=document_ids,
            tally=tally,
        )
        entailed = {pair for pair, is_entailed in zip(pairs, judged, strict=True) if is_entailed}
        matrix = [
            [one is not None and (one == other or (one, other) in entailed) for other in written] for one in written
        ]
        return semantic_sets(np.array(matrix, dtype=np.bool_).reshape(len(answers), len(answers)))

    async def share(self, question: str, samples: Samples, answer: str, tally: Tally) -> float:
        """Return the share of sampled answers that mean the same as an answer.

        The answer itself is counted as another sample.

        Returns:
            In (0, 1]; 1 / (m + 1) if no sampled answer agrees.
        """
        answers = [*samples.answers, answer]
        sets = await self.group(question, answers, tally, document_ids=samples.document_ids)
        return confidence(sets, len(samples.answers))


async def draw_samples(
    question: str,
    passages: Sequence[Passage],
    *,
    samples: int,
    calls: Calls,
    equivalence: SemanticEquivalence,
    tally: Tally,
) -> Samples:
    """Sample answers from a batch, and group them by meaning.

    An unreadable reply agrees with no other. If a call failed, there are no samples, because fewer answers would give
    fewer sets.

    Args:
        question: A step's.
        passages: The batch.
        samples: m, at least 1.
        calls: Makes the calls; so many were reserved.
        equivalence: Compares answers by meaning.
        tally: Counts the replies; its rows are the groups.

    Raises:
        CompletionError: If a call failed, or no reply could be read.
        EmbeddingError: If answers could not be compared.
        DatabaseError: If the ledger fails.

    Source: SUNAR, §3.2, Equations 2 and 3.
    """
    drawn = [sample(question, passages, number=number) for number in range(samples)]
    answers: list[str | None] = []
    unread: list[InvalidReply] = []
    for result in await calls.make(drawn, tally):
        match result.value:
            case InvalidReply() as error:
                answers.append(None)
                unread.append(error)
            case CompletionError() as error:
                raise error
            case answer:
                answers.append(answer)
    if len(unread) == samples:
        raise unread[0]
    document_ids = tuple(dict.fromkeys(passage.document_id for passage in passages))
    sets = await equivalence.group(question, answers, tally, document_ids=document_ids)
    tally.rows = len(sets)
    return Samples(tuple(answers), tuple(sets), document_ids)
