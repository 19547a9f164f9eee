"""The greatest number of calls of clarify, computed from its settings."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import Any

from pgclarify.data.vocabulary import AT_ENDPOINT
from pgclarify.operations.judging.confirmation import AT_ONCE
from pgclarify.operations.retrieval.first_stage import RERANKED
from pgclarify.operations.retrieval.reranking import PASSAGES_AT_ONCE


def most_verdicts(settings: Mapping[str, Any]) -> int:
    """Bound the verdicts on one question; settings as in `most_calls`."""
    top_k: int = settings["top_k"]
    max_passages: int = settings.get("max_passages", top_k)
    return max_passages if settings.get("retrieval") == "adaptive" else min(top_k, max_passages)


def most_calls(settings: Mapping[str, Any], *, relaxes: bool) -> dict[str, int]:
    """Bound the calls for one question that a single pass does not answer, not counting repeated calls.

    Args:
        settings: Of a run of clarify; top_k is set.
        relaxes: Whether the completer relaxes questions.

    Returns:
        By purpose.
    """
    most = most_verdicts(settings)
    calls = {"relaxation": int(relaxes), "verdict": most}
    if settings.get("verify") == "model":
        # Guided runs confirm batch by batch, and a batch may be a single passage.
        calls["confirmation"] = most if settings.get("retrieval") == "adaptive" else ceil(most / AT_ONCE)
    reranker = settings.get("reranker") or ""
    # Passages are ranked for the question, and separately for the relaxed question.
    is_ranked_twice = relaxes and (settings.get("retrieval") == "adaptive" or settings.get("ask_back") == "when_vague")
    most_ranked = max(RERANKED, settings["top_k"])
    if reranker == "model":
        calls["relevance"] = (1 + is_ranked_twice) * most_ranked
    elif reranker.startswith(AT_ENDPOINT):
        calls["reranking"] = (1 + is_ranked_twice) * ceil(most_ranked / PASSAGES_AT_ONCE)
    return calls


def most_calls_of_one_pass(settings: Mapping[str, Any]) -> dict[str, int]:
    """Bound the calls of a single pass over a clear question; settings and result as in `most_calls`."""
    return {"one_pass": 1, "confirmation": int(settings.get("verify") == "model")}
