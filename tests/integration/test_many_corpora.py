"""Many corpora: no statement locks more because there are more of them, or waits for changes to another corpus."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from psycopg import sql

from pgclarify.install.functions import apply_sql
from tests.integration.manual_worker import MAKE_OPEN_CORPUS, MakeWorker, ManualWorker, vector_of
from tests.sessions import Connect, Connection, MakeRole, scalar

# Tables that have a partition for each corpus or space.
PARTITIONED = ("neighborhood", "passage", "passage_embedding")
MORE = 20
LOCKS = """
    select coalesce(array_agg(distinct c.relname order by c.relname), '{}')
    from pg_locks
    inner join pg_class as c on c.oid = pg_locks.relation
    where
        pg_locks.pid = pg_backend_pid()
        and c.relnamespace in ('pgclarify'::regnamespace, 'pgclarify_private'::regnamespace)
"""


def make_corpora(connection: Connection, worker: ManualWorker, count: int, name: str = "other") -> None:
    for number in range(count):
        connection.execute("select pgclarify.create_corpus(%s)", [f"{name} {number}"])
    worker.open_spaces()


@contextmanager
def rolled_back(connection: Connection) -> Iterator[None]:
    """A transaction that is rolled back."""
    with connection.transaction(force_rollback=True):
        yield


def as_asker(connection: Connection, role: str) -> None:
    """Become a role until the transaction ends.

    Runs of a superuser are not reused after another test has made a role.
    """
    connection.execute(sql.SQL("set local role {}").format(sql.Identifier(role)))


def locks(connection: Connection) -> list[str]:
    """The relations of ours that this session's transaction has locked."""
    return list(scalar(connection, LOCKS))


def statements(
    user: Connection, asker: str, worker: ManualWorker, run_id: int, over: int, leased: Mapping[str, Mapping[str, Any]]
) -> dict[str, Callable[[], Any]]:
    """What users and workers send, on corpus "insurance".

    Args:
        user: Who may do everything.
        asker: The role that asked "cars".
        worker: A worker.
        run_id: A run that waits.
        over: An answered run of the question "cars".
        leased: Documents "leased" and "broken", as that worker has claimed them.
    """

    def send(query: str, *parameters: Any) -> Callable[[], Any]:
        return lambda: user.execute(query.encode(), parameters).fetchall()

    def ask(query: str) -> Callable[[], Any]:
        def act() -> list[Any]:
            as_asker(user, asker)
            return user.execute(query.encode()).fetchall()

        return act

    def carry_out() -> None:
        run = worker.start(run_id)
        assert run is not None
        assert worker.retrieve(run_id, run["attempt"], "cars", vector_of("cars"))
        worker.finish(run_id, run["attempt"])

    def claim_passages() -> None:
        for space in worker.send("due_spaces"):
            worker.send("advance_space", **space)
        lease = timedelta(minutes=1)
        worker.send(
            "claim_passages",
            worker_id=worker.worker_id,
            max_passages=9,
            lease=lease,
            skipped_models=[],
            after_space_id=0,
        )

    return {
        "clarify": ask("select * from pgclarify.clarify('cars', 'insurance')"),
        "clarify_many": ask("select * from pgclarify.clarify_many(array['cars'], corpus => 'insurance')"),
        "lexical search": send("""select * from pgclarify.search('cars', 'insurance', 5, '{"method": "lexical"}')"""),
        "submit": send("select pgclarify.submit('clarify', 'vans', 'insurance')"),
        "result": send("select * from pgclarify.result(%s)", over),
        "wait": send("select * from pgclarify.wait(%s)", [over]),
        "cancel": send("select pgclarify.cancel(array[%s]::bigint[])", run_id),
        "create_corpus": send("select pgclarify.create_corpus('new')"),
        "drop_corpus": send("select pgclarify.drop_corpus('insurance')"),
        "add_document": send("select pgclarify.add_document('insurance', 'new', 'Cars.')"),
        "new readers": send("select pgclarify.add_document('insurance', 'open', 'Cars.', readers => '{}')"),
        "remove_document": send("select pgclarify.remove_document('insurance', 'open')"),
        "set_embedding_model": send(
            "select pgclarify_private.set_embedding_model(caller, 'insurance', 'another-model') from pgclarify_private.caller"  # noqa: E501
        ),
        "corpus": send("select * from pgclarify.corpus"),
        "neighbors": send(
            "select * from pgclarify.neighbors('insurance', 'open', (select id from pgclarify.passage"
            " where corpus_id = 1 and document_id = 'open'))"
        ),
        "source_status": send("select * from pgclarify.source_status"),
        "run": send("select * from pgclarify.run"),
        "citation": send("select * from pgclarify.citation"),
        "documents": send("select * from pgclarify.document"),
        "passages of a corpus": send("select * from pgclarify.passage where corpus_id = 1"),
        "a run": carry_out,
        "claim_documents": worker.claim,
        "claim_documents, long": lambda: worker.claim(are_long=True),
        "store_documents": lambda: worker.store([leased["leased"]]),
        "passage_hashes": lambda: worker.send("passage_hashes", corpus_id=1, document_ids=["open"]),
        "fail_document": lambda: worker.fail(leased["broken"]),
        "release_documents": worker.release,
        "apply_term_changes": lambda: worker.send("apply_term_changes"),
        "fold_tallies": lambda: worker.send("fold_tallies"),
        "requeue_lost_runs": lambda: worker.send("requeue_lost_runs", worker_id=worker.worker_id),
        "building_spaces": lambda: worker.send("building_spaces"),
        "open_space": lambda: worker.open_spaces(),
        "link_passages": lambda: worker.send("link_passages", max_passages=100),
        "waiting_sources": lambda: worker.send("waiting_sources"),
        "inspect_sources": lambda: worker.send("inspect_sources"),
        "drop_orphan_capture": lambda: worker.send("drop_orphan_capture"),
        "advance_space": lambda: [worker.send("advance_space", **space) for space in worker.send("due_spaces")],
        "claim_passages": claim_passages,
        "remove_dropped_corpora": lambda: worker.send("remove_dropped_corpora", most=10),
        "drop_orphan_partition": lambda: worker.send("drop_orphan_partition"),
    }


