"""Rules and trained classifiers of ambiguity: which are accepted, who may edit and see them, and which are used."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import psycopg
import pytest

from tests.integration.manual_worker import MAKE_OPEN_CORPUS, MakeWorker
from tests.integration.parametrize_in_one_test import parametrize_in_one_test
from tests.sessions import Connect, Connection, MakeRole, scalar, sqlstate_of

pytestmark = pytest.mark.rolled_back

INVALID_PARAMETER = "22023"
INVALID_PATTERN = "2201B"
INSUFFICIENT_PRIVILEGE = "42501"

ADD = "select pgclarify.add_ambiguity_rule(%s, %s, %s, %s)"
REMOVE = "select pgclarify.remove_ambiguity_rule(%s, %s)"
# Insert directly, as members of pgclarify_owner may.
INSERT = """
    insert into pgclarify_private.ambiguity_rule (pattern, kind, corpus, note, corpus_id)
    select given.*, corpus.corpus_id
    from (select %s::text, %s::text, %s::text as corpus, %s::text) as given
    left join pgclarify_private.corpus on corpus.name = given.corpus
"""


UNFIT = {
    INVALID_PARAMETER: ["", "a" * 501, "x*", "foo|", "^", "(a*)*"],
    INVALID_PATTERN: ["[[:no:]]", "[]", "(", "[a", "a{2,1}", "*a", "\\", "[b-a]", r"a\q"],
}


class TestWhoEditsThem:
    @pytest.fixture(autouse=True)
    def rules(self, connection: Connection, houses: dict[str, Connection]) -> None:
        for name in ("anna", "bert"):
            houses[name].execute(ADD.encode(), [f"of {name}", "lexical", f"{name}s", None])
        connection.execute(INSERT.encode(), ["of all", "lexical", None, None])

    def test_the_owner_of_a_corpus_its_rules(self, houses: dict[str, Connection]) -> None:
        anna = houses["anna"]
        rules = "select pattern, kind, note from pgclarify.ambiguity_rule where corpus = 'annas'"

        assert scalar(anna, ADD, "of anna", "syntactic", "annas", "hers")
        assert not scalar(anna, ADD, "of anna", "syntactic", "annas", "hers")
        assert anna.execute(rules.encode()).fetchall() == [("of anna", "syntactic", "hers")]
        assert scalar(anna, REMOVE, "of anna", "annas")
        assert not scalar(anna, REMOVE, "of anna", "annas")
        assert anna.execute(rules.encode()).fetchall() == []

    @parametrize_in_one_test(
        "corpus, sqlstate", [(None, INSUFFICIENT_PRIVILEGE), ("berts", INSUFFICIENT_PRIVILEGE), ("none", "42704")]
    )
    def test_nobody_those_of_others(
        self, connection: Connection, houses: dict[str, Connection], corpus: str | None, sqlstate: str
    ) -> None:
        for attempt, given in ((ADD, ["x", "lexical", corpus, None]), (REMOVE, ["of bert", corpus])):
            with pytest.raises(psycopg.Error) as refused:
                houses["anna"].execute(attempt.encode(), given)
            assert refused.value.sqlstate == sqlstate
            assert refused.value.diag.message_hint
        assert scalar(connection, "select count(*) from pgclarify.ambiguity_rule") == 3

    @parametrize_in_one_test(
        "given, sqlstate",
        [
            ([None, "lexical", "annas", None], INVALID_PARAMETER),
            *(
                ([pattern, "lexical", "annas", None], state)
                for state, patterns in UNFIT.items()
                for pattern in patterns
            ),
            (["x", None, "annas", None], INVALID_PARAMETER),
            (["x", "unkind", "annas", None], INVALID_PARAMETER),
            (["x", "lexical", "annas", ""], INVALID_PARAMETER),
            (["x", "lexical", "annas", "x" * 501], INVALID_PARAMETER),
        ],
    )
    def test_a_wrong_rule_is_refused_with_a_hint(
        self, houses: dict[str, Connection], given: list[str | None], sqlstate: str
    ) -> None:
        with pytest.raises(psycopg.Error) as refused:
            houses["anna"].execute(ADD.encode(), given)

        assert refused.value.sqlstate == sqlstate
        assert refused.value.diag.message_hint

    def test_readers_of_a_corpus_read_its_rules(self, houses: dict[str, Connection]) -> None:
        seen = {
            name: [row[0] for row in person.execute("select pattern from pgclarify.ambiguity_rule order by pattern")]
            for name, person in houses.items()
        }

        assert seen == {
            "anna": ["of all", "of anna", "of bert"],
            "bert": ["of all", "of bert"],
            "reader": ["of all", "of bert"],
        }

    def test_a_reader_edits_none(self, houses: dict[str, Connection]) -> None:
        for attempt, given in ((ADD, ["x", "lexical", "berts", None]), (REMOVE, ["of bert", "berts"])):
            assert sqlstate_of(houses["reader"], attempt, given) == INSUFFICIENT_PRIVILEGE

    def test_members_of_the_owner_those_for_all(
        self, houses: dict[str, Connection], connect: Connect, make_role: MakeRole
    ) -> None:
        keeper = connect(make_role("pgclarify_owner"))

        assert scalar(keeper, ADD, "x", "lexical", None, None)
        assert scalar(keeper, ADD, "y", "lexical", "annas", None)
        assert scalar(keeper, REMOVE, "y", "annas")
        assert scalar(keeper, "select count(*) from pgclarify.ambiguity_rule") == 4
        keeper.execute("delete from pgclarify_private.ambiguity_rule where corpus is null")
        assert scalar(keeper, "select count(*) from pgclarify.ambiguity_rule") == 2

    def test_they_go_with_their_corpus(self, connection: Connection, houses: dict[str, Connection]) -> None:
        houses["bert"].execute("select pgclarify.drop_corpus('berts')")

        assert connection.execute("select pattern from pgclarify.ambiguity_rule order by pattern").fetchall() == [
            ("of all",),
            ("of anna",),
        ]


@pytest.mark.committed
@pytest.mark.parametrize("corpus", [None, "ours"])
def test_two_that_add_one_pattern_make_one_rule(connection: Connection, connect: Connect, corpus: str | None) -> None:
    connection.execute(MAKE_OPEN_CORPUS, ["ours"])
    first, second = connect(), connect()
    with ThreadPoolExecutor() as pool:
        with first.transaction():
            assert scalar(first, ADD, "x", "lexical", corpus, None)
            added = pool.submit(scalar, second, ADD, "x", "syntactic", corpus, None)
            with pytest.raises(TimeoutError):
                added.result(0.5)
        assert added.result(60)

    assert connection.execute("select pattern, kind from pgclarify.ambiguity_rule").fetchall() == [("x", "syntactic")]


# Without a limit, these two would take hours.
RUNAWAY = r"(.*)(.*)(.*)(.*)\1\2\3\4q$"
HARD = "abcdefghijklmnopqrstuvwxyz0123456789" * 5 + "q"


class TestMatching:
    @pytest.fixture
    def alice(self, connection: Connection, connect: Connect, make_role: MakeRole) -> Connection:
        for corpus in ("atlas", "bestiary"):
            connection.execute("select pgclarify.create_corpus(%s)", [corpus])
        for rule in (
            (r"\mpython\M", "lexical", None, "a snake or a language"),
            (r"\mmercury\M", "lexical", "atlas", None),
            (r"\mjaguar\M", "lexical", "bestiary", None),
            (r"^and\M", "pragmatic", None, None),
        ):
            connection.execute(INSERT.encode(), rule)
        return connect(make_role("pgclarify_user", name="alice"))

    def matched(
        self,
        connection: Connection,
        make_worker: MakeWorker,
        questions: list[str],
        corpus: str | None,
        limit: str = "0",
    ) -> list[tuple[int, str]]:
        """The matches of a worker. limit: its statement_timeout for the matching alone."""
        worker = make_worker()
        run_id = scalar(
            connection,
            """
            select (pgclarify_private.enter_runs(
                'postgres', null, '{}', 'detect_ambiguity', corpus.corpus_id, array['x'], '{}', null, null
            ))[1]
            from (select (select c.corpus_id from pgclarify.corpus as c where c.corpus = %s)) as corpus (corpus_id)
            """,
            corpus,
        )
        worker.index_everything()
        assert worker.start(run_id) is not None
        worker.connection.execute("select set_config('statement_timeout', %s, false)", [limit])
        found = worker.send("match_ambiguity_rules", run_id=run_id, attempt=1, questions=questions)
        return sorted((row["ordinal"], row["matched"]) for row in found)

    def test_in_any_case_of_letters_and_by_question(
        self, connection: Connection, alice: Connection, make_worker: MakeWorker
    ) -> None:
        questions = ["Where is Mercury?", "And the PYTHON, or a python?", "pythons", "jaguar"]

        assert self.matched(connection, make_worker, questions, None) == [(2, "And"), (2, "PYTHON")]

    def test_those_of_the_corpus_besides(
        self, connection: Connection, alice: Connection, make_worker: MakeWorker
    ) -> None:
        questions = ["Where is Mercury?", "the python", "jaguar"]

        assert self.matched(connection, make_worker, questions, "atlas") == [(1, "Mercury"), (2, "python")]

    def test_long_matches_are_cut(self, connection: Connection, alice: Connection, make_worker: MakeWorker) -> None:
        connection.execute(INSERT.encode(), ["a+", "syntactic", None, None])
        connection.execute(INSERT.encode(), ["b+", "syntactic", None, None])

        found = self.matched(connection, make_worker, ["a" * 9000 + "b"], None)

        # The function does not look for the start of the second match.
        assert found == [(1, ""), (1, "a" * 100)]

    @pytest.mark.committed
    def test_somebody_who_cancels_is_no_slow_rule(
        self, connection: Connection, alice: Connection, make_worker: MakeWorker
    ) -> None:
        connection.execute(INSERT.encode(), [RUNAWAY, "lexical", None, None])
        worker = make_worker()
        busy = "select pg_cancel_backend(pid) from pg_stat_activity where pid = %s and query ~ 'match_ambiguity_rules'"

        with ThreadPoolExecutor(1) as pool:
            matching = pool.submit(self.matched, connection, lambda: worker, [HARD], None, "1h")
            with closing(psycopg.connect(connection.info.dsn, user="postgres", autocommit=True)) as other:
                while not matching.done():
                    other.execute(busy.encode(), [worker.connection.info.backend_pid])

        assert isinstance(matching.exception(), psycopg.errors.QueryCanceled)


UNDEFINED = "42704"
CHECK_VIOLATION = "23514"

STORE = """select pgclarify_private.add_trained_classifier(caller, %s, %s::jsonb, %s::real[], %s)
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
    return int(scalar(connection, STORE, corpus, json.dumps(TRAINED | changes), WEIGHTS, is_used))


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
        "examples", "threshold", "judges_questions", "judges_conversations", "is_better", "shipped_version", "figures",
        "weights",
    )  # fmt: skip
    stored = f"select {', '.join(names)} from pgclarify_private.trained_classifier"  # noqa: S608
    (row,) = connection.execute(stored.encode()).fetchall()

    assert row == (210, 0.25, True, False, True, "abc", TRAINED["figures"], WEIGHTS)


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
    @parametrize_in_one_test(
        "who, corpus, sqlstate",
        [
            ("anna", "berts", INSUFFICIENT_PRIVILEGE),
            ("reader", "berts", INSUFFICIENT_PRIVILEGE),
            ("bert", "annas", UNDEFINED),
            ("bert", "none", UNDEFINED),
            ("bert", None, INSUFFICIENT_PRIVILEGE),
        ],
    )
    def test_the_owner_of_the_corpus_alone(
        self, houses: dict[str, Connection], who: str, corpus: str | None, sqlstate: str
    ) -> None:
        given = [corpus, json.dumps(TRAINED), WEIGHTS, True]
        for statement, arguments in ((STORE, given), (USE, [corpus, None]), (IN_USE, [corpus])):
            assert sqlstate_of(houses[who], statement, arguments) == sqlstate

    def test_members_of_the_owner_those_of_all_corpora(
        self, houses: dict[str, Connection], connect: Connect, make_role: MakeRole
    ) -> None:
        keeper = connect(make_role("pgclarify_owner"))

        assert add(keeper, "annas", is_used=True) == 1
        assert scalar(houses["anna"], IN_USE, "annas") == 1


