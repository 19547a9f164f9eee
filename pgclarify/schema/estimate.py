"""Estimates."""

from sqlalchemy import BigInteger, CheckConstraint, Column, ForeignKey, Numeric, PrimaryKeyConstraint, Table

from pgclarify.schema.base import metadata

estimate = Table(
    "estimate",
    metadata,
    Column(
        "run_id",
        BigInteger,
        ForeignKey("pgclarify.run.run_id", name="estimate_run_id_fk", ondelete="CASCADE"),
        nullable=False,
        comment="The run.",
    ),
    Column("questions", BigInteger, nullable=False, comment="How many questions were given."),
    Column("distinct_questions", BigInteger, nullable=False, comment="How many different ones."),
    Column(
        "answered",
        BigInteger,
        nullable=False,
        comment="How many of these would be served from an earlier run, with no call.",
    ),
    Column(
        "sampled",
        BigInteger,
        nullable=False,
        comment="How many of the others were looked at; if not all of them, the figures are scaled up from these.",
    ),
    Column(
        "calls",
        BigInteger,
        nullable=False,
        comment="About how many calls of the language model would be made and paid for; equal ones once.",
    ),
    Column(
        "calls_at_most",
        BigInteger,
        nullable=False,
        comment="No more than that many, but for replies that do not fit and are asked for once more.",
    ),
    Column(
        "reused_calls",
        BigInteger,
        nullable=False,
        comment="About how many further calls need not be made: their replies are in the ledger.",
    ),
    Column("prompt_tokens", BigInteger, nullable=False, comment="About how many input tokens the calls have."),
    Column("completion_tokens", BigInteger, nullable=False, comment="About how many output tokens they have."),
    Column(
        "cost_usd",
        Numeric,
        comment=(
            "About what the calls cost in US dollars, by the price that the model had when it was estimated; null if "
            "it had none."
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
    comment="What a run of estimate came to: what questions would take.",
)
