"""Searches of a part of a corpus, by a filter or by readers: recall against exact search, and CPU, by share.

The passages of a document are about one topic. Half of the filters leave documents of all topics, and half only
documents of other topics than those of the questions, so that all that they leave is far from each question. With
"--by readers", roles may read these documents and no others, instead of filters.

python -m benchmarks.scale.filters [--passages 50000] [--shares 0.0001 0.001 0.01 0.1 0.5 1] [--by readers]
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from pgvector import HalfVector

from benchmarks import made_up, product
from benchmarks.figures import Figure, show, step

PASSAGES = 50_000
SHARES = (0.0001, 0.001, 0.01, 0.1, 0.5, 1.0)
_CORPUS = "made up, with metadata"
_QUESTIONS = 20
_TOP_K = 20
_SEARCHES = {
    "dense": "select passage_ids from pgclarify_private.dense(%(corpus)s, %(roles)s, %(vector)s::text::halfvec,"
    " %(top_k)s, pgclarify_private.part_of(%(corpus)s, %(roles)s, %(settings)s))",
    "lexical": "select passage_ids from pgclarify_private.lexical(%(corpus)s, %(roles)s, %(question)s,"
    " %(top_k)s, pgclarify_private.part_of(%(corpus)s, %(roles)s, %(settings)s))",
}
_EXACT = """
    select array_agg(nearest.passage_id) as passage_ids
    from (
        select embedding.passage_id
        from pgclarify_private.passage_embedding_{space} as embedding
        inner join pgclarify_private.document on document.corpus_id = {id} and document.id = embedding.document_id
        where document.metadata @> %(metadata)s
        order by (embedding.vector::halfvec({dimensions}) <=> %(vector)s::text::halfvec({dimensions})) + 0
        limit %(top_k)s
    ) as nearest
