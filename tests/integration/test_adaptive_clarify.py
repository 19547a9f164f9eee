"""Searches, and clarify with adaptive retrieval, a budget or a reranker: with a worker, a graph and a model server."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.openai_server import HANG, Chat, Reply, Server, by_rules
from tests.sessions import Connection, scalar
from tests.workers import CORPUS, DOCUMENTS, Service, until, wait_until_linked

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
    rows = clarify(asker, "what does it cost", retrieval="adaptive", max_passages=12, relax=True)
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
    model.behavior = by_rules
    model.releases += 1
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


@pytest.mark.parametrize("method", ["dense", "lexical", "hybrid"])
def test_a_search_ranks_passages(asker: Connection, model: Server, method: str) -> None:
    calls = model.calls
    rows = asker.execute(
        """
        select rank, document_id, title, content, score, origin
        from pgclarify.search('driving into Canada or Mexico', %s, top_k => 3, options => %s)
        """,
        [CORPUS, f'{{"method": "{method}"}}'],
    ).fetchall()

    assert model.calls == calls
    assert [row[0] for row in rows] == list(range(1, len(rows) + 1))
    assert rows[0][1:4] == ("105", *DOCUMENTS[105])
    assert [row[4] for row in rows] == sorted((row[4] for row in rows), reverse=True)
    assert {row[5] for row in rows} <= ({"dense", "lexical"} if method == "hybrid" else {method})


def test_search_from_neighbor_to_neighbor(asker: Connection, superuser: Connection, model: Server) -> None:
    """One passage has the word. The search finds the others through it."""
    wait_until_linked(superuser)
    calls = model.calls
    search = "select rank, document_id, score, origin from pgclarify.search('mileage', %s, 5, %s)"

    plain = asker.execute(search, [CORPUS, '{"method": "lexical"}']).fetchall()
    rows = asker.execute(
        search, [CORPUS, '{"retrieval": "adaptive", "method": "lexical", "max_passages": 5}']
    ).fetchall()

    assert [row[1] for row in plain] == ["110"]
    assert [row[0] for row in rows] == [1, 2, 3, 4, 5]
    assert rows[0][1] == "110", "no passage is nearer to the question"
    assert [row[3] for row in rows] == ["lexical"] + ["neighbor"] * 4
    assert all(0 < row[2] < 1 for row in rows)
    assert [row[2] for row in rows] == sorted((row[2] for row in rows), reverse=True)
    assert model.calls == calls
    ((run_id, stop_reason),) = asker.execute(
        "select run_id, stop_reason from pgclarify.run"
        " where operation = 'search' and settings ->> 'retrieval' = 'adaptive'"
    ).fetchall()
    assert stop_reason == "the limit of 5 passages is reached"
    stages = asker.execute(
        "select name, batch from pgclarify_private.seen_stage where run_id = %s order by ordinal", [run_id]
    )
    # A batch is at most half of the budget.
    batches = [("reranking", 1), ("neighbors", 1), ("reranking", 2), ("neighbors", 2), ("reranking", 3)]
    assert stages.fetchall() == [("retrieval", None), *batches]
    found = asker.execute(
        "select candidate.via_passage_id = passage.id, candidate.batch from pgclarify.candidate, pgclarify.passage"
        " where candidate.run_id = %s and passage.document_id = '110' order by candidate.rank",
        [run_id],
    ).fetchall()
    assert found[0] == (None, 1)
    # By rank, which is not the order in which they were reached.
    assert sorted(found[1:]) == [(True, 2)] * 2 + [(True, 3)] * 2
