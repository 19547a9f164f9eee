"""Every SECURITY DEFINER function with arguments that no caller of ours sends: generated from the catalog.

Mallory gives null, huge and malformed values, keys of Alice's rows, and proofs that are not hers. No call ends with an
error of PostgreSQL's internals. None shows a text of Alice's, and none changes a row of hers.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest

from tests.integration.manual_worker import ManualWorker
from tests.integration.test_nothing_leaks import answered
from tests.sessions import Connect, Connection, MakeRole, scalar

# In every text of Alice's. Mallory gives it in no argument.
MARK = "zebrafish"
# Alice's corpus, which is a guess of Mallory's in some calls.
CLOSED = "secret"
CALLER = "pgclarify_private.caller"
INSUFFICIENT_PRIVILEGE = "42501"
# A value, an array or a constraint does not fit; or one of the codes of docs/errors.md.
EXPECTED = (
    "22",
    "23502",
    "23505",
    "23514",
    "0A000",
    "42501",
    "42703",
    "42704",
    "42710",
    "42809",
    "54000",
    "55",
    "57014",
    "PC",
)
# Of attach_table alone, which is given a table that does not exist.
NO_TABLE = "42P01"
FUNCTIONS = """
    select
        p.oid::regprocedure::text,
        coalesce(p.proargnames[:p.pronargs], '{}'),
        array(
            select given.type::regtype::text from unnest(p.proargtypes) with ordinality as given (type, place)
            order by given.place
        )
    from pg_proc as p
    where p.prosecdef and starts_with(p.pronamespace::regnamespace::text, 'pgclarify')
        and has_function_privilege(%s, p.oid, 'execute')
    order by 1
"""
# All rows outside of the worker's counters, as hashes.
ROWS = """
    select string_agg(concat('select md5(r::text) from ', c.oid::regclass, ' as r'), ' union all ' order by c.oid)
    from pg_class as c
    where c.relnamespace = 'pgclarify_private'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
        and c.relname not in ('corpus_tally', 'citation_tally', 'worker')
