"""Clarifying questions."""

import sqlalchemy as sa

from pgclarify.declared import columns
from pgclarify.schema.base import metadata, result_columns

clarifying_question = sa.Table(
    "clarifying_question",
    metadata,
    *result_columns(columns.CLARIFYING_QUESTION),
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
