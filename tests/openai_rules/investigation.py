"""The rules by which the model of tests.openai_server investigates.

It plans the questions of a request one after the other, with [1] for the answer to the first. It reads an answer from
the passage that shares most words with the question.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

_PASSAGE = re.compile(r"<passage-(\d+)-([0-9a-f]+)>\n(.*?)(?=\n<passage-\d+-\2>|\n</passage-\2>)", re.DOTALL)
_HEADER = re.compile(r"\A(?:Title: .*\n)?(?:Section: .*\n)?")
_SENTENCE = re.compile(r"\S.*?(?:[.!?](?=\s)|\Z)", re.DOTALL)


def reply(purpose: str | None, text: str) -> dict[str, Any] | None:
    """The model's reply to a user message of an investigation; None if the message is of another kind."""
    say = _REPLIES.get(purpose or "")
    return None if say is None else say(text)


def _plan(text: str) -> dict[str, Any]:
    asked = [f"{part.strip()}?" for part in _question(text).split("?") if part.strip()]
    # A plan begins with the last question.
    return {"questions": [_turned(one, len(asked)) for one in reversed(asked)]}


def _turned(asked: str, count: int) -> str:
    return re.sub(r"\[(\d+)\]", lambda place: f"#{count + 1 - int(place[1])}", asked)


def _sample(text: str) -> dict[str, Any]:
    return {"answer": _found(text)["answer"]}


def _read(text: str) -> dict[str, Any]:
    found = _found(text)
    if found["answer"] is None:
        return {"reasoning": "No passage says it.", "evidence": [], "answer": None}
    quoted = {"passage": found["passage"], "quote": found["quote"]}
    return {"reasoning": f"Passage {found['passage']} says it.", "evidence": [quoted], "answer": found["answer"]}


def _found(text: str) -> dict[str, Any]:
    wanted = _words(_question(text))
    shares = {number: len(wanted & _words(content)) for number, content in _passages(text).items()}
    best = max(shares, key=lambda number: shares[number], default=0)
    if not wanted or shares.get(best, 0) * 2 < len(wanted):
        return {"passage": None, "quote": None, "answer": None}
    quote = _sentence(_passages(text)[best])
    return {"passage": best, "quote": quote, "answer": _answer(quote)}


_REPLIES: Mapping[str, Callable[[str], dict[str, Any]]] = {
    "plan": _plan,
    "sample": _sample,
    "answer": _read,
    "conclusion": _read,
}


def _passages(text: str) -> dict[int, str]:
    """The passages in the message, by number, without titles."""
    return {int(number): _HEADER.sub("", shown) for number, _, shown in _PASSAGE.findall(text)}


def _question(text: str) -> str:
    return str(re.findall(r"^Question: (.*)$", text, re.MULTILINE)[-1])


def _sentence(content: str) -> str:
    sentence = _SENTENCE.search(content)
    return sentence[0] if sentence else content


def _answer(quote: str) -> str:
    return " ".join(re.findall(r"[\w-]+", quote)[-3:])


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", text.casefold()) if len(word) > 3}
