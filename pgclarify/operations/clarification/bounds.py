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
    if settings.get("retrieval") == "adaptive":
        return max_passages
    return min(top_k, max_passages)


def most_calls(settings: Mapping[str, Any]) -> dict[str, int]:
    """Bound the calls for one question that a single pass does not answer, not counting repeated calls.

    Args:
        settings: Of a run of clarify; top_k is set.

    Returns:
        By purpose.
    """
    is_adaptive = settings.get("retrieval") == "adaptive"
    asks_back = settings.get("ask_back") == "when_vague"
    relaxes = settings.get("relax", False)
    most = most_verdicts(settings)
    calls = {"relaxation": int(relaxes), "verdict": most}
    if settings.get("passages_per_call", 1) > 1:
        # A joint call has two passages or more, and a reply may leave each of them to a call about it alone.
        calls["joint_verdicts"] = most // 2
    if settings.get("verify") == "model":
        # Guided runs confirm batch by batch, and a batch may be a single passage.
        calls["confirmation"] = most if is_adaptive else ceil(most / AT_ONCE)

    rankings = 1
    if relaxes and (is_adaptive or asks_back):
        # Passages are ranked for the question, and again for the relaxed question.
        rankings = 2
    most_ranked = max(RERANKED, settings["top_k"])
    reranker = settings.get("reranker") or ""
    if reranker == "model":
        calls["relevance"] = rankings * most_ranked
    elif reranker.startswith(AT_ENDPOINT):
        calls["reranking"] = rankings * ceil(most_ranked / PASSAGES_AT_ONCE)
    return calls


def most_calls_of_one_pass(settings: Mapping[str, Any]) -> dict[str, int]:
    """Bound the calls of a single pass over a clear question; settings and result as in `most_calls`."""
    confirms = settings.get("verify") == "model"
    return {"joint_verdicts": 1, "confirmation": int(confirms)}
