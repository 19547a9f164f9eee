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
        p.prosrc
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
_TOKEN = re.compile(
    r"--[^\n]*|/\*.*?\*/"
    r"|(?P<text>[eE]?'(?:[^']|'')*'|(?P<dollar>\$\w*\$).*?(?P=dollar))"
    r'|(?P<name>(?:[A-Za-z_]\w*|"(?:[^"]|"")*")(?:\s*\.\s*(?:[A-Za-z_]\w*|"(?:[^"]|"")*"|\*))*)'
    r"|(?P<other>:=|=>|<<|>>|\S)",
    re.DOTALL,
)
# Functions whose arguments use FROM without a relation: extract(year from v_day).
_CALLS_WITH_FROM = {"extract", "substring", "trim", "overlay", "btrim"}
_BEFORE_RELATION = {"only", "lateral", "table"}
_IN_MEMBER = {"(", "as", "with", "ordinality"}


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
        body: Its text; empty if it is bound.
    """

    signature: str
    owner: str
    grantees: tuple[str, ...]
    path: tuple[str, ...] | None
    language: str
    is_bound: bool
    body: str

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

    def relations(self) -> set[str]:
        """Names of relations in the body, and in its texts that become statements."""
        if self.is_bound:
            return set()
        texts = [text for text in map(_text_of, _tokens(self.body)) if text is not None and _is_sql(text)]
        # format inserts a name with its schema, a part of such a name, or another of these texts.
        statements = [self.body, *(re.sub(r"%(\d+\$)?[sIL]", "dynamic.name", text) for text in texts)]
        of_with: set[str] = set().union(*(_names_of_with(_lowered(statement)) for statement in statements))
        return set().union(*(relations(statement) for statement in statements)) - of_with


def definers(connection: psycopg.Connection[Any]) -> list[Definer]:
    """All functions, by signature."""
    return [
        Definer(signature, owner, tuple(grantees), tuple(path) if path else None, language, is_bound, body)
        for signature, owner, grantees, path, language, is_bound, body in connection.execute(_FUNCTIONS).fetchall()
    ]


def listed(functions: list[Definer]) -> str:
    """The text of the list."""
    return _HEAD + "".join(f"{function.line()}\n" for function in functions)


def _tokens(body: str) -> list[str]:
    """Names with their schema, texts and signs, without comments."""
    return [found[0] for found in _TOKEN.finditer(body) if found.lastgroup is not None]


def _text_of(token: str) -> str | None:
    """The content of a quoted text; None for other tokens."""
    if token.startswith("$"):
        return re.sub(r"^\$\w*\$|\$\w*\$$", "", token)
    if "'" in token[:2]:
        return token[token.index("'") + 1 : -1].replace("''", "'")
    return None


def _is_sql(text: str) -> bool:
    return (
        re.search(r"^\s*(with|select|insert|update|delete|merge|truncate|lock|from|inner join)\b", text, re.I)
        is not None
    )


def relations(body: str) -> set[str]:
    """Names of relations, with their schema if they have one, but without names from WITH and called functions."""
    tokens = _lowered(body)
    found: set[str] = set()
    calls: list[str] = []
    statement: list[str] = []
    for place, word in enumerate(tokens):
        before = tokens[place - 1] if place else ""
        if word == "(":
            calls.append(before)
        elif word == ")" and calls:
            calls.pop()
        statement = [] if word == ";" else [*statement, word]
        if _names_relation(word, before, tokens[place + 1 : place + 2], calls, statement):
            found |= set(_from_list(tokens, place + 1, may_call=word != "into"))
    return found - _names_of_with(tokens)


def _lowered(body: str) -> list[str]:
    return [word if word[0] in "'\"" else word.lower() for word in _tokens(body)]


def _names_of_with(tokens: list[str]) -> set[str]:
    """Names before "as (" or "as materialized (", with or without columns."""
    text = " ".join(tokens)
    return set(
        re.findall(r"(?:with(?: recursive)?|,) (\w+) (?:\( [\w , ]+ \) )?as (?:(?:not )?materialized )?\(", text)
    )


def _names_relation(word: str, before: str, following: list[str], calls: list[str], statement: list[str]) -> bool:
    if word == "from":
        return before != "distinct" and (not calls or calls[-1] not in _CALLS_WITH_FROM)
    if word == "join":
        return True
    if word == "into":
        return before in ("insert", "merge")
    if word == "update":
        # "share update exclusive" is a mode of a lock.
        return before not in ("for", "key", "do", "share") and following != ["set"]
    if word == "using":
        return "delete" in statement or "merge" in statement
    if word in ("truncate", "lock"):
        return before in (";", "begin", "then", "loop", "else")
    return word == "table" and before in ("truncate", "lock")


def _from_list(tokens: list[str], place: int, *, may_call: bool) -> Iterator[str]:
    """Relations of a list with commas. Its members may be subqueries, and also calls if may_call."""
    while place < len(tokens):
        while tokens[place] in _BEFORE_RELATION:
            place += 1
        name = tokens[place]
        is_call = may_call and tokens[place + 1 : place + 2] == ["("]
        if not is_call and re.match(r'[a-z_"]', name):
            yield re.sub(r"\s*\.\s*", ".", name)
        # The end of this member, after its parentheses and its alias.
        depth, place = 0, place + (name != "(")
        while place < len(tokens) and (depth > 0 or tokens[place] in _IN_MEMBER or tokens[place - 1] == "as"):
            depth += {"(": 1, ")": -1}.get(tokens[place], 0)
            place += 1
        if tokens[place + 1 : place + 2] == [","] and re.match(r"\w", tokens[place]):
            place += 1
        if tokens[place : place + 1] != [","]:
            return
        place += 1


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