"""
# What a call of ours gives, by parameter and else by type.
GOOD_BY_NAME = {
    "access": "'user'",
    "arguments": """'{"question": "cars", "corpus": "hers"}'""",
    "content_column": "'body'",
    "corpus": "'hers'",
    "document_id": "'1'",
    "document_ids": "array['1']",
    "id_column": "'id'",
    "kind": "'lexical'",
    "name": "'hers'",
    "operation": "'clarify'",
    "relation": "'hers.note'::regclass",
    "row_type": "'clarification'",
    "timeout": "'50ms'",
}
GOOD = {
    "boolean": "true",
    "bigint": "$mine",
    "bytea": r"'\x00'",
    "double precision": "0.5",
    "halfvec": "'[1,0,0,0]'",
    "integer": "1",
    "interval": "'1 minute'",
    "jsonb": "'{}'",
    "name": "'$mallory'",
    "oid": "'hers.note'::regclass",
    "real": "0.5",
    "regclass": "'hers.note'",
    "text": "'cars'",
    "timestamp with time zone": "now()",
    "uuid": "gen_random_uuid()",
    CALLER: f"(select c from {CALLER} as c)",  # noqa: S608 - a constant
}
BAD: dict[str, Sequence[str]] = {
    "boolean": ("false",),
    "bigint": ("$theirs", "0", "'-9223372036854775808'", "9223372036854775807"),
    "bytea": ("''", "convert_to(repeat('x', 100000), 'UTF8')"),
    "double precision": ("'NaN'", "'infinity'", "-1"),
    "halfvec": ("'[1]'", "'[0,0,0,0]'", "'[65504,65504,65504,65504]'"),
    "integer": ("0", "'-2147483648'", "2147483647"),
    "interval": ("'0'", "'-1 day'", "'178000000 years'"),
    "jsonb": (
        "'null'", "'[]'", "'7'", "'1e300'", """'[null, [1], {"a": null}]'""", """'{"": {"": []}}'""",
        "(repeat('[', 2000) || repeat(']', 2000))::jsonb",
    ),
    "name": ("''", "'$alice'", "'postgres'", "'pgclarify_owner'", "'a\"b'"),
    "oid": ("0", "4000000000", "'pg_class'::regclass"),
    "real": ("'NaN'", "'infinity'", "-1"),
    "regclass": ("0", "4000000000", "'pg_class'", "'app.article'", "'pgclarify_private.run'", "'pgclarify.run'"),
    "text": ("''", "'secret'", "'nothing'", r"e'\x01\n%s%I$1'", """'"; drop table x; --'""", "repeat('x', 100000)"),
    "timestamp with time zone": ("'infinity'", "'-infinity'"),
    "uuid": ("'00000000-0000-0000-0000-000000000000'",),
}  # fmt: skip
FORGED = (
    f"null::{CALLER}",
    f"row('$alice', null, '$mallory')::{CALLER}",
    f"(select row('$alice', c.proof, c.login)::{CALLER} from {CALLER} as c)",  # noqa: S608 - a constant
    f"(select row(null, c.proof, c.login)::{CALLER} from {CALLER} as c)",  # noqa: S608 - a constant
    f"(select row(c.name, c.proof, '$alice')::{CALLER} from {CALLER} as c)",  # noqa: S608 - a constant
    f"(select row(c.name, c.proof, null)::{CALLER} from {CALLER} as c)",  # noqa: S608 - a constant
    f"row('$mallory', '$old', '$mallory')::{CALLER}",
    f"row('$alice', '$hers', '$alice')::{CALLER}",
)


@dataclass(frozen=True)
class Function:
    """A function as the catalog has it. types: of its parameters."""

    signature: str
    parameters: Sequence[str]
    types: Sequence[str]

    def good(self) -> list[str]:
        """Arguments such as callers of ours give."""
        return [
            GOOD_BY_NAME[name] if name in GOOD_BY_NAME else _good(kind)
            for name, kind in zip(self.parameters, self.types, strict=True)
        ]

    def calls(self, chance: random.Random) -> Iterator[str]:
        """Good arguments; one bad one in each place; and any in all places."""
        good = self.good()
        yield self.call(good)
        for place, kind in enumerate(self.types):
            for value in _bad(kind):
                yield self.call([*good[:place], value, *good[place + 1 :]])
        for _ in range(3):
            yield self.call([chance.choice([value, *_bad(kind)]) for value, kind in zip(good, self.types, strict=True)])

    def forgeries(self) -> Iterator[str]:
        """Good arguments with callers that are not proven."""
        if self.types[:1] == [CALLER]:
            for caller in FORGED:
                yield self.call([caller, *self.good()[1:]])

    def call(self, arguments: Sequence[str]) -> str:
        """The statement."""
        given = ", ".join(f"{value}::{kind}" for value, kind in zip(arguments, self.types, strict=True))
        return f"select r::text from {self.signature.partition('(')[0]}({given}) as r"  # noqa: S608 - our own texts


def _good(kind: str) -> str:
    return f"array[{GOOD[kind.removesuffix('[]')]}]" if kind.endswith("[]") else GOOD[kind]


def _bad(kind: str) -> Iterator[str]:
    if kind == CALLER:
        return
    yield "null"
    base = kind.removesuffix("[]")
    if kind == base:
        yield from BAD[kind]
        return
    yield from ("'{}'", f"array[null, {BAD[base][0]}]", f"array[array[{GOOD[base]}], array[{BAD[base][-1]}]]")
    yield f"array_fill({GOOD[base]}::{base}, array[1000])"
    yield f"array_fill({BAD[base][0]}::{base}, array[2], array[-7])"


class Attacker:
    """A session that calls functions as a role, each in a subtransaction that is rolled back.

    Args:
        session: A superuser's.
        role: The role to call as.
        names: What stands for $mine, $alice and so on.
        rows: The query of all rows.
    """

    def __init__(self, session: Connection, role: str, names: dict[str, str], rows: str) -> None:
        self._session = session
        self._names = names
        self._rows = f"select coalesce(array_agg(seen.hash), '{{}}') from ({rows}) as seen (hash)"  # noqa: S608
        self._role = role
        session.execute("set statement_timeout = '5s'")
        session.execute("savepoint clean")

    def call(self, statement: str) -> tuple[str | None, str]:
        """The SQLSTATE of a call, and everything that it says."""
        for name, value in self._names.items():
            statement = statement.replace(f"${name}", value)
        self._session.execute(f"set local role {self._role}".encode())
        try:
            return None, str(self._session.execute(statement.encode()).fetchall())
        except psycopg.errors.Error as error:
            said = error.diag
            return error.sqlstate, f"{said.message_primary} {said.message_detail} {said.message_hint} {said.context}"

    def rows(self) -> set[str]:
        """Hashes of the rows as the last call left them."""
        self._session.execute("reset role")
        return set(scalar(self._session, self._rows))

    def undo(self) -> None:
        """Roll the last call back."""
        self._session.execute("rollback to savepoint clean")


@dataclass(frozen=True)
class World:
    """Alice has corpus "secret", and Mallory has "hers". Both have runs, and a row in most tables."""

    session: Connection
    names: dict[str, str]
    alices_rows: set[str]
    rows: str

    def attack(self, role: str) -> Attacker:
        """Begin to call functions as a role."""
        return Attacker(self.session, role, self.names, self.rows)

    def functions(self, role: str) -> list[Function]:
        """The functions that a role may execute."""
        return [Function(*row) for row in self.session.execute(FUNCTIONS, [role])]


def furnish(user: Connection, superuser: Connection, worker: ManualWorker, corpus: str, table: str, mark: str) -> int:
    """Give a user a corpus with documents, an attached table and more; the id of an answered run."""
    schema = table.partition(".")[0]
    user.execute("select pgclarify.create_corpus(%s, options => %s)", [corpus, json.dumps({"reader": user.info.user})])
    add = "select pgclarify.add_document(%s, %s, %s, %s, %s, %s)"
    for document_id in ("1", "2"):
        metadata = json.dumps({"said": mark})
        user.execute(add, [corpus, document_id, f"Cars of {mark} are insured.", mark, f"{mark}.html", metadata])
    worker.index_everything()
    superuser.execute(f"create schema {schema} authorization {user.info.user}".encode())
    superuser.execute(f"grant usage on schema {schema} to public".encode())
    user.execute(f"create table {table} (id bigint primary key, body text)".encode())
    user.execute("select pgclarify.add_ambiguity_rule(%s, 'lexical', %s, %s)", [f"{mark} bank", corpus, mark])
    limit = json.dumps({"period": "month", "max_calls": 9})
    user.execute("select pgclarify.set_budget(%s, %s, %s)", [f"budget {mark}", corpus, limit])
    run_id = answered(worker, user, f"cars of {mark}", corpus)
    user.execute("select pgclarify.submit('clarify', %s, %s)", [f"queued {mark}", corpus])
    evaluation = {
        "name": mark, "data_set": mark, "corpus_name": corpus, "method": "clarify", "settings": {}, "conditions": {},
        "planned_cases": 1,
    }  # fmt: skip
    evaluation["data_set_hash"] = "\\x" + "00" * 32
    begin = "select * from pgclarify_private.caller as c, pgclarify_private.begin_evaluation(c, %s)"
    user.execute(begin.encode(), [json.dumps(evaluation)])
    return run_id


@pytest.fixture
def world(connection: Connection, connect: Connect, make_role: MakeRole) -> World:
    alice, mallory = (connect(make_role("pgclarify_user", name=name)) for name in ("alice", "mallory"))
    worker = ManualWorker(connect(make_role("pgclarify_worker")))
    theirs = furnish(alice, connection, worker, CLOSED, "app.article", MARK)
    alice.execute("select pgclarify.attach_table(%s, 'app.article', 'id', 'body')", [CLOSED])
    rows = scalar(connection, ROWS)
    alices_rows = {row[0] for row in connection.execute(rows.encode())}
    mine = furnish(mallory, connection, worker, "hers", "hers.note", "nothing")
    # Without a worker, calls that wait end at once.
    worker.die()
    names = {"alice": alice.info.user, "mallory": mallory.info.user, "theirs": str(theirs), "mine": str(mine)}
    proof = "select proof::text from pgclarify_private.caller"
    names["old"] = scalar(mallory, proof)
    alice.execute("begin")
    names["hers"] = scalar(alice, proof)
    session = connect()
    session.execute("begin")
    return World(session, names, alices_rows & {row[0] for row in connection.execute(rows.encode())}, rows)


def is_told(said: str, statement: str) -> bool:
    """Whether a call says something of Alice's that it was not given."""
    return any(hidden in said and hidden not in statement for hidden in (MARK, CLOSED))


