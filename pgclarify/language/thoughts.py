"""What a model writes before its answer, where the server does not keep it apart."""

from __future__ import annotations

import re
from typing import Final

_START: Final = re.compile(r"\s*(?:<(think|thinking|thought|reasoning)>|\[(think)\])", re.IGNORECASE)
# Some servers send the thoughts without the mark before them, since the prompt ends with it.
_END_ALONE: Final = re.compile("</think>", re.IGNORECASE)
# JSON or a block of code: then what looks like a mark is a part of the answer.
_ANSWERS: Final = ("{", "[", "```")


def without_thoughts(text: str) -> str:
    """Leave out the thoughts before an answer.

    Args:
        text: What a model wrote.

    Returns:
        What follows the thoughts; nothing if they do not end; the text itself if there are none.
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
    """What follows a mark; None if it does not occur."""
    found = mark.search(text)
    return None if found is None else text[found.end() :]
