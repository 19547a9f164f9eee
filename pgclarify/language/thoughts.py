"""Removes a model's thoughts before its answer, if the server does not separate them."""

from __future__ import annotations

import re
from typing import Final

_START: Final = re.compile(r"\s*(?:<(think|thinking|thought|reasoning)>|\[(think)\])", re.IGNORECASE)
# Some servers omit the mark before the thoughts, because the prompt ends with it.
_END_ALONE: Final = re.compile("</think>", re.IGNORECASE)
# JSON or a code block: then text that looks like a mark is a part of the answer.
_ANSWERS: Final = ("{", "[", "```")


def without_thoughts(text: str) -> str:
    """Remove the thoughts before an answer.

    Args:
        text: The text of a model.

    Returns:
        The text after the thoughts; empty if they do not end; the whole text if there are none.
    """
    start = _START.match(text)
    if start is not None:
        end = f"</{start[1]}>" if start[1] else f"[/{start[2]}]"
        return _after(re.compile(re.escape(end), re.IGNORECASE), text) or ""
    if text.lstrip().startswith(_ANSWERS):
        return text
    after = _after(_END_ALONE, text)
    return text if after is None else after


def _after(mark: re.Pattern[str], text: str) -> str | None:
    """Return the text after a mark; None if the mark does not occur."""
    found = mark.search(text)
    return None if found is None else text[found.end() :]
