"""Erasing a document: what is deleted, what stays, who may erase, and late replies."""

from __future__ import annotations

import json

import pytest

from tests.integration.erasing import (
    CANARY,
    CORPUS,
    OPEN,
    SECRET,
    alice,
    begin,
    carry_out,
    claim,
    decide,
    erase,
    places,
    store,
    submit,
    worker,
)
from tests.integration.manual_worker import ManualWorker
from tests.sessions import Connect, Connection, MakeRole, scalar, sqlstate_of

pytestmark = pytest.mark.rolled_back

__all__ = ["alice", "worker"]


LOST, NOT_ALLOWED, NOT_READY, NO_SUCH_OBJECT = "PC006", "42501", "55000", "42704"


class TestWhatGoes:
    def test_nothing_has_its_words_any_more(
        self, connection: Connection, alice: Connection, worker: ManualWorker
    ) -> None:
        carry_out(alice, worker)
        before = {
            "candidate.heading", "citation.heading", "citation.quote", "completion.reply", "document.content",
            "interpretation.answer",
            "interpretation.interpretation", "passage.content", "passage.heading", "passage.lexemes", "stage.note",
            "term.lexeme", "verdict.answer", "verdict.interpretation", "verdict.quote",
        }  # fmt: skip
        assert places(connection) == before

        assert erase(alice)

        assert places(connection) == set()
        assert not erase(alice)

    def test_a_document_that_was_removed_before_is_erased(
        self, connection: Connection, alice: Connection, worker: ManualWorker
    ) -> None:
        carry_out(alice, worker)
        alice.execute("select pgclarify.remove_document(%s, %s)", [CORPUS, SECRET])
        worker.send("apply_term_changes")
        assert "citation.quote" in places(connection)

        assert not erase(alice)

        assert places(connection) == set()

    def test_a_document_that_waits_to_be_indexed_is_erased(
        self, connection: Connection, alice: Connection, worker: ManualWorker
    ) -> None:
        alice.execute("select pgclarify.add_document(%s, 'new', %s)", [CORPUS, f"{CANARY} is new."])
        leased = worker.claim()

        assert erase(alice, "new")
        worker.store(leased)

        erase(alice)
        assert places(connection) == set()

    def test_erasing_deletes_the_text_from_evaluations(
        self, connection: Connection, alice: Connection, worker: ManualWorker
    ) -> None:
        run_id = carry_out(alice, worker)
        store(worker, None, claim(worker, None, [SECRET], text="rac"))
        given = {"interpretations": [{"interpretation": CANARY, "citations": [{"document_id": SECRET}]}]}
        retrieved = {"retrieved": [{"document_id": SECRET, "passage_id": 1}], "notes": {"relaxed_question": CANARY}}
        other = {"interpretations": [{"interpretation": "open", "citations": [{"document_id": OPEN}]}], "notes": {}}
        talked = {"retrieved": [{"document_id": SECRET}], "interpretations": [], "questions": [CANARY], "notes": {}}
        outputs = [(None, given | {"notes": {}}), (None, retrieved | {"interpretations": []}), (None, other)]
        for ordinal, (asked, output) in enumerate([*outputs, (run_id, other), (None, talked)], start=1):
            connection.execute(
                """
                with begun as (
                    insert into pgclarify_private.eval_run (
                        name, data_set, data_set_hash, corpus_id, corpus_name, method, settings, conditions, planned_cases
                    )
                    values ('e', 'd', sha256(''), 1, 'insurance', 'rac', '{}', '{}', 1)
                    returning eval_run_id
                )
                insert into pgclarify_private.eval_case
                select eval_run_id, %s, 'c', 'q', '{}', %s, %s, 'succeeded', null, '{}' from begun
                """,  # noqa: E501
                [ordinal, json.dumps(output), asked],
            )

        assert erase(alice)

        assert places(connection) == set()
        kept = connection.execute("select output from pgclarify_private.eval_case order by ordinal").fetchall()
        assert [bool(output["interpretations"]) for (output,) in kept] == [False, False, True, False, False]
        assert kept[1][0]["retrieved"] == retrieved["retrieved"]

    def test_steps_from_the_first_that_read_it_go(
        self, connection: Connection, alice: Connection, worker: ManualWorker
    ) -> None:
        run_id = int(scalar(alice, "select pgclarify.submit('investigate', 'cars', %s)", CORPUS))
        assert worker.start(run_id) is not None
        passages = dict(
            connection.execute("select document_id, id from pgclarify.passage order by ordinal desc").fetchall()
        )
        worker.record_candidates(
            run_id,
            {"rank": 1, "document_id": OPEN, "passage_id": passages[OPEN], "step_ordinal": 1},
            {"rank": 2, "document_id": SECRET, "passage_id": passages[SECRET], "step_ordinal": 2},
        )
        for ordinal, kind, said in ((1, "follow_up", "nine"), (2, "follow_up", CANARY), (3, "conclusion", CANARY)):
            step = {
                "ordinal": ordinal, "kind": kind, "question": f"And {said}?", "answer": said, "outcome": "answered",
                "confidence": 0.5, "reason": None, "semantic_sets": 1,
                "citations": [{"candidate_rank": min(ordinal, 2), "quote": said, "start_char": 0, "end_char": 4}],
            }  # fmt: skip
            worker.record_results(run_id, "step", step)
        worker.finish(run_id)

        assert erase(alice)

        assert places(connection) == set()
        assert connection.execute("select ordinal, answer from pgclarify_private.step").fetchall() == [(1, "nine")]
        assert connection.execute("select ordinal, quote from pgclarify_private.citation").fetchall() == [(1, "nine")]


