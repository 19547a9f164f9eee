"""Reads one line of a data set: which field has which part of a case, and which values are valid."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, NoReturn, Self, TypeAlias

from pgclarify.errors import InputError
from pgclarify.evaluated import Case, GoldInterpretation
from pgclarify.ingest.text import unstorable

# The limit of clarify.
_MOST_QUESTION_CHARS = 10_000
_MOST_HISTORY = 100
_LONGEST_ID = 1_000
_LONGEST_KIND = 100
_LONGEST_INTENT = 10_000
_MOST_HOPS = 100

_PARTS: Mapping[str, tuple[str, ...]] = {
    "id": ("id",),
    "question": ("question",),
    "interpretations": ("interpretations",),
    "answers": ("answers", "answer"),
    "documents": ("documents", "gold"),
    "is_ambiguous": ("is_ambiguous", "ambiguous"),
    "history": ("history",),
    "kind": ("kind",),
    "hops": ("hops", "decomposition"),
    "rewrites": ("rewrites", "rewrite"),
    "clarifying_questions": ("clarifying_questions", "clarifying_question"),
    "intent": ("intent",),
}
_READING_QUESTIONS = ("question", "interpretation")
_READING_FIELDS = frozenset({"id", *_READING_QUESTIONS, *_PARTS["answers"], *_PARTS["documents"]})
_MOST_UNKNOWN = 100
_TRUTHS: Mapping[str, bool] = {
    **dict.fromkeys(("true", "t", "yes", "y", "1", "ambiguous"), True),
    **dict.fromkeys(("false", "f", "no", "n", "0", "clear"), False),
}

Answers: TypeAlias = tuple[tuple[tuple[str, ...], ...], ...]


@dataclass(slots=True)
class CaseFields:
    """The fields that may hold each part of a case. The first field that is present and not null is used.

    Attributes:
        names: Names of fields by part; the parts are those of _PARTS.
        unseen: Fields that the user named, and that no line had so far.
        unknown: Fields that hold no part of a case. Fields of an interpretation have a dot before their name.
    """

    names: Mapping[str, tuple[str, ...]]
    unseen: list[str] = field(default_factory=list)
    unknown: dict[str, None] = field(default_factory=dict)

    @classmethod
    def of(cls, given: Mapping[str, str]) -> Self:
        """Use the given field names for their parts, and the usual names for all other parts.

        Raises:
            InputError: If a part does not exist.
        """
        for part in given:
            if part not in _PARTS:
                raise InputError(
                    f"a case has no part {part!r}", hint=f"Write PART=FIELD; the parts are {', '.join(_PARTS)}."
                )
        return cls({**_PARTS, **{part: (name,) for part, name in given.items()}}, sorted(set(given.values())))

    @classmethod
    def parse(cls, assignments: Iterable[str]) -> dict[str, str]:
        """Read PART=FIELD.

        Raises:
            InputError: If one has another form.
        """
        given: dict[str, str] = {}
        for assignment in assignments:
            part, equals, name = assignment.partition("=")
            if not equals or not part or not name:
                raise InputError(
                    "this names no field",
                    detail=f"It says {assignment!r}.",
                    hint=f"Write PART=FIELD; the parts are {', '.join(_PARTS)}.",
                )
            given[part] = name
        return given

    def find(self, record: Mapping[str, Any], part: str) -> tuple[str, Any]:
        """Return the field of a part and its value; the value is None if no field has the part."""
        names = self.names[part]
        return next(((name, record[name]) for name in names if record.get(name) is not None), (names[0], None))

    def see(self, record: Mapping[str, Any]) -> None:
        """Note which fields a line has."""
        if self.unseen:
            self.unseen = [name for name in self.unseen if name not in record]
        known = {*chain.from_iterable(self.names.values())}
        self._note(name for name in record if name not in known)
        field_name, nested = self.find(record, "interpretations")
        for one in nested if isinstance(nested, list) else ():
            if isinstance(one, dict):
                self._note(f"{field_name}.{name}" for name in one if name not in _READING_FIELDS)

    def _note(self, unknown: Iterable[str]) -> None:
        for name in unknown:
            # Names of fields may be data, with new names in each line.
            if len(self.unknown) < _MOST_UNKNOWN:
                self.unknown[name] = None


class CaseReader:
    """Reads lines.

    Args:
        fields: The field of each part.
    """

    def __init__(self, fields: CaseFields) -> None:
        self._fields = fields

    def read(self, record: Mapping[str, Any]) -> Case:
        """Read one line. The case has an empty id if the line has none.

        Raises:
            ValueError: If the line is not a valid case. The message is one or more sentences.
        """
        self._fields.see(record)
        find = self._fields.find
        interpretations = _interpretations(*find(record, "interpretations"))
        given = tuple(one.answers for one in interpretations if one.answers)
        documents = _documents(*find(record, "documents"))
        return Case(
            case_id=_id(*find(record, "id")),
            question=_question(*find(record, "question")),
            interpretations=interpretations,
            answer_sets=(given,) if given else _answer_sets(*find(record, "answers")),
            document_ids=documents or _distinct(name for one in interpretations for name in one.document_ids),
            is_ambiguous=_truth(*find(record, "is_ambiguous")),
            history=_history(*find(record, "history")),
            kind=_optional(*find(record, "kind"), longest=_LONGEST_KIND),
            hops=_hops(*find(record, "hops")),
            rewrites=_questions(*find(record, "rewrites")),
            clarifying_questions=_questions(*find(record, "clarifying_questions")),
            intent=_optional(*find(record, "intent"), longest=_LONGEST_INTENT),
        )

    @staticmethod
    def named(case: Case, case_id: str) -> Case:
        """Return the case with an id."""
        return replace(case, case_id=case_id)


def read_labelled(fields: CaseFields, record: Mapping[str, Any]) -> tuple[str, tuple[str, ...], bool]:
    """Read a labelled question: the question, its history, and whether it is ambiguous.

    Args:
        fields: The field of each part.
        record: One line. A label may also be a word: true, false, yes, no, ambiguous or clear.

    Raises:
        ValueError: If a part cannot be used, or the question or its label is missing; the message is a sentence.
    """
    fields.see(record)
    name, label = fields.find(record, "is_ambiguous")
    if label is None:
        raise ValueError(f"There is no label: the field {name} is missing, empty or null.")
    if isinstance(label, str):
        if label.strip().lower() not in _TRUTHS:
            raise ValueError(f"The field {name} has {label[:50]!r} where true or false is expected.")
        label = _TRUTHS[label.strip().lower()]
    is_ambiguous = bool(_truth(name, label))
    return _question(*fields.find(record, "question")), _history(*fields.find(record, "history")), is_ambiguous


def load_record(line: str) -> dict[str, Any]:
    """Read one line of JSON lines.

    Raises:
        ValueError: If the line is not a JSON object; the message is a sentence.
    """
    try:
        # With the line end, the decoder would count columns from 1 again.
        record = json.loads(line.rstrip(), parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise ValueError(f"It is no JSON: {error.msg.removesuffix(' at')} at column {error.colno}.") from None
    except RecursionError:
        raise ValueError("Its JSON is nested too deeply.") from None
    if not isinstance(record, dict):
        raise ValueError(f"It is no JSON object but {_kind(record)}.")
    return record


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON.")


def _text(name: str, value: object, *, longest: int | None = None) -> str:
    """Return a text without surrounding white space; a number counts as a text."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"The field {name} has a number that is out of range.")
        value = str(value)
    if not isinstance(value, str):
        raise ValueError(f"The field {name} has {_kind(value)} where a text is expected.")
    if reason := unstorable(value):
        raise ValueError(f"The field {name} cannot be stored. {reason}")
    text = value.strip()
    if longest is not None and len(text) > longest:
        raise ValueError(f"The field {name} has {len(text):,} characters; {longest:,} is the most.")
    return text


