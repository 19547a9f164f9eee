"""Records: a mapping names the fields of a document. And JSON lines, with one record a line."""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import IO, Any, Final, NoReturn, TypeAlias, cast

from pgclarify.data.vocabulary import Document
from pgclarify.declared.documents import FIELDS
from pgclarify.errors import InputError, UnreadableFile
from pgclarify.ingest.text import WESTERN, encoding_of, guess, too_long
from pgclarify.language.foreign_text import unstorable

RecordReader: TypeAlias = Callable[[IO[bytes], str, "FieldMapping"], Iterator[Document | UnreadableFile]]

# A line is in memory as a whole; PostgreSQL stores no field of more than a gigabyte.
_MAX_LINE_CHARS = 256 * 1024 * 1024
_MOST_MARK_BYTES = 4


_KINDS: Final = {"id": "text", "content": "text", **{field.name: field.kind for field in FIELDS}}
_USUAL: Final = {"id": ("id",), "content": ("content", "text"), **{field.name: field.records for field in FIELDS}}


class FieldMapping(dict[str, tuple[str, ...]]):
    """The fields of a record for each part of a document: the first that exists and is not null is taken.

    Args:
        named: Those of the parts for which they are not the usual ones.
    """

    def __init__(self, **named: tuple[str, ...]) -> None:
        super().__init__(_USUAL | named)

    @classmethod
    def parse(cls, assignments: Iterable[str]) -> FieldMapping:
        """Read assignments such as "content=body"; parts without an assignment keep their default.

        Raises:
            InputError: If an assignment has another form or names an unknown part.
        """
        named: dict[str, tuple[str, ...]] = {}
        for assignment in assignments:
            part, _, field = assignment.partition("=")
            if not field or part not in _USUAL:
                raise InputError(
                    "the field mapping is invalid",
                    detail=f"It says {assignment!r}.",
                    hint=f"Write PART=FIELD; the parts are {', '.join(_USUAL)}.",
                )
            named[part] = (field,)
        return cls(**named)


def read_record_stream(stream: IO[bytes], name: str, mapping: FieldMapping) -> Iterator[Document | UnreadableFile]:
    """Read JSON lines from a stream, one line in memory at a time.

    Args:
        stream: Binary.
        name: Its name in errors.
        mapping: Which fields make up a document.

    Yields:
        For each line that is not blank, its document, or an error that says why there is none.
    """
    number = 0
    try:
        for number, line in enumerate(read_lines(stream, _MAX_LINE_CHARS), start=1):
            place = f"line {number} of {name}"
            record: dict[str, Any] = {}
            try:
                if len(line) > _MAX_LINE_CHARS:
                    raise ValueError(f"The line is longer than {_MAX_LINE_CHARS} characters.")
                check_encoding(line)
                if line.strip():
                    record = _record(line)
                    yield replace(document_of(record, mapping), found_in=place)
            except (ValueError, RecursionError) as error:
                yield unreadable(place, _reason(error), record, mapping)
    except (OSError, EOFError, zlib.error) as error:
        yield UnreadableFile(f"cannot read {name} beyond line {number}", detail=f"{type(error).__name__}: {error}.")


def read_lines(stream: IO[bytes], most_chars: int, on_guess: Callable[[str], object] | None = None) -> Iterator[str]:
    """Yield the lines of a stream in UTF-8, or in the encoding of its byte order mark; long lines are cut.

    Bytes that are not UTF-8 become lone surrogates, so that only their record is refused.

    Args:
        stream: Binary, at its start.
        most_chars: The longest line. Of a longer line, one character more than this is yielded.
        on_guess: Called with an encoding that is guessed by the beginning of the stream; None to guess none.

    Yields:
        Lines with their ends, which may be CR alone, as old programs write it; without the mark.

    Raises:
        OSError: If reading fails, or the stream does not fit its mark.
    """
    # That of an address may not go back.
    buffered = (
        stream if isinstance(stream, io.BufferedReader | gzip.GzipFile) else io.BufferedReader(cast("Any", stream))
    )
    head = buffered.peek(_MOST_MARK_BYTES)
    mark, encoding = encoding_of(head)
    if on_guess is not None and not mark and (likely := _guessed_of(head)):
        encoding = likely
        on_guess(likely)
    buffered.read(len(mark))
    errors = "surrogateescape" if encoding == "utf-8" else "strict"
    text = io.TextIOWrapper(buffered, encoding, errors, newline="")
    try:
        while line := text.readline(most_chars + 1):
            rest = line
            while len(rest) > most_chars and not rest.endswith("\n"):
                rest = text.readline(most_chars + 1)
            yield line
    except UnicodeDecodeError as error:
        raise OSError(f"it is not {encoding.upper()} text") from error
    finally:
        # Otherwise it closes the stream, which the caller does, or has done.
        with suppress(ValueError):
            text.detach()


