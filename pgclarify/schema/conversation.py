"""Clarifying questions and conversations."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from pgclarify.schema.base import Name, Timestamp, column, metadata, prose, requester_oid

clarifying_question = sa.Table(
    "clarifying_question",
    metadata,
    column("run_id", sa.BigInteger, "The run.", sa.ForeignKey("run.run_id", ondelete="CASCADE")),
    column("ordinal", sa.Integer, "Place in the list, from 1."),
    column(
        "ambiguity_type",
        sa.Text,
        "semantic (it can mean several things), generalize (something broader may be meant) or specify "
        "(something narrower may be meant).",
        null=True,
    ),
    prose("reasoning", "The model's reasoning; null if it gave none.", null=True),
    prose("clarifying_question", "A question to the user; null if there are reformulations to choose from.", null=True),
    prose("reformulation", "What a user who means this would ask; null if the model gave none.", null=True),
    column(
        "is_answerable",
        sa.Boolean,
        "Whether a document of the corpus answers the reformulation; null if it was not checked, or could not be "
        "checked.",
        null=True,
    ),
    sa.PrimaryKeyConstraint("run_id", "ordinal"),
    sa.CheckConstraint("ordinal >= 1", name="clarifying_question_ordinal_counts_from_one"),
    sa.CheckConstraint(
        "ambiguity_type in ('semantic', 'generalize', 'specify')", name="clarifying_question_ambiguity_type_is_known"
    ),
    sa.CheckConstraint(
        "num_nonnulls(clarifying_question, reformulation) >= 1", name="clarifying_question_says_something"
    ),
    comment="A result of clarifying_questions: a question to answer, or a reformulation to choose.",
)

conversation = sa.Table(
    "conversation",
    metadata,
    column("conversation_id", sa.BigInteger, "Key.", sa.Identity(always=True)),
    prose("question", "The original question."),
    column(
        "corpus_id",
        sa.BigInteger,
        "The corpus; null once it was dropped, or if there was none.",
        sa.ForeignKey("corpus.corpus_id", ondelete="SET NULL"),
        null=True,
    ),
    column("corpus_name", sa.Text, "The corpus's name at the time of the question; null without a corpus.", null=True),
    prose("history", "Turns before the question, oldest first.", type_=JSONB, default="'[]'"),
    column("requested_by", Name, "Role that asked; its members may continue."),
    column("created_at", Timestamp, "When it began.", default="now()"),
    requester_oid(),
    sa.PrimaryKeyConstraint("conversation_id"),
    sa.CheckConstraint("jsonb_typeof(history) = 'array'", name="conversation_history_is_an_array"),
    sa.CheckConstraint("corpus_name is not null or corpus_id is null", name="conversation_of_a_corpus_has_its_name"),
    sa.Index("conversation_corpus_id_idx", "corpus_id"),
    sa.Index("conversation_requested_by_oid_conversation_id_idx", "requested_by_oid", "conversation_id"),
    comment=(
        "A question with clarifying questions about it. It begins with the first reply, and has up to three turns."
    ),
)

turn = sa.Table(
    "turn",
    metadata,
    column(
        "conversation_id",
        sa.BigInteger,
        "The conversation.",
        sa.ForeignKey("conversation.conversation_id", ondelete="CASCADE"),
    ),
    column("ordinal", sa.Integer, "Place in the conversation, from 1 to 3."),
    column(
        "run_id",
        sa.BigInteger,
        "The run of clarifying_questions; null once it was deleted.",
        sa.ForeignKey("run.run_id", ondelete="SET NULL"),
        null=True,
    ),
    column("form", sa.Text, "respond (the reply is in the user's words) or select (a reformulation was chosen)."),
    prose("asked", "The clarifying questions, or the reformulations to choose from, one line each."),
    prose("reply", "The reply, or the reformulation that was chosen."),
    prose("question", "The question after this turn, reformulated."),
    column("created_at", Timestamp, "When the user replied.", default="now()"),
    sa.PrimaryKeyConstraint("conversation_id", "ordinal"),
    sa.CheckConstraint("ordinal between 1 and 3", name="turn_ordinal_is_one_of_three"),
    sa.CheckConstraint("form in ('respond', 'select')", name="turn_form_is_known"),
    sa.CheckConstraint(r"question ~ '\S'", name="turn_question_is_not_blank"),
    sa.Index("turn_run_id_idx", "run_id"),
    comment="One turn of a conversation: the clarifying questions, the reply, and the question afterwards.",
)
