"""What an investigation asked on its way."""

import sqlalchemy as sa

from pgclarify.declared import columns
from pgclarify.schema.base import Timestamp, column, metadata, result_columns

step = sa.Table(
    "step",
    metadata,
    *result_columns(columns.STEP),
    column("created_at", Timestamp, "When it was decided.", default="now()"),
    column(
        "abstention_code",
        sa.Text,
        "Why there is no evidence, as a code; null unless that is the outcome.",
        null=True,
    ),
    sa.PrimaryKeyConstraint("run_id", "ordinal"),
    sa.CheckConstraint("ordinal >= 1", name="step_ordinal_counts_from_one"),
    sa.CheckConstraint("kind in ('direct', 'follow_up', 'conclusion')", name="step_kind_is_known"),
    sa.CheckConstraint(
        "outcome in ('answered', 'not_in_corpus', 'cut_off', 'failed')",
        name="step_outcome_is_known",
    ),
    sa.CheckConstraint("confidence > 0 and confidence <= 1", name="step_confidence_is_a_share"),
    sa.CheckConstraint("semantic_sets >= 1", name="step_semantic_sets_count_from_one"),
    sa.CheckConstraint("(outcome = 'answered') = (answer is not null)", name="step_answered_has_an_answer"),
    sa.CheckConstraint("(answer is not null) = (confidence is not null)", name="step_answer_has_a_confidence"),
    sa.CheckConstraint(r"answer ~ '\S'", name="step_answer_is_not_blank"),
    sa.CheckConstraint(
        "abstention_code in ('not_answered', 'no_passage', 'unproven')",
        name="step_abstention_code_is_known",
    ),
    sa.CheckConstraint("abstention_code is null or outcome = 'not_in_corpus'", name="step_abstention_has_no_evidence"),
    sa.Index("step_conclusion_key", "run_id", unique=True, postgresql_where=sa.text("kind = 'conclusion'")),
    comment="A question of an investigation, and its answer. Written while the run is not over.",
)
