"""Searches of a role that may read a part of a corpus: recall against exact search, and milliseconds.

The passages of a document are about one topic. Some roles may read documents of all topics, and some only documents of
other topics than those of the questions, so that whatever they may read is far from each question.

python -m benchmarks.scale.readers [--passages 50000] [--readable 50 500 5000 25000]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
from pgvector import HalfVector

from benchmarks import made_up, product
from benchmarks.figures import Figure, show, step

PASSAGES = 50_000
READABLE = (50, 500, 5_000, 25_000)
_CORPUS = "made up, restricted"
_QUESTIONS = 20
_TOP_K = 20
# Half of the documents that the first role may read are visible to all roles.
RESTRICT = """
    with updated as (
        update pgclarify_private.passage_{id} as passage set readers = string_to_array(given.names, ',')::name[]
        from unnest(%(documents)s::text[], %(readers)s::text[]) as given (document_id, names)
        where passage.document_id = given.document_id
        returning passage.readers, passage.lexemes, passage.lexeme_count
    ),
    counted as (
        insert into pgclarify_private.term_change (corpus_id, lexeme, passages, restricted_passages)
        select {id}, occurrence.lexeme, 0, count(*)
        from updated
        cross join unnest(tsvector_to_array(updated.lexemes)) as occurrence (lexeme)
        where updated.readers is not null
        group by occurrence.lexeme
    )
    insert into pgclarify_private.corpus_tally (corpus_id, restricted_passages, restricted_lexemes)
    select {id}, count(readers), coalesce(sum(lexeme_count) filter (where readers is not null), 0) from updated
"""
_SEARCHES = {
    "dense": "select passage_ids from pgclarify_private.dense(%(corpus)s, %(roles)s, %(vector)s::text::halfvec,"
    " %(top_k)s)",
    "lexical": "select passage_ids from pgclarify_private.lexical(%(corpus)s, %(roles)s, %(question)s, %(top_k)s)",
    "hybrid": "select array_agg(passage_id) as passage_ids from pgclarify_private.search("
    "%(corpus)s, %(roles)s, 'hybrid', %(question)s, %(vector)s::text::halfvec, %(top_k)s)",
}
_EXACT_DENSE = """
    select array_agg(nearest.passage_id) as passage_ids
    from (
        select embedding.passage_id
        from pgclarify_private.passage_embedding_{space} as embedding
        inner join pgclarify_private.passage_{id} as passage
            on passage.document_id = embedding.document_id and passage.id = embedding.passage_id
        where passage.readers is null or passage.readers && %(roles)s::name[]
        order by (embedding.vector::halfvec({dimensions}) <=> %(vector)s::text::halfvec({dimensions})) + 0
        limit %(top_k)s
    ) as nearest
"""
_EXACT_LEXICAL = """
    with asked as materialized (
        select seen.lexeme, seen.weight, seen.mean_lexemes
        from pgclarify_private.corpus_count as counted
        cross join lateral pgclarify_private.question_lexemes(
            counted, %(roles)s::name[], 'english', %(question)s
        ) as seen
        where counted.corpus_id = {id}
    ),
    visible as (
        select passage.*
        from pgclarify_private.passage_{id} as passage
        where passage.readers is null or passage.readers && %(roles)s::name[]
    )
    select array_agg(best.id) as passage_ids
    from (
        select visible.id
        from visible
        cross join lateral unnest(visible.lexemes) as held
        inner join asked on asked.lexeme = held.lexeme
        cross join lateral (select cardinality(held.positions) as f) as occurrences
        group by visible.document_id, visible.id
        order by
            sum(asked.weight * f / (f + 1.2 * (0.25 + 0.75 * visible.lexeme_count / asked.mean_lexemes))) desc,
            visible.document_id, visible.id
        limit %(top_k)s
    ) as best
