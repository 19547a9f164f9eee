"""The program that computes and simulates capacity, and the pages that have its tables."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from statistics import median

import pytest

from benchmarks.capacity import costs, plan, tables
from benchmarks.capacity.plan import Setting
from benchmarks.capacity.simulation import CallLine, Clock, Simulation, Steps
from pgclarify.protocols import Urgency, urgent
from pgclarify.providers import call_line
from tests.pages import CHECKOUT
from tests.pages import tables as tables_of

CAPACITY = CHECKOUT / "docs" / "capacity.md"
CITUS = CHECKOUT / "docs" / "citus.md"
MACHINE = Setting(passages=10_000, at_once=64, call_seconds=0.02, workers=1, cores=2)


def test_the_page_has_the_computed_examples() -> None:
    computed = [tables.needs(plan.planned(setting)) for setting in tables.EXAMPLES.values()]
    told = {row[0]: row[1:] for row in tables_of(CAPACITY, "")["Examples"]}

    assert {name: [column[name] for column in computed] for name in computed[0]}.items() <= told.items()


@pytest.mark.slow
def test_the_page_has_the_simulated_waits() -> None:
    assert tables_of(CAPACITY, "")["Examples"] == tables.examples()


def test_the_page_has_the_comparison_with_measurements() -> None:
    assert tables_of(CAPACITY, "")["Simulation"] == tables.comparison()


def test_the_page_about_clusters_has_the_computed_nodes() -> None:
    (told,) = tables_of(CITUS, "what a node needs").values()

    assert [[row[0], row[-1]] for row in told] == tables.node_rows()


def test_the_page_and_the_program_give_the_same_advice() -> None:
    limits = tables_of(CAPACITY, "what")["What is the first limit"]
    told = {row[0]: re.sub(r"\[(.*?)\]\(.*?\)", r"\1", row[2]).replace("`", "") for row in limits}

    assert plan.WHAT_TO_DO.items() <= told.items()


@pytest.mark.parametrize("passages", costs.SEARCH)
def test_a_search_takes_what_was_measured(passages: int) -> None:
    assert plan.search_seconds(passages) == pytest.approx(costs.SEARCH[passages].value)


def test_a_larger_corpus_takes_more_of_the_server_for_a_question() -> None:
    small, large = Setting(passages=10_000), Setting(passages=1_000_000)
    more = costs.SEARCH[1_000_000].value - costs.SEARCH[10_000].value

    assert plan.question_seconds(small) == pytest.approx(small.calls * costs.CALL_SERVER.value)
    assert plan.question_seconds(large) - plan.question_seconds(small) == pytest.approx(more)


def test_more_workers_help_until_the_server_is_the_limit() -> None:
    one, two, eight, sixteen = (
        Simulation(replace(MACHINE, workers=workers, at_once=512), batch=60).batch_alone().calls_a_second
        for workers in (1, 2, 8, 16)
    )

    assert two > 1.5 * one
    assert sixteen < 1.1 * eight
    assert 0.8 < sixteen / (MACHINE.cores / costs.CALL_SERVER.value) <= 1


def test_more_workers_do_not_help_a_slow_endpoint() -> None:
    slow = replace(MACHINE, at_once=8, call_seconds=1)
    one, four = (Simulation(replace(slow, workers=count), batch=8).batch_alone() for count in (1, 4))

    assert four.calls_a_second == pytest.approx(one.calls_a_second, rel=0.1)
    assert max(one.loads, key=lambda part: one.loads[part]) == "the endpoint"
    assert plan.limits(replace(slow, memory=4))[0].part == "the endpoint"


def test_people_go_before_a_batch() -> None:
    hour = Simulation(replace(MACHINE, at_once=8, call_seconds=1), batch=1000).one_after_the_other(3)

    assert max(hour.waits) < median(hour.batch_waits) / 3


def test_people_wait_longer_beside_a_batch_and_where_calls_are_few() -> None:
    setting = replace(MACHINE, questions=2_000, at_once=16, call_seconds=1)
    alone = Simulation(setting).hour(20).median

    assert Simulation(setting, batch=1000).hour(20).median > alone
    assert Simulation(replace(setting, at_once=8)).hour(20).median > alone


def test_a_median_needs_more_than_the_few_who_ask_in_an_hour() -> None:
    assert len(Simulation(plan.planned(Setting(questions=1))).hour(100).waits) >= 20


def test_indexes_that_do_not_fit_into_memory_are_the_first_limit() -> None:
    setting = plan.planned(Setting(memory=1))

    assert plan.limits(setting)[0].part == "memory"
    assert plan.limits(replace(setting, nodes=4))[0].part != "memory"


def test_the_simulated_line_has_the_order_of_the_real_one() -> None:
    # The line of each call, in the order of arrival. Lines 0 and 1 are those of people.
    calls = [3, 3, 3, 1, 1, 1, 1, 1, 0, 2, 1, 1, 3, 0]
    clock = Clock()
    line = CallLine(clock, 1)
    simulated: list[int] = []

    def steps(number: int) -> Steps:
        yield from line.take(calls[number])
        simulated.append(number)
        yield 1.0
        line.give_back()

    for number in range(len(calls)):
        clock.start(steps(number))
    clock.run()

    assert simulated == asyncio.run(_really(calls))


async def _really(calls: list[int]) -> list[int]:
    line = call_line.CallLine(1)
    order = []

    async def call(number: int) -> None:
        with urgent(Urgency(calls[number] < 2)):
            async with line.turn("verdict" if calls[number] % 2 else "relaxation"):
                order.append(number)
                await asyncio.sleep(0)

    await asyncio.gather(*(call(number) for number in range(len(calls))))
    return order
