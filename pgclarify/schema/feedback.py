"""Feedback."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, OID, REAL

from pgclarify.data.vocabulary import Rating
from pgclarify.declared.words import listed
from pgclarify.schema.base import Name, Timestamp, column, metadata, prose, requester_oid, word_is_known

feedback = sa.Table(
    "feedback",
    metadata,
    column("feedback_id", sa.BigInteger, "Key.", sa.Identity(always=True)),
    column(
        "run_id",
        sa.BigInteger,
        "The run; null once it was deleted.",
        sa.ForeignKey("run.run_id", ondelete="SET NULL"),
        null=True,
    ),
    column(
        "corpus_id",
        sa.BigInteger,
        "The corpus; null once it was dropped.",
        sa.ForeignKey("corpus.corpus_id", ondelete="SET NULL"),
        null=True,
    ),
    column("corpus_name", sa.Text, "The corpus's name at the time of the question."),
    prose("question", "The question of the run."),
    prose("history", "The turns before the question, oldest first.", type_=JSONB, default="'[]'"),
    column(
        "is_of_part",
        sa.Boolean,
        "Whether the question was for a part of the corpus, with a filter or a list of documents.",
    ),
    column("ordinal", sa.Integer, "Place of the reading in the run; 0 if the right answer is missing."),
    prose("interpretation", "The reading, as it was rated; null if the right answer is missing.", null=True),
    prose("answer", "Its answer; null if the right answer is missing.", null=True),
    prose("document_ids", "Documents that it cites, best first.", type_=ARRAY(sa.Text), default="'{}'"),
    prose(
        "read_ids",
        "All documents that the run has found, and others whose words its readings have. Who may not read one of them "
        "does not see the rating, and it is erased with each of them.",
        type_=ARRAY(sa.Text),
    ),
    column("rating", sa.Text, f"{listed(Rating)}; null if the right answer is missing.", null=True),
    prose("comment", "Why; null without a comment.", null=True),
    prose("missing", "The right answer, which no reading has; null if a reading is rated.", null=True),
    prose("person", "Who said so, as the role named this person, which nothing proves; empty for none.", default="''"),
    column("model", sa.Text, "Model that judged.", null=True),
    column("prompt_version", sa.Text, "Version of the prompts.", null=True),
    column(
        "probability",
        REAL,
        "The trained reader's probability of the answer; null if it did not read it.",
        null=True,
    ),
    column("requested_by", Name, "Role that asked."),
    requester_oid(),
    column("given_by", Name, "Role that rated."),
    column("given_by_oid", OID, "Oid of that role, so that another role of that name does not count."),
    column("created_at", Timestamp, "When it was first given.", default="now()"),
    column("updated_at", Timestamp, "When it was last changed.", default="now()"),
    sa.PrimaryKeyConstraint("feedback_id"),
    word_is_known("feedback.rating"),
    sa.UniqueConstraint("run_id", "given_by", "person", "ordinal", name="feedback_key"),
    sa.CheckConstraint("ordinal >= 0", name="feedback_ordinal_is_not_negative"),
    sa.CheckConstraint(
        "num_nonnulls(interpretation, answer, rating) = case ordinal when 0 then 0 else 3 end",
        name="feedback_rates_a_reading",
    ),
    sa.CheckConstraint("(missing is not null) = (ordinal = 0)", name="feedback_misses_an_answer_or_rates"),
    sa.Index("feedback_corpus_id_idx", "corpus_id"),
    sa.Index("feedback_read_ids_idx", "read_ids", postgresql_using="gin"),
    comment=(
        "What people say of a reading of a run, or which right answer it misses. give_feedback writes it. It stays "
        "when its run is deleted."
    ),
)
