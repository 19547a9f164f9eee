"""Shared by tests of explain: runs whose steps a test takes itself, and a finished run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from tests.integration.manual_worker import MAKE_OPEN_CORPUS, MakeWorker, ManualWorker
from tests.sessions import Connect, Connection, MakeRole, scalar

NOT_ANSWERED = "the passage answers no reading of the question"
DOCUMENTS = {
    "101": ("Coverage", "Rental reimbursement pays for thirty days."),
    "102": ("Deductible", "A rental deductible of four hundred dollars applies."),
    "103": (None, "# Age > Young\n\nDrivers under twenty-five pay a surcharge."),
    "104": ("Fuel", "Return the rental with a full tank."),
}


def explained(connection: Connection, run_id: int, detail: str | None = None) -> str:
    options = json.dumps({} if detail is None else {"detail": detail})
    rows = connection.execute("select * from pgclarify.explain(%s, %s)", [run_id, options]).fetchall()
    return "\n".join(line for (line,) in rows)


def stage(name: str, start: str, duration_ms: float, **others: Any) -> dict[str, Any]:
    """A stage that began at a minute's second, such as "00.250"."""
    zero = {"rows": None, "calls": 0, "reused_calls": 0, "prompt_tokens": 0, "completion_tokens": 0}
    place = {"batch": None, "step_ordinal": None, "note": None}
    began = f"2026-01-01T12:00:{start}+00:00"
    return {"name": name, "started_at": began, "duration_ms": duration_ms} | zero | place | others


class Desk:
    """A corpus of four passages, and a worker that a test drives through one user's runs."""

    def __init__(self, owner: Connection, user: Connection, worker: ManualWorker) -> None:
        self.owner = owner
        self.user = user
        self.worker = worker
        owner.execute(MAKE_OPEN_CORPUS, ["insurance"])
        for document_id, (title, content) in DOCUMENTS.items():
            owner.execute("select pgclarify.add_document('insurance', %s, %s, %s)", [document_id, content, title])
        worker.index_everything()
        self.passages = dict(owner.execute("select document_id, id from pgclarify.passage").fetchall())

    def submit(self, question: str = "rental cars", top_k: int = 20, **options: object) -> int:
        """A run that no worker has started."""
        return int(
            scalar(
                self.user,
                "select pgclarify.submit('clarify', %s, 'insurance', jsonb_build_object('top_k', %s::integer) || %s::jsonb)",  # noqa: E501
                question,
                top_k,
                json.dumps(options),
            )
        )

    def enter(
        self,
        operation: str,
        settings: Mapping[str, object],
        parent_run_id: int | None = None,
        *,
        question: str = "rental cars",
        corpus_id: int | None = 1,
    ) -> int:
        """A run of an operation, as a waiting call enters it."""
        row = self.owner.execute(
            """
            select pgclarify_private.enter_runs(
                %(name)s::name, null, pgclarify_private.roles_of(%(name)s), %(operation)s, %(corpus_id)s,
                array[%(question)s], %(settings)s, %(parent)s, null
            )
            """,
            {
                "name": self.user.info.user,
                "operation": operation,
                "corpus_id": corpus_id,
                "question": question,
                "settings": json.dumps(settings),
                "parent": parent_run_id,
            },
        ).fetchone()
        assert row is not None
        return int(row[0][0])

    def start(self, run_id: int) -> int:
        assert self.worker.start(run_id) is not None
        return run_id

    def pay(self, run_id: int, *replies: tuple[str, float, int, int]) -> list[int]:
        """Store replies, each with its purpose, milliseconds and tokens in and out; return their rows of the ledger."""
        place = scalar(self.owner, "select count(*) from pgclarify_private.completion")
        claims = self.worker.claim_calls(
            run_id,
            [str(place + ordinal) for ordinal in range(len(replies))],
            *({"purpose": purpose} for purpose, *_ in replies),
        )
        ids = [claim["completion_id"] for claim in sorted(claims, key=lambda claim: claim["ordinal"])]
        self.worker.store_replies(
            run_id,
            ids,
            replies=["said"] * len(replies),
            tokens=[(prompt, said) for _, _, prompt, said in replies],
            latencies_ms=[latency for _, latency, _, _ in replies],
        )
        return ids

    def choose(self, run_id: int, *chosen: tuple[str, float, str, str | None, int], step: int | None = None) -> None:
        """Record candidates, each with its document, score, origin, previous document and batch."""
        first = 1 + scalar(self.owner, "select count(*) from pgclarify.candidate where run_id = %s", run_id)
        self.worker.record_candidates(
            run_id,
            *(
                {
                    "rank": rank, "document_id": document, "passage_id": self.passages[document], "score": score,
                    "origin": origin, "via_passage_id": None if via is None else self.passages[via], "batch": batch,
                    "step_ordinal": step,
                }
                for rank, (document, score, origin, via, batch) in enumerate(chosen, start=first)
            ),
        )  # fmt: skip

    def decide(
        self,
        run_id: int,
        rank: int,
        outcome: str,
        completion_id: int | None = None,
        *,
        interpretation: str | None = None,
        answer: str | None = None,
        reason: str | None = None,
        doubt_code: str | None = None,
        error: str | None = None,
        error_code: str = "XX000",
        is_reused: bool = False,
    ) -> None:
        proof = {"quote": "a quote", "start_char": 0, "end_char": 7, "vector": "[1,0,0,0]", "score": 0.5}
        self.worker.record_verdicts(
            run_id,
            {
                "rank": rank, "outcome": outcome, "interpretation": interpretation, "answer": answer, "reason": reason,
                "error": error, "completion_id": completion_id, "is_reused": is_reused, "doubt_code": doubt_code,
                **(proof if outcome == "grounded" else {}),
                **({"error_code": error_code} if outcome == "failed" else {}),
            },
        )  # fmt: skip

    def date(self, run_id: int) -> None:
        """Set the times of a run: submitted at noon, started 12 ms later, and ended a second later if it is over."""
        self.owner.execute(
            """
            update pgclarify_private.run
            set created_at = '2026-01-01 12:00:00+00',
                started_at = case when started_at is not null then '2026-01-01 12:00:00.012+00'::timestamptz end,
                finished_at = case when finished_at is not null then '2026-01-01 12:00:01.012+00'::timestamptz end
            where run_id = %s
            """,
            [run_id],
        )

    def told(self, run_id: int, detail: str | None = None) -> str:
        """The explanation for the user, with a fixed name of the user."""
        self.user.execute("set timezone = 'UTC'")
        return explained(self.user, run_id, detail).replace(self.user.info.user, "alice")


