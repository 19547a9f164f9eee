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

from pgclarify.schema.base import PRIVATE_SCHEMA, Name, Timestamp, metadata

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
        comment="Key, drawn at random: it tells nobody when the group began, nor how many there are.",
    ),
    Column(
        "corpus_id",
        BigInteger,
        ForeignKey("pgclarify.corpus.corpus_id", name="question_group_corpus_id_fk", ondelete="CASCADE"),
        nullable=False,
        comment="The corpus that was asked.",
    ),
    Column("embedding_model", Text, comment="The model that leader is of; null if the group has none."),
    Column(
        "leader",
        HALFVEC,
        comment=(
            "Embedding of the question that the group began with: who is near it belongs to the group. Null if only "
            "questions in the same words do."
        ),
    ),
    Column(
        "figures",
        ARRAY(Text),
        nullable=False,
        server_default=text("'{}'"),
        comment="Figures in that question, sorted: who has others is of another group.",
    ),
    Column(
        "question_word",
        Text,
        comment=(
            "who, when, where or why, if that question has one of them; null otherwise. Who has another one is of "
            "another group."
        ),
    ),
    Column("created_at", Timestamp, nullable=False, server_default=text("now()"), comment="When it began."),
    PrimaryKeyConstraint("question_group_id", name="question_group_pk"),
    CheckConstraint("(leader is null) = (embedding_model is null)", name="question_group_leader_is_of_a_model"),
    Index("question_group_corpus_id_idx", "corpus_id"),
    comment=(
        "Questions of a corpus that mean the same. Workers put runs into groups after their end; for "
        "each length of vectors there is an HNSW index, made when the first one comes."
    ),
    schema=PRIVATE_SCHEMA,
)

question_wording = Table(
    "question_wording",
    metadata,
    Column(
        "corpus_id",
        BigInteger,
        ForeignKey("pgclarify.corpus.corpus_id", name="question_wording_corpus_id_fk", ondelete="CASCADE"),
        nullable=False,
        comment="The corpus that was asked.",
    ),
    Column(
        "wording_hash",
        BYTEA,
        nullable=False,
        comment="SHA-256 of the question without case, white space and punctuation.",
    ),
    Column("question_group_id", BigInteger, nullable=False, comment="The group that it belongs to."),
    PrimaryKeyConstraint("corpus_id", "wording_hash", name="question_wording_pk"),
    CheckConstraint("length(wording_hash) = 32", name="question_wording_hash_is_sha256"),
    Index("question_wording_question_group_id_idx", "question_group_id"),
    comment="Wordings of questions that have a group, so that equal ones need not be compared by meaning.",
    schema=PRIVATE_SCHEMA,
)

served_answer = Table(
    "served_answer",
    metadata,
    Column("run_id", BigInteger, nullable=False, comment="The run that served."),
    Column("served_at", Timestamp, nullable=False, server_default=text("now()"), comment="When it was asked again."),
    comment=(
        "A question that was answered from a run which had answered it before, until a worker has counted it. Callers "
        "append, so that nobody waits for anybody."
    ),
    prefixes=["unlogged"],
    schema=PRIVATE_SCHEMA,
)

citation_tally = Table(
    "citation_tally",
    metadata,
    Column(
        "corpus_id",
        BigInteger,
        ForeignKey("pgclarify.corpus.corpus_id", name="citation_tally_corpus_id_fk", ondelete="CASCADE"),
        nullable=False,
        comment="The corpus.",
    ),
    Column("document_id", Text, nullable=False, comment="The document, which may have gone since."),
    Column("requested_by", Name, nullable=False, comment="Role that asked."),
    Column(
        "citations",
        BigInteger,
        nullable=False,
        comment="Citations of interpretations, of steps of investigations and of listed answers.",
    ),
    Column("runs", BigInteger, nullable=False, comment="Runs with such a citation."),
    Column("last_cited_at", Timestamp, nullable=False, comment="When the last of them ended."),
    Column("requested_by_oid", OID, nullable=False, comment="Its oid."),
    PrimaryKeyConstraint("corpus_id", "document_id", "requested_by", "requested_by_oid", name="citation_tally_pk"),
    CheckConstraint("citations >= 1", name="citation_tally_citations_are_positive"),
    CheckConstraint("runs >= 1", name="citation_tally_runs_are_positive"),
    comment=(
        "How often a document was cited for whom; counted when a run gets its group, and runs that were deleted since "
        "still count."
    ),
    schema=PRIVATE_SCHEMA,
)
