"""The version of each prompt. The ledger keeps replies by it.

If you change the text, the form or the decoding of a prompt, increase its version here, and no other version: then the
replies to other prompts are not paid for again. A test fails if a prompt has changed and its version has not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

from pgclarify.data.vocabulary import Purpose

VERSIONS: Final[Mapping[str, str]] = {
    Purpose.RELAXATION: "2",
    Purpose.VERDICT: "2",
    Purpose.JOINT_VERDICTS: "2",
    Purpose.CONFIRMATION: "1",
    Purpose.RELEVANCE: "1",
    Purpose.RERANKING: "1",
    Purpose.ENTAILMENT: "1",
    Purpose.INFERENCE: "1",
    Purpose.PLAN: "2",
    Purpose.SAMPLE: "1",
    Purpose.ANSWER: "2",
    Purpose.CONCLUSION: "3",
    Purpose.REWRITING: "2",
    Purpose.REFORMULATION: "2",
    Purpose.QUESTIONS: "6",
    Purpose.BASELINE_PROPOSAL: "2",
    Purpose.BASELINE_VERIFICATION: "2",
    Purpose.BASELINE_ANSWERS: "2",
    Purpose.BASELINE_DISAMBIGUATION: "2",
}
"""Versions of the prompts that answer questions, by purpose."""

JUDGE_VERSIONS: Final[Mapping[str, str]] = {
    Purpose.JUDGE_SUPPORT: "1",
    Purpose.JUDGE_MATCH: "1",
}
"""Versions of the prompts that judge answers in an evaluation, by purpose."""


def version_of(purpose: str) -> str:
    """Look up the version of one prompt."""
    return VERSIONS.get(purpose) or JUDGE_VERSIONS[purpose]


def in_service(reasoning_effort: str | None) -> str:
    """Return the version that a worker with a language model announces. Answers with another version are not reused.

    Args:
        reasoning_effort: How much the model thinks; None lets the model decide.
    """
    return with_effort(combined(VERSIONS), reasoning_effort)


def with_effort(version: str, reasoning_effort: str | None) -> str:
    """Add the reasoning effort to a version, if one is set."""
    return version if reasoning_effort is None else f"{version}, reasoning effort {reasoning_effort}"


def combined(versions: Mapping[str, str]) -> str:
    """Write several versions as one text, which changes whenever one of them changes.

    The text has the most frequent version, and then each prompt with another version: "1, verdict 2".
    """
    ((most, _),) = Counter(versions.values()).most_common(1)
    others = (f"{purpose} {version}" for purpose, version in sorted(versions.items()) if version != most)
    return ", ".join((most, *others))
