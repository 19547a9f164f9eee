"""Searches, in a real worker."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from pgclarify.embedding.cross_encoder import SentenceTransformerCrossEncoder
from tests.integration.by_hand import Connection
from tests.openai_server import Server
from tests.unit.embedding.small_cross_encoder import save_cross_encoder
from tests.workers import CORPUS, DOCUMENTS, wait_until_linked

QUESTION = "when is it open ?"


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
        "select run_id, stop_reason from pgclarify.run where settings ->> 'retrieval' = 'adaptive'"
    ).fetchall()
    assert stop_reason == "the limit of 5 passages is reached"
    stages = asker.execute(
        "select name, batch from pgclarify_private.seen_stage where run_id = %s order by ordinal", [run_id]
    )
    # A batch is at most half of the budget.
    batches = [("reranking", 1), ("neighbors", 1), ("reranking", 2), ("reranking", 3)]
    assert stages.fetchall() == [("retrieval", None), *batches]
    found = asker.execute(
        "select candidate.via_passage_id = passage.id, candidate.batch from pgclarify.candidate, pgclarify.passage"
        " where candidate.run_id = %s and passage.document_id = '110' order by candidate.rank",
        [run_id],
    ).fetchall()
    assert found[0] == (None, 1)
    # By rank, which is not the order in which they were reached.
    assert sorted(found[1:]) == [(True, 2)] * 2 + [(True, 3)] * 2


def test_search_scored_again_by_a_model(asker: Connection, model: Server) -> None:
    calls = model.calls
    options = '{"reranker": "model", "max_passages": 4}'
    rows = asker.execute("select score from pgclarify.search('fuel', %s, 3, %s)", [CORPUS, options]).fetchall()
    assert len(rows) == 3
    assert all(0 < score < 1 for (score,) in rows)
    assert model.calls == calls + 4


def test_lexical_search_needs_no_worker(connection: Connection) -> None:
    connection.execute("select pgclarify.create_corpus('empty')")
    rows = connection.execute(
        """select * from pgclarify.search('hail', options => '{"method": "lexical"}')"""
    ).fetchall()
    assert rows == []


def scored_again(connection: Connection, reranker: str) -> list[tuple[str, float, str]]:
    """Title, score and content of what is found."""
    options = json.dumps({"reranker": reranker, "max_passages": 6, "timeout": "10min"})
    return connection.execute(
        "select title, score, content from pgclarify.search(%s, %s, 3, %s) order by rank", [QUESTION, CORPUS, options]
    ).fetchall()


def test_a_cross_encoder_on_the_workers_disk_scores_passages(asker: Connection, model: Server, tmp_path: Path) -> None:
    calls = model.calls
    path = save_cross_encoder(tmp_path / "model")
    rows = scored_again(asker, path)
    assert len(rows) == 3
    encoder = SentenceTransformerCrossEncoder(path)
    try:
        expected = asyncio.run(encoder.relevance([(QUESTION, f"{title}\n{content}") for title, _, content in rows]))
    finally:
        encoder.close()
    assert [score for _, score, _ in rows] == pytest.approx(sorted(expected, reverse=True), abs=1e-4)
    assert model.calls == calls
