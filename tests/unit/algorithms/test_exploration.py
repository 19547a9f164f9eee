from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgclarify.algorithms.exploration import Explorer, credit


def test_equal_leads_go_by_the_batch_then_by_nearness_then_by_who_was_handed_out_first():
    explorer = Explorer(["a", "b", "c", "d"], budget=20, batch_size=2)
    assert explorer.next_batch() == ["a", "b"]
    assert explorer.next_batch() == ["c", "d"]
    explorer.observe({"d": 0.5, "c": 0.5}, {"d": ["d1"], "c": ["c1"]})
    explorer.observe({"b": 0.5, "a": 0.5}, {"b": ["b1", "b2"], "a": ["a1", "b2", "a3"]})
    assert [explorer.next_batch() for _ in range(4)] == [["a1", "b1"], ["b2", "a3"], ["c1", "d1"], []]
    assert explorer.led_by("b2") == "a"


def test_the_rest_of_the_initial_list_can_be_ranked_anew():
    explorer = Explorer([1, 2, 3, 4], budget=10, batch_size=2)
    assert explorer.next_batch() == [1, 2]
    explorer.observe({1: 0.5}, {1: [7]})
    explorer.rank_anew([5, 2, 4, 7, 5])
    assert explorer.next_batch() == [7]
    assert explorer.next_batch() == [5, 4]
    # Passages that are not in the new ranking are dropped, and so are those that were handed out.
    assert explorer.next_batch() == []
    assert explorer.led_by(7) == 1
    assert explorer.led_by(5) is None


def test_a_batch_can_be_asked_for_that_is_smaller():
    explorer = Explorer([1, 2, 3, 4, 5], budget=4, batch_size=3)
    assert explorer.next_batch(1) == [1]
    assert explorer.next_batch(9) == [2, 3, 4]
    assert explorer.next_batch(1) == []


@pytest.mark.parametrize(
    ("scores", "says"),
    [({"b": 0.5, "c": 0.5}, "'c' was not handed out"), ({"b": 0.5, "d": 0.5}, "'d' was scored before")],
)
def test_a_wrong_observation_is_refused_whole(scores, says):
    explorer = Explorer(["a", "b", "d", "c"], budget=10, batch_size=3)
    explorer.next_batch()
    explorer.observe({"d": 0.1}, {})
    with pytest.raises(ValueError, match=says):
        explorer.observe(scores, {})
    assert [one.id for one in explorer.results()] == ["d"]
    explorer.observe({"a": 0.5, "b": 0.6}, {"b": ["x"]})
    assert explorer.next_batch() == ["x"]


def test_a_passage_given_back_frees_budget_and_is_not_handed_out_again():
    explorer = Explorer(["a", "b", "c", "d"], budget=2, batch_size=2)
    assert explorer.next_batch() == ["a", "b"]
    explorer.give_back(["b"])
    assert explorer.budget_left == 1
    explorer.observe({"a": 0.5}, {"a": ["b", "x"]})
    assert (explorer.next_batch(), explorer.budget_left) == (["x"], 0)
    explorer.give_back(["x"])
    assert explorer.next_batch() == ["c"]
    assert [one.id for one in explorer.results()] == ["a"]


def test_only_what_is_out_can_be_given_back():
    explorer = Explorer(["a", "b", "c"], budget=10, batch_size=2)
    explorer.next_batch()
    explorer.observe({"a": 0.5}, {})
    for passages, says in ((["b", "c"], "'c' was not handed out"), (["b", "a"], "'a' was scored before")):
        with pytest.raises(ValueError, match=says):
            explorer.give_back(passages)
    assert explorer.budget_left == 8
    explorer.give_back(["b"])
    with pytest.raises(ValueError, match="'b' was given back"):
        explorer.give_back(["b"])
    with pytest.raises(ValueError, match="'b' was given back"):
        explorer.observe({"b": 0.5}, {})


@given(*[st.floats(1e-6, 1 - 1e-6)] * 2)
def test_a_credited_score_is_at_least_its_own_and_at_most_that_of_a_better_lead(score, lead_score):
    assert score <= credit(score, lead_score) <= max(score, lead_score) * (1 + 1e-12)


# Few ids and few scores, so that both pools overlap and most scores tie.
ids = st.integers(0, 15)
graphs = st.dictionaries(ids, st.lists(ids, max_size=5), max_size=16)
score_lists = st.lists(st.sampled_from([-1.0, 0.0, 0.5, 1.0]), min_size=16, max_size=16)
sizes = st.integers(1, 20)


def within_reach(initial: Sequence[int], graph: Mapping[int, Sequence[int]]) -> set[int]:
    reached = set(initial)
    while more := {neighbor for one in reached for neighbor in graph.get(one, ())} - reached:
        reached |= more
    return reached


@given(st.integers(), st.lists(ids, max_size=20), graphs, score_lists, sizes, st.integers(1, 7))
def test_partial_observations_keep_the_same_promises(seed, initial, graph, scores, budget, batch_size):
    # The order of arrival is random: as choices of hypothesis it would take too many.
    timing = random.Random(seed)  # noqa: S311
    explorer: Explorer[int] = Explorer(initial, budget=budget, batch_size=batch_size)
    out: list[int] = []
    order: list[int] = []
    observed: list[int] = []
    while True:
        batch = explorer.next_batch() if not out or timing.random() < 0.5 else []
        assert not set(batch) & set(order)
        for one in batch:
            way = explorer.led_by(one)
            assert one in initial if way is None else way in observed and one in graph[way]
            if way is not None:
                assert scores[way] == max(scores[other] for other in observed if one in graph.get(other, ()))
        out += batch
        order += batch
        assert len(order) + explorer.budget_left == budget
        if not out:
            break
        seen = timing.sample(out, timing.randint(1, len(out)))
        explorer.observe({one: scores[one] for one in seen}, {one: graph[one] for one in seen if one in graph})
        observed += seen
        out = [one for one in out if one not in seen]
        assert sorted(one.id for one in explorer.results()) == sorted(observed)
    assert len(order) == min(budget, len(within_reach(initial, graph)))


@given(st.data(), st.lists(ids, max_size=20), graphs, score_lists, sizes, st.integers(1, 7))
def test_the_order_of_observing_within_a_batch_changes_nothing(data, initial, graph, scores, budget, batch_size):
    at_once: Explorer[int] = Explorer(initial, budget=budget, batch_size=batch_size)
    one_by_one: Explorer[int] = Explorer(initial, budget=budget, batch_size=batch_size)
    while batch := at_once.next_batch():
        assert one_by_one.next_batch() == batch
        at_once.observe({one: scores[one] for one in batch}, {one: graph.get(one, ()) for one in batch})
        for one in data.draw(st.permutations(batch)):
            one_by_one.observe({one: scores[one]}, {one: graph.get(one, ())})
        assert [one_by_one.led_by(one) for one in batch] == [at_once.led_by(one) for one in batch]
    assert one_by_one.results() == at_once.results()
