r"""Writes the SQL reference in docs/reference/ from the comments in the database: `python -m website.reference`.

The pages and `\df+` show the same text. A test fails if a page differs from the database.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from pgclarify import embedded
from pgclarify.install.installer import install

FOLDER = Path(__file__).parents[1] / "docs" / "reference"
GENERATED = "<!-- Written by `make reference` from the comments in the database. -->\n\n"

FUNCTIONS = r"""
    select p.proname, p.oid::regprocedure::text as signature, obj_description(p.oid, 'pg_proc') as comment,
        p.proretset as is_set, format_type(p.prorettype, null) as returned,
        case
            when t.typtype = 'c' and t.typnamespace = p.pronamespace then format(
                '[%1$s](%2$s.md#%1$s)', t.typname,
                (select case c.relkind when 'v' then 'views' else 'rows' end from pg_class c where c.oid = t.typrelid)
            )
        end as row_type,
        case p.provolatile when 'v' then 'volatile' when 's' then 'stable' else 'immutable' end as volatility,
        array(
            select r.rolname::text
            from unnest('{pgclarify_user,pgclarify_reader,pgclarify_worker}'::name[]) with ordinality as n (name, place)
            join pg_roles as r on r.rolname = n.name
            where has_function_privilege(r.oid, p.oid, 'execute')
            order by n.place
        ) as roles,
        array(
            select jsonb_build_array(
                p.proargnames[place], format_type(p.proargtypes[place - 1], null),
                regexp_replace(coalesce(pg_get_function_arg_default(p.oid, place), ''), '::[a-z\[\] ]+$', '')
            )
            from generate_series(1, p.pronargs) as place
            order by place
        ) as parameters
    from pg_proc as p
    join pg_type as t on t.oid = p.prorettype
    where p.pronamespace = 'pgclarify'::regnamespace and t.typname <> 'trigger'
    order by p.proname, signature
"""
RELATIONS = r"""
    select c.relname, c.relkind::text as kind,
        coalesce(obj_description(c.oid, 'pg_class'), obj_description(c.reltype, 'pg_type')) as comment,
        array(
            select jsonb_build_array(
                a.attname, format_type(a.atttypid, a.atttypmod), coalesce(col_description(c.oid, a.attnum), '')
            )
            from pg_attribute as a
            where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
            order by a.attnum
        ) as columns,
        array(
            select lower(word)
            from unnest('{INSERT,UPDATE,DELETE}'::text[]) with ordinality as n (word, place)
            where c.relkind <> 'c' and case word
                when 'DELETE' then has_table_privilege('pgclarify_user', c.oid, word)
                else has_any_column_privilege('pgclarify_user', c.oid, word)
            end
            order by place
        ) as changes
    from pg_class as c
    where c.relnamespace = 'pgclarify'::regnamespace and not c.relispartition
        and (
            c.relkind = 'c' or c.relkind in ('v', 'r', 'p') and has_table_privilege('pgclarify_reader', c.oid, 'select')
        )
    order by c.relname
"""

OPTIONS = """
    select
        function.name as function_name, known.name, known.type, known.choices, known.minimum, known.maximum,
        known.default_value, known.meaning
    from pgclarify_private.help_lines() as known
    cross join unnest(known.functions) as function (name)
    where known.kind = 'option'
    order by function.name, known.name
"""

HEADS = {
    "functions.md": """# Functions

All functions of schema `pgclarify` that you may call. [SQL](../sql.md) shows how to use them, with examples and all
options.
""",
    "rows.md": """# Rows

Composite types that functions return. Later versions may add columns at the end, so name the columns that you need.
""",
    "views.md": """# Views

Views read stored rows, and start nothing. Each view shows only rows that the reading role may see. Later versions may
add columns at the end.
""",
}


# The largest number of a type is no limit that a person needs.
_NO_LIMIT = 2**31 - 1


@dataclass(frozen=True)
class Comment:
    """A function's comment, split into parts.

    Attributes:
        text: The description of the function.
        parameters: The descriptions of parameters, by name.
        like: Another function; parameters without a description are as there. None if there is none.
    """

    text: str
    parameters: dict[str, str]
    like: str | None


def take_apart(comment: str, names: list[str]) -> Comment:
    """Find the descriptions of parameters in a comment: sentences that begin with a parameter's name and a colon."""
    name = "|".join(map(re.escape, names))
    text: list[str] = []
    parameters: dict[str, str] = {}
    for sentence in re.split(rf"(?<=\.) (?=[A-Z]|(?:{name or 'A'})(?:, (?:{name or 'A'}))*: )", comment):
        told = re.fullmatch(rf"((?:{name})(?:, (?:{name}))*): (.*?)\.?", sentence, re.S) if names else None
        if told:
            parameters |= dict.fromkeys(told[1].split(", "), told[2])
        else:
            text.append(sentence)
    like = re.search(r"\b[Aa]s in (\w+)", " ".join(text))
    return Comment(" ".join(text), parameters, like[1] if like else None)