def test_no_statement_locks_more_because_there_are_more(
    connection: Connection, make_worker: MakeWorker, make_role: MakeRole
) -> None:
    connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
    connection.execute("select pgclarify.create_corpus('gone')")
    connection.execute("select pgclarify.create_corpus('changes its model')")
    connection.execute("select pgclarify.add_document('changes its model', '1', 'Cars.')")
    for document_id in ("open", "removed"):
        connection.execute("select pgclarify.add_document('insurance', %s, 'Cars.')", [document_id])
    worker = make_worker()
    worker.index_everything()
    scalar(connection, "select pgclarify.remove_document('insurance', 'removed')")
    asker = make_role("pgclarify_user")
    with connection.transaction():
        as_asker(connection, asker)
        over = scalar(connection, "select pgclarify.submit('clarify', 'cars', 'insurance')")
    worker.answer(over)
    run_id = scalar(connection, "select pgclarify.submit('clarify', 'trucks', 'insurance')")
    for document_id in ("leased", "broken"):
        connection.execute("select pgclarify.add_document('insurance', %s, 'Cars.')", [document_id])
    leased = {document["document_id"]: document for document in worker.claim()}
    connection.execute("select pgclarify.drop_corpus('gone')")
    connection.execute(
        "select pgclarify_private.set_embedding_model(caller, 'changes its model', 'another-model') from pgclarify_private.caller"  # noqa: E501
    )
    worker.open_spaces()
    assert worker.send("due_spaces")
    connection.execute("select pgclarify.add_document('insurance', 'pending', 'Cars.')")

    def locks_of_each() -> dict[str, int]:
        found = {}
        for name, act in statements(connection, asker, worker, run_id, over, leased).items():
            locked = set()
            for mode in ("force_custom_plan", "force_generic_plan"):
                # Planning locks all indexes of a table. Changes by other sessions may invalidate plans at any time, so
                # each attempt makes all plans.
                for session in (connection, worker.connection):
                    session.execute(f"set plan_cache_mode = {mode}; discard plans")
                with rolled_back(connection), rolled_back(worker.connection):
                    act()
                    for session in (connection, worker.connection):
                        locked |= {(session, relation) for relation in locks(session)}
            assert locked, name
            found[name] = len(locked)
        return found

    connection.execute("select pgclarify.create_corpus('waits for its model')")
    before = locks_of_each()
    make_corpora(connection, worker, MORE)
    connection.execute("select pgclarify.create_corpus('waits for its model, too')")
    connection.execute("analyze")
    after = locks_of_each()

    # Two that wait for their model are opened instead of one. Another plan may name a few catalogs more.
    before["open_space"] *= 2
    assert {name: locked for name, locked in after.items() if locked > before[name] + MORE // 2} == {}


def test_nothing_reaches_partitions_through_their_parent(connection: Connection) -> None:
    """Such a statement locks all partitions. Only what people read of passages, and its policy, do that."""
    found = connection.execute(
        r"""
        select p.oid::regprocedure::text
        from pg_proc as p
        where p.pronamespace in ('pgclarify'::regnamespace, 'pgclarify_private'::regnamespace) and p.prokind = 'f'
            and pg_get_functiondef(p.oid)
                ~* ('(from|join|into|update|only|using)\s+pgclarify(?:_private)?\.(' || %(names)s || ')\M')
        union all
        select c.oid::regclass::text
        from pg_class as c
        where c.relnamespace in ('pgclarify'::regnamespace, 'pgclarify_private'::regnamespace) and c.relkind = 'v'
            and pg_get_viewdef(c.oid) ~* ('(from|join)[\s(]+pgclarify(?:_private)?\.(' || %(names)s || ')\M')
        """,
        {"names": "|".join(PARTITIONED)},
    ).fetchall()
    partitioned = connection.execute(
        "select relname from pg_class"
        " where relnamespace in ('pgclarify'::regnamespace, 'pgclarify_private'::regnamespace)"
        " and relkind = 'p' order by 1"
    ).fetchall()

    assert found == [("pgclarify.passage",)]
    assert [name for (name,) in partitioned] == list(PARTITIONED)


def test_to_apply_the_functions_again_locks_no_more(connection: Connection, make_worker: MakeWorker) -> None:
    """An upgrade applies all functions in one transaction, and must not run out of locks."""

    def locks_of_upgrade() -> list[str]:
        with rolled_back(connection):
            connection.execute("set local role pgclarify_owner")
            apply_sql(connection.cursor(), are_tables_new=True)
            return locks(connection)

    make_corpora(connection, make_worker(), 1)
    before = locks_of_upgrade()
    make_corpora(connection, make_worker(), MORE, "another")

    assert "passage" in before
    assert len(locks_of_upgrade()) <= len(before) + 2


def test_a_corpus_that_is_swept_and_others_that_are_searched_do_not_wait(
    connection: Connection, connect: Connect, make_worker: MakeWorker
) -> None:
    """Neither waits for the other's transaction, because they have no tables in common."""
    connection.execute("select pgclarify.create_corpus('insurance')")
    connection.execute("select pgclarify.add_document('insurance', '1', 'Cars.')")
    worker = make_worker()
    worker.index_everything()
    make_corpora(connection, worker, 2)
    search = "select document_id from pgclarify.search('cars', 'insurance', options => '{\"method\": \"lexical\"}')"
    dense = "select document_ids from pgclarify_private.dense(1, '{}', '[1,0,0,0]', 5)"
    reader = connect()
    reader.execute("set search_path = pg_catalog, public; set lock_timeout = '5s'; begin")
    assert scalar(reader, search) == "1"
    assert scalar(reader, dense) == ["1"]

    # While the reader's transaction is open: made, dropped and swept.
    connection.execute("set lock_timeout = '5s'")
    make_corpora(connection, worker, 1, "another")
    connection.execute("select pgclarify.drop_corpus('other 0')")
    assert len(worker.sweep()) == 3
    connection.execute("select pgclarify.drop_corpus('other 1')")
    while worker.value("remove_dropped_corpora", most=1000):
        pass

    with worker.connection.transaction():
        assert worker.value("drop_orphan_partition") is not None
        # While the sweeper's transaction is open.
        assert scalar(reader, search) == "1"
        assert scalar(reader, dense) == ["1"]
        assert scalar(connection, search) == "1"


def test_views_work_out_the_roles_of_their_reader_once(connection: Connection, make_worker: MakeWorker) -> None:
    """Not once for each corpus: that was most of what a view took among a thousand corpora."""
    for number in range(MORE):
        connection.execute(
            'select pgclarify.create_corpus(%s, options => \'{"reader": "pgclarify_user"}\')', [f"corpus {number}"]
        )
    make_worker().open_spaces()

    def calls(view: str) -> dict[str, int]:
        statement = sql.SQL("select * from {} where corpus = 'corpus 1'").format(sql.Identifier("pgclarify", view))
        with rolled_back(connection):
            connection.execute("set local track_functions = 'all'")
            connection.execute(statement).fetchall()
            return dict(
                connection.execute("select funcname, sum(calls)::integer from pg_stat_xact_user_functions group by 1")
            )

    for view in ("corpus", "source_status"):
        called = calls(view)
        assert 1 <= called["roles_of"] < 10, (view, called)
    assert "seen_revision" not in calls("corpus")


def test_corpus_status_has_the_revision_that_runs_compare(
    connection: Connection, connect: Connect, make_worker: MakeWorker, make_role: MakeRole
) -> None:
    """corpus_status repeats the sum of seen_revision, because a call of it for each corpus would take too long."""
    connection.execute("select pgclarify.create_corpus('insurance', options => '{\"reader\": \"pgclarify_user\"}')")
    roles = [make_role("pgclarify_user", name=name) for name in ("alice", "bob")]
    worker = make_worker()
    for number, readers in enumerate([None, roles[:1], roles[:1], roles]):
        connection.execute(
            "select pgclarify.add_document('insurance', %s, 'Cars.', readers => %s::name[])", [str(number), readers]
        )
        worker.index_everything()
        if number == 2:
            worker.send("fold_tallies")

    shown = {role: scalar(connect(role), "select revision from pgclarify.corpus") for role in roles}

    seen = (
        "select seen.revision from pgclarify.corpus cross join pgclarify_private.seen_revision(corpus_id, %s) as seen"
    )
    for role in roles:
        held = scalar(connection, "select pgclarify_private.roles_of(%s::name)", role)
        assert scalar(connection, seen, held) == shown[role]
    assert shown[roles[0]] > shown[roles[1]] > 0
