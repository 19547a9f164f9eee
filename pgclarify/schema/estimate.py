"""Estimates."""

import sqlalchemy as sa

from pgclarify.declared import columns
from pgclarify.schema.base import metadata, result_columns

estimate = sa.Table(
    "estimate",
    metadata,
    *result_columns(columns.ESTIMATE),
    sa.PrimaryKeyConstraint("run_id"),
    sa.CheckConstraint("distinct_questions between 1 and questions", name="estimate_distinct_questions_are_questions"),
    sa.CheckConstraint("answered between 0 and distinct_questions", name="estimate_answered_are_distinct_questions"),
    sa.CheckConstraint("sampled between 0 and distinct_questions - answered", name="estimate_sampled_are_not_answered"),
    sa.CheckConstraint("calls >= 0", name="estimate_calls_are_not_negative"),
    sa.CheckConstraint("calls_at_most >= calls", name="estimate_calls_at_most_are_no_less"),
    sa.CheckConstraint("reused_calls >= 0", name="estimate_reused_calls_are_not_negative"),
    sa.CheckConstraint("prompt_tokens >= 0", name="estimate_prompt_tokens_are_not_negative"),
    sa.CheckConstraint("completion_tokens >= 0", name="estimate_completion_tokens_are_not_negative"),
    sa.CheckConstraint("cost_usd >= 0", name="estimate_cost_usd_is_not_negative"),
    comment="The result of a run of estimate: what questions would cost.",
)
