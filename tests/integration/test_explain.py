"""Explanations of a clarify in each state, of a consolidation, and of searches."""

from __future__ import annotations

import re

import pytest

from pgclarify.data.vocabulary import Refusal
from pgclarify.prompts.versions import in_service
from tests.integration.explaining import EXPLORED, NOT_ANSWERED, Desk, desk, explored, reading, stage
from tests.integration.exploring import find
from tests.pages import CHECKOUT, blocks
from tests.sessions import scalar

pytestmark = pytest.mark.rolled_back

__all__ = ["desk"]


def test_a_run_is_told_in_full(desk: Desk) -> None:
    assert desk.told(explored(desk)) == EXPLORED


def test_the_page_shows_what_is_told() -> None:
    """The page has other numbers, another model and other settings, so only the form of its lines is compared."""
    (explored_run,) = blocks(CHECKOUT / "docs" / "explain.md", "text")
    assert told_shape(explored_run.code) == told_shape(EXPLORED)


def told_shape(told: str) -> list[str]:
    lines = [line for line in told.splitlines() if not line.startswith(("  Model ", "  Settings:"))]
    return [re.sub(r"[\d.,]+|(?<=Search: ).*|(?<=rows=).*", "0", line) for line in lines]


def test_a_run_is_told_without_its_passages(desk: Desk) -> None:
    run_id = explored(desk)
    lines = EXPLORED.splitlines()

    assert desk.told(run_id, "passages").splitlines() == lines
    # Each passage has a line that begins with its rank, and the two with an answer have one more.
    passages = [place for place, line in enumerate(lines) if line.strip().startswith("#")]
    answers = [passages[0] + 1, passages[2] + 1]
    assert desk.told(run_id, "stages").splitlines() == [
        line for place, line in enumerate(lines) if place not in {*passages, *answers}
    ]


def test_calls_of_an_earlier_attempt_are_not_divided_by_the_time_of_the_last_one(desk: Desk) -> None:
    run_id = explored(desk)
    desk.owner.execute("update pgclarify_private.run set attempt = 2 where run_id = %s", [run_id])
    told = desk.told(run_id)
    assert "median 250 ms" in told
    assert "at once" not in told


def test_no_version_of_a_prompt_is_cut_off(desk: Desk) -> None:
    run_id = explored(desk)
    versions = in_service("medium")
    desk.owner.execute("update pgclarify_private.run set prompt_version = %s where run_id = %s", [versions, run_id])
    assert f"prompts {versions}, worker" in desk.told(run_id)


def test_a_passage_whose_reading_is_not_shown_is_named(desk: Desk) -> None:
    run_id = desk.start(desk.submit(method="dense"))
    first, second = desk.pay(run_id, ("verdict", 405, 1310, 41), ("verdict", 100, 310, 40))
    desk.choose(run_id, ("101", 0.8, "dense", None, 1), ("102", 0.7, "dense", None, 1))
    asked = "How long is a rental paid for?"
    desk.decide(run_id, 1, "grounded", first, interpretation=asked, answer="thirty days")
    desk.decide(run_id, 2, "grounded", second, interpretation="Who pays?", answer="the insurer")
    desk.worker.finish(
        run_id,
        interpretations=[reading(asked, "thirty days", 1, 1)],
        stages=[stage("consolidation", "01.454", 6, rows=1)],
    )
    told = [line.strip() for line in desk.told(run_id).splitlines()]
    assert any(line.startswith("Not shown: #2") for line in told)


def test_passages_that_one_call_has_read_name_each_other(desk: Desk) -> None:
    run_id = desk.start(desk.submit(method="dense"))
    joint, alone = desk.pay(run_id, ("joint_verdicts", 405, 1310, 41), ("verdict", 100, 310, 40))
    desk.choose(run_id, *((document, 0.8, "dense", None, 1) for document in ("101", "102", "103", "104")))
    for rank, paid in enumerate((joint, alone, joint, joint), start=1):
        desk.decide(run_id, rank, "abstained", paid, reason=NOT_ANSWERED)
    desk.worker.finish(run_id, interpretations=[])
    told = desk.told(run_id)
    assert re.findall(r"#\d  dense .*  \((.*)\)", told) == [
        "time=405 ms, tokens=1,310+41, read with #3 #4",
        "time=100 ms, tokens=310+40",
        "read with #1",
        "read with #1",
    ]