def _guessed_of(head: bytes) -> str | None:
    """Return the encoding of a file by its beginning; None for UTF-8, and for Windows-1252, which is read by line."""
    # A letter of several bytes may be cut off at the end.
    whole = head[: head.rfind(b"\n") + 1] or head
    if b"\0" in whole:
        whole = head[: len(head) // 2 * 2]
    else:
        with suppress(UnicodeDecodeError):
            whole.decode()
            return None
    likely, text = guess(whole)
    return likely if text is not None and likely != WESTERN else None


def unreadable(place: str, reason: str, record: dict[str, Any], mapping: FieldMapping) -> UnreadableFile:
    """Return the error for a record that is no document, with its id if that can be read."""
    problem = UnreadableFile(f"cannot read {place}", detail=reason)
    with suppress(ValueError):
        problem.document_id = _part(record, mapping, "id")
    return problem


def _record(line: str) -> dict[str, Any]:
    record = json.loads(line, parse_constant=_refuse_constant)
    if not isinstance(record, dict):
        raise ValueError(f"The line is no JSON object but {_kind(record)}.")
    return record


def document_of(record: dict[str, Any], mapping: FieldMapping) -> Document:
    """Make a document of a record.

    Raises:
        ValueError: If that is impossible; the message is a sentence.
    """
    parts = {part: _part(record, mapping, part) for part in _KINDS}
    if not parts["id"]:
        raise ValueError(_missing("id", mapping["id"], "empty"))
    if not (parts["content"] or "").strip():
        raise ValueError(_missing("content", mapping["content"], "blank"))
    if reason := too_long(len(parts["content"])):
        raise ValueError(reason)
    given = {part: value for part, value in parts.items() if value is not None}
    return Document(given.pop("id"), **given)


def _missing(part: str, names: tuple[str, ...], empty: str) -> str:
    named = f"the field {' or '.join(names)} is missing, null or {empty}"
    return f"There is no {part}: {named}. Another field: --field {part}=FIELD."


def _part(record: dict[str, Any], mapping: FieldMapping, part: str) -> Any:  # noqa: ANN401 (of any kind)
    """Return a part of a document; None if the record does not have it."""
    name = next((name for name in mapping[part] if record.get(name) is not None), None)
    if name is None:
        return None
    value = record[name]
    check_strings(name, value)
    match _KINDS[part], value:
        case "text", bool() | float() | list() | dict():
            raise ValueError(f"The field {name} is no string but {_kind(value)}.")
        case "text", _:
            return str(value)
        case "object", dict():
            return value
        case "object", _:
            raise ValueError(f"The field {name} is no object but {_kind(value)}.")
        case "roles", list() if all(isinstance(reader, str) for reader in value):
            return tuple(value)
        case "roles", _:
            raise ValueError(f"The field {name} is no list of role names.")
    if value == "":
        return None
    try:
        return datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise ValueError(f"The field {name} is no ISO date, such as 2026-03-01.") from None


def check_encoding(text: str) -> None:
    """Refuse a text that had bytes that are not UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        # "surrogateescape" encodes a byte in this way.
        byte = ord(error.object[error.start]) - 0xDC00
        raise ValueError(f"It is not UTF-8 text: it has the byte 0x{byte:02x}.") from error


def check_strings(name: str, value: object) -> None:
    """Refuse strings that PostgreSQL cannot store, at any depth."""
    if isinstance(value, str):
        if reason := unstorable(value):
            raise ValueError(f"The field {name} cannot be stored. {reason}")
    elif isinstance(value, dict):
        for key, part in value.items():
            check_strings(name, key)
            check_strings(name, part)
    elif isinstance(value, list):
        for part in value:
            check_strings(name, part)


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON.")


def _kind(value: object) -> str:
    names = {dict: "an object", list: "an array", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"It is no JSON: {error.msg.removesuffix(' at')} at column {error.colno}."
    if isinstance(error, RecursionError):
        return "Its JSON is nested too deeply."
    # Python reads no number of more digits, and advises to change the program.
    if "integer string conversion" in str(error):
        return "A number in it has more than 4,300 digits."
    return str(error)
