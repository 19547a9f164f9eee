"""The rerankers of a worker, and passages that get no score."""

from __future__ import annotations

import pytest

from pgclarify.data.documents import Passage
from pgclarify.data.runs import Tally
from pgclarify.errors import ConfigurationError, EmbeddingError, EndpointUnavailable, InvalidReply, describe
from pgclarify.operations.retrieval.evidence import passage_text
from pgclarify.operations.retrieval.reranking import Rerankers
from pgclarify.protocols import CrossEncoder, Reranker
from tests.fakes import FakeCrossEncoder, FakeLedger, scripts
from tests.fakes.completer import ScriptedCompleter
from tests.fakes.context import no_cross_encoder
from tests.fakes.reranker import FakeRerankEndpoint

QUESTION = "When did the bridge open?"


def passages(*contents: str) -> list[Passage]:
    return [Passage(f"d{number}", number, content) for number, content in enumerate(contents)]


async def asking(judge: ScriptedCompleter, ledger: FakeLedger) -> Reranker:
    reranker = await Rerankers(judge, no_cross_encoder).get("model", ledger)
    assert reranker is not None
    return reranker


async def test_without_a_language_model_none_can_be_asked() -> None:
    with pytest.raises(ConfigurationError, match="needs a language model: set OPENAI_BASE_URL") as caught:
        await Rerankers(None, no_cross_encoder).get("model", FakeLedger())
    assert "start it again; or pass" in describe(caught.value)


async def test_a_model_asked_grades_every_passage_at_once() -> None:
    judge = scripts.relevance_judge({"one": "0.9", "two": "0.3"})
    tally = Tally()
    reranker = await asking(judge, FakeLedger())
    assert await reranker(QUESTION, passages("one", "two", "three"), tally=tally) == [0.9, 0.3, 0.1]
    assert judge.most_in_flight == 3
    assert (tally.calls, tally.reused_calls, tally.note) == (3, 0, None)


async def test_equal_passages_and_those_graded_before_are_paid_once() -> None:
    judge, ledger, tally = scripts.relevance_judge({"one": "0.9"}), FakeLedger(), Tally()
    reranker = await asking(judge, ledger)
    assert await reranker(QUESTION, passages("one", "one", "two"), tally=tally) == [0.9, 0.9, 0.1]
    again = await asking(judge, ledger)
    assert await again(QUESTION, passages("two", "one"), tally=tally) == [0.1, 0.9]
    assert len(judge.calls) == 2
    assert (tally.calls, tally.reused_calls) == (2, 2)


async def test_a_passage_with_an_unreadable_grade_comes_last_and_is_noted() -> None:
    judge = scripts.relevance_judge({"one": "great!"})
    tally = Tally()
    reranker = await asking(judge, FakeLedger())
    unread, worst = await reranker(QUESTION, passages("one", "two"), tally=tally)
    assert 0 < unread < worst
    assert tally.note == "1 of 2 replies could not be read"


async def test_a_model_that_nobody_can_read_is_an_error() -> None:
    reranker = await asking(scripts.relevance_judge(otherwise="great!"), FakeLedger())
    with pytest.raises(InvalidReply):
        await reranker(QUESTION, passages("one", "two"))


async def test_a_call_that_fails_is_an_error_and_the_others_are_kept() -> None:
    judge = scripts.relevance_judge({"one": EndpointUnavailable("the endpoint failed")})
    ledger = FakeLedger()
    with pytest.raises(EndpointUnavailable):
        await (await asking(judge, ledger))(QUESTION, passages("one", "two"))
    assert [row.completion is not None for row in ledger.table.rows.values()] == [False, True]
    assert not ledger.table.leased


async def test_a_cross_encoder_reads_passages_with_their_titles() -> None:
    text = "Old Bridge\nHistory\nThe bridge opened in 1902."
    encoder = FakeCrossEncoder(scores={(QUESTION, text): 0.8})

    async def get(name: str) -> CrossEncoder:
        assert name == "some/model"
        return encoder

    reranker = await Rerankers(None, get).get("some/model", FakeLedger())
    assert reranker is not None
    titled = Passage("d1", 1, "The bridge opened in 1902.", title="Old Bridge", heading="Old Bridge > History")
    assert await reranker(QUESTION, [titled, *passages("Cheese.")]) == [0.8, 0.1]
    assert encoder.calls == [[(QUESTION, text), (QUESTION, "Cheese.")]]


