"""Plans a load: which documents it would replace, which it must not replace, and which its sources no longer have."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, cycle, islice
from typing import TYPE_CHECKING, TypeVar

import typer

from pgclarify.cli.client import CommandClient
from pgclarify.cli.rendering import Row
from pgclarify.data.counting import counted
from pgclarify.errors import AlreadyExists, NotFound, UnreadableFile
from pgclarify.language.normalization import normalized_id

if TYPE_CHECKING:
    from pgclarify.ingest.addresses import Location
    from pgclarify.ingest.naming import Name, Naming

_MOST_SHOWN = 10
_PAGE = 1000
# Not of an address, such as s3://bucket.
_MACHINE = re.compile(r"^[^/]*:(?=/(?!/))")
Item = TypeVar("Item")


@dataclass(slots=True)
class Plan:
    """The ids and origins of a load.

    Attributes:
        found: For each id of a document to store, its origin.
        refused: For each origin whose document cannot be stored, why, and what to do.
        prefixes: For each file and folder to load again by itself, a prefix that keeps its ids apart.
        renamed: How many files have another id already, and keep it.
        repeated: Ids that occur more than once in a source; the last document counts.
        unread: Origins of documents, files and folders that cannot be read, so that nothing is known of what they have.
        kept: How many documents are not removed, because their files or rows cannot be read.
    """

    found: dict[str, str] = field(default_factory=dict)
    refused: dict[str, tuple[str, str]] = field(default_factory=dict)
    prefixes: dict[str, str] = field(default_factory=dict)
    renamed: int = 0
    repeated: list[str] = field(default_factory=list)
    unread: set[str] = field(default_factory=set)
    kept: int = 0


def origin_prefixes(paths: Sequence[Location], naming: Naming) -> list[str]:
    """Return prefixes of the origins of all documents that these files and folders ever had.

    Raises:
        typer.BadParameter: If a file with a single document is given, for which this makes no sense.
        UnreadableFile: If an address cannot be read.
    """
    from pgclarify.ingest.files import all_origins

    found: set[str] = set()
    for path in paths:
        prefix = all_origins(path, naming)
        if prefix is None:
            raise typer.BadParameter(
                "--mirror takes folders, archives, JSON lines, CSV and TSV: name the folder instead of its files."
            )
        found.add(prefix)
    return sorted(one for one in found if not any(one != other and one.startswith(other) for other in found))


def exists(client: CommandClient) -> bool:
    """Whether the client's corpus exists."""
    try:
        client.corpus_status()
    except NotFound:
        return False
    return True


def check(client: CommandClient, names: Iterable[Name | UnreadableFile]) -> Plan:
    """Check what a load would do.

    Args:
        client: A client of the corpus, which may be missing.
        names: The names of everything to load.

    Raises:
        AlreadyExists: If it would replace a document that comes from nothing in this load.
    """
    plan = Plan()
    is_new = not exists(client)
    taken: list[tuple[Name, Row]] = []
    for page in _pages(_known(names, plan)):
        placements = map(_free, page) if is_new else _placements(client, page)
        taken += [pair for pair in zip(page, placements, strict=True) if not _is_planned(*pair, plan)]
    # Only now, because the file that has an id may come later in this load than the file that wants it.
    if clashes := [placed for name, placed in taken if not _is_refused_second(name, placed["document_id"], plan)]:
        raise _refusal(client.corpus or "", clashes)
    return plan


def gone(client: CommandClient, whole: Sequence[str], plan: Plan) -> list[tuple[str, str]]:
    """Return ids and origins of documents that their sources no longer have.

    Args:
        client: A client of the corpus, which may be missing.
        whole: From origin_prefixes.
        plan: What the sources have now. A document that may be in what cannot be read is kept, and counted there.
    """
    if not exists(client):
        return []
    found: list[tuple[str, str]] = []
    for prefix in whole:
        for document_id, origin in _loaded_from(client, prefix):
            if document_id in plan.found:
                continue
            if plan.unread.isdisjoint(_around(origin)):
                found.append((document_id, origin))
            else:
                plan.kept += 1
    return found


def _around(origin: str) -> Iterator[str]:
    """Yield an origin, and those of the file and the folders that it is in."""
    yield origin
    # Something cannot be read, and nothing is known of it.
    yield ""
    for end, character in enumerate(origin):
        if character in "#/":
            yield origin[:end]


def remove(client: CommandClient, documents: Iterable[tuple[str, str]]) -> int:
    """Remove documents, if they still have these origins; return how many were removed.

    Args:
        client: A client of the corpus.
        documents: Their ids and origins.
    """
    removed = 0
    for page in _pages(documents):
        document_ids, origins = map(list, zip(*page, strict=True))
        (found,) = client.call("remove_loaded", corpus=client.corpus, document_ids=document_ids, origins=origins)
        removed += found["result"]
    return removed


