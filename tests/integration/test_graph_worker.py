"""The neighborhood graph as a real worker keeps it, and the commands that build and check it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.workers import CORPUS, DOCUMENTS, Service, environment, run_command, scalar, until, wait_until_linked


@pytest.fixture
def linked(service: Service, superuser: psycopg.Connection[Any]) -> Service:
    """The service, after its worker has linked its corpus."""
    wait_until_linked(superuser)
    return service


def graph(service: Service, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run_command(
        "graph", *arguments, variables=environment(service.dsn, None) | {"COLUMNS": "120"}, folder=folder
    )


def test_a_worker_links_what_is_loaded(linked: Service, superuser: psycopg.Connection[Any]) -> None:
    near = superuser.execute(
        "select near.* from pgclarify.passage cross join lateral pgclarify.neighbors("
        " %s, passage.document_id, passage.id) as near where passage.document_id = '104'",
        [CORPUS],
    ).fetchall()

    assert [row[0] for row in near] == list(range(1, 11))
    similarities = [row[3] for row in near]
    assert similarities == sorted(similarities, reverse=True)
    assert 0 < similarities[-1] < similarities[0] < 1


def test_build_and_check(linked: Service, tmp_path: Path) -> None:
    built = graph(linked, tmp_path, "build", CORPUS)

    assert (built.returncode, built.stderr) == (0, "")
    assert built.stdout.split()[:5] == [str(len(DOCUMENTS)), "of", str(len(DOCUMENTS)), "passages", "of"]
    checked = graph(linked, tmp_path, "check", CORPUS, "--sample", "5", "--json")
    assert (checked.returncode, checked.stderr) == (0, "")
    assert json.loads(checked.stdout) == {
        "corpus": CORPUS,
        "passages": len(DOCUMENTS),
        "linked": len(DOCUMENTS),
        "unlinked": 0,
        "pending": 0,
        "self_edges": 0,
        "dangling": 0,
        "orphans": 0,
        "gaps": 0,
        "unordered": 0,
        "sampled": 5,
        "recall": 1.0,
        "faults": [],
    }


def test_a_harmed_graph_fails_and_is_built_again(
    linked: Service, superuser: psycopg.Connection[Any], tmp_path: Path
) -> None:
    superuser.execute(
        "update pgclarify_private.neighborhood set neighbor_ids[1] = passage_id, neighbor_document_ids[1] = document_id"
    )

    checked = graph(linked, tmp_path, "check", CORPUS)

    assert checked.returncode == 1
    assert f"{len(DOCUMENTS)} " in checked.stderr
    assert CORPUS in checked.stderr
    assert graph(linked, tmp_path, "build", CORPUS).returncode == 0
    assert graph(linked, tmp_path, "check", CORPUS).returncode == 0


def test_a_corpus_that_does_not_exist(linked: Service, tmp_path: Path) -> None:
    for command in ("build", "check"):
        done = graph(linked, tmp_path, command, "nothing")

        assert done.returncode == 1
        assert "nothing" in done.stderr


def test_no_wait(linked: Service, superuser: psycopg.Connection[Any], tmp_path: Path) -> None:
    done = graph(linked, tmp_path, "build", CORPUS, "--no-wait")

    assert (done.returncode, done.stderr) == (0, "")
    until(lambda: scalar(superuser, "select linking_document_id is null from pgclarify_private.embedding_space"))
