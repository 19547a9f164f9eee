"""Questions back, replies, rewrites, lists and detections are visible only to roles that may see the run."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.integration.manual_worker import MakeWorker, ManualWorker
from tests.integration.test_nothing_leaks import TABLES, refusal, seen
from tests.sessions import Connect, Connection, MakeRole, scalar, sqlstate_of

pytestmark = pytest.mark.rolled_back

# A word that occurs only in hidden texts.
ANIMAL = "zebra"
QUESTION = f"{ANIMAL} cars"
DOCUMENT = f"{ANIMAL.title()} cars are insured."
PRESENT = {
    "detection", "rewriting", "clarifying_question", "listed_answer", "estimate", "citation",
}  # fmt: skip


class House:
    """A corpus with a reader role and an analyst, and all that a member asks, with and without the corpus."""

    def __init__(self, owner: Connection, connect: Connect, make_worker: MakeWorker, make_role: MakeRole) -> None:
        self.owner = owner
        self.connect = connect
        self.make_role = make_role
        self.team = make_role("pgclarify_user", name="team")
        self.analysts = make_role("pgclarify_user", name="analysts")
        options = json.dumps({"reader": self.team, "analyst": self.analysts})
        owner.execute("select pgclarify.create_corpus('hidden', options => %s)", [options])
        owner.execute("select pgclarify.add_document('hidden', %s, %s, 'Policy')", [f"{ANIMAL} 1", DOCUMENT])
        # These numbers occur nowhere else in a message.
        owner.execute("alter table pgclarify_private.run alter column run_id restart with 123456789")
        self.worker: ManualWorker = make_worker()
        self.worker.index_everything()
        self.asker = connect(self.team)
        self.corpus_id = int(scalar(owner, "select corpus_id from pgclarify.corpus"))

    def enter(self, operation: str, corpus_id: int | None, parent: int | None = None, **settings: Any) -> int:
        (run_id,) = scalar(
            self.owner,
            "select pgclarify_private.enter_runs("
            "%s, null, pgclarify_private.roles_of(%s), %s, %s, array[%s], %s, %s, null)",
            self.team,
            self.team,
            operation,
            corpus_id,
            QUESTION,
            json.dumps(settings),
            parent,
        )
        return int(run_id)

    def start(self, operation: str, corpus_id: int | None, parent: int | None = None, **settings: Any) -> int:
        run_id = self.enter(operation, corpus_id, parent, **settings)
        assert self.worker.start(run_id) is not None
        return run_id

    def cite(self, run_id: int) -> list[dict[str, Any]]:
        passage_id = scalar(self.owner, "select id from pgclarify.passage")
        self.worker.record_candidates(run_id, {"rank": 1, "document_id": f"{ANIMAL} 1", "passage_id": passage_id})
        return [{"candidate_rank": 1, "quote": DOCUMENT[:5], "start_char": 0, "end_char": 5}]

    def ask_back(self, corpus_id: int | None) -> int:
        run_id = self.start("clarifying_questions", corpus_id, form="select", count=5, check="drop")
        citations = [] if corpus_id is None else self.cite(run_id)
        proposed = {
            "ambiguity_type": "specify", "reasoning": ANIMAL, "clarifying_question": None,
            "reformulation": f"{ANIMAL}?",
        }  # fmt: skip
        entry = proposed | {"ordinal": 1, "is_answerable": True, "citations": citations}
        self.worker.record_results(run_id, "clarifying_question", entry)
        self.worker.finish(run_id)
        return run_id

    def reply(self, corpus_id: int | None) -> int:
        run_id = self.start("reply", corpus_id, self.ask_back(corpus_id), text=ANIMAL)
        self.worker.record_results(run_id, "rewriting", {"rewritten": ANIMAL})
        self.worker.finish(run_id)
        return run_id

    def converse(self, corpus_id: int | None) -> None:
        """Ask everything, of a corpus or without one."""
        reason = {"source": "rule", "name": ANIMAL, "text": ANIMAL}
        for operation in ("detect_ambiguity", "rewrite"):
            has_corpus = operation == "detect_ambiguity"
            run_id = self.start(operation, corpus_id if has_corpus else None, history=[ANIMAL])
            found = {
                "ordinal": 1, "question": QUESTION, "is_ambiguous": True, "probability": 1, "kind": "lexical",
                "reasons": [reason], "classifier_version": "1",
            }  # fmt: skip
            self.worker.record_results(run_id, "detection", found)
            if operation == "rewrite":
                rewriting = {"rewritten": ANIMAL, "was_ambiguous": True, "reason": ANIMAL}
                self.worker.record_results(run_id, "rewriting", rewriting)
            self.worker.finish(run_id)
        self.reply(corpus_id)
        if corpus_id is not None:
            run_id = self.start("list_answers", corpus_id)
            answer = {"ordinal": 1, "answer": ANIMAL, "variants": [ANIMAL], "citations": self.cite(run_id)}
            self.worker.record_results(run_id, "listed_answer", answer)
            self.worker.finish(run_id)
            run_id = self.start("estimate", corpus_id, questions=1, distinct_questions=1, answered=0)
            asked = [{"purpose": "verdict", "calls": 1, "reused_calls": 0, "input_bytes": 400}]
            prospect = {"sampled": 1, "purposes": asked, "calls_at_most": 1, "calls_at_most_each": 1}
            self.worker.send("record_estimate", run_id=run_id, attempt=1, seen=json.dumps(prospect))
            self.worker.finish(run_id)


@pytest.fixture
def house(connection: Connection, connect: Connect, make_worker: MakeWorker, make_role: MakeRole) -> House:
    return House(connection, connect, make_worker, make_role)


def present(connection: Connection) -> set[str]:
    """Tables and views in which a role sees a row."""
    return {name for name, rows in seen(connection).items() if rows}


class TestRows:
    def test_rows_without_a_corpus_are_visible_only_to_the_asker(self, house: House) -> None:
        house.converse(None)
        cited = {"citation", "listed_answer", "estimate"}

        assert PRESENT - present(house.asker) == cited
        assert PRESENT - present(house.connect(house.make_role(house.team))) == cited
        for role in (house.analysts, "pgclarify_user", "pgclarify_reader"):
            assert not present(house.connect(house.make_role(role))) & (PRESENT | {"run"})

    def test_an_analyst_sees_what_was_cited_and_not_the_documents(self, house: House) -> None:
        house.converse(house.corpus_id)
        analyst = house.connect(house.make_role(house.analysts))
        cited = "select quote, title, is_current from pgclarify.citation"

        assert set(analyst.execute(cited).fetchall()) == {(DOCUMENT[:5], None, False)}
        assert set(house.asker.execute(cited).fetchall()) == {(DOCUMENT[:5], "Policy", True)}
        for run_id in (row[0] for row in analyst.execute("select run_id from pgclarify.run").fetchall()):
            told = "\n".join(row[0] for row in analyst.execute("select pgclarify.explain(%s)", [run_id]))
            assert "Policy" not in told
        for table in ("document", "passage"):
            assert scalar(analyst, f"select count(*) from pgclarify.{table}") == 0  # noqa: S608

    def test_a_spelling_that_a_closed_document_may_have_is_not_shown(self, house: House) -> None:
        other = "John Smith sells insurance."
        house.owner.execute("select pgclarify.add_document('hidden', 'other', %s)", [other])
        house.worker.index_everything()
        run_id = house.start("list_answers", house.corpus_id)
        passages = dict(house.owner.execute("select document_id, id from pgclarify.passage").fetchall())
        house.worker.record_candidates(
            run_id,
            *(
                {"rank": rank, "document_id": document, "passage_id": passages[document]}
                for rank, document in enumerate([f"{ANIMAL} 1", "other"], start=1)
            ),
        )
        citations = [
            {"candidate_rank": 1, "quote": DOCUMENT[:5], "start_char": 0, "end_char": 5},
            {"candidate_rank": 2, "quote": other[:10], "start_char": 0, "end_char": 10},
        ]
        answer = {"answer": "Smith", "variants": ["Smith", "John Smith"], "citations": citations}
        house.worker.record_results(run_id, "listed_answer", {"ordinal": 1} | answer)
        house.worker.finish(run_id)

        def shown() -> tuple[list[str], int]:
            (variants,) = house.owner.execute(
                "select variants from pgclarify_private.answer_rows(array[%s]::bigint[], %s::name)",
                [run_id, house.team],
            ).fetchall()
            rows = scalar(house.asker, "select count(*) from pgclarify.listed_answer where run_id = %s", run_id)
            return variants[0], rows

        assert shown() == (["Smith", "John Smith"], 1)

        house.owner.execute("select pgclarify.add_document('hidden', 'other', %s, readers => '{}')", [other])

        assert shown() == (["Smith"], 0)


class TestCalls:
    """Objects that the caller may not see are refused as if they did not exist."""

    @pytest.mark.committed
    def test_a_conversation_of_another_role_looks_like_a_missing_one(self, house: House) -> None:
        replied = house.reply(None)
        stranger = house.connect(house.make_role("pgclarify_user"))
        go_on = 'select pgclarify.clarifying_questions(options => \'{{"check": "none", "reply": {}}}\')'

        missing = refusal(stranger, go_on.format(987654321), "987654321")
        assert refusal(stranger, go_on.format(replied), str(replied)) == missing

    def test_an_analyst_looks_on(self, house: House) -> None:
        run_id = house.ask_back(house.corpus_id)
        analyst = house.connect(house.make_role(house.analysts))

        for statement in (
            f"select pgclarify.reply({run_id}, ordinal => 1)",
            f"select pgclarify.reply({run_id}, 'yes')",
        ):
            assert sqlstate_of(analyst, statement) == "42501"


def test_every_table_and_view_is_looked_at(connection: Connection) -> None:
    """A new table must be added to these tests, too."""
    readable = connection.execute("""
        select c.relname from pg_class as c
        where c.relnamespace in ('pgclarify'::regnamespace, 'pgclarify_private'::regnamespace)
        and c.relkind in ('r', 'p', 'v')
            and has_table_privilege('pgclarify_reader', c.oid, 'select')
    """).fetchall()
    told_to_all = {
        "caller", "applied_sql", "schema_version", "alembic_version", "queue_status", "worker_status", "model_price",
    }  # fmt: skip

    assert {name for (name,) in readable} - set(TABLES) <= told_to_all | {
        # Policies read these.
        "withheld_candidate",
        "withheld_interpretation",
        "withheld_step",
        "withheld_listed_answer",
        # test_evaluation.py looks at it.
        "evaluation",
    }
