"""What a run did, told line by line: of every operation, in every state, to whoever may see it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import pgclarify
from pgclarify.errors import InputError, NotFound
from tests.integration.by_hand import Connect, Connection, HandWorker, Hire, MakeRole, scalar, state_of
from tests.integration.linking import link
from tests.integration.test_plans import plans
from tests.workers import as_role, environment

UNDEFINED_OBJECT = "42704"
INVALID_PARAMETER_VALUE = "22023"
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
    """A corpus of four passages, and a worker that is told what to do for one user's runs."""

    def __init__(self, owner: Connection, user: Connection, worker: HandWorker) -> None:
        self.owner = owner
        self.user = user
        self.worker = worker
        owner.execute("select pgclarify.create_corpus('insurance')")
        for document_id, (title, content) in DOCUMENTS.items():
            owner.execute("select pgclarify.add_document('insurance', %s, %s, %s)", [document_id, content, title])
        worker.index_everything()
        self.passages = dict(owner.execute("select document_id, id from pgclarify.passage").fetchall())

    def submit(self, question: str = "rental cars", top_k: int = 20, **options: object) -> int:
        """A run that nobody has started."""
        return int(
            scalar(self.user, "select pgclarify.submit(%s, 'insurance', %s, %s)", question, top_k, json.dumps(options))
        )

    def enter(self, operation: str, settings: Mapping[str, object], parent_run_id: int | None = None) -> int:
        """A run of an operation whose call waits, as such a call would enter it."""
        row = self.owner.execute(
            """
            select pgclarify._enter_runs(
                %(name)s::name, pgclarify._roles_of(%(name)s), %(operation)s, 1, array['rental cars'], %(settings)s,
                %(parent)s, null
            )
            """,
            {
                "name": self.user.info.user,
                "operation": operation,
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
        """Pay for replies, each with its purpose, milliseconds, and tokens in and out; their rows of the ledger."""
        place = scalar(self.owner, "select count(*) from pgclarify.completion")
        claims = self.worker.send(
            "claim_completions",
            worker_id=self.worker.worker_id,
            run_id=run_id,
            lease="1h",
            purposes=[purpose for purpose, *_ in replies],
            models=["a-model"] * len(replies),
            parameters=["{}"] * len(replies),
            prompt_versions=["v1"] * len(replies),
            input_hashes=[(place + ordinal).to_bytes(32, "big") for ordinal in range(len(replies))],
            samples=[0] * len(replies),
        )
        ids = [claim["completion_id"] for claim in sorted(claims, key=lambda claim: claim["ordinal"])]
        self.worker.send(
            "store_completions",
            completion_ids=ids,
            replies=["said"] * len(replies),
            latencies_ms=[latency for _, latency, _, _ in replies],
            prompt_tokens=[tokens for _, _, tokens, _ in replies],
            completion_tokens=[tokens for _, _, _, tokens in replies],
        )
        return ids

    def choose(self, run_id: int, *chosen: tuple[str, float, str, str | None, int], step: int | None = None) -> None:
        """Record candidates, each with its document, score, origin, the document that led to it, and its batch."""
        first = 1 + scalar(self.owner, "select count(*) from pgclarify.candidate where run_id = %s", run_id)
        self.worker.send(
            "record_candidates",
            run_id=run_id,
            attempt=1,
            ranks=[first + place for place in range(len(chosen))],
            document_ids=[document for document, *_ in chosen],
            passage_ids=[self.passages[document] for document, *_ in chosen],
            scores=[score for _, score, _, _, _ in chosen],
            origins=[origin for _, _, origin, _, _ in chosen],
            via_passage_ids=[None if via is None else self.passages[via] for _, _, _, via, _ in chosen],
            batches=[batch for *_, batch in chosen],
            step_ordinals=[step] * len(chosen),
        )

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
        error: str | None = None,
        is_reused: bool = False,
    ) -> None:
        is_grounded = outcome == "grounded"
        self.worker.send(
            "record_verdicts", run_ids=[run_id], attempts=[1], ranks=[rank], outcomes=[outcome],
            interpretations=[interpretation], answers=[answer], quotes=["a quote" if is_grounded else None],
            start_chars=[0 if is_grounded else None], end_chars=[7 if is_grounded else None],
            vectors=["[1,0,0,0]" if is_grounded else None], completion_ids=[completion_id], are_reused=[is_reused],
            reasons=[reason], errors=[error],
        )  # fmt: skip

    def date(self, run_id: int) -> None:
        """Have a run asked at noon, started 12 ms later, and if it is over, ended a second after that."""
        self.owner.execute(
            """
            update pgclarify.run
            set created_at = '2026-01-01 12:00:00+00',
                started_at = case when started_at is not null then '2026-01-01 12:00:00.012+00'::timestamptz end,
                finished_at = case when finished_at is not null then '2026-01-01 12:00:01.012+00'::timestamptz end
            where run_id = %s
            """,
            [run_id],
        )

    def told(self, run_id: int, detail: str | None = None) -> str:
        """What the user is told, with a name that tests can spell."""
        self.user.execute("set timezone = 'UTC'")
        return explained(self.user, run_id, detail).replace(self.user.info.user, "alice")


@pytest.fixture
def desk(connection: Connection, connect: Connect, make_role: MakeRole, hire: Hire) -> Desk:
    return Desk(connection, connect(make_role("pgclarify_user")), hire())


def reading(interpretation: str, answer: str, support: int, *ranks: int) -> dict[str, Any]:
    quote = {"quote": "a quote", "start_char": 0, "end_char": 7}
    citations = [{"candidate_rank": rank, "is_medoid": rank == ranks[0], **quote} for rank in ranks]
    values = {"interpretation": interpretation, "answer": answer, "support": support, "cohesion": 0.875}
    return values | {"citations": citations}


EXPLORED = f"""\
clarify in insurance: "rental cars"  (run 1, succeeded, time=1,000 ms, readings=1)
  Asked by alice at 2026-01-01 12:00:00 UTC, waited 12 ms for a worker
  Model a-model, prompts v1, worker 1 (extractive on here)
  Settings other than the defaults: search=dense
  ->  relaxation  (time=0.0..210 ms, 21%, calls=1, tokens=120+14)
        Relaxed question: rental car hire
  ->  retrieval  (time=211..220 ms, 1%, rows=3)
        Search: dense
  ->  batch 1  (time=221..652 ms, 43%, calls=1, reused=1, tokens=1,310+41)
        ->  judgement  (time=221..641 ms, 42%, rows=2, calls=1, reused=1, tokens=1,310+41)
              Judged: 1 dense, 1 lexical; 1 grounded, 1 abstained
              #1  dense  0.8312  passage 1 of 101 (Coverage): grounded  (time=405 ms, tokens=1,310+41)
                  How long is a rental paid for? Answer: thirty days
              #2  lexical  0.7000  passage 2 of 102 (Deductible): abstained, {NOT_ANSWERED}  (reused)
        ->  neighbors  (time=642..652 ms, 1%, rows=2)
  ->  judgement, batch 2  (time=653..953 ms, 30%, rows=2, calls=2, tokens=620+80)
        Judged: 2 neighbor; 1 grounded, 1 failed
        Calls: median 175 ms, slowest 250 ms (#4), on average 1.2 at once
        #3  neighbor of #1  0.9100  passage 4 of 103 (Age > Young): grounded  (time=100 ms, tokens=310+40)
            For how many days is it paid? Answer: thirty
        #4  neighbor of #1  0.9000  passage 5 of 104 (Fuel): failed, the reply is no JSON  (time=250 ms, tokens=310+40)
  ->  consolidation  (time=954..960 ms, 1%, rows=1)
        1. How long is a rental paid for? Answer: thirty days  (support=2, cohesion=0.88, from #1 #3)
  Passages: 4 found, 4 judged, 2 with an answer (1 of 1 dense, 0 of 1 lexical, 1 of 2 neighbor)
    1 abstained: {NOT_ANSWERED}
    1 failed: the reply is no JSON
  Stopped: no new reading in batch 2
  Calls: 1 for relaxation, 210 ms; 3 for verdict, median 250 ms, slowest 405 ms
  Total: calls=4, reused=1, tokens=2,050+135
  Asked again: served from this run, with no call, while the corpus stays at revision 1"""


def explored(desk: Desk) -> int:
    """A run of clarify that explored in two batches."""
    run_id = desk.start(desk.submit(search="dense"))
    earlier = desk.start(desk.submit("another question"))
    (known,) = desk.pay(earlier, ("verdict", 300.0, 300, 30))
    desk.pay(run_id, ("relaxation", 210, 120, 14))
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
            stage(
                "relaxation", "00.500", 210, calls=1, prompt_tokens=120, completion_tokens=14, note="rental car hire"
            ),
            stage("retrieval", "00.711", 9.2, rows=3, note="dense"),
            stage(
                "judgement", "00.721", 420, batch=1, rows=2, calls=1, reused_calls=1, prompt_tokens=1310,
                completion_tokens=41,
            ),
            stage("neighbors", "01.142", 10, batch=1, rows=2),
            stage("judgement", "01.153", 300, batch=2, rows=2, calls=2, prompt_tokens=620, completion_tokens=80),
            stage("consolidation", "01.454", 6, rows=1),
        ],
        stop_reason="no new reading in batch 2",
    )  # fmt: skip
    desk.date(run_id)
    return run_id


