"""Repositories that are kept for measuring are in no training."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json

from tests.pages import CHECKOUT

FOLDER = CHECKOUT / "training" / "sentences"


def test_nothing_is_trained_on_or_marked_in_a_kept_repository() -> None:
    kept = set((FOLDER / "kept.sha256").read_text("utf-8").split())
    with (FOLDER / "repositories.csv").open(encoding="utf-8") as file:
        names = {row["repository"] for row in csv.DictReader(file)}
    marked = {
        json.loads(line)["documents"]
        for line in gzip.decompress((FOLDER / "judged.jsonl.gz").read_bytes()).splitlines()
    }

    assert kept
    assert marked <= names
    assert {name for name in names if hashlib.sha256(name.lower().encode()).hexdigest() in kept} == set()
