"""An attached table that is built anew under its name: a call says so, and what is advised follows the new table."""

from __future__ import annotations

import json
import re

import psycopg
import pytest

from tests.integration.attached_documents import assert_documents_match_rows
from tests.integration.attaching import DETACH, READABLE, RESYNC, TRIGGERS, alice, attach, bob, notices, refusal
from tests.integration.counts import assert_counts_agree
from tests.integration.manual_worker import MakeWorker, ManualWorker
from tests.integration.test_privileges import listed
from tests.sessions import Connect, Connection, MakeRole, scalar, sqlstate_of

pytestmark = pytest.mark.rolled_back

__all__ = ["alice", "bob"]

NEW = "create table {} (id bigint primary key, body text); insert into {} values (1, 'Cars.'), (3, 'Ships.')"
# What tools do: dbt, migrations, loaders. Afterwards, app.article has one row as before, a new one, and one fewer.
SWAPS = {
    "renamed": (
        NEW.format("app.new", "app.new"),
        "alter table app.article rename to article__old",
        "alter table app.new rename to article",
    ),
    "renamed and dropped": (
        NEW.format("app.new", "app.new"),
        "alter table app.article rename to article__old; alter table app.new rename to article",
        "drop table app.article__old cascade",
    ),
    "dropped and made again": ("drop table app.article", NEW.format("app.article", "app.article")),
    "moved to another schema": (
        "create schema archive; alter table app.article set schema archive",
        NEW.format("app.article", "app.article"),
    ),
    "in a renamed schema": (
        "alter schema app rename to app_old; create schema app",
        NEW.format("app.article", "app.article"),
    ),
    "in a schema that is made again": (
        "drop schema app cascade; create schema app",
        NEW.format("app.article", "app.article"),
    ),
    "partitioned": (
        "drop table app.article; create table app.article (id bigint primary key, body text) partition by range (id);"
        "create table app.part partition of app.article for values from (0) to (100)",
        "insert into app.article values (1, 'Cars.'), (3, 'Ships.')",
    ),
    "one of several partitions": (
        "create table app.whole (like app.article including all) partition by range (id);"
        "alter table app.whole attach partition app.article for values from (0) to (100)",
        "alter table app.whole detach partition app.article; alter table app.article rename to article_before;"
        "create table app.article (like app.whole including all);"
        "alter table app.whole attach partition app.article for values from (0) to (100)",
        "insert into app.article (id, body) values (1, 'Cars.'), (3, 'Ships.')",
    ),
}
UNFOLLOWED = "PC021"
ASK = {
    "search": "select document_id from pgclarify.search('cars', 'kb', options => '{\"method\": \"lexical\"}')",
    "submit": "select pgclarify.submit('clarify', 'cars', 'kb')",
    "submit_many": "select pgclarify.submit_many('list_answers', array['cars', 'vans'], 'kb')",
}
STATE = "select source_id, state, relation::text, relation_name from pgclarify_private.source order by source_id"
# Rights and triggers of other tables than app.article and its partitions.
OF_FORMER_TABLES = """
    select attrelid::regclass from pg_attribute
    where attacl::text ~ 'pgclarify_reads_' and attrelid <> 'app.article'::regclass
    union all
    select tgrelid::regclass from pg_trigger
    where tgname ~ '^pgclarify_' and not tgisinternal and tgrelid <> 'app.article'::regclass
        and tgrelid not in (select relid from pg_partition_tree('app.article'))
"""
DOCUMENTS = "select id, content from pgclarify.document order by id"


@pytest.fixture
def worker(make_worker: MakeWorker) -> ManualWorker:
    return make_worker()


@pytest.fixture
def source_id(alice: Connection, connection: Connection, worker: ManualWorker) -> int:
    """Alice's attached table, which is followed."""
    connection.execute(f"grant create on database {connection.info.dbname} to {alice.info.user}".encode())
    connection.execute("select pgclarify.grant_access('kb', 'pgclarify_reader')")
    made = attach(alice, id_prefix="a/")
    worker.follow_everything()
    worker.index_everything()
    assert alice.execute(DOCUMENTS.encode()).fetchall() == [("a/1", "Cars."), ("a/2", "Trucks.")]
    return made


@pytest.fixture(params=list(SWAPS.values()), ids=list(SWAPS))
def swap(request: pytest.FixtureRequest) -> tuple[str, ...]:
    return request.param  # type: ignore[no-any-return]


def carry_out(session: Connection, swap: tuple[str, ...]) -> None:
    for statement in swap:
        session.execute(statement.encode())


