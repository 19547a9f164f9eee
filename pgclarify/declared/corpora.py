"""Functions of corpora, documents and attached tables."""

from __future__ import annotations

from typing import Final

from pgclarify.declared import options
from pgclarify.declared.documents import FIELDS, IN_COLUMNS
from pgclarify.declared.forms import Function, Option, Parameter
from pgclarify.declared.parameters import CORPUS, FILTER

_OWN_CORPUS: Final = Parameter("corpus", "text", "name of one that you own")

_DOCUMENT: Final = Parameter("document_id", "text", "as it was added")

_DATE_KEY: Final = Option(
    name="date_key",
    longest=500,
    meaning="Key of metadata with the date of each document that is added without one, such as published: an ISO date, "
    "with or without a time; or id, for the first date in its id, such as minutes/2026-04-30.md.",
)

_FOLDERS: Final = Option(
    name="folders",
    type="array",
    meaning='Metadata of documents by the folders in their ids: texts such as "archive: status=historical". Keys that '
    "a document has itself stay.",
)

_PASSAGES_PER_CALL: Final = options.PASSAGES_PER_CALL.but(
    meaning="Most passages of this corpus that a model reads in one call, even if a question asks for more; use 1 if "
    "strangers write its texts."
)

_ACCESS: Final = Parameter("access", "text", "reader or analyst", "'reader'")

CORPORA: Final = (
    Function(
        name="create_corpus",
        summary="Create a corpus and return its id. The caller owns it; grant_access adds others.",
        parameters=(
            Parameter("name", "text", "1 to 200 visible characters, unique"),
            Parameter(
                "embedding_model",
                "text",
                'a sentence-transformers name or a path that the workers can load; or "endpoint:" and the name of a '
                "model behind their endpoint, such as endpoint:text-embedding-3-small",
                "'all-MiniLM-L6-v2'",
            ),
        ),
        options=(
            Option(
                name="search_config",
                default="english",
                meaning="Text search configuration for the language of the documents; simple if PostgreSQL has none "
                "for it.",
            ),
            Option(
                name="reader",
                meaning="Role that may search the corpus; without it only its owner; pgclarify_user for all who may "
                "ask.",
            ),
            Option(name="analyst", meaning="Role that sees all runs on the corpus."),
            _DATE_KEY,
            _FOLDERS,
            _PASSAGES_PER_CALL,
        ),
        writes=True,
        returns="bigint",
    ),
    Function(
        name="alter_corpus",
        summary="Change a corpus; true if anything changed. Omitted options are not changed.",
        parameters=(Parameter("name", "text", "a corpus that you own"),),
        options=(
            Option(
                name="embedding_model",
                meaning="Another model; the corpus is searched with the present one until all passages are embedded. "
                "The present name or null ends such a change.",
            ),
            Option(
                name="graph", choices=("rebuild",), meaning="Use rebuild to find the neighbors of all passages anew."
            ),
            Option(
                name="ambiguity_classifier",
                type="integer",
                least=1,
                most=2**31 - 1,
                meaning="Version that eval train-ambiguity has made; null: the shipped classifier.",
            ),
            _DATE_KEY.but(
                meaning=f"{_DATE_KEY.meaning} Documents that have their date from the former key, or none, get that of "
                "the new one, and null takes it away."
            ),
            _FOLDERS.but(
                meaning=f"{_FOLDERS.meaning} They hold for documents that are added or loaded from then on; null ends "
                "them."
            ),
            _PASSAGES_PER_CALL.but(meaning=f"{_PASSAGES_PER_CALL.meaning} Null sets no limit."),
        ),
        options_default=False,
        writes=True,
        returns="boolean",
    ),
    Function(
        name="drop_corpus",
        summary="Drop a corpus with its documents and vectors, and return its id. From the commit on, no role finds "
        "it, and its name is free; workers remove its rows in the background. Runs on it stay, with their quotes; "
        "those that are not over fail. Its attached tables are no longer followed. pgclarify loses the right to read "
        "those of the caller; for others, it says how to revoke it. If a budget binds its owner, only a member of "
        "pgclarify_owner can drop it.",
        parameters=(Parameter("name", "text", "of a corpus that you own"),),
        writes=True,
        returns="bigint",
        calls="drop_corpus_as_caller",
    ),
    Function(
        name="distribute",
        summary="Experimental. Distribute the passages and vectors of a corpus over the nodes of a Citus cluster, or "
        "bring them back, in this transaction. Until it ends, changes of the corpus and new questions wait; a call "
        "that waits for an answer fails with 55P03 after its timeout. A search that begins before its end may fail "
        "with 40001: repeat it. At its end, create_corpus, a new embedding model, and queries of view "
        "pgclarify.passage wait, for every corpus.",
        parameters=(_OWN_CORPUS,),
        options=(
            Option(
                name="shards",
                type="integer",
                least=0,
                most=1000,
                default=8,
                meaning="How many parts the passages are distributed to, some per node; 0 brings them back to this "
                "server.",
            ),
            options.DRY_RUN,
        ),
        writes=True,
        returns="jsonb",
        remark="Returns an object: is_distributed, is_moved (false if it is there already), passages and bytes (what "
        "is moved, with its indexes), nodes (null with 0 shards), shards, ef_search (the least hnsw.ef_search of "
        "pgclarify_owner on the nodes). A corpus that is already distributed is not changed, and keeps its shards.",
    ),
    Function(
        name="grant_access",
        summary="Let a role search a corpus, or see all runs on it; true if anything changed. It takes effect for "
        "roles that may use pgclarify: a notice names the GRANT that is missing.",
        parameters=(
            _OWN_CORPUS.but(meaning="one that you own"),
            Parameter(
                "role",
                "name",
                "a login role or a group; pgclarify_user opens the corpus to every role that may ask, and "
                "pgclarify_reader also to those that may only read",
            ),
            _ACCESS.but(
                meaning="reader (may read documents of this corpus, and ask it as a member of pgclarify_user) or "
                "analyst (sees all runs on it)"
            ),
            FILTER.but(
                meaning="for a reader: it finds and sees only documents whose metadata fit, such as "
                '{"tenant": "acme"}; null means all'
            ),
        ),
        writes=True,
        returns="boolean",
        calls="set_access",
        passes=("grant_access.corpus", "grant_access.role", "grant_access.access", "true", "grant_access.filter"),
    ),
    Function(
        name="revoke_access",
        summary="Take back what grant_access gave; true if anything changed. A notice names the roles by whose rights "
        "the role has the access still.",
        parameters=(
            _OWN_CORPUS.but(meaning="one that you own"),
            Parameter("role", "name", "the name that was granted, even if there is no such role any more"),
            _ACCESS,
        ),
        writes=True,
        returns="boolean",
        calls="set_access",
        passes=("revoke_access.corpus", "revoke_access.role", "revoke_access.access", "false", "null"),
    ),
)

