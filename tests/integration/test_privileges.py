"""Privileges: PUBLIC has none, and each role has those that it needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest

pytestmark = pytest.mark.rolled_back

OURS = (
    "('pgclarify'::regnamespace, 'pgclarify_private'::regnamespace, 'pgclarify_queue'::regnamespace,"
    " 'pgclarify_capture'::regnamespace)"
)

Connect = Callable[..., psycopg.Connection[Any]]
MakeRole = Callable[..., str]

# Types are left out: USAGE is PostgreSQL's default for PUBLIC, and is worth nothing without functions that use them.
PUBLIC_HAS = f"""
    with acl (object, privileges) as (
        select 'schema ' || n.nspname, coalesce(n.nspacl, acldefault('n', n.nspowner))
        from pg_namespace as n
        where starts_with(n.nspname, 'pgclarify')
        union all
        select 'relation ' || c.oid::regclass,
            coalesce(c.relacl, acldefault(case c.relkind when 'S' then 's' else 'r' end::"char", c.relowner))
        from pg_class as c
        where c.relnamespace in {OURS} and c.relkind in ('r', 'p', 'v', 'S')
        union all
        select 'column ' || c.oid::regclass || '.' || a.attname, a.attacl
        from pg_class as c
        join pg_attribute as a on a.attrelid = c.oid
        where c.relnamespace in {OURS} and a.attacl is not null
        union all
        select 'routine ' || p.oid::regprocedure, coalesce(p.proacl, acldefault('f', p.proowner))
        from pg_proc as p
        where p.pronamespace in {OURS}
    )
    select acl.object || ': ' || granted.privilege_type
    from acl, aclexplode(acl.privileges) as granted
    where granted.grantee = 0
"""  # noqa: S608 - a constant

# The functions that each role may execute by grants to itself or to its groups.
MAY_EXECUTE = f"""
    select p.oid::regprocedure::text
    from pg_proc as p
    where p.pronamespace in {OURS} and has_function_privilege(%s, p.oid, 'execute')
"""  # noqa: S608 - a constant
MAY_SELECT = f"""
    select c.oid::regclass::text
    from pg_class as c
    where c.relnamespace in {OURS} and c.relkind in ('r', 'p', 'v', 'S')
        and has_schema_privilege(%(role)s, c.relnamespace, 'usage')
        and case when c.relkind = 'S' then has_sequence_privilege(%(role)s, c.oid, 'usage, select, update')
            else has_table_privilege(%(role)s, c.oid, 'select, insert, update, delete, truncate, references, trigger')
                or has_any_column_privilege(%(role)s, c.oid, 'select, insert, update, references')
            end