def is_expected(state: str | None, statement: str) -> bool:
    return state is None or state.startswith(EXPECTED) or (state == NO_TABLE and "regclass" in statement)


@pytest.mark.parametrize("role", ["$mallory", "pgclarify_reader"])
def test_a_user_gets_no_internal_error_and_nothing_of_others(world: World, role: str) -> None:
    role = role.replace("$mallory", world.names["mallory"])
    attacker = world.attack(role)
    chance = random.Random(42)  # noqa: S311 - not for secrets
    wrong: list[Any] = []
    calls = 0
    for function in world.functions(role):
        for statement in function.calls(chance):
            state, said = attacker.call(statement)
            if not is_expected(state, statement) or is_told(said, statement):
                wrong.append((state, said, statement))
            elif state is None and not world.alices_rows <= attacker.rows():
                wrong.append(("changed", said, statement))
            attacker.undo()
            calls += 1

    assert calls > 100
    assert wrong == []


def test_a_caller_that_is_not_proven_is_refused_by_every_function(world: World) -> None:
    attacker = world.attack(world.names["mallory"])
    accepted = []
    for function in world.functions(world.names["mallory"]):
        for statement in function.forgeries():
            state, said = attacker.call(statement)
            if state != INSUFFICIENT_PRIVILEGE:
                accepted.append((state, said, statement))
            attacker.undo()

    assert accepted == []


@pytest.mark.parametrize("role", ["pgclarify_worker", "pgclarify_loopback"])
def test_a_function_of_ours_gets_arguments_that_it_cannot_use(world: World, role: str) -> None:
    attacker = world.attack(role)
    chance = random.Random(42)  # noqa: S311 - not for secrets
    wrong = []
    for function in world.functions(role):
        for statement in function.calls(chance):
            state, said = attacker.call(statement)
            if not is_expected(state, statement) or (role == "pgclarify_loopback" and state != INSUFFICIENT_PRIVILEGE):
                wrong.append((state, said, statement))
            attacker.undo()

    assert wrong == []
