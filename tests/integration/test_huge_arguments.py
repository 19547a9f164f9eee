"""Arguments of 1 MB for every public function: each is refused soon, with a short error, or means what it says."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.integration.manual_worker import MakeWorker
from tests.sessions import Connect, Connection, MakeRole

HUGE = 1_000_000
FUNCTIONS = """
    select
        p.proname::text,
        coalesce(p.proargnames[:p.pronargs], '{}'),
        array(
            select given.type::regtype::text from unnest(p.proargtypes) with ordinality as given (type, place)
            order by given.place
        ),
        p.pronargs - p.pronargdefaults
    from pg_proc as p
    where p.pronamespace = 'pgclarify'::regnamespace and has_function_privilege(%s, p.oid, 'execute')
    order by 1
"""
# Each is %(size)s bytes, or a little more.
GIVEN = {
    "text": ("repeat('x', %(size)s)", "repeat(' ', %(size)s)"),
    "jsonb": (
        "jsonb_build_object('unknown', repeat('x', %(size)s))",
        "jsonb_build_object('top_k', repeat('x', %(size)s))",
        "jsonb_build_object(repeat('x', %(size)s), 1)",
        "jsonb_build_array(repeat('x', %(size)s))",
        "jsonb_build_array(jsonb_build_object('role', 'user', 'content', repeat('x', %(size)s)))",
    ),
    "text[]": ("array[repeat('x', %(size)s)]", "array_fill('cars'::text, array[%(size)s / 10])"),
    "bigint[]": ("array_fill(1::bigint, array[%(size)s / 8])",),
    "jsonb[]": ("array_fill('{}'::jsonb, array[%(size)s / 10])",),
}
GOOD = {
    "content_column": "'body'",
    "corpus": "'hers'",
    "options": """'{"timeout": "50ms"}'""",
    "document_id": "'1'",
    "id_column": "'id'",
    "kind": "'lexical'",
    "operation": "'clarify'",
    "passage_id": "1",
    "question": "'cars'",
    "questions": "array['cars']",
    "relation": "'pg_class'",
    "reply": "'yes'",
    "run_id": "1",
    "run_ids": "array[1]",
    "timeout": "'50ms'",
}


@pytest.fixture
def owner(connect: Connect, make_role: MakeRole, make_worker: MakeWorker) -> Connection:
    """The owner of a searchable corpus, while a worker is alive that answers nothing."""
    session = connect(make_role("pgclarify_user"))
    session.execute("select pgclarify.create_corpus('hers')")
    session.execute("select pgclarify.add_document('hers', '1', 'Cars are insured.')")
    make_worker().index_everything()
    return session


def most_memory_mb(session: Connection) -> float:
    status = Path(f"/proc/{session.info.backend_pid}/status").read_text()
    (found,) = re.findall(r"VmHWM:\s+(\d+) kB", status)
    return float(found) / 1000


def test_a_huge_argument_is_refused_soon_and_shortly(
    owner: Connection, connect: Connect, subtests: pytest.Subtests
) -> None:
    functions: list[Any] = owner.execute(FUNCTIONS, [owner.info.user]).fetchall()
    for name, parameters, types, required in functions:
        # One session for all calls of a function: to compile it in a new one takes as long as a call.
        with closing(connect(owner.info.user)) as session:
            session.execute("set statement_timeout = '20s'")
            for parameter, kind in zip(parameters, types, strict=True):
                for value in GIVEN.get(kind, ()):
                    given = {
                        other: GOOD.get(other, "null")
                        for number, other in enumerate(parameters)
                        if number < required
                        or other in ("timeout", "corpus")
                        # The others are refused before they wait.
                        or (other == "options" and (name == "estimate" or parameter == "document_ids"))
                    }
                    given[parameter] = value % {"size": HUGE}
                    arguments = ", ".join(f"{known} => {text}" for known, text in given.items())
                    with subtests.test(f"{name}, {parameter}, {value}"):
                        try:
                            session.execute(f"select pgclarify.{name}({arguments})".encode())
                        except psycopg.Error as error:
                            assert error.sqlstate != "57014"
                            assert len(str(error)) < 5000
                        assert most_memory_mb(session) < 90
