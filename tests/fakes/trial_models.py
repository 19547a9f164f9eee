"""Models in a trial: what each says of passages with known readings, and the form of the reply."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace

from pgclarify.language.sentences import split_sentences
from pgclarify.operations.model_trial.trial import Known, known_questions
from tests.fakes.completer import Prompt

KNOWN = {known.passage.content: known for asked in known_questions() for known in asked.passages}


@dataclass(frozen=True)
class Said:
    """A reading that a model gives.

    Attributes:
        number: Of the passage that it names, from 1.
    """

    number: int
    answer: str
    quote: str


def sentences(known: Known) -> list[str]:
    content = known.passage.content
    return [content[one.start : one.end] for one in split_sentences(content) if content[one.start] != "#"]


def right(known: Known, question: str) -> tuple[str, str] | None:
    """The answer of a passage to a question with its sentence; None if it answers nothing."""
    (asked,) = (one for one in known_questions() if one.question == question)
    for answer in next((one.answers for one in asked.passages if one.passage == known.passage), ()):
        for sentence in sentences(known):
            if answer in sentence:
                return answer, sentence
    return None


def careful(prompt: Prompt) -> list[Said]:
    """What a model says that makes no mistake."""
    found = [(number, right(KNOWN[one], prompt.question)) for number, one in enumerate(prompt.passages, start=1)]
    return [Said(number, *one) for number, one in found if one is not None]


def mixing_up(share: float) -> Callable[[Prompt], list[Said]]:
    """A model that names another passage of the call for this share of its readings."""
    said = 0

    def say(prompt: Prompt) -> list[Said]:
        nonlocal said
        readings = careful(prompt)
        for place, one in enumerate(readings):
            said += 1
            if len(prompt.passages) > 1 and int(said * share) > int((said - 1) * share):
                readings[place] = replace(one, number=one.number % len(prompt.passages) + 1)
        return readings

    return say


def never_abstaining(prompt: Prompt) -> list[Said]:
    said = {one.number: one for one in careful(prompt)}
    first = {number: sentences(KNOWN[one])[0] for number, one in enumerate(prompt.passages, start=1)}
    return [said.get(number, Said(number, sentence, sentence)) for number, sentence in first.items()]


def inventing_with_others(prompt: Prompt) -> list[Said]:
    return careful(prompt) if len(prompt.passages) < 8 else never_abstaining(prompt)


def paraphrasing(prompt: Prompt) -> list[Said]:
    return [replace(one, quote=f"According to what is written, one pays {one.answer}.") for one in careful(prompt)]


def paraphrasing_with_others(prompt: Prompt) -> list[Said]:
    return careful(prompt) if len(prompt.passages) == 1 else paraphrasing(prompt)


def losing_the_middle(prompt: Prompt) -> list[Said]:
    return [one for one in careful(prompt) if one.number <= 8 or one.number > 14]


def small(prompt: Prompt) -> list[Said]:
    """As Qwen2.5-Coder-1.5B: it reads something in most passages, and mixed up 12 of 20 readings of 4 a call."""
    said = mixing_up(0.6)(prompt)
    return said if len(prompt.passages) > 1 else never_abstaining(prompt)[: 1 if prompt.passage.count("e") % 5 else 0]


def script(say: Callable[[Prompt], list[Said]]) -> Callable[[Prompt], str]:
    """Write what a model says in the form that its prompt asks for."""

    def reply(prompt: Prompt) -> str:
        readings = say(prompt)
        asked = {
            one.number: f"{prompt.question} {KNOWN[prompt.passages[one.number - 1]].passage.title}" for one in readings
        }
        if "<passage-1-" in prompt.text:
            items = [
                {
                    "interpretation": asked[one.number],
                    "answer": one.answer,
                    "proofs": [{"passage": one.number, "quote": one.quote}],
                }
                for one in readings
            ]
            return json.dumps({"readings": items})
        keys = ("interpretation", "answer", "quote")
        values = (asked[1], readings[0].answer, readings[0].quote) if readings else (None, None, None)
        return json.dumps(dict(zip(keys, values, strict=True)))

    return reply
