"""clarify with a reranker: the judged passages, without and with guidance by verdicts."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pgclarify.data.vocabulary import RunStatus
from pgclarify.operations.retrieval.reranking import Rerankers
from pgclarify.protocols import CrossEncoder
from tests.unit.operations.fruit import QUESTION, Orchard, content


class LastIsBest:
    """A cross-encoder that prefers the last passages."""

    model = "last"

    def __init__(self) -> None:
        self.seen: list[tuple[str, str]] = []

    async def relevance(self, pairs: Sequence[tuple[str, str]]) -> Sequence[float]:
        self.seen += pairs
        return [int(text.split()[1]) / 1000 for _, text in pairs]

    async def entails(self, pairs: Sequence[tuple[str, str]]) -> Sequence[bool]:
        raise NotImplementedError


def with_encoder(encoder: CrossEncoder) -> Rerankers:
    async def cross_encoders(_: str) -> CrossEncoder:
        return encoder

    return Rerankers(None, cross_encoders)


async def test_a_hundred_passages_are_reranked_and_the_best_judged() -> None:
    encoder = LastIsBest()
    orchard = Orchard(150, {100: "apple"}, retrieval="fixed", reranker="last", top_k=4)
    record = await orchard.carry_out(rerankers=with_encoder(encoder))
    assert orchard.batches == [[100, 99, 98, 97]]
    assert record.candidates[0].score == 0.1
    assert encoder.seen[0] == (QUESTION, content(1))
    assert len(encoder.seen) == 100
    assert orchard.answers == {"apple"}
    assert [stage.name for stage in record.stages] == ["retrieval", "reranking", "judgement", "consolidation"]


async def test_batches_are_taken_from_what_was_reranked_once_for_both_rankings() -> None:
    encoder = LastIsBest()
    by_query = {QUESTION: range(1, 11), "any fruit": range(5, 21)}
    orchard = Orchard(20, {10: "apple"}, by_query=by_query, relaxation="any fruit", relax=True, reranker="last")
    await orchard.carry_out(rerankers=with_encoder(encoder))
    assert orchard.batches == [[10, 9, 8, 7, 6, 5, 4, 3], [20, 19, 18]]
    assert len(encoder.seen) == len(set(encoder.seen)) == 20


@pytest.mark.parametrize("retrieval", ["fixed", "adaptive"])
@pytest.mark.parametrize("reranker", ["model", "no such model"])
async def test_a_reranker_that_is_not_to_be_had_fails_the_run(retrieval: str, reranker: str) -> None:
    orchard = Orchard(5, {}, retrieval=retrieval, reranker=reranker)
    record = await orchard.carry_out()
    assert record.status is RunStatus.FAILED
    assert orchard.verifier.calls == []
