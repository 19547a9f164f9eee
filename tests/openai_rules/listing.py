"""The rules by which the model of tests.openai_server lists answers.

It reads the sentences of the passages that share a word with the question, in order. Its answer is the last words of
the first sentence whose last words were neither found nor refused so far. Like a model without protection against
injection, it stops when a text outside of the passages orders it.
"""

from __future__ import annotations

import re
from typing import Any

_PASSAGE = re.compile(r"<passage-(\d+)-([0-9a-f]+)>\n(.*?)(?=\n<passage-\d+-\2>|\n</passage-\2>)", re.DOTALL)
_HEADER = re.compile(r"\A(?:Title: .*\n)?(?:Section: .*\n)?")
_SENTENCE = re.compile(r"\S.*?(?:[.!?](?=\s)|\Z)", re.DOTALL)
_END = re.compile(r"the list ends here", re.IGNORECASE)
_NOTHING = {"quote": None, "passage": None, "answer": None}


def reply(purpose: str | None, text: str) -> dict[str, Any] | None:
    """The model's reply to a user message of a listing; None if the message is of another kind."""
    if purpose != "listing":
        return None
    outside = _PASSAGE.sub("", text)
    if _END.search(outside):
        return _NOTHING
    known = [
        answer
        for given in re.findall(r"^(?:Found|Refused) so far: (.*)$", outside, re.MULTILINE)
        for answer in given.split("; ")
    ]
    wanted = _words(re.findall(r"^Question: (.*)$", text, re.MULTILINE)[-1])
    for number, _, shown in _PASSAGE.findall(text):
        for sentence in _SENTENCE.findall(_HEADER.sub("", shown)):
            answer = " ".join(re.findall(r"[\w-]+", sentence)[-2:])
            if wanted & _words(sentence) and answer not in known:
                return {"quote": sentence, "passage": int(number), "answer": answer}
    return _NOTHING


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", text.casefold()) if len(word) > 3}