def test_a_run_is_told_in_full(desk: Desk) -> None:
    assert desk.told(explored(desk)) == EXPLORED


def test_a_run_is_told_at_three_levels(desk: Desk) -> None:
    run_id = explored(desk)
    lines = EXPLORED.splitlines()

    assert desk.told(run_id, "passages").splitlines() == lines
    # Each passage has a line that begins with its rank, and the two with an answer have one more.
    passages = [place for place, line in enumerate(lines) if line.strip().startswith("#")]
    answers = [passages[0] + 1, passages[2] + 1]
    assert desk.told(run_id, "batches").splitlines() == [
        line for place, line in enumerate(lines) if place not in {*passages, *answers}
    ]
    stages = desk.told(run_id, "stages").splitlines()
    assert [line for line in stages if "->" in line][2:4] == [
        "  ->  judgement, 2 batches  (time=221..953 ms, 72%, rows=4, calls=3, reused=1, tokens=1,930+121)",
        "  ->  neighbors  (time=642..652 ms, 1%, rows=2)",
    ]
    assert not [line for line in stages if "batch 1" in line or "  #1" in line]
    assert (
        state_of(desk.user, f"""select pgclarify.explain({run_id}, '{{"detail": "all"}}')""") == INVALID_PARAMETER_VALUE
    )
    assert state_of(desk.user, f"""select pgclarify.explain({run_id}, '{{"depth": 1}}')""") == INVALID_PARAMETER_VALUE


