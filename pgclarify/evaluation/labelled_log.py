"""Reads a log of questions with labels, ambiguous or clear, from CSV or JSON lines, one line at a time."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pgclarify.errors import InputError
from pgclarify.evaluation.case_fields import CaseFields, load_record, read_labelled
from pgclarify.evaluation.data_sets import rank_of, read_lines
from pgclarify.language.languages import is_foreign

_CSV: Final = (".csv", ".csv.gz")
_EXAMPLES: Final = (
    'Give one a line: {"question": "How old is he?", "history": ["Who wrote Emma?", "Jane Austen."], '
    '"is_ambiguous": true}, or a CSV file with the columns question and is_ambiguous.'
)


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A question with its label.

    Attributes:
        question: The question.
        history: The earlier turns, oldest first.
        is_ambiguous: Its label.
    """

    question: str
    history: tuple[str, ...]
    is_ambiguous: bool


@dataclass(frozen=True, slots=True)
class LabelledLog:
    """The contents of a file.

    Attributes:
        questions: Each pair of question and history once, in the order of their first lines, with the label of most of
            their lines.
        lines: Number of lines.
        contradicted: Number of questions with lines of both labels. A question with equally many of both is left out.
        foreign: Number of questions that are left out because they are not in English, which the classifier requires.
    """

    questions: tuple[LabelledQuestion, ...]
    lines: int
    contradicted: int
    foreign: int


def read_labelled_log(path: Path, *, fields: Mapping[str, str] | None = None) -> LabelledLog:
    """Read a labelled log, gzipped or not. Every line is checked before any is used.

    Args:
        path: A file of JSON lines. If its name ends in .csv: comma-separated values with column names in the first
            line; a history in a cell is a JSON array, or has one turn per line.
        fields: Names of fields by part, if they differ from the usual names. Parts: question, history and is_ambiguous.

    Raises:
        UnreadableFile: If it is no file that can be read to its end.
        InputError: If a line cannot be used; its number is named.
    """
    names = CaseFields.of(fields or {})
    rows = _cells(path, names) if path.name.lower().endswith(_CSV) else _objects(path)
    votes: dict[int, tuple[str, tuple[str, ...], list[int]]] = {}
    for number, record in rows:
        try:
            question, history, is_ambiguous = read_labelled(names, record)
        except ValueError as error:
            raise _refusal(path, number, str(error)) from None
        votes.setdefault(rank_of(question, *history), (question, history, [0, 0]))[2][is_ambiguous] += 1
    if names.unseen:
        raise InputError(
            "there is no field of that name",
            detail=f"No line of {path} has a field {', '.join(repr(name) for name in names.unseen)}.",
            hint="Check what is left of and right of the equals sign: --field PART=FIELD.",
        )
    english = [one for one in votes.values() if not is_foreign(one[0])]
    decided = [(question, history, both) for question, history, both in english if both[0] != both[1]]
    return LabelledLog(
        questions=tuple(LabelledQuestion(question, history, both[1] > both[0]) for question, history, both in decided),
        lines=sum(map(sum, (both for _, _, both in votes.values()))),
        contradicted=sum(all(both) for _, _, both in english),
        foreign=len(votes) - len(english),
    )


def _objects(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in read_lines(path):
        try:
            yield number, load_record(line)
        except ValueError as error:
            raise _refusal(path, number, str(error)) from None


def _cells(path: Path, names: CaseFields) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the rows of a CSV file with the number of the last line of each."""
    number = 0

    def lines() -> Iterator[str]:
        nonlocal number
        for number, line in read_lines(path):  # noqa: B007 - the rows name it
            yield line

    rows = csv.reader(lines(), strict=True)
    try:
        header = [name.strip() for name in next(rows, [])]
        _check_header(path, header, names)
        for cells in rows:
            if len(cells) != len(header):
                raise _refusal(
                    path, number, f"It has {len(cells)} cells, and the first line names {len(header)} columns."
                )
            record = {name: cell for name, cell in zip(header, cells, strict=True) if cell.strip()}
            name, history = names.find(record, "history")
            if history is not None:
                record[name] = _turns(path, number, history)
            yield number, record
    except csv.Error as error:
        raise _refusal(path, number, f"It is no CSV: {error}.") from None


def _check_header(path: Path, header: list[str], names: CaseFields) -> None:
    for part in ("question", "is_ambiguous"):
        if not any(name in header for name in names.names[part]):
            raise InputError(
                f"the file {path.name} has no column {names.names[part][0]}",
                detail=f"Its first line names: {', '.join(header)[:500] or 'nothing'}.",
                hint=f"Name the columns in the first line, with commas between, or pass --field {part}=COLUMN.",
            )


def _turns(path: Path, number: int, cell: str) -> Any:  # noqa: ANN401 - what is in it is checked later
    if not cell.lstrip().startswith("["):
        return cell.splitlines()
    try:
        return json.loads(cell)
    except ValueError:
        raise _refusal(path, number, "Its history begins like a JSON array, and is none.") from None


def _refusal(path: Path, number: int, reason: str) -> InputError:
    return InputError(f"line {number} of {path.name} is no labelled question", detail=reason, hint=_EXAMPLES)