def test_a_version_that_is_not_there_is_refused(houses: dict[str, Connection]) -> None:
    add(houses["anna"], "annas", is_used=True)

    for version in (0, 2):
        assert sqlstate_of(houses["anna"], USE, ["annas", version]) == UNDEFINED
    assert scalar(houses["anna"], IN_USE, "annas") == 1


@parametrize_in_one_test(
    "changes, weights",
    [
        ({"figures": {"x": "x" * 20_000}}, WEIGHTS),
        ({}, [0.0, float("inf")]),
        ({}, [0.0, float("-inf")]),
        ({}, [0.0, None]),
        ({}, [[0.0], [1.0]]),
        ({}, [0.0] * 100_001),
    ],
)
def test_a_broken_version_is_refused(
    houses: dict[str, Connection], changes: dict[str, Any], weights: list[Any]
) -> None:
    given = ["annas", json.dumps(TRAINED | changes), weights, False]

    assert sqlstate_of(houses["anna"], STORE, given) == CHECK_VIOLATION


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
def test_choosing_a_version_and_dropping_the_corpus_do_not_wait_for_each_other(
    connection: Connection, connect: Connect, make_worker: MakeWorker
) -> None:
    connection.execute(MAKE_OPEN_CORPUS, ["ours"])
    add(connection, "ours", is_used=True)
    trainer = connect(connection.info.user)
    trainer.execute("begin")
    assert scalar(trainer, USE, "ours", None) is True
    connection.execute("set lock_timeout = '1s'")
    connection.execute("select pgclarify.drop_corpus('ours')")
    with pytest.raises(psycopg.errors.UndefinedObject):
        add(trainer, "ours", is_used=True)
    trainer.execute("rollback")
    make_worker().sweep()
    assert connection.execute(VERSIONS.encode()).fetchall() == []