def test_a_waiting_run_says_for_whom(desk: Desk) -> None:
    run_id = desk.submit(top_k=4)
    desk.date(run_id)
    told = desk.told(run_id)

    assert told.splitlines() == [
        'clarify in insurance: "rental cars"  (run 1, queued)',
        "  Asked by alice at 2026-01-01 12:00:00 UTC",
        "  Settings other than the defaults: top_k=4",
        "  State: it waits for a worker, and nothing is done yet",
        "  Total: calls=0",
    ]
    desk.worker.die()
    assert "  State: it waits for a worker, and none is running" in desk.told(run_id).splitlines()


def test_a_run_that_goes_on_shows_what_there_is(desk: Desk) -> None:
    run_id = desk.start(desk.submit())
    _, first = desk.pay(run_id, ("relaxation", 210, 120, 14), ("verdict", 405, 1310, 41))
    desk.worker.send("record_relaxation", run_id=run_id, attempt=1, relaxed_question="rental car hire")
    desk.choose(run_id, ("101", 0.8, "dense", None, 1), ("102", 0.7, "lexical", None, 1))
    desk.decide(run_id, 1, "abstained", first, reason=NOT_ANSWERED)
    desk.date(run_id)
    head, *rest = desk.told(run_id).splitlines()

    assert head.startswith('clarify in insurance: "rental cars"  (run 1, running, time=')
    assert head.endswith(" ms so far)")
    assert rest[2:] == [
        "  State: it goes on; the times of its stages are known when it ends",
        "  ->  relaxation  (calls=1, tokens=120+14)",
        "        Relaxed question: rental car hire",
        "  ->  retrieval  (rows=2)",
        "  ->  judgement  (rows=1, calls=1, tokens=1,310+41)",
        "        Judged: 1 dense, 1 lexical; 1 abstained",
        "        #1  dense  0.8000  passage 1 of 101 (Coverage): abstained, "
        f"{NOT_ANSWERED}  (time=405 ms, tokens=1,310+41)",
        "        #2  lexical  0.7000  passage 2 of 102 (Deductible)",
        "  Passages: 2 found, 1 judged, 0 with an answer (0 of 1 dense, 0 of 1 lexical)",
        f"    1 abstained: {NOT_ANSWERED}",
        "  Calls: 1 for relaxation, 210 ms; 1 for verdict, 405 ms",
        "  Total: calls=2, tokens=1,430+55",
    ]


def test_a_cancelled_run_shows_what_there_was(desk: Desk) -> None:
    run_id = desk.start(desk.submit())
    desk.pay(run_id, ("relaxation", 210, 120, 14))
    desk.choose(run_id, ("101", 0.8, "dense", None, 1))
    unstarted = desk.submit("something else")
    for cancelled in (run_id, unstarted):
        assert scalar(desk.user, "select pgclarify.cancel(%s)", cancelled)
    desk.date(run_id)
    told = desk.told(run_id).splitlines()

    assert told[0].endswith("(run 1, cancelled, time=1,000 ms)")
    assert "  State: it was cancelled, and the times of its stages are not known" in told
    assert "        #1  dense  0.8000  passage 1 of 101 (Coverage)" in told
    assert told[-2:] == [
        "  Total: calls=1, tokens=120+14",
        "  Asked again: a new run; what this one paid for is kept, so equal inputs cost nothing",
    ]
    assert "  State: it was cancelled before a worker took it" in desk.told(unstarted).splitlines()


def test_a_failed_run_says_why_and_keeps_its_stages(desk: Desk) -> None:
    run_id = desk.start(desk.submit())
    desk.worker.finish(
        run_id, status="failed", error="the endpoint is gone: 503", stages=[stage("relaxation", "00.000", 900)]
    )
    desk.date(run_id)
    told = desk.told(run_id).splitlines()

    assert told[3:] == [
        "  Error: the endpoint is gone: 503",
        "  ->  relaxation  (time=0.0..900 ms, 90%)",
        "  Total: calls=0, reused=0",
        "  Asked again: a new run; what this one paid for is kept, so equal inputs cost nothing",
    ]


