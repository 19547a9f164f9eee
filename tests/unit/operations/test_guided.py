"""Verdict-guided exploration: its batches, and when it ends."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgclarify.data.vocabulary import Outcome, RunStatus
from tests.unit.operations.fruit import QUESTION, Orchard

BARREN = "the last batch added no new reading"


async def test_neighbors_of_grounded_passages_share_the_next_batch_with_the_first_ranking() -> None:
    orchard = Orchard(30, {2: "apple"}, first=range(1, 21), neighbors={2: [21, 22, 3, 23, 24], 3: [30]})
    await orchard.carry_out()
    assert orchard.batches == [[1, 2, 3, 4, 5, 6, 7, 8], [21, 22, 9]]
    ways = {one.passage.passage_id: (one.origin, one.via_passage_id) for one in orchard.record.candidates}
    assert ways[21] == ways[22] == ("neighbor", 2)
    assert ways[9] == ways[1] == ("dense", None)
    assert [one.rank for one in orchard.record.candidates] == list(range(1, 12))
    assert orchard.exploration.lookups == [[2]]


async def test_copies_of_chosen_and_of_ranked_passages_are_not_judged_again() -> None:
    """11 is a copy of a judged passage, 12 of one that waits in the first ranking, and 13 of another neighbor."""
    orchard = Orchard(
        14, {1: "apple"}, first=range(1, 11), neighbors={1: [11, 12, 13, 14]}, copies={11: 1, 12: 10, 14: 13}
    )
    await orchard.carry_out()
    assert orchard.batches == [[1, 2, 3, 4, 5, 6, 7, 8], [10, 13, 9]]
    ways = {one.passage.passage_id: (one.origin, one.via_passage_id) for one in orchard.record.candidates}
    assert ways[10] == ways[13] == ("neighbor", 1)
    assert len(orchard.verifier.calls) == 11


async def test_passages_that_abstained_or_failed_lead_to_no_neighbors() -> None:
    unread = ["not json", "nor this"]
    orchard = Orchard(12, {2: [*unread], 3: "apple"}, first=range(1, 10), neighbors={1: [10], 2: [11], 3: [12]})
    await orchard.carry_out()
    assert orchard.exploration.lookups[0] == [3]
    assert {10, 11}.isdisjoint(passage for batch in orchard.batches for passage in batch)


async def test_near_a_new_reading_comes_before_near_a_known_one() -> None:
    fruit = {1: "apple", 9: "apple", 10: "pear"}
    orchard = Orchard(40, fruit, first=range(1, 21), neighbors={9: [31, 32], 10: [33]})
    await orchard.carry_out()
    assert orchard.batches[1:] == [[9, 10, 11], [33, 31, 12, 13]]


async def test_exploration_ends_when_a_batch_adds_no_new_reading() -> None:
    orchard = Orchard(20, {1: "apple", 9: "apple", 11: "apple"})
    record = await orchard.carry_out()
    assert len(orchard.verifier.calls) == len(record.verdicts) == 11
    assert (record.status, record.stop_reason) == (RunStatus.SUCCEEDED, BARREN)
    assert [found.support for found in record.interpretations] == [3]


async def test_the_last_batch_is_cut_to_the_budget_and_no_neighbors_are_asked_for_after_it() -> None:
    orchard = Orchard(30, {1: "apple", 9: "pear"}, max_passages=10)
    await orchard.carry_out()
    assert [len(batch) for batch in orchard.batches] == [8, 2]
    assert orchard.exploration.lookups == [[1]]


async def test_after_a_batch_with_much_that_is_new_the_next_is_large() -> None:
    fruit = {1: "apple", 2: "pear", 3: "plum", 4: "medlar"}
    orchard = Orchard(40, fruit, top_k=40)
    await orchard.carry_out()
    assert [len(batch) for batch in orchard.batches] == [8, 24]


async def test_passages_that_are_gone_get_no_verdict() -> None:
    orchard = Orchard(20, {1: "apple"}, gone=[2, 9, 10, 11])
    record = await orchard.carry_out()
    # No passage of the second batch exists any more, so the third batch follows at once.
    assert orchard.batches == [[1, 3, 4, 5, 6, 7, 8], [12, 13, 14, 15]]
    assert [one.rank for one in record.candidates] == sorted(record.verdicts)
    assert record.status is RunStatus.SUCCEEDED


async def test_where_the_whole_first_batch_is_gone_it_goes_on_with_what_the_relaxed_question_finds() -> None:
    by_query = {QUESTION: [1, 2], "any fruit": [2, 3]}
    orchard = Orchard(3, {3: "apple"}, by_query=by_query, relaxation="any fruit", gone=[1, 2], relax=True)
    record = await orchard.carry_out()
    assert orchard.batches == [[3]]
    assert (orchard.answers, record.stop_reason) == ({"apple"}, "no passage was left")


async def test_only_the_question_itself_is_searched_for() -> None:
    orchard = Orchard(20, {1: "apple"}, relaxation="any fruit")
    record = await orchard.carry_out()
    assert [query for query, *_ in orchard.exploration.searches] == [QUESTION]
    assert {call.purpose for call in orchard.verifier.calls} == {"verdict"}
    assert record.relaxed_question is None


async def test_the_first_batch_is_judged_while_the_question_is_being_relaxed() -> None:
    gate = asyncio.Event()
    orchard = Orchard(20, {1: "apple"}, relaxation="any fruit", gate=gate, gated=[0], relax=True)
    task = asyncio.create_task(orchard.carry_out())
    while len(orchard.store.noted) < 8:  # noqa: ASYNC110 - what is waited for has no event
        await asyncio.sleep(0)
    assert orchard.verifier.in_flight == 1
    assert [query for query, *_ in orchard.exploration.searches] == [QUESTION]
    gate.set()
    record = await task
    assert record.relaxed_question == "any fruit"
    assert [query for query, *_ in orchard.exploration.searches] == [QUESTION, "any fruit"]


@pytest.mark.parametrize("max_passages", [1, 8])
async def test_where_the_first_batch_spends_the_budget_the_question_is_not_relaxed(max_passages: int) -> None:
    orchard = Orchard(20, {1: "apple"}, relaxation="any fruit", max_passages=max_passages, relax=True)
    record = await orchard.carry_out()
    assert len(orchard.verifier.calls) == max_passages
    assert [query for query, *_ in orchard.exploration.searches] == [QUESTION]
    assert (record.relaxed_question, orchard.answers) == (None, {"apple"})
    assert (record.stop_reason or "").startswith(
        f"the limit of {max_passages} verdict{'s' if max_passages > 1 else ''} was"
    )


async def test_further_batches_are_of_both_rankings_fused() -> None:
    by_query = {QUESTION: range(1, 13), "any fruit": [2, 21, 10, 22]}
    orchard = Orchard(22, {1: "apple"}, by_query=by_query, relaxation="any fruit", relax=True)
    await orchard.carry_out()
    # 10 is in both rankings. The others are ordered by their place in their ranking.
    assert orchard.batches == [[1, 2, 3, 4, 5, 6, 7, 8], [10, 21, 22]]


async def test_a_run_that_is_paid_for_takes_the_same_way() -> None:
    orchard = Orchard(30, {1: "apple", 6: "pear"}, neighbors={1: [21, 22], 6: [25]}, relaxation="any fruit", relax=True)
    first = await orchard.carry_out()
    calls, batches = len(orchard.verifier.calls), orchard.batches
    orchard.run = orchard.store.add_run(QUESTION, settings=orchard.run.settings)
    second = await orchard.carry_out()
    assert len(orchard.verifier.calls) == calls
    assert (orchard.batches, second.interpretations) == (batches, first.interpretations)


async def test_the_trace_tells_of_every_batch() -> None:
    orchard = Orchard(30, {1: "apple", 9: "pear"}, neighbors={1: [21, 22], 9: [25, 26, 27]}, relaxation="any fruit")
    record = await orchard.carry_out()
    assert [(stage.name, stage.batch, stage.rows) for stage in record.stages] == [
        ("retrieval", None, 20),
        ("judgement", 1, 8),
        ("neighbors", 1, 2),
        ("judgement", 2, 3),
        ("neighbors", 2, 3),
        ("judgement", 3, 4),
        ("consolidation", None, 2),
    ]
    assert sum(stage.calls for stage in record.stages) == len(orchard.verifier.calls) == 15


numbers = st.integers(1, 25)


@given(
    st.lists(numbers, max_size=20, unique=True),
    st.dictionaries(numbers, st.lists(numbers, max_size=6, unique=True)),
    st.dictionaries(numbers, st.sampled_from(["apple", "pear", "plum", "quince", "medlar"])),
    st.integers(1, 25),
)
def test_whatever_the_verdicts_say(
    first: list[int], neighbors: dict[int, list[int]], fruit: dict[int, str], max_passages: int
) -> None:
    orchard = Orchard(25, fruit, first=first, neighbors=neighbors, max_passages=max_passages)
    record = asyncio.run(orchard.carry_out())
    assert record.status is RunStatus.SUCCEEDED
    judged = [one.passage.passage_id for one in record.candidates]
    assert len(judged) == len(set(judged)) == len(record.verdicts) == len(orchard.verifier.calls) <= max_passages
    assert [one.rank for one in record.candidates] == sorted(record.verdicts) == list(range(1, len(judged) + 1))
    batch_of = {one.passage.passage_id: one.batch for one in record.candidates}
    for one in record.candidates:
        if one.via_passage_id is None:
            assert one.passage.passage_id in first
        else:
            assert one.passage.passage_id in neighbors[one.via_passage_id]
            assert batch_of[one.via_passage_id] < one.batch
            assert record.verdicts[judged.index(one.via_passage_id) + 1].outcome is Outcome.GROUNDED
    # All answers of judged passages are found. If there are none, all passages were judged.
    assert orchard.answers == {fruit[number] for number in judged if number in fruit}
    assert orchard.answers or len(judged) == min(max_passages, len(first))
