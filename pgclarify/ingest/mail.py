"""Mail messages (.eml): their text, without attachments."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from email import message_from_bytes, policy
from email.message import EmailMessage, Message
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, cast

from pgclarify.errors import UnreadableFile
from pgclarify.ingest.markup import read_html
from pgclarify.language.foreign_text import storable

# A message has at least one of these headers. Without one, it is some other text.
_HEADERS = ("From", "To", "Subject", "Date", "Message-ID", "Received")
_METADATA = ("From", "To", "Cc", "Date")


def read_mail(data: bytes, name: str | Path) -> tuple[str | None, str, dict[str, Any]]:
    """Read a message: its plain text, else its HTML.

    Returns:
        Its subject; its text; and as metadata sender, recipients, date, and the names of attachments, which are not
        read.

    Raises:
        ImportError: If it has only HTML, and the extra "files" is not installed.
        UnreadableFile: If it is not a message, or has no text.
    """
    message = message_from_bytes(data, policy=policy.default)
    attachments = _attachments(message)
    content = storable(_text(message))
    if not any(_header(message, header) for header in _HEADERS):
        raise UnreadableFile(f"cannot read {name}", detail="It is not a mail message: it has none of the headers.")
    if not content.strip():
        detail = "It has no text: it is empty."
        if attachments:
            detail = f"It has no text: only attachments, which are not read: {', '.join(attachments)}."
        raise UnreadableFile(f"cannot read {name}", detail=detail)
    metadata: dict[str, Any] = {}
    for header in _METADATA:
        if value := _header(message, header):
            metadata[header.lower()] = value
    if attachments:
        metadata["attachments"] = attachments
    subject = _header(message, "Subject")
    return subject or None, content, metadata


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


def _text(part: EmailMessage) -> str:
    """Return the text of a message part, with the parts in it."""
    if part.get_content_type() == "multipart/alternative":
        # Plain text is preferred to HTML with the same content, because markup is removed anyway.
        for one in sorted(_parts(part), key=_has_plain_text, reverse=True):
            text = _text(one)
            if text.strip():
                return text
        return ""
    if part.get_content_maintype() == "multipart":
        texts = [_text(one).strip() for one in _parts(part)]
        return "\n\n".join(text for text in texts if text)
    if _is_attached(part):
        return ""
    content = _content(part)
    if part.get_content_subtype() == "html":
        _, content = read_html(content)
    return content


def _content(part: EmailMessage) -> str:
    try:
        return str(part.get_content())
    except LookupError:
        # The name of its encoding is unknown.
        payload = cast("bytes", part.get_payload(decode=True))
        return payload.decode("utf-8", "replace")


def _attachments(part: EmailMessage) -> list[str]:
    """Return the names, or else the kinds, of everything that is not read."""
    if part.get_content_maintype() == "multipart":
        return [name for one in _parts(part) for name in _attachments(one)]
    if not _is_attached(part):
        return []
    name = part.get_filename() or part.get_content_type()
    return [storable(name)]


def _is_attached(part: EmailMessage) -> bool:
    if part.get_content_type() not in ("text/plain", "text/html"):
        return True
    return part.get_content_disposition() == "attachment" or part.get_filename() is not None


def _has_plain_text(part: Message) -> bool:
    kinds = {one.get_content_type() for one in part.walk()}
    return "text/plain" in kinds