class TestWhatStays:
    def test_ids_times_and_costs_stay(self, connection: Connection, alice: Connection, worker: ManualWorker) -> None:
        run_id = carry_out(alice, worker)
        figures = """
            select
                (select array_agg((rank, document_id, passage_id, score) order by rank) from pgclarify.candidate),
                (select array_agg((rank, completion_id, created_at) order by rank) from pgclarify.verdict),
                (
                    select array_agg(
                        (run_id, prompt_tokens, latency_ms, cost_usd, created_at, finished_at) order by completion_id
                    )
                    from pgclarify_private.completion
                ),
                (select array_agg((ordinal, duration_ms, calls, prompt_tokens)) from pgclarify_private.seen_stage),
                (
                    select (completions, prompt_tokens, cost_usd, created_at, finished_at, status)::text
                    from pgclarify.run
                )
        """
        before = connection.execute(figures).fetchone()
        assert before is not None

        assert erase(alice)

        assert connection.execute(figures).fetchone() == before
        # The sum of payments does not change either, when a late reply computes it again.
        worker.send("settle_runs", run_ids=[run_id])
        assert connection.execute(figures).fetchone() == before
        replies = "select reply from pgclarify_private.completion order by completion_id"
        assert connection.execute(replies).fetchall() == [
            (None,), ("open",)
        ]  # fmt: skip

    def test_a_reading_keeps_what_other_documents_give(
        self, connection: Connection, alice: Connection, worker: ManualWorker
    ) -> None:
        run_id = carry_out(alice, worker)

        assert erase(alice)

        result = "select ordinal, interpretation, answer, support, document_ids from pgclarify.result(%s)"
        assert alice.execute(result.encode(), [run_id]).fetchall() == [(1, "What do cars cost?", "9", 1, [OPEN])]
        assert connection.execute("select is_medoid, quote from pgclarify.citation").fetchall() == [
            (True, "Cars cost 9 dollars.")
        ]
        outcomes = connection.execute("select outcome from pgclarify.verdict order by outcome").fetchall()
        assert outcomes == [("erased",), ("grounded",)]

        readings = "select interpretations from pgclarify.run where run_id = %s"
        assert scalar(connection, readings, run_id) == 1
        connection.execute("select pgclarify.erase_document(%s, %s)", [CORPUS, OPEN])
        assert scalar(connection, readings, run_id) == 0

    @pytest.mark.parametrize(
        ("of_secret", "of_open", "before"),
        [
            ("about_another", "fragment", "about_another"),
            (None, "fragment", None),
            ("about_another", None, None),
        ],
    )
    def test_a_reading_is_doubted_as_what_stays_of_it(
        self,
        connection: Connection,
        alice: Connection,
        worker: ManualWorker,
        of_secret: str | None,
        of_open: str | None,
        before: str | None,
    ) -> None:
        run_id = carry_out(alice, worker)
        doubt = """
            update pgclarify_private.verdict set doubt_code = %s, reason = %s
            from pgclarify_private.candidate
            where candidate.run_id = verdict.run_id and candidate.rank = verdict.rank and candidate.document_id = %s
        """
        for document, code in ((SECRET, of_secret), (OPEN, of_open)):
            connection.execute(doubt.encode(), [code, code and CANARY, document])
        connection.execute("update pgclarify_private.interpretation set doubt = %s where ordinal = 1", [before])

        assert erase(alice)

        assert scalar(alice, "select array_agg(doubt) from pgclarify.result(%s)", run_id) == [of_open]
        kept = "select outcome, doubt_code, reason from pgclarify.verdict order by outcome"
        assert connection.execute(kept.encode()).fetchall() == [
            ("erased", None, None), ("grounded", of_open, of_open and CANARY)
        ]  # fmt: skip

    def test_an_equal_input_of_another_document_is_asked_anew(
        self, connection: Connection, alice: Connection, worker: ManualWorker
    ) -> None:
        carry_out(alice, worker)
        other, _ = begin(alice, worker, "other cars")
        # Both documents had the same text before.
        assert claim(worker, other, [SECRET])[0]["reply"] == CANARY
        worker.finish(other)
        hashes = "select array_agg(input_hash order by completion_id) from pgclarify_private.completion"
        before = scalar(connection, hashes)

        assert erase(alice)
        # A reader who guesses what the document said gets no confirmation.
        assert [kept == known for kept, known in zip(scalar(connection, hashes), before, strict=True)] == [False, True]

        again = submit(alice, "cars again")
        assert worker.start(again) is not None
        assert claim(worker, again, [SECRET])[0]["is_ours"]
        assert (
            scalar(connection, "select count(*) from pgclarify_private.completion where finished_at is not null") == 2
        )

    def test_words_of_other_corpora_are_counted_as_before(
        self, connection: Connection, alice: Connection, worker: ManualWorker
    ) -> None:
        alice.execute("select pgclarify.create_corpus('other')")
        for document_id in ("kept", "gone"):
            alice.execute("select pgclarify.add_document('other', %s, %s)", [document_id, f"{CANARY} is old."])
        worker.index_everything()
        alice.execute("select pgclarify.remove_document('other', 'gone')")

        assert erase(alice)
        worker.send("apply_term_changes")

        counted = "select array_agg(passages) from pgclarify_private.term where lexeme = %s"
        assert scalar(connection, counted, CANARY.lower()) == [1]