"""  # noqa: S608 - a constant


def listed(connection: psycopg.Connection[Any], query: str, *parameters: object) -> set[str]:
    return {row[0] for row in connection.execute(query.encode(), parameters)}


def executable(connection: psycopg.Connection[Any], role: str) -> set[str]:
    return listed(connection, MAY_EXECUTE, role)


def readable(connection: psycopg.Connection[Any], role: str) -> set[str]:
    return {row[0] for row in connection.execute(MAY_SELECT.encode(), {"role": role})}


def test_nothing_is_left_to_public(connection: psycopg.Connection[Any]) -> None:
    connection.execute("select pgclarify.create_corpus('insurance'), pgclarify_private.open_space(1, 4)")

    assert listed(connection, PUBLIC_HAS) == set()


def test_what_is_left_to_public_is_found(connection: psycopg.Connection[Any]) -> None:
    connection.execute("""
        grant usage on schema pgclarify_queue to public;
        grant select on pgclarify_private.run to public;
        grant select (name) on pgclarify_private.corpus to public;
        grant usage on sequence pgclarify_private.passage_id_seq to public;
        create function pgclarify.deed() returns void language sql as '';
    """)

    assert listed(connection, PUBLIC_HAS) == {
        "schema pgclarify_queue: USAGE",
        "relation pgclarify_private.run: SELECT",
        "column pgclarify_private.corpus.name: SELECT",
        "relation pgclarify_private.passage_id_seq: USAGE",
        "routine pgclarify.deed(): EXECUTE",
    }


def test_functions_that_the_owner_makes_later_are_nobody_elses(connection: psycopg.Connection[Any]) -> None:
    connection.execute("set role pgclarify_owner")
    connection.execute("create function pgclarify.deed() returns void language sql as ''")

    assert listed(connection, PUBLIC_HAS) == set()


def test_nobody_has_nothing(connection: psycopg.Connection[Any], connect: Connect, make_role: MakeRole) -> None:
    nobody = make_role()

    assert executable(connection, nobody) == set()
    assert readable(connection, nobody) == set()
    for attempt in (
        "select pgclarify.create_corpus('insurance')",
        "select * from pgclarify.corpus",
        "select pgclarify_queue.procrastinate_cancel_job_v1(1, false, true)",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connect(nobody).execute(attempt.encode())


def test_who_reads_users_tables_has_no_other_rights(connection: psycopg.Connection[Any]) -> None:
    connection.execute("select pgclarify.create_corpus('insurance'), pgclarify_private.open_space(1, 4)")
    connection.execute("create table article (id integer primary key, body text)")
    connection.execute("select pgclarify.attach_table('insurance', 'article', 'id', 'body')")
    (role,) = listed(connection, "select pgclarify_private.table_reader_of('article'::regclass)::text")

    read = role.replace("pgclarify_reads", "pgclarify_private.read")
    assert executable(connection, role) == {f"{read}(text,text[],text[],integer,bigint)"}
    assert readable(connection, role) == set()
    for schema in ("pgclarify", "pgclarify_queue", "pgclarify_capture", "pgclarify_dblink", "public"):
        may_create, may_use = connection.execute(
            "select has_schema_privilege(%(role)s, %(schema)s, 'create'),"
            " has_schema_privilege(%(role)s, %(schema)s, 'usage')",
            {"role": role, "schema": schema},
        ).fetchall()[0]
        assert (may_create, may_use) == (False, schema == "public")
    assert connection.execute(
        "select rolsuper, rolinherit, rolcreaterole, rolcreatedb, rolcanlogin, rolreplication, rolbypassrls"
        " from pg_roles where rolname = %s",
        [role],
    ).fetchone() == (False, True, False, False, False, False, False)
    groups = "select roleid::regrole::text from pg_auth_members where member = %s::regrole"
    assert listed(connection, groups, role) == set()
    members = "select member::regrole::text from pg_auth_members where roleid = %s::regrole"
    # Its creator may drop it, but can neither switch to it nor use its rights.
    assert listed(connection, members, role) <= {"pgclarify_owner", "pgclarify_role_maker"}
    for right in ("set", "usage"):
        has_it = "select pg_has_role('pgclarify_role_maker', %s, %s)"
        assert connection.execute(has_it, [role, right]).fetchone() == (False,)
    # It owns only this function.
    assert connection.execute(
        "select count(*) from pg_shdepend where refobjid = %s::regrole and deptype = 'o'"
        " and dbid = (select oid from pg_database where datname = current_database())",
        [role],
    ).fetchone() == (1,)
    for other in ("pgclarify_reader", "pgclarify_user", "pgclarify_worker", "pgclarify_loopback"):
        assert not {name for name in executable(connection, other) if "_select_" in name or "._read_" in name}


def test_who_makes_roles_does_nothing_else(connection: psycopg.Connection[Any]) -> None:
    role = "pgclarify_role_maker"

    assert executable(connection, role) == {
        "pgclarify_private.make_reader_role(oid)",
        "pgclarify_private.drop_reader_role(name)",
    }
    assert readable(connection, role) == set()
    for schema in ("pgclarify", "pgclarify_queue"):
        for right in ("create", "usage"):
            may = "select has_schema_privilege(%s::name, %s, %s)"
            assert connection.execute(may, [role, schema, right]).fetchone() == (False,)
    assert connection.execute(
        "select rolsuper, rolcreatedb, rolcanlogin, rolreplication, rolbypassrls, rolcreaterole from pg_roles"
        " where rolname = %s",
        [role],
    ).fetchone() == (False, False, False, False, False, True)
    members = "select member::regrole::text from pg_auth_members where roleid = %s::regrole"
    assert listed(connection, members, role) == set()
    for other in ("pgclarify_reader", "pgclarify_user", "pgclarify_worker", "pgclarify_loopback"):
        assert not {name for name in executable(connection, other) if "_reader_role" in name}


def test_a_reader_can_start_nothing_and_spend_nothing(connection: psycopg.Connection[Any], make_role: MakeRole) -> None:
    reader = make_role("pgclarify_reader")

    assert executable(connection, reader) == {
        "pgclarify_private.is_among(name,oid,oid[])",
        "pgclarify_private.may_search(name,name,oid,name[])",
        "pgclarify_private.role_mark(oid)",
        "pgclarify_private.may_see_everything()",
        "pgclarify_private.my_role_oids()",
        "pgclarify_private.my_roles()",
        "pgclarify_private.requester_revision(pgclarify_private.caller,bigint)",
        "pgclarify_private.asked(text,jsonb)",
        "pgclarify_private.is_over_budget(text)",
        "pgclarify_private.stop_codes()",
        "pgclarify_private.quote_position(text,text,integer)",
        "pgclarify_private.corpus_statuses(pgclarify_private.caller)",
        "pgclarify_private.source_statuses(pgclarify_private.caller)",
        "pgclarify_private.worker_statuses()",
        "pgclarify_private.queue_counts()",
        "pgclarify_private.reserved_now(pgclarify_private.caller)",
        "pgclarify_private.period_start(text,timestamp with time zone,timestamp with time zone)",
        "pgclarify.get_document(text,text)",
        "pgclarify.help(text)",
        "pgclarify_private.help(text)",
        "pgclarify_private.get_document(pgclarify_private.caller,text,text)",
        "pgclarify.neighbors(text,text,bigint,integer)",
        "pgclarify_private.neighbors(pgclarify_private.caller,text,text,bigint,integer)",
        "pgclarify_private.edge_corpora(pgclarify_private.caller)",
        "pgclarify_private.edges(pgclarify_private.caller,bigint)",
        "pgclarify.explain(bigint,jsonb)",
        "pgclarify_private.explain(pgclarify_private.caller,bigint,jsonb)",
        "pgclarify.result(bigint)",
        "pgclarify_private.result_rows(pgclarify_private.caller,bigint,text)",
        "pgclarify_private.evaluation_cases(pgclarify_private.caller,bigint)",
        "pgclarify_private.evaluations(pgclarify_private.caller)",
        "pgclarify_private.readable_passages(pgclarify_private.caller,bigint,text[],bigint[])",
    }
    assert readable(connection, reader) == {
        "pgclarify.ambiguity_rule",
        "pgclarify.asked_question",
        "pgclarify.budget",
        "pgclarify.candidate",
        "pgclarify.citation",
        "pgclarify.clarifying_question",
        "pgclarify.conversation_turn",
        "pgclarify.corpus",
        "pgclarify.detection",
        "pgclarify.document",
        "pgclarify.edge",
        "pgclarify.estimate",
        "pgclarify.evaluation",
        "pgclarify.finding",
        "pgclarify.interpretation",
        "pgclarify.investigation_step",
        "pgclarify.listed_answer",
        "pgclarify.model_price",
        "pgclarify.passage",
        "pgclarify.queue_status",
        "pgclarify.rewriting",
        "pgclarify.run",
        "pgclarify.source_status",
        "pgclarify.stale_answer",
        "pgclarify.usage",
        "pgclarify.verdict",
        "pgclarify.worker_status",
        "pgclarify_private.applied_sql",
        "pgclarify_private.caller",
        "pgclarify_private.my_changed_name",
        "pgclarify_private.schema_version",
        "pgclarify_private.seen_stage",
    }


def test_nobody_who_reads_may_write(connection: psycopg.Connection[Any]) -> None:
    writable = connection.execute(f"""
        select r.rolname, c.oid::regclass::text
        from pg_class as c, pg_roles as r
        where c.relnamespace in {OURS} and c.relkind in ('r', 'p', 'v')
            and r.rolname in ('pgclarify_reader', 'pgclarify_user', 'pgclarify_loopback', 'pgclarify_worker')
            and has_table_privilege(r.oid, c.oid, 'insert, update, delete, truncate, references, trigger')
            and c.relnamespace in ('pgclarify'::regnamespace, 'pgclarify_private'::regnamespace)
    """).fetchall()  # noqa: S608 - a constant

    # A worker copies its passages there; everything else goes through functions.
    assert set(writable) == {("pgclarify_worker", "pgclarify_private.staged_passage")}


def test_every_table_that_a_reader_reads_is_guarded(connection: psycopg.Connection[Any]) -> None:
    unguarded = {
        name
        for name in readable(connection, "pgclarify_reader")
        if connection.execute(
            "select relkind in ('r', 'p') and not relrowsecurity from pg_class where oid = %s::regclass", [name]
        ).fetchone()
        == (True,)
    }

    assert unguarded == {"pgclarify_private.applied_sql", "pgclarify_private.schema_version"}


def test_a_user_may_execute_public_functions_and_those_that_ask_for_proof(
    connection: psycopg.Connection[Any], make_role: MakeRole
) -> None:
    user = make_role("pgclarify_user")
    more = executable(connection, user) - executable(connection, "pgclarify_reader")

    public = {name for name in more if name.startswith("pgclarify.")}
    internal = more - public
    assert {name.partition("(")[0].removeprefix("pgclarify.") for name in public} == {
        "add_ambiguity_rule",
        "add_document",
        "alter_corpus",
        "attach_table",
        "cancel",
        "clarify",
        "clarify_many",
        "clarifying_questions",
        "consolidate",
        "create_corpus",
        "detach_table",
        "detect_ambiguity",
        "distribute",
        "drop_corpus",
        "erase_document",
        "estimate",
        "grant_access",
        "investigate",
        "list_answers",
        "remove_ambiguity_rule",
        "remove_budget",
        "remove_document",
        "reply",
        "resync",
        "revoke_access",
        "rewrite",
        "search",
        "set_budget",
        "submit",
        "submit_many",
        "wait",
    }
    assert internal
    unproven = {name for name in internal if not name.partition("(")[2].startswith("pgclarify_private.caller")}
    assert unproven == set()
    assert readable(connection, user) == readable(connection, "pgclarify_reader")


def test_public_functions_run_as_who_calls_them(connection: psycopg.Connection[Any]) -> None:
    definers = listed(
        connection,
        """
        select p.proname::text from pg_proc as p
        where p.pronamespace = 'pgclarify'::regnamespace and p.prosecdef
        """,
    )

    assert definers == set()


def test_a_worker_may_do_its_work_and_not_ask(connection: psycopg.Connection[Any], make_role: MakeRole) -> None:
    worker = make_role("pgclarify_worker")
    ours = {name for name in executable(connection, worker) if name.startswith(("pgclarify.", "pgclarify_private."))}

    assert {name.partition("(")[0].removeprefix("pgclarify_private.") for name in ours} >= {
        "register_worker",
        "open_space",
        "claim_documents",
        "store_documents",
        "start_run",
        "find_passages",
        "finish_run",
        "claim_completions",
        "store_completions",
    }
    assert {name for name in ours if name.startswith("pgclarify.")} == set()
    assert not {name for name in ours if "caller" in name or "loopback" in name or ".sign" in name}
    assert {name for name in readable(connection, worker) if name.startswith("pgclarify") and "queue" not in name} == {
        "pgclarify_private.applied_sql",
        "pgclarify_private.schema_version",
        "pgclarify_private.staged_passage",
    }


def test_keys_are_the_owners_alone(connection: psycopg.Connection[Any]) -> None:
    for secret in ("pgclarify_private.caller_key", "pgclarify_private.loopback"):
        acl = connection.execute("select relacl::text from pg_class where oid = %s::regclass", [secret]).fetchone()
        assert acl == (None,)
    for role in ("pgclarify_reader", "pgclarify_user", "pgclarify_worker", "pgclarify_loopback"):
        assert "pgclarify_private.sign(text)" not in executable(connection, role)
