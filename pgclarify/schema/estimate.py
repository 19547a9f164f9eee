"""Estimates."""

import sqlalchemy as sa

from pgclarify.schema.base import column, metadata

estimate = sa.Table(
    "estimate",
    metadata,
    column("run_id", sa.BigInteger, "The run.", sa.ForeignKey("run.run_id", ondelete="CASCADE")),
    column("questions", sa.BigInteger, "How many questions were given."),
    column("distinct_questions", sa.BigInteger, "How many of them are different."),
    column("answered", sa.BigInteger, "How many of these an earlier run has answered, so that they need no call."),
    column(
        "sampled",
        sa.BigInteger,
        "How many of the others were examined. If not all were, the figures are scaled up from these.",
    ),
    column(
        "calls",
        sa.BigInteger,
        "About how many calls of the language model would be made and paid for; equal calls count once.",
    ),
    column(
        "calls_at_most",
        sa.BigInteger,
        "At most so many calls, except for calls that are repeated because their reply was invalid.",
    ),
    column("reused_calls", sa.BigInteger, "About how many further calls are needed whose replies are in the ledger."),
    column("prompt_tokens", sa.BigInteger, "About how many input tokens the calls have."),
    column("completion_tokens", sa.BigInteger, "About how many output tokens they have."),
    column(
        "cost_usd",
        sa.Numeric,
        "About what the calls cost in US dollars, by the model's price at the time of the estimate; null if it "
        "had none.",
        null=True,
    ),
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