"""


def measure(
    dsn: str, passages: int = PASSAGES, shares: Sequence[float] = SHARES, *, by_readers: bool = False
) -> Iterator[Figure]:
    """Search parts of a corpus that have some share of its documents.

    Args:
        dsn: The database to search.
        passages: Passages of the corpus: a multiple of made_up.PASSAGES_A_DOCUMENT.
        shares: Of the documents, in rising order.
        by_readers: Whether roles that may read them ask, instead of questions with filters.
    """
    generator = np.random.default_rng(59)
    topics = np.sort(generator.integers(made_up.TOPICS, size=passages))
    drawn = made_up.vectors(passages, seed=3, topics=topics)
    drawn = drawn.reshape(-1, made_up.PASSAGES_A_DOCUMENT, made_up.DIMENSIONS)
    with step(f"storing {passages:,} passages"):
        product.load(dsn, _CORPUS, islice(made_up.documents(), len(drawn)), lambda document_id: drawn[int(document_id)])
    # Documents of the first half of topics are far from these.
    asked = generator.integers(made_up.TOPICS // 2, made_up.TOPICS, size=_QUESTIONS)
    questions = [
        {"vector": HalfVector(vector).to_text(), "question": question, "top_k": _TOP_K}
        for vector, question in zip(
            made_up.vectors(_QUESTIONS, seed=51, topics=asked), made_up.questions(_QUESTIONS, seed=50), strict=True
        )
    ]
    with product.connect(dsn) as connection:
        (corpus,) = connection.execute(
            "select corpus_id as id, embedding_space_id as space from pgclarify_private.corpus where name = %s",
            [_CORPUS],
        ).fetchall()
        with step("giving metadata"):
            connection.execute(
                """
                update pgclarify_private.document set metadata = given.metadata
                from unnest(%s::text[], %s::jsonb[]) as given (id, metadata)
                where document.corpus_id = %s and document.id = given.id
                """,
                [*_metadata(len(drawn), shares), corpus["id"]],
            )
            if by_readers:
                _give_readers(connection, corpus["id"])
            _fold_tallies(connection)
            connection.execute("vacuum analyze")
        exact = _EXACT.format(**corpus, dimensions=made_up.DIMENSIONS)
        for share in shares:
            for kind in ("near", "far"):
                if kind == "far" and share > 0.5:
                    continue
                key = {f"{kind} {share:g}": True}
                given = {
                    "corpus": corpus["id"],
                    "metadata": json.dumps(key),
                    "roles": list(key) if by_readers else ["somebody"],
                    "settings": json.dumps({} if by_readers else {"filter": key}),
                }
                for method, statement in _SEARCHES.items():
                    found, milliseconds = _timed(connection, statement, given, questions)
                    name = f"{method}, {share:.2%} of the documents, {kind}"
                    yield Figure(f"{name}: CPU of the server", milliseconds, "ms")
                    if method == "dense":
                        wanted, _ = _timed(connection, exact, given, questions)
                        yield Figure(f"{name}: recall at {_TOP_K}", _recall(found, wanted))


def _metadata(documents: int, shares: Sequence[float]) -> tuple[list[str], list[str]]:
    """Return the ids of documents, and the metadata of each: a key for each share that it is in."""
    generator = np.random.default_rng(61)
    everywhere = generator.permutation(documents)
    far = generator.permutation(documents // 2)
    keys: list[dict[str, bool]] = [{} for _ in range(documents)]
    for share in shares:
        count = max(1, round(share * documents))
        for kind, order in (("near", everywhere), ("far", far)):
            for place in order[:count]:
                keys[place][f"{kind} {share:g}"] = True
    return [str(place) for place in range(documents)], [json.dumps(key) for key in keys]


def _give_readers(connection: product.Connection, corpus_id: int) -> None:
    """Let the readers of a document be the keys of its metadata, and of no document everyone."""
    connection.execute(
        "update pgclarify_private.document"
        " set readers = array(select jsonb_object_keys(metadata)) || 'nobody'::name where corpus_id = %s",
        [corpus_id],
    )
    connection.execute(
        "select pgclarify_private.copy_readers(%s, array(select id from pgclarify_private.document"
        " where corpus_id = %s), true)",
        [corpus_id, corpus_id],
    )


def _fold_tallies(connection: product.Connection) -> None:
    """Merge what documents have added to the counts of a corpus, as workers do: each search reads these."""
    before = None
    while True:
        (row,) = connection.execute("select count(*) as tallies from pgclarify_private.corpus_tally").fetchall()
        if row["tallies"] == before:
            return
        before = row["tallies"]
        connection.execute("select pgclarify_private.fold_tallies()")


def _timed(
    connection: product.Connection, statement: str, given: dict[str, Any], questions: Sequence[dict[str, Any]]
) -> tuple[list[set[int]], float]:
    """Return what each question finds, and the median CPU of the server for one in milliseconds. Linux only."""
    found, times = [], []
    for question in [questions[0], *questions]:
        start = _cpu_nanoseconds(connection)
        (row,) = connection.execute(statement.encode(), {**given, **question}).fetchall()
        times.append((_cpu_nanoseconds(connection) - start) / 1e6)
        found.append(set(row["passage_ids"] or ()))
    return found[1:], statistics.median(times[1:])


def _cpu_nanoseconds(connection: product.Connection) -> int:
    return int(Path(f"/proc/{connection.info.backend_pid}/schedstat").read_text().split()[0])


def _recall(found: Sequence[set[int]], wanted: Sequence[set[int]]) -> float:
    return sum(len(some & all_) for some, all_ in zip(found, wanted, strict=True)) / sum(map(len, wanted))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, default=PASSAGES)
    parser.add_argument("--shares", type=float, nargs="+", default=SHARES)
    parser.add_argument("--by", choices=("filter", "readers"), default="filter")
    arguments = parser.parse_args()
    with product.database() as dsn:
        show(list(measure(dsn, arguments.passages, sorted(arguments.shares), by_readers=arguments.by == "readers")))