def test_a_doubted_reading_says_why(desk: Desk) -> None:
    run_id = desk.start(desk.submit(method="dense"))
    (paid,) = desk.pay(run_id, ("verdict", 405, 1310, 41))
    desk.choose(run_id, ("101", 0.8, "dense", None, 1))
    asked, doubt = "How long is a rental paid for?", Refusal.BESIDE_THE_POINT
    desk.decide(
        run_id, 1, "grounded", paid, interpretation=asked, answer="thirty days", doubt_code=doubt, reason=doubt.meaning
    )
    desk.worker.finish(
        run_id,
        interpretations=[reading(asked, "thirty days", 1, 1) | {"doubt": doubt}],
        stages=[stage("consolidation", "01.454", 6, rows=1)],
    )
    passage, shown = (line for line in desk.told(run_id).splitlines() if "doubted" in line)
    assert doubt.meaning in passage
    assert doubt in shown


@pytest.mark.committed
def test_a_waiting_run_says_for_whom(desk: Desk) -> None:
    run_id = desk.submit(top_k=4)
    desk.date(run_id)
    told = desk.told(run_id)

    assert told.splitlines() == [
        'clarify in insurance: "rental cars"  (run 1, queued)',
        "  Asked by alice at 2026-01-01 12:00:00 UTC",
        "  Settings: consolidation=default, method=hybrid, relax=false, retrieval=fixed, singletons=keep, top_k=4, "
        "verify=checks",
        "  State: it waits for a worker, and nothing is done yet",
        "  Total: calls=0",
    ]
    # As after an upgrade.
    desk.owner.execute("update pgclarify_private.worker set schema_hash = 'older', version = '0.1.0'")
    assert "0.1.0" in desk.told(run_id)
    desk.worker.die()
    assert "  State: it waits for a worker, and none is running" in desk.told(run_id).splitlines()


def test_a_run_that_goes_on_shows_what_there_is(desk: Desk) -> None:
    run_id = desk.start(desk.submit())
    _, first = desk.pay(run_id, ("relaxation", 210, 120, 14), ("verdict", 405, 1310, 41))
    find(desk.worker, run_id, question="rental car hire", method="lexical")
    desk.choose(run_id, ("101", 0.8, "dense", None, 1), ("102", 0.7, "lexical", None, 1))
    desk.decide(run_id, 1, "abstained", first, reason=NOT_ANSWERED)
    desk.date(run_id)
    head, *rest = desk.told(run_id).splitlines()

    assert head.startswith('clarify in insurance: "rental cars"  (run 1, running, time=')
    assert head.endswith(" ms so far)")
    assert rest[3:] == [
        "  State: it goes on; the times of its stages are known when it ends",
        "  ->  passages  (rows=2)",
        "        Judged: 1 dense, 1 lexical; 1 abstained",
        "        #1  dense  0.8000  passage 1 of 101 (Coverage): abstained, "
        f"{NOT_ANSWERED}  (time=405 ms, tokens=1,310+41)",
        "        #2  lexical  0.7000  passage 2 of 102 (Deductible)",
        f"  1 abstained: {NOT_ANSWERED}",
        "  Total: calls=2, tokens=1,430+55",
    ]


def test_a_cancelled_run_shows_what_there_was(desk: Desk) -> None:
    run_id = desk.start(desk.submit())
    desk.pay(run_id, ("relaxation", 210, 120, 14))
    desk.choose(run_id, ("101", 0.8, "dense", None, 1))
    unstarted = desk.submit("something else")
    for cancelled in (run_id, unstarted):
        assert scalar(desk.user, "select pgclarify.cancel(array[%s]::bigint[])", cancelled)
    desk.date(run_id)
    told = desk.told(run_id).splitlines()

    assert told[0].endswith("(run 1, cancelled, time=1,000 ms)")
    assert "  State: it was cancelled, and the times of its stages are not known" in told
    assert "        #1  dense  0.8000  passage 1 of 101 (Coverage)" in told
    assert told[-1] == "  Total: calls=1, reused=0, tokens=120+14"
    assert "  State: it was cancelled before a worker took it" in desk.told(unstarted).splitlines()