def test_a_run_of_a_version_without_stages(desk: Desk) -> None:
    run_id = explored(desk)
    desk.owner.execute("delete from pgclarify.stage")
    told = desk.told(run_id).splitlines()

    assert "  State: it is of an earlier version, and the times of its stages are not known" in told
    assert [line.strip() for line in told if "->" in line] == [
        "->  relaxation  (calls=1, tokens=120+14)",
        "->  retrieval  (rows=4)",
        "->  judgement, batch 1  (rows=2, calls=1, reused=1, tokens=1,310+41)",
        "->  judgement, batch 2  (rows=2, calls=2, tokens=620+80)",
        "->  consolidation  (rows=1)",
    ]
    of_passages = [[line.strip() for line in lines if "  #" in line] for lines in (told, EXPLORED.splitlines())]
    assert of_passages[0] == of_passages[1]
    assert told[-7:] == EXPLORED.splitlines()[-7:]


def test_a_consolidation_names_the_run_whose_verdicts_it_takes(desk: Desk) -> None:
    parent = explored(desk)
    run_id = desk.start(desk.enter("consolidate", {"consolidation": "conservative"}, parent))
    desk.worker.send("copy_verdicts", run_id=run_id, attempt=1)
    desk.worker.finish(
        run_id,
        interpretations=[reading("How long is a rental paid for?", "thirty days", 1, 1)],
        stages=[stage("consolidation", "00.000", 5, rows=1)],
    )
    desk.date(run_id)
    told = desk.told(run_id).splitlines()

    assert "  Settings other than the defaults: consolidation=conservative" in told
    assert told[4:7] == [
        "  ->  verdicts of run 1  (rows=4)",
        "        Judged: 1 dense, 1 lexical, 2 neighbor; 2 grounded, 1 abstained, 1 failed",
        "        #1  dense  0.8312  passage 1 of 101 (Coverage): grounded  (reused)",
    ]
    assert told[-1] == "  Total: calls=0, reused=4"
    assert "  ->  consolidation  (time=0.0..5.0 ms, 0%, rows=1)" in told


def test_a_search_shows_what_it_kept(desk: Desk) -> None:
    run_id = desk.start(desk.enter("search", {"search": "hybrid", "top_k": 2}))
    desk.choose(run_id, ("101", 0.0325, "dense", None, 1), ("104", 0.0161, "lexical", None, 1))
    desk.worker.finish(run_id, stages=[stage("retrieval", "00.000", 12, rows=2, note="hybrid")])
    desk.date(run_id)

    assert desk.told(run_id).splitlines() == [
        'search in insurance: "rental cars"  (run 1, succeeded, time=1,000 ms, passages=2)',
        "  Asked by alice at 2026-01-01 12:00:00 UTC, waited 12 ms for a worker",
        "  Model a-model, prompts v1, worker 1 (extractive on here)",
        "  Settings other than the defaults: top_k=2",
        "  ->  retrieval  (time=0.0..12 ms, 1%, rows=2)",
        "        Search: hybrid",
        "        Kept: 1 dense, 1 lexical",
        "        #1  dense  0.0325  passage 1 of 101 (Coverage)",
        "        #2  lexical  0.0161  passage 5 of 104 (Fuel)",
        "  Passages: 2 found",
        "  Total: calls=0, reused=0",
        "  Asked again: served from this run, with no call, while the corpus stays at revision 1",
    ]


def test_an_explored_search_shows_how_each_passage_was_reached(desk: Desk) -> None:
    settings = {"search": "dense", "retrieval": "adaptive", "reranker": "signal", "budget": 100, "top_k": 10}
    run_id = desk.start(desk.enter("search", settings))
    desk.choose(run_id, ("103", 0.9, "neighbor", "102", 2), ("101", 0.8, "dense", None, 1))
    # What led to a passage need not be among the best itself.
    desk.choose(run_id, ("104", 0.7, "neighbor", "101", 2))
    desk.worker.finish(
        run_id,
        stages=[
            stage("retrieval", "00.000", 12, rows=100, note="dense"),
            stage("reranking", "00.012", 0.4, batch=1, rows=16),
            stage("neighbors", "00.013", 6, batch=1, rows=40),
            stage("reranking", "00.019", 0.4, batch=2, rows=16),
        ],
        stop_reason="the budget of 32 passages is spent",
    )
    desk.date(run_id)

    assert desk.told(run_id).splitlines()[3:] == [
        "  Settings other than the defaults: retrieval=adaptive, search=dense",
        "  ->  retrieval  (time=0.0..12 ms, 1%, rows=100)",
        "        Search: dense",
        "  ->  batch 1  (time=12..19 ms, 1%)",
        "        ->  reranking  (time=12..12 ms, 0%, rows=16)",
        "              Kept: 1 dense",
        "              #2  dense  0.8000  passage 1 of 101 (Coverage)",
        "        ->  neighbors  (time=13..19 ms, 1%, rows=40)",
        "  ->  reranking, batch 2  (time=19..19 ms, 0%, rows=16)",
        "        Kept: 2 neighbor",
        "        #1  neighbor of passage 2  0.9000  passage 4 of 103 (Age > Young)",
        "        #3  neighbor of #2  0.7000  passage 5 of 104 (Fuel)",
        "  Passages: 3 found",
        "  Stopped: the budget of 32 passages is spent",
        "  Total: calls=0, reused=0",
        "  Asked again: served from this run, with no call, while the corpus stays at revision 1",
    ]


