"""Shared by tests of explanations of dialogues: settings, and the statements of a worker."""

from __future__ import annotations

import json
from typing import Any

from tests.integration.explaining import Desk

ASKED_BACK = {
    "form": "respond", "count": 1,
    "check": "drop", "method": "hybrid", "top_k": 4,
}  # fmt: skip
LISTED = {"method": "hybrid", "top_k": 20, "max_answers": 10}


def record(desk: Desk, run_id: int, what: str, value: object) -> None:
    desk.worker.send(f"record_{what}", run_id=run_id, attempt=1, **{what: json.dumps(value)})


def quoted(*ranks: int) -> list[dict[str, Any]]:
    return [{"candidate_rank": rank, "quote": "a quote", "start_char": 0, "end_char": 7} for rank in ranks]
