"""Inserts a row that fulfils all CHECKs into any table of ours, without the operation that would write it."""

from __future__ import annotations

from collections.abc import Mapping

from psycopg import sql

from tests.sessions import Connection

# What a column has in row $n, by type.
_BY_TYPE = {
    "bigint": "$n",
    "boolean": "true",
    "bytea": "sha256('$n')",
    "date": "current_date",
    "double precision": "0.5",
    "integer": "$n",
    "jsonb": "'{}'",
    "name": "current_user",
    "numeric": "0",
    "oid": "0",
    "real": "0.5",
    "real[]": "'{0.5}'",
    "regclass": "'pg_class'",
    "text": "'text $n'",
    "text[]": "'{}'",
    "timestamp with time zone": "now()",
    "tsvector": "''",
    "bigint[]": "'{}'",
}
# Columns that a CHECK or a view restricts further, and those that may be null but link a row to others.
_BY_TABLE: Mapping[str, Mapping[str, str]] = {
    "ambiguity_rule": {"kind": "'lexical'", "corpus": "'text $n'", "corpus_id": "$n"},
    "budget": {"period": "'day'", "max_calls": "1", "corpus_id": "$n", "role_name": "current_user"},
    "caller_key": {"inner_pad": "repeat('x', 64)::bytea", "outer_pad": "repeat('x', 64)::bytea"},
    "candidate": {"origin": "'dense'"},
    "citation": {"start_char": "0", "is_medoid": "true"},
    "clarifying_question": {"clarifying_question": "'Which?'"},
    "completion": {"purpose": "'verdict'"},
    "corpus": {"search_config": "'simple'"},
    "detection": {"kind": "'lexical'", "reasons": "'[]'"},
    "embedding_space": {"dimensions": "4"},
    "embedding_usage": {"operation": "'embed_passages'", "corpus_id": "$n"},
    "estimate": {
        "questions": "1",
        "distinct_questions": "1",
        "answered": "0",
        "sampled": "0",
        "calls": "0",
        "calls_at_most": "0",
        "reused_calls": "0",
    },
    "eval_case": {"status": "'succeeded'"},
    "eval_run": {"corpus_id": "$n"},
    "feedback": {
        "corpus_id": "$n",
        "ordinal": "0",
        "missing": "'text $n'",
        "read_ids": "array['text $n']",
        "run_id": "$n",
    },
    "listed_answer": {"variants": "array['text $n', 'another']"},
    "pending_document": {"passages": "1"},
    "neighborhood": {"similarities": "'{}'"},
    "passage": {"id": "$n", "start_char": "0", "end_char": "1"},
    "run": {"operation": "'clarify'", "corpus_id": "$n", "corpus_name": "'text $n'"},
    "stage": {"name": "'retrieval'"},
    "step": {"kind": "'direct'", "outcome": "'failed'"},
    "verdict": {"outcome": "'erased'"},
}
_COLUMNS = """
    select a.attname, format_type(a.atttypid, null)
    from pg_attribute as a
    where a.attrelid = %s::regclass and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
        and (a.attname = any (%s) or a.attidentity <> '' or a.attnotnull and not a.atthasdef)
    order by a.attnum
"""


def insert_valid_row(connection: Connection, table: str, number: int, given: Mapping[str, str] | None = None) -> None:
    """Insert a row; the rows that its foreign keys name need not exist.

    Args:
        connection: A superuser's.
        table: Its name in our private schema.
        number: Of the row: its keys, and the number at the end of its texts.
        given: Expressions for columns, in place of the usual ones.
    """
    named = {**_BY_TABLE.get(table, {}), **(given or {})}
    relation = f"pgclarify_private.{table}"
    columns = connection.execute(_COLUMNS, [relation, list(named)]).fetchall()
    values = [f"({named.get(name) or _BY_TYPE[kind]})".replace("$n", str(number)) for name, kind in columns]
    statement = sql.SQL("insert into {} ({}) overriding system value select {}").format(
        sql.SQL(relation),
        sql.SQL(", ").join(sql.Identifier(name) for name, _ in columns),
        sql.SQL(", ").join(map(sql.SQL, values)),
    )
    with connection.transaction():
        # Triggers of foreign keys are off in this mode.
        connection.execute("set local session_replication_role = replica")
        connection.execute(statement)
        connection.execute("set local session_replication_role = origin")
