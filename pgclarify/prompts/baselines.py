"""The prompts of an evaluation's baselines, written with the same care as those of clarify.

All tasks over passages have the same system message and show the passages first. So a server with a prefix cache reads
them once for the verification and the answers of a question.

Source: VERDICT, §3.2 and §5.1.4 (the instructions I_P, Verify and I_G; wording ours).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any, Final, TypeVar

from pydantic import BeforeValidator, Field, ValidationError
from pydantic_core import from_json

from pgclarify.data.documents import Passage
from pgclarify.data.model_calls import Completion, ModelCall
from pgclarify.errors import InvalidReply
from pgclarify.prompts.fencing import AFTER_PASSAGES, FENCE_RULE, fenced_passages, line, question_line
from pgclarify.prompts.rendering import model_call, object_schema
from pgclarify.prompts.replies import LineOrNull, ReplyForm, one_for_each, one_line, read_form

T = TypeVar("T")

_PROPOSAL_SYSTEM: Final = """\
You get a question that may be read in several ways. Write down the different readings of it that people may have in \
mind, the likeliest first, 1 to 5 of them.

Each reading is a question of its own that has one meaning, in the language of the question. It still asks for what \
the question asks for. Add the names, places, years or kinds that tell it from the others, so that a stranger who \
does not see the question understands it. No two readings ask the same.

Reply with one JSON object and nothing else: {"interpretations": ["...", "..."]}

Example
Question: When does the harbor museum open?
{"interpretations": ["At what time of day does the Lindvik Harbor Museum open?", "In what year does the new building \
of \
the Lindvik Harbor Museum open?"]}"""

_PASSAGES_SYSTEM: Final = f"""\
You get numbered passages, and after them one of three tasks. Do that task from the passages, never from memory. Reply \
with one JSON object and nothing else.

{FENCE_RULE}

Task "disambiguate": the question may be read in several ways. Find every reading of it that the passages answer \
completely, each once. Reply {{"interpretations": [{{"interpretation": ..., "answer": ..., "passages": [...]}}]}}, \
with an \
empty list if there is none.
interpretation: the question, rewritten in its own language so that it has this one meaning. It still asks for what \
the question asks for. Add every name, place, year and version of the passages that tells this meaning from the \
others, so that a stranger who sees neither passages nor question understands it. Never speak of a passage, text, \
document or context.
answer: the answer in a few words, taken from the passages.
passages: the numbers of the passages that prove this answer.

Task "verify": which passages answer the question completely? Reply {{"passages": [...]}}, with their numbers. A \
passage \
that is about another thing, only shares the topic, or leaves out a part of the answer is not among them; the list is \
empty if there is none.

Task "answer": there are several numbered questions. Reply {{"answers": ["...", null]}}, with one answer for each \
question, in order: a few words taken from the passages, never the number of a passage; and null for a question that \
the passages do not answer completely.