INVESTIGATED = """\
investigate in insurance: "Whom does the fee go to?"  (run 1, succeeded, time=1,000 ms, steps=3)
  Asked by alice at 2026-01-01 12:00:00 UTC, waited 12 ms for a worker
  Model a-model, prompts v1, worker 1 (extractive on here)
  Settings other than the defaults: max_steps=2
  ->  step 1, follow-up: "What does the fee cover?"  (time=0.0..460 ms, 46%, calls=2, reused=3, tokens=250+30)
        Answer: refueling  (confidence=0.75, semantic sets=2)
        Proof: #1  passage 5 of 104 (Fuel): "full tank"
        ->  decomposition  (time=0.0..100 ms, 10%, calls=1, tokens=50+10)
        ->  retrieval  (time=100..110 ms, 1%, rows=2)
              Search: hybrid
        ->  batch 1  (time=110..260 ms, 15%, reused=3)
              ->  reranking  (time=110..110 ms, 0%, rows=2)
                    Kept: 1 dense, 1 neighbor
                    #1  dense  0.4500  passage 5 of 104 (Fuel)
                    #2  neighbor of #1  0.4000  passage 2 of 102 (Deductible)
              ->  sampling  (time=110..260 ms, 15%, rows=2, reused=3)
        ->  answering  (time=260..460 ms, 20%, calls=1, tokens=200+20)
              Note: half of the replies could not be read
  ->  step 2, follow-up: "What does the fee cover?"
        No answer: repeated
        Remark: it was asked in step 1
  ->  step 3, conclusion: "Whom does the fee go to?"  (time=461..561 ms, 10%, calls=1, tokens=300+9)
        No answer: not_in_corpus
        Remark: no step proves an answer
        ->  reasoning  (time=461..561 ms, 10%, calls=1, tokens=300+9)
  Passages: 2 found
  Stopped: a question was asked twice
  Calls: 1 for follow_up, 90 ms; 1 for answer, 200 ms; 1 for conclusion, 100 ms
  Total: calls=3, reused=3, tokens=550+39
  Asked again: served from this run, with no call, while the corpus stays at revision 1"""


def test_an_investigation_shows_its_steps(desk: Desk) -> None:
    run_id = desk.start(
        int(
            scalar(
                desk.user,
                "select pgclarify.submit_investigation(%s, 'insurance', %s)",
                "Whom does the fee go to?",
                json.dumps({"max_steps": 2}),
            )
        )
    )
    for reply in (("follow_up", 90, 50, 10), ("answer", 200, 200, 20), ("conclusion", 100, 300, 9)):
        desk.pay(run_id, reply)
    desk.choose(run_id, ("104", 0.45, "dense", None, 1), ("102", 0.4, "neighbor", "104", 1), step=1)
    first = "What does the fee cover?"
    nothing: dict[str, Any] = {"answer": None, "confidence": None, "semantic_sets": None, "citations": []}
    citation = {"candidate_rank": 1, "quote": "full tank", "start_char": 25, "end_char": 34}
    for step in (
        {
            "ordinal": 1, "kind": "follow_up", "question": first, "outcome": "answered", "answer": "refueling",
            "confidence": 0.75, "reason": None, "semantic_sets": 2, "citations": [citation],
        },
        {
            "ordinal": 2, "kind": "follow_up", "question": first, "outcome": "repeated",
            "reason": "it was asked in step 1",
        }
        | nothing,
        {
            "ordinal": 3, "kind": "conclusion", "question": "Whom does the fee go to?", "outcome": "not_in_corpus",
            "reason": "no step proves an answer",
        }
        | nothing,
    ):  # fmt: skip
        desk.worker.send("record_step", run_id=run_id, attempt=1, step=json.dumps(step))
    told_of = {"step_ordinal": 1}
    desk.worker.finish(
        run_id,
        stages=[
            stage(
                "decomposition", "00.000", 100, calls=1, prompt_tokens=50, completion_tokens=10, note=first,
                **told_of,
            ),
            stage("retrieval", "00.100", 10, rows=2, note="hybrid", **told_of),
            stage("reranking", "00.110", 0.2, batch=1, rows=2, **told_of),
            stage("sampling", "00.110", 150, batch=1, rows=2, reused_calls=3, **told_of),
            stage(
                "answering", "00.260", 200, calls=1, prompt_tokens=200, completion_tokens=20,
                note="half of the replies could not be read", **told_of,
            ),
            stage(
                "reasoning", "00.461", 100, calls=1, prompt_tokens=300, completion_tokens=9, step_ordinal=3,
                note="not_in_corpus: no step proves an answer",
            ),
        ],
        stop_reason="a question was asked twice",
    )  # fmt: skip
    desk.date(run_id)

    assert desk.told(run_id) == INVESTIGATED


