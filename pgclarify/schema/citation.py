"""The citations of all operations."""

import sqlalchemy as sa

from pgclarify.schema.base import column, metadata, prose

citation = sa.Table(
    "citation",
    metadata,
    column("run_id", sa.BigInteger, "The run.", sa.ForeignKey("run.run_id", ondelete="CASCADE")),
    column("ordinal", sa.Integer, "Ordinal of what it proves: an interpretation, step, clarifying question or answer."),
    column("rank", sa.Integer, "Place among its citations, from 1; of an interpretation, the first one is the medoid."),
    column(
        "candidate_rank", sa.Integer, "The candidate's rank in the run; a conclusion cites candidates of other steps."
    ),
    column("corpus_id", sa.BigInteger, "The corpus."),
    column("document_id", sa.Text, "The document."),
    column("passage_id", sa.BigInteger, "The passage."),
    prose("heading", "Headings above the passage when it was cited; null if none.", null=True),
    column(
        "is_medoid",
        sa.Boolean,
        "Whether it is the medoid of its interpretation's cluster; null if it proves no interpretation.",
        null=True,
    ),
    prose("quote", "The words that prove the answer, verbatim."),
    column("start_char", sa.Integer, "Offset of the quote in the document, from 0."),
    column("end_char", sa.Integer, "Offset of the end of the quote."),
    column(
        "reading_ordinal", sa.Integer, "Which of the verdicts on the candidate it comes from: see verdict.", default="1"
    ),
    column(
        "is_shown",
        sa.Boolean,
        "False if it proves an interpretation that the run does not show.",
        default="true",
    ),
    sa.PrimaryKeyConstraint("run_id", "ordinal", "rank"),
    sa.CheckConstraint("ordinal >= 1", name="citation_ordinal_counts_from_one"),
    sa.CheckConstraint("rank >= 1", name="citation_rank_counts_from_one"),
    sa.Index("citation_corpus_id_document_id_idx", "corpus_id", "document_id"),
    comment=(
        "A passage that proves a result of a run: an interpretation, a step, a clarifying question or an answer of a "
        "list. Quote and ids stay when the document is removed."
    ),
)