DOCUMENTS: Final = (
    Function(
        name="add_document",
        summary="Add a document, or replace its content; true if anything changed, or if it could not be indexed and "
        "is tried again. Workers make it searchable (see pgclarify.corpus.pending).",
        parameters=(
            _OWN_CORPUS,
            Parameter(
                "document_id", "text", "your own id, 1 to 1000 characters in at most 2600 bytes; citations return it"
            ),
            Parameter(
                "content",
                "text",
                "plain text or Markdown, whose headings are kept with each passage, at most 10,000,000 characters",
            ),
            *(field.parameter for field in FIELDS),
        ),
        apart=("corpus", "document_id", "content"),
        calls="add_document",
        writes=True,
        returns="boolean",
    ),
    Function(
        name="get_document",
        summary="The row of view document with this id; none if the corpus has no such document that you may read. It "
        "uses an index, which a filter of the view by id cannot.",
        parameters=(CORPUS.but(default=None), _DOCUMENT.but(meaning="the id of the document")),
        returns="setof pgclarify.document",
        is_set=True,
        expected_rows=1,
        volatility="stable",
        grantee="pgclarify_reader",
    ),
    Function(
        name="remove_document",
        summary="Remove a document at once; true if there was one. Its citations keep their quotes.",
        parameters=(_OWN_CORPUS.but(meaning="its name"), _DOCUMENT),
        writes=True,
        returns="boolean",
    ),
    Function(
        name="erase_document",
        summary="Remove a document and erase all text that comes from it, even if it was removed before: passages, "
        "quotes, readings, answers, replies of the model, and outputs in evaluations. True if the document was still "
        "there. Ids, times, tokens and costs stay. A reading that also depends on other documents keeps what those "
        "give. Runs on the corpus that are not over start again. Copies elsewhere, such as in backups, are not erased: "
        "see Operations, Erasing.",
        parameters=(_OWN_CORPUS.but(meaning="its name; you own it"), _DOCUMENT),
        writes=True,
        returns="boolean",
    ),
)

TABLES: Final = (
    Function(
        name="attach_table",
        summary="Make the rows of a table documents of a corpus, and keep them up to date; returns the id of the "
        "source. Workers load it in the background (see source_status), and triggers record changes. A table that has "
        "replaced an attached one under its name goes on with its documents.",
        parameters=(
            _OWN_CORPUS,
            Parameter("relation", "regclass", "the table, which you must own, too"),
            Parameter("id_column", "text", "smallint, integer, bigint, uuid, text or varchar, with a unique index"),
            Parameter("content_column", "text", "text or varchar"),
        ),
        options=(
            *(field.option for field in IN_COLUMNS),
            Option(
                name="metadata",
                type="array",
                default=[],
                meaning="Columns that are kept as metadata: a name, or an array of names.",
            ),
            Option(
                name="id_prefix",
                default="",
                meaning="Text before each id, if ids of several tables would be equal.",
            ),
            options.DRY_RUN.but(
                meaning="Use true to read no row and change nothing, but report the steps and the problems."
            ),
        ),
        writes=True,
        returns="bigint",
        calls="attach_table_as_caller",
    ),
    Function(
        name="resync",
        summary="Compare all rows of an attached table with its documents again, and correct the differences. It also "
        "restores missing triggers and grants, and restarts a failed source after its cause is fixed. Returns the id "
        "of the source; source_status shows how many rows were missing, different or too many. A table that has "
        "replaced the attached one under its name takes its place, and goes on with its documents.",
        parameters=(_OWN_CORPUS, Parameter("relation", "regclass", "the table")),
        writes=True,
        returns="bigint",
        calls="resync_as_caller",
    ),
    Function(
        name="detach_table",
        summary="Stop following a table: drop its triggers, and revoke pgclarify's rights to read it. Returns the id "
        "of the source.",
        parameters=(
            _OWN_CORPUS,
            Parameter(
                "relation",
                "regclass",
                "the table; for a dropped one, its number from source_status.relation_oid: detach_table('kb', 16421)",
            ),
        ),
        options=(
            Option(
                name="documents",
                choices=("keep", "remove"),
                default="keep",
                meaning="Use remove to remove the documents of the table, too, in the background.",
            ),
        ),
        writes=True,
        returns="bigint",
        calls="detach_table_as_caller",
    ),
)