async def test_a_cross_encoder_that_does_not_score_is_refused_before_anything_else() -> None:
    async def get(_: str) -> CrossEncoder:
        return FakeCrossEncoder(entailed={})

    with pytest.raises(EmbeddingError, match="does not score relevance"):
        await Rerankers(None, get).get("some/model", FakeLedger())


async def behind(endpoint: FakeRerankEndpoint, ledger: FakeLedger) -> Reranker:
    reranker = await Rerankers(None, no_cross_encoder, endpoint.at_endpoint).get("endpoint:words-1", ledger)
    assert reranker is not None
    return reranker


class TestBehindAnEndpoint:
    async def test_takes_one_call_and_no_language_model(self) -> None:
        endpoint, ledger, tally = FakeRerankEndpoint({"one": 0.9, "two": -4.0}), FakeLedger(), Tally()
        reranker = await behind(endpoint, ledger)
        one, two, three = await reranker(QUESTION, passages("one", "two", "three"), tally=tally)
        assert 0 < two < three < one < 1
        assert endpoint.calls == [["one", "two", "three"]]
        assert (tally.calls, tally.reused_calls, tally.prompt_tokens) == (1, 0, 3 * len(QUESTION) + 11)

    async def test_a_hundred_passages_are_a_call(self) -> None:
        contents = [f"text {number}" for number in range(201)]
        endpoint = FakeRerankEndpoint({content: number / 300 for number, content in enumerate(contents)})
        scores = await (await behind(endpoint, FakeLedger()))(QUESTION, passages(*contents))
        assert list(scores) == sorted(scores)
        assert [len(texts) for texts in endpoint.calls] == [100, 100, 1]
        assert await (await behind(endpoint, FakeLedger()))(QUESTION, []) == []

    async def test_reads_passages_with_their_titles_and_notes_their_documents(self) -> None:
        endpoint, ledger = FakeRerankEndpoint({}), FakeLedger()
        titled = Passage("d7", 1, "The bridge opened in 1902.", title="Old Bridge", heading="Old Bridge > History")
        await (await behind(endpoint, ledger))(QUESTION, [titled, *passages("Cheese.")])
        assert endpoint.calls == [["Old Bridge\nHistory\nThe bridge opened in 1902.", "Cheese."]]
        (row,) = ledger.table.rows.values()
        assert row.request.document_ids == ("d7", "d0")

    async def test_a_call_that_fails_is_an_error_and_the_others_are_kept(self) -> None:
        contents = [f"text {number}" for number in range(101)]
        endpoint, ledger = FakeRerankEndpoint({"text 100": EndpointUnavailable("away")}), FakeLedger()
        with pytest.raises(EndpointUnavailable):
            await (await behind(endpoint, ledger))(QUESTION, passages(*contents))
        assert [row.completion is not None for row in ledger.table.rows.values()] == [True, False]
        assert not ledger.table.leased


@pytest.mark.parametrize(
    ("title", "heading", "text"),
    [
        ("Bridge", "Bridge", "Bridge\nText."),
        ("Bridge", "Bridge > History", "Bridge\nHistory\nText."),
        (None, "History", "History\nText."),
        (" ", "", "Text."),
    ],
)
def test_nothing_is_said_twice(title: str | None, heading: str | None, text: str) -> None:
    assert passage_text(Passage("d1", 1, "Text.", title=title, heading=heading)) == text


async def test_without_an_endpoint_none_can_be_asked_and_the_way_out_is_said() -> None:
    with pytest.raises(ConfigurationError) as caught:
        await Rerankers(None, no_cross_encoder).get("endpoint:words-1", FakeLedger())
    assert caught.value.detail
    assert "PGCLARIFY_RERANK_BASE_URL" in str(caught.value.hint)
