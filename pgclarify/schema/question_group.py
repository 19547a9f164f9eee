"""Groups of questions, answers served again, and how often documents are cited."""

import sqlalchemy as sa
from pgvector.sqlalchemy import HALFVEC
from sqlalchemy.dialects.postgresql import ARRAY, BYTEA, OID

from pgclarify.schema.base import Name, Timestamp, column, metadata, prose

question_group = sa.Table(
    "question_group",
    metadata,
    column(
        "question_group_id",
        sa.BigInteger,
        "Key, chosen at random, so that it shows neither when the group began nor how many there are.",
        # As the server prints it.
        default=(
            "((('x'::text || \"right\"(replace((gen_random_uuid())::text, '-'::text, ''::text), 13)))::bit(52))::bigint"
        ),
    ),
    column(
        "corpus_id", sa.BigInteger, "The corpus that was asked.", sa.ForeignKey("corpus.corpus_id", ondelete="CASCADE")
    ),
    column("embedding_model", sa.Text, "The model of leader; null if the group has none.", null=True),
    prose(
        "leader",
        "Embedding of the first question of the group. A question belongs to the group if it is near. Null if "
        "only equal wordings belong.",
        type_=HALFVEC,
        null=True,
    ),
    prose(
        "figures",
        "Figures in that question, sorted. A question with other figures belongs to another group.",
        type_=ARRAY(sa.Text),
        default="'{}'",
    ),
    prose(
        "question_word",
        "who, when, where or why, if that question has one of them; else null. A question with another one "
        "belongs to another group.",
        null=True,
    ),
    sa.PrimaryKeyConstraint("question_group_id"),
    sa.CheckConstraint("(leader is null) = (embedding_model is null)", name="question_group_leader_is_of_a_model"),
    sa.Index("question_group_corpus_id_idx", "corpus_id"),
    comment=(
        "Questions of a corpus with the same meaning. Workers put finished runs into groups. For each length of "
        "vectors there is an HNSW index, created with the first vector."
    ),
)

question_wording = sa.Table(
    "question_wording",
    metadata,
    column(
        "corpus_id", sa.BigInteger, "The corpus that was asked.", sa.ForeignKey("corpus.corpus_id", ondelete="CASCADE")
    ),
    column("wording_hash", BYTEA, "SHA-256 of the question without case, white space and punctuation."),
    column(
        "question_group_id",
        sa.BigInteger,
        "Its group.",
        sa.ForeignKey("question_group.question_group_id", ondelete="CASCADE"),
    ),
    sa.PrimaryKeyConstraint("corpus_id", "wording_hash"),
    sa.CheckConstraint("length(wording_hash) = 32", name="question_wording_hash_is_sha256"),
    sa.Index("question_wording_question_group_id_idx", "question_group_id"),
    comment="Wordings of grouped questions, so that equal wordings need not be compared by meaning.",
)

served_answer = sa.Table(
    "served_answer",
    metadata,
    column("run_id", sa.BigInteger, "The run that answered."),
    column("served_at", Timestamp, "When it was asked again.", default="now()"),
    comment=(
        "A question that an earlier run answered, until a worker has counted it. Callers only insert rows, so that "
        "no caller waits for another."
    ),
    prefixes=["unlogged"],
)

citation_tally = sa.Table(
    "citation_tally",
    metadata,
    column("corpus_id", sa.BigInteger, "The corpus.", sa.ForeignKey("corpus.corpus_id", ondelete="CASCADE")),
    column("document_id", sa.Text, "The document, which may have been removed."),
    column("requested_by", Name, "Role that asked."),
    column(
        "citations", sa.BigInteger, "Citations of interpretations, of steps of investigations and of listed answers."
    ),
    column("runs", sa.BigInteger, "Runs with such citations."),
    column("last_cited_at", Timestamp, "When the last of them ended."),
    column("requested_by_oid", OID, "Oid of that role."),
    sa.PrimaryKeyConstraint("corpus_id", "document_id", "requested_by", "requested_by_oid"),
    sa.CheckConstraint("citations >= 1", name="citation_tally_citations_are_positive"),
    sa.CheckConstraint("runs >= 1", name="citation_tally_runs_are_positive"),
    comment=(
        "How often a document was cited, for each role. Counted when a run gets its group; deleted runs still count."
    ),
)
