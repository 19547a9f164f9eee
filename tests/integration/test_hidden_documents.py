"""Documents that a role may not read change nothing in the rows that it reads and in the results of functions.

The test makes two databases and does the same in both. In one of them, hidden documents come, change and go as well. It
compares, column by column, all that a role without them can see: each relation that it may select from, and each
function that reads. Documents are hidden by their readers, or by the filter of the grant.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from datetime import datetime, timedelta
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row

from tests.integration.counts import assert_counts_agree
from tests.integration.exploring import find, near
from tests.integration.linking import link
from tests.integration.manual_worker import MAKE_OPEN_CORPUS, ManualWorker, vector_of
from tests.integration.test_nothing_leaks import answered
from tests.sessions import Connection, MakeRole, scalar

Seen = dict[tuple[str, str], list[Any]]

# What may differ, and why.
OPEN_TO_ALL = {
    # Ids come from one sequence: gaps show that other passages were made, in any corpus.
    ("passage", "id"): "one sequence of all passages",
}
# Other columns that differ after the first document of a corpus has readers.
OF_THE_FIRST = {
    # They count restricted passages, too. So they are null if any passage is restricted.
    ("corpus", "pending"): "null from the first restricted document on",
    ("corpus", "pending_passages"): "null from the first restricted document on",
    ("corpus", "linked"): "null from the first restricted document on",
}
# Other columns that differ if the filter of a grant hides documents.
OF_A_FENCE = {
    ("corpus", "revision"): "one count for all readers without a list of their own",
    ("run", "corpus_revision"): "likewise",
    ("run", "graph_revision"): "likewise",
}
WRITE = {
    "add_ambiguity_rule", "add_document", "alter_corpus", "attach_table", "cancel",
    "create_corpus", "detach_table", "distribute", "drop_corpus", "erase_document",
    "give_feedback", "grant_access", "remove_ambiguity_rule", "remove_budget", "remove_document", "resync",
    "revoke_access", "set_budget",
}  # fmt: skip
# They enter a run, as submit does, whose rows are compared.
ASK = {
    "clarify", "clarify_many", "clarifying_questions", "consolidate", "detect_ambiguity",
    "estimate", "investigate", "list_answers", "reply", "rewrite", "submit_many",
}  # fmt: skip
READ = {
    "search": 'select * from pgclarify.search(%s, options => \'{"method": "lexical"}\')',
    "submit": "select pgclarify.submit('clarify', 'cars', 'insurance')",
    "result": "select * from pgclarify.result(1)",
    "wait": "select * from pgclarify.wait(array[1, 2]::bigint[])",
    "explain": "select pgclarify.explain(1)",
    "help": "select * from pgclarify.help('clarify')",
    "get_document": "select * from pgclarify.get_document('insurance', 'one')",
    "neighbors": (
        "select passage.document_id, passage.ordinal, near.rank, near.document_id, near.similarity"
        " from pgclarify.passage cross join lateral"
        " pgclarify.neighbors('insurance', passage.document_id, passage.id, 5) as near"
    ),
}
QUESTIONS = ("cars", "merger", "cars or boats", "vans merger insured", "unheard")
OPEN = {
    "one": "Cars are insured.",
    "two": "Cars and vans are insured.\n\nBoats are not.",
    "three": "Boats are moored in winter.",
    "four": "Vans are hired, and cars with them.",
}


class World:
    """A database in which alice may read some documents, but not those of the board.

    Attributes:
        alice: Her session.
        maintenance: A superuser's.
        has_fence: Whether metadata hide the documents of the board, instead of readers.
    """

    def __init__(
        self, alice: Connection, maintenance: Connection, worker: ManualWorker, board: str, *, has_fence: bool
    ) -> None:
        self.alice, self.maintenance, self.worker, self.board = alice, maintenance, worker, board
        self.has_fence = has_fence

    def add(self, document_id: str, content: str, readers: list[str] | None = None) -> None:
        metadata = {"area": readers or "open"} if self.has_fence else {}
        self.maintenance.execute(
            "select pgclarify.add_document('insurance', %s, %s, metadata => %s, readers => %s)",
            [document_id, content, json.dumps(metadata), None if self.has_fence else readers],
        )

    def hide(self, number: int) -> None:
        """Let a hidden document contain words of her questions."""
        self.add(f"hidden {number}", f"The merger {number}: cars, and vans, and boats.", [self.board])

    def settle(self) -> None:
        """Do all work of workers."""
        self.worker.index_everything()
        link(self.worker)
        for name in ("fold_tallies", "apply_term_changes"):
            self.worker.send(name)

    def stir(self) -> None:
        """Hidden documents come, change, go, and get other readers who are hidden, too."""
        for number in range(6):
            self.hide(number)
        self.settle()
        self.add("hidden 0", "The merger is off. Cars are insured.", [self.board])
        self.add("hidden 1", "The merger 1: cars, and vans, and boats.", ["no such role"])
        self.maintenance.execute("select pgclarify.remove_document('insurance', 'hidden 2')")
        self.settle()
        self.hide(7)

    def ask(self) -> None:
        """Answer her questions, and explore one of them."""
        self.alice.execute("set pgclarify.reuse_runs = off")
        for question in QUESTIONS:
            answered(self.worker, self.alice, question, "insurance")
        run_id = int(scalar(self.alice, "select pgclarify.submit('clarify', 'explored', 'insurance')"))
        assert self.worker.start(run_id) is not None
        asked: dict[str, Any] = {"question": "cars or boats", "vector": vector_of("cars"), "signal": "both"}
        found = find(self.worker, run_id, method="hybrid", **asked)
        self.explored = (
            [(row["document_id"], row["score"], row["signal_score"]) for row in found],
            [
                (row["document_id"], row["signal_score"], row["similarity"])
                for row in near(self.worker, run_id, found, **asked)
            ],
        )
        self.worker.finish(run_id)
        self.alice.execute("reset pgclarify.reuse_runs")
        self.worker.send("group_questions", most=100)

    def relations(self) -> Iterator[tuple[str, str, list[str]]]:
        """The relations that she may select from, also with their schemas, and the columns that she may select."""
        yield from self.alice.execute("""
            select c.relname, c.oid::regclass::text, array_agg(a.attname::text order by a.attnum)
            from pg_class as c
            join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
            where c.relnamespace in ('pgclarify'::regnamespace, 'pgclarify_private'::regnamespace)
                and c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
                and has_column_privilege(c.oid, a.attnum, 'select')
                -- Another in each transaction.
                and c.relname <> 'caller'
            group by c.oid, c.relname
            order by c.relname
        """).fetchall()

    def look(self) -> Seen:
        """All values that she sees, by relation or function and column."""
        self.passages = dict(
            self.maintenance.execute(
                "select id, document_id || ' ' || ordinal || ' ' || content from pgclarify.passage"
            ).fetchall()
        )
        seen: Seen = {("explored", "rows"): list(self.explored)}
        for relation, qualified, columns in self.relations():
            names = ", ".join(f'"{column}"' for column in columns)
            seen |= self.read(relation, f"select {names} from {qualified}")  # noqa: S608
        for name, query in READ.items():
            for question in QUESTIONS if name == "search" else ("",):
                seen |= self.read(f"{name}({question})", query.replace("%s", f"'{question}'" if question else "%s"))
        return seen

    def read(self, name: str, query: str) -> Seen:
        """Sorted rows, as columns; or the error."""
        with self.alice.cursor(row_factory=dict_row) as cursor:
            try:
                rows = [self.plain(name, row) for row in cursor.execute(query.encode()).fetchall()]
                columns = [column.name for column in cursor.description or () if column.name != "question_group_id"]
            except psycopg.Error as error:
                return {(name, "sqlstate"): [error.sqlstate]}
        rows.sort(key=str)
        return {(name, column): [row[column] for row in rows] for column in columns} | {(name, "rows"): [len(rows)]}

    def plain(self, name: str, row: Mapping[str, Any]) -> dict[str, Any]:
        """A row without times and random numbers, which always differ, and with passages instead of their ids."""
        plain: dict[str, Any] = {}
        for column, value in row.items():
            is_time = isinstance(value, datetime | timedelta) or column.endswith(("_ms", "_seconds"))
            if column == "question_group_id":
                continue  # A random number.
            if column in ("passage_id", "neighbor_passage_id", "via_passage_id") and value is not None:
                plain[column] = self.passages[value]
            elif is_time or name.startswith("explain"):
                plain[column] = str(type(value))
            else:
                plain[column] = value
        return plain


MakeWorld = Callable[..., World]


@pytest.fixture
def make_world(template: str, make_database: Callable[..., str], make_role: MakeRole) -> Iterator[MakeWorld]:
    alice, board = make_role("pgclarify_user", name="alice"), make_role(name="board")
    worker, owner = make_role("pgclarify_worker"), make_role("pgclarify_user", name="owner")
    with ExitStack() as opened:

        def open_session(dsn: str, user: str | None = None) -> Connection:
            return opened.enter_context(closing(psycopg.connect(dsn, user=user, autocommit=True)))

        def make(*, has_fence: bool = False) -> World:
            dsn = make_database(template)
            if has_fence:
                owns = open_session(dsn, owner)
                owns.execute("select pgclarify.create_corpus('insurance')")
                owns.execute(
                    "select pgclarify.grant_access('insurance', %s, filter => '{\"area\": \"open\"}')", [alice]
                )
            else:
                open_session(dsn, owner).execute(MAKE_OPEN_CORPUS, ["insurance"])
            world = World(
                open_session(dsn, alice),
                open_session(dsn),
                ManualWorker(open_session(dsn, worker)),
                board,
                has_fence=has_fence,
            )
            for document_id, content in OPEN.items():
                world.add(document_id, content)
            return world

        yield make


def differing(one: Seen, other: Seen) -> set[tuple[str, str]]:
    return {key for key in one.keys() | other.keys() if one.get(key) != other.get(key)}


@pytest.mark.parametrize(("is_first", "has_fence"), [(False, False), (True, False), (True, True)])
def test_change_nothing_that_another_role_sees(make_world: MakeWorld, is_first: bool, has_fence: bool) -> None:
    plain, stirred = make_world(has_fence=has_fence), make_world(has_fence=has_fence)
    allowed = {*OPEN_TO_ALL, *(OF_A_FENCE if has_fence else OF_THE_FIRST if is_first else ())}
    for world in (plain, stirred):
        if not is_first:
            world.hide(99)
        world.settle()
        world.ask()
    before = differing(plain.look(), stirred.look())
    assert before == set(), "an exception that never differs is useless"

    stirred.stir()

    # Half way, with a document that waits, and at the end.
    for _ in range(2):
        for world in (plain, stirred):
            world.ask()
        assert differing(plain.look(), stirred.look()) <= allowed
        stirred.settle()
    assert_counts_agree(stirred.maintenance)

    # She can still find the same documents in both databases.
    for world in (plain, stirred):
        world.add("five", "Cars are towed.")
        world.settle()
        world.ask()
    assert differing(plain.look(), stirred.look()) == allowed


def test_every_public_function_is_compared(connection: Connection, make_role: MakeRole) -> None:
    """A new function must be called above, or listed here as one that writes or asks."""
    names = {
        name
        for (name,) in connection.execute(
            """
            select proname from pg_proc
            where pronamespace = 'pgclarify'::regnamespace
                and has_function_privilege(%s::name, oid, 'execute')
            """,
            [make_role("pgclarify_user")],
        )
    }

    assert names == WRITE | ASK | READ.keys()


def test_hidden_documents_change_the_revision_only_for_their_readers(make_world: MakeWorld) -> None:
    world = make_world()
    revision = "select revision from pgclarify.corpus"
    world.hide(1)
    world.settle()
    hers = scalar(world.alice, revision)
    answer = scalar(world.alice, "select pgclarify.submit('clarify', 'merger', 'insurance')")
    world.worker.answer(answer)

    world.hide(2)
    world.add("of no role", "The merger is off.", [""])
    world.settle()
    assert scalar(world.alice, revision) == hers
    assert scalar(world.alice, "select pgclarify.submit('clarify', 'merger', 'insurance')") == answer

    world.maintenance.execute(f'grant "{world.board}" to "{world.alice.info.user}"'.encode())
    of_the_board = scalar(world.alice, revision)
    assert of_the_board > hers
    another = scalar(world.alice, "select pgclarify.submit('clarify', 'merger', 'insurance')")
    assert another != answer
    world.worker.answer(another)
    assert scalar(world.alice, "select pgclarify.submit('clarify', 'merger', 'insurance')") == another
    world.hide(2)
    world.settle()
    assert scalar(world.alice, revision) == of_the_board, "a second time, with the same result"

    for change in (
        lambda: world.add("hidden 2", "The merger is off.", [world.board]),
        lambda: world.add("hidden 2", "The merger is off.", ["no such role"]),
        lambda: world.add("hidden 2", "The merger is off."),
        lambda: world.add("hidden 2", "The merger is off.", [world.board, "no such role"]),
        lambda: world.maintenance.execute("select pgclarify.remove_document('insurance', 'hidden 2')"),
    ):
        before = scalar(world.alice, revision)
        change()
        world.settle()
        assert scalar(world.alice, revision) > before
        assert_counts_agree(world.maintenance)


def found(session: Connection, question: str) -> dict[str, float]:
    """Documents found by words, best first, with their scores."""
    rows = session.execute(
        "select document_id, score from pgclarify.search(%s, 'insurance', options => %s)",
        [question, json.dumps({"method": "lexical"})],
    ).fetchall()
    return dict(rows)


class TestWords:
    """The rarity of a word, among passages that all roles or the user's own roles can read."""

    @pytest.fixture
    def world(self, make_world: MakeWorld) -> World:
        """A corpus with so many open passages that they determine the rarity of words."""
        world = make_world()
        world.hide(1)
        world.settle()
        world.maintenance.execute(
            "insert into pgclarify_private.corpus_tally (corpus_id, passages, lexemes) values (1, 2000, 6000)"
        )
        return world

    def test_words_of_hidden_passages_do_not_change_other_results(self, world: World) -> None:
        before = [found(world.alice, question) for question in QUESTIONS]

        for number in range(2, 6):
            world.hide(number)
        world.settle()

        assert [found(world.alice, question) for question in QUESTIONS] == before
        assert [found(world.alice, f"merger {question}") for question in QUESTIONS] == before

    def test_is_found_by_those_who_may_read_it(self, world: World) -> None:
        world.maintenance.execute(f'grant "{world.board}" to "{world.alice.info.user}"'.encode())

        assert next(iter(found(world.alice, "merger of cars"))) == "hidden 1"
        # Beside a word that is in too many passages for each of them to be scored.
        world.maintenance.execute("update pgclarify_private.term set passages = passages + 6000 where lexeme = 'car'")
        assert list(found(world.alice, "merger")) == ["hidden 1"]
        assert set(found(world.alice, "merger of cars")) >= {"hidden 1", "one"}

    def test_words_of_hidden_passages_do_not_displace_visible_ones(self, world: World) -> None:
        """The hidden word is the rarest one of the question, but does not decide which passages are candidates."""
        world.maintenance.execute("update pgclarify_private.term set passages = passages + 6000 where lexeme = 'car'")

        assert found(world.alice, "merger of cars") == found(world.alice, "cars")
        assert len(found(world.alice, "cars")) == 3
