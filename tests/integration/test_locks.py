"""What each public function locks until its transaction ends, and who waits for that, as docs/locks.md has it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from typing import Any, Final
from uuid import uuid4

import psycopg
import pytest

from tests.integration.manual_worker import MAKE_OPEN_CORPUS, ManualWorker
from tests.pages import CHECKOUT
from tests.sessions import Connect, Connection, MakeRole, scalar

pytestmark = pytest.mark.committed

PAGE = CHECKOUT / "docs" / "locks.md"
HEAD = "| function | locks until the commit | waits for that |\n|---|---|---|\n"
# Only time in which a statement waits for a lock counts, and no test holds one for long but the one that it measures.
PATIENCE = "30ms"

# What a call of each function looks like, by the role that makes it. %(…)s: see World.
OWNERS: Final = {
    "add_ambiguity_rule": "select pgclarify.add_ambiguity_rule('x', 'lexical', 'insurance')",
    "add_document": "select pgclarify.add_document('insurance', '1', 'Trucks are insured.')",
    "alter_corpus": """select pgclarify.alter_corpus('insurance', '{"embedding_model": "another"}')""",
    "attach_table": "select pgclarify.attach_table('insurance', 'app.page', 'id', 'body')",
    "create_corpus": "select pgclarify.create_corpus('new')",
    "detach_table": "select pgclarify.detach_table('insurance', 'app.article')",
    "drop_corpus": "select pgclarify.drop_corpus('insurance')",
    "erase_document": "select pgclarify.erase_document('insurance', '1')",
    "grant_access": "select pgclarify.grant_access('insurance', %(stranger)s)",
    "remove_ambiguity_rule": "select pgclarify.remove_ambiguity_rule('old', 'insurance')",
    "remove_budget": "select pgclarify.remove_budget('old', 'insurance')",
    "remove_document": "select pgclarify.remove_document('insurance', '1')",
    "resync": "select pgclarify.resync('insurance', 'app.article')",
    "revoke_access": "select pgclarify.revoke_access('insurance', 'pgclarify_reader')",
    "set_budget": """select pgclarify.set_budget('old', 'insurance', '{"max_calls": 9}')""",
}
READERS: Final = {
    "cancel": "select pgclarify.cancel(array[%(queued)s, %(running)s]::bigint[])",
    "give_feedback": "select pgclarify.give_feedback(%(answered)s, missing => 'Nine.')",
    "result": "select * from pgclarify.result(%(answered)s)",
    # No other call asks this, or its answer would be served.
    "submit": "select pgclarify.submit('clarify', 'trams', 'insurance')",
    "submit_many": "select pgclarify.submit_many('clarify', '{trams, ferries}', 'insurance')",
    "wait": "select * from pgclarify.wait(array[%(answered)s::bigint])",
}
# These enter their run on another connection, and wait for a worker.
WAITING: Final = {
    "clarify": "select * from pgclarify.clarify('trucks', 'insurance')",
    "clarify_many": "select * from pgclarify.clarify_many('{trucks, bikes}', corpus => 'insurance')",
    "clarifying_questions": "select * from pgclarify.clarifying_questions('trucks', 'insurance')",
    "consolidate": "select * from pgclarify.consolidate(%(answered)s)",
    "detect_ambiguity": "select * from pgclarify.detect_ambiguity('trucks')",
    "estimate": "select * from pgclarify.estimate('{trucks}', 'insurance')",
    "investigate": "select * from pgclarify.investigate('trucks', 'insurance')",
    "list_answers": "select * from pgclarify.list_answers('trucks', 'insurance')",
    "reply": "select * from pgclarify.reply(%(asking)s, 'the second')",
    "rewrite": "select * from pgclarify.rewrite('trucks')",
    "search": "select * from pgclarify.search('trucks', 'insurance')",
}
# Without a cluster, nothing is distributed.
NOT_MEASURED: Final = {
    "distribute": (
        "`corpus` (for update), tables of its passages and vectors (access exclusive)",
        "everything on the corpus",
    ),
}

# What others do meanwhile, with the words of the page.
OTHERS: Final = {
    "asking": "a question on the corpus",
    "cancelling": "`cancel` of the run",
    "cancelling another": "`cancel` of another run",
    "starting": "the start of a run on the corpus",
    "finishing": "the end of a run on the corpus",
    "claiming": "indexing",
    "storing": "the end of indexing",
    "changing": "a change of the document",
    "adding": "a change of another document",
    "removing": "`remove_document` of another document",
    "erasing": "`erase_document` of another document",
    "granting": "`grant_access`",
    "setting": "`set_budget` for the corpus",
    "ruling": "`add_ambiguity_rule` for the corpus",
    "attaching": "`attach_table` of another table of the owner",
    "attaching elsewhere": "the first `attach_table` of another owner",
    "writing": "writes to the table",
    "dropping": "`drop_corpus`",
    "creating": "`create_corpus`",
    "reading": "reading views",
    "budgeting": "calls of models",
}
STRENGTHS: Final = ("key share", "share", "no key update", "update")
TABLES = """
    select c.relname from pg_class as c
    where c.relnamespace = 'pgclarify_private'::regnamespace and c.relkind = 'r' and not c.relispartition
    order by c.relname