def warned(session: Connection, statement: str) -> list[tuple[str, str]]:
    """The message and the hint of each warning about a table that is not followed."""
    told: list[tuple[str, str]] = []

    def listen(notice: psycopg.errors.Diagnostic) -> None:
        if notice.sqlstate == UNFOLLOWED:
            assert notice.severity_nonlocalized == "WARNING"
            told.append((notice.message_primary or "", notice.message_hint or ""))

    session.add_notice_handler(listen)
    try:
        session.execute(statement.encode())
    finally:
        session.remove_notice_handler(listen)
    return told


def advice(hint: str) -> list[str]:
    """The statements in a hint."""
    return re.findall(r"select pgclarify\.\w+\(.*?\)", hint)


@pytest.mark.parametrize("statement", ASK.values(), ids=ASK.keys())
def test_every_operation_that_searches_says_that_a_table_was_replaced(
    alice: Connection, connect: Connect, make_role: MakeRole, worker: ManualWorker, source_id: int, statement: str
) -> None:
    bob = connect(make_role("pgclarify_user", name="bob"))
    assert warned(alice, statement) == []
    carry_out(alice, SWAPS["renamed and dropped"])

    # Before and after a worker has noticed it.
    for _ in range(2):
        ((message, hint),) = warned(alice, statement)
        assert "app.article" in message
        assert advice(hint)[0] == "select pgclarify.resync('kb', 'app.article')"
        # Names of tables are not for everyone.
        ((message, hint),) = warned(bob, statement)
        assert "article" not in message + hint
        worker.send("inspect_sources")
    assert scalar(alice, "select state from pgclarify.source_status") == "failed"


def test_what_the_call_advises_follows_the_new_table(
    alice: Connection, connection: Connection, worker: ManualWorker, source_id: int, swap: tuple[str, ...]
) -> None:
    carry_out(alice, swap)
    kept = scalar(connection, "select created_at from pgclarify_private.document where id = 'a/1'")
    ((_, hint),) = warned(alice, ASK["search"])

    alice.execute(advice(hint)[0].encode())

    assert warned(alice, ASK["search"]) == []
    worker.follow_everything()
    assert connection.execute(STATE.encode()).fetchall() == [(source_id, "following", "app.article", "app.article")]
    assert alice.execute(DOCUMENTS.encode()).fetchall() == [("a/1", "Cars."), ("a/3", "Ships.")]
    assert scalar(connection, "select created_at from pgclarify_private.document where id = 'a/1'") == kept
    assert scalar(connection, "select error from pgclarify_private.source") is None
    # It is followed from now on, and the former table is let go.
    alice.execute("update app.article set body = 'Vans.' where id = 1")
    worker.follow_everything()
    assert_documents_match_rows(connection)
    assert_counts_agree(connection)
    assert listed(alice, READABLE) == {"id", "body"}
    assert connection.execute(OF_FORMER_TABLES.encode()).fetchall() == []


def test_what_doctor_and_status_advise_works(
    alice: Connection, worker: ManualWorker, source_id: int, swap: tuple[str, ...]
) -> None:
    carry_out(alice, swap)
    worker.send("inspect_sources")
    error = scalar(alice, "select error from pgclarify.source_status")
    kind, name, remedy, level = alice.execute(
        "select kind, name, remedy, level from pgclarify.finding where kind = 'tables'"
    ).fetchone() or ("", "", "", "")
    assert (kind, name, level) == ("tables", "app.article", "problem")

    (advised,) = {advice(text)[0] for text in (remedy, error)}

    alice.execute(advised.encode())

    worker.follow_everything()
    assert alice.execute(DOCUMENTS.encode()).fetchall() == [("a/1", "Cars."), ("a/3", "Ships.")]
    assert alice.execute("select from pgclarify.finding where kind = 'tables'").fetchall() == []


def test_attaching_the_new_table_goes_on_with_the_documents(
    alice: Connection, connection: Connection, worker: ManualWorker, source_id: int, swap: tuple[str, ...]
) -> None:
    carry_out(alice, swap)

    assert sqlstate_of(alice, "select pgclarify.attach_table('kb', 'app.article', 'id', 'body')") == "55000"
    assert attach(alice, id_prefix="a/") == source_id

    worker.follow_everything()
    assert connection.execute(STATE.encode()).fetchall() == [(source_id, "following", "app.article", "app.article")]
    assert alice.execute(DOCUMENTS.encode()).fetchall() == [("a/1", "Cars."), ("a/3", "Ships.")]


