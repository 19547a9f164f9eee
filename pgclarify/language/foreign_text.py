"""Sanitizes text of corpora, models, users and files before it is shown to a person, embedded or stored."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pgclarify.errors import EmbeddingError

# Characters that a terminal interprets; that reorder, hide or separate text; or that are invisible. Joiners are not
# among them, because they shape letters and emoji. SQL function pgclarify_private.shown has the same, except for half
# surrogate pairs and NUL, which PostgreSQL does not store; a test compares the two.
_HARMFUL = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\u2800\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e01ef]"
)


def sanitize(text: str, *, kept: str = "") -> str:
    r"""Escape all characters of a text that a terminal or viewer could act on, as `\uNNNN` or `\UNNNNNNNN`.

    Control characters, including ESC, which begins ANSI sequences, are among them. Blanks stay.

    Args:
        text: Of any length.
        kept: Characters to keep although they would be escaped, such as the line feed.
    """
    return _HARMFUL.sub(lambda found: found[0] if found[0] in kept else _spelt_out(found[0]), text)


def check_unicode(texts: Iterable[str]) -> None:
    """Check that a model can read the texts.

    Raises:
        EmbeddingError: If one is not valid Unicode.
    """
    for position, text in enumerate(texts):
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise EmbeddingError(
                "a text to embed is not valid Unicode",
                detail=f"Text {position} has half a surrogate pair at offset {error.start}.",
            ) from error


def storable(text: str) -> str:
    """Replace what PostgreSQL cannot store: NUL and lone surrogates, as in a broken mail, or in JSON."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\ufffd")


def _spelt_out(character: str) -> str:
    point = ord(character)
    return f"\\u{point:04x}" if point <= 0xFFFF else f"\\U{point:08x}"


def unstorable(text: str) -> str | None:
    """Return, as a sentence, why PostgreSQL could not store a text; None if it can."""
    position = text.find("\x00")
    if position >= 0:
        return f"There is a NUL character at offset {position}, which PostgreSQL cannot store."
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        return f"There is half a surrogate pair at offset {error.start}, which is no character."
    return None
