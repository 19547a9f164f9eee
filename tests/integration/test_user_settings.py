"""Settings that a session, a role or a database may change: calls behave as without them."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from operator import itemgetter
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

import pgclarify
from pgclarify.install.installer import install
from tests.integration.manual_worker import MakeWorker
from tests.integration.parametrize_in_one_test import parametrize_in_one_test
from tests.migration import catalog
from tests.openai_server import MODEL, Server
from tests.sessions import Connect, Connection, MakeRole, scalar, sqlstate_of
from tests.workers import (
    StartWorker,
    as_role,
    environment,
    load,
    run_command,
    until,
    wait_until_linked,
    wait_until_searchable,
)

TIMED_OUT = "PC002"
LEXICAL = "select document_id from pgclarify.search('cars', 'hers', options => '{\"method\": \"lexical\"}')"
# They change how PostgreSQL reads texts, compares, converts, plans, or checks.
SETTINGS = (
    ("array_nulls", "off"),
    ("bytea_output", "escape"),
    ("DateStyle", "German"),
    ("default_text_search_config", "simple"),
    ("default_transaction_isolation", "serializable"),
    ("default_transaction_read_only", "on"),
    ("enable_indexscan", "off"),
    ("extra_float_digits", "-15"),
    ("from_collapse_limit", "1"),
    ("hnsw.ef_search", "1"),
    ("IntervalStyle", "sql_standard"),
    ("jit_above_cost", "0"),
    ("plan_cache_mode", "force_generic_plan"),
    ("plpgsql.extra_errors", "all"),
    ("quote_all_identifiers", "on"),
    ("row_security", "off"),
    ("search_path", ""),
    ("standard_conforming_strings", "off"),
    ("TimeZone", "Asia/Kolkata"),
    ("transform_null_equals", "on"),
)


@pytest.fixture
def user(connection: Connection, connect: Connect, make_role: MakeRole, make_worker: MakeWorker) -> str:
    """A role whose corpus is searchable, while a worker is alive that answers nothing."""
    role = make_role("pgclarify_user")
    session = connect(role)
    session.execute("select pgclarify.create_corpus('hers')")
    session.execute("select pgclarify.add_document('hers', '1', 'Cars are insured.')")
    make_worker().index_everything()
    return role


@parametrize_in_one_test("name, value", SETTINGS)
def test_calls_do_not_depend_on_settings_of_the_session(connect: Connect, user: str, name: str, value: str) -> None:
    session = connect(user)
    session.execute("select set_config(%s, %s, false)", [name, value])

    assert session.execute(LEXICAL).fetchall() == [("1",)]
    # Its request reached the queue through the loopback.
    assert sqlstate_of(session, "select * from pgclarify.clarify('cars', 'hers', timeout => '0.1s')") == TIMED_OUT


# They change how values are written, read and found, in all sessions of a database or of a role.
OF_ALL_SESSIONS = {
    "array_nulls": "off",
    "bytea_output": "escape",
    "client_encoding": "latin1",
    "DateStyle": "German",
    "default_text_search_config": "simple",
    "extra_float_digits": "-15",
    "gin_fuzzy_search_limit": "1",
    "IntervalStyle": "iso_8601",
    "quote_all_identifiers": "on",
    "standard_conforming_strings": "off",
    "TimeZone": "Asia/Kolkata",
    "transform_null_equals": "on",
}
# Keys of each type that an id may have, and columns whose texts depend on these settings.
TABLES = b"""
    create table app.wheel (
        id bigint primary key, body text, point point, ratio double precision, share real, seen timestamptz,
        wait interval, proof bytea, days daterange, odd double precision[]
    );
    insert into app.wheel
    select
        id, 'The mill paid 30 \xe2\x82\xac for wheel ' || id || ' in Malaga.', point(1.25, 2.123), 1234.5678901234 * id,
        0.87, '2026-03-04 05:06:07.5+00', 'P1DT2H3M4.5S', decode('00ff', 'hex'), daterange('2026-03-04', '2026-05-06'),
        array[1.25, null]
    from generate_series(1, 3) as id;
    create table app.letter (id uuid primary key, body text);
    insert into app.letter values ('0d9d3a58-0f7f-4a5b-8a52-1f5a2f9f5b11', 'The mill wrote on paper.');
    create table app.note (id varchar primary key, body text);
    insert into app.note values ('{a b"}', 'The mill has a note.')