@pytest.mark.parametrize("swap", [name for name in SWAPS if "dropped" in name or "again" in name])
def test_so_does_attaching_it_after_the_former_table_was_detached_by_its_number(
    alice: Connection, worker: ManualWorker, source_id: int, swap: str
) -> None:
    carry_out(alice, SWAPS[swap])
    ((_, hint),) = warned(alice, ASK["search"])
    detach = advice(hint)[-1]
    number = re.findall(r"detach_table\('kb', (\d+)\)", detach)
    assert number == [str(scalar(alice, "select relation_oid from pgclarify.source_status"))]
    alice.execute(detach.encode())
    assert warned(alice, ASK["search"]) == []

    assert attach(alice, id_prefix="a/") == source_id

    worker.follow_everything()
    assert alice.execute(DOCUMENTS.encode()).fetchall() == [("a/1", "Cars."), ("a/3", "Ships.")]


def test_documents_of_a_table_that_is_still_there_stay_when_it_was_detached(
    alice: Connection, worker: ManualWorker, source_id: int
) -> None:
    alice.execute(DETACH.encode())
    carry_out(alice, SWAPS["renamed"])

    assert attach(alice, id_prefix="b/") != source_id

    worker.follow_everything()
    assert [document_id for document_id, _ in alice.execute(DOCUMENTS.encode())] == ["a/1", "a/2", "b/1", "b/3"]


def test_documents_of_the_former_table_are_not_lost_to_another_prefix(alice: Connection, source_id: int) -> None:
    carry_out(alice, SWAPS["renamed"])

    diagnostic = refusal(alice, "select pgclarify.attach_table('kb', 'app.article', 'id', 'body')")

    assert diagnostic.sqlstate == "55000"
    assert json.dumps({"id_prefix": "a/"}) in (diagnostic.message_hint or "")
    # The hint has another way, too.
    alice.execute((diagnostic.message_hint or "").split("first: ")[1].rstrip(".").encode())
    assert attach(alice) != 0


def test_in_one_transaction_as_a_hook_of_dbt(
    alice: Connection, connection: Connection, worker: ManualWorker, source_id: int
) -> None:
    with alice.transaction():
        carry_out(alice, SWAPS["renamed"])
        alice.execute(RESYNC.encode())
        alice.execute("drop table app.article__old cascade")

    worker.follow_everything()
    assert alice.execute(DOCUMENTS.encode()).fetchall() == [("a/1", "Cars."), ("a/3", "Ships.")]
    assert connection.execute(STATE.encode()).fetchall() == [(source_id, "following", "app.article", "app.article")]


def test_the_former_table_can_be_kept_under_its_new_name(
    alice: Connection, connection: Connection, worker: ManualWorker, source_id: int
) -> None:
    carry_out(alice, SWAPS["renamed"])
    worker.send("inspect_sources")
    ((_, hint),) = warned(alice, ASK["search"])

    alice.execute(advice(hint)[1].encode())

    assert warned(alice, ASK["search"]) == []
    worker.follow_everything()
    worker.send("inspect_sources")
    assert connection.execute(STATE.encode()).fetchall() == [
        (source_id, "following", "app.article__old", "app.article__old")
    ]


def test_a_table_that_was_only_renamed_is_followed(
    alice: Connection, connection: Connection, worker: ManualWorker, source_id: int
) -> None:
    alice.execute("alter table app.article rename to help; create view app.article as select * from app.help")
    worker.send("inspect_sources")
    assert warned(alice, ASK["search"]) == []
    alice.execute("update app.help set body = 'Vans.' where id = 1")
    worker.follow_everything()
    assert alice.execute(DOCUMENTS.encode()).fetchall() == [("a/1", "Vans."), ("a/2", "Trucks.")]


def test_two_attached_tables_that_exchange_their_names_are_followed(
    alice: Connection, connection: Connection, worker: ManualWorker, source_id: int
) -> None:
    carry_out(alice, (NEW.format("app.other", "app.other"),))
    attach(alice, "app.other", id_prefix="b/")
    worker.follow_everything()
    alice.execute("alter table app.article rename to x; alter table app.other rename to article")
    alice.execute("alter table app.x rename to other")
    worker.send("inspect_sources")

    assert warned(alice, ASK["search"]) == []
    alice.execute(RESYNC.encode())
    worker.follow_everything()
    assert [document_id for document_id, _ in alice.execute(DOCUMENTS.encode())] == ["a/1", "a/2", "b/1", "b/3"]


