"""A Citus cluster, for tests that need one. PGCLARIFY_TEST_CLUSTER_URL is the URL of its coordinator for a superuser.

That database lists the nodes (pg_dist_node), and each server of the cluster trusts connections from the others. Without
the variable, these tests are skipped. `pytest --server cluster` runs other tests there.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from fnmatch import fnmatchcase
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql

from pgclarify.install.installer import install
from tests.pages import CHECKOUT, blocks
from tests.servers import drop_database, in_database

URL: Final = os.environ.get("PGCLARIFY_TEST_CLUSTER_URL")
needed = pytest.mark.skipif(URL is None, reason="PGCLARIFY_TEST_CLUSTER_URL names no Citus cluster")
# As on the page: on all servers, then on the coordinator. Its third block comes after the install.
EVERYWHERE, JOIN, PREPARE_OWNER, DISTRIBUTE = (block.code for block in blocks(CHECKOUT / "docs/citus.md", "sql"))


# Names of tests, as patterns, and why `--server cluster` skips them.
SKIPPED: Final[dict[str, str]] = {
    pattern: group["why"]
    for group in tomllib.loads((CHECKOUT / "tests/servers/not_on_a_cluster.toml").read_text())["skipped"]
    for pattern in group["tests"]
}


def skip_some(tests: Sequence[pytest.Item]) -> None:
    """Mark the tests to skip with the reason."""
    for test in tests:
        name = test.nodeid.removeprefix("tests/integration/").partition("[")[0]
        for pattern, why in SKIPPED.items():
            if fnmatchcase(name, pattern):
                test.add_marker(pytest.mark.skip(reason=why))


# What distributes each corpus when it is made, for the tests of all that users do.
_MADE: Final = "    return v_corpus_id;\nend"
_MADE_DISTRIBUTED: Final = """
    perform pgclarify_private.move_corpus(corpus, 2) from pgclarify_private.corpus where corpus.corpus_id = v_corpus_id;
"""


# Returns the rows of all corpora: see Superuser.
_EVERY_ROW: Final = """
    create function public.every_{table}() returns setof pgclarify_private.{table}
    language plpgsql stable
    as $$
    declare
        v_id bigint;
    begin
        for v_id in select {key} from pgclarify_private.corpus where {key} is not null loop
            return query execute format(
                'select * from %s', pgclarify_private.partition_name('{table}', v_id)
            );
        end loop;
    end
    $$;
"""
_KEYS: Final = {"passage": "corpus_id", "passage_embedding": "embedding_space_id"}
# What takes the place of a table, or of the view of passages.
_READ_INSTEAD: Final = {
    "pgclarify_private.passage": "public.every_passage()",
    "pgclarify_private.passage_embedding": "public.every_passage_embedding()",
    "pgclarify.passage": "public.all_passages",
}


class Superuser(psycopg.Connection[Any]):
    """A superuser's connection, whose statements read all rows of all corpora.

    Tables passage and passage_embedding have no row of a distributed corpus, nor has view passage. Where a statement
    reads them, the rows of all corpora take their place.
    """

    def execute(self, query: Any, *arguments: Any, **options: Any) -> psycopg.Cursor[Any]:
        """See psycopg."""
        if isinstance(query, str | bytes):
            text = query if isinstance(query, str) else query.decode()
            for relation, instead in _READ_INSTEAD.items():
                # The alias of the statement follows, or else the name of the relation.
                name = relation.partition(".")[2]
                text = re.sub(rf"\b(from|join) {relation}\b", rf"\1 {instead} as {name}", text)
                text = text.replace(f" as {name} as ", " as ")
            query = text.encode()
        return super().execute(query, *arguments, **options)


@contextmanager
def database(*, is_installed_first: bool = False) -> Iterator[str]:
    """Make a database on all servers of the cluster, set it up as on the page, and install the schema.

    Args:
        is_installed_first: Whether the schema was there before Citus.

    Yields:
        Its URL.
    """
    assert URL is not None
    name = f"test_{uuid4().hex[:12]}"
    try:
        for server in servers():
            with closing(psycopg.connect(server, autocommit=True)) as node:
                node.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
            if is_installed_first and server == servers()[0]:
                install(in_database(URL, name))
            with closing(psycopg.connect(server, dbname=name, autocommit=True)) as node:
                node.execute(EVERYWHERE.replace("extension vector", "extension if not exists vector").encode())
        dsn = in_database(URL, name)
        with closing(psycopg.connect(dsn, autocommit=True)) as coordinator:
            join, *join_node = JOIN.splitlines()
            for number, server in enumerate(servers()):
                address = urlsplit(server)
                statement = join if number == 0 else join_node[0]
                coordinator.execute(re.sub(r"\(.*\)", f"('{address.hostname}', {address.port})", statement).encode())
            if not is_installed_first:
                install(dsn)
            coordinator.execute(PREPARE_OWNER.encode())
        yield dsn
    finally:
        for server in servers():
            with closing(psycopg.connect(server, autocommit=True)) as node:
                drop_database(node, name)


@contextmanager
def template() -> Iterator[str]:
    """Make a database on all servers whose copies distribute each corpus when it is made. Yields its name."""
    with database() as dsn:
        with closing(psycopg.connect(dsn, autocommit=True)) as coordinator:
            create = "select pg_get_functiondef(oid) from pg_proc where oid::regprocedure::text ~ %s"
            ((definition,),) = coordinator.execute(create, ["private.create_corpus[(]"]).fetchall()
            assert definition.count(_MADE) == 1
            coordinator.execute(definition.replace(_MADE, _MADE_DISTRIBUTED + _MADE).encode())
            for table, key in _KEYS.items():
                coordinator.execute(_EVERY_ROW.format(table=table, key=key).encode())
            ((view,),) = coordinator.execute("select pg_get_viewdef('pgclarify.passage'::regclass)").fetchall()
            view = view.replace("pgclarify_private.passage", "public.every_passage() as passage")
            coordinator.execute(f"create view public.all_passages as {view}".encode())
            name = coordinator.info.dbname
        for server in servers():
            with closing(psycopg.connect(server, autocommit=True)) as node:
                node.execute(sql.SQL("alter database {} with allow_connections false").format(sql.Identifier(name)))
                # Citus has a process in it, which would prevent copies.
                node.execute("select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = %s", [name])
        yield name


def servers() -> list[str]:
    """URLs of database "postgres" of all servers of the cluster, the coordinator first."""
    assert URL is not None
    with closing(psycopg.connect(URL)) as coordinator:
        nodes = coordinator.execute("select nodename, nodeport from pg_dist_node order by groupid").fetchall()
    parts = urlsplit(URL)
    login = parts.netloc.rpartition("@")[0]
    return [parts._replace(netloc=f"{login}@{host}:{port}", path="/postgres").geturl() for host, port in nodes]