"""
# What workers stored, but for moments and durations.
STORED = (
    "select id, content, title, metadata, readers from pgclarify.document order by 1",
    "select document_id, ordinal, heading, content, start_char, end_char from pgclarify.passage order by 1, 2",
    "select run_id, operation, status, question, settings, completions, prompt_tokens, cost_usd from pgclarify.run"
    " order by 1",
    "select run_id, rank, document_id, score::text, origin from pgclarify.candidate order by 1, 2",
    "select run_id, rank, outcome, answer, quote, score::text from pgclarify.verdict order by 1, 2",
    "select run_id, ordinal, interpretation, answer, cohesion::text from pgclarify.interpretation order by 1, 2",
    "select encode(input_hash, 'hex'), purpose, reply from pgclarify_private.completion order by 1",
    "select encode(reuse_key, 'hex') from pgclarify_private.run where reuse_key is not null order by 1",
    "select figure, value::text, low::text, high::text from pgclarify.evaluation where figure !~ 'seconds' order by 1",
    "select relation_name, state, id_prefix, error from pgclarify_private.source order by 1",
)
CASE = {
    "id": "hail",
    "question": "How high is the deductible after hail?",
    "answers": ["by hail"],
    "documents": ["102"],
}


def set_for_all_sessions(superuser: Connection, kind: str, name: str) -> None:
    """Change the settings for new sessions of a database or of a role."""
    for setting, value in OF_ALL_SESSIONS.items():
        change = sql.SQL("alter {} {} set {} = {}")
        superuser.execute(
            change.format(sql.SQL(kind), sql.Identifier(name), sql.Identifier(setting), sql.Literal(value))
        )


@contextmanager
def session_without_settings(dsn: str) -> Iterator[Connection]:
    """A superuser's session with the settings that PostgreSQL comes with."""
    with closing(psycopg.connect(dsn, autocommit=True)) as session:
        for name in OF_ALL_SESSIONS:
            value = (
                "UTF8"
                if name == "client_encoding"
                else scalar(session, "select boot_val from pg_settings where name = %s", name)
            )
            session.execute("select set_config(%s, %s, false)", [name, value])
        yield session


def plain(value: Any) -> Any:
    """What JSON makes of records, without moments, durations, and what the doctor says of this database and moment."""
    told = json.loads(json.dumps(value, default=str))
    return _without(told, re.compile("_at$|seconds|^(database|embedding_models|finding|relation)$"))


def _without(value: Any, names: re.Pattern[str]) -> Any:
    if isinstance(value, dict):
        return {name: _without(held, names) for name, held in value.items() if not names.search(name)}
    return [_without(held, names) for held in value] if isinstance(value, list) else value


def ask_everything(dsn: str, folder: Path, base_url: str) -> dict[str, Any]:
    """What clients, commands and functions tell a role about the corpus, and about its own table."""
    told: dict[str, Any] = {}
    with pgclarify.connect(dsn, corpus="rental") as client:
        readings = client.clarify("what does a rental cost", top_k=12)
        told["clarify"] = [asdict(reading) for reading in readings]
        told["result"] = [asdict(reading) for reading in client.result(readings[0].run_id)]
        told["again"] = [asdict(reading) for reading in client.clarify("what does a rental cost", top_k=12)]
        told["search"] = [asdict(found) for found in client.search("hail", top_k=5)]
        told["lexical"] = [asdict(found) for found in client.search("rental car fee", top_k=9, method="lexical")]
        told["neighbors"] = [
            asdict(near)
            for near in client.neighbors(told["search"][0]["document_id"], told["search"][0]["passage_id"], k=3)
        ]
        told["investigate"] = asdict(client.investigate("What is due for hail, and for smoking?"))
        told["estimate"] = asdict(client.estimate(["what is it", "what does a rental cost"]))
        told["corpora"] = [asdict(status) for status in client.corpora()]
        told["judged"] = asdict(client.detect_ambiguity("Is it far?"))
        run_id = client.submit("clarify", "rental fees", top_k=3)
        client.wait([run_id])
        # They come in the order of the decisions, and two decisions may come at the same time.
        told["verdicts"] = sorted((asdict(verdict) for verdict in client.verdicts(run_id)), key=itemgetter("rank"))
        told["explained"] = len(str(client.explain(run_id)).splitlines())

    async def awaited() -> Any:
        async with pgclarify.connect_async(dsn, corpus="rental") as client:
            return [asdict(reading) for reading in await client.clarify("what does a rental cost", top_k=12)]

    told["awaited"] = asyncio.run(awaited())
    # A client gets the connection of an application.
    with closing(psycopg.connect(dsn, autocommit=True)) as session:
        told["borrowed"] = [asdict(status) for status in pgclarify.Client(session).corpora()]
        told["sql"] = session.execute(
            "select interpretation, answer, support, citations"
            " from pgclarify.clarify('what does a rental cost', 'rental', top_k => 12)"
        ).fetchall()
    (folder / "ours.jsonl").write_text(json.dumps(CASE))
    commands = (
        ("search", "hail", "-c", "rental", "--json"),
        ("ask", "what does a rental cost", "-c", "rental", "--top-k", "12", "--json"),
        ("doctor", "--json"),
        ("eval", "run", "ours.jsonl", "-c", "rental", "-o", "top_k=4", "--yes", "--json"),
        ("eval", "list", "--json"),
    )
    for command in commands:
        done = run_command(*command, variables=environment(dsn, base_url), folder=folder)
        # One object a line, or one in all.
        lines = [done.stdout] if command[0] == "doctor" else done.stdout.splitlines()
        told[" ".join(command)] = [done.returncode, done.stderr, *map(json.loads, lines)]
    done = run_command(
        "explain", str(run_id), "--html", "page.html", variables=environment(dsn, base_url), folder=folder
    )
    assert done.returncode == 0, done.stderr
    return told