def _optional(name: str, value: object, *, longest: int) -> str | None:
    """Return a text; None if it is missing or blank."""
    return None if value is None else _text(name, value, longest=longest) or None


def _id(name: str, value: object) -> str:
    if value is None:
        return ""
    text = _text(name, value, longest=_LONGEST_ID)
    if not text:
        raise ValueError(f"The field {name} is blank.")
    return text


def _question(name: str, value: object) -> str:
    if value is None:
        raise ValueError(f"There is no question: the field {name} is missing or null.")
    if not isinstance(value, str):
        raise ValueError(f"The field {name} has {_kind(value)} where a text is expected.")
    text = _text(name, value, longest=_MOST_QUESTION_CHARS)
    if not text:
        raise ValueError(f"There is no question: the field {name} is blank.")
    return text


def _questions(name: str, value: object) -> tuple[str, ...]:
    """Return one or several questions, each within the length limit."""
    if value is None:
        return ()
    found = _texts(name, value)
    for text in found:
        _text(name, text, longest=_MOST_QUESTION_CHARS)
    return found


def _list(name: str, value: object) -> list[object]:
    if not isinstance(value, list):
        raise ValueError(f"The field {name} has {_kind(value)} where a list is expected.")
    return value


def _texts(name: str, value: object) -> tuple[str, ...]:
    """Return one or several texts, without blank and repeated ones."""
    several = value if isinstance(value, list) else [value]
    return _distinct(text for one in several if (text := _text(name, one)))


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