class TestWhatComesLate:
    def test_a_late_reply_counts_and_does_not_stay(
        self, connection: Connection, alice: Connection, worker: ManualWorker
    ) -> None:
        run_id, ranks = begin(alice, worker)
        calls = claim(worker, run_id, [SECRET, OPEN])

        assert erase(alice)
        store(worker, run_id, calls, "said")

        kept = (
            "select reply, prompt_tokens, finished_at is not null, leased_by"
            " from pgclarify_private.completion order by 1"
        )
        assert connection.execute(kept.encode()).fetchall() == [("said", 10, True, None), (None, 10, True, None)]
        # The verdicts of the run are not stored either, and the run starts again.
        with pytest.raises(Exception) as refused:
            decide(worker, run_id, ranks)
        assert getattr(refused.value, "sqlstate", None) == LOST
        assert scalar(alice, "select status from pgclarify.run where run_id = %s", run_id) == "queued"
        assert scalar(connection, "select count(*) from pgclarify.verdict") == 0

    def test_a_run_that_has_read_it_asks_nothing_more(
        self, connection: Connection, alice: Connection, worker: ManualWorker
    ) -> None:
        run_id, _ = begin(alice, worker)

        assert erase(alice)

        with pytest.raises(Exception) as refused:
            claim(worker, run_id, [SECRET])
        assert getattr(refused.value, "sqlstate", None) == LOST
        begun = worker.start(run_id)
        assert begun is not None
        assert [row["document_id"] for row in worker.retrieve(run_id, begun["attempt"], "cars")] == [OPEN]
        assert claim(worker, run_id, [OPEN], attempt=begun["attempt"])[0]["is_ours"]

    def test_an_evaluation_that_has_read_it_asks_nothing_more(self, alice: Connection, worker: ManualWorker) -> None:
        assert claim(worker, None, [SECRET])[0]["is_ours"]

        assert erase(alice)

        with pytest.raises(Exception) as refused:
            claim(worker, None, [SECRET], text="more")
        assert getattr(refused.value, "sqlstate", None) == NOT_READY


