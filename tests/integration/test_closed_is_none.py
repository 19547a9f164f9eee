"""A name or a number of another role's is refused in the same words as one that nothing has, by every function.

The functions are those of the catalog that a user may execute, so a new one is tested as soon as there is one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.integration.test_hostile_arguments import CLOSED, MARK, Function, World, world
from tests.sessions import Connect, Connection, MakeRole

__all__ = ["world"]

# As long as the name of Alice's corpus, because the likeness to other names depends on the length.
MISSING = "secreu"
# What nothing has, and what would not be found in an error by chance.
NO_NUMBER = 987654321
# Tables with a number, and its column.
KEYS = {
    "corpus": "corpus_id", "embedding_space": "embedding_space_id", "eval_run": "eval_run_id", "run": "run_id",
    "source": "source_id",
}  # fmt: skip
# The numbers of Alice's rows, by parameter.
OWNED = {
    "corpus_id": "select corpus_id from pgclarify_private.corpus where name = %(closed)s",
    "embedding_space_id": "select s.embedding_space_id from pgclarify_private.embedding_space as s"
    " join pgclarify_private.corpus using (corpus_id) where name = %(closed)s",
    "eval_run_id": "select eval_run_id from pgclarify_private.eval_run where requested_by = %(alice)s",
    "run_id": "select run_id from pgclarify_private.run where requested_by = %(alice)s and finished_at is not null",
    "source_id": "select source_id from pgclarify_private.source where attached_by = %(alice)s",
}
# Names are unique, so this one tells a role that another corpus has the name: docs/roles.md says so.
TELLS = {"create_corpus"}


def pairs(function: Function, owned: dict[str, int]) -> Iterator[tuple[str, str, str, str]]:
    """Two calls that differ in one argument, with the two values: what is Alice's, and what nothing has."""
    good = function.good()
    for place, name in enumerate(function.parameters):
        kind = function.types[place]
        key = name.removesuffix("s")
        if kind == "text" and name in {"corpus", "name"}:
            values = [CLOSED, MISSING]
            given = [f"'{value}'" for value in values]
        elif key in owned and kind.removesuffix("[]") == "bigint":
            values = [str(owned[key]), str(NO_NUMBER)]
            given = [f"array[{value}]" if kind.endswith("[]") else value for value in values]
        else:
            continue
        first, second = (function.call([*good[:place], value, *good[place + 1 :]]) for value in given)
        yield first, second, values[0], values[1]


@pytest.fixture
def numbered(connection: Connection) -> None:
    """Numbers that occur in no message by chance."""
    for place, (relation, key) in enumerate(KEYS.items(), start=1):
        connection.execute(
            f"alter table pgclarify_private.{relation} alter column {key} restart with {place}23456789".encode()
        )


@pytest.mark.usefixtures("numbered")
def test_every_function_answers_to_what_is_closed_as_to_what_is_missing(world: World, connection: Connection) -> None:
    names = {"closed": CLOSED, "alice": world.names["alice"]}
    owned: dict[str, int] = {}
    for name, query in OWNED.items():
        ((owned[name],),) = connection.execute(query.encode(), names).fetchall()
    attacker = world.attack(world.names["mallory"])
    differing: list[Any] = []
    calls = 0
    for function in world.functions(world.names["mallory"]):
        if any(f".{name}(" in function.signature for name in TELLS):
            continue
        for closed, missing, ours, none in pairs(function, owned):
            answers = []
            # The first call of a function has a shorter context in its errors.
            for statement, value in ((missing, none), (closed, ours), (missing, none)):
                state, said = attacker.call(statement)
                answers.append((state, said.replace(value, "…")))
                attacker.undo()
            calls += 1
            if answers[1] != answers[2]:
                differing.append((closed, *answers[1:]))

    assert calls > 30
    assert differing == []


VIEWS = "select relname from pg_class where relnamespace = 'pgclarify'::regnamespace and relkind = 'v'"


@pytest.mark.usefixtures("numbered")
def test_no_view_shows_a_name_a_text_or_a_number_of_others(
    world: World, connection: Connection, connect: Connect, make_role: MakeRole
) -> None:
    names = {"closed": CLOSED, "alice": world.names["alice"]}
    hidden = {CLOSED, MARK, world.names["alice"]}
    for name, query in OWNED.items():
        # The number of a corpus is in the names of its partitions, which every login sees.
        if name != "corpus_id":
            hidden |= {str(number) for (number,) in connection.execute(query.encode(), names)}
    # A budget's limit is a number, too.
    connection.execute("update pgclarify_private.budget set max_calls = 71717171 where name ~ %s", [MARK])
    hidden.add("71717171")
    shown = set()
    for role in (world.names["mallory"], make_role("pgclarify_reader")):
        session = connect(role)
        for (view,) in connection.execute(VIEWS).fetchall():
            for plan in ("", "explain (analyze, verbose, costs off) "):
                query = f"{plan}select * from pgclarify.{view}"  # noqa: S608 - names of the catalog
                said = str(session.execute(query.encode()).fetchall())
                shown |= {(view, one) for one in hidden if one in said}

    assert shown == set()
