"""Searches that a cross-encoder scores again, in a real worker."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgclarify.embedding.cross_encoder import SentenceTransformerCrossEncoder
from tests.openai_server import Server
from tests.small_cross_encoder import save_cross_encoder
from tests.workers import CORPUS

Connection = psycopg.Connection[Any]
QUESTION = "when is it open ?"


def search(connection: Connection, reranker: str) -> list[tuple[str, float, str]]:
    """Title, score and content of what is found."""
    options = json.dumps({"reranker": reranker, "budget": 6, "timeout": "10min"})
    return connection.execute(
        "select title, score, content from pgclarify.search(%s, %s, 3, %s) order by rank", [QUESTION, CORPUS, options]
    ).fetchall()


def test_a_cross_encoder_on_the_workers_disk_scores_passages(asker: Connection, model: Server, tmp_path: Path) -> None:
    calls = model.calls
    path = save_cross_encoder(tmp_path / "model")
    rows = search(asker, path)
    assert len(rows) == 3
    encoder = SentenceTransformerCrossEncoder(path)
    try:
        expected = asyncio.run(encoder.relevance([(QUESTION, f"{title}\n{content}") for title, _, content in rows]))
    finally:
        encoder.close()
    assert [score for _, score, _ in rows] == pytest.approx(sorted(expected, reverse=True), abs=1e-4)
    assert model.calls == calls


@pytest.mark.parametrize(
    ("labels", "has_head", "reason"),
    [
        (("contradiction", "entailment"), True, "does not score relevance"),
        ((), False, "no cross-encoder"),
    ],
)
@pytest.mark.wording
def test_a_model_of_another_kind_is_refused_by_name(
    asker: Connection, model: Server, tmp_path: Path, labels: tuple[str, ...], has_head: bool, reason: str
) -> None:
    path = save_cross_encoder(tmp_path / "model", labels, has_head=has_head)
    with pytest.raises(psycopg.Error, match=reason) as caught:
        search(asker, path)
    assert caught.value.sqlstate == "PC003"
    assert path in str(caught.value)