def test_steps_are_told_while_an_investigation_goes_on(desk: Desk) -> None:
    run_id = desk.start(
        int(scalar(desk.user, "select pgclarify.submit_investigation('Whom does the fee go to?', 'insurance')"))
    )
    step = {
        "ordinal": 1, "kind": "follow_up", "question": "What fee?", "outcome": "not_in_corpus", "answer": None,
        "confidence": None, "reason": "nothing was found", "semantic_sets": None, "citations": [],
    }  # fmt: skip
    desk.worker.send("record_step", run_id=run_id, attempt=1, step=json.dumps(step))

    assert desk.told(run_id).splitlines()[4:7] == [
        '  ->  step 1, follow-up: "What fee?"',
        "        No answer: not_in_corpus",
        "        Remark: nothing was found",
    ]


@pytest.mark.parametrize("is_cancelled", [False, True])
def test_passages_of_steps_are_told_while_an_investigation_goes_on(desk: Desk, is_cancelled: bool) -> None:
    run_id = desk.start(
        int(scalar(desk.user, "select pgclarify.submit_investigation('Whom does the fee go to?', 'insurance')"))
    )
    desk.choose(run_id, ("104", 0.45, "dense", None, 1), ("102", 0.4, "neighbor", "104", 1), step=1)
    desk.choose(run_id, ("101", 0.25, "lexical", None, 1), step=2)
    if is_cancelled:
        desk.user.execute("select pgclarify.cancel(%s)", [run_id])

    lines = desk.told(run_id).splitlines()
    assert [line.split("  passage")[0] for line in lines if line.startswith("   ") or "->" in line] == [
        "  ->  step 1",
        "        ->  retrieval  (rows=2)",
        "              Kept: 1 dense, 1 neighbor",
        "              #1  dense  0.4500",
        "              #2  neighbor of #1  0.4000",
        "  ->  step 2",
        "        ->  retrieval  (rows=1)",
        "              Kept: 1 lexical",
        "              #3  lexical  0.2500",
    ]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"method": "adaptive"}, "retrieval=adaptive"),
        ({"method": "adaptive", "reranker": "model"}, "reranker=model, retrieval=adaptive"),
        ({"reranker": "signal"}, "budget=100, reranker=signal"),
        ({}, None),
    ],
)
def test_settings_of_a_search_that_were_asked_for(desk: Desk, options: dict[str, str], told: str | None) -> None:
    settings = scalar(desk.owner, "select pgclarify._search_settings(10, %s) - 'timeout'", json.dumps(options))
    lines = desk.told(desk.enter("search", settings)).splitlines()
    found = [line.split(": ")[1] for line in lines if line.startswith("  Settings")]
    assert found == ([] if told is None else [told])


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("a\U000e0041b", "a\\U000e0041b"),
        ("\U0001d173", "\\U0001d173"),
        ("\u034f\u115f\u1160\u3164\uffa0", "\\u034f\\u115f\\u1160\\u3164\\uffa0"),
        ("\u180b\ufe0f\u2800", "\\u180b\\ufe0f\\u2800"),
        (" " * 3000 + "x", "x"),
        ("x" + " " * 3000 + "y", "x…"),
        ("x" + " " * 3000, "x"),
        ("x" * 100, "x" * 100),
        ("x" * 101, "x" * 99 + "…"),
        ("Grüße, 世界 👋", "Grüße, 世界 👋"),
    ],
)
def test_what_is_not_seen_is_spelt_out(connection: Connection, given: str, shown: str) -> None:
    assert scalar(connection, "select pgclarify._shown(%s)", given) == shown


def test_foreign_text_stays_harmless_and_short(desk: Desk) -> None:
    hostile = "\x1b[2J\x07[bold]a\nb\u202ec\u2028d\te\r\nf\x85  "
    harmless = "\\u001b[2J\\u0007[bold]a b\\u202ec\\u2028d e f\\u0085"
    long = "x" * 5000
    desk.owner.execute(
        "select pgclarify.add_document('insurance', %s, %s, %s)", [f"1{hostile}", "# H\n\nA passage.", hostile + long]
    )
    desk.worker.index_everything()
    desk.passages = dict(desk.owner.execute("select document_id, id from pgclarify.passage").fetchall())
    run_id = desk.start(desk.submit(hostile + long))
    desk.choose(run_id, (f"1{hostile}", 0.8, "dense", None, 1), ("101", 0.7, "dense", None, 1))
    desk.decide(run_id, 1, "grounded", interpretation=hostile + long, answer=hostile)
    desk.decide(run_id, 2, "failed", error=hostile + "\n" * 3000 + long)
    desk.worker.finish(
        run_id,
        status="partial",
        interpretations=[reading(hostile + long, hostile, 1, 1)],
        stages=[stage("judgement", "00.000", 5, note=hostile + long), stage("consolidation", "00.005", 5)],
        stop_reason=hostile,
    )
    told = desk.told(run_id)

    lines = told.splitlines()
    assert not set(told) & set(hostile.replace("[bold]abcdef ", "")) - set("[2Jbolda]cef \n")
    assert all(line == line.rstrip() for line in lines)
    assert max(map(len, lines)) < 320
    assert f"  Stopped: {harmless}" in lines
    assert sum(harmless in line for line in lines) >= 7
    assert sum(line.count("…") for line in lines) >= 5
    assert len(lines) == 16


