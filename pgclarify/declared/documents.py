"""The fields of a document beside its id and its text: each once, for all that loads, stores and shows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from pgclarify.declared.forms import Option, Parameter
from pgclarify.declared.releases import FIRST, in_order, number


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field of a document.

    Attributes:
        name: Its name, everywhere.
        kind: What its values are.
        meaning: What the column of the table and the view says.
        given: What the parameter of add_document says.
        default: That of the parameter, an expression of SQL; also of the column, if it may not be null.
        records: The fields of a record that may have it, such as a line of JSON; the first one that exists counts.
        described_by: Where files say it: keys of front matter, fields of a header, and those of a mail.
        longest: Most characters of a text, which is cut there; None if it is not cut.
        column: What the option of attach_table says that names its column; None if that option is declared elsewhere.
        since: The release that has added it.
    """

    name: str
    kind: Literal["text", "object", "roles", "date"]
    meaning: str
    given: str
    default: str = "null"
    records: tuple[str, ...]
    described_by: tuple[str, ...] = ()
    longest: int | None = None
    column: str | None = None
    since: str = FIRST

    @property
    def type(self) -> str:
        """Its type in SQL."""
        return {"text": "text", "object": "jsonb", "roles": "name[]", "date": "timestamptz"}[self.kind]

    @property
    def parameter(self) -> Parameter:
        """The parameter of add_document."""
        return Parameter(self.name, self.type, self.given, self.default, since=self.since)

    @property
    def option(self) -> Option:
        """The option of attach_table that names its column."""
        return Option(name=self.name, meaning=self.column or "")


FIELDS: Final = (
    Field(
        name="title",
        kind="text",
        meaning="Null if it has none.",
        given="shown with citations, and searched; its first 1,000 characters are kept",
        records=("title",),
        # A worker reads the title again with each passage, and so does a language model.
        longest=1000,
        column="Column with the title.",
    ),
    Field(
        name="uri",
        kind="text",
        meaning="Address of the original, for people; null if there is none.",
        given="address of the original, for people, at most 10,000 characters",
        records=("uri", "url"),
        column="Column with the address.",
    ),
    Field(
        name="metadata",
        kind="object",
        meaning="Any JSON object.",
        given="any JSON object of at most 1,000,000 bytes",
        default="'{}'",
        records=("metadata",),
    ),
    Field(
        name="readers",
        kind="roles",
        meaning="Roles that may read it; null means every reader of the corpus. A name without a role grants access to "
        "no one.",
        given="at most 1,000 roles that may read it; null means every reader of the corpus",
        records=("readers",),
        column="Column with the roles that may read the document: an array.",
    ),
    Field(
        name="dated",
        kind="date",
        meaning="Its own date, such as when it was written or published; midnight in UTC if only the day is known. "
        "Null if it is unknown.",
        given="when it was written or published, shown with citations; null takes it from the metadata, if the corpus "
        "has a date_key",
        records=("dated",),
        column="Column with the date of the document.",
        since="0.3.0",
    ),
    Field(
        name="author",
        kind="text",
        meaning="Who wrote it, for people; null if that is unknown.",
        given="who wrote it, shown with the document; its first 1,000 characters are kept",
        records=("author",),
        described_by=("author", "authors", "from"),
        longest=1000,
        column="Column with the author.",
        since="0.4.0",
    ),
)

TEXTS: Final = tuple(field for field in FIELDS if field.kind == "text")
IN_COLUMNS: Final = tuple(field for field in FIELDS if field.column is not None)
"""The fields for which attach_table can name a column."""


def since(release: str) -> tuple[Field, ...]:
    """Return the fields of a release and of later ones, which come last in the table and in its view."""
    return in_order(field for field in FIELDS if number(field.since) >= number(release))
