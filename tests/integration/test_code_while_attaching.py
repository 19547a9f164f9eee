"""Calls about an attached table run no code of its owner, even if the owner commits that code while the call runs."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.sessions import Connect, Connection, MakeRole, scalar, sqlstate_of
from tests.workers import until

# The spy takes these locks in the session where it runs. The second number is the oid of its current_user. A rollback
# does not release them.
SPY = """
    create function bobs.spy(anything bigint) returns bigint language plpgsql immutable as $$
    begin
        perform pg_advisory_lock_shared(4711, (current_user::text::regrole)::oid::integer);
        return anything;
    end $$
"""
RAN_AS = "select objid::regrole::text from pg_locks where locktype = 'advisory' and classid = 4711 and pid = %s"
WAITS = "select count(*) from pg_locks where not granted and pid = %s"
# Constant parts of such expressions are evaluated in sessions that plan a query, or that need the partition key.
PLAIN = """
    create index spied on bobs.note ((id + bobs.spy(1))) where bobs.spy(2) = 2;
    alter table bobs.note add constraint spied check (id < bobs.spy(9999)) not valid;
    create statistics bobs.spied on (id + bobs.spy(3)), body from bobs.note;
    create policy spied on bobs.note using (id > bobs.spy(0));
"""
# A unique index rules out partition keys with expressions.
PARTITION = """
    alter table bobs.note drop constraint note_pkey;
    create table bobs.evil (id bigint not null, body text) partition by range ((id + bobs.spy(1)));
    create table bobs.less partition of bobs.evil for values from (0) to (9);
    alter table bobs.note attach partition bobs.evil for values from (100) to (200);
"""
# A view in place of the table, with code in a column and in a rule.
VIEW = """
    alter table bobs.note rename to former;
    create view bobs.note as select id + bobs.spy(0) as id, body from bobs.former;
    create rule spied as on insert to bobs.note do instead select bobs.spy(1);
"""
CALLS = {
    "attach": "select pgclarify.attach_table('bobs', 'bobs.note', 'id', 'body')",
    "dry_run": "select pgclarify.attach_table('bobs', 'bobs.note', 'id', 'body', '{\"dry_run\": true}')",
    "resync": "select pgclarify.resync('bobs', 'bobs.note')",
    "detach": "select pgclarify.detach_table('bobs', 'bobs.note')",
}

Callers = dict[str, Connection]


@pytest.fixture
def callers(bob: Connection, connection: Connection, connect: Connect, make_role: MakeRole) -> Callers:
    """Roles that may attach Bob's tables: a superuser, and a member of Bob's role. Schema "bobs" has the spy."""
    connection.execute(f"create schema bobs authorization {bob.info.user}".encode())
    bob.execute(SPY.encode())
    bob.execute("select pgclarify.add_document('bobs', 'x', 'By hand.')")
    heir = connect(make_role("pgclarify_user", bob.info.user, name="heir"))
    return {"superuser": connect(), "member": heir}


Attack = Callable[..., None]


@pytest.fixture
def attack(bob: Connection, connection: Connection, connect: Connect, callers: Callers) -> Attack:
    """Lets a role make a call about "bobs.note", while Bob commits code after the call's check of the table.

    Fails if that code runs in the session of the call.
    """

    def roles(process_id: int) -> list[str]:
        return [role for (role,) in connection.execute(RAN_AS, [process_id]).fetchall()]

    def make(call: str, planted: str, caller: str = "superuser", isolation: str = "read committed") -> None:
        is_partitioned = planted == PARTITION
        shape = "partition by range (id)" if is_partitioned else ""
        bob.execute(f"create table bobs.note (id bigint primary key, body text) {shape}".encode())
        if is_partitioned:
            bob.execute("create table bobs.part partition of bobs.note for values from (0) to (100)")
        bob.execute("insert into bobs.note values (1, 'Ships.')")
        if call in ("resync", "detach"):
            source_id = scalar(bob, CALLS["attach"])
            # So that the call has something to make.
            bob.execute(
                f"drop trigger pgclarify_{source_id}_{'row' if is_partitioned else 'insert'} on bobs.note".encode()
            )
        victim = callers[caller]
        victim.execute(f"set session characteristics as transaction isolation level {isolation}".encode())
        process_id = victim.info.backend_pid
        planting = connect(bob.info.user)
        with ThreadPoolExecutor(1) as pool:
            planting.execute("begin")
            # The call checks the table. If it then needs a lock, it waits for this one.
            planting.execute("lock table bobs.note in access exclusive mode")
            calling = pool.submit(sqlstate_of, victim, CALLS[call])
            until(lambda: calling.done() or scalar(connection, WAITS, process_id))
            planting.execute(planted.encode())
            planting.execute("commit")
            calling.result()
        assert roles(process_id) == []
        # Any other statement that reads the table runs the code.
        victim.execute("select * from bobs.note where id > 0")
        assert roles(process_id) == [victim.info.user]

    return make


@pytest.mark.parametrize(
    ("call", "planted"),
    [
        *(("attach", planted) for planted in (PLAIN, PARTITION, VIEW)),
        *(("resync", planted) for planted in (PLAIN, PARTITION, VIEW)),
        ("dry_run", PLAIN),
        ("detach", VIEW),
    ],
)
def test_code_that_the_owner_commits_meanwhile_does_not_run_in_the_callers_session(
    attack: Attack, call: str, planted: str
) -> None:
    attack(call, planted)


def test_nor_in_that_of_a_member_of_the_owners_role(attack: Attack) -> None:
    attack("attach", PARTITION, caller="member")


@pytest.mark.parametrize("call", ["attach", "resync"])
def test_nor_in_a_transaction_that_does_not_see_what_was_committed(attack: Attack, call: str) -> None:
    attack(call, PARTITION, isolation="repeatable read")
