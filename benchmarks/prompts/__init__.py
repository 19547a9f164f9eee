"""Prompts that only benchmarks ask. A worker does not announce their versions, so that its answers stay valid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pgclarify.prompts import versions

VERSIONS: Final[Mapping[str, str]] = {
    "baseline_ambiguity": "1",
    "baseline_listing": "1",
    "simulated_reply": "1",
    "simulated_choice": "1",
    "verdicts": "1",
    "one_prompt": "1",
    "next_answer": "1",
    "follow_up": "3",
    "meta_evidence": "1",
    "scheme": "1",
}


def version_of(purpose: str) -> str:
    """Look up the version of a prompt, of a benchmark or of the product."""
    return VERSIONS.get(purpose) or versions.version_of(purpose)
