"""Scripts that find passages without a worker. The docstrings are those of the client's methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pgclarify.client.records import CitedPassage
from pgclarify.client.result_records import Neighbor, SearchResult
from pgclarify.client.results import Results, results
from pgclarify.client.scripts import Call, Script, Session, Statement, listed, to_json


def neighbors(
    session: Session,
    /,
    document_id: str,
    passage_id: int,
    *,
    corpus: str | None = None,
    k: int = 10,
    filter: Mapping[str, object] | None = None,
    document_ids: Sequence[str] | None = None,
) -> Script[Results[Neighbor]]:
    """Return the passages that are nearest to a passage in the corpus's graph. No model is called.

    Args:
        document_id: The passage's document.
        passage_id: The passage.
        corpus: Its name; None means the client's.
        k: How many, from 1.
        filter: Only passages of documents whose metadata fits; None means all.
        document_ids: Only passages of these documents; None means all.

    Returns:
        Nearest first.
    """
    rows = yield Call(
        "neighbors",
        {
            "corpus": corpus or session.corpus,
            "document_id": document_id,
            "passage_id": passage_id,
            "k": k,
            "filter": None if filter is None else to_json(filter, "a filter"),
            "document_ids": None if document_ids is None else listed(document_ids),
        },
    )
    return results(Neighbor, rows)


def closest_passages(session: Session, /, run_id: int, *, top_k: int = 3) -> Script[Results[SearchResult]]:
    """Return the best passages of a run's search, as places to look if it found no answer. No model is called.

    Args:
        run_id: Any run that you may see.
        top_k: How many passages.

    Returns:
        Passages that you may read, best first.
    """
    rows = yield Statement("client_closest_passages", {"run_id": run_id, "top_k": top_k})
    return results(SearchResult, rows)


def cited_passages(session: Session, /, run_id: int) -> Script[Results[CitedPassage]]:
    """Return the passages that a run cites, each once. No model is called.

    Args:
        run_id: Any run that you may see.

    Returns:
        Passages that you may read and that still exist, by document.
    """
    rows = yield Statement("client_cited_passages", {"run_id": run_id})
    return results(CitedPassage, rows)
