"""Clarifying questions."""

import sqlalchemy as sa

from pgclarify.schema.base import column, metadata, prose

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
    prose("reformulation", "What a user who means this would ask; null if there are questions to answer.", null=True),
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
