"""The version of each prompt. The ledger keeps replies by it.

Whoever changes the text, the form or the decoding of a prompt raises its version here, and that of no other: then the
replies to the others are not paid for again. A test fails where a prompt changed and its version did not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

VERSIONS: Final[Mapping[str, str]] = {
    "relaxation": "2",
    "verdict": "2",
    "confirmation": "1",
    "relevance": "1",
    "reranking": "1",
    "entailment": "1",
    "inference": "1",
    "follow_up": "2",
    "sample": "1",
    "answer": "2",
    "conclusion": "2",
    "one_pass": "1",
    "listing": "2",
    "rewriting": "2",
    "reformulation": "2",
    "questions": "4",
    "baseline_proposal": "2",
    "baseline_verification": "2",
    "baseline_answers": "2",
    "baseline_disambiguation": "2",
    "baseline_ambiguity": "1",
    "baseline_listing": "1",
    "simulated_reply": "1",
    "simulated_choice": "1",
}
"""By purpose: the prompts that answer questions."""

JUDGE_VERSIONS: Final[Mapping[str, str]] = {
    "judge_support": "1",
    "judge_match": "1",
    "judge_distinct": "1",
    "judge_relevance": "1",
}
"""By purpose: the prompts that judge answers in an evaluation."""


def version_of(purpose: str) -> str:
    """Look up the version of one prompt."""
    return VERSIONS.get(purpose) or JUDGE_VERSIONS[purpose]


def in_service(reasoning_effort: str | None) -> str:
    """Write what a worker with a language model announces: answers of another are not served again.

    Args:
        reasoning_effort: How much the model thinks; None if it is not told.
    """
    versions = combined(VERSIONS)
    return versions if reasoning_effort is None else f"{versions}, reasoning effort {reasoning_effort}"


def combined(versions: Mapping[str, str]) -> str:
    """Write several versions as one text, which differs whenever one of them does.

    It is the version that most prompts have, and then each prompt that has another: "1, verdict 2".
    """
    ((most, _),) = Counter(versions.values()).most_common(1)
    others = (f"{purpose} {version}" for purpose, version in sorted(versions.items()) if version != most)
    return ", ".join((most, *others))
