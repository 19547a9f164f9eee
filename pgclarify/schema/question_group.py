"""Groups of questions, answers served again, and how often documents are cited."""

from pgvector.sqlalchemy import HALFVEC
from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    PrimaryKeyConstraint,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, BYTEA, OID

from pgclarify.schema.base import NO_STATISTICS, Name, Timestamp, metadata

question_group = Table(
    "question_group",
    metadata,
    Column(
        "question_group_id",
        BigInteger,
        nullable=False,
        # As the server prints it.
        server_default=text(
            "((('x'::text || \"right\"(replace((gen_random_uuid())::text, '-'::text, ''::text), 13)))::bit(52))::bigint"
        ),
        comment="Key, chosen at random, so that it shows neither when the group began nor how many there are.",
    ),
    Column(
        "corpus_id",
        BigInteger,
        ForeignKey("pgclarify_private.corpus.corpus_id", name="question_group_corpus_id_fk", ondelete="CASCADE"),
        nullable=False,
        comment="The corpus that was asked.",
    ),
    Column("embedding_model", Text, comment="The model of leader; null if the group has none."),
    Column(
        "leader",
        HALFVEC,
        info=NO_STATISTICS,
        comment=(
            "Embedding of the first question of the group. A question belongs to the group if it is near. Null if "
            "only equal wordings belong."
        ),
    ),
    Column(
        "figures",
        ARRAY(Text),
        info=NO_STATISTICS,
        nullable=False,
        server_default=text("'{}'"),
        comment="Figures in that question, sorted. A question with other figures belongs to another group.",
    ),
    Column(
        "question_word",
        Text,
        info=NO_STATISTICS,
        comment=(
            "who, when, where or why, if that question has one of them; else null. A question with another one "
            "belongs to another group."
        ),
    ),
    Column("created_at", Timestamp, nullable=False, server_default=text("now()"), comment="When it began."),
    PrimaryKeyConstraint("question_group_id", name="question_group_pk"),
    CheckConstraint("(leader is null) = (embedding_model is null)", name="question_group_leader_is_of_a_model"),
    Index("question_group_corpus_id_idx", "corpus_id"),
    comment=(
        "Questions of a corpus with the same meaning. Workers put finished runs into groups. For each length of "
        "vectors there is an HNSW index, created with the first vector."
    ),
)

question_wording = Table(
    "question_wording",
    metadata,
    Column(
        "corpus_id",
        BigInteger,
        ForeignKey("pgclarify_private.corpus.corpus_id", name="question_wording_corpus_id_fk", ondelete="CASCADE"),
        nullable=False,
        comment="The corpus that was asked.",
    ),
    Column(
        "wording_hash",
        BYTEA,
        nullable=False,
        comment="SHA-256 of the question without case, white space and punctuation.",
    ),
    Column("question_group_id", BigInteger, nullable=False, comment="Its group."),
    PrimaryKeyConstraint("corpus_id", "wording_hash", name="question_wording_pk"),
    CheckConstraint("length(wording_hash) = 32", name="question_wording_hash_is_sha256"),
    Index("question_wording_question_group_id_idx", "question_group_id"),
    comment="Wordings of grouped questions, so that equal wordings need not be compared by meaning.",
)

served_answer = Table(
    "served_answer",
    metadata,
    Column("run_id", BigInteger, nullable=False, comment="The run that answered."),
    Column("served_at", Timestamp, nullable=False, server_default=text("now()"), comment="When it was asked again."),
    comment=(
        "A question that an earlier run answered, until a worker has counted it. Callers only insert rows, so that "
        "no caller waits for another."
    ),
    prefixes=["unlogged"],
)

citation_tally = Table(
    "citation_tally",
    metadata,
    Column(
        "corpus_id",
        BigInteger,
        ForeignKey("pgclarify_private.corpus.corpus_id", name="citation_tally_corpus_id_fk", ondelete="CASCADE"),
        nullable=False,
        comment="The corpus.",
    ),
    Column("document_id", Text, nullable=False, comment="The document, which may have been removed."),
    Column("requested_by", Name, nullable=False, comment="Role that asked."),
    Column(
        "citations",
        BigInteger,
        nullable=False,
        comment="Citations of interpretations, of steps of investigations and of listed answers.",
    ),
    Column("runs", BigInteger, nullable=False, comment="Runs with such citations."),
    Column("last_cited_at", Timestamp, nullable=False, comment="When the last of them ended."),
    Column("requested_by_oid", OID, nullable=False, comment="Oid of that role."),
    PrimaryKeyConstraint("corpus_id", "document_id", "requested_by", "requested_by_oid", name="citation_tally_pk"),
    CheckConstraint("citations >= 1", name="citation_tally_citations_are_positive"),
    CheckConstraint("runs >= 1", name="citation_tally_runs_are_positive"),
    comment=(
        "How often a document was cited, for each role. Counted when a run gets its group; deleted runs still count."
    ),
)