class TestWho:
    def test_it_is_whose_run_it_is(self, desk: Desk, connect: Connect, make_role: MakeRole) -> None:
        run_id = explored(desk)
        stranger = connect(make_role("pgclarify_user"))
        member = connect(make_role(desk.user.info.user))
        reader = connect(make_role("pgclarify_reader", desk.user.info.user))

        assert state_of(stranger, f"select pgclarify.explain({run_id})") == UNDEFINED_OBJECT
        assert state_of(stranger, "select pgclarify.explain(999)") == UNDEFINED_OBJECT
        assert state_of(desk.user, "select pgclarify.explain(null)") == UNDEFINED_OBJECT
        for session in (member, reader, desk.owner):
            session.execute("set timezone = 'UTC'")
            assert explained(session, run_id).replace(desk.user.info.user, "alice") == EXPLORED

    def test_an_analyst_sees_titles_of_what_it_may_read_only(
        self, desk: Desk, connection: Connection, connect: Connect, make_role: MakeRole
    ) -> None:
        analyst = make_role("pgclarify_reader", name="analyst")
        connection.execute("update pgclarify.corpus set analyst = %s", [analyst])
        run_id = explored(desk)
        connection.execute(
            "select pgclarify.add_document('insurance', '101', %s, 'Coverage', readers => '{}')", [DOCUMENTS["101"][1]]
        )
        connection.execute("select pgclarify.remove_document('insurance', '104')")

        for session in (connect(analyst), desk.user):
            told = explained(session, run_id)
            assert "passage 1 of 101: grounded" in told
            assert "passage 2 of 102 (Deductible): abstained" in told
            # Headings and ids are the run's own.
            assert "passage 4 of 103 (Age > Young): grounded" in told
            assert "passage 5 of 104: failed" in told

    def test_an_analyst_of_a_closed_corpus_sees_no_titles(
        self, desk: Desk, connection: Connection, connect: Connect, make_role: MakeRole
    ) -> None:
        analyst = make_role("pgclarify_reader", name="analyst")
        run_id = explored(desk)
        connection.execute("update pgclarify.corpus set analyst = %s, reader = %s", [analyst, desk.user.info.user])

        assert "passage 2 of 102: abstained" in explained(connect(analyst), run_id)
        assert "passage 2 of 102 (Deductible): abstained" in desk.told(run_id)


