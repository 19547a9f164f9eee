"""What a reply about several passages says of each: who may use it later, and what goes with a document of its call."""

from __future__ import annotations

import json
from collections.abc import Sequence

import psycopg
import pytest

from tests.integration.erasing import (
    CANARY,
    CORPUS,
    OPEN,
    SECRET,
    TEXTS,
    alice,
    begin,
    cite,
    claim,
    erase,
    places,
    reading,
    store,
    worker,
)
from tests.integration.manual_worker import MODEL, PROMPTS, ManualWorker
from tests.sessions import Connect, Connection, MakeRole, scalar

pytestmark = pytest.mark.rolled_back

__all__ = ["alice", "worker"]

HASHES = {SECRET: "aa" * 32, OPEN: "bb" * 32, "other": "cc" * 32}
SAID = {
    "interpretation": "What do cars cost?",
    "answer": "9",
    "quote": "Cars cost 9 dollars.",
    "ordinal": 1,
    "leans_on": [],
}
CALL = {"purpose": "joint_verdicts", "model": MODEL, "parameters": {}, "prompt_version": PROMPTS}
LOST = "PC006"


def ask_about_both(worker: ManualWorker, run_id: int, *, sample: int = 0) -> int:
    """Make a call about both documents, and note what its reply says of each."""
    (claimed,) = worker.claim_calls(
        run_id, ["both"], {**CALL, "document_ids": [SECRET, OPEN], "sample": sample}, attempt=1
    )
    store(worker, run_id, [claimed], CANARY)
    note(worker, run_id, claimed["completion_id"])
    return int(claimed["completion_id"])


def note(worker: ManualWorker, run_id: int, completion_id: int, *, attempt: int = 1) -> None:
    said = {SECRET: [], OPEN: [{**SAID, "answer": f"9, not {CANARY}"}]}
    verdicts = [{"passage_hash": HASHES[name], "said": one} for name, one in said.items()]
    worker.send(
        "note_joint_verdicts",
        run_id=run_id, attempt=attempt, completion_id=completion_id, verdicts=json.dumps(verdicts),
    )  # fmt: skip


def known(worker: ManualWorker, run_id: int, names: Sequence[str] = (*HASHES,), **changes: object) -> dict[str, int]:
    """How many readings are known of each passage."""
    rows = worker.send(
        "known_joint_verdicts",
        run_id=run_id, attempt=1, call=json.dumps({**CALL, **changes}), passage_hashes=[HASHES[one] for one in names],
    )  # fmt: skip
    return {names[row["ordinal"] - 1]: len(row["said"]) for row in rows}


def open_to_all(alice: Connection) -> None:
    alice.execute("select pgclarify.grant_access(%s, 'pgclarify_user')", [CORPUS])


def close(alice: Connection) -> None:
    """Close the secret document to all but its owner."""
    add = "select pgclarify.add_document(%s, %s, %s, %s, readers => %s)"
    alice.execute(add, [CORPUS, SECRET, TEXTS[SECRET], f"On {SECRET}", [alice.info.user]])


def counts(session: Connection, run_id: int) -> list[object]:
    """How many rows of a run a role sees: its interpretations, verdicts and citations."""
    views = ("interpretation", "verdict", "citation")
    return [
        scalar(session, f"select count(*) from pgclarify.{view} where run_id = %s", run_id)  # noqa: S608 - of the above
        for view in views
    ]


def started(session: Connection, worker: ManualWorker, **options: object) -> int:
    run_id = int(scalar(session, "select pgclarify.submit('clarify', 'cars', %s, %s)", CORPUS, json.dumps(options)))
    assert worker.start(run_id) is not None
    return run_id


def test_a_later_run_finds_what_was_said_of_each_passage(alice: Connection, worker: ManualWorker) -> None:
    ask_about_both(worker, begin(alice, worker)[0])
    later = started(alice, worker, top_k=3)

    assert known(worker, later) == {SECRET: 0, OPEN: 1}
    assert known(worker, later, [OPEN]) == {OPEN: 1}
    others: dict[str, object] = {
        "model": "another",
        "prompt_version": "2",
        "purpose": "verdict",
        "parameters": {"a": 1},
    }
    for name, other in others.items():
        assert known(worker, later, (*HASHES,), **{name: other}) == {}


