"""The functions with other rights than their caller's: who may call them, and what they name.

`python -m tests.migration.definers` writes the list again, so that a person can review the changes.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from pglast import ast, parse_plpgsql, parse_sql
from pglast.visitors import Ancestor, Skip, Visitor

from pgclarify import embedded
from pgclarify.install.installer import install

LIST = Path(__file__).with_name("definer_functions.txt")
_HEAD = """\
# Every SECURITY DEFINER function. Written by: python -m tests.migration.definers
# as: the owner, whose rights it runs with, if that is not pgclarify_owner. by: who may execute it besides. path: its
# search_path, if that is not "pg_catalog, pg_temp". body: its language, if that is not plpgsql; "bound" was parsed when
# it was made, so that its names are found. Of other bodies a test checks that each relation is named with its schema,
# or found before pg_temp.

"""
_FUNCTIONS = """
    select
        p.oid::regprocedure::text,
        p.proowner::regrole::text,
        array(
            select case granted.grantee when 0 then 'public' else granted.grantee::regrole::text end
            from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) as granted
            where granted.grantee <> p.proowner
            order by 1
        ),
        (
            select regexp_split_to_array(substring(setting from '=(.*)'), ', *')
            from unnest(p.proconfig) as setting
            where setting like 'search_path=%'
        ),
        l.lanname,
        p.prosqlbody is not null,
        pg_get_functiondef(p.oid)
    from pg_proc as p
    join pg_language as l on l.oid = p.prolang
    where p.prosecdef and starts_with(p.pronamespace::regnamespace::text, 'pgclarify')
        -- dblink's own, which are granted to nobody.
        and not exists (
            select from pg_depend as d
            where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e'
        )
    order by p.oid::regprocedure::text collate "C"
"""
# A text in a body that becomes a statement, or a part of one.
_SQL = re.compile(r"\s*(with|select|insert|update|delete|merge|truncate|lock|from|inner join)\s+\S")


@dataclass(frozen=True)
class Definer:
    """One function.

    Attributes:
        signature: As PostgreSQL writes it.
        owner: The role as which it runs.
        grantees: Other roles that may execute it.
        path: Its search_path; None if it has none.
        language: The language of its body.
        is_bound: True if the body was parsed when the function was made.
        definition: The statement that creates it.
    """

    signature: str
    owner: str
    grantees: tuple[str, ...]
    path: tuple[str, ...] | None
    language: str
    is_bound: bool
    definition: str

    def line(self) -> str:
        """The entry in the list."""
        body = "bound" if self.is_bound else self.language
        told = [
            ("as", self.owner, "pgclarify_owner"),
            ("by", ", ".join(self.grantees), ""),
            ("path", ", ".join(self.path or ("none",)), "pg_catalog, pg_temp"),
            ("body", body, "plpgsql"),
        ]
        return " ".join([self.signature, *(f"{name}: {value}" for name, value, usual in told if value != usual)])

    def unqualified(self) -> set[str]:
        """Relations that the body, or a text in it that becomes a statement, names without a schema."""
        if self.is_bound:
            return set()
        names = _Names()
        # The parser knows only types of pg_catalog and public, and no arrays of rows.
        known = re.sub(r"\b(pgclarify\w*\.\w+|(public\.)?halfvec)\[\]", "text[]", self.definition)
        for expression in _expressions(parse_plpgsql(re.sub(r"\bpgclarify\w*\.", "public.", known))):
            names.read(expression)
        return names.relations - names.of_with


class _Names(Visitor):
    """Collects names from statements: of relations without a schema, and of queries in WITH."""

    def __init__(self) -> None:
        self.relations: set[str] = set()
        self.of_with: set[str] = set()

    def read(self, statement: str) -> None:
        self(parse_sql(statement))

    def visit_RangeVar(self, _: Ancestor, node: ast.RangeVar) -> None:  # noqa: N802
        if not node.schemaname:
            self.relations.add(str(node.relname))

    def visit_CommonTableExpr(self, _: Ancestor, node: ast.CommonTableExpr) -> None:  # noqa: N802
        self.of_with.add(str(node.ctename))

    def visit_LockingClause(self, *_: object) -> type[Skip]:  # noqa: N802
        """FOR UPDATE OF names relations of FROM again, by their aliases."""
        return Skip

    def visit_A_Const(self, _: Ancestor, node: ast.A_Const) -> None:  # noqa: N802
        text = str(node.val.sval) if isinstance(node.val, ast.String) else ""
        if _SQL.match(text):
            self.read(_statement(text))


def _statement(text: str) -> str:
    """A statement that names what a text names. The text may be the input of format."""
    for pattern, replacement in (
        (r"\(\s*%(\d+\$)?s\s*\)", "((select))"),  # an expression, or a subquery
        (r"(?m)^\s*%(\d+\$)?s$", ""),  # a clause on a line of its own
        (r"%(\d+\$)?[sIL]", "dynamic.name"),
        (r"from \(\Z", ""),  # the beginning of a subquery
        (r"^\s*(?=from\b)", "select "),
        (r"^\s*(?=inner join\b)", "select from dynamic.name "),
    ):
        text = re.sub(pattern, replacement, text)
    return text


def _expressions(parsed: Any) -> Iterator[str]:
    """The statements in a parsed function. Its expressions are shown as SELECT."""
    if isinstance(parsed, list):
        for part in parsed:
            yield from _expressions(part)
    elif isinstance(parsed, dict):
        query, mode = parsed.get("query"), parsed.get("parseMode", 0)
        if isinstance(query, str):
            # 0 is a statement, 2 an expression, and larger numbers are assignments.
            yield query if mode == 0 else "select " + (query if mode == 2 else query.split(":=", 1)[1])
        yield from _expressions([*parsed.values()])


def definers(connection: psycopg.Connection[Any]) -> list[Definer]:
    """All functions, by signature."""
    return [
        Definer(signature, owner, tuple(grantees), tuple(path) if path else None, language, is_bound, definition)
        for signature, owner, grantees, path, language, is_bound, definition in connection.execute(_FUNCTIONS)
    ]


def listed(functions: list[Definer]) -> str:
    """The text of the list."""
    return _HEAD + "".join(f"{function.line()}\n" for function in functions)


def main() -> None:
    """Write the list for the schema of this checkout."""
    with tempfile.TemporaryDirectory(prefix="pgclarify-definers-") as name:
        data_dir = Path(name) / "data"
        dsn = embedded.start(data_dir)
        try:
            install(dsn)
            with closing(psycopg.connect(dsn, autocommit=True)) as connection:
                attach(connection)
                LIST.write_text(listed(definers(connection)))
        finally:
            embedded.stop(data_dir)


def attach(connection: psycopg.Connection[Any]) -> None:
    """Attach a table, because its triggers call a function that is made for it."""
    connection.execute("select pgclarify.create_corpus('kb')")
    connection.execute("create table public.article (id bigint primary key, body text)")
    connection.execute("select pgclarify.attach_table('kb', 'public.article', 'id', 'body')")


if __name__ == "__main__":
    main()
