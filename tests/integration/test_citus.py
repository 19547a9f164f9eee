"""Our objects on a server with Citus stay on it, and users' objects are copied to the nodes as before."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

import psycopg

from pgclarify.install.installer import install
from tests.integration.attaching import ATTACH
from tests.integration.distributed.corpora import distribute, found
from tests.integration.manual_worker import MakeWorker
from tests.sessions import Connection, scalar, sqlstate_of

SETTING = "citus.enable_ddl_propagation"
# Citus has the setting, and so has a session that sets it itself. The trigger notes the DDL that Citus would copy.
NOTE_COPIES = """
    create table public.copied (tag text);
    grant insert on public.copied to public;
    create function public.note_copy() returns event_trigger language plpgsql as $$
    begin
        if current_setting('citus.enable_ddl_propagation', true) = 'on' then
            insert into public.copied values (tg_tag);
        end if;
    end
    $$;
    create event trigger note_copies on ddl_command_end execute function public.note_copy();
"""
TAGS = "select coalesce(array_agg(distinct tag order by tag), '{}') from public.copied"


def test_an_install_copies_nothing_to_the_nodes(make_database: Callable[..., str]) -> None:
    dsn = make_database()
    with psycopg.connect(dsn, autocommit=True) as session:
        session.execute(NOTE_COPIES)

    install(f"{dsn}{'&' if '?' in dsn else '?'}options={quote(f'-c {SETTING}=on')}")

    with psycopg.connect(dsn, autocommit=True) as session:
        assert scalar(session, TAGS) == []


def test_a_table_is_attached_without_copying_functions_to_the_nodes(connection: Connection, alice: Connection) -> None:
    connection.execute(NOTE_COPIES)
    alice.execute(f"set {SETTING} = 'on'")

    alice.execute(ATTACH)

    # Grants name a role that the nodes do not have. The others are of the user's table.
    assert set(scalar(connection, TAGS)) <= {"ALTER TABLE", "CREATE TRIGGER"}
    assert scalar(alice, f"show {SETTING}") == "on"
    assert alice.execute("select 1 from pg_trigger where tgrelid = 'app.article'::regclass").fetchone()


def test_only_a_cluster_distributes(connection: Connection, alice: Connection) -> None:
    for options in ("{}", '{"dry_run": true}'):
        assert sqlstate_of(alice, "select pgclarify.distribute('kb', %s)", [options]) == "0A000"
    assert sqlstate_of(alice, "select pgclarify.distribute('kb', '{\"shards\": -1}')") == "22023"
    assert not scalar(connection, "select pgclarify_private.is_distributed(corpus_id) from pgclarify.corpus")


def test_tables_that_were_restored_without_citus_become_partitions_again(
    connection: Connection, make_worker: MakeWorker
) -> None:
    """In a dump of a cluster, the tables of a distributed corpus have no parent."""
    connection.execute("select pgclarify.create_corpus('kb')")
    connection.execute("select pgclarify.add_document('kb', 'd1', 'Rental cars.')")
    worker = make_worker()
    worker.index_everything()
    ((corpus_id, space_id),) = connection.execute("select corpus_id, embedding_space_id from pgclarify_private.corpus")
    for parent, key in (("pgclarify_private.passage", corpus_id), ("pgclarify_private.passage_embedding", space_id)):
        table = f"pgclarify_private.{parent.partition('.')[2]}_{key}"
        connection.execute(f"alter table {parent} detach partition {table}".encode())
    assert not scalar(connection, "select pgclarify_private.is_distributed(%s)", corpus_id)

    for is_moved in (True, False):
        plan = distribute(connection, "kb", shards=0, dry_run=True)
        assert (plan["is_distributed"], plan["is_moved"]) == (False, is_moved)
        assert distribute(connection, "kb", shards=0)["is_moved"] == is_moved
        assert scalar(connection, "select content from pgclarify.passage") == "Rental cars."
        assert scalar(connection, "select count(*) from pgclarify_private.passage_embedding") == 1
    worker.index_everything()
    assert [row[0] for row in found(connection, "kb", [], "hybrid", "cars", 1)] == ["d1"]