def test_nothing_is_searched_for_but_by_an_index(
    alice: Connection, worker: ManualWorker, connection: Connection
) -> None:
    """Counted, and with a reason to take an index even for a table of a few rows."""
    carry_out(alice, worker)
    connection.execute("set enable_seqscan = off")
    looked = """
        select coalesce(sum(seq_scan), 0) from pg_stat_xact_user_tables
        where schemaname in ('pgclarify', 'pgclarify_private')
            and relname in (
                'candidate', 'citation', 'completion', 'completion_document', 'detection', 'eval_case',
                'feedback', 'interpretation', 'listed_answer', 'run', 'stage', 'step', 'verdict'
            )
    """
    with connection.transaction():
        before = scalar(connection, looked)
        assert erase(connection)
        assert scalar(connection, looked) == before


class TestWhoMay:
    def test_the_owner_may_and_administrators(
        self, connection: Connection, alice: Connection, worker: ManualWorker, connect: Connect, make_role: MakeRole
    ) -> None:
        bob = connect(make_role("pgclarify_user"))
        owner = connect(make_role("pgclarify_owner", "pgclarify_user"))
        call = "select pgclarify.erase_document(%s, %s)"

        assert sqlstate_of(bob, call, [CORPUS, SECRET]) == NO_SUCH_OBJECT
        alice.execute("select pgclarify.grant_access(%s, 'pgclarify_user')", [CORPUS])
        assert sqlstate_of(bob, call, [CORPUS, SECRET]) == NOT_ALLOWED
        assert sqlstate_of(alice, call, ["no such corpus", SECRET]) == NO_SUCH_OBJECT
        assert erase(owner)
        assert erase(connection, OPEN)

    def test_a_row_of_an_attached_table_would_come_back(
        self, connection: Connection, alice: Connection, worker: ManualWorker, admin: Connection
    ) -> None:
        name = scalar(alice, "select current_user")
        connection.execute(f'create schema mine authorization "{name}"'.encode())
        alice.execute("create table mine.note (id integer primary key, body text not null)")
        alice.execute("insert into mine.note values (1, %s)", [f"Cars of {CANARY}."])
        alice.execute("select pgclarify.attach_table(%s, 'mine.note', 'id', 'body')", [CORPUS])
        worker.follow_everything()
        worker.index_everything()
        call = "select pgclarify.erase_document(%s, '1')"
        assert sqlstate_of(alice, call, [CORPUS]) == NOT_READY

        alice.execute("delete from mine.note")
        # The worker has not seen it yet.
        assert sqlstate_of(alice, call, [CORPUS]) == NOT_READY
        worker.follow_everything()

        assert sqlstate_of(alice, call, [CORPUS]) is None
        assert erase(alice)
        worker.send("apply_term_changes")
        assert {place for place in places(connection) if not place.startswith("note.")} == set()
