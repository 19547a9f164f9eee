"""The program that computes and simulates capacity, and the pages that have its tables."""

from __future__ import annotations

import asyncio
import re

import pytest

from benchmarks.scale.capacity import plan, tables
from benchmarks.scale.capacity.simulation import CallLine, Clock, Steps
from pgclarify.protocols import Urgency, urgent
from pgclarify.providers import call_line
from tests.pages import CHECKOUT
from tests.pages import tables as tables_of

CAPACITY = CHECKOUT / "docs" / "capacity.md"
CITUS = CHECKOUT / "docs" / "citus.md"


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