def test_a_table_that_was_dropped_is_told_with_both_ways(
    alice: Connection, connection: Connection, worker: ManualWorker, source_id: int
) -> None:
    alice.execute("drop table app.article")
    ((_, hint),) = warned(alice, ASK["search"])
    (detach, resync) = advice(hint)
    assert sqlstate_of(alice, resync) == "42P01"

    carry_out(alice, (NEW.format("app.article", "app.article"),))
    alice.execute(resync.encode())
    worker.follow_everything()
    assert alice.execute(DOCUMENTS.encode()).fetchall() == [("a/1", "Cars."), ("a/3", "Ships.")]

    alice.execute("drop table app.article")
    alice.execute(advice(warned(alice, ASK["search"])[0][1])[0].encode())
    assert warned(alice, ASK["search"]) == []
    assert detach.startswith("select pgclarify.detach_table('kb', ")


def test_a_new_table_that_cannot_be_attached_says_how_it_can(alice: Connection, source_id: int) -> None:
    alice.execute("create table app.new as select 1 as id, 'Ships.'::text as body")
    carry_out(alice, ("drop table app.article; alter table app.new rename to article",))
    before = alice.execute("select state, relation_oid from pgclarify.source_status").fetchall()

    diagnostic = refusal(alice, RESYNC)

    assert diagnostic.sqlstate == "55000"
    assert alice.execute("select state, relation_oid from pgclarify.source_status").fetchall() == before
    alice.execute("create unique index on app.article (id)")
    assert scalar(alice, RESYNC) == source_id


def test_a_table_of_another_role_is_not_taken(
    alice: Connection, bob: Connection, connection: Connection, source_id: int
) -> None:
    alice.execute("drop table app.article")
    alice.execute(f"grant create, usage on schema app to {bob.info.user}".encode())
    carry_out(bob, (NEW.format("app.article", "app.article"),))
    bob.execute(f"grant select on app.article to {alice.info.user}".encode())

    assert sqlstate_of(alice, RESYNC) == "42501"
    assert (
        sqlstate_of(
            alice, "select pgclarify.attach_table('kb', 'app.article', 'id', 'body', '{\"id_prefix\": \"a/\"}')"
        )
        == "42501"
    )
    # Nor by the part that grants and triggers follow.
    part = (
        "select pgclarify_private.resync(caller, 'kb', 'app.article') from pgclarify_private.caller",
        "select pgclarify_private.attach_table(caller, 'kb', 'app.article', 'id', 'body', '{\"id_prefix\": \"a/\"}')"
        " from pgclarify_private.caller",
    )
    assert [sqlstate_of(alice, statement) for statement in part] == ["42501", "42501"]
    # Nor does another owner of a corpus get a source of Alice's.
    assert sqlstate_of(bob, RESYNC) == "42501"
    assert sqlstate_of(alice, DETACH) == "42704"
    assert bob.execute(TRIGGERS.encode()).fetchall() == []


def test_a_table_that_failed_for_another_reason_is_told_too(
    alice: Connection, connection: Connection, worker: ManualWorker, source_id: int
) -> None:
    alice.execute("alter table app.article rename column body to text")
    worker.send("inspect_sources")
    told = notices(alice)

    ((_, hint),) = warned(alice, ASK["search"])

    assert advice(hint) == ["select pgclarify.resync('kb', 'app.article')"]
    assert '"body"' in told[0].detail
    alice.execute("alter table app.article rename column text to body")
    alice.execute(advice(hint)[0].encode())
    assert warned(alice, ASK["search"]) == []


def test_a_thousand_tables_cost_a_call_some_milliseconds(
    alice: Connection, connection: Connection, source_id: int
) -> None:
    connection.execute("""
        do $$ begin
            for place in 1 .. 1000 loop
                execute format('create table app.t%s (id bigint primary key, body text)', place);
            end loop;
        end $$;
        insert into pgclarify_private.source (
            corpus_id, relation, relation_name, attached_by, attached_by_oid, id_column, content_column, state
        )
        select
            source.corpus_id, table_.oid, table_.oid::regclass::text, source.attached_by, source.attached_by_oid, 'id',
            'body', 'following'
        from pgclarify_private.source
        cross join (select oid from pg_class where relname ~ '^t[0-9]+$' and relkind = 'r') as table_
    """)
    explain = (
        "explain (analyze, format json) select pgclarify_private.tell_unfollowed(corpus_id, %s)"
        " from pgclarify_private.corpus where name = 'kb'"
    )
    took = [scalar(connection, explain, alice.info.user)[0]["Execution Time"] for _ in range(5)]
    assert min(took) < 20, took
