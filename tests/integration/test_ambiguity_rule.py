"""Rules of ambiguity: which patterns are accepted, who may edit which rows, and which rules a run matches."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import psycopg
import pytest

from tests.integration.by_hand import MAKE_OPEN_CORPUS, Connect, Connection, Hire, MakeRole, scalar, state_of
from tests.integration.in_turn import in_turn

pytestmark = pytest.mark.rolled_back

INVALID_PARAMETER = "22023"
INVALID_PATTERN = "2201B"
INSUFFICIENT_PRIVILEGE = "42501"

ADD = "select pgclarify.add_ambiguity_rule(%s, %s, %s, %s)"
REMOVE = "select pgclarify.remove_ambiguity_rule(%s, %s)"
# Insert directly, as members of pgclarify_owner may.
INSERT = "insert into pgclarify_private.ambiguity_rule (pattern, kind, corpus, note) values (%s, %s, %s, %s)"


UNFIT = {
    INVALID_PARAMETER: ["", "a" * 501, "x*", "foo|", "^", "(a*)*"],
    INVALID_PATTERN: ["[[:no:]]", "[]", "(", "[a", "a{2,1}", "*a", "\\", "[b-a]", r"a\q"],
}


class TestWhoEditsThem:
    @pytest.fixture
    def houses(self, connection: Connection, connect: Connect, make_role: MakeRole) -> dict[str, Connection]:
        """Anna owns corpus "annas" and is its only reader. Bert owns "berts", which all roles may read."""
        people = {name: connect(make_role("pgclarify_user", name=name)) for name in ("anna", "bert")}
        people["reader"] = connect(make_role("pgclarify_reader"))
        people["anna"].execute(
            "select pgclarify.create_corpus('annas', options => jsonb_build_object('reader', current_user))"
        )
        people["bert"].execute(MAKE_OPEN_CORPUS, ["berts"])
        for name in ("anna", "bert"):
            people[name].execute(ADD.encode(), [f"of {name}", "lexical", f"{name}s", None])
        connection.execute(INSERT.encode(), ["of all", "lexical", None, None])
        return people

    def test_the_owner_of_a_corpus_its_rules(self, houses: dict[str, Connection]) -> None:
        anna = houses["anna"]
        rules = "select pattern, kind, note from pgclarify.ambiguity_rule where corpus = 'annas'"

        assert scalar(anna, ADD, "of anna", "syntactic", "annas", "hers")
        assert not scalar(anna, ADD, "of anna", "syntactic", "annas", "hers")
        assert anna.execute(rules.encode()).fetchall() == [("of anna", "syntactic", "hers")]
        assert scalar(anna, REMOVE, "of anna", "annas")
        assert not scalar(anna, REMOVE, "of anna", "annas")
        assert anna.execute(rules.encode()).fetchall() == []

    @pytest.mark.parametrize(
        ("corpus", "sqlstate"), [(None, INSUFFICIENT_PRIVILEGE), ("berts", INSUFFICIENT_PRIVILEGE), ("none", "42704")]
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

    @in_turn(
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
            assert state_of(houses["reader"], attempt, given) == INSUFFICIENT_PRIVILEGE

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
        self, connection: Connection, hire: Hire, questions: list[str], corpus: str | None, limit: str = "0"
    ) -> list[tuple[int, str]]:
        """The matches of a worker. limit: its statement_timeout for the matching alone."""
        worker = hire()
        run_id = scalar(
            connection,
            """
            select (pgclarify_private.enter_runs(
                'postgres', '{}', 'detect_ambiguity', corpus.corpus_id, array['x'], '{}', null, null
            ))[1]
            from (select (select c.corpus_id from pgclarify.corpus as c where c.corpus = %s)) as corpus (corpus_id)
            """,
            corpus,
        )
        worker.index_everything()
        assert worker.start(run_id) is not None
        worker.connection.execute("select set_config('statement_timeout', %s, false)", [limit])
        found = worker.send("match_ambiguity_rules", run_id=run_id, attempt=1, questions=questions)
        return [(row["ordinal"], row["matched"]) for row in found]

    def test_in_any_case_of_letters_and_by_question(
        self, connection: Connection, alice: Connection, hire: Hire
    ) -> None:
        questions = ["Where is Mercury?", "And the PYTHON, or a python?", "pythons", "jaguar"]

        assert self.matched(connection, hire, questions, None) == [(2, "PYTHON"), (2, "And")]

    def test_those_of_the_corpus_besides(self, connection: Connection, alice: Connection, hire: Hire) -> None:
        questions = ["Where is Mercury?", "the python", "jaguar"]

        assert self.matched(connection, hire, questions, "atlas") == [(1, "Mercury"), (2, "python")]

    def test_long_matches_are_cut(self, connection: Connection, alice: Connection, hire: Hire) -> None:
        connection.execute(INSERT.encode(), ["a+", "syntactic", None, None])
        connection.execute(INSERT.encode(), ["b+", "syntactic", None, None])

        found = self.matched(connection, hire, ["a" * 9000 + "b"], None)

        # The function does not look for the start of the second match.
        assert found == [(1, "a" * 100), (1, "")]

    @pytest.mark.committed
    def test_somebody_who_cancels_is_no_slow_rule(self, connection: Connection, alice: Connection, hire: Hire) -> None:
        connection.execute(INSERT.encode(), [RUNAWAY, "lexical", None, None])
        worker = hire()
        busy = "select pg_cancel_backend(pid) from pg_stat_activity where pid = %s and query ~ 'match_ambiguity_rules'"

        with ThreadPoolExecutor(1) as pool:
            matching = pool.submit(self.matched, connection, lambda: worker, [HARD], None, "1h")
            with closing(psycopg.connect(connection.info.dsn, user="postgres", autocommit=True)) as other:
                while not matching.done():
                    other.execute(busy.encode(), [worker.connection.info.backend_pid])

        assert isinstance(matching.exception(), psycopg.errors.QueryCanceled)