Examples
Passages: 1 says: Lindvik Harbor Museum. From April to October 2019 the museum opens at 9 am. 2 says: Lindvik Castle. \
The castle and its park open at 10 am. 3 says: The Lindvik Harbor Museum was opened in 1931.
Task: disambiguate
Question: When does the harbor museum open?
{{"interpretations": [{{"interpretation": "At what time of day did the Lindvik Harbor Museum open from April to \
October \
2019?", "answer": "9 am", "passages": [1]}}, {{"interpretation": "In what year was the Lindvik Harbor Museum opened?", \
"answer": "1931", "passages": [3]}}]}}
Task: verify
Question: In what year was the Lindvik Harbor Museum opened?
{{"passages": [3]}}
Task: answer
Question 1: In what year was the Lindvik Harbor Museum opened?
Question 2: What does a ticket of the Lindvik Harbor Museum cost?
{{"answers": ["1931", null]}}"""

_REMINDER: Final = """\
An earlier reply to this had the wrong form. Reply with exactly one JSON object of the form that the task names, and \
no \
other words."""

_MOST_PROPOSED: Final = 5
_MOST_DISAMBIGUATED: Final = 20
_TOKENS: Final = 1024

_TEXT: Final = {"type": "string"}
_NUMBERS: Final = {"type": "array", "items": {"type": "integer"}}
_PROPOSAL_SCHEMA: Final = object_schema(
    interpretations={"type": "array", "items": _TEXT, "minItems": 1, "maxItems": _MOST_PROPOSED}
)
_VERIFICATION_SCHEMA: Final = object_schema(passages=_NUMBERS)
_ANSWERS_SCHEMA: Final = object_schema(answers={"type": "array", "items": {"type": ["string", "null"]}})
_DISAMBIGUATION_SCHEMA: Final = object_schema(
    interpretations={
        "type": "array",
        "items": object_schema(interpretation=_TEXT, answer=_TEXT, passages=_NUMBERS),
        "maxItems": _MOST_DISAMBIGUATED,
    }
)

# A reply that was cut off may have this before its JSON; the code block then has no end.
_BEFORE_JSON: Final = re.compile(r"\A\s*(?:<think>.*?</think>\s*)?(?:```(?:json)?\s*\n)?", re.DOTALL)

_Text = Annotated[str, BeforeValidator(one_line), Field(min_length=1, max_length=500)]


class _Proposal(ReplyForm):
    interpretations: Annotated[list[_Text], Field(min_length=1)]


class _Verification(ReplyForm):
    passages: list[int]


class _Answers(ReplyForm):
    answers: list[LineOrNull]


class _Disambiguated(ReplyForm):
    interpretation: LineOrNull
    answer: LineOrNull
    passages: list[int]


class _Disambiguation(ReplyForm):
    interpretations: list[_Disambiguated]


class _Cut(ReplyForm):
    interpretations: list[Any]


@dataclass(frozen=True, slots=True)
class ReadFromPassages:
    """A reading that comes from several passages at once.

    Attributes:
        interpretation: A question that stands alone.
        answer: Its answer, short.
        passages: The positions of the cited passages, from 0, ascending; may be empty.
    """

    interpretation: str
    answer: str
    passages: tuple[int, ...]


def proposal(question: str) -> ModelCall[list[str]]:
    """Ask for the readings of a question, without passages: 1 to 5 different readings.

    Source: VERDICT, Eq. 1 (the instruction I_P).
    """
    return _task("baseline_proposal", _PROPOSAL_SYSTEM, [question_line(question)], _PROPOSAL_SCHEMA, _read_proposal)


def verification(interpretation: str, passages: Sequence[Passage]) -> ModelCall[list[int]]:
    """Ask which of these passages answer a question: their positions, from 0, ascending.

    Source: VERDICT, Eq. 3 (Verify).
    """
    return _task(
        "baseline_verification",
        _PASSAGES_SYSTEM,
        _over(passages, "verify", [question_line(interpretation)]),
        _VERIFICATION_SCHEMA,
        lambda completion: _places(read_form(_Verification, completion).passages, len(passages)),
        passages,
    )


def answers(interpretations: Sequence[str], passages: Sequence[Passage]) -> ModelCall[list[str | None]]:
    """Ask for the answers of these passages to these questions, in order; None for a question without an answer."""
    asked = [line(f"Question {number}", text) for number, text in enumerate(interpretations, start=1)]
    return _task(
        "baseline_answers",
        _PASSAGES_SYSTEM,
        _over(passages, "answer", asked),
        _ANSWERS_SCHEMA,
        lambda completion: one_for_each(read_form(_Answers, completion).answers, len(interpretations), "questions"),
        passages,
    )


def disambiguation(question: str, passages: Sequence[Passage]) -> ModelCall[list[ReadFromPassages]]:
    """Ask for all readings of this question that these passages answer, with their answers.

    Readings without a question or an answer are left out. If the reply was cut off at the limit of tokens, only its
    complete readings count.

    Source: VERDICT, Eq. 4 and Eq. 13 (the instruction I_G).
    """
    return _task(
        "baseline_disambiguation",
        _PASSAGES_SYSTEM,
        _over(passages, "disambiguate", [question_line(question)]),
        _DISAMBIGUATION_SCHEMA,
        lambda completion: _read_disambiguation(completion, len(passages)),
        passages,
    )


def _task(
    purpose: str,
    system: str,
    lines: Sequence[str],
    schema: Mapping[str, Any],
    read: Callable[[Completion], T],
    passages: Sequence[Passage] = (),
) -> ModelCall[T]:
    return model_call(purpose, system, lines, schema, read, max_tokens=_TOKENS, reminder=_REMINDER, passages=passages)


def _read_proposal(completion: Completion) -> list[str]:
    proposed = read_form(_Proposal, completion).interpretations
    distinct: dict[str, str] = {}
    for text in proposed:
        distinct.setdefault(text.casefold(), text)
    return list(distinct.values())[:_MOST_PROPOSED]


def _read_disambiguation(completion: Completion, passages: int) -> list[ReadFromPassages]:
    try:
        read = read_form(_Disambiguation, completion).interpretations
    except InvalidReply:
        read = _complete_readings(completion.reply)
        if not read:
            raise
    return [
        ReadFromPassages(one.interpretation, one.answer, tuple(_places(one.passages, passages)))
        for one in read
        if one.interpretation is not None and one.answer is not None
    ]


def _places(numbers: Iterable[int], count: int) -> list[int]:
    """Convert numbers in a prompt, from 1, to positions, from 0: each once, ascending.

    Numbers of passages that were not shown are left out. A small model names such in one of thirty replies; to refuse
    the whole reply would make the methods of the paper look worse than they are.
    """
    return [number - 1 for number in sorted(set(numbers)) if 1 <= number <= count]


def _over(passages: Sequence[Passage], task: str, asked: Sequence[str]) -> list[str]:
    return [fenced_passages(passages), AFTER_PASSAGES, f"Task: {task}", *asked]


def _complete_readings(reply: str) -> list[_Disambiguated]:
    """Return the complete readings of a reply that was cut off; none if the reply has another fault."""
    text = _BEFORE_JSON.sub("", reply)
    try:
        cut = _Cut.model_validate(from_json(text, allow_partial=True)).interpretations
        # Half a number is a valid number. So only the end of a reading shows that it is complete.
        if not text.rstrip(" \n\r\t,]").endswith("}"):
            cut = cut[:-1]
        complete = [_Disambiguated.model_validate(one) for one in cut[:-1]]
    except ValueError:
        return []
    with suppress(ValidationError):
        complete += [_Disambiguated.model_validate(one) for one in cut[-1:]]
    return complete