def test_replies_about_other_passages_are_not_looked_at(
    connection: Connection, alice: Connection, worker: ManualWorker
) -> None:
    ask_about_both(worker, begin(alice, worker)[0])
    later = started(alice, worker, top_k=3)
    connection.execute("""
        insert into pgclarify_private.completion overriding system value
        select other.*
        from pgclarify_private.completion as known
        cross join generate_series(1001, 1500) as number
        cross join jsonb_populate_record(
            known, jsonb_build_object('completion_id', number, 'input_hash', sha256(int4send(number)))
        ) as other;
        insert into pgclarify_private.completion_document
        select number, 1, document_id
        from generate_series(1001, 1500) as number, unnest('{secret,open}'::text[]) as document_id;
        insert into pgclarify_private.joint_verdict
        select number, sha256(int4send(number)), '[]' from generate_series(1001, 1500) as number;
        -- Statistics of the corpus, and none of the ledger: the plan that is made then is kept.
        analyze pgclarify_private.document
    """)
    look_up = """
        explain (analyze, buffers, format json)
        select * from pgclarify_private.known_joint_verdicts(%s, 1, %s, %s)
    """
    for _ in "planned", "as planned":
        ((plan,),) = connection.execute(look_up, [later, json.dumps(CALL), list(HASHES.values())]).fetchall()
    assert plan[0]["Plan"]["Actual Rows"] == 2
    # With those of all functions that it calls.
    assert plan[0]["Plan"]["Shared Hit Blocks"] + plan[0]["Plan"]["Shared Read Blocks"] < 200


def test_a_later_run_finds_what_a_reply_left_open(alice: Connection, worker: ManualWorker) -> None:
    run_id = begin(alice, worker)[0]
    completion_id = ask_about_both(worker, run_id)
    left_open = [{"passage_hash": HASHES["other"], "said": None}]
    worker.send(
        "note_joint_verdicts",
        run_id=run_id, attempt=1, completion_id=completion_id, verdicts=json.dumps(left_open),
    )  # fmt: skip
    rows = worker.send(
        "known_joint_verdicts",
        run_id=started(alice, worker, top_k=3), attempt=1, call=json.dumps(CALL), passage_hashes=[HASHES["other"]],
    )  # fmt: skip
    assert [row["said"] for row in rows] == [None]


def test_a_run_that_wants_new_replies_finds_none(alice: Connection, worker: ManualWorker) -> None:
    ask_about_both(worker, begin(alice, worker)[0])
    refreshed = started(alice, worker, refresh=7)
    assert known(worker, refreshed) == {}
    ask_about_both(worker, refreshed)
    assert known(worker, refreshed) == {SECRET: 0, OPEN: 1}


def test_it_is_for_roles_that_may_read_all_passages_of_the_call(
    alice: Connection, worker: ManualWorker, connect: Connect, make_role: MakeRole
) -> None:
    open_to_all(alice)
    bob = connect(make_role("pgclarify_user"))
    ask_about_both(worker, begin(alice, worker)[0])
    assert known(worker, started(bob, worker, top_k=4)) == {SECRET: 0, OPEN: 1}

    close(alice)

    assert known(worker, started(bob, worker, top_k=5)) == {}
    assert known(worker, started(alice, worker, top_k=5)) == {SECRET: 0, OPEN: 1}


def test_words_of_a_text_that_was_replaced_are_for_the_role_that_has_paid(
    connection: Connection, alice: Connection, worker: ManualWorker, connect: Connect, make_role: MakeRole
) -> None:
    # The document was closed when the call was made, and was opened with another text.
    open_to_all(alice)
    bob = connect(make_role("pgclarify_user"))
    close(alice)
    run_id = begin(alice, worker)[0]
    completion_id = ask_about_both(worker, run_id)
    said = [{"passage_hash": HASHES["other"], "said": [{**SAID, "leans_on": [SECRET]}]}]
    worker.send("note_joint_verdicts", run_id=run_id, attempt=1, completion_id=completion_id, verdicts=json.dumps(said))
    alice.execute("select pgclarify.add_document(%s, %s, 'Cars are nice.')", [CORPUS, SECRET])
    # The test is one transaction.
    connection.execute("update pgclarify_private.document set updated_at = clock_timestamp() where id = %s", [SECRET])
    assert known(worker, started(bob, worker, top_k=4)) == {SECRET: 0, OPEN: 1}
    assert known(worker, started(alice, worker, top_k=4)) == {SECRET: 0, OPEN: 1, "other": 1}


