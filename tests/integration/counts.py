"""Checks that the counts of pgclarify agree with the rows."""

from __future__ import annotations

from typing import Any

from tests.sessions import Connection

_COUNTED = """
    select
        corpus_id, documents, restricted_documents, passages, restricted_passages, passages, linked, lexemes,
        restricted_lexemes
    from pgclarify_private.corpus_count
"""
_REAL = """
    select
        corpus.corpus_id,
        (select count(*) from pgclarify_private.document as d where d.corpus_id = corpus.corpus_id),
        (select count(d.readers) from pgclarify_private.document as d where d.corpus_id = corpus.corpus_id),
        (select count(*) from pgclarify_private.passage as p where p.corpus_id = corpus.corpus_id),
        (select count(p.readers) from pgclarify_private.passage as p where p.corpus_id = corpus.corpus_id),
        (
            select count(*) from pgclarify_private.passage_embedding as e
            where e.embedding_space_id = corpus.embedding_space_id
        ),
        (
            select count(*) from pgclarify_private.neighborhood as n
            where n.embedding_space_id = corpus.embedding_space_id
        ),
        (
            select coalesce(sum(cardinality(occurrence.positions)), 0)
            from pgclarify_private.passage as p, unnest(p.lexemes) as occurrence
            where p.corpus_id = corpus.corpus_id
        ),
        (
            select coalesce(sum(p.lexeme_count), 0)
            from pgclarify_private.passage as p
            where p.corpus_id = corpus.corpus_id and p.readers is not null
        )
    from pgclarify_private.corpus
"""
_WRONG_PASSAGES = """
    select p.corpus_id, p.document_id, p.id
    from pgclarify_private.passage as p
    join pgclarify_private.corpus on corpus.corpus_id = p.corpus_id
    left join pgclarify_private.document as d on d.corpus_id = p.corpus_id and d.id = p.document_id
    left join pgclarify_private.passage_embedding as e
        on e.embedding_space_id = corpus.embedding_space_id
        and e.document_id = p.document_id and e.passage_id = p.id
    left join pgclarify_private.pending_document as q on q.corpus_id = d.corpus_id and q.document_id = d.id
    where d.id is null or e.passage_id is null
        -- Passages of an earlier content may have fewer readers than the document.
        or d.readers is distinct from p.readers and (
            q.document_id is null and d.error is null or p.readers is null or not coalesce(p.readers <@ d.readers, true)
        )
        or p.lexeme_count <> (
            select coalesce(sum(cardinality(occurrence.positions)), 0) from unnest(p.lexemes) as occurrence
        )
"""
# Documents that are neither pending nor failed have the passages of their current content.
_STALE = """
    select d.corpus_id, d.id
    from pgclarify_private.document as d
    where d.error is null
        and not exists (
            select from pgclarify_private.pending_document as p where p.corpus_id = d.corpus_id and p.document_id = d.id
        )
        and (
            regexp_replace(d.content, '\\s', '', 'g') is distinct from (
                select regexp_replace(string_agg(p.content, '' order by p.ordinal), '\\s', '', 'g')
                from pgclarify_private.passage as p
                where p.corpus_id = d.corpus_id and p.document_id = d.id
            )
            or exists (
                select from pgclarify_private.passage as p
                where p.corpus_id = d.corpus_id and p.document_id = d.id
                    and p.content <> substr(d.content, p.start_char + 1, p.end_char - p.start_char)
            )
        )
"""
# Vectors and neighborhoods, in each space, belong to passages that exist.
_LEFT_BEHIND = """
    select s.corpus_id, kept.*
    from (
        select 'vector', embedding_space_id, document_id, passage_id from pgclarify_private.passage_embedding
        union all
        select 'neighborhood', embedding_space_id, document_id, passage_id from pgclarify_private.neighborhood
    ) as kept (kind, embedding_space_id, document_id, passage_id)
    join pgclarify_private.embedding_space as s on s.embedding_space_id = kept.embedding_space_id
    left join pgclarify_private.passage as p
        on p.corpus_id = s.corpus_id and p.document_id = kept.document_id and p.id = kept.passage_id
    where p.id is null
"""
_TERMS = """
    select corpus_id, lexeme, sum(passages), sum(restricted_passages)
    from (
        select corpus_id, lexeme, passages, restricted_passages from pgclarify_private.term
        union all
        select corpus_id, lexeme, passages, restricted_passages from pgclarify_private.term_change
    ) as counted
    group by corpus_id, lexeme
    having sum(passages) <> 0 or sum(restricted_passages) <> 0
"""
_REAL_TERMS = """
    select p.corpus_id, lexeme, count(*), count(p.readers)
    from pgclarify_private.passage as p, unnest(tsvector_to_array(p.lexemes)) as lexeme
    group by 1, 2
"""


def assert_counts_agree(connection: Connection) -> None:
    """Tallies, document frequencies and copies agree with the rows; no row outlives its passage."""

    def rows(query: str) -> list[Any]:
        return connection.execute(query.encode()).fetchall()

    def only_in_one(first: str, second: str) -> list[Any]:
        # One statement, so that it sees one state while a worker continues.
        return rows(f"(({first}) except all ({second})) union all (({second}) except all ({first}))")

    assert only_in_one(_COUNTED, _REAL) == []
    assert rows(_WRONG_PASSAGES) == []
    assert rows(_STALE) == []
    assert rows(_LEFT_BEHIND) == []
    # What was not stored is not kept.
    assert rows("select from pgclarify_private.staged_passage") == []
    assert only_in_one(_TERMS, _REAL_TERMS) == []