class TestElsewhere:
    """The command line and Python say what SQL says."""

    def command(self, desk: Desk, database: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "pgclarify.cli", "explain", *arguments],
            env=environment(as_role(database, desk.user.info.user), None) | {"COLUMNS": "40", "PGTZ": "UTC"},
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def test_on_the_command_line(self, desk: Desk, database: str, tmp_path: Path) -> None:
        run_id = explored(desk)
        done = self.command(desk, database, tmp_path, str(run_id))
        short = self.command(desk, database, tmp_path, str(run_id), "--detail", "stages")

        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.replace(desk.user.info.user, "alice") == f"{EXPLORED}\n"
        assert short.stdout.replace(desk.user.info.user, "alice") == desk.told(run_id, "stages") + "\n"

    def test_a_run_that_is_not_there(self, desk: Desk, database: str, tmp_path: Path) -> None:
        done = self.command(desk, database, tmp_path, "999")

        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("Error: Run 999 does not exist.\n")

    async def test_in_python(self, desk: Desk, database: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PGTZ", "UTC")
        run_id = explored(desk)
        url = as_role(database, desk.user.info.user)
        with pgclarify.connect(url) as client:
            lines = client.explain(run_id)
            assert (
                client.explain(run_id, detail="stages")
                == desk.told(run_id, "stages").replace("alice", desk.user.info.user).splitlines()
            )
            with pytest.raises(NotFound):
                client.explain(999)
            with pytest.raises(InputError):
                client.explain(run_id, detail="all")  # type: ignore[arg-type]
        async with pgclarify.connect_async(url) as async_client:
            assert await async_client.explain(run_id) == lines
        assert "\n".join(lines).replace(desk.user.info.user, "alice") == EXPLORED


class TestAskedAgain:
    """The last line says what becomes of an equal question, and that is what becomes of it."""

    def last(self, desk: Desk, run_id: int) -> str:
        return desk.told(run_id).splitlines()[-1].removeprefix("  Asked again: ")

    def test_it_is_served_from_this_run(self, desk: Desk) -> None:
        run_id = explored(desk)

        assert self.last(desk, run_id).startswith("served from this run")
        assert desk.submit(search="dense") == run_id

    def test_a_later_run_serves(self, desk: Desk) -> None:
        run_id = explored(desk)
        later = desk.enter(
            "clarify", scalar(desk.owner, "select settings from pgclarify.run where run_id = %s", run_id)
        )
        desk.worker.answer(later)

        assert self.last(desk, run_id) == f"served from run {later}, with no call"
        assert desk.submit(search="dense") == later

    def test_the_corpus_has_changed(self, desk: Desk) -> None:
        run_id = explored(desk)
        desk.owner.execute("select pgclarify.remove_document('insurance', '104')")

        assert self.last(desk, run_id).startswith("a new run, since the corpus has changed")
        assert desk.submit(search="dense") != run_id

    def test_other_passages_have_neighbors(self, desk: Desk) -> None:
        settings = {"top_k": 20, "search": "dense", "retrieval": "adaptive", "reranker": "signal", "budget": 100}
        run_id = desk.enter("search", settings)
        desk.worker.answer(run_id)
        assert self.last(desk, run_id).startswith("served from this run")
        link(desk.worker)

        assert self.last(desk, run_id).startswith("a new run, since other passages have neighbors now")
        again = (
            "select * from pgclarify._find_answered(1, 'search', array['rental cars'], %s, %s, pgclarify._roles_of(%s))"
        )
        name = desk.user.info.user
        assert not desk.owner.execute(again.encode(), [json.dumps(settings), name, name]).fetchall()

    def test_neighbors_change_no_answer_that_explored_nothing(self, desk: Desk) -> None:
        run_id = explored(desk)
        link(desk.worker)

        assert self.last(desk, run_id).startswith("served from this run")
        assert desk.submit(search="dense") == run_id

    def test_the_roles_have_changed(self, desk: Desk, make_role: MakeRole) -> None:
        run_id = explored(desk)
        desk.owner.execute(f"grant {make_role(name='team')} to {desk.user.info.user}".encode())

        assert self.last(desk, run_id).startswith("a new run, since the roles of alice have changed")
        assert desk.submit(search="dense") != run_id

    def test_another_model_is_in_service(self, desk: Desk, connect: Connect, make_role: MakeRole) -> None:
        run_id = explored(desk)
        desk.worker.die()
        HandWorker(connect(make_role("pgclarify_worker")), model="another-model")

        assert self.last(desk, run_id) == "a new run, since another model or other prompts are in service"
        assert desk.submit(search="dense") != run_id

    def test_the_corpus_is_gone(self, desk: Desk) -> None:
        run_id = explored(desk)
        desk.owner.execute("select pgclarify.drop_corpus('insurance')")

        assert self.last(desk, run_id) == "it cannot be: the corpus was dropped"


def test_many_passages_are_read_by_index_and_at_once(desk: Desk) -> None:
    """Neither other runs nor this one's size make it slow: one statement a table, and none reads a whole one."""
    small = explored(desk)
    large = desk.submit("how many")
    # Many runs of two hundred passages each, of which one is looked at; so many that no table is read whole by chance.
    desk.owner.execute("""
        insert into pgclarify.run (operation, corpus_id, corpus_name, question, settings, requested_by, reuse_key)
        select 'clarify', 1, 'insurance', 'cars', '{}', current_user, sha256(int4send(n))
        from generate_series(1, 500) as n;

        insert into pgclarify.completion
        (purpose, model, parameters, prompt_version, input_hash, run_id, reply, latency_ms, finished_at)
        select 'verdict', 'm', '{}', 'v', sha256(int8send(run.run_id * 1000 + n)), run.run_id, 'said', 1, now()
        from pgclarify.run, generate_series(1, 200) as n where run.question <> 'rental cars';

        insert into pgclarify.candidate (run_id, rank, corpus_id, document_id, passage_id, score, origin)
        select run_id, row_number() over (partition by run_id), 1, '101', completion_id, 0.5, 'dense'
        from pgclarify.completion where model = 'm';

        insert into pgclarify.verdict (run_id, rank, outcome, completion_id, is_reused, reason)
        select run_id, rank, 'abstained', passage_id, false, 'no'
        from pgclarify.candidate join pgclarify.completion using (run_id)
        where completion_id = passage_id and model = 'm'
    """)
    desk.owner.execute("vacuum (analyze) pgclarify.completion, pgclarify.candidate, pgclarify.verdict, pgclarify.run")

    with plans(desk.owner) as of_small:
        explained(desk.owner, small)
    with plans(desk.owner) as of_large:
        assert explained(desk.owner, large).count("abstained, no  (time=1.0 ms)") == 200

    reading = [[plan for plan in seen if " Scan " in plan] for seen in (of_small, of_large)]
    assert 10 < len(reading[1]) <= len(reading[0])
    for plan in of_large:
        for table in ("run", "candidate", "verdict", "completion"):
            assert f"Seq Scan on {table} " not in plan
