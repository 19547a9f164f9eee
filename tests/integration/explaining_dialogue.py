"""Settings and citations that tests of explanations share."""

from __future__ import annotations

from typing import Any

ASKED_BACK = {
    "form": "select", "count": 5,
    "check": "drop", "method": "hybrid", "top_k": 4,
}  # fmt: skip
LISTED = {"method": "hybrid", "top_k": 20, "max_answers": 10}


def quoted(*ranks: int) -> list[dict[str, Any]]:
    return [{"candidate_rank": rank, "quote": "a quote", "start_char": 0, "end_char": 7} for rank in ranks]
