"""Models on the worker's disk that need PyTorch: a cross-encoder that reranks, and another model for a corpus."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from pgclarify.embedding.cross_encoder import SentenceTransformerCrossEncoder
from tests.integration.counts import assert_counts_agree
from tests.openai_server import Server
from tests.sessions import Connection, scalar
from tests.unit.embedding.small_cross_encoder import save_cross_encoder
from tests.unit.embedding.small_model import save_small_model
from tests.workers import CORPUS, until, wait_until_searchable

QUESTION = "when is it open ?"
SEARCH = "select title, score, content from pgclarify.search(%s, %s, 3, %s) order by rank"
ASK = "select count(*) from pgclarify.clarify('what does a rental cost', top_k => 4, timeout => '5min')"
SET = "select pgclarify_private.set_embedding_model(caller, 'rental', %s) from pgclarify_private.caller"
STATUS = "select embedding_model, next_embedding_model, error from pgclarify.corpus where corpus = 'rental'"


def test_a_cross_encoder_on_the_workers_disk_scores_passages(asker: Connection, model: Server, tmp_path: Path) -> None:
    calls = model.calls
    path = save_cross_encoder(tmp_path / "model")
    options = json.dumps({"reranker": path, "max_passages": 6, "timeout": "10min"})
    rows = asker.execute(SEARCH, [QUESTION, CORPUS, options]).fetchall()
    assert len(rows) == 3
    encoder = SentenceTransformerCrossEncoder(path)
    try:
        expected = asyncio.run(encoder.relevance([(QUESTION, f"{title}\n{content}") for title, _, content in rows]))
    finally:
        encoder.close()
    assert [score for _, score, _ in rows] == pytest.approx(sorted(expected, reverse=True), abs=1e-4)
    assert model.calls == calls


def test_a_worker_fills_and_switches(asker: Connection, superuser: Connection, tmp_path: Path) -> None:
    # It has 24 dimensions and reads 64 tokens.
    small_model = save_small_model(tmp_path)
    assert scalar(asker, ASK) > 0
    runs = scalar(superuser, "select count(*) from pgclarify.run")

    assert scalar(superuser, SET, "/no/such/model") is not None
    until(lambda: scalar(superuser, "select error from pgclarify.corpus"))
    assert scalar(asker, ASK) > 0
    assert scalar(superuser, "select count(*) from pgclarify.run") == runs, "served again: nothing has changed"

    scalar(superuser, SET, small_model)
    superuser.execute("select pgclarify.add_document('rental', '113', 'A rental boat costs ninety dollars a day.')")
    superuser.execute("select pgclarify.remove_document('rental', '101')")

    def has_switched() -> bool:
        used, following, error = superuser.execute(STATUS).fetchall()[0]
        assert error is None
        return (used, following) == (small_model, None)

    until(has_switched)
    wait_until_searchable(superuser)

    active = "select distinct dimensions from pgclarify_private.embedding_space where state = 'active'"
    assert scalar(superuser, active) == 24
    assert scalar(asker, ASK) > 0
    assert scalar(superuser, "select count(*) from pgclarify.run") == runs + 1, "answers may differ now"
    run = "select vector_dims(question_vector) from pgclarify_private.run order by run_id desc limit 1"
    assert scalar(superuser, run) == 24
    assert_counts_agree(superuser)