def test_it_is_gone_with_any_document_of_the_call(
    connection: Connection, alice: Connection, worker: ManualWorker
) -> None:
    ask_about_both(worker, begin(alice, worker)[0])
    assert "joint_verdict.said" in places(connection)

    erase(alice)

    assert known(worker, started(alice, worker, top_k=3)) == {}
    assert "joint_verdict.said" not in places(connection)


def test_nothing_is_noted_of_a_reply_that_was_erased_meanwhile(
    connection: Connection, alice: Connection, worker: ManualWorker
) -> None:
    run_id = begin(alice, worker)[0]
    completion_id = ask_about_both(worker, run_id)
    erase(alice)
    # Its worker does not know yet that it has lost the run.
    with pytest.raises(psycopg.Error) as refused:
        note(worker, run_id, completion_id)
    assert refused.value.sqlstate == LOST
    assert "joint_verdict.said" not in places(connection)


class TestAReadingWithWordsOfAnotherDocument:
    def finished(self, alice: Connection, worker: ManualWorker) -> int:
        """A run whose open document proves a reading that has a word of the secret one, and another without it."""
        run_id, ranks = begin(alice, worker)
        store(worker, run_id, claim(worker, run_id, [OPEN]), "open")
        proven = {"outcome": "grounded", "quote": "Cars", "start_char": 0, "end_char": 4, "vector": "[1,0,0,0]"}
        worker.record_verdicts(
            run_id,
            {**proven, "rank": ranks[OPEN], "interpretation": f"What do cars cost that are no {CANARY}?", "answer": "9",
             "reading_ordinal": 1, "leans_on": [SECRET]},
            {"rank": ranks[SECRET], "outcome": "abstained"},
        )  # fmt: skip
        worker.finish(
            run_id,
            interpretations=[
                reading(f"What do cars cost that are no {CANARY}?", "9", cite(ranks[OPEN], "Cars", is_medoid=True))
            ],
        )
        return run_id

    def test_is_erased_with_it(self, connection: Connection, alice: Connection, worker: ManualWorker) -> None:
        run_id = self.finished(alice, worker)
        assert scalar(alice, "select count(*) from pgclarify.interpretation where run_id = %s", run_id) == 1
        erase(alice)
        assert places(connection) == set()
        assert scalar(alice, "select interpretations from pgclarify.run where run_id = %s", run_id) == 0

    def test_is_withheld_with_it(
        self, alice: Connection, worker: ManualWorker, connect: Connect, make_role: MakeRole
    ) -> None:
        open_to_all(alice)
        bob = connect(make_role("pgclarify_user"))
        run_id = self.finished(bob, worker)
        assert counts(bob, run_id) == [1, 2, 1]

        close(alice)

        assert counts(bob, run_id) == [0, 0, 0]

    def of_one_document(self, session: Connection, worker: ManualWorker) -> int:
        """A run that has found the open document only. It knows the reading from an earlier call about both."""
        options = json.dumps({"method": "lexical", "document_ids": [OPEN]})
        run_id = int(scalar(session, "select pgclarify.submit('clarify', 'cars', %s, %s)", CORPUS, options))
        assert worker.start(run_id) is not None
        ((rank, _),) = [(row["rank"], row["document_id"]) for row in worker.retrieve(run_id, question="cars")]
        asked = f"What do cars cost that are no {CANARY}?"
        worker.record_verdicts(
            run_id,
            {"rank": rank, "outcome": "grounded", "interpretation": asked, "answer": "9", "quote": "Cars",
             "start_char": 0, "end_char": 4, "vector": "[1,0,0,0]", "leans_on": [SECRET]},
        )  # fmt: skip
        worker.finish(
            run_id,
            interpretations=[reading(asked, "9", cite(rank, "Cars", is_medoid=True))],
            stages=[
                {"name": "judgement", "started_at": "2026-01-01T00:00:00Z", "duration_ms": 5, "calls": 1,
                 "reused_calls": 0, "prompt_tokens": 20, "completion_tokens": 4, "note": f"no {CANARY}"}
            ],
        )  # fmt: skip
        return run_id

    def test_is_erased_everywhere_also_in_runs_that_did_not_find_that_document(
        self, connection: Connection, alice: Connection, worker: ManualWorker
    ) -> None:
        run_id = self.of_one_document(alice, worker)
        assert scalar(alice, "select pgclarify.give_feedback(%s, 1, 'right')", run_id)
        connection.execute(
            """
            with begun as (
                insert into pgclarify_private.eval_run (
                    name, data_set, data_set_hash, corpus_id, corpus_name, method, settings, conditions, planned_cases
                )
                values ('e', 'd', sha256(''), 1, 'insurance', 'clarify', '{}', '{}', 1)
                returning eval_run_id
            )
            insert into pgclarify_private.eval_case
            select eval_run_id, 1, 'c', 'q', '{}', %s, %s, 'succeeded', null, '{}' from begun
            """,
            [json.dumps({"interpretations": [{"interpretation": CANARY, "citations": []}]}), run_id],
        )
        erase(alice)
        assert places(connection) == set()

    def test_is_withheld_from_ratings_of_such_runs(
        self, alice: Connection, worker: ManualWorker, connect: Connect, make_role: MakeRole
    ) -> None:
        open_to_all(alice)
        bob = connect(make_role("pgclarify_user"))
        assert scalar(bob, "select pgclarify.give_feedback(%s, 1, 'right')", self.of_one_document(bob, worker))
        assert scalar(bob, "select count(*) from pgclarify.feedback") == 1

        close(alice)

        assert scalar(bob, "select count(*) from pgclarify.feedback") == 0


