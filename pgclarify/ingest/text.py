"""What text has to be before PostgreSQL can store it, and a worker can index it."""

from __future__ import annotations

from pathlib import Path

from pgclarify.errors import UnreadableFile

# A worker embeds a document of this size in some five minutes on two cores; add_document has the same limit.
MAX_DOCUMENT_CHARS = 10_000_000
# No character takes more bytes, so that a file over it need not be read.
MAX_DOCUMENT_BYTES = 4 * MAX_DOCUMENT_CHARS


def decode(data: bytes, name: str | Path) -> str:
    """Decode a text file: UTF-8, with or without a byte order mark.

    Raises:
        UnreadableFile: If it is binary, in another encoding, or holds NUL characters.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableFile(
            f"cannot read {name}",
            detail=f"It is not UTF-8 text: byte {error.start} is 0x{data[error.start]:02x}.",
            hint="Convert it to UTF-8, or leave it out if it is a binary file.",
        ) from error
    if reason := unstorable(text):
        raise UnreadableFile(f"cannot read {name}", detail=reason, hint="Leave it out if it is a binary file.")
    return text


def unstorable(text: str) -> str | None:
    """Say why PostgreSQL could not store a text, as a sentence; None if it can."""
    position = text.find("\x00")
    if position >= 0:
        return f"There is a NUL character at offset {position}, which PostgreSQL cannot store."
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        return f"There is half a surrogate pair at offset {error.start}, which is no character."
    return None


def too_long(chars: int) -> str | None:
    """Say that a document has too many characters, as a sentence; None if it has not."""
    if chars <= MAX_DOCUMENT_CHARS:
        return None
    return f"It has {chars:,} characters; a document may have {MAX_DOCUMENT_CHARS:,}. Split it, by chapters say."
