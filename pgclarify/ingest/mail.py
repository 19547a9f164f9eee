"""Mail messages: their text, and their attachments, which are documents of their own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, time
from email import message_from_bytes, policy
from email.message import EmailMessage
from email.utils import format_datetime, parsedate_to_datetime
from typing import Any, cast

from pgclarify.ingest.archives import Member
from pgclarify.ingest.markup import read_html
from pgclarify.ingest.parsed import Parsed, Unreadable
from pgclarify.ingest.quoted import without_quoted
from pgclarify.ingest.text import decode_any, decode_as, decode_html
from pgclarify.language.foreign_text import storable

# A message has at least one of these headers. Without one, it is some other text.
_HEADERS = ("From", "To", "Subject", "Date", "Message-ID", "Received")
_METADATA = ("From", "To", "Cc", "Date", "Subject")
_NOT_IN_NAME = re.compile(r"[/\\\x00-\x1f!]+")
_MOST_NAME_CHARS = 100


def read_mail(data: bytes) -> Parsed:
    """Read a message: what its sender says, as mail programs show it. What it quotes is not its own.

    Returns:
        Its subject as title, its text, which is empty if there are only attachments; and as metadata sender,
        recipients, date, subject, and the names of attachments.

    Raises:
        ImportError: If it has HTML, and the extra "worker" is not installed.
        Unreadable: If it is not a message, or has neither text nor attachments.
    """
    message = message_from_bytes(data, policy=policy.default)
    attachments = [member.path for member in _attachments(message)]
    unread: Counter[str] = Counter()
    parted = without_quoted(storable(_text(message, unread)))
    content = parted.text
    unread["quoted text"] = parted.unknown
    if not any(_header(message, header) for header in _HEADERS):
        raise Unreadable("It is not a mail message: it has none of the headers.")
    if not content.strip() and not attachments and not parted.quoted:
        raise Unreadable("It has no text: it is empty.")
    metadata: dict[str, Any] = {}
    for header in _METADATA:
        if value := _header(message, header):
            metadata[header.lower()] = value
    if attachments:
        metadata["attachments"] = attachments
    return Parsed(_header(message, "Subject") or None, content, metadata, unread=dict(+unread))


def attached(data: bytes) -> Iterator[Member]:
    """Yield the attachments of a message, among them forwarded messages, and the messages that it quotes."""
    message = message_from_bytes(data, policy=policy.default)
    yield from _attachments(message)
    for number, quoted in enumerate(without_quoted(storable(_text(message, Counter()))).quoted, start=1):
        told = EmailMessage(policy.default)
        told["Subject"] = _header(message, "Subject")
        if quoted.sender:
            told["From"] = quoted.sender
        if quoted.sent:
            told["Date"] = format_datetime(datetime.combine(quoted.sent, time(), UTC))
        told.set_content(quoted.text)
        yield Member(f"quoted {number}.eml", bytes(told))


def sent_at(metadata: Mapping[str, Any]) -> datetime | None:
    """Return when a message was sent, by its own header; None if that is missing, or is no date."""
    try:
        return parsedate_to_datetime(metadata["date"])
    except (KeyError, ValueError):
        return None


def _header(message: EmailMessage, name: str) -> str:
    """Return a header with single spaces; empty if the message does not have it."""
    value = str(message[name] or "")
    return storable(" ".join(value.split()))


def _parts(message: EmailMessage) -> list[EmailMessage]:
    # The policy makes all parts of this class, which the annotations of the library do not say.
    return cast("list[EmailMessage]", list(message.iter_parts()))


def _text(part: EmailMessage, unread: Counter[str]) -> str:
    """Return the text of a message part, with the parts in it. What it quotes has the marks of plain text."""
    if part.get_content_type() == "multipart/alternative":
        # The last one is the best (RFC 2046, §5.1.4), and mail programs show it. Plain text may be a stub.
        alternatives = (_text(one, unread) for one in reversed(_parts(part)))
        return next(filter(str.strip, alternatives), "")
    if part.get_content_maintype() == "multipart":
        texts = [_text(one, unread).strip() for one in _parts(part)]
        return "\n\n".join(text for text in texts if text)
    if _is_attached(part):
        return ""
    content = _content(part, unread)
    if part.get_content_subtype() == "html":
        # Slow to import.
        from pgclarify.ingest.writer import Writer

        return read_html(content, Writer(marks_quotes=True)).content
    if str(part.get_param("format", "")).lower() == "flowed":
        return _unflowed(content, deletes_blanks=str(part.get_param("delsp", "")).lower() == "yes")
    return content


def _content(part: EmailMessage, unread: Counter[str]) -> str:
    payload = part.get_payload(decode=True)
    data = (payload if isinstance(payload, bytes) else b"").replace(b"\r\n", b"\n")
    declared = part.get_content_charset()
    text = decode_as(data, declared) if declared else None
    if text is not None:
        return text
    try:
        text, guessed = (decode_html if part.get_content_subtype() == "html" else decode_any)(data)
    except Unreadable:
        return data.decode("utf-8", "replace")
    unread.update(guessed)
    return text


def _unflowed(text: str, *, deletes_blanks: bool) -> str:
    """Join the lines of a paragraph, of which all but the last end with a blank.

    Source: RFC 3676, §4.
    """
    lines: list[str] = []
    is_open = False
    for line in text.split("\n"):
        # A line that begins with a blank, ">" or "From " has one more blank.
        told = line.removeprefix(" ")
        depth = len(told) - len(told.lstrip(">"))
        if is_open and depth == len(lines[-1]) - len(lines[-1].lstrip(">")):
            before = lines[-1][:-1] if deletes_blanks else lines[-1]
            lines[-1] = before + told[depth:].removeprefix(" " if depth else "")
        else:
            lines.append(told)
        is_open = told.endswith(" ") and told != "-- "
    return "\n".join(lines)


def _attachments(part: EmailMessage) -> Iterator[Member]:
    if part.get_content_maintype() == "multipart":
        for one in _parts(part):
            yield from _attachments(one)
    elif part.get_content_type() == "message/rfc822":
        forwarded = part.get_content()
        subject = _header(forwarded, "Subject") if isinstance(forwarded, EmailMessage) else ""
        name = part.get_filename() or f"{subject[:_MOST_NAME_CHARS] or 'message'}.eml"
        yield Member(_as_name(name), bytes(forwarded))
    elif _is_attached(part):
        payload = part.get_payload(decode=True)
        name = part.get_filename() or part.get_content_type()
        yield Member(_as_name(name), payload if isinstance(payload, bytes) else b"")


def _as_name(name: str) -> str:
    return _NOT_IN_NAME.sub("_", storable(name)).strip() or "attachment"


def _is_attached(part: EmailMessage) -> bool:
    if part.get_content_type() not in ("text/plain", "text/html"):
        return True
    is_inline = part.get_content_disposition() == "inline"
    return part.get_content_disposition() == "attachment" or (part.get_filename() is not None and not is_inline)
