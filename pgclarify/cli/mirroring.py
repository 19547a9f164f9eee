"""Scripts with which a corpus mirrors a folder of files. The docstrings are those of the methods of CommandClient."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from pgclarify.client.rows import record
from pgclarify.client.scripts import Script, Session, Statement, Stream, only_value

if TYPE_CHECKING:
    from pgclarify.ingest.naming import Name

_PAGE = 1000
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Placement:
    """Where the document of a file would be stored.

    Attributes:
        document_id: The id that it would have; the former one if the file is known.
        is_taken: Whether a document of another source has that id, so that the file cannot be stored.
        taken_from: The file of the other document; None or "" if it has none.
        relation: The attached table of the other document; None if it is no row.
    """

    document_id: str
    is_taken: bool = False
    taken_from: str | None = None
    relation: str | None = None


def check_load(session: Session, /, names: Sequence[Name], *, corpus: str | None = None) -> Script[list[Placement]]:
    """Say where add_documents would store documents of files. Nothing is changed.

    Args:
        names: The names of the documents, from `pgclarify.ingest.naming`; at most some thousands.
        corpus: A corpus of yours; None means the client's.

    Returns:
        A placement for each name, in order.
    """
    rows = yield Statement(
        "client_check_load",
        {
            "corpus": corpus or session.corpus,
            "document_ids": [name.document_id for name in names],
            "origins": [name.origin for name in names],
            "known_as": [name.known_as for name in names],
        },
    )
    return [record(Placement, row) for row in rows]


def loaded_from(session: Session, /, prefix: str, *, corpus: str | None = None) -> Stream[tuple[str, str]]:
    """List the documents of a folder, or of a file with several documents.

    Args:
        prefix: The beginning of their origins: a folder with / at the end, or a file with #.
        corpus: A corpus of yours; None means the client's.

    Returns:
        An iterator over pairs of a document's id and its origin.
    """
    after = None
    while True:
        rows = yield Statement(
            "client_loaded_from",
            {"corpus": corpus or session.corpus, "origin_prefix": prefix, "after": after, "most": _PAGE},
        )
        for row in rows:
            yield row["document_id"], row["origin"]
        if len(rows) < _PAGE:
            return
        after = rows[-1]["origin"]


def remove_loaded(
    session: Session, /, documents: Iterable[tuple[str, str]], *, corpus: str | None = None
) -> Script[int]:
    """Remove documents of files, if they still have these origins.

    Args:
        documents: Pairs of a document's id and its origin, from loaded_from.
        corpus: A corpus of yours; None means the client's.

    Returns:
        How many were removed.
    """
    removed = 0
    for page in pages(documents):
        rows = yield Statement(
            "client_remove_loaded",
            {
                "corpus": corpus or session.corpus,
                "document_ids": [document_id for document_id, _ in page],
                "origins": [origin for _, origin in page],
            },
        )
        removed += int(only_value(rows))
    return removed


def pages(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Yield the items in lists of a thousand."""
    left = iter(items)
    while page := list(islice(left, _PAGE)):
        yield page
