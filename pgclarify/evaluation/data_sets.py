"""Data sets: reads JSON lines with one case each, one line at a time, and selects the cases to ask."""

from __future__ import annotations

import gzip
import hashlib
import heapq
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeAlias, cast

from pgclarify.errors import InputError, UnreadableFile
from pgclarify.evaluated import Case
from pgclarify.evaluation.case_fields import CaseFields, CaseReader, load_record

# The limit of a line: a question with all that is known about it.
_MOST_LINE_BYTES = 16 * 1024 * 1024
_GZIP_MAGIC = b"\x1f\x8b"
_SUFFIXES = (".gz", ".jsonl", ".json", ".ndjson")
_LONGEST_NAME = 200
_ID_CHARS = 16

Record: TypeAlias = Mapping[str, Any]
"""The fields of one line."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Selects the cases of a data set to ask. Only their questions decide, not the order of lines and not the ids.

    Two cases with the same question and history are always in the same part, so that parts share no questions.

    Attributes:
        cases: Most cases, from 1; None for all. A larger selection contains a smaller one.
        part: (K, N): the K-th of N disjoint parts, from 1; None for the whole.
    """

    cases: int | None = None
    part: tuple[int, int] | None = None

    @classmethod
    def parse(cls, cases: int | None, part: str | None) -> Selection:
        """Parse a number of cases and a part as K/N.

        Raises:
            InputError: If the part has another form, or K is not from 1 to N.
        """
        if part is None:
            return cls(cases)
        which, slash, of = part.partition("/")
        if not slash or not which.isdecimal() or not of.isdecimal() or not 1 <= int(which) <= int(of):
            raise InputError(
                "this is no part of a data set",
                detail=f"It says {part!r}.",
                hint="Write K/N, such as 1/2 to tune on and 2/2 to test on.",
            )
        return cls(cases, (int(which), int(of)))

    def takes(self, rank: int) -> bool:
        """Return whether a case of this rank is in the part."""
        return self.part is None or rank % self.part[1] == self.part[0] - 1


@dataclass(frozen=True, slots=True)
class DataSet:
    """The cases to ask.

    Attributes:
        name: The name of the file without suffixes, or a given name.
        cases: The cases, in the order of the file.
        total: Number of cases in the file.
        hash: SHA-256 of the cases to ask, in order; 32 bytes.
        unknown_fields: Fields that were not read, of any line; the first hundred.
    """

    name: str
    cases: tuple[Case, ...]
    total: int
    hash: bytes
    unknown_fields: tuple[str, ...] = ()


def read_data_set(
    path: Path,
    *,
    fields: Mapping[str, str] | None = None,
    selection: Selection | None = None,
    name: str | None = None,
    convert: Callable[[Record], Record | None] | None = None,
) -> DataSet:
    """Read a data set, gzipped or not. Every line is checked; only the cases to ask are kept in memory.

    Args:
        path: The file.
        fields: Names of fields by the part of a case, if they differ from the usual names; see CaseFields.
        selection: The cases to ask; None for all.
        name: The name of the data set; None for the name of its file.
        convert: Converts a line to the fields of a case, or to None to skip it; raises ValueError for a wrong line.
            None: lines are cases.

    Raises:
        UnreadableFile: If it is no file that can be read to its end.
        InputError: If a line is no case, an id occurs twice, no line has a field of `fields`, or no case is selected.
    """
    names = CaseFields.of(fields or {})
    kept, total = _select(_cases(path, names, convert or _as_it_is), selection or Selection())
    if not total:
        raise InputError("there is no case", detail=f"{path} is empty.", hint='Give one a line: {"question": "…"}.')
    if missing := names.unseen:
        raise InputError(
            "there is no field of that name",
            detail=f"No line of {path} has a field {', '.join(repr(name) for name in missing)}.",
            hint="Check what is left of and right of the equals sign: --field PART=FIELD.",
        )
    if not kept:
        raise InputError(
            "no case is asked", detail=f"None of the {total:,} of {path} is in that part.", hint="Take larger parts."
        )
    return DataSet(name or _name(path), tuple(kept), total, data_set_hash(kept), tuple(names.unknown))


def data_set_hash(cases: Iterable[Case]) -> bytes:
    """Return the SHA-256 of cases in order, over their questions and all that is known about them; 32 bytes."""
    digest = hashlib.sha256()
    for case in cases:
        seen = (
            case.case_id,
            case.question,
            [(one.interpretation, one.answers, one.document_ids) for one in case.interpretations],
            case.answer_sets,
            case.document_ids,
            case.is_ambiguous,
            case.history,
            case.kind,
            case.hops,
            case.rewrites,
            case.clarifying_questions,
            case.intent,
        )
        digest.update(json.dumps(seen).encode() + b"\n")
    return digest.digest()


