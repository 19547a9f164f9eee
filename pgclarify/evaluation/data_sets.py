"""Data sets: JSON lines with one case each, and the selection of the cases to ask."""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, Final, cast

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
    found: dict[str, Case] = {}
    unknown: dict[str, None] = {}
    known = {name for names in PARTS.values() for name in names}
    for number, record in read_records(path):
        unknown.update(dict.fromkeys(name for name in record if name not in known))
        try:
            case = read_case(record)
            if case.case_id in found:
                raise ValueError(f"Its id {case.case_id[:100]!r}, or its question without one, is of a line before.")
        except ValueError as error:
            raise InputError(f"line {number} of {path.name} is no case", detail=str(error), hint=_EXAMPLE) from None
        found[case.case_id] = case
    first, of = _parse_part(part)
    chosen = [case for case in found.values() if rank_of(case.question, *case.history) % of == first]
    if cases is not None:
        lowest = sorted(chosen, key=lambda case: rank_of(case.question, *case.history))[:cases]
        chosen = [case for case in chosen if case in set(lowest)]
    if not chosen:
        raise InputError("no case is asked", detail=f"There is none in {f'part {part} of ' if part else ''}{path}.")
    return DataSet(_name(path), tuple(chosen), len(found), tuple(unknown))


def read_case(record: Mapping[str, Any]) -> Case:
    """Read one case. Without an id, it gets a hash of its question and history.

    Raises:
        ValueError: If it is no case; the message is a sentence.
    """

    def get(part: str) -> Any:  # noqa: ANN401 - whatever JSON has
        return next((record[name] for name in PARTS[part] if record.get(name) is not None), None)

    question = _text(get("question") or "", "question")
    if not question:
        raise ValueError("It has no question.")
    if len(question) > _LONGEST_QUESTION:
        raise ValueError(f"Its question has {len(question):,} characters; at most {_LONGEST_QUESTION:,} are allowed.")
    history = tuple(_texts(get("history"), "history"))
    interpretations = tuple(_interpretation(one) for one in _list(get("interpretations"), "interpretations"))
    is_ambiguous = get("is_ambiguous")
    if is_ambiguous not in (None, 0, 1):
        raise ValueError(f"Its is_ambiguous is {is_ambiguous!r}, and not true or false.")
    given = get("id")
    return Case(
        case_id=_text(given, "id") if given is not None else f"{rank_of(question, *history):032x}"[:16],
        question=question,
        interpretations=interpretations,
        answer_sets=() if any(one.answers for one in interpretations) else _answer_sets(get("answers")),
        wrong_answers=tuple(_texts(get("wrong_answers"), "wrong_answers")),
        document_ids=tuple(_texts(get("documents"), "documents")),
        is_ambiguous=None if is_ambiguous is None else bool(is_ambiguous),
        history=history,
    )


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
            for number, line in enumerate(cast("IO[bytes]", gzip.GzipFile(fileobj=file)) if is_gzipped else file, 1):
                if line.strip():
                    yield number, line.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"line {number} of {path.name} is no text", detail=f"{error}.", hint="Convert it to UTF-8."
        ) from None
    except (OSError, EOFError, zlib.error) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise UnreadableFile(f"cannot read {path}", detail=f"{reason}.", hint="Name a file of text lines.") from error


def rank_of(*texts: str) -> int:
    """Return the rank of texts among all possible texts, in [0, 2¹²⁸). Spacing and case do not change it."""
    said = "\0".join(" ".join(one.casefold().split()) for one in texts)
    return int.from_bytes(hashlib.sha256(said.encode("utf-8", "surrogatepass")).digest()[:16])


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
    return list(dict.fromkeys(text for one in several if (text := _text(one, part))))


def _interpretation(value: object) -> GoldInterpretation:
    known = {"question": value} if isinstance(value, str) else value
    if not isinstance(known, dict):
        raise ValueError("Its interpretations have something that is no object.")
    question = known.get("question") or known.get("interpretation")
    answers = _texts(known.get("answers", known.get("answer")), "answers")
    if not question and not answers:
        raise ValueError("One of its interpretations has neither a question nor an answer.")
    documents = _texts(known.get("documents", known.get("gold")), "documents")
    return GoldInterpretation(_text(question, "question") if question else None, tuple(answers), tuple(documents))


def _answer_sets(value: object) -> tuple[tuple[tuple[str, ...], ...], ...]:
    """Return the answers that each of several people knows.

    A text, or a list of texts, is one answer in all its spellings. A list of such lists has one answer of each person.
    A list of lists of such lists has several answers of each person.
    """
    if not isinstance(value, list) or not any(isinstance(one, list) for one in value):
        spellings = tuple(_texts(value, "answers"))
        return ((spellings,),) if spellings else ()
    people = []
    for person in value:
        several = person if isinstance(person, list) and any(isinstance(one, list) for one in person) else [person]
        known = tuple(spellings for one in several if (spellings := tuple(_texts(one, "answers"))))
        if known:
            people.append(known)
    return tuple(people)


def _name(path: Path) -> str:
    name = path.name
    while name.lower().endswith(_SUFFIXES):
        name = name[: name.rindex(".")]
    return name.encode("utf-8", "replace").decode()[:200] or "data set"
