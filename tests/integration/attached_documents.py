"""Compares the documents of attached tables with the rows of these tables."""

from __future__ import annotations

from typing import Any, LiteralString

from psycopg import sql

from tests.sessions import Connection


def _column(name: str | None, kind: LiteralString) -> sql.Composable:
    value = sql.SQL("null") if name is None else sql.SQL("t.{}").format(sql.Identifier(name))
    return value + sql.SQL("::") + sql.SQL(kind)


def differing_documents(connection: Connection) -> list[tuple[Any, ...]]:
    """Rows and documents of followed tables that do not agree.

    For tables whose readers are all names and whose ids are short. Rows without content have no document. Compares id,
    content, title, uri, metadata and readers.
    """
    found: list[tuple[Any, ...]] = []
    sources = connection.execute(
        "select source_id, relation::text, id_column, content_column, field_columns ->> 'title',"
        " field_columns ->> 'uri', metadata_columns, field_columns ->> 'readers', id_prefix"
        " from pgclarify_private.source where state in ('loading', 'following') order by 1"
    ).fetchall()
    for source_id, relation, key, content, title, uri, metadata, readers, prefix in sources:
        pairs = sql.SQL(", ").join(
            sql.SQL("{}, t.{}").format(sql.Literal(name), sql.Identifier(name)) for name in metadata
        )
        rows = sql.SQL(
            "select {prefix} || t.{key}::text as id, t.{content}::text as content, {title} as title, {uri} as uri,"
            " jsonb_build_object({pairs}) as metadata, {readers} as readers"
            " from {relation} as t where t.{content} ~ '\\S'"
        ).format(
            prefix=sql.Literal(prefix),
            key=sql.Identifier(key),
            content=sql.Identifier(content),
            title=_column(title, "text"),
            uri=_column(uri, "text"),
            pairs=pairs,
            readers=_column(readers, "name[]"),
            relation=sql.SQL(relation),
        )
        query = sql.SQL(
            "select r.id, d.id, r.content, d.content from ({rows}) as r"
            " full join (select * from pgclarify_private.document where source_id = {source_id}) as d on d.id = r.id"
            " where (r.id, r.content, r.title, r.uri, r.metadata, r.readers)"
            " is distinct from (d.id, d.content, d.title, d.uri, d.metadata, d.readers)"
        ).format(rows=rows, source_id=sql.Literal(source_id))
        found += connection.execute(query).fetchall()
    return found


def assert_documents_match_rows(connection: Connection) -> None:
    """Check that each followed table and its documents agree."""
    assert differing_documents(connection) == []
