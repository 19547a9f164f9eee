"""The command import-pgai: statements that attach the tables which vectorizers of pgai follow."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping
from string import Template
from typing import Any, Final

import psycopg
import typer
from psycopg import sql

from pgclarify.cli import connection, terminal
from pgclarify.cli.rendering import Row, printable
from pgclarify.errors import NotFound

IMPORT_PGAI_EXAMPLES = terminal.examples("pgclarify import-pgai > attach.sql")

# The extension kept the column with the text in "chunking"; the library, since 0.10, keeps it in "loading".
_VECTORIZERS: Final = """
    select
        vectorizer.id,
        vectorizer.source_table as name,
        format('%I.%I', vectorizer.source_schema, vectorizer.source_table) as relation,
        vectorizer.config,
        coalesce(
            vectorizer.config #>> '{loading,column_name}', vectorizer.config #>> '{chunking,chunk_column}'
        ) as content,
        array(
            select entry.value ->> 'attname'
            from jsonb_array_elements(vectorizer.source_pk) as entry
            order by (entry.value ->> 'pknum')::integer
        ) as key,
        (
            select jsonb_object_agg(attribute.attname, format_type(attribute.atttypid, null))
            from pg_attribute as attribute
            inner join pg_class as class on class.oid = attribute.attrelid
            inner join pg_namespace as namespace on namespace.oid = class.relnamespace
            where
                namespace.nspname = vectorizer.source_schema
                and class.relname = vectorizer.source_table
                and attribute.attnum > 0
                and not attribute.attisdropped
        ) as types
    from ai.vectorizer
    order by vectorizer.id
"""
_TEXTS: Final = frozenset({"text", "character varying"})
# Those that become text in the same way under all settings, so that a generated column can join them.
_KEYS: Final = frozenset({"smallint", "integer", "bigint", "uuid", *_TEXTS})


def import_pgai() -> None:
    """Print the SQL that attaches the tables which vectorizers of pgai follow. It changes nothing."""
    with connection.connected() as database:
        try:
            vectorizers = database.execute(_VECTORIZERS).fetchall()
        except psycopg.errors.UndefinedTable:
            raise NotFound(
                "this database has no vectorizers of pgai",
                detail="It has no table ai.vectorizer.",
                hint="Set PGCLARIFY_DATABASE_URL to the database where pgai is installed.",
            ) from None
    named = Counter(vectorizer["name"] for vectorizer in vectorizers)
    for vectorizer in vectorizers:
        name = vectorizer["name"]
        corpus = name if named[name] == 1 else f"{name}_{vectorizer['id']}"
        typer.echo("\n".join((*_told(vectorizer, corpus), "")))


def _told(vectorizer: Row, corpus: str) -> Iterator[str]:
    """Yield the statements for a vectorizer, and comments on what they leave out."""
    yield _comment(f"Vectorizer {vectorizer['id']} of {vectorizer['relation']}")
    if obstacle := _obstacle(vectorizer, corpus):
        yield _comment(f"Not attached: {obstacle}")
        return
    config, types, key = vectorizer["config"], vectorizer["types"], vectorizer["key"]
    yield from _corpus(config.get("embedding", {}), corpus)
    yield from _about_chunks(config.get("chunking", {}))
    relation = vectorizer["relation"]
    id_column = key[0]
    if len(key) > 1:
        id_column = "document_id"
        while id_column in types:
            id_column += "_"
        joined = sql.SQL(" || '/' || ").join(sql.SQL("{}::text").format(sql.Identifier(name)) for name in key)
        added = sql.SQL("alter table {} add column {} text generated always as ({}) stored unique;")
        yield _comment("A document has one id. This rewrites the table:")
        yield added.format(sql.SQL(relation), sql.Identifier(id_column), joined).as_string(None)
    options = dict(_columns(config.get("formatting", {}), types, vectorizer["content"]))
    if options:
        yield _comment(
            "Of the columns in the template, the title is read with each passage; filters can name metadata."
        )
    arguments = [corpus, relation, id_column, vectorizer["content"]]
    if options:
        arguments.append(json.dumps(options, ensure_ascii=False))
    yield _call("attach_table", *arguments)
    yield _comment(f"When you need pgai no more: select ai.drop_vectorizer({vectorizer['id']});")


def _obstacle(vectorizer: Row, corpus: str) -> str | None:
    """Return why the table cannot be attached, and what to do instead; None if it can."""
    types, content, key = vectorizer["types"], vectorizer["content"], vectorizer["key"]
    if types is None:
        return "the table is gone."
    if content not in types:
        return f"column {content} is gone."
    load = f"pgclarify load {shlex.quote(corpus)}"
    if vectorizer["config"].get("loading", {}).get("implementation") == "uri":
        return f"column {content} has addresses of files. Pass them to: {load} ADDRESS…"
    if types[content] == "bytea":
        return f"column {content} has files. Write them into a folder, and run: {load} FOLDER"
    if len(key) > 1 and not {types.get(name) for name in key} <= _KEYS:
        return f"its key has {len(key)} columns, not all of them numbers or texts. Add a unique column of type text."
    return None


def _corpus(embedding: Mapping[str, Any], corpus: str) -> Iterator[str]:
    provider, model = embedding.get("implementation"), embedding.get("model")
    if provider not in ("openai", "ollama"):
        yield _comment(f"Workers cannot call {provider} for {model}; all-MiniLM-L6-v2 embeds instead.")
        yield _call("create_corpus", corpus)
        return
    where = "https://api.openai.com/v1" if provider == "openai" else "http://localhost:11434/v1"
    if base := embedding.get("base_url"):
        where = base if provider == "openai" else f"{base.rstrip('/')}/v1"
    # Only these models of OpenAI can shorten their vectors.
    shortened = f"@{embedding['dimensions']}" if str(model).startswith("text-embedding-3") else ""
    yield _comment(f"Workers embed all texts again, with PGCLARIFY_EMBEDDING_BASE_URL={where}")
    yield _comment("Without the second argument, all-MiniLM-L6-v2 embeds them, and no endpoint is needed.")
    yield _call("create_corpus", corpus, f"endpoint:{model}{shortened}")


def _about_chunks(chunking: Mapping[str, Any]) -> Iterator[str]:
    if size := chunking.get("chunk_size"):
        overlap = chunking.get("chunk_overlap", 0)
        yield _comment(
            f"Chunks had {size} characters, {overlap} in common. Passages are as long as the embedding model"
        )
        yield _comment("reads, end with sentences, and stay below one heading; nothing sets that.")


def _columns(formatting: Mapping[str, Any], types: Mapping[str, str], content: str) -> Iterator[tuple[str, Any]]:
    """Yield the options for the columns that the template puts beside each chunk: the first text is the title."""
    template = Template(formatting.get("template", "")).get_identifiers()
    columns = [name for name in template if name in types and name != content]
    title = next((name for name in columns if types[name] in _TEXTS), None)
    if title is not None:
        yield "title", title
    if metadata := [name for name in columns if name != title]:
        yield "metadata", metadata


def _call(function: str, *arguments: str) -> str:
    listed = ", ".join(sql.Literal(argument).as_string(None) for argument in arguments)
    return f"select pgclarify.{function}({listed});"


def _comment(text: str) -> str:
    """Return a comment on one line, whatever names it has."""
    return f"-- {printable(text)}"
