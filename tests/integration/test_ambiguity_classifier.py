"""Trained versions of the classifier: who may store, choose and see them, and which rows are valid."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.integration.by_hand import MAKE_OPEN_CORPUS, Connect, Connection, MakeRole, scalar, state_of
from tests.integration.in_turn import in_turn

pytestmark = pytest.mark.rolled_back

INVALID_PARAMETER = "22023"
INSUFFICIENT_PRIVILEGE = "42501"
UNDEFINED = "42704"
CHECK_VIOLATION = "23514"

ADD = """select pgclarify_private.add_trained_classifier(caller, %s, %s::jsonb, %s::real[], %s)
    from pgclarify_private.caller"""
USE = "select pgclarify_private.use_ambiguity_classifier(caller, %s, %s) from pgclarify_private.caller"
IN_USE = "select version from pgclarify_private.caller, pgclarify_private.classifier_in_use(caller, %s)"
VERSIONS = """
    select corpus.name, trained.version, trained.is_used
    from pgclarify_private.trained_classifier as trained
    inner join pgclarify_private.corpus on trained.corpus_id = corpus.corpus_id
    order by 1, 2
"""
FIGURE = {"before": [0.5, 0.4, 0.6], "trained": [0.75, 0.7, 0.8], "difference": [0.25, 0.125, 0.375]}
TRAINED = {
    "shipped_version": "abc",
    "examples": 210,
    "threshold": 0.25,
    "judges_questions": True,
    "judges_conversations": False,
    "figures": {"questions": 90, "ambiguous": 45, "f1": FIGURE},
    "is_better": True,
}
WEIGHTS = [0.0, 0.5, -1.25]


def add(connection: Connection, corpus: str, *, is_used: bool = False, **changes: Any) -> int:
    return int(scalar(connection, ADD, corpus, json.dumps(TRAINED | changes), WEIGHTS, is_used))


@pytest.fixture
def houses(connection: Connection, connect: Connect, make_role: MakeRole) -> dict[str, Connection]:
    """Anna owns corpus "annas" and is its only reader. Bert owns "berts", which all roles may read."""
    people = {name: connect(make_role("pgclarify_user", name=name)) for name in ("anna", "bert")}
    people["reader"] = connect(make_role("pgclarify_reader"))
    people["anna"].execute(
        "select pgclarify.create_corpus('annas', options => jsonb_build_object('reader', current_user))"
    )
    people["bert"].execute(MAKE_OPEN_CORPUS, ["berts"])
    return people


def test_versions_are_numbered_and_at_most_one_of_a_corpus_is_used(
    connection: Connection, houses: dict[str, Connection]
) -> None:
    anna, bert = houses["anna"], houses["bert"]

    assert [add(anna, "annas"), add(anna, "annas", is_used=True), add(bert, "berts", is_used=True)] == [1, 2, 1]
    assert connection.execute(VERSIONS.encode()).fetchall() == [
        ("annas", 1, False), ("annas", 2, True), ("berts", 1, True)
    ]  # fmt: skip
    assert add(anna, "annas", is_used=True) == 3
    assert scalar(anna, IN_USE, "annas") == 3


def test_there_is_a_way_back_to_an_older_version_and_to_what_ships(houses: dict[str, Connection]) -> None:
    anna = houses["anna"]
    add(anna, "annas", is_used=True)
    add(anna, "annas", is_used=True)

    assert scalar(anna, USE, "annas", 1) is True
    assert scalar(anna, USE, "annas", 1) is False
    assert scalar(anna, IN_USE, "annas") == 1
    assert scalar(anna, USE, "annas", None) is True
    assert scalar(anna, USE, "annas", None) is False
    assert anna.execute(IN_USE.encode(), ["annas"]).fetchall() == []


def test_a_trained_version_is_stored_with_its_figures(connection: Connection, houses: dict[str, Connection]) -> None:
    anna = houses["anna"]
    add(anna, "annas")
    names = (
        "trained_by", "examples", "threshold", "judges_questions", "judges_conversations", "is_better",
        "shipped_version", "figures", "weights",
    )  # fmt: skip
    stored = f"select {', '.join(names)} from pgclarify_private.trained_classifier"  # noqa: S608
    (row,) = connection.execute(stored.encode()).fetchall()

    assert row == (anna.info.user, 210, 0.25, True, False, True, "abc", TRAINED["figures"], WEIGHTS)


def test_figures_may_be_missing_or_tiny(connection: Connection, houses: dict[str, Connection]) -> None:
    given: list[dict[str, Any]] = [
        {},
        {"questions": 0, "f1": {"difference": [-1, -5.551115123125783e-17, 1e-40]}},
    ]
    for figures in given:
        add(houses["anna"], "annas", figures=figures)

    stored = "select figures from pgclarify_private.trained_classifier order by version"
    assert [row[0] for row in connection.execute(stored.encode())] == given


class TestWhoMay:
    @in_turn(
        "who, corpus, sqlstate",
        [
            ("anna", "berts", INSUFFICIENT_PRIVILEGE),
            ("reader", "berts", INSUFFICIENT_PRIVILEGE),
            ("bert", "annas", UNDEFINED),
            ("bert", "none", UNDEFINED),
            ("bert", None, INVALID_PARAMETER),
        ],
    )
    def test_the_owner_of_the_corpus_alone(
        self, houses: dict[str, Connection], who: str, corpus: str | None, sqlstate: str
    ) -> None:
        given = [corpus, json.dumps(TRAINED), WEIGHTS, True]
        for statement, arguments in ((ADD, given), (USE, [corpus, None]), (IN_USE, [corpus])):
            assert state_of(houses[who], statement, arguments) == sqlstate

    def test_members_of_the_owner_those_of_all_corpora(
        self, houses: dict[str, Connection], connect: Connect, make_role: MakeRole
    ) -> None:
        keeper = connect(make_role("pgclarify_owner"))

        assert add(keeper, "annas", is_used=True) == 1
        assert scalar(houses["anna"], IN_USE, "annas") == 1


def test_a_version_that_is_not_there_is_refused(houses: dict[str, Connection]) -> None:
    add(houses["anna"], "annas", is_used=True)

    for version in (0, 2):
        assert state_of(houses["anna"], USE, ["annas", version]) == UNDEFINED
    assert scalar(houses["anna"], IN_USE, "annas") == 1


@in_turn(
    "changes, weights",
    [
        ({"threshold": 1.5}, WEIGHTS),
        ({"judges_questions": False}, WEIGHTS),
        ({"examples": 0}, WEIGHTS),
        ({"figures": []}, WEIGHTS),
        ({"figures": {"x": "x" * 20_000}}, WEIGHTS),
        ({"shipped_version": ""}, WEIGHTS),
        ({}, [0.0, float("nan")]),
        ({}, [0.0, float("inf")]),
        ({}, [0.0, float("-inf")]),
        ({}, [0.0, None]),
        ({}, []),
        ({}, [[0.0], [1.0]]),
        ({}, [0.0] * 100_001),
    ],
)
def test_a_broken_version_is_refused(
    houses: dict[str, Connection], changes: dict[str, Any], weights: list[Any]
) -> None:
    given = ["annas", json.dumps(TRAINED | changes), weights, False]

    assert state_of(houses["anna"], ADD, given) == CHECK_VIOLATION


def test_they_go_with_their_corpus(connection: Connection, houses: dict[str, Connection]) -> None:
    add(houses["anna"], "annas")
    add(houses["bert"], "berts")
    houses["bert"].execute("select pgclarify.drop_corpus('berts')")

    assert connection.execute(VERSIONS.encode()).fetchall() == [("annas", 1, False)]


@pytest.mark.committed
def test_two_roles_that_choose_at_once_leave_one_version_in_use(connection: Connection, connect: Connect) -> None:
    connection.execute(MAKE_OPEN_CORPUS, ["ours"])
    for _ in range(2):
        add(connection, "ours")
    first = connect(connection.info.user)
    with ThreadPoolExecutor() as pool, first.transaction():
        scalar(first, USE, "ours", 1)
        second = pool.submit(scalar, connection, USE, "ours", 2)
        with pytest.raises(TimeoutError):
            second.result(0.3)
    assert second.result(60) is True
    assert connection.execute(VERSIONS.encode()).fetchall() == [("ours", 1, False), ("ours", 2, True)]


@pytest.mark.committed
def test_two_versions_trained_at_once_are_both_stored(connection: Connection, connect: Connect) -> None:
    connection.execute(MAKE_OPEN_CORPUS, ["ours"])
    first = connect(connection.info.user)
    with ThreadPoolExecutor() as pool:
        with first.transaction():
            assert add(first, "ours", is_used=True) == 1
            second = pool.submit(add, connection, "ours", is_used=True)
            with pytest.raises(TimeoutError):
                second.result(0.3)
        assert second.result(60) == 2
    assert connection.execute(VERSIONS.encode()).fetchall() == [("ours", 1, False), ("ours", 2, True)]


@pytest.mark.committed
def test_choosing_a_version_and_dropping_the_corpus_do_not_deadlock(connection: Connection, connect: Connect) -> None:
    connection.execute(MAKE_OPEN_CORPUS, ["ours"])
    add(connection, "ours", is_used=True)
    trainer = connect(connection.info.user)
    with ThreadPoolExecutor() as pool:
        with trainer.transaction():
            assert scalar(trainer, USE, "ours", None) is True
            dropped = pool.submit(connection.execute, "select pgclarify.drop_corpus('ours')")
            with pytest.raises(TimeoutError):
                dropped.result(0.3)
            assert add(trainer, "ours", is_used=True) == 2
        dropped.result(60)
    assert connection.execute(VERSIONS.encode()).fetchall() == []