@pytest.fixture
def desk(connection: Connection, connect: Connect, make_role: MakeRole, make_worker: MakeWorker) -> Desk:
    return Desk(connection, connect(make_role("pgclarify_user")), make_worker())


def reading(interpretation: str, answer: str, support: int, *ranks: int) -> dict[str, Any]:
    quote = {"quote": "a quote", "start_char": 0, "end_char": 7}
    citations = [{"candidate_rank": rank, "is_medoid": rank == ranks[0], **quote} for rank in ranks]
    values = {
        "interpretation": interpretation,
        "answer": answer,
        "support": support,
        "cohesion": 0.875,
        "is_contested": False,
    }
    return values | {"citations": citations}


EXPLORED = f"""\
clarify in insurance: "rental cars"  (run 1, succeeded, time=1,000 ms, results=1)
  Asked by alice at 2026-01-01 12:00:00 UTC, waited 12 ms for a worker
  Model a-model, prompts v1, worker 1 (extractive on here)
  Settings: consolidation=default, method=dense, relax=false, retrieval=fixed, singletons=keep, top_k=20, verify=checks
  ->  retrieval  (time=0.0..9.2 ms, 1%, rows=3)
        Search: dense
  ->  judgement, 2 batches  (time=10..742 ms, 72%, rows=4, calls=3, reused=1, tokens=1,930+121)
        Judged: 1 dense, 1 lexical, 2 neighbor; 2 grounded, 1 abstained, 1 failed
        Calls: median 250 ms, slowest 405 ms (#1), on average 1.0 at once
        #1  dense  0.8312  passage 1 of 101 (Coverage): grounded  (time=405 ms, tokens=1,310+41)
            How long is a rental paid for? Answer: thirty days
        #2  lexical  0.7000  passage 2 of 102 (Deductible): abstained, {NOT_ANSWERED}  (reused)
        #3  neighbor of #1  0.9100  passage 4 of 103 (Age > Young): grounded  (time=100 ms, tokens=310+40)
            For how many days is it paid? Answer: thirty
        #4  neighbor of #1  0.9000  passage 5 of 104 (Fuel): failed, the reply is no JSON  (time=250 ms, tokens=310+40)
  ->  neighbors  (time=431..441 ms, 1%, rows=2)
  ->  consolidation  (time=743..749 ms, 1%, rows=1)
        1. How long is a rental paid for? Answer: thirty days  (support=2, cohesion=0.88, from #1 #3)
  Outside of stages: 255 ms, 25%, for starting, embedding and storing
  1 abstained: {NOT_ANSWERED}
  1 failed: the reply is no JSON
  Stopped: the last batch added no new reading
  Total: calls=3, reused=1, tokens=1,930+121
  Result: select * from pgclarify.interpretation where run_id = 1"""  # noqa: S608 - a line, not a statement


def explored(desk: Desk) -> int:
    """A run of clarify that explored in two batches."""
    run_id = desk.start(desk.submit(method="dense"))
    earlier = desk.start(desk.submit("another question"))
    (known,) = desk.pay(earlier, ("verdict", 300.0, 300, 30))
    first, third, fourth = desk.pay(
        run_id, ("verdict", 405, 1310, 41), ("verdict", 100, 310, 40), ("verdict", 250, 310, 40)
    )
    desk.choose(run_id, ("101", 0.8312, "dense", None, 1), ("102", 0.7, "lexical", None, 1))
    desk.choose(run_id, ("103", 0.91, "neighbor", "101", 2), ("104", 0.9, "neighbor", "101", 2))
    asked = "How long is a rental paid for?"
    desk.decide(run_id, 1, "grounded", first, interpretation=asked, answer="thirty days")
    desk.decide(run_id, 2, "abstained", known, reason=NOT_ANSWERED, is_reused=True)
    desk.decide(run_id, 3, "grounded", third, interpretation="For how many days is it paid?", answer="thirty")
    desk.decide(run_id, 4, "failed", fourth, error="the reply is no JSON")
    desk.worker.finish(
        run_id,
        interpretations=[reading(asked, "thirty days", 2, 1, 3)],
        stages=[
            stage("retrieval", "00.711", 9.2, rows=3, note="dense"),
            stage(
                "judgement", "00.721", 420, batch=1, rows=2, calls=1, reused_calls=1, prompt_tokens=1310,
                completion_tokens=41,
            ),
            stage("neighbors", "01.142", 10, batch=1, rows=2),
            stage("judgement", "01.153", 300, batch=2, rows=2, calls=2, prompt_tokens=620, completion_tokens=80),
            stage("consolidation", "01.454", 6, rows=1),
        ],
        stop_reason="the last batch added no new reading",
    )  # fmt: skip
    desk.date(run_id)
    return run_id