def main_path(dsn: str, works: str, owns: str, run_worker: StartWorker, model: Server, folder: Path) -> dict[str, Any]:
    """Carry out the main path in a database; return what is told and what is stored."""
    with session_without_settings(dsn) as superuser:
        superuser.execute(f"create schema app authorization {owns}".encode())
        superuser.execute(
            "insert into pgclarify.model_price (model, input_usd, output_usd) values (%s, 0.1234567, 0.7654321)",
            [MODEL],
        )
    run_worker(dsn, model.base_url, user=works)
    with closing(psycopg.connect(dsn, user=owns, autocommit=True)) as session:
        load(session)
        session.execute("select pgclarify.create_corpus('tables')")
        for statement in TABLES.split(b";"):
            session.execute(b"set client_encoding = utf8")
            session.execute(statement)
        session.execute("reset client_encoding")
        metadata = ["point", "ratio", "share", "seen", "wait", "proof", "days", "odd"]
        for table, options in (("wheel", {"metadata": metadata}), ("letter", {}), ("note", {})):
            session.execute(
                "select pgclarify.attach_table('tables', %s::regclass, 'id', 'body', %s)",
                [f"app.{table}", json.dumps(options | {"id_prefix": f"{table}:"})],
            )
    with session_without_settings(dsn) as superuser:
        wait_until_searchable(superuser)
        wait_until_linked(superuser)
        until(
            lambda: scalar(
                superuser, "select documents = 5 and pending = 0 from pgclarify.corpus where corpus = 'tables'"
            )
        )
        superuser.execute(
            "select pgclarify.set_budget('small', options => %s)",
            [json.dumps({"role": owns, "period": "month", "max_cost_usd": 0.7, "max_calls": 1000})],
        )
    with closing(psycopg.connect(dsn, user=owns, autocommit=True)) as session:
        # Triggers note the change.
        session.execute("update app.wheel set body = body || '!' where id = 2")
    with session_without_settings(dsn) as superuser:
        until(lambda: scalar(superuser, "select right(content, 1) = '!' from pgclarify.document where id = 'wheel:2'"))
        until(lambda: scalar(superuser, "select pending = 0 from pgclarify.corpus where corpus = 'tables'"))
        wait_until_linked(superuser, "tables")
    told = ask_everything(as_role(dsn, owns), folder, model.base_url)
    with session_without_settings(dsn) as superuser:
        stored = [superuser.execute(query.encode()).fetchall() for query in STORED]
    return {"told": told, "stored": stored}


def test_the_main_path_does_not_depend_on_settings_of_all_sessions(
    installed: Callable[..., Any],
    make_role: MakeRole,
    own_model: Server,
    run_worker: StartWorker,
    tmp_path: Path,
    subtests: pytest.Subtests,
) -> None:
    works, owns = make_role("pgclarify_worker"), make_role("pgclarify_user")
    with installed() as dsn:
        expected = main_path(dsn, works, owns, run_worker, own_model, tmp_path)
    # Those of the roles stay.
    for whose in ("the database's", "the roles'"):
        with subtests.test(whose), installed() as dsn:
            with closing(psycopg.connect(dsn, autocommit=True)) as superuser:
                if whose == "the database's":
                    set_for_all_sessions(superuser, "database", superuser.info.dbname)
                else:
                    for role in (works, owns):
                        set_for_all_sessions(superuser, "role", role)
            found = main_path(dsn, works, owns, run_worker, own_model, tmp_path)
            assert plain(found["stored"]) == plain(expected["stored"])
            assert plain(found["told"]) == plain(expected["told"])


def test_an_install_does_not_depend_on_settings_of_the_database(make_database: Callable[..., str]) -> None:
    plain_one, changed = make_database(), make_database()
    with closing(psycopg.connect(changed, autocommit=True)) as superuser:
        set_for_all_sessions(superuser, "database", superuser.info.dbname)
    install(plain_one)
    install(changed)

    with session_without_settings(plain_one) as first, session_without_settings(changed) as second:
        assert catalog.everything(second) == catalog.everything(first)
