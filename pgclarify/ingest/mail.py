"""Mail messages (.eml): their text, without attachments."""

from __future__ import annotations

from email import message_from_bytes, policy
from email.message import EmailMessage, Message
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
    headers = {header: storable(" ".join(str(message[header] or "").split())) for header in _HEADERS + _METADATA}
    attachments = _attachments(message)
    content = storable(_text(message))
    if not any(headers[header] for header in _HEADERS):
        raise UnreadableFile(f"cannot read {name}", detail="It is not a mail message: it has none of the headers.")
    if not content.strip():
        attached = f"only attachments, which are not read: {', '.join(attachments)}" if attachments else "it is empty"
        raise UnreadableFile(f"cannot read {name}", detail=f"It has no text: {attached}.")
    metadata: dict[str, Any] = {header.lower(): headers[header] for header in _METADATA if headers[header]}
    if attachments:
        metadata["attachments"] = attachments
    return headers["Subject"] or None, content, metadata


def _text(part: EmailMessage) -> str:
    """Return the text of a message part, with the parts in it."""
    if part.get_content_type() == "multipart/alternative":
        # Plain text is preferred to HTML with the same content, because markup is removed anyway.
        by_preference = sorted(part.iter_parts(), key=lambda one: not _has_plain_text(one))
        texts = (_text(cast("EmailMessage", one)) for one in by_preference)
        return next((text for text in texts if text.strip()), "")
    if part.get_content_maintype() == "multipart":
        texts = (_text(cast("EmailMessage", one)) for one in part.iter_parts())
        return "\n\n".join(text.strip() for text in texts if text.strip())
    if _is_attached(part):
        return ""
    content = _content(part)
    return read_html(content)[1] if part.get_content_subtype() == "html" else content


def _content(part: EmailMessage) -> str:
    try:
        return str(part.get_content())
    except LookupError:
        # The name of its encoding is unknown.
        return cast("bytes", part.get_payload(decode=True)).decode("utf-8", "replace")


def _attachments(part: EmailMessage) -> list[str]:
    """Return the names, or else the kinds, of everything that is not read."""
    if part.get_content_maintype() == "multipart":
        return [name for one in part.iter_parts() for name in _attachments(cast("EmailMessage", one))]
    return [storable(part.get_filename() or part.get_content_type())] if _is_attached(part) else []


def _is_attached(part: EmailMessage) -> bool:
    is_text = part.get_content_type() in ("text/plain", "text/html")
    return not is_text or part.get_content_disposition() == "attachment" or part.get_filename() is not None


def _has_plain_text(part: Message) -> bool:
    return any(one.get_content_type() == "text/plain" for one in part.walk())
