"""The passages that a run retrieved, and what was decided about each."""

import sqlalchemy as sa
from pgvector.sqlalchemy import HALFVEC
from sqlalchemy.dialects.postgresql import ARRAY, DOUBLE_PRECISION, REAL

from pgclarify.data.vocabulary import Origin, Outcome
from pgclarify.declared.words import listed
from pgclarify.errors import VERDICT_CODES
from pgclarify.schema.base import Timestamp, column, metadata, prose, word_is_known

candidate = sa.Table(
    "candidate",
    metadata,
    column("run_id", sa.BigInteger, "The run.", sa.ForeignKey("run.run_id", ondelete="CASCADE")),
    column(
        "rank",
        sa.Integer,
        "From 1: its place in the ranking or, in guided exploration, in the order in which passages were chosen.",
    ),
    column("corpus_id", sa.BigInteger, "The corpus."),
    column("document_id", sa.Text, "The document."),
    column("passage_id", sa.BigInteger, "The passage, which may have changed or been removed."),
    prose("heading", "Headings above the passage when it was retrieved; null if none.", null=True),
    column(
        "score",
        DOUBLE_PRECISION,
        "dense: cosine similarity; lexical: BM25; hybrid: mean of both, each brought to 0 to 1; a neighbor: its "
        "similarity to the passage that led to it; with a reranker: its score. Higher is better.",
    ),
    column("origin", sa.Text, f"How it was found: {listed(Origin)}."),
    column("via_passage_id", sa.BigInteger, "The passage that led to it; null unless a neighbor.", null=True),
    column("batch", sa.Integer, "The batch in which it was chosen, from 1; 1 without exploration.", default="1"),
    column(
        "step_ordinal",
        sa.Integer,
        "The step of the investigation that retrieved it; null for other operations.",
        null=True,
    ),
    column(
        "copy_of",
        sa.Integer,
        "Rank of the candidate that was judged for it, because both passages have the same text; null if it was judged "
        "itself.",
        null=True,
    ),
    column(
        "copy_shift",
        sa.Integer,
        "Of a copy: how many characters later than there its text is in its document; null if it is none.",
        null=True,
    ),
    sa.PrimaryKeyConstraint("run_id", "rank"),
    sa.CheckConstraint("num_nonnulls(copy_of, copy_shift) in (0, 2)", name="candidate_copy_is_whole"),
    sa.CheckConstraint("rank >= 1", name="candidate_rank_counts_from_one"),
    sa.CheckConstraint("batch >= 1", name="candidate_batch_counts_from_one"),
    sa.CheckConstraint("step_ordinal >= 1", name="candidate_step_ordinal_counts_from_one"),
    word_is_known("candidate.origin"),
    sa.Index("candidate_corpus_id_document_id_idx", "corpus_id", "document_id"),
    comment="A passage retrieved for a run.",
)
verdict = sa.Table(
    "verdict",
    metadata,
    column("run_id", sa.BigInteger, "The run."),
    column("rank", sa.Integer, "The candidate's rank."),
    column(
        "outcome",
        sa.Text,
        f"{listed(Outcome)}.",
    ),
    prose("interpretation", "The reading; null unless grounded.", null=True),
    prose("answer", "Its answer; null unless grounded.", null=True),
    prose("quote", "The words of the passage that prove it, verbatim; null unless grounded.", null=True),
    column("start_char", sa.Integer, "Offset of the quote in the document, from 0.", null=True),
    column("end_char", sa.Integer, "Offset of the end of the quote.", null=True),
    prose("vector", "f(interpretation; answer), unit length; null unless grounded.", type_=HALFVEC, null=True),
    column("completion_id", sa.BigInteger, "Ledger row that it was read from; null if there was no reply.", null=True),
    column("is_reused", sa.Boolean, "True if that row had been paid for before."),
    prose("reason", "Why it abstained, or why a check doubts the reading; null otherwise.", null=True),
    prose("error", "What went wrong; null unless failed.", null=True),
    column("created_at", Timestamp, "When it was decided.", default="now()"),
    column("abstention_code", sa.Text, "Why it abstained, as a code; null unless it did.", null=True),
    column("error_code", sa.Text, "What went wrong, as a SQLSTATE; null unless failed.", null=True),
    column("score", REAL, "The trained reader's probability of the answer; null if it did not read it.", null=True),
    column("doubt_code", sa.Text, "Why a check doubts the reading, as a code; null if none does.", null=True),
    column(
        "reading_ordinal",
        sa.Integer,
        "Place of the reading in the reply, 1 for the most likely; readings of one reply have the same number only if "
        "they are the same. 1 if the passage was judged alone, or is not grounded.",
        default="1",
    ),
    column(
        "leans_on",
        ARRAY(sa.Text),
        "Other documents whose words the reading has, because the reply was about several passages; null if none. It "
        "is withheld and erased with any of them.",
        null=True,
    ),
    sa.PrimaryKeyConstraint("run_id", "rank", "reading_ordinal"),
    sa.CheckConstraint("reading_ordinal >= 1", name="verdict_reading_ordinal_counts_from_one"),
    word_is_known("verdict.outcome"),
    sa.CheckConstraint(
        "(outcome = 'grounded') = (num_nonnulls(interpretation, answer, quote, start_char, end_char, vector) = 6)",
        name="verdict_grounded_has_a_reading",
    ),
    sa.CheckConstraint("(outcome = 'failed') = (error is not null)", name="verdict_failed_has_an_error"),
    sa.CheckConstraint("(outcome = 'abstained') = (abstention_code is not null)", name="verdict_abstained_has_a_code"),
    word_is_known("verdict.abstention_code"),
    sa.CheckConstraint("(outcome = 'failed') = (error_code is not null)", name="verdict_failed_has_a_code"),
    word_is_known("verdict.error_code", VERDICT_CODES),
    word_is_known("verdict.doubt_code"),
    sa.CheckConstraint("doubt_code is null or outcome = 'grounded'", name="verdict_doubted_is_grounded"),
    sa.ForeignKeyConstraint(
        ["run_id", "rank"], ["candidate.run_id", "candidate.rank"], name="verdict_candidate_fk", ondelete="CASCADE"
    ),
    sa.Index(
        "verdict_leans_on_idx", "leans_on", postgresql_using="gin", postgresql_where=sa.text("leans_on is not null")
    ),
    comment="The verdict on a candidate: a row for each reading, or one without a reading.",
)
