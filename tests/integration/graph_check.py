"""Checks the neighborhood graph of a corpus for errors, and compares its lists with an exact search.

For a superuser, on a server that holds the whole corpus. Benchmarks use it, too.
"""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg import sql
from psycopg.rows import dict_row

_SPACE = """
    select
        corpus.corpus_id, corpus.graph_degree, space.embedding_space_id, space.dimensions,
        (select extnamespace::regnamespace::text from pg_extension where extname = 'vector') as vectors
    from pgclarify_private.corpus
    inner join pgclarify_private.embedding_space as space using (embedding_space_id)
    where corpus.name = %s
"""
# passages: with a vector. unlinked: without a list. pending: to link, and to unlink. dangling: edges from or to
# removed passages that no worker will remove. orphans: vectors of removed passages. gaps: lists that are shorter than
# they could be. unordered: lists that are too long, repeat a passage, or are not nearest first. In one statement, so
# that all of it is from one snapshot.
_FAULTS = sql.SQL("""
    with size as materialized (select count(*) as passages from {embedding}),
    list as materialized (
        select kept.*, embedding.passage_id is not null as is_there
        from {neighborhood} as kept
        left join {embedding} as embedding using (document_id, passage_id)
    ),
    waiting as materialized (
        select passage_id from pgclarify_private.pending_unlink where embedding_space_id = %(space)s
    ),
    listed as (
        select
            count(*) filter (where is_there) as linked,
            count(*) filter (where passage_id = any(neighbor_ids)) as self_edges,
            count(*) filter (
                where is_there and cardinality(neighbor_ids) < least(%(degree)s, size.passages - 1)
            ) as gaps,
            count(*) filter (
                where cardinality(neighbor_ids) > %(degree)s
                    or (select count(*) <> count(distinct id) from unnest(neighbor_ids) as id)
                    or similarities <> array(select near from unnest(similarities) as near order by near desc)
            ) as unordered,
            coalesce(sum(cardinality(neighbor_ids)) filter (
                where not is_there and passage_id not in (select passage_id from waiting)
            ), 0) as of_gone
        from list
        cross join size
    ),
    to_gone as (
        select count(*) as edges
        from list
        cross join lateral unnest(neighbor_document_ids, neighbor_ids) as near (document_id, passage_id)
        left join {embedding} as embedding
            on embedding.document_id = near.document_id and embedding.passage_id = near.passage_id
        where embedding.passage_id is null and near.passage_id not in (select passage_id from waiting)
    )
    select
        size.passages, listed.linked, size.passages - listed.linked as unlinked,
        coalesce(space.linking_passages, 0) + (select count(*) from waiting) + (
            select count(*) from pgclarify_private.pending_link where embedding_space_id = %(space)s
        ) as pending,
        listed.self_edges, to_gone.edges + listed.of_gone as dangling,
        (
            select count(*)
            from {embedding} as embedding
            left join {passage} as passage
                on passage.document_id = embedding.document_id and passage.id = embedding.passage_id
            where passage.id is null
        ) as orphans,
        listed.gaps, listed.unordered
    from size
    cross join listed
    cross join to_gone
    inner join pgclarify_private.embedding_space as space on space.embedding_space_id = %(space)s
""")
_DISTANCE = sql.SQL("((embedding.vector::{halfvec}) operator({vectors}.<=>) (linked.vector::{halfvec}))")
# The sum keeps the index away: all vectors are compared.
_NEAREST = sql.SQL("""
    select linked.passage_id as id, other.passage_id as neighbor_id, other.distance
    from linked
    cross join lateral (
        select embedding.passage_id, {distance} as distance
        from {embedding} as embedding
        where embedding.passage_id <> linked.passage_id and {distance} < 'NaN'
        order by {distance} + 0
        limit %(degree)s
    ) as other
""")
# Among equally near passages, any may be in the list.
_RECALL = sql.SQL("""
    with linked as materialized (
        select kept.*, embedding.vector
        from {neighborhood} as kept
        inner join {embedding} as embedding using (document_id, passage_id)
        order by random()
        limit %(sample)s
    ),
    exact as materialized ({exact}),
    wanted as materialized (
        select id, count(*) as neighbors, max(distance) as distance, array_agg(neighbor_id) as neighbor_ids
        from exact
        group by id
    ),
    compared as (
        select
            wanted.neighbors,
            (
                select count(distinct near.passage_id)
                from unnest(linked.neighbor_document_ids, linked.neighbor_ids) as near (document_id, passage_id)
                left join {embedding} as embedding
                    on embedding.document_id = near.document_id and embedding.passage_id = near.passage_id
                where near.passage_id = any(wanted.neighbor_ids)
                    or near.passage_id <> linked.passage_id and {distance} <= wanted.distance + 0.00001
            ) as found
        from linked
        inner join wanted on wanted.id = linked.passage_id
    )
    select
        (select count(*) from linked) as sampled,
        sum(least(found, neighbors))::double precision / sum(neighbors) as recall
    from compared
""")


def check(connection: psycopg.Connection[Any], corpus: str = "insurance", sample: int = 1000) -> dict[str, Any]:
    """Count the faults of a graph; recall is the share of true neighbors in the lists of so many passages."""
    with connection.cursor(row_factory=dict_row) as cursor:
        (space,) = cursor.execute(_SPACE, [corpus]).fetchall()
        names: dict[str, sql.Composable] = {
            "embedding": sql.Identifier("pgclarify_private", f"passage_embedding_{space['embedding_space_id']}"),
            "neighborhood": sql.Identifier("pgclarify_private", f"neighborhood_{space['embedding_space_id']}"),
            "passage": sql.Identifier("pgclarify_private", f"passage_{space['corpus_id']}"),
        }
        vectors = sql.Identifier(space["vectors"])
        halfvec = sql.SQL("{}.halfvec({})").format(vectors, sql.Literal(space["dimensions"]))
        names["distance"] = _DISTANCE.format(halfvec=halfvec, vectors=vectors)
        names["exact"] = _NEAREST.format(**names)
        parameters = {
            "space": space["embedding_space_id"],
            "degree": space["graph_degree"],
            "sample": sample,
        }
        (faults,) = cursor.execute(_FAULTS.format(**names), parameters).fetchall()
        (compared,) = cursor.execute(_RECALL.format(**names), parameters).fetchall()
        return faults | compared
