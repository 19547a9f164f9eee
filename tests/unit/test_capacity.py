"""The program that computes and simulates capacity, and the pages that have its tables."""

from __future__ import annotations

from benchmarks.scale.capacity import plan, tables
from tests.pages import CHECKOUT
from tests.pages import tables as tables_of

CAPACITY = CHECKOUT / "docs" / "capacity.md"
BENCHMARKS = CHECKOUT / "docs" / "benchmarks.md"
CITUS = CHECKOUT / "docs" / "citus.md"


def test_the_page_has_the_computed_examples() -> None:
    computed = [tables.needs(plan.planned(setting)) for setting in tables.EXAMPLES.values()]
    told = {row[0]: row[1:] for row in tables_of(CAPACITY, "")["Examples"]}

    assert {name: [column[name] for column in computed] for name in computed[0]}.items() <= told.items()


def test_the_page_has_the_comparison_with_measurements() -> None:
    assert tables_of(BENCHMARKS, "")["Many workers"] == tables.comparison()


def test_the_page_about_clusters_has_the_computed_nodes() -> None:
    (told,) = tables_of(CITUS, "what a node needs").values()

    assert [[row[0], row[-1]] for row in told] == tables.node_rows()
