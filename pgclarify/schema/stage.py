"""What a run did, stage by stage."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import DOUBLE_PRECISION, JSONB, REAL

from pgclarify.data.vocabulary import StageName
from pgclarify.declared.words import listed
from pgclarify.schema.base import Timestamp, column, count, metadata, prose, word_is_known

stage = sa.Table(
    "stage",
    metadata,
    column("run_id", sa.BigInteger, "The run.", sa.ForeignKey("run.run_id", ondelete="CASCADE")),
    column("ordinal", sa.Integer, "Place in the order of beginning, from 1."),
    column(
        "name",
        sa.Text,
        f"{listed(StageName, with_meanings=False)}.",
    ),
    column("batch", sa.Integer, "The batch of passages, from 1; null without batches.", null=True),
    column("step_ordinal", sa.Integer, "The step of an investigation; null for other operations.", null=True),
    column("started_at", Timestamp, "When it began."),
    column("duration_ms", REAL, "Milliseconds that it took. Stages may overlap."),
    column(
        "rows",
        sa.Integer,
        "Number of results: passages, verdicts, interpretations, answers; null if nothing is counted.",
        null=True,
    ),
    column("calls", sa.Integer, "Calls that it paid for."),
    column("reused_calls", sa.Integer, "Replies that it took from the ledger."),
    column("prompt_tokens", sa.BigInteger, "Input tokens that it paid for."),
    column("completion_tokens", sa.BigInteger, "Output tokens that it paid for."),
    prose("note", "A note; null if there is none.", null=True),
    count("reused_prompt_tokens", "Input tokens of the replies that it took from the ledger."),
    count("reused_completion_tokens", "Output tokens of the replies that it took from the ledger."),
    column(
        "model_ms",
        DOUBLE_PRECISION,
        "Milliseconds that its calls took, with those whose replies are from the ledger, added up.",
        default="0",
    ),
    prose(
        "mends",
        "How many replies had their form mended, by kind: an object; null if none had.",
        type_=JSONB,
        null=True,
    ),
    sa.PrimaryKeyConstraint("run_id", "ordinal"),
    sa.CheckConstraint("ordinal >= 1", name="stage_ordinal_counts_from_one"),
    word_is_known("stage.name"),
    sa.CheckConstraint("batch >= 1", name="stage_batch_counts_from_one"),
    sa.CheckConstraint("step_ordinal >= 1", name="stage_step_ordinal_counts_from_one"),
    sa.CheckConstraint("duration_ms >= 0", name="stage_duration_ms_is_not_negative"),
    sa.CheckConstraint("rows >= 0", name="stage_rows_are_not_negative"),
    sa.CheckConstraint("calls >= 0", name="stage_calls_are_not_negative"),
    sa.CheckConstraint("reused_calls >= 0", name="stage_reused_calls_are_not_negative"),
    sa.CheckConstraint("prompt_tokens >= 0", name="stage_prompt_tokens_are_not_negative"),
    sa.CheckConstraint("completion_tokens >= 0", name="stage_completion_tokens_are_not_negative"),
    sa.CheckConstraint("reused_prompt_tokens >= 0", name="stage_reused_prompt_tokens_are_not_negative"),
    sa.CheckConstraint("reused_completion_tokens >= 0", name="stage_reused_completion_tokens_are_not_negative"),
    sa.CheckConstraint("model_ms >= 0", name="stage_model_ms_is_not_negative"),
    comment="The stages of a run. Written at its end; see explain.",
)
