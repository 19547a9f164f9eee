"""Splits rows into training and test rows by a hash, so that the split is the same everywhere."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any, Final

TRAINING_SHARE: Final = 0.6
# The number up to 40 with which all kinds of rows of both data sets are nearest to that share.
_SALT: Final = 23

_QUOTED: Final = re.compile(r"\"([^\"\n]*)\"")
# Clamber's made-up tasks are about one of two categories. These words identify the pairs.
_PAIRS: Final = {
    "proper noun": "proper noun",
    "does not contain": "proper noun",
    "negation": "negation",
    "common noun": "negation",
    "secular": "secular",
    "female": "secular",
    "religious": "religious",
    "male": "religious",
    "indoor": "indoor",
    "human": "indoor",
    "outdoor": "outdoor",
    "animal": "outdoor",
}
_PASSIVE: Final = re.compile(r"who did the [\w-]+ (\w+)")
_STEM: Final = 4


def is_for_training(group: str) -> bool:
    """Return whether the rows of a group are for training."""
    digest = hashlib.sha256(f"{_SALT} {group}".encode()).digest()
    return int.from_bytes(digest[:4], "big") < TRAINING_SHARE * 2**32


def clamber_group(row: Mapping[str, Any]) -> str:
    """Name the group of a row of clamber: rows of one template are in one group.

    Made-up tasks are grouped by their categories, sentences about who did something by their verb. Each other row is
    its own group.
    """
    question: str = row["question"]
    if row["subclass"] == "ICL":
        # Without the single letters of the expected output.
        categories = " ".join([quoted for quoted in _QUOTED.findall(question) if len(quoted) > 1][:2]).lower()
        return f"task {next(pair for word, pair in _PAIRS.items() if word in categories)}"
    if row["subclass"] == "co-reference":
        last = question.splitlines()[-1].lower()
        passive = _PASSIVE.match(last)
        verb = passive.group(1) if passive else re.findall(r"[a-z]+", last)[1]
        return f"who {verb[:_STEM]}"
    return question.lower()


def coqa_group(row: Mapping[str, Any]) -> str:
    """Name the story that a conversation of abg-coqa is about."""
    story: str = row["story"]
    return story
