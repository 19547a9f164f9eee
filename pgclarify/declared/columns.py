"""Columns that rows of several operations have."""

from __future__ import annotations

from typing import Final

from pgclarify.declared.forms import Column

RUN_ID: Final = Column("run_id", "bigint", "The run.")
STATUS: Final = Column(
    "status",
    "text",
    "How the run ended: succeeded, or partial if calls failed or a budget was spent.",
    record_type="RunStatus",
)
CITATIONS: Final = Column(
    "citations",
    "jsonb",
    "The passages that prove it, the medoid first: array of objects with the columns of view citation.",
    record_type="tuple[Citation, ...]",
)
DOCUMENT_IDS: Final = Column("document_ids", "text[]", "Documents that prove it, best first.")
DATED: Final = Column(
    "dated",
    "timestamptz",
    "The newest date of the documents that it cites; null if none is known.",
    null=True,
    default="None",
    since="0.3.0",
)
STOP_CODE: Final = Column(
    "stop_code",
    "text",
    "Why it has no result, or only a part of it: not_answered if a language model judged the passages and none "
    "answers; with other codes, it is unknown whether the corpus has an answer. Null if the result is complete, or if "
    "it has failed or is not over.",
    null=True,
    record_type="StopCode | None",
    default="None",
)

# Of views.
RUN_CORPUS: Final = Column(
    "corpus", "text", "The corpus's name at the time of the question.", is_prose=True, source="run.corpus_name"
)
RUN_QUESTION: Final = Column("question", "text", "The question.", is_prose=True, source="run.question")
FINISHED_AT: Final = Column(
    "finished_at", "timestamptz", "When the run ended; null before.", null=True, source="run.finished_at"
)


def documents(what: str) -> Column:
    """Return the column of a view that counts the cited documents."""
    return Column(
        "documents",
        "bigint",
        f"How many documents {what}, including those that you may not read.",
        source="""(
        select count(distinct citation.document_id)
        from pgclarify_private.citation
        where citation.run_id = result.run_id and citation.ordinal = result.ordinal
    )""",
    )