def _select(cases: Iterable[Case], selection: Selection) -> tuple[list[Case], int]:
    """Return the selected cases in order, and the number of all cases."""
    total = 0
    everything: list[Case] = []
    # A heap of the cases with the lowest ranks, the highest of them on top. Places separate equal ranks, and keep the
    # order.
    lowest: list[tuple[int, int, Case]] = []
    for total, case in enumerate(cases, start=1):
        rank = _rank(case)
        if not selection.takes(rank):
            continue
        if selection.cases is None:
            everything.append(case)
        elif len(lowest) < selection.cases:
            heapq.heappush(lowest, (-rank, -total, case))
        else:
            heapq.heappushpop(lowest, (-rank, -total, case))
    chosen = sorted(lowest, key=lambda entry: -entry[1])
    return everything or [case for _, _, case in chosen], total


def _as_it_is(record: Record) -> Record:
    return record


def _cases(path: Path, names: CaseFields, convert: Callable[[Record], Record | None]) -> Iterator[Case]:
    reader = CaseReader(names)
    # Digests instead of ids: a million of them need about 100 MB, for ids of any length.
    seen: set[bytes] = set()
    repeated: dict[str, int] = {}
    for number, line in read_lines(path):
        try:
            record = convert(load_record(line))
            if record is None:
                continue
            case = reader.read(record)
        except ValueError as error:
            raise _refusal(path, number, str(error)) from None
        if case.case_id:
            digest = _digest(case.case_id)
            if digest in seen:
                raise _refusal(
                    path, number, f"Its id {case.case_id[:100]!r} is that of a line before.", "Ids must be unique."
                )
            seen.add(digest)
            yield case
            continue
        # The id does not depend on other lines. The second of two equal cases gets an id of its own.
        made = _digest("\0".join((case.question, *case.history))).hex()[:_ID_CHARS]
        repeated[made] = count = repeated.get(made, 0) + 1
        yield reader.named(case, made if count == 1 else f"{made}-{count}")


def read_records(path: Path) -> Iterator[Record]:
    """Read JSON lines, gzipped or not, of documents instead of cases.

    Raises:
        UnreadableFile: If it is no file that can be read to its end.
        InputError: If a line is no JSON object.
    """
    for number, line in read_lines(path):
        try:
            yield load_record(line)
        except ValueError as error:
            raise InputError(
                f"line {number} of {path.name} is no document", detail=str(error), hint="Write a JSON object a line."
            ) from None


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Read the non-blank lines of a file, gzipped or not, with their numbers from 1.

    Raises:
        UnreadableFile: If it is no file that can be read to its end.
        InputError: If a line is too long, or is not in UTF-8.
    """
    number = 0
    try:
        with path.open("rb") as file:
            # A pipe cannot be rewound.
            is_gzipped = file.peek(2)[:2] == _GZIP_MAGIC
            stream = cast("IO[bytes]", gzip.GzipFile(fileobj=file)) if is_gzipped else file
            while line := stream.readline(_MOST_LINE_BYTES + 1):
                number += 1
                if len(line) > _MOST_LINE_BYTES:
                    raise _refusal(path, number, f"It is longer than {_MOST_LINE_BYTES:,} bytes.")
                try:
                    text = line.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError as error:
                    broken = f"Its byte {error.start + 1} is 0x{line[error.start]:02x}, which begins no letter there."
                    raise _refusal(path, number, broken, "Convert it to UTF-8.") from None
                if text.strip():
                    yield number, text
    except OSError as error:
        raise UnreadableFile(
            f"cannot read {path}", detail=f"{error.strerror or error}.", hint="Name a file of JSON lines."
        ) from error
    except (EOFError, zlib.error) as error:
        raise UnreadableFile(
            f"cannot read {path} beyond line {number}",
            detail=f"{error}.",
            hint="Its compression is broken; get it anew.",
        ) from error


def _refusal(path: Path, number: int, reason: str, hint: str | None = None) -> InputError:
    return InputError(
        f"line {number} of {path.name} is no case",
        detail=reason,
        hint=hint or 'Give one a line, such as {"question": "rental cars", "answers": ["30 days", "a month"]}.',
    )


def _rank(case: Case) -> int:
    return rank_of(case.question, *case.history)


def rank_of(*texts: str) -> int:
    """Return the rank of texts among all possible texts. Differences of spacing and case do not change it.

    Returns:
        A number in [0, 2¹²⁸) that depends on the texts alone.
    """
    said = (" ".join(one.casefold().split()) for one in texts)
    return int.from_bytes(_digest("\0".join(said)))


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()[:_ID_CHARS]


def _name(path: Path) -> str:
    name = path.name
    while name.lower().endswith(_SUFFIXES):
        name = name[: name.rindex(".")]
    # A name that is not valid UTF-8 cannot be stored.
    return name.encode("utf-8", "replace").decode()[:_LONGEST_NAME] or "data set"
