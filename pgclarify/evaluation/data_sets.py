"""Data sets: JSON lines with one case each, and the selection of the cases to ask."""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, Any, Final, TypeGuard, cast

from pgclarify.errors import InputError, UnreadableFile
from pgclarify.evaluation.records import Case, GoldInterpretation
from pgclarify.language.foreign_text import unstorable

_GZIP_MAGIC: Final = b"\x1f\x8b"
_SUFFIXES: Final = (".gz", ".jsonl", ".json", ".ndjson")
_LONGEST_QUESTION: Final = 10_000
_EXAMPLE: Final = 'Give one a line, such as {"question": "rental cars", "answers": ["30 days", "a month"]}.'
# The names of fields that may hold each part of a case. The first one that a line has is used.
PARTS: Final[Mapping[str, tuple[str, ...]]] = {
    "id": ("id",),
    "question": ("question",),
    "interpretations": ("interpretations",),
    "answers": ("answers", "answer"),
    "wrong_answers": ("wrong_answers",),
    "documents": ("documents", "gold"),
    "is_ambiguous": ("is_ambiguous", "ambiguous"),
    "history": ("history",),
}
_KNOWN_FIELDS: Final = frozenset(name for names in PARTS.values() for name in names)


@dataclass(frozen=True, slots=True)
class DataSet:
    """The cases to ask.

    Attributes:
        name: The name of the file without suffixes.
        cases: The cases, in the order of the file.
        total: Number of cases in the file.
        unknown_fields: Fields that were not read.
    """

    name: str
    cases: tuple[Case, ...]
    total: int
    unknown_fields: tuple[str, ...] = ()

    @property
    def hash(self) -> bytes:
        """Return the SHA-256 of the cases in order, over all that is known about them; 32 bytes."""
        digest = hashlib.sha256()
        for case in self.cases:
            digest.update(json.dumps(asdict(case), sort_keys=True).encode() + b"\n")
        return digest.digest()


def read_data_set(
    path: Path,
    *,
    cases: int | None = None,
    part: str | None = None,
) -> DataSet:
    """Read a data set, gzipped or not. Only questions decide which cases are asked, not the order of lines.

    Args:
        path: The file.
        cases: Most cases; None for all. A larger selection contains a smaller one.
        part: K/N: the K-th of N disjoint parts. Cases with the same question are in the same part.

    Raises:
        UnreadableFile: If it is no file that can be read to its end.
        InputError: If a line is no case, an id occurs twice, or no case is selected.
    """
    every = _read_cases(path)
    chosen = _in_part(every.cases, part)
    if cases is not None:
        chosen = _first(chosen, cases)
    if not chosen:
        of_part = f"part {part} of " if part else ""
        raise InputError("no case is asked", detail=f"There is none in {of_part}{path}.")
    return replace(every, cases=tuple(chosen))


def _read_cases(path: Path) -> DataSet:
    """Read all cases of a file."""
    found: dict[str, Case] = {}
    # A dictionary without values keeps the order of the file.
    unknown: dict[str, None] = {}
    for number, record in read_records(path):
        unknown.update(dict.fromkeys(name for name in record if name not in _KNOWN_FIELDS))
        try:
            case = read_case(record)
            if case.case_id in found:
                raise ValueError(f"Its id {case.case_id[:100]!r}, or its question without one, is of a line before.")
        except ValueError as error:
            raise InputError(f"line {number} of {path.name} is no case", detail=str(error), hint=_EXAMPLE) from None
        found[case.case_id] = case
    return DataSet(_name(path), tuple(found.values()), len(found), tuple(unknown))


def _in_part(cases: Sequence[Case], part: str | None) -> list[Case]:
    """Return the cases of a part K/N."""
    which, parts = _parse_part(part)
    return [case for case in cases if _rank(case) % parts == which]


def _first(cases: Sequence[Case], most: int) -> list[Case]:
    """Return the cases of lowest rank, in the order of the file."""
    lowest = set(sorted(cases, key=_rank)[:most])
    return [case for case in cases if case in lowest]


def _rank(case: Case) -> int:
    return rank_of(case.question, *case.history)


def read_case(record: Mapping[str, Any]) -> Case:
    """Read one case. Without an id, it gets a hash of its question and history.

    Raises:
        ValueError: If it is no case; the message is a sentence.
    """
    given = {part: _first_value(record, names) for part, names in PARTS.items()}
    question = _question(given["question"])
    history = tuple(_texts(given["history"], "history"))
    interpretations = tuple(map(_interpretation, _list(given["interpretations"], "interpretations")))
    is_ambiguous = _is_ambiguous(given["is_ambiguous"])
    case_id = f"{rank_of(question, *history):032x}"[:16]
    if given["id"] is not None:
        case_id = _text(given["id"], "id")
    answer_sets: tuple[tuple[tuple[str, ...], ...], ...] = ()
    # Answers of interpretations say more than answers of the question.
    if not any(one.answers for one in interpretations):
        answer_sets = _answer_sets(given["answers"])
    return Case(
        case_id=case_id,
        question=question,
        interpretations=interpretations,
        answer_sets=answer_sets,
        wrong_answers=tuple(_texts(given["wrong_answers"], "wrong_answers")),
        document_ids=tuple(_texts(given["documents"], "documents")),
        is_ambiguous=is_ambiguous,
        history=history,
    )


