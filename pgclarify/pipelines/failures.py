"""Errors as one line of text, as they are kept beside a run, a verdict or a document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pgclarify.errors import PgclarifyError

# A library's message may quote its whole input; what is kept is to be read by a person.
_LONGEST = 500


def describe(error: Exception) -> str:
    """Say on one line what went wrong: message and detail of our own errors, type and text of others'."""
    if isinstance(error, PgclarifyError):
        text = f"{error.message}: {error.detail}" if error.detail else error.message
    else:
        text = f"{type(error).__name__}: {error}"
    # Neither PostgreSQL's text nor a terminal takes everything that a library may put into a message.
    text = text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "")
    return " ".join(text.split())[:_LONGEST]


def summarize(errors: Sequence[str]) -> str:
    """Speak for many errors by the most frequent one; of equally frequent ones, the first."""
    error, count = Counter(errors).most_common(1)[0]
    return error if len(errors) == 1 else f"{error} ({count} of {len(errors)} passages)"
