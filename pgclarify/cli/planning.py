"""Plans a load: which documents it would replace, which it must not replace, and which its sources no longer have."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from pgclarify.cli import connection
from pgclarify.errors import AlreadyExists, UnreadableFile

if TYPE_CHECKING:
    from pgclarify.cli.rendering import Row
    from pgclarify.ingest.naming import Name

_Item = TypeVar("_Item")

_PAGE = 1000
_MOST_SHOWN = 10


@dataclass(slots=True)
class Plan:
    """The ids and origins of a load.

    Attributes:
        found: For each id of a document to store, a hash of its origin.
        renamed: How many files have another id already, and keep it.
        unnoted: How many documents exist already, from an unknown source.
        is_complete: Whether all names could be found.
    """

    found: dict[str, int] = field(default_factory=dict)
    renamed: int = 0
    unnoted: int = 0
    is_complete: bool = True


@dataclass(frozen=True, slots=True)
class _Clash:
    document_id: str
    reason: str
    # The value for --as that would replace the document; None if there is none.
    source: str | None


def check(database: connection.Database, corpus: str, names: Iterable[Name | UnreadableFile]) -> Plan:
    """Check what a load would do.

    Args:
        database: An autocommit connection.
        corpus: The corpus; it may be missing.
        names: The names of everything to load.

    Raises:
        AlreadyExists: If it would replace a document of another source.
    """
    plan = Plan()
    is_new = not connection.fetch(database, "client_corpus_status", corpus=corpus)
    clashes: list[_Clash] = []
    many = 0
    for page in _pages(_known(names, plan)):
        for name, row in zip(page, _located(database, corpus, page, is_new=is_new), strict=True):
            clash = _clash(name, row, plan)
            if clash is not None:
                many += 1
                clashes += [clash] if many <= _MOST_SHOWN else []
    if clashes:
        raise _refusal(corpus, clashes, many)
    return plan


def gone(database: connection.Database, corpus: str, whole: Sequence[str], plan: Plan) -> list[tuple[str, str]]:
    """Yield ids and origins of documents that their sources no longer have.

    Args:
        database: An autocommit connection.
        corpus: The corpus; it may be missing.
        whole: Prefixes of the origins of all documents of the sources.
        plan: What the sources have now. Nothing is yielded if not all of them could be read.
    """
    if not plan.is_complete or not connection.fetch(database, "client_corpus_status", corpus=corpus):
        return []
    return [
        (row["document_id"], row["origin"])
        for prefix in whole
        for row in loaded_from(database, corpus, prefix)
        if row["document_id"] not in plan.found
    ]


def loaded_from(database: connection.Database, corpus: str, prefix: str) -> Iterator[Row]:
    """Yield the documents whose origin has a prefix, page by page."""
    after = None
    while True:
        rows = connection.fetch(
            database, "cli_list_loaded", corpus=corpus, origin_prefix=prefix, after=after, most=_PAGE
        )
        yield from rows
        if len(rows) < _PAGE:
            return
        after = rows[-1]["origin"]


def remove(database: connection.Database, corpus: str, documents: Iterable[tuple[str, str]]) -> int:
    """Remove documents, by ids and origins, if they still have that origin; return how many were removed."""
    removed = 0
    for page in _pages(documents):
        (row,) = connection.fetch(
            database,
            "cli_remove_loaded",
            corpus=corpus,
            document_ids=[document_id for document_id, _ in page],
            origins=[origin for _, origin in page],
        )
        removed += row["removed"]
    return removed


def _pages(items: Iterable[_Item]) -> Iterator[list[_Item]]:
    left = iter(items)
    while page := list(islice(left, _PAGE)):
        yield page


def _known(names: Iterable[Name | UnreadableFile], plan: Plan) -> Iterator[Name]:
    for name in names:
        if isinstance(name, UnreadableFile):
            plan.is_complete = False
        else:
            yield name


def _located(database: connection.Database, corpus: str, page: Sequence[Name], *, is_new: bool) -> Sequence[Row]:
    if is_new:
        return [{"document_id": name.document_id, "is_taken": False, "is_unnoted": False} for name in page]
    return connection.fetch(
        database,
        "cli_check_load",
        corpus=corpus,
        document_ids=[name.document_id for name in page],
        origins=[name.origin for name in page],
        known_as=[name.known_as for name in page],
    )


def _clash(name: Name, row: Row, plan: Plan) -> _Clash | None:
    """Add a name to the plan, or say why it cannot be loaded."""
    document_id = row["document_id"]
    if row["is_taken"]:
        source = row["taken_from"] or ""
        return _Clash(document_id, _whose(row), source.removesuffix(name.part) if source.endswith(name.part) else None)
    origin = hash(name.origin)
    if plan.found.setdefault(document_id, origin) != origin:
        return _Clash(document_id, "comes twice in this load, from two sources", None)
    plan.renamed += document_id != name.document_id
    plan.unnoted += row["is_unnoted"]
    return None


def _whose(row: Row) -> str:
    if row["relation"] is not None:
        return f"is a row of table {row['relation']}"
    return f"comes from {row['taken_from']}" if row["taken_from"] else "was added by a statement or a client"


def _refusal(corpus: str, clashes: Sequence[_Clash], many: int) -> AlreadyExists:
    from pgclarify.cli.rendering import counted

    listed = "; ".join(f"{clash.document_id} {clash.reason}" for clash in clashes)
    more = f"; and {many - len(clashes):,} more" if many > len(clashes) else ""
    sources = {clash.source for clash in clashes}
    source = sources.pop() if len(sources) == 1 else None
    replacing = f" If this is the same source in another place: --as {shlex.quote(source)}" if source else ""
    return AlreadyExists(
        f"nothing was loaded, because it would replace {counted(many, 'document')} of other sources in {corpus}",
        detail=f"{listed}{more}.",
        hint=f"To keep both, give the new ids a prefix: --prefix 'new/'.{replacing}",
    )
