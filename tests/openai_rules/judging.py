"""The replies of the model of `openai_server` for baselines, the judge of an evaluation, and answers to confirm.

A passage answers a question if they share a long word. The answer is the last two words of its first sentence. Readings
are the same if they share half of their words.
"""

from __future__ import annotations

import re
from typing import Any

_PASSAGE = re.compile(r"<passage-(\d+)-([0-9a-f]+)>\n(.*?)(?=\n<passage-\d+-\2>|\n</passage-\2>)", re.DOTALL)
_CLAIM = re.compile(
    r"<(passage-[0-9a-f]{16})>\n(.*?)\n</\1>\nQuestion (\d+): [^\n]*\nAnswer \3: ([^\n]*)$", re.DOTALL | re.MULTILINE
)
_TITLE = re.compile(r"\ATitle: (.*)\n")
_HEADER = re.compile(r"\A(?:Title: .*\n)?(?:Section: .*\n)?")
_SENTENCE = re.compile(r"\S.*?(?:[.!?](?=\s)|\Z)", re.DOTALL)


def reply(purpose: str | None, text: str) -> dict[str, Any] | None:
    """The model's reply to such a user message; None if the message is of another kind."""
    if purpose == "confirmation":
        claims = ((_words(claim[2]), _words(claim[4])) for claim in _CLAIM.finditer(text))
        return {"confirmed": [answer <= told for told, answer in claims]}
    if purpose is None or not purpose.startswith(("baseline_", "judge_")):
        return None
    shown = {int(number): content for number, _, content in _PASSAGE.findall(text)}
    outside = _PASSAGE.sub("", text)
    rule = _BASELINES.get(purpose)
    return rule(outside, shown) if rule else _judgement(purpose, outside, shown)


def _propose(outside: str, _: dict[int, str]) -> dict[str, Any]:
    question = _lines(outside, "Question")[0].rstrip(" ?")
    return {"interpretations": [f"{question} at first?", f"{question} at last?"]}


def _verify(outside: str, shown: dict[int, str]) -> dict[str, Any]:
    return {"passages": _answering(_lines(outside, "Question")[0], shown)}


def _answer(outside: str, shown: dict[int, str]) -> dict[str, Any]:
    found = [_answering(question, shown) for question in _lines(outside, r"Question \d+")]
    return {"answers": [_told(shown[numbers[0]]) if numbers else None for numbers in found]}


def _disambiguate(outside: str, shown: dict[int, str]) -> dict[str, Any]:
    question = _lines(outside, "Question")[0].rstrip(" ?")
    return {
        "interpretations": [
            {"interpretation": f"{question} ({_title(shown[number])})?", "answer": _told(shown[number])}
            | {"passages": [number]}
            for number in _answering(question, shown)
        ]
    }


def _list(outside: str, shown: dict[int, str]) -> dict[str, Any]:
    return {
        "answers": [
            {"quote": _told(shown[number]), "passage": number, "answer": _told(shown[number])}
            for number in _answering(_lines(outside, "Question")[0], shown)
        ]
    }


def _is_ambiguous(outside: str, _: dict[int, str]) -> dict[str, Any]:
    return {"ambiguous": re.search(r"\b(?:he|she|it|they)\b", _lines(outside, "Question")[0]) is not None}


_BASELINES = {
    "baseline_proposal": _propose,
    "baseline_verification": _verify,
    "baseline_answers": _answer,
    "baseline_disambiguation": _disambiguate,
    "baseline_ambiguity": _is_ambiguous,
    "baseline_listing": _list,
}


def _judgement(purpose: str, outside: str, shown: dict[int, str]) -> dict[str, Any]:
    if purpose == "judge_support":
        answers = _lines(outside, "Answer")
        told = _words(" ".join(shown.values()))
        wanted = _words(answers[0]) if answers else _words(_lines(outside, "Question")[0])
        return {"supported": wanted <= told}
    known = _lines(outside, r"Known \d+")
    checked = _lines(outside, r"Check \d+")
    return {"matched": [any(_is_same(one, other) for other in known) for one in checked]}


def _lines(text: str, label: str) -> list[str]:
    return re.findall(rf"^{label}: (.*)$", text, re.MULTILINE)


def _answering(question: str, shown: dict[int, str]) -> list[int]:
    asked = _words(question)
    return [number for number, content in shown.items() if not asked.isdisjoint(_words(content))]


def _title(shown: str) -> str:
    title = _TITLE.match(shown)
    return title[1] if title else _told(shown)


def _told(shown: str) -> str:
    sentence = _SENTENCE.search(_HEADER.sub("", shown))
    return " ".join(re.findall(r"[\w-]+", sentence[0])[-2:]) if sentence else "nothing"


def _is_same(one: str, other: str) -> bool:
    words, others = _words(one), _words(other)
    return 2 * len(words & others) >= len(words | others)


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", text.casefold()) if len(word) > 3 or word.isdigit()}
