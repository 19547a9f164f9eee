"""Mail messages: their text, and their attachments, which are documents of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from email import message_from_bytes, policy
from email.message import EmailMessage
from email.utils import parsedate_to_datetime
from typing import Any, cast

from pgclarify.errors import UnreadableFile
from pgclarify.ingest.archives import Member
from pgclarify.ingest.markup import text_of_html
from pgclarify.ingest.parsed import Parsed
from pgclarify.language.foreign_text import storable

# A message has at least one of these headers. Without one, it is some other text.
_HEADERS = ("From", "To", "Subject", "Date", "Message-ID", "Received")
_METADATA = ("From", "To", "Cc", "Date", "Subject")
_QUOTE_MARKS = re.compile(r"^(?:[ \t]*>)+[ \t]?", re.MULTILINE)
_BLANK_LINES = re.compile(r"\n[ \t]*\n")
_WORD = re.compile(r"\w+")
# An alternative with so many times the words has parts that the plain text lacks.
_MORE_WORDS = 1.25
_MORE_WORDS_AT_LEAST = 5
_TAG = re.compile(r"<[^>]*>")
_NOT_IN_NAME = re.compile(r"[/\\\x00-\x1f!]+")
_MOST_NAME_CHARS = 100


def read_mail(data: bytes, name: str) -> Parsed:
    """Read a message: its plain text, or its HTML if that has clearly more words. Quoted history is kept once.

    Returns:
        Its subject as title, its text, which is empty if there are only attachments; and as metadata sender,
        recipients, date, subject, and the names of attachments.

    Raises:
        ImportError: If it has only HTML, and the extra "files" is not installed.
        UnreadableFile: If it is not a message, or has neither text nor attachments.
    """
    message = message_from_bytes(data, policy=policy.default)
    attachments = [member.path for member in _attachments(message)]
    content = _once(storable(_text(message)))
    if not any(_header(message, header) for header in _HEADERS):
        raise UnreadableFile(f"cannot read {name}", detail="It is not a mail message: it has none of the headers.")
    if not content.strip() and not attachments:
        raise UnreadableFile(f"cannot read {name}", detail="It has no text: it is empty.")
    metadata: dict[str, Any] = {}
    for header in _METADATA:
        if value := _header(message, header):
            metadata[header.lower()] = value
    if attachments:
        metadata["attachments"] = attachments
    return Parsed(_header(message, "Subject") or None, content, metadata)


def attached(data: bytes) -> Iterator[Member]:
    """Yield the attachments of a message, among them forwarded messages."""
    return _attachments(message_from_bytes(data, policy=policy.default))


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
        return _best_of(_parts(part))
    if part.get_content_maintype() == "multipart":
        texts = [_text(one).strip() for one in _parts(part)]
        return "\n\n".join(text for text in texts if text)
    if _is_attached(part):
        return ""
    content = _content(part)
    if part.get_content_subtype() == "html":
        content = text_of_html(content)
    return content


def _best_of(alternatives: list[EmailMessage]) -> str:
    """Return the plain text, because markup is removed anyway; another text if it has clearly more words."""
    chosen = ""
    for one in sorted(alternatives, key=lambda part: part.get_content_type() != "text/plain"):
        most = _MORE_WORDS * len(_WORD.findall(chosen)) + _MORE_WORDS_AT_LEAST if chosen.strip() else 0
        if _words_with_tags(one) > most and len(_WORD.findall(text := _text(one))) > most:
            chosen = text
    return chosen


def _words_with_tags(part: EmailMessage) -> int:
    texts = [one for one in part.walk() if one.get_content_maintype() == "text" and not _is_attached(one)]
    return sum(len(_WORD.findall(_TAG.sub(" ", _content(one)))) for one in texts)


def _content(part: EmailMessage) -> str:
    try:
        return str(part.get_content())
    except LookupError:
        # The name of its encoding is unknown.
        payload = cast("bytes", part.get_payload(decode=True))
        return payload.decode("utf-8", "replace")


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


def _once(text: str) -> str:
    """Remove the marks of quoted history, and what was quoted before."""
    if ">" not in text:
        return text
    seen: set[str] = set()
    kept: list[str] = []
    for block in _BLANK_LINES.split(_QUOTE_MARKS.sub("", text)):
        words = " ".join(block.split())
        if words and words not in seen:
            seen.add(words)
            kept.append(block)
    return "\n\n".join(kept)
