"""The rules by which the model of tests.openai_server relaxes questions, and judges and compares passages and answers.

It reads the first sentence of a passage; it abstains on short passages and on a quarter of all others. A joint verdict
has the readings of all its passages. The grade of a passage depends on the words of the question in it. One answer
entails another if it has all of its words. Like a model without protection against injection, it obeys text outside of
the fence in a verdict, and only that text.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any

_HEADER = re.compile(r"\A(?:Title: (?P<title>.*)\n)?(?:Section: .*\n)?\n?")
_SENTENCE = re.compile(r"\S.*?(?:[.!?](?=\s)|\Z)", re.DOTALL)
_NUMBERED = re.compile(r"<passage-(\d+)-([0-9a-f]+)>\n(.*?)\n(?=<passage-\d+-\2>|</passage-\2>)", re.DOTALL)
_ORDER = re.compile(r"ignore all (?:previous )?instructions", re.IGNORECASE)


def reply(purpose: str | None, outside: str, passage: str | None) -> dict[str, Any]:
    """The model's reply to a user message, given as its passage, if it has one, and the text outside of it."""
    if purpose == "joint_verdicts":
        return _joint(outside)
    if purpose == "relevance":
        asked = words(_line(outside, "Question"))
        return {"grade": 3 * len(asked & words(passage or "")) // max(1, len(asked))}
    if purpose == "entailment":
        first, second = (words(_line(outside, label)) for label in ("First answer", "Second answer"))
        return {"entails": second <= first}
    if _ORDER.search(outside):
        return {"interpretation": "Who gives the orders here?", "answer": "obeyed", "quote": "obeyed"}
    question = outside.strip().partition("Question: ")[2].splitlines()[0]
    if passage is None:
        return {"query": f"{question} overview"}
    header = _HEADER.match(passage)
    content = passage[header.end() :] if header else passage
    sentence = _SENTENCE.search(content)
    if sentence is None or len(content.split()) < 5 or hashlib.sha256(content.encode()).digest()[0] % 4 == 0:
        return {"interpretation": None, "answer": None, "quote": None}
    said = re.findall(r"\w+", sentence[0])
    topic = (header and header["title"]) or " ".join(said[:4])
    # A reading must not contain its answer.
    matter = " ".join(said[4:-4][:5]) or topic
    return {
        "interpretation": f"What does {topic} say about {matter}?"[:400],
        "answer": " ".join(said[-4:]),
        "quote": sentence[0][:1000],
    }


def _joint(text: str) -> dict[str, Any]:
    outside = _NUMBERED.sub("", text)
    readings = []
    for number, _, shown in _NUMBERED.findall(text):
        said = reply("verdict", outside, shown)
        if said["answer"] is not None:
            proofs = [{"passage": int(number), "quote": said.pop("quote")}]
            readings.append({**said, "proofs": proofs})
    return {"readings": readings}


def words(text: str) -> set[str]:
    """The words of a text, in lower case."""
    return set(re.findall(r"\w+", text.casefold()))


def _line(outside: str, label: str) -> str:
    return outside.partition(f"{label}: ")[2].split("\n", 1)[0]
