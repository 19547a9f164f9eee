"""What a run did, stage by stage."""

from sqlalchemy import BigInteger, CheckConstraint, Column, ForeignKey, Integer, PrimaryKeyConstraint, Table, Text, text
from sqlalchemy.dialects.postgresql import DOUBLE_PRECISION, REAL

from pgclarify.schema.base import NO_STATISTICS, Timestamp, metadata

stage = Table(
    "stage",
    metadata,
    Column(
        "run_id",
        BigInteger,
        ForeignKey("pgclarify_private.run.run_id", name="stage_run_id_fk", ondelete="CASCADE"),
        nullable=False,
        comment="The run.",
    ),
    Column("ordinal", Integer, nullable=False, comment="Place in the order of beginning, from 1."),
    Column(
        "name",
        Text,
        nullable=False,
        comment=(
            "detection, relaxation, retrieval, neighbors, reranking, judgement, confirmation, consolidation, "
            "decomposition, sampling, answering, reasoning, rewriting, questioning, checking or listing."
        ),
    ),
    Column("batch", Integer, comment="The batch of passages, from 1; null without batches."),
    Column("step_ordinal", Integer, comment="The step of an investigation; null for other operations."),
    Column("started_at", Timestamp, nullable=False, comment="When it began."),
    Column("duration_ms", REAL, nullable=False, comment="Milliseconds that it took. Stages may overlap."),
    Column(
        "rows",
        Integer,
        comment="Number of results: passages, verdicts, interpretations, answers; null if nothing is counted.",
    ),
    Column("calls", Integer, nullable=False, comment="Calls that it paid for."),
    Column("reused_calls", Integer, nullable=False, comment="Replies that it took from the ledger."),
    Column("prompt_tokens", BigInteger, nullable=False, comment="Input tokens that it paid for."),
    Column("completion_tokens", BigInteger, nullable=False, comment="Output tokens that it paid for."),
    Column("note", Text, info=NO_STATISTICS, comment="A note; null if there is none."),
    Column(
        "reused_prompt_tokens",
        BigInteger,
        nullable=False,
        server_default=text("0"),
        comment="Input tokens of the replies that it took from the ledger.",
    ),
    Column(
        "reused_completion_tokens",
        BigInteger,
        nullable=False,
        server_default=text("0"),
        comment="Output tokens of the replies that it took from the ledger.",
    ),
    Column(
        "model_ms",
        DOUBLE_PRECISION,
        nullable=False,
        server_default=text("0"),
        comment=("Milliseconds that its calls took, with those whose replies are from the ledger, added up."),
    ),
    PrimaryKeyConstraint("run_id", "ordinal", name="stage_pk"),
    CheckConstraint("ordinal >= 1", name="stage_ordinal_counts_from_one"),
    CheckConstraint(
        "name in ('detection', 'relaxation', 'retrieval', 'neighbors', 'reranking', 'judgement', 'confirmation', "
        "'consolidation', 'decomposition', 'sampling', 'answering', 'reasoning', 'rewriting', 'questioning', "
        "'checking', 'listing')",
        name="stage_name_is_known",
    ),
    CheckConstraint("batch >= 1", name="stage_batch_counts_from_one"),
    CheckConstraint("step_ordinal >= 1", name="stage_step_ordinal_counts_from_one"),
    CheckConstraint("duration_ms >= 0", name="stage_duration_ms_is_not_negative"),
    CheckConstraint("rows >= 0", name="stage_rows_are_not_negative"),
    CheckConstraint("calls >= 0", name="stage_calls_are_not_negative"),
    CheckConstraint("reused_calls >= 0", name="stage_reused_calls_are_not_negative"),
    CheckConstraint("prompt_tokens >= 0", name="stage_prompt_tokens_are_not_negative"),
    CheckConstraint("completion_tokens >= 0", name="stage_completion_tokens_are_not_negative"),
    CheckConstraint("reused_prompt_tokens >= 0", name="stage_reused_prompt_tokens_are_not_negative"),
    CheckConstraint("reused_completion_tokens >= 0", name="stage_reused_completion_tokens_are_not_negative"),
    CheckConstraint("model_ms >= 0", name="stage_model_ms_is_not_negative"),
    comment="The stages of a run. Written at its end; see explain.",
)
