"""The files of CREATE EXTENSION pgclarify: a control file, and a script made from what init applies."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

from alembic import command
from alembic.config import Config
from psycopg import sql

from pgclarify.install.revisions import config_of, create
from pgclarify.install.roles import LACKING, MEMBERSHIPS, ROLES, SCHEMA_GRANTS, SCHEMAS
from pgclarify.install.shipped import shipped_hash, sql_files
from pgclarify.install.table_readers import role_maker_statements
from pgclarify.install.tables import comments

VERSION = version("pgclarify")
# Earlier releases that had the extension, and the revision of the tables of each. A release adds the one before it.
EARLIER = {"0.2.0": "v0_2_0", "0.3.0": "v0_3_0"}
_CONTROL = f"""\
comment = 'the readings of a vague question that documents really answer'
default_version = '{VERSION}'
requires = 'vector, dblink'
schema = pg_catalog
relocatable = false
superuser = true
encoding = 'UTF8'
"""
_ONLY_IN_AN_EXTENSION = '\\echo Use "create extension pgclarify" to load this file. \\quit'
# Another database of the server may be creating the same role.
_ROLE = """
do $$
begin
    if not exists (select from pg_roles where rolname = '{role}') then
        create role {role} {attributes};
    end if;
exception
    when duplicate_object or unique_violation then
        null;
end
$$"""
_MEND = f"""
do $$
declare
    v_statement text;
begin
    for v_statement in {LACKING}
    loop
        execute v_statement;
    end loop;
end
$$"""

# As functions.py applies a file: an internal function that has another result type now is renamed first, because views
# and policies may depend on it until later files replace them.
_REPLACE = """
do $replace$
declare
    v_hint text;
    v_in_the_way regprocedure;
begin
    loop
        begin
            execute $of_this_version$
{text}
$of_this_version$;
            exit;
        exception
            when invalid_function_definition then
                get stacked diagnostics v_hint = pg_exception_hint;
                v_in_the_way := substring(v_hint from 'pgclarify_private[.][a-z0-9_]+[(].*[)]');
                if v_in_the_way is null then
                    raise;
                end if;
                execute format('alter routine %s rename to replaced_%s', v_in_the_way, v_in_the_way::oid);
        end;
    end loop;
end
$replace$;
"""


def extension_files() -> dict[str, str]:
    """Return the files of the extension: their names, and their texts."""
    return {
        "pgclarify.control": _CONTROL,
        f"pgclarify--{VERSION}.sql": _script(_creation()),
    } | {f"pgclarify--{earlier}--{VERSION}.sql": _script(_update(revision)) for earlier, revision in EARLIER.items()}


def write_files(folder: Path) -> list[Path]:
    """Write the files into a folder, and return their paths."""
    paths = []
    for name, text in extension_files().items():
        path = folder / name
        path.write_text(text, encoding="utf-8")
        paths.append(path)
    return paths


def _script(parts: Iterator[str]) -> str:
    settings = (
        "set local search_path = pg_catalog, pg_temp",
        f"set local pgclarify.shipped_hash = '{shipped_hash()}'",
        f"set local pgclarify.schemas = '{','.join(SCHEMAS)}'",
    )
    return "\n\n".join([_ONLY_IN_AN_EXTENSION, *map(_statement, settings), *parts]) + "\n"


def _creation() -> Iterator[str]:
    """Yield the parts of the script that creates everything, as a superuser and as the roles that own it."""
    yield part("new")
    yield part("check")
    yield from map(_statement, _roles())
    yield from map(_statement, _schemas())
    yield part("open_schemas")
    yield from map(
        _statement,
        (
            *(statement.as_string(None) for statement in role_maker_statements()),
            "set local role none",
            "revoke all on schema pgclarify_private from pgclarify_role_maker",
            "set local role pgclarify_owner",
        ),
    )
    yield _tables(lambda config: create(config, as_script=True))
    yield from (text for _, text in sql_files())
    yield part("applied_sql")
    yield _statement("set local role none")
    yield part("keys")
    yield part("settle")
    yield part("register")
    yield part("notice")


def _update(revision: str) -> Iterator[str]:
    """Yield the parts of a script that updates tables from a revision, and replaces functions, views and policies."""
    yield part("check")
    yield part("lock_tables")
    yield from map(_statement, _roles())
    yield _statement("set local role pgclarify_owner")
    yield _tables(lambda config: command.upgrade(config, f"{revision}:head", sql=True))
    # Only now, because a migration may write bodies anew.
    yield part("note_routines")
    yield comments()
    yield from (_REPLACE.format(text=text) for _, text in sql_files())
    yield part("drop_left_over")
    yield part("applied_sql")
    yield _statement("set local role none")
    yield part("settle")
    yield part("register")


def _roles() -> Iterator[str]:
    for role, attributes in ROLES.items():
        yield _ROLE.format(role=role, attributes=attributes)
    yield _MEND
    for granted, member, _ in MEMBERSHIPS:
        yield f"grant {granted} to {member} with inherit true, set true"


def _schemas() -> Iterator[str]:
    for schema, comment in SCHEMAS.items():
        yield f"create schema {schema} authorization pgclarify_owner"
        yield f"comment on schema {schema} is {sql.Literal(comment).as_string(None)}"
    for right, schema, role in SCHEMA_GRANTS:
        yield f"grant {right} on schema {schema} to {role}"


def _tables(write: Callable[[Config], None]) -> str:
    """Return what a command of Alembic writes, with the row that says which revision is installed."""
    script = io.StringIO()
    write(config_of(output_buffer=script))
    return script.getvalue()


def part(name: str) -> str:
    """Return the statements of a file beside this one."""
    return (files("pgclarify.install.create_extension") / f"{name}.sql").read_text(encoding="utf-8")


def _statement(text: str) -> str:
    return text.strip() + ";"
