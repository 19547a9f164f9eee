"""Clarifying questions, what proves that they can be answered, and conversations."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Identity,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB, OID

from pgclarify.schema.base import NO_STATISTICS, Name, Timestamp, metadata

evidence = Table(
    "evidence",
    metadata,
    Column(
        "run_id",
        BigInteger,
        ForeignKey("pgclarify_private.run.run_id", name="evidence_run_id_fk", ondelete="CASCADE"),
        nullable=False,
        comment="The run.",
    ),
    Column("ordinal", Integer, nullable=False, comment="The item that it proves: place in the run's list, from 1."),
    Column("rank", Integer, nullable=False, comment="Place among its citations, from 1."),
    Column("candidate_rank", Integer, nullable=False, comment="The candidate's rank in the run."),
    Column("corpus_id", BigInteger, nullable=False, comment="The corpus."),
    Column("document_id", Text, nullable=False, comment="The document."),
    Column("passage_id", BigInteger, nullable=False, comment="The passage."),
    Column("heading", Text, info=NO_STATISTICS, comment="Headings above the passage when it was cited; null if none."),
    Column("quote", Text, info=NO_STATISTICS, nullable=False, comment="The words that prove it, verbatim."),
    Column("start_char", Integer, nullable=False, comment="Offset of the quote in the document, from 0."),
    Column("end_char", Integer, nullable=False, comment="Offset of the end of the quote."),
    PrimaryKeyConstraint("run_id", "ordinal", "rank", name="evidence_pk"),
    CheckConstraint("ordinal >= 1", name="evidence_ordinal_counts_from_one"),
    CheckConstraint("rank >= 1", name="evidence_rank_counts_from_one"),
    comment=(
        "A passage that proves an item of a run's list (clarifying questions, answers). Quote and ids stay when the "
        "document is removed."
    ),
)

clarifying_question = Table(
    "clarifying_question",
    metadata,
    Column(
        "run_id",
        BigInteger,
        ForeignKey("pgclarify_private.run.run_id", name="clarifying_question_run_id_fk", ondelete="CASCADE"),
        nullable=False,
        comment="The run.",
    ),
    Column("ordinal", Integer, nullable=False, comment="Place in the list, from 1."),
    Column(
        "ambiguity_type",
        Text,
        comment=(
            "semantic (it can mean several things), generalize (something broader may be meant) or specify "
            "(something narrower may be meant); null for schemes without types."
        ),
    ),
    Column("reasoning", Text, info=NO_STATISTICS, comment="The model's reasoning; null for schemes without reasoning."),
    Column(
        "clarifying_question",
        Text,
        info=NO_STATISTICS,
        comment="A question to the user; null if there are reformulations to choose from.",
    ),
    Column(
        "reformulation",
        Text,
        info=NO_STATISTICS,
        comment="What a user who means this would ask; null if the model gave none.",
    ),
    Column(
        "is_answerable",
        Boolean,
        comment=(
            "Whether a document of the corpus answers the reformulation; null if it was not checked, or could not be "
            "checked."
        ),
    ),
    PrimaryKeyConstraint("run_id", "ordinal", name="clarifying_question_pk"),
    CheckConstraint("ordinal >= 1", name="clarifying_question_ordinal_counts_from_one"),
    CheckConstraint(
        "ambiguity_type in ('semantic', 'generalize', 'specify')", name="clarifying_question_ambiguity_type_is_known"
    ),
    CheckConstraint("num_nonnulls(clarifying_question, reformulation) >= 1", name="clarifying_question_says_something"),
    comment="A result of clarifying_questions: a question to answer, or a reformulation to choose.",
)

conversation = Table(
    "conversation",
    metadata,
    Column("conversation_id", BigInteger, Identity(always=True), nullable=False, comment="Key."),
    Column("question", Text, info=NO_STATISTICS, nullable=False, comment="The original question."),
    Column(
        "corpus_id",
        BigInteger,
        ForeignKey("pgclarify_private.corpus.corpus_id", name="conversation_corpus_id_fk", ondelete="SET NULL"),
        comment="The corpus; null once it was dropped, or if there was none.",
    ),
    Column("corpus_name", Text, comment="The corpus's name at the time of the question; null without a corpus."),
    Column(
        "history",
        JSONB,
        info=NO_STATISTICS,
        nullable=False,
        server_default=text("'[]'"),
        comment="Turns before the question, oldest first.",
    ),
    Column("requested_by", Name, nullable=False, comment="Role that asked; its members may continue."),
    Column("created_at", Timestamp, nullable=False, server_default=text("now()"), comment="When it began."),
    Column(
        "requested_by_oid",
        OID,
        nullable=False,
        server_default=text("quote_ident(current_user)::regrole"),
        comment="Oid of that role, so that another role of that name does not count.",
    ),
    PrimaryKeyConstraint("conversation_id", name="conversation_pk"),
    CheckConstraint("jsonb_typeof(history) = 'array'", name="conversation_history_is_an_array"),
    CheckConstraint("corpus_name is not null or corpus_id is null", name="conversation_of_a_corpus_has_its_name"),
    Index("conversation_corpus_id_idx", "corpus_id"),
    Index("conversation_requested_by_oid_conversation_id_idx", "requested_by_oid", "conversation_id"),
    comment=(
        "A question with clarifying questions about it. It begins with the first reply, and has up to three turns."
    ),
)

turn = Table(
    "turn",
    metadata,
    Column(
        "conversation_id",
        BigInteger,
        ForeignKey(
            "pgclarify_private.conversation.conversation_id", name="turn_conversation_id_fk", ondelete="CASCADE"
        ),
        nullable=False,
        comment="The conversation.",
    ),
    Column("ordinal", Integer, nullable=False, comment="Place in the conversation, from 1 to 3."),
    Column(
        "run_id",
        BigInteger,
        ForeignKey("pgclarify_private.run.run_id", name="turn_run_id_fk", ondelete="SET NULL"),
        comment="The run of clarifying_questions; null once it was deleted.",
    ),
    Column(
        "form",
        Text,
        nullable=False,
        comment="respond (the reply is in the user's words) or select (a reformulation was chosen).",
    ),
    Column(
        "asked",
        Text,
        info=NO_STATISTICS,
        nullable=False,
        comment="The clarifying questions, or the reformulations to choose from, one line each.",
    ),
    Column(
        "reply", Text, info=NO_STATISTICS, nullable=False, comment="The reply, or the reformulation that was chosen."
    ),
    Column("question", Text, info=NO_STATISTICS, nullable=False, comment="The question after this turn, reformulated."),
    Column("created_at", Timestamp, nullable=False, server_default=text("now()"), comment="When the user replied."),
    PrimaryKeyConstraint("conversation_id", "ordinal", name="turn_pk"),
    CheckConstraint("ordinal between 1 and 3", name="turn_ordinal_is_one_of_three"),
    CheckConstraint("form in ('respond', 'select')", name="turn_form_is_known"),
    CheckConstraint(r"question ~ '\S'", name="turn_question_is_not_blank"),
    Index("turn_run_id_idx", "run_id"),
    comment="One turn of a conversation: the clarifying questions, the reply, and the question afterwards.",
)
