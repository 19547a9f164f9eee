"""What a person sends: a question with its corpus, filter and history, a rating, and what an address names."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl

from pgclarify.errors import InputError

_LARGEST: Final = 2**31 - 1
_PLACE = re.compile(r"(\d{1,9})\.(\d{1,9})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Question:
    """A question as it stands in the form.

    Attributes:
        question: The question.
        corpus: Name of the corpus; empty lets the server choose.
        filter: JSON, or empty.
        history: Earlier turns, one a line.
    """

    question: str = ""
    corpus: str = ""
    filter: str = ""
    history: str = ""

    @classmethod
    def of(cls, given: Mapping[str, str]) -> Question:
        """Read the fields of the form, or of an address."""
        return cls(*(given.get(name, "").strip() for name in ("question", "corpus", "filter", "history")))

    def arguments(self) -> Mapping[str, Any]:
        """Return corpus and filter, as methods of the client have them.

        Raises:
            InputError: If the filter is no JSON object.
        """
        corpus = {"corpus": self.corpus or None}
        return {**corpus, "filter": self._filter()} if self.filter else corpus

    def turns(self) -> list[str]:
        """Return the earlier turns."""
        return [line.strip() for line in self.history.splitlines() if line.strip()]

    def _filter(self) -> Mapping[str, Any]:
        try:
            found = json.loads(self.filter)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise InputError(
                "the filter is no JSON object",
                hint='Write it as {"year": {">=": 2025}}, or leave it empty.',
                parameter="filter",
            )
        return found


@dataclass(frozen=True, slots=True)
class Shown:
    """What stands beside a run: a quote of it or a passage that it found, in its document.

    Attributes:
        ordinal: Of the reading whose quote it is; None for a passage.
        rank: Of the quote among those of the reading, or of the passage.
        from_char: Where the part of the document begins; None is around the quote.
    """

    ordinal: int | None
    rank: int
    from_char: int | None = None

    @classmethod
    def of(cls, given: Mapping[str, str]) -> Shown | None:
        """Read `quote=2.1` or `passage=7` of an address; None without either."""
        from_char = number(given.get("from", ""))
        if found := _PLACE.fullmatch(given.get("quote", "")):
            return cls(int(found[1]), int(found[2]), from_char)
        rank = number(given.get("passage", ""))
        return None if rank is None else cls(None, rank, from_char)

    @property
    def address(self) -> str:
        """How an address names it, without the part."""
        return f"passage={self.rank}" if self.ordinal is None else f"quote={self.ordinal}.{self.rank}"


@dataclass(frozen=True, slots=True)
class Rating:
    """What a person says of a run. Arguments of give_feedback.

    Attributes:
        ordinal: The reading; None if a right answer is missing.
        rating: right, wrong or useless; None takes it back.
        comment: Why; None for none.
        missing: The right answer that is missing; None for none.
    """

    ordinal: int | None
    rating: str | None
    comment: str | None
    missing: str | None

    @classmethod
    def of(cls, given: Mapping[str, str]) -> Rating:
        """Read the form below a reading, or that of a missing answer.

        Raises:
            InputError: If it names no reading.
        """
        ordinal = number(given["ordinal"]) if "ordinal" in given else None
        if "ordinal" in given and ordinal is None:
            raise InputError("the reading has no number", parameter="ordinal")
        rating = given.get("rating", "") or None
        comment = given.get("comment", "").strip() or None
        missing = given.get("missing", "").strip() or None
        # A comment without a rating would be refused.
        return cls(ordinal, rating, comment if rating or missing else None, missing)


def number(text: str) -> int | None:
    """Return a whole number from 0 that PostgreSQL has, too; None if it is none."""
    return int(text) if re.fullmatch(r"\d{1,10}", text, re.ASCII) and int(text) <= _LARGEST else None


def fields(body: bytes) -> Mapping[str, str]:
    """Read a form.

    Raises:
        InputError: If it is none.
    """
    try:
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=20)
    except ValueError:
        raise InputError("the form cannot be read", detail="It is no UTF-8, or has too many fields.") from None
    # Browsers end lines with CR LF. NUL is no character for PostgreSQL.
    return {name: value.replace("\r\n", "\n").replace("\0", "\ufffd") for name, value in pairs}
