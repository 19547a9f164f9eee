"""Estimates."""

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Numeric, PrimaryKeyConstraint, Table

from pgclarify.schema.base import column, metadata

estimate = Table(
    "estimate",
    metadata,
    column("run_id", BigInteger, "The run.", ForeignKey("run.run_id", ondelete="CASCADE")),
    column("questions", BigInteger, "How many questions were given."),
    column("distinct_questions", BigInteger, "How many of them are different."),
    column("answered", BigInteger, "How many of these an earlier run has answered, so that they need no call."),
    column(
        "sampled",
        BigInteger,
        "How many of the others were examined. If not all were, the figures are scaled up from these.",
    ),
    column(
        "calls",
        BigInteger,
        "About how many calls of the language model would be made and paid for; equal calls count once.",
    ),
    column(
        "calls_at_most",
        BigInteger,
        "At most so many calls, except for calls that are repeated because their reply was invalid.",
    ),
    column("reused_calls", BigInteger, "About how many further calls are needed whose replies are in the ledger."),
    column("prompt_tokens", BigInteger, "About how many input tokens the calls have."),
    column("completion_tokens", BigInteger, "About how many output tokens they have."),
    column(
        "cost_usd",
        Numeric,
        "About what the calls cost in US dollars, by the model's price at the time of the estimate; null if it "
        "had none.",
        null=True,
    ),
    PrimaryKeyConstraint("run_id"),
    CheckConstraint("distinct_questions between 1 and questions", name="estimate_distinct_questions_are_questions"),
    CheckConstraint("answered between 0 and distinct_questions", name="estimate_answered_are_distinct_questions"),
    CheckConstraint("sampled between 0 and distinct_questions - answered", name="estimate_sampled_are_not_answered"),
    CheckConstraint("calls >= 0", name="estimate_calls_are_not_negative"),
    CheckConstraint("calls_at_most >= calls", name="estimate_calls_at_most_are_no_less"),
    CheckConstraint("reused_calls >= 0", name="estimate_reused_calls_are_not_negative"),
    CheckConstraint("prompt_tokens >= 0", name="estimate_prompt_tokens_are_not_negative"),
    CheckConstraint("completion_tokens >= 0", name="estimate_completion_tokens_are_not_negative"),
    CheckConstraint("cost_usd >= 0", name="estimate_cost_usd_is_not_negative"),
    comment="The result of a run of estimate: what questions would cost.",
)