"""
# Everybody may hold weaker ones together.
RELATION_LOCKS = """
    select distinct c.relname, l.mode
    from pg_locks as l
    join pg_class as c on c.oid = l.relation and c.relkind in ('r', 'p')
    where l.pid = %s and l.locktype = 'relation' and l.granted
        and l.mode not in ('AccessShareLock', 'RowShareLock', 'RowExclusiveLock')
        and l.database = (select oid from pg_database where datname = current_database())
        and c.relnamespace <> 'pg_catalog'::regnamespace
    order by 1, 2
"""
ADVISORY_LOCKS = "select distinct mode from pg_locks where pid = %s and locktype = 'advisory' and granted order by 1"
MODES: Final = {
    "ShareUpdateExclusiveLock": "share update exclusive",
    "ShareLock": "share",
    "ShareRowExclusiveLock": "share row exclusive",
    "ExclusiveLock": "exclusive",
    "AccessExclusiveLock": "access exclusive",
}


class World:
    """Corpus "insurance" of a team, with documents, an attached table, runs and a worker; and another owner."""

    def __init__(self, superuser: Connection, connect: Connect, make_role: MakeRole, worker: ManualWorker) -> None:
        self.superuser = superuser
        self.worker = worker
        team, asker = make_role("pgclarify_user", name="team"), make_role("pgclarify_user", name="asker")
        other = make_role("pgclarify_user", name="other")
        self.owner, self.colleague = connect(team), connect(team)
        self.asker, self.other_asker = connect(asker), connect(asker)
        self.other = connect(other)
        self.owner.execute(MAKE_OPEN_CORPUS, ["insurance"])
        self.other.execute("select pgclarify.create_corpus('others')")
        for schema, role in (("app", team), ("others", other)):
            superuser.execute(f"create schema {schema} authorization {role}".encode())
        for session, tables in ((self.owner, ("app.article", "app.page", "app.third")), (self.other, ("others.note",))):
            for table in tables:
                session.execute(f"create table {table} (id bigint primary key, body text)".encode())
                session.execute(f"insert into {table} values (1, 'Ships are insured.')".encode())  # noqa: S608 - names
        self.owner.execute(
            "select pgclarify.attach_table('insurance', 'app.article', 'id', 'body', '{\"id_prefix\": \"a\"}')"
        )
        worker.follow_everything()
        for number in range(1, 5):
            self.owner.execute("select pgclarify.add_document('insurance', %s, 'Cars are insured.')", [str(number)])
        worker.index_everything()
        self.owner.execute("""select pgclarify.set_budget('old', 'insurance', '{"period": "day", "max_calls": 9}')""")
        self.owner.execute("select pgclarify.add_ambiguity_rule('old', 'lexical', 'insurance')")
        answered, asking, running, queued, queued_too = (
            scalar(self.asker, "select pgclarify.submit(%s, %s, 'insurance')", operation, question)
            for operation, question in (
                ("clarify", "cars"), ("clarifying_questions", "boats"), ("clarify", "vans"), ("clarify", "bikes"),
                ("clarify", "trains"),
            )
        )  # fmt: skip
        worker.answer(answered)
        worker.start(asking)
        entries = [
            {"ordinal": ordinal, "reformulation": text, "clarifying_question": "Which?"}
            for ordinal, text in ((1, "the first"), (2, "the second"))
        ]
        worker.record_results(asking, "clarifying_question", *entries)
        worker.finish(asking)
        worker.start(running)
        self.owner.execute("select pgclarify.add_document('insurance', 'leased', 'Planes.')")
        self.leased = worker.claim(lease=86_400)
        self.owner.execute("select pgclarify.add_document('insurance', 'pending', 'Trains.')")
        superuser.execute("analyze")
        self.runs = {"answered": answered, "asking": asking, "running": running, "queued": queued}
        self.queued_too = queued_too
        self.stranger = other

    @contextmanager
    def held(self, function: str) -> Iterator[Connection]:
        """Call a function in a transaction, and keep that open."""
        session = self.owner if function in OWNERS else self.asker
        statement = (OWNERS | READERS | WAITING)[function]
        parameters = {**self.runs, "stranger": self.stranger}
        with session.transaction(force_rollback=True), ThreadPoolExecutor(1) as pool:
            called = pool.submit(session.execute, statement.encode(), parameters)
            while not called.done() and function in WAITING:
                for (run_id,) in self.superuser.execute(
                    "select run_id from pgclarify_private.run where status = 'queued' and run_id > %s",
                    [self.queued_too],
                ).fetchall():
                    self.worker.answer(run_id)
            called.result()
            yield session

    def locks(self, session: Connection) -> str:
        """What a session has locked that others could see before."""
        found = []
        for (table,) in self.superuser.execute(TABLES).fetchall():
            # The strongest lock conflicts with each, and the weakest one that conflicts tells which one is held.
            if self._are_skipped(table, STRENGTHS[-1]):
                skipped = [strength for strength in STRENGTHS if self._are_skipped(table, strength)]
                held = STRENGTHS[len(STRENGTHS) - STRENGTHS.index(skipped[0]) - 1]
                found.append(f"`{table}` (for {held})")
        process_id = session.info.backend_pid
        relations = self.superuser.execute(RELATION_LOCKS, [process_id]).fetchall()
        found += [f"table `{name}` ({MODES[mode]})" for name, mode in relations]
        advisory = self.superuser.execute(ADVISORY_LOCKS, [process_id]).fetchall()
        found += [f"advisory ({MODES[mode]})" for (mode,) in advisory]
        return ", ".join(found)

    def _are_skipped(self, table: str, strength: str) -> bool:
        lock = f"select count(*) from (select from pgclarify_private.{table} for {strength} skip locked) as free"  # noqa: S608 - names
        with self.superuser.transaction(force_rollback=True):
            free = scalar(self.superuser, lock)
        return bool(free < scalar(self.superuser, f"select count(*) from pgclarify_private.{table}"))  # noqa: S608

    def acts(self) -> Mapping[str, Callable[[], bool]]:
        """What others do, with whether it could not be done at once."""

        def waits(session: Connection, query: str, *parameters: Any) -> Callable[[], bool]:
            return lambda: self._waits(session, lambda: session.execute(query.encode(), parameters))

        def works(act: Callable[[], object]) -> Callable[[], bool]:
            return lambda: self._waits(self.worker.connection, act)

        worker, runs = self.worker, self.runs
        return {
            "asking": waits(self.other_asker, "select pgclarify.submit('clarify', 'planes', 'insurance')"),
            "cancelling": waits(self.other_asker, "select pgclarify.cancel(array[%s::bigint])", runs["queued"]),
            "cancelling another": waits(
                self.other_asker, "select pgclarify.cancel(array[%s::bigint])", self.queued_too
            ),
            "starting": works(lambda: worker.start(self.queued_too) or pytest.fail("it was not started")),
            "finishing": works(lambda: worker.finish(runs["running"])),
            "claiming": lambda: self._waits(worker.connection, worker.claim) or not self._claims(),
            "storing": lambda: self._waits(worker.connection, lambda: worker.store(self.leased)) or not self._stores(),
            "changing": waits(self.colleague, "select pgclarify.add_document('insurance', '1', 'Boats.')"),
            "adding": waits(self.colleague, "select pgclarify.add_document('insurance', '2', 'Boats.')"),
            "removing": waits(self.colleague, "select pgclarify.remove_document('insurance', '2')"),
            "erasing": waits(self.colleague, "select pgclarify.erase_document('insurance', '2')"),
            "granting": waits(self.colleague, "select pgclarify.grant_access('insurance', 'pgclarify_user')"),
            "setting": waits(self.colleague, """select pgclarify.set_budget('old', 'insurance', '{"max_calls": 7}')"""),
            "ruling": waits(self.colleague, "select pgclarify.add_ambiguity_rule('y', 'lexical', 'insurance')"),
            "attaching": waits(self.colleague, "select pgclarify.attach_table('insurance', 'app.third', 'id', 'body')"),
            "attaching elsewhere": waits(
                self.other, "select pgclarify.attach_table('others', 'others.note', 'id', 'body')"
            ),
            "writing": waits(self.colleague, "update app.article set body = body || '!'"),
            "dropping": waits(self.colleague, "select pgclarify.drop_corpus('insurance')"),
            "creating": waits(self.other, "select pgclarify.create_corpus('newer')"),
            "reading": waits(
                self.other_asker,
                "select (select count(*) from pgclarify.corpus), (select count(*) from pgclarify.document),"
                " (select count(*) from pgclarify.passage), (select count(*) from pgclarify.citation),"
                " (select count(*) from pgclarify.budget), (select count(*) from pgclarify.asked_question)",
            ),
            "budgeting": works(lambda: worker.claim_calls(runs["running"], ["a call"])),
        }

    def _claims(self) -> bool:
        with self.worker.connection.transaction(force_rollback=True):
            return {row["document_id"] for row in self.worker.claim()} == {"pending"}

    def _stores(self) -> bool:
        with self.worker.connection.transaction(force_rollback=True):
            return self.worker.store(self.leased) == len(self.leased)

    def _waits(self, session: Connection, act: Callable[[], object]) -> bool:
        try:
            with session.transaction(force_rollback=True):
                # Functions with a limit of their own, such as erase_document, ignore this one.
                session.execute(f"set local lock_timeout = '{PATIENCE}'".encode())
                act()
        except psycopg.errors.LockNotAvailable:
            return True
        return False


@pytest.fixture(scope="module")
def world(installed: Callable[[], AbstractContextManager[str]], admin: Connection) -> Iterator[World]:
    """The tests share it, because each call is rolled back, but for the runs that waiting calls enter."""
    with ExitStack() as stack:
        roles: list[str] = []

        def make_role(*memberships: str, name: str = "role") -> str:
            roles.append(f"{name}_{uuid4().hex[:12]}")
            admin.execute(f"create role {roles[-1]} login in role {', '.join(memberships)}".encode())
            return roles[-1]

        @stack.callback
        def drop() -> None:
            for role in roles:
                admin.execute(f"drop role {role}".encode())

        dsn = stack.enter_context(installed())

        def connect(user: str | None = None) -> Connection:
            return stack.enter_context(closing(psycopg.connect(dsn, user=user, autocommit=True)))

        yield World(connect(), connect, make_role, ManualWorker(connect(make_role("pgclarify_worker"))))


def row_of(name: str, locks: str, waiting: str) -> str:
    return f"| `{name}` | {locks or 'nothing'} | {waiting or 'no one'} |\n"


def rows_of_page() -> dict[str, str]:
    """The rows of the page, by function."""
    lines = PAGE.read_text(encoding="utf-8").splitlines(keepends=True)
    return {line.split("`")[1]: line for line in lines if line.startswith("| `")}


def write_row(function: str, row: str) -> None:
    """Write a row into the page, in the order of names."""
    before = rows_of_page()
    after = before | {function: row}
    old, new = (HEAD + "".join(rows[name] for name in sorted(rows)) for rows in (before, after))
    text = PAGE.read_text(encoding="utf-8")
    assert old in text
    PAGE.write_text(text.replace(old, new), encoding="utf-8")


def measured(world: World, function: str) -> str:
    with world.held(function) as session:
        locks = world.locks(session)
        waiting = [OTHERS[name] for name, is_kept_waiting in world.acts().items() if is_kept_waiting()]
    return row_of(function, locks, ", ".join(waiting))


def test_others_do_not_wait_for_each_other(world: World) -> None:
    assert [name for name, is_kept_waiting in world.acts().items() if is_kept_waiting()] == []


@pytest.mark.parametrize("function", sorted(OWNERS | READERS | WAITING))
def test_a_function_locks_what_the_page_says(world: World, function: str, pytestconfig: pytest.Config) -> None:
    row = measured(world, function)
    if pytestconfig.getoption("update_snapshots"):
        write_row(function, row)
    assert rows_of_page()[function] == row


def test_the_page_has_a_row_for_each_function_that_writes(connection: Connection) -> None:
    writing = connection.execute(
        "select proname from pg_proc where pronamespace = 'pgclarify'::regnamespace and provolatile = 'v' order by 1"
    ).fetchall()
    names = [name for (name,) in writing]

    assert sorted({*OWNERS, *READERS, *WAITING, *NOT_MEASURED}) == names
    assert list(rows_of_page()) == names
    for name, (locks, waiting) in NOT_MEASURED.items():
        assert rows_of_page()[name] == row_of(name, locks, waiting)
