"""Repositories that are kept for measuring are in no training, and none of their questions is asked here."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json

import pytest

from tests.pages import CHECKOUT

SENTENCES = CHECKOUT / "training" / "sentences"
QUALITY = CHECKOUT / "benchmarks" / "quality"


def kept_of(names: set[str]) -> set[str]:
    """The kept ones of some repositories."""
    kept = set((SENTENCES / "kept.sha256").read_text("utf-8").split())
    assert kept
    return {name for name in names if hashlib.sha256(name.lower().encode()).hexdigest() in kept}


def test_nothing_is_trained_on_or_marked_in_a_kept_repository() -> None:
    with (SENTENCES / "repositories.csv").open(encoding="utf-8") as file:
        names = {row["repository"] for row in csv.DictReader(file)}
    marked = gzip.decompress((SENTENCES / "judged.jsonl.gz").read_bytes()).splitlines()

    assert {json.loads(line)["documents"] for line in marked} <= names
    assert kept_of(names) == set()


@pytest.mark.parametrize("name", ["real_documents.jsonl", "labels/real_readings.jsonl"])
def test_nothing_is_asked_or_judged_of_a_kept_repository(name: str) -> None:
    rows = (QUALITY / name).read_text("utf-8").splitlines()

    assert kept_of({json.loads(line)["documents"] for line in rows}) == set()