def test_what_a_relaxed_question_became_is_shown(desk: Desk) -> None:
    run_id = desk.start(desk.submit(relax=True))
    relaxing = stage("relaxation", "00.500", 210, calls=1, prompt_tokens=120, completion_tokens=14, note="car hire")
    desk.worker.finish(run_id, stages=[relaxing])
    desk.date(run_id)
    told = desk.told(run_id).splitlines()

    assert "  ->  relaxation  (time=0.0..210 ms, 21%, calls=1, tokens=120+14)" in told
    assert "        Relaxed question: car hire" in told


def test_a_failed_run_says_why_and_keeps_its_stages(desk: Desk) -> None:
    run_id = desk.start(desk.submit())
    desk.worker.finish(
        run_id, status="failed", error="the endpoint is gone: 503", stages=[stage("relaxation", "00.000", 900)]
    )
    desk.date(run_id)
    told = desk.told(run_id).splitlines()

    assert told[4:] == [
        "  Error: the endpoint is gone: 503",
        "  ->  relaxation  (time=0.0..900 ms, 90%)",
        "  Outside of stages: 100 ms, 10%, for starting, embedding and storing",
        "  Total: calls=0, reused=0, cost=$0",
    ]


def test_a_consolidation_names_the_run_whose_verdicts_it_takes(desk: Desk) -> None:
    parent = explored(desk)
    run_id = desk.start(desk.enter("consolidate", {"consolidation": "conservative"}, parent))
    copied = desk.worker.send("copy_verdicts", run_id=run_id, attempt=1)
    assert {row["score"] for row in copied} == {0.5}, "without it, conservative cannot order the readings"
    desk.worker.finish(
        run_id,
        interpretations=[reading("How long is a rental paid for?", "thirty days", 1, 1)],
        stages=[stage("consolidation", "00.000", 5, rows=1)],
    )
    desk.date(run_id)
    told = desk.told(run_id).splitlines()

    assert "  Settings: consolidation=conservative" in told
    assert told[4:7] == [
        "  ->  verdicts of run 1  (rows=4)",
        "        Judged: 1 dense, 1 lexical, 2 neighbor; 2 grounded, 1 abstained, 1 failed",
        "        #1  dense  0.8312  passage 1 of 101 (Coverage): grounded  (reused)",
    ]
    assert told[-2] == "  Total: calls=0, reused=4, cost=$0"
    assert "  ->  consolidation  (time=0.0..5.0 ms, 0%, rows=1)" in told


def test_an_explored_search_shows_how_each_passage_was_reached(desk: Desk) -> None:
    settings = {"method": "dense", "retrieval": "adaptive", "reranker": "signal", "max_passages": 100, "top_k": 10}
    run_id = desk.start(desk.enter("search", settings))
    desk.choose(run_id, ("103", 0.9, "neighbor", "102", 2), ("101", 0.8, "dense", None, 1))
    # The passage that leads to another one need not be among the best itself.
    desk.choose(run_id, ("104", 0.7, "neighbor", "101", 2))
    desk.worker.finish(
        run_id,
        stages=[
            stage("retrieval", "00.000", 12, rows=100, note="dense"),
            stage("reranking", "00.012", 0.4, batch=1, rows=16),
            stage("neighbors", "00.013", 6, batch=1, rows=40),
            stage("reranking", "00.019", 0.4, batch=2, rows=16),
        ],
        stop_reason="the limit of 32 passages is reached",
    )
    desk.date(run_id)

    assert desk.told(run_id).splitlines()[3:] == [
        "  Settings: max_passages=100, method=dense, reranker=signal, retrieval=adaptive, top_k=10",
        "  ->  retrieval  (time=0.0..12 ms, 1%, rows=100)",
        "        Search: dense",
        "  ->  reranking, 2 batches  (time=12..19 ms, 0%, rows=32)",
        "        Kept: 1 dense, 2 neighbor",
        "        #1  neighbor of passage 2  0.9000  passage 4 of 103 (Age > Young)",
        "        #2  dense  0.8000  passage 1 of 101 (Coverage)",
        "        #3  neighbor of #2  0.7000  passage 5 of 104 (Fuel)",
        "  ->  neighbors  (time=13..19 ms, 1%, rows=40)",
        "  Outside of stages: 981 ms, 98%, for starting, embedding and storing",
        "  Stopped: the limit of 32 passages is reached",
        "  Total: calls=0, reused=0, cost=$0",
        "  Result: select * from pgclarify.candidate where run_id = 1",
    ]
