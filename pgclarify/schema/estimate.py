"""Estimates."""

from sqlalchemy import BigInteger, CheckConstraint, Column, ForeignKey, Numeric, PrimaryKeyConstraint, Table

from pgclarify.schema.base import metadata

estimate = Table(
    "estimate",
    metadata,
    Column(
        "run_id",
        BigInteger,
        ForeignKey("pgclarify_private.run.run_id", name="estimate_run_id_fk", ondelete="CASCADE"),
        nullable=False,
        comment="The run.",
    ),
    Column("questions", BigInteger, nullable=False, comment="How many questions were given."),
    Column("distinct_questions", BigInteger, nullable=False, comment="How many of them are different."),
    Column(
        "answered",
        BigInteger,
        nullable=False,
        comment="How many of these an earlier run has answered, so that they need no call.",
    ),
    Column(
        "sampled",
        BigInteger,
        nullable=False,
        comment="How many of the others were examined. If not all were, the figures are scaled up from these.",
    ),
    Column(
        "calls",
        BigInteger,
        nullable=False,
        comment="About how many calls of the language model would be made and paid for; equal calls count once.",
    ),
    Column(
        "calls_at_most",
        BigInteger,
        nullable=False,
        comment="At most so many calls, except for calls that are repeated because their reply was invalid.",
    ),
    Column(
        "reused_calls",
        BigInteger,
        nullable=False,
        comment="About how many further calls are needed whose replies are in the ledger.",
    ),
    Column("prompt_tokens", BigInteger, nullable=False, comment="About how many input tokens the calls have."),
    Column("completion_tokens", BigInteger, nullable=False, comment="About how many output tokens they have."),
    Column(
        "cost_usd",
        Numeric,
        comment=(
            "About what the calls cost in US dollars, by the model's price at the time of the estimate; null if it "
            "had none."
        ),
    ),
    PrimaryKeyConstraint("run_id", name="estimate_pk"),
    CheckConstraint("questions >= 1", name="estimate_questions_are_positive"),
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