def _interpretations(name: str, value: object) -> tuple[GoldInterpretation, ...]:
    return () if value is None else tuple(_interpretation(name, one) for one in _list(name, value))


def _interpretation(name: str, value: object) -> GoldInterpretation:
    if isinstance(value, str):
        value = {"question": value}
    if not isinstance(value, dict):
        raise ValueError(f"The field {name} has {_kind(value)} where an object is expected.")
    nested = CaseFields({**_PARTS, "question": _READING_QUESTIONS})
    asked_name, asked = nested.find(value, "question")
    question = None if asked is None else _text(asked_name, asked, longest=_MOST_QUESTION_CHARS) or None
    answer_name, answers = nested.find(value, "answers")
    spellings = () if answers is None else _texts(answer_name, answers)
    if question is None and not spellings:
        raise ValueError(f"The field {name} has an interpretation with neither a question nor an answer.")
    return GoldInterpretation(question, spellings, _documents(*nested.find(value, "documents")))


def _documents(name: str, value: object) -> tuple[str, ...]:
    return () if value is None else _texts(name, value)


def _answer_sets(name: str, value: object) -> Answers:
    """Return the answers that each of several people knows.

    A text, or a list of texts, is one answer in all its spellings. A list of such lists has one answer of each person.
    A list of lists of such lists has several answers of each person.
    """
    if value is None:
        return ()
    if not isinstance(value, list) or not any(isinstance(one, list) for one in value):
        spellings = _texts(name, value)
        return ((spellings,),) if spellings else ()
    people = []
    for person in value:
        several = _list(name, person)
        answers = several if any(isinstance(one, list) for one in several) else [several]
        known = tuple(spellings for one in answers if (spellings := _texts(name, _list(name, one))))
        if known:
            people.append(known)
    return tuple(people)


def _truth(name: str, value: object) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    if value in (0, 1):
        return bool(value)
    raise ValueError(f"The field {name} has {_kind(value)} where true, false, 1 or 0 is expected.")


def _history(name: str, value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    several = value if isinstance(value, list) else [value]
    if len(several) > _MOST_HISTORY:
        raise ValueError(f"The field {name} has {len(several)} elements; {_MOST_HISTORY} is the most.")
    said = (_text(name, one, longest=_MOST_QUESTION_CHARS) for one in several)
    return tuple(one for one in said if one)


def _hops(name: str, value: object) -> int | None:
    """Return a number of hops: the given whole number, or the length of a list of the facts that lead to the answer."""
    count = len(value) if isinstance(value, list) else value
    if count is None or count == 0:
        return None
    if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= _MOST_HOPS:
        raise ValueError(
            f"The field {name} has {_kind(value)} where a whole number from 1 to {_MOST_HOPS}, or a list of as many "
            "facts, is expected."
        )
    return count


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")
