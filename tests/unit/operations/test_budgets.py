"""The results of runs if a budget refuses some of their calls."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from pgclarify.data.documents import Passage
from pgclarify.data.model_calls import Claim, CompletionRequest
from pgclarify.data.runs import Tally, as_ended
from pgclarify.data.vocabulary import Outcome, RunStatus, StopCode
from pgclarify.errors import BudgetSpent, EndpointUnavailable, PriceMissing
from pgclarify.operations.execution import execute
from pgclarify.operations.retrieval.reranking import Rerankers
from tests.fakes import FakeExplorationStore, FakeLedger, FakeLedgerTable, FakeStore, scripts
from tests.fakes.completer import Prompt
from tests.fakes.context import context_of, no_cross_encoder
from tests.unit.ledger.buying import buy, eventually, replies, request, until_in_flight
from tests.unit.operations.fruit import QUESTION, Orchard, content
from tests.unit.operations.rental_cars import carry_out, clarify_with, corpus, script
from tests.unit.operations.test_reranking import passages

SPENT = 'budget "fake" is spent'


class TestPurchases:
    async def test_a_call_waits_for_budget_that_may_be_freed(self) -> None:
        table, gate = FakeLedgerTable(max_calls=2), asyncio.Event()
        slow = scripts.verifier({"a": "one", "b": "two"}, gate=gate)
        first = asyncio.create_task(buy(FakeLedger(table, worker="one"), slow, [request("a"), request("b")]))
        await until_in_flight(slow, 2)
        verifier = scripts.verifier()
        second = asyncio.create_task(buy(FakeLedger(table, worker="two"), verifier, [request("c"), request("a")]))
        await eventually(lambda: table.claims >= 4)
        assert not second.done()

        gate.set()

        assert replies(await first) == ["one", "two"]
        assert replies(await second) == [SPENT, "one"]
        assert verifier.calls == []


class TestClarify:
    async def test_clarify_ends_partial_with_what_the_budget_paid_for(self) -> None:
        table = FakeLedgerTable(max_calls=2)
        record = await carry_out(corpus(), scripts.verifier(script()), store=store(table))

        assert (record.status, record.error, record.stop_reason) == (RunStatus.PARTIAL, None, SPENT)
        assert (record.error_code, record.stop_code) == (None, StopCode.BUDGET)
        assert [record.verdicts[rank].outcome for rank in (1, 2, 3, 4)] == [
            Outcome.GROUNDED,
            Outcome.GROUNDED,
            Outcome.FAILED,
            Outcome.FAILED,
        ]
        assert len(record.interpretations) == 2

    async def test_nothing_left_leaves_what_was_paid_for(self) -> None:
        table = FakeLedgerTable()
        await carry_out(corpus()[:2], scripts.verifier(script()), store=store(table, 2))
        table.max_calls = 0
        verifier = scripts.verifier(script(), relaxation="another")
        record = await carry_out(corpus(), verifier, store=store(table), settings={"relax": True})

        assert verifier.calls == []
        # The original question is used.
        assert (record.query, record.relaxed_question) == ("rental cars", None)
        assert (record.status, record.stop_reason) == (RunStatus.PARTIAL, SPENT)
        assert len(record.interpretations) == 2
        # A corpus without passages needs no call, so its result is complete.
        record = await carry_out([], scripts.verifier(script()), store=store(table, 2))
        assert (record.status, record.stop_reason) == (RunStatus.SUCCEEDED, None)

    async def test_a_reranker_that_may_not_ask(self) -> None:
        judge = scripts.relevance_judge({"one": "0.9"})
        ledger, tally = FakeLedger(FakeLedgerTable(max_calls=2)), Tally()
        reranker = await Rerankers(judge, no_cross_encoder).get("model", ledger)
        assert reranker is not None
        with pytest.raises(BudgetSpent):
            await reranker("?", passages("one", "two", "three"), tally=tally)
        # Replies that were paid for are kept.
        assert await reranker("?", passages("one", "two")) == [0.9, 0.1]

        clarifying = store(FakeLedgerTable(max_calls=0))
        run = clarifying.add_run("rental cars", settings={"reranker": "model"})
        await clarify_with(
            clarifying,
            run,
            scripts.verifier(script()),
            exploration=FakeExplorationStore(clarifying, corpus()),
            rerankers=Rerankers(judge, no_cross_encoder),
        )
        record = clarifying.runs[run.run_id]
        assert (record.status, record.error, record.stop_reason) == (RunStatus.PARTIAL, None, SPENT)

    @pytest.mark.parametrize("retrieval", ["fixed", "adaptive"])
    async def test_grades_of_some_passages_say_nothing_about_the_others(self, retrieval: str) -> None:
        orchard = Orchard(50, {1: "apple"}, retrieval=retrieval, reranker="model", top_k=4)
        # The first passage of the search gets the lowest grade. No other passage is graded.
        judge = scripts.relevance_judge({content(1): "0.1"}, otherwise="0.9")
        orchard.store.table.max_calls = 1
        record = await orchard.carry_out(rerankers=Rerankers(judge, no_cross_encoder))

        assert [candidate.passage.passage_id for candidate in record.candidates] == [1, 2, 3, 4]
        assert (record.status, record.stop_reason) == (RunStatus.PARTIAL, SPENT)
        (reranking,) = [stage for stage in record.stages if stage.name == "reranking"][:1]
        assert reranking.note == f"in the order of the search: {SPENT}"

    async def test_a_model_that_was_refused_once_is_not_asked_to_rank_again(self) -> None:
        by_query = {QUESTION: range(1, 11), "any fruit": range(11, 21)}
        orchard = Orchard(20, {1: "apple"}, by_query=by_query, relaxation="any fruit", relax=True, reranker="model")
        orchard.store.table.max_calls = 2
        judge = scripts.relevance_judge(otherwise="0.9")
        record = await orchard.carry_out(rerankers=Rerankers(judge, no_cross_encoder))

        assert record.relaxed_question == "any fruit"
        assert [stage.name for stage in record.stages].count("reranking") == 1

    async def test_a_budget_does_not_hide_an_endpoint_that_is_away(self) -> None:
        async def be_away(prompt: Prompt) -> None:
            raise EndpointUnavailable("the endpoint cannot be reached")

        class Refused(FakeStore):
            async def claim_completions(
                self, requests: Sequence[CompletionRequest], *, sent_at_once: int = 0
            ) -> list[Claim]:
                claims = await super().claim_completions(requests)
                if len(claims) > 1:
                    self.refusal = BudgetSpent(SPENT)
                    claims[1:] = [Claim(None, None, is_ours=False, refusal=self.refusal) for _ in claims[1:]]
                return claims

        verifier = scripts.verifier(script())
        verifier.before = be_away
        record = await carry_out([], verifier, store=Refused(corpus()))
        assert (record.status, record.error) == (RunStatus.FAILED, "the endpoint cannot be reached")

    async def test_a_missing_price_is_mended_first(self) -> None:
        class Unpriced(FakeStore):
            async def claim_completions(
                self, requests: Sequence[CompletionRequest], *, sent_at_once: int = 0
            ) -> list[Claim]:
                self.refusal = PriceMissing("there is no price", detail="Insert one.")
                return [Claim(None, None, is_ours=False, refusal=self.refusal) for _ in requests]

        record = await carry_out([], scripts.verifier(script()), store=Unpriced(corpus()))
        assert record.status is RunStatus.FAILED
        assert record.error is not None
        assert "there is no price: Insert one." in record.error

    async def test_a_search_that_a_model_may_not_rank_is_as_it_was_found(self) -> None:
        found = [Passage(f"d{number}", number, content(number)) for number in range(1, 5)]
        searching = FakeStore(found, table=FakeLedgerTable(max_calls=1))
        settings = {"method": "lexical", "reranker": "model", "max_passages": 4, "top_k": 3}
        run = searching.add_run("rental cars", operation="search", settings=settings)
        judge = scripts.relevance_judge({found[0].content: "0.1"}, otherwise="0.9")
        rerankers = Rerankers(judge, no_cross_encoder)
        exploration = FakeExplorationStore(searching, found)
        await execute(context_of(run, searching, passages=exploration, rerankers=rerankers))
        record = searching.runs[run.run_id]
        assert (record.status, record.error, record.stop_reason) == (RunStatus.PARTIAL, None, SPENT)
        assert [candidate.passage for candidate in record.candidates] == found[:3]


def test_no_run_that_was_refused_something_is_complete() -> None:
    refusal = BudgetSpent(SPENT)
    limit, budget = StopCode.LIMIT, StopCode.BUDGET
    assert as_ended(RunStatus.SUCCEEDED, "all is said", limit, None) == (RunStatus.SUCCEEDED, "all is said", limit)
    assert as_ended(RunStatus.SUCCEEDED, "all is said", limit, refusal) == (RunStatus.PARTIAL, SPENT, budget)
    assert as_ended(RunStatus.FAILED, None, None, refusal) == (RunStatus.FAILED, SPENT, budget)


def store(table: FakeLedgerTable, first: int = 4) -> FakeStore:
    """The first passages of the corpus, and a ledger."""
    return FakeStore(corpus()[:first], table=table)