def test_a_passage_may_have_several_readings(alice: Connection, worker: ManualWorker) -> None:
    run_id, ranks = begin(alice, worker)
    proven = {"outcome": "grounded", "start_char": 0, "end_char": 4, "vector": "[1,0,0,0]", "rank": ranks[OPEN]}
    said = [("What do cars cost?", "9"), ("What is sold?", "Cars")]
    worker.record_verdicts(
        run_id,
        *(
            {**proven, "interpretation": asked, "answer": answer, "quote": "Cars", "reading_ordinal": ordinal}
            for ordinal, (asked, answer) in enumerate(said, start=1)
        ),
    )
    worker.finish(
        run_id,
        interpretations=[
            reading(asked, answer, {**cite(ranks[OPEN], "Cars", is_medoid=True), "reading_ordinal": ordinal})
            for ordinal, (asked, answer) in enumerate(said, start=1)
        ],
    )
    found = alice.execute(
        "select reading_ordinal, answer from pgclarify.verdict where run_id = %s order by 1", [run_id]
    ).fetchall()
    assert found == [(1, "9"), (2, "Cars")]
    assert scalar(alice, "select verdicts from pgclarify.run where run_id = %s", run_id) == 1
    assert "What is sold? Answer: Cars" in str(alice.execute("select pgclarify.explain(%s)", [run_id]).fetchall())


@pytest.mark.parametrize(
    ("asked", "allowed", "expected"),
    [(None, None, None), (4, None, 4), (4, 2, 2), (2, 4, 2), (4, 1, None), (None, 5, None)],
)
def test_a_corpus_may_have_fewer_passages_read_in_a_call(
    alice: Connection, worker: ManualWorker, asked: int | None, allowed: int | None, expected: int | None
) -> None:
    """None: not set; of the run: one passage a call, because no model was tried."""
    alice.execute("select pgclarify.alter_corpus(%s, %s)", [CORPUS, json.dumps({"passages_per_call": allowed})])
    run_id = started(alice, worker, **({} if asked is None else {"passages_per_call": asked}))
    assert (
        scalar(alice, "select settings -> 'passages_per_call' from pgclarify.run where run_id = %s", run_id) == expected
    )