def escaped(text: str) -> str:
    """Return a comment as escaped Markdown, with names as code and links to pages."""
    parts = re.split(r"(docs/[\w/-]+\.md|\b(?:\w+\.)*[a-z]\w*_\w+(?:\.\w+)*\b)", " ".join(text.split()))
    return "".join(_name(part) if place % 2 else _plain(part) for place, part in enumerate(parts))


def pages(connection: psycopg.Connection[Any]) -> dict[str, str]:
    """Return the pages by name."""
    with connection.cursor(row_factory=psycopg.rows.dict_row) as cursor:
        functions = cursor.execute(FUNCTIONS.encode()).fetchall()
        relations = cursor.execute(RELATIONS.encode()).fetchall()
        options = cursor.execute(OPTIONS.encode()).fetchall()
    chapters = {
        "functions.md": [
            _function(one, [option for option in options if option["function_name"] == one["proname"]])
            for one in functions
        ],
        "rows.md": [_relation(one) for one in relations if one["kind"] == "c"],
        "views.md": [_relation(one) for one in relations if one["kind"] == "v"],
    }
    return {name: GENERATED + HEADS[name] + "".join(parts) for name, parts in chapters.items()}


def _function(one: dict[str, Any], options: list[dict[str, Any]]) -> str:
    comment = take_apart(one["comment"], [name for name, _, _ in one["parameters"]])
    lines = [f"\n## {one['proname']}\n\n{escaped(comment.text)}\n"]
    if one["parameters"]:
        otherwise = f"as in [{comment.like}](#{comment.like})" if comment.like else ""
        rows = (
            (
                f"`{name}`",
                kind,
                f"`{default}`" if default else "",
                escaped(comment.parameters.get(name, "")) or otherwise,
            )
            for name, kind, default in one["parameters"]
        )
        lines.append(_table(("parameter", "type", "default", "meaning"), rows))
    # A function that says "as in" has the options of another one.
    if options and comment.like is None:
        values = (
            (f"`{option['name']}`", _values(option), _default(option["default_value"]), escaped(option["meaning"]))
            for option in options
        )
        lines.append(_table(("option", "values", "default", "when to change it"), values))
    returned = one["row_type"] or one["returned"]
    allowed = ", ".join(f"`{role}`" for role in one["roles"]) or "`pgclarify_owner`"
    kind = "rows of " if one["is_set"] else ""
    lines.append(f"Returns {kind}{returned}. {one['volatility'].capitalize()}. May be called by {allowed}.\n")
    return "\n".join(lines)


def _values(option: dict[str, Any]) -> str:
    if option["choices"]:
        return ", ".join(f"`{choice}`" for choice in option["choices"])
    if option["minimum"] is not None:
        is_limited = float(option["maximum"]) < _NO_LIMIT
        return f"{option['minimum']} to {option['maximum']}" if is_limited else f"from {option['minimum']}"
    return str(option["type"])


def _default(value: str | None) -> str:
    return f"`{value}`" if value else ""


def _relation(one: dict[str, Any]) -> str:
    said = f"{escaped(one['comment'])}\n\n" if one["comment"] else ""
    changed = (
        f"Members of `pgclarify_user` may {', '.join(one['changes'])} rows that its policies allow.\n\n"
        if one["changes"]
        else ""
    )
    rows = ((f"`{name}`", kind, escaped(meaning)) for name, kind, meaning in one["columns"])
    return f"\n## {one['relname']}\n\n{said}{changed}{_table(('column', 'type', 'meaning'), rows)}"


def _table(head: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> str:
    return "".join(f"| {' | '.join(row)} |\n".replace("  ", " ") for row in (head, ("---",) * len(head), *rows))


def _name(name: str) -> str:
    return f"[{name}](../{name.removeprefix('docs/')})" if name.endswith(".md") else f"`{name}`"


def _plain(text: str) -> str:
    # Underscores inside words need no escape. Character references mean the same everywhere in Markdown.
    return re.sub(r"[\\`*\[\]<>|~&]|\b_|_\b", lambda special: f"&#{ord(special[0])};", text)


@contextmanager
def installed() -> Iterator[psycopg.Connection[Any]]:
    """Start a new server for a moment, and connect to a database in which pgclarify is installed."""
    # The server may run as another user, so the folder must be accessible to all users.
    with tempfile.TemporaryDirectory(prefix="pgclarify-reference-") as folder:
        Path(folder).chmod(0o755)
        dsn = embedded.start(Path(folder) / "data")
        try:
            install(dsn)
            with closing(psycopg.connect(dsn)) as connection:
                yield connection
        finally:
            embedded.stop(Path(folder) / "data")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    with installed() as database:
        for name, page in pages(database).items():
            (FOLDER / name).write_text(page, encoding="utf-8")