"""


def measure(dsn: str, passages: int = PASSAGES, readable: Sequence[int] = READABLE) -> Iterator[Figure]:
    """Search as a role that may read all passages, then as roles that may read a number of them.

    Args:
        dsn: The database to search.
        passages: Passages of the corpus: a multiple of made_up.PASSAGES_A_DOCUMENT.
        readable: How many passages each role may read, in rising order.
    """
    generator = np.random.default_rng(53)
    topics = np.sort(generator.integers(made_up.TOPICS, size=passages))
    drawn = made_up.vectors(passages, seed=3, topics=topics)
    drawn = drawn.reshape(-1, made_up.PASSAGES_A_DOCUMENT, made_up.DIMENSIONS)
    with step(f"storing {passages:,} passages"):
        documents = islice(made_up.documents(), len(drawn))
        product.load(dsn, _CORPUS, documents, lambda document_id: drawn[int(document_id)])
    # Documents of the first half of topics are far from these.
    asked = generator.integers(made_up.TOPICS // 2, made_up.TOPICS, size=_QUESTIONS)
    near = made_up.vectors(_QUESTIONS, seed=51, topics=asked)
    questions: list[dict[str, Any]] = [
        {"vector": HalfVector(vector).to_text(), "question": question, "top_k": _TOP_K, "roles": []}
        for vector, question in zip(near, made_up.questions(_QUESTIONS, seed=50), strict=True)
    ]
    with product.connect(dsn) as connection:
        (corpus,) = connection.execute(
            "select corpus_id as id, embedding_space_id as space from pgclarify_private.corpus where name = %s",
            [_CORPUS],
        ).fetchall()
        names = {"id": corpus["id"], "space": corpus["space"], "dimensions": made_up.DIMENSIONS}
        unrestricted = {
            method: _timed(connection, statement, corpus["id"], questions)[1] for method, statement in _SEARCHES.items()
        }
        for method, milliseconds in unrestricted.items():
            yield Figure(f"{method}, all {passages:,} passages readable", milliseconds, "ms")
        with step("giving readers"):
            connection.execute(RESTRICT.format(**names).encode(), _readers(passages, readable))
            connection.execute("select pgclarify_private.fold_tallies()")
            while connection.execute("select from pgclarify_private.term_change limit 1").fetchall():
                connection.execute("select pgclarify_private.apply_term_changes()")
            connection.execute(f"vacuum full analyze pgclarify_private.passage_{corpus['id']}".encode())
        exact = {"dense": _EXACT_DENSE.format(**names), "lexical": _EXACT_LEXICAL.format(**names)}
        for role in [f"{kind} {count}" for count in readable for kind in ("reads", "reads far")]:
            for question in questions:
                question["roles"] = [role]
            for method, statement in _SEARCHES.items():
                found, milliseconds = _timed(connection, statement, corpus["id"], questions)
                if method in exact:
                    best, _ = _timed(connection, exact[method], corpus["id"], questions)
                    yield Figure(f"{method}, {role}: recall@{_TOP_K} against exact", _recall(found, best), aim=">= .95")
                yield Figure(f"{method}, {role}", milliseconds, "ms")
                yield Figure(f"{method}, {role}, over all readable", milliseconds / unrestricted[method])


def _readers(passages: int, readable: Sequence[int]) -> dict[str, list[str | None]]:
    """Documents in random order, and the readers of each, joined by commas."""
    documents = np.random.default_rng(52).permutation(passages // made_up.PASSAGES_A_DOCUMENT)
    readers: list[str | None] = []
    for place, document in enumerate(documents):
        before, first = place * made_up.PASSAGES_A_DOCUMENT, document * made_up.PASSAGES_A_DOCUMENT
        names = ["someone else", *(f"reads {count}" for count in readable if before < count)]
        names += [f"reads far {count}" for count in readable if first < count]
        readers.append(None if before < readable[0] // 2 else ",".join(names))
    return {"documents": [str(document) for document in documents], "readers": readers}


def _timed(
    connection: product.Connection, statement: str, corpus_id: int, questions: Sequence[dict[str, Any]]
) -> tuple[list[list[int]], float]:
    """The passages that each question finds, and the median milliseconds."""
    found, seconds = [], []
    for question in [*questions[:3], *questions]:
        started = time.perf_counter()
        (row,) = connection.execute(statement.encode(), question | {"corpus": corpus_id}).fetchall()
        seconds.append(time.perf_counter() - started)
        found.append(row["passage_ids"] or [])
    return found[3:], statistics.median(seconds[3:]) * 1000


def _recall(found: Sequence[Sequence[int]], best: Sequence[Sequence[int]]) -> float:
    """The share of the best passages that were found."""
    return sum(len(set(one) & set(other)) for one, other in zip(found, best, strict=True)) / sum(map(len, best))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=int, default=PASSAGES)
    parser.add_argument("--readable", type=int, nargs="+", default=READABLE)
    given = parser.parse_args()
    with product.database() as dsn:
        show(list(measure(dsn, given.passages, sorted(given.readable))))
