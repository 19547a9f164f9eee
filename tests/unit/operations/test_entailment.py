"""The judges that compare answers: words and vectors, a language model, or a cross-encoder."""

from __future__ import annotations

import pytest

from pgclarify.data.runs import Tally
from pgclarify.embedding import load_embedder
from pgclarify.errors import ConfigurationError, EmbeddingError, describe
from pgclarify.operations.investigation.entailment import Entailments
from pgclarify.protocols import CrossEncoder, Entailment
from tests.fakes import FakeCrossEncoder, FakeEmbedder, FakeLedger, scripts
from tests.fakes.completer import ScriptedCompleter
from tests.fakes.context import no_cross_encoder
from tests.fakes.reranker import FakeRerankEndpoint

QUESTION = "When did the bridge open?"


async def by_embedding(embedder: FakeEmbedder) -> Entailment:
    return await Entailments(None, no_cross_encoder).get("embedding", FakeLedger(), embedder)


async def by_model(judge: ScriptedCompleter, ledger: FakeLedger) -> Entailment:
    return await Entailments(judge, no_cross_encoder).get("model", ledger, FakeEmbedder())


async def test_without_a_language_model_none_can_be_asked() -> None:
    with pytest.raises(ConfigurationError, match="needs a language model: set OPENAI_BASE_URL") as caught:
        await Entailments(None, no_cross_encoder).get("model", FakeLedger(), FakeEmbedder())
    assert "start it again; or pass" in describe(caught.value)


async def test_words_decide_where_they_tell() -> None:
    embedder = FakeEmbedder()
    entailment = await by_embedding(embedder)
    pairs = [("in 1902", "1902"), ("1902", "1903"), ("Jean Ping", "the J. Ping"), ("Kris Benson", "Anna Benson")]
    assert await entailment(QUESTION, pairs) == [True, False, True, False]
    assert not embedder.calls


async def test_vectors_decide_elsewhere_each_answer_embedded_once() -> None:
    embedder = FakeEmbedder()
    entailment = await by_embedding(embedder)
    # For the fake, singular and plural are different words, and texts with common words have close vectors.
    close = ("slow slow slow slow walk walk", "slow slow slow slow swim swim")
    far = ("slow slow slow slow walk walk", "to save money money money")
    assert await entailment(QUESTION, [close, far, (close[1], close[0])]) == [True, False, True]
    assert embedder.calls == [[QUESTION, *(f"{QUESTION} {answer}" for answer in (*close, far[1]))]]


async def test_the_threshold_fits_the_model_that_it_was_chosen_with() -> None:
    question, near = "Where is the town?", ["on the coast", "by the sea", "at the seaside"]
    embedder = load_embedder("all-MiniLM-L6-v2")
    try:
        entailment = await Entailments(None, no_cross_encoder).get("embedding", FakeLedger(), embedder)
        same = await entailment(question, [(one, other) for one in near for other in near])
        different = await entailment(question, [(one, "high up in the Alps") for one in near])
    finally:
        embedder.close()
    assert all(same)
    assert not any(different)


async def test_a_model_is_asked_about_each_pair_at_once_and_once() -> None:
    judge = scripts.entailment_judge({"in May 1902 > 1902": "yes"})
    ledger, tally = FakeLedger(), Tally()
    entailment = await by_model(judge, ledger)
    pairs = [("in May 1902", "1902"), ("1902", "in May 1902"), ("in May 1902", "1902")]
    assert await entailment(QUESTION, pairs, tally=tally) == [True, False, True]
    assert judge.most_in_flight == 2
    assert (tally.calls, tally.reused_calls) == (2, 0)
    assert await (await by_model(judge, ledger))(QUESTION, pairs[:1], tally=tally) == [True]
    assert len(judge.calls) == 2


async def test_a_reply_is_of_the_documents_of_its_answers() -> None:
    endpoint, ledger = FakeRerankEndpoint({}, []), FakeLedger()
    for entailment in (
        await by_model(scripts.entailment_judge(otherwise="yes"), ledger),
        await Entailments(None, no_cross_encoder, endpoint.at_endpoint).get("endpoint:nli", ledger, FakeEmbedder()),
    ):
        await entailment(QUESTION, [("a", "b")], document_ids=["1", "2"])
    noted = {row.request.purpose: row.request.document_ids for row in ledger.table.rows.values()}
    assert noted == {"entailment": ("1", "2"), "inference": ("1", "2")}


async def test_an_unreadable_reply_counts_as_different_and_is_noted() -> None:
    judge = scripts.entailment_judge({"a > b": "perhaps", "c > d": ["perhaps", "yes"]}, otherwise="yes")
    tally = Tally()
    entailment = await by_model(judge, FakeLedger())
    pairs = [("a", "b"), ("c", "d"), ("e", "f")]
    assert await entailment(QUESTION, pairs, tally=tally) == [False, True, True]
    assert tally.note == "1 of 3 replies could not be read"


async def test_a_cross_encoder_reads_answers_with_their_question() -> None:
    pair = (f"{QUESTION} in May 1902", f"{QUESTION} 1902")
    encoder = FakeCrossEncoder(entailed={pair: True})

    async def get(_: str) -> CrossEncoder:
        return encoder

    entailment = await Entailments(None, get).get("some/model", FakeLedger(), FakeEmbedder())
    assert await entailment(QUESTION, [("in May 1902", "1902"), ("1902", "in May 1902")]) == [True, False]
    assert encoder.calls == [[pair, pair[::-1]]]


async def test_a_cross_encoder_that_tells_no_entailment_is_refused_before_anything_else() -> None:
    async def get(_: str) -> CrossEncoder:
        return FakeCrossEncoder(scores={})

    with pytest.raises(EmbeddingError, match="does not tell entailment"):
        await Entailments(None, get).get("some/model", FakeLedger(), FakeEmbedder())


class TestBehindAnEndpoint:
    async def judge(self, endpoint: FakeRerankEndpoint, ledger: FakeLedger) -> Entailment:
        judges = Entailments(None, no_cross_encoder, endpoint.at_endpoint)
        return await judges.get("endpoint:nli", ledger, FakeEmbedder())

    async def test_32_pairs_are_a_call_and_none_is_paid_twice(self) -> None:
        pairs = [(str(number), str(number % 2)) for number in range(70)]
        shown = [(f"{QUESTION} {one}", f"{QUESTION} {other}") for one, other in pairs]
        endpoint, ledger, tally = FakeRerankEndpoint({}, shown[::3]), FakeLedger(), Tally()
        for _ in range(2):
            judged = await (await self.judge(endpoint, ledger))(QUESTION, pairs, tally=tally)
            assert list(judged) == [number % 3 == 0 for number in range(70)]
        assert [len(call) for call in endpoint.pairs] == [32, 32, 6]
        assert endpoint.pairs[0][0] == shown[0]
        assert (tally.calls, tally.reused_calls) == (3, 3)