def _first_value(record: Mapping[str, Any], names: Sequence[str]) -> Any:  # noqa: ANN401 - any value of JSON
    """Return the value of the first field that has one; None if none has."""
    for name in names:
        if record.get(name) is not None:
            return record[name]
    return None


def _question(value: object) -> str:
    question = _text(value or "", "question")
    length = len(question)
    if not question:
        raise ValueError("It has no question.")
    if length > _LONGEST_QUESTION:
        raise ValueError(f"Its question has {length:,} characters; at most {_LONGEST_QUESTION:,} are allowed.")
    return question


def _is_ambiguous(value: object) -> bool | None:
    if value is None:
        return None
    if value not in (0, 1):
        raise ValueError(f"Its is_ambiguous is {value!r}, and not true or false.")
    return bool(value)


def read_records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Read JSON lines, gzipped or not: each object with the number of its line.

    Raises:
        UnreadableFile: If it is no file that can be read to its end.
        InputError: If a line is no JSON object in UTF-8.
    """
    for number, line in read_lines(path):
        try:
            record = json.loads(line)
            if not isinstance(record, dict):
                raise ValueError("it is no object")
        except (ValueError, RecursionError) as error:
            raise InputError(
                f"line {number} of {path.name} is no JSON object", detail=f"{error}.", hint="Write one object a line."
            ) from None
        yield number, record


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Read the non-blank lines of a file, gzipped or not, with their numbers from 1.

    Raises:
        UnreadableFile: If it is no file that can be read to its end.
        InputError: If a line is not in UTF-8.
    """
    number = 0
    try:
        with path.open("rb") as file:
            is_gzipped = file.peek(2)[:2] == _GZIP_MAGIC
            lines: IO[bytes] = file
            if is_gzipped:
                lines = cast("IO[bytes]", gzip.GzipFile(fileobj=file))
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield number, line.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"line {number} of {path.name} is no text", detail=f"{error}.", hint="Convert it to UTF-8."
        ) from None
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise UnreadableFile(f"cannot read {path}", detail=f"{reason}.", hint="Name a file of text lines.") from error


def rank_of(*texts: str) -> int:
    """Return the rank of texts among all possible texts, in [0, 2¹²⁸). Spacing and case do not change it."""
    alike = [" ".join(text.casefold().split()) for text in texts]
    encoded = "\0".join(alike).encode("utf-8", "surrogatepass")
    digest = hashlib.sha256(encoded).digest()
    return int.from_bytes(digest[:16])


def _parse_part(part: str | None) -> tuple[int, int]:
    which, _, of = (part or "1/1").partition("/")
    if not which.isdecimal() or not of.isdecimal() or not 1 <= int(which) <= int(of):
        raise InputError(
            "this is no part of a data set",
            detail=f"It says {part!r}.",
            hint="Write K/N, such as 1/2 to tune on and 2/2 to test on.",
        )
    return int(which) - 1, int(of)


def _text(value: object, part: str) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"Its {part} has {type(value).__name__} where a text is expected.")
    text = str(value).strip()
    if reason := unstorable(text):
        raise ValueError(f"Its {part} cannot be stored. {reason}")
    return text


def _list(value: object, part: str) -> list[Any]:
    if value is not None and not isinstance(value, list):
        raise ValueError(f"Its {part} is no list.")
    return value or []


def _texts(value: object, part: str) -> list[str]:
    """Return one or several texts, without blank and repeated ones."""
    if value is None:
        return []
    several = value if isinstance(value, list) else [value]
    texts = [_text(one, part) for one in several]
    return list(dict.fromkeys(filter(None, texts)))


def _interpretation(value: object) -> GoldInterpretation:
    known = {"question": value} if isinstance(value, str) else value
    if not isinstance(known, dict):
        raise ValueError("Its interpretations have something that is no object.")
    asked = known.get("question") or known.get("interpretation")
    answers = _texts(_first_value(known, PARTS["answers"]), "answers")
    if not asked and not answers:
        raise ValueError("One of its interpretations has neither a question nor an answer.")
    documents = _texts(_first_value(known, PARTS["documents"]), "documents")
    question = _text(asked, "question") if asked else None
    return GoldInterpretation(question, tuple(answers), tuple(documents))


def _answer_sets(value: object) -> tuple[tuple[tuple[str, ...], ...], ...]:
    """Return the answers that each of several people knows.

    A text, or a list of texts, is one answer in all its spellings. A list of such lists has one answer of each person.
    A list of lists of such lists has several answers of each person.
    """
    people = value if _has_lists(value) else [value]
    known = map(_answers_of_person, people)
    return tuple(filter(None, known))


def _answers_of_person(value: object) -> tuple[tuple[str, ...], ...]:
    """Return the answers that one person knows, each in all its spellings."""
    answers = value if _has_lists(value) else [value]
    spellings = [tuple(_texts(answer, "answers")) for answer in answers]
    return tuple(filter(None, spellings))


def _has_lists(value: object) -> TypeGuard[list[object]]:
    """Return whether a value is a list with lists in it."""
    return isinstance(value, list) and any(isinstance(one, list) for one in value)


def _name(path: Path) -> str:
    name = path.name
    while name.lower().endswith(_SUFFIXES):
        name = name[: name.rindex(".")]
    return name.encode("utf-8", "replace").decode()[:200] or "data set"
