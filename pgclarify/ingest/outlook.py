"""Messages of Outlook (.msg) as mail (.eml): headers, text, attachments and forwarded messages."""

from __future__ import annotations

import struct
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email import policy
from email.message import EmailMessage
from email.utils import format_datetime
from io import BytesIO
from typing import TYPE_CHECKING, Final

from pgclarify.language.foreign_text import storable

if TYPE_CHECKING:
    from olefile import OleFileIO

# Numbers of properties, from [MS-OXPROPS].
_SUBJECT, _TO, _CC, _SENDER, _SENDER_ADDRESSES = 0x0037, 0x0E04, 0x0E03, 0x0C1A, (0x5D01, 0x0C1F)
_BODY, _HTML, _NAMES, _DATA, _DATES = 0x1000, 0x1013, (0x3707, 0x3704), 0x3701, (0x0039, 0x0E06)
# Types: UTF-16, text of one byte a letter, bytes, an embedded message.
_TEXTS: Final = {"001F": "utf-16-le", "001E": "windows-1252"}
_BYTES: Final = "0102"
_MESSAGE: Final = "000D"
_FILETIME: Final = 0x0040
_PROPERTY: Final = struct.Struct("<HHIQ")
# What stands before the properties of a file, and of a message in it.
_OWN_HEADER, _INNER_HEADER = 32, 24
_EPOCH: Final = datetime(1601, 1, 1, tzinfo=UTC)
_ATTACHMENT: Final = "__attach_version1.0_#"
_MOST_DEPTH: Final = 5


def outlook_to_mail(data: bytes) -> bytes:
    """Convert a message of Outlook to mail.

    Raises:
        ImportError: If the extra "files" is not installed.
        OSError: If it is no such message.
    """
    # An optional extra.
    from olefile import OleFileIO

    with OleFileIO(BytesIO(data)) as file:
        return bytes(_message(file, [], 0))


def _message(file: OleFileIO, storage: list[str], depth: int) -> EmailMessage:
    message = EmailMessage(policy.default)
    sender, address = _text(file, storage, _SENDER), _text(file, storage, *_SENDER_ADDRESSES)
    headers = {
        "From": f"{sender} <{address}>" if sender and "@" in address and sender != address else sender or address,
        "To": _text(file, storage, _TO),
        "Cc": _text(file, storage, _CC),
        "Subject": _text(file, storage, _SUBJECT),
        "Date": _date(file, storage),
    }
    for name, value in filter(lambda header: header[1], headers.items()):
        # Any text is possible here.
        with suppress(ValueError):
            message[name] = " ".join(value.split())
    message.set_content(_text(file, storage, _BODY))
    html = _bytes(file, storage, _HTML, _BYTES) or _text(file, storage, _HTML).encode()
    if html:
        message.add_alternative(html, "text", "html")
    for place in sorted(file.listdir(streams=False, storages=True)):
        if place[:-1] != storage or not place[-1].startswith(_ATTACHMENT):
            continue
        name = _text(file, place, *_NAMES)
        inner = [*place, _part(_DATA, _MESSAGE)]
        if file.exists(inner) and depth < _MOST_DEPTH:
            message.add_attachment(_message(file, inner, depth + 1))
        else:
            content = _bytes(file, place, _DATA, _BYTES)
            message.add_attachment(content, "application", "octet-stream", filename=name or "attachment")
    return message


def _part(number: int, kind: str) -> str:
    return f"__substg1.0_{number:04X}{kind}"


def _bytes(file: OleFileIO, storage: list[str], number: int, kind: str) -> bytes:
    place = [*storage, _part(number, kind)]
    return bytes(file.openstream(place).read()) if file.exists(place) else b""


def _text(file: OleFileIO, storage: list[str], *numbers: int) -> str:
    """Return the first of these properties that has a text; empty if none has."""
    found = (
        _bytes(file, storage, number, kind).decode(encoding, "replace").strip("\x00").replace("\r\n", "\n")
        for number in numbers
        for kind, encoding in _TEXTS.items()
    )
    return storable(next(filter(None, found), ""))


def _date(file: OleFileIO, storage: list[str]) -> str:
    place = [*storage, "__properties_version1.0"]
    data = file.openstream(place).read() if file.exists(place) else b""
    data = data[_INNER_HEADER if storage else _OWN_HEADER :]
    dates = {
        number: value
        for kind, number, _, value in _PROPERTY.iter_unpack(data[: len(data) // _PROPERTY.size * _PROPERTY.size])
        if kind == _FILETIME
    }
    for number in _DATES:
        with suppress(KeyError, OverflowError):
            return format_datetime(_EPOCH + timedelta(microseconds=dates[number] // 10))
    return ""