def _placements(client: CommandClient, names: Sequence[Name]) -> list[Row]:
    """Say for each name where the document would be stored, and what is there. Nothing is changed."""
    found = client.call(
        "check_load",
        corpus=client.corpus,
        document_ids=[name.document_id for name in names],
        origins=[name.origin for name in names],
    )
    return sorted(found, key=lambda row: int(row["ordinal"]))


def _free(name: Name) -> Row:
    """Return the placement of a document in a new corpus."""
    return {"document_id": name.document_id, "is_taken": False}


def _loaded_from(client: CommandClient, prefix: str) -> Iterator[tuple[str, str]]:
    """Yield ids and origins of the documents whose origin begins so, by origin."""
    after = None
    while True:
        rows = client.call("loaded_from", corpus=client.corpus, origin_prefix=prefix, after=after, max_rows=_PAGE)
        yield from ((row["document_id"], row["origin"]) for row in rows)
        if len(rows) < _PAGE:
            return
        after = rows[-1]["origin"]


def _pages(items: Iterable[Item]) -> Iterator[list[Item]]:
    left = iter(items)
    while page := list(islice(left, _PAGE)):
        yield page


def _known(names: Iterable[Name | UnreadableFile], plan: Plan) -> Iterator[Name]:
    for name in names:
        if isinstance(name, UnreadableFile):
            plan.unread.add(name.origin or "")
        else:
            yield name


def _is_planned(name: Name, placed: Row, plan: Plan) -> bool:
    """Add a name to the plan, as one to store or to refuse; return False if its id is taken."""
    document_id = placed["document_id"]
    other = plan.found.get(document_id, placed["taken_from"] if placed["is_taken"] else None)
    if other not in (None, name.origin) and normalized_id(other) == normalized_id(name.origin):
        _refuse_twin(name, document_id, other, plan)
        return True
    if _is_refused_second(name, document_id, plan):
        return True
    if placed["is_taken"]:
        return False
    if document_id in plan.found:
        plan.repeated.append(document_id)
    plan.found[document_id] = name.origin
    plan.renamed += document_id != name.document_id
    return True


def _is_refused_second(name: Name, document_id: str, plan: Plan) -> bool:
    """Refuse a document if another file or folder of this load has its id; return whether it was refused."""
    other = plan.found.get(document_id, name.origin)
    if other == name.origin:
        return False
    file, _, row = _path(name.origin).partition("#")
    place = file if row else file.rpartition("/")[0]
    prefix = plan.prefixes.get(place) or _new_prefix(place, document_id, plan.prefixes.values())
    plan.prefixes[place] = prefix
    # It names files, not rows, so that all rows of a file have one reason, which is shown once.
    plan.refused[name.origin] = (
        f"{file} has the same ids as {_path(other).partition('#')[0]}, which is loaded.",
        f"To keep both, load {place} again by itself, with a prefix for its ids: --prefix {shlex.quote(prefix)}",
    )
    return True


def _path(origin: str) -> str:
    """Return an origin without this machine, as people name a file to load."""
    return _MACHINE.sub("", origin)


def _new_prefix(place: str, document_id: str, used: Collection[str]) -> str:
    """Return a prefix with the name of a file or folder, and as much of its path as makes ids new."""
    prefix = ""
    for part in chain(reversed([part for part in place.split("/") if part]), cycle(["new"])):
        prefix = f"{part}/{prefix}"
        if prefix not in used and not document_id.startswith(prefix):
            break
    return prefix


def _refuse_twin(name: Name, document_id: str, other: str, plan: Plan) -> None:
    """Refuse a document whose name differs from that of another one only in its Unicode form."""
    plan.refused[name.origin] = (
        f"Its name differs only in its Unicode form (NFC or NFD) from {other}, which has the id {document_id}.",
        "To keep both, load again with a prefix for new ids: --prefix 'new/'. Or rename one of the two.",
    )
    # That may be its earlier name.
    plan.unread.add(other)


def _whose(placed: Row) -> str:
    if placed["relation"] is not None:
        return f"is a row of table {placed['relation']}"
    return f"comes from {placed['taken_from']}" if placed["taken_from"] else "was added by a statement or a client"


def _refusal(corpus: str, taken: Sequence[Row]) -> AlreadyExists:
    clashes = "; ".join(f"{placed['document_id']} {_whose(placed)}" for placed in taken[:_MOST_SHOWN])
    more = f"; and {len(taken) - _MOST_SHOWN:,} more" if len(taken) > _MOST_SHOWN else ""
    many = counted(len(taken), "document")
    # A load that followed this hint before needs another prefix.
    prefix = "new/"
    while any(placed["document_id"].startswith(prefix) for placed in taken):
        prefix += "new/"
    return AlreadyExists(
        f"nothing was loaded, because it would replace {many} of other sources in {corpus}",
        detail=f"{clashes}{more}.",
        hint=f"To keep both, give the new ids a prefix: --prefix '{prefix}'. If only the folder was moved, name it as"
        " it was: --as MACHINE:/FOLDER",
    )
