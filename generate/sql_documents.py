"""sql/declared/documents.sql and document_view.sql: what follows from the fields of a document."""

from __future__ import annotations

from collections.abc import Iterable

from generate.sql_text import HEAD, SEARCH_PATH, comment, literal, packed
from pgclarify.declared.documents import FIELDS, IN_COLUMNS, Field, since
from pgclarify.declared.releases import number

_STORED = ("content", "content_hash", "error", "origin", "places", "unread")
_TIMES = ("dated", "created_at", "updated_at")
_KEYS = ("id", "title", "uri", "origin", *_TIMES)
_KEPT = [field for field in FIELDS if number(field.since) <= number("0.3.0")]
_LATER = since("0.4.0")


def _keys() -> list[str]:
    """Return the keys of filters that are columns: those of every document, and later fields that are text."""
    return [*_KEYS, *(field.name for field in _LATER if field.kind in ("text", "date"))]


def documents() -> str:
    """Return the content of documents.sql."""
    statements = (_document_from(), _insert(), _update(), _other_facts(), _facts(), *_lists())
    return "\n".join([f"{HEAD}-- Documents by their fields: made, stored, compared and filtered.\n", *statements])


def _function(signature: str, returns: str, body: str, meaning: str, *, types: str, settings: str = SEARCH_PATH) -> str:
    name = signature.partition("(")[0]
    lines = [f"create or replace function pgclarify_private.{signature}", f"returns {returns}", settings, body]
    told = comment(f"function pgclarify_private.{name}({types})", meaning)
    return "\n".join(filter(None, lines)) + f"\n\n{told}"


def _value(field: Field) -> str:
    given = f"document_from.fields ->> {literal(field.name)}"
    if field.kind == "text" and field.longest is not None:
        return f"left(pgclarify_private.normalized({given}), {field.longest})"
    if field.kind == "date":
        return f"({given})::timestamptz"
    listed = given.replace("->>", "->")
    if field.kind == "object":
        return f"coalesce(nullif({listed}, 'null'), '{{}}')"
    if field.kind == "roles":
        return f"pgclarify_private.names_in({listed})"
    return given


def _document_from() -> str:
    values = [f"    v_document.{field.name} := {_value(field)};" for field in FIELDS]
    body = "\n".join(
        [
            "as $$",
            "declare",
            "    v_document pgclarify_private.document;",
            "begin",
            "    v_document.id := document_from.id;",
            "    v_document.content := pgclarify_private.normalized(document_from.content);",
            *values,
            "    v_document.content_hash := pgclarify_private.content_hash(v_document.title, v_document.content);",
            "    return v_document;",
            "end",
            "$$;",
        ]
    )
    return _function(
        "document_from(id text, content text, fields jsonb)",
        "pgclarify_private.document\nlanguage plpgsql stable",
        body,
        "A document as statements, loads and rows give it, with its fields as an object.",
        types="text, text, jsonb",
    )


def _columns() -> list[str]:
    return [*_STORED, *(field.name for field in FIELDS)]


def _insert() -> str:
    columns = packed(["corpus_id", "source_id", "id", *_columns()], "        ").strip()
    own = ["insert_documents.corpus_id", "insert_documents.source_id", "given.id"]
    given = packed([*own, *(f"given.{name}" for name in _columns())], "        ").strip()
    return _function(
        "insert_documents(\n    corpus_id bigint, source_id bigint, documents pgclarify_private.document[]\n)",
        "table (id text, error text, readers name[])\nlanguage plpgsql volatile",
        f"""\
as $$
begin
    -- In the order of ids, because two transactions that write the same ones would deadlock otherwise.
    return query
    insert into pgclarify_private.document as stored (
        {columns}
    )
    select
        {given}
    from unnest(insert_documents.documents) as given
    order by given.id
    on conflict on constraint document_pk do nothing
    returning stored.id, stored.error, stored.readers;
end
$$;""",
        "Add documents that are new, and return them.",
        types="bigint, bigint, pgclarify_private.document[]",
    )


def _update() -> str:
    changed = ",\n".join(f"        {name} = given.{name}" for name in _columns())
    return _function(
        "update_documents(\n"
        "    corpus_id bigint, source_id bigint, ids text[], documents pgclarify_private.document[]\n)",
        "void\nlanguage plpgsql volatile",
        f"""\
as $$
begin
    update pgclarify_private.document as stored
    set
        source_id = update_documents.source_id,
        updated_at = now(),
{changed}
    from unnest(update_documents.documents) as given
    where
        stored.corpus_id = update_documents.corpus_id
        and stored.id = any(update_documents.ids)
        and stored.id = given.id;
end
$$;""",
        "Change documents to the given ones.",
        types="bigint, bigint, text[], pgclarify_private.document[]",
    )


def _pairs(function: str, names: Iterable[str]) -> str:
    return ",\n".join(f"        {literal(name)}, ({function}.document).{name}" for name in names)


