"""clarify with retrieval adaptive, a budget and a reranker: with a worker, its graph, and a model server."""

from __future__ import annotations

import json
from typing import Any

import psycopg
import pytest

from tests.integration.by_hand import Connection
from tests.openai_server import HANG, Chat, Reply, Server, by_rules
from tests.workers import Service, scalar, until, wait_until_linked

CANDIDATES = """
select
    candidate.rank, candidate.batch, candidate.origin, candidate.passage_id, candidate.via_passage_id,
    verdict.outcome, candidate.document_id
from pgclarify.candidate
left join pgclarify.verdict using (run_id, rank)
where candidate.run_id = %s
order by candidate.rank
"""


@pytest.fixture(autouse=True)
def graph(service: Service, superuser: Connection) -> None:
    """Wait until the worker has linked all passages."""
    wait_until_linked(superuser)


def clarify(asker: Connection, question: str, **options: object) -> list[tuple[Any, ...]]:
    top_k = options.pop("top_k", 6)
    return asker.execute(
        "select run_id, answer, document_ids from pgclarify.clarify(%s, top_k => %s, options => %s)",
        [question, top_k, json.dumps(options)],
    ).fetchall()


def test_verdicts_lead_from_passage_to_passage(asker: Connection, superuser: Connection, model: Server) -> None:
    rows = clarify(asker, "what does it cost", retrieval="adaptive", max_passages=12)
    assert rows
    run_id = rows[0][0]
    candidates = superuser.execute(CANDIDATES, [run_id]).fetchall()
    assert [row[0] for row in candidates] == list(range(1, len(candidates) + 1))
    assert len({row[3] for row in candidates}) == len(candidates) <= 12
    assert all(row[5] in ("grounded", "abstained") for row in candidates)
    reached = {row[3]: row for row in candidates}
    neighbors = [row for row in candidates if row[2] == "neighbor"]
    assert neighbors
    for row in candidates:
        assert (row[4] is not None) == (row[2] == "neighbor")
    for row in neighbors:
        _, batch, _, _, _, outcome, _ = reached[row[4]]
        assert (outcome, batch < row[1]) == ("grounded", True)
    paid, stop_reason, relaxed = superuser.execute(
        "select completions, stop_reason, relaxed_question from pgclarify.run where run_id = %s", [run_id]
    ).fetchall()[0]
    assert paid == 1 + len(candidates)
    assert stop_reason in ("the limit of 12 verdicts was reached", "no passage was left")
    assert relaxed == "what does it cost overview"
    stages = superuser.execute(
        "select name, batch from pgclarify_private.seen_stage where run_id = %s order by ordinal", [run_id]
    ).fetchall()
    assert {("relaxation", None), ("retrieval", None), ("judgement", 1), ("neighbors", 1), ("judgement", 2)} <= {
        *stages
    }


def test_consolidation_again_keeps_how_passages_were_reached(asker: Connection, superuser: Connection) -> None:
    run_id = clarify(asker, "what is paid for by whom", retrieval="adaptive", max_passages=12)[0][0]
    again = asker.execute("select run_id, document_ids from pgclarify.consolidate(%s)", [run_id]).fetchall()
    assert again[0][0] != run_id
    assert superuser.execute(CANDIDATES, [again[0][0]]).fetchall() == superuser.execute(CANDIDATES, [run_id]).fetchall()


def test_a_run_that_is_cancelled_in_its_second_batch_leaves_nothing_behind(
    asker: Connection, superuser: Connection, model: Server
) -> None:
    # A first batch has eight passages.
    judged: set[str] = set()
    hung: list[str] = []

    def behave(chat: Chat) -> Reply:
        passage = chat.passage
        if passage is not None and len(judged) < 8:
            judged.add(passage)
        if passage is None or passage in judged:
            return by_rules(chat)
        hung.append(passage)
        return HANG

    model.behavior = behave
    run_id = scalar(
        asker,
        "select pgclarify.submit('clarify', 'how is a car of my own repaired', options => jsonb_build_object('top_k', 12) || %s::jsonb)",  # noqa: E501
        json.dumps({"retrieval": "adaptive"}),
    )
    until(lambda: len(hung) >= 2)
    assert scalar(superuser, "select max(batch) from pgclarify.candidate where run_id = %s", run_id) == 2
    assert scalar(asker, "select pgclarify.cancel(array[%s]::bigint[])", run_id)
    until(lambda: model.in_flight == 0)
    leased = "select exists (select from pgclarify_private.completion where leased_by is not null and reply is null)"
    until(lambda: not scalar(superuser, leased))
    assert scalar(superuser, "select status from pgclarify.run where run_id = %s", run_id) == "cancelled"


def test_a_reranker_chooses_what_is_judged(asker: Connection, superuser: Connection) -> None:
    rows = clarify(asker, "returned with a full tank", reranker="signal", method="dense", top_k=3)
    candidates = superuser.execute(CANDIDATES, [rows[0][0]]).fetchall()
    assert len(candidates) == 3
    # The words decide, and a dense search does not use them.
    assert candidates[0][6] == "104"
    rows = clarify(asker, "returned with a full tank", reranker="model", retrieval="adaptive", top_k=3)
    assert len(superuser.execute(CANDIDATES, [rows[0][0]]).fetchall()) <= 3


def test_a_reranker_that_there_is_not_fails_the_run(asker: Connection) -> None:
    with pytest.raises(psycopg.Error) as failed:
        clarify(asker, "whatever", reranker="/no/such/model", retrieval="adaptive")
    assert failed.value.sqlstate == "PC003"
