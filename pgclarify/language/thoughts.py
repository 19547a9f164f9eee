"""Removes a model's thoughts before its answer, if the server does not separate them."""

from __future__ import annotations

import re
from typing import Final

THOUGHTS: Final = "think|thinking|thought|thoughts|reasoning|reflection|analysis"
"""The names of marks around thoughts, as a regular expression."""
# <think>, [THINK], ◁think▷, <seed:think>, <|begin_of_thought|>, <|START_THINKING|>.
_START: Final = re.compile(rf"\s*[<\[◁]\|?(?:begin_of_|start_|seed:)?({THOUGHTS})\|?[>\]▷]", re.IGNORECASE)
# Some servers omit the mark before the thoughts, because the prompt ends with it.
_END_ALONE: Final = re.compile(r"</(?:seed:)?think>|\[/think\]|◁/think▷", re.IGNORECASE)
# JSON or a code block: then text that looks like a mark is a part of the answer.
_ANSWERS: Final = ("{", "[", "```")
# Harmony, the format of gpt-oss: channels of which the last one is the answer, also if a server has removed its marks.
_HARMONY: Final = re.compile(r"\s*(?:<\|(?:start|channel)\|>|analysis(?!\s*[:>\]]))")
_FINAL_CHANNEL: Final = re.compile(r"<\|channel\|>\s*final\b[^{]*?<\|message\|>|assistantfinal")
_END_OF_CHANNEL: Final = re.compile(r"<\|(?:end|return|call)\|>")


def without_thoughts(text: str) -> str:
    """Remove the thoughts before an answer.

    Args:
        text: The text of a model.

    Returns:
        The text after the thoughts; empty if they do not end; the whole text if there are none.
    """
    start = _START.match(text)
    if start is not None:
        end = rf"[<\[◁](?:/|\|(?:end_of_|end_))(?:seed:)?{start[1]}\|?[>\]▷]"
        return _after(re.compile(end, re.IGNORECASE), text) or ""
    if _HARMONY.match(text) and (answer := _after(_FINAL_CHANNEL, text)) is not None:
        return _END_OF_CHANNEL.split(answer, maxsplit=1)[0]
    if text.lstrip().startswith(_ANSWERS):
        return text
    after = _after(_END_ALONE, text)
    return text if after is None else after


def _after(mark: re.Pattern[str], text: str) -> str | None:
    """Return the text after a mark; None if the mark does not occur."""
    found = mark.search(text)
    return None if found is None else text[found.end() :]