def _other_facts() -> str:
    names = ["places", "unread", *(field.name for field in FIELDS if field.name != "title")]
    return _function(
        "other_facts(document pgclarify_private.document)",
        "jsonb\nlanguage sql stable parallel safe",
        f"begin atomic\n    select jsonb_build_object(\n{_pairs('other_facts', names)}\n    );\nend;",
        "What may differ between two documents of one content_hash. It sets no search_path, so that the planner can "
        "inline it.",
        types="pgclarify_private.document",
        settings="",
    )


def _facts() -> str:
    told = _pairs("document_facts", ["metadata", *(key for key in _keys() if key not in _TIMES)])
    times = ",\n".join(
        f"        {literal(name)},"
        f" extract(epoch from (document_facts.document).{name} - '1970-01-01T00:00:00Z'::timestamptz)"
        for name in _TIMES
    )
    return _function(
        "document_facts(document pgclarify_private.document)",
        "jsonb\nlanguage sql immutable parallel safe",
        f"begin atomic\n    select jsonb_build_object(\n{told},\n{times}\n    );\nend;",
        "What a filter may compare. It sets no search_path, so that the planner can inline it.",
        types="pgclarify_private.document",
        settings="",
    )


def _lists() -> Iterable[str]:
    lists = {
        "filter_columns": (_keys(), "The keys of filters that are columns of a document."),
        "fields_in_columns": (
            [field.name for field in IN_COLUMNS],
            "The fields of a document for which attach_table can name a column.",
        ),
    }
    for name, (words, meaning) in lists.items():
        yield _function(
            f"{name}()",
            "text[]\nlanguage sql immutable parallel safe",
            f"begin atomic\n    select {literal('{' + ', '.join(words) + '}')}::text[];\nend;",
            meaning,
            types="",
        )


def document_view() -> str:
    """Return the content of document_view.sql."""
    first = ["corpus_id", "id", "content", *(field.name for field in _KEPT if field.name != "dated"), "error"]
    middle = ["has_failed", "created_at", "updated_at", "indexed_at", "source_id", "origin"]
    cited = {
        "citations": "coalesce(cited.citations, 0)::bigint",
        "cited_runs": "coalesce(cited.runs, 0)::bigint",
        "last_cited_at": "cited.last_cited_at",
    }
    last = ["dated", "places", "unread", *(field.name for field in _LATER)]
    wraps: dict[str, str] = {field.name: field.kind for field in FIELDS}
    wraps |= dict.fromkeys(("id", "content", "error", "origin"), "text") | dict.fromkeys(("places", "unread"), "object")
    form = {"text": "document.{0} || '' as {0}", "object": "document.{0} #> '{{}}' as {0}"}
    form["roles"] = "trim_array(document.{0}, 0) as {0}"

    def seen(names: Iterable[str]) -> list[str]:
        return [form.get(wraps.get(name, ""), "document.{0}").format(name) for name in names]

    counted = [f"{value} as {name}" if not value.endswith(name) else value for name, value in cited.items()]
    columns = ",\n    ".join([*seen(first), *seen(middle), *counted, *seen(last)])
    bare = [f"(document_row.document).{name}" for name in [*first, *middle]]
    bare += ["document_row.citations", "document_row.cited_runs", "document_row.last_cited_at"]
    bare += [f"(document_row.document).{name}" for name in last]
    row = ",\n        ".join(bare)
    return f"""\
{HEAD}-- Documents, as people read them. Text is wrapped: see views/wrapping.sql.

create or replace view pgclarify.document as
select
    {columns}
from pgclarify_private.document
-- A query that does not read these columns skips the join. For a constant corpus_id, the planner replaces the first
-- condition; the condition with "+ 0" then still shows it that there is at most one row.
left join (
    select
        citation_tally.corpus_id,
        citation_tally.document_id,
        sum(citation_tally.citations) as citations,
        sum(citation_tally.runs) as runs,
        max(citation_tally.last_cited_at) as last_cited_at
    from pgclarify_private.citation_tally
    group by citation_tally.corpus_id, citation_tally.document_id
) as cited
    on document.corpus_id = cited.corpus_id
        and document.corpus_id + 0 = cited.corpus_id
        and document.id = cited.document_id;

comment on column pgclarify.document.citations is
'How often runs that you may see cited it: for interpretations, in steps of investigations, and for listed answers. '
'Workers count after a run has ended; deleted runs still count.';
comment on column pgclarify.document.cited_runs is 'In how many runs.';
comment on column pgclarify.document.last_cited_at is 'When the last of them ended; null if it was never cited.';

grant select on pgclarify.document to pgclarify_reader;

create or replace function pgclarify_private.document_row(
    document pgclarify_private.document, citations bigint, cited_runs bigint, last_cited_at timestamptz
)
returns pgclarify.document
language sql stable
begin atomic
    select row(
        {row}
    )::pgclarify.document;
end;

comment on function pgclarify_private.document_row(pgclarify_private.document, bigint, bigint, timestamptz) is
'The row of view document. It sets no search_path, so that the planner can inline it.';
"""
