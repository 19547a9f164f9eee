"""Listed answers."""

import sqlalchemy as sa

from pgclarify.declared import columns
from pgclarify.schema.base import Timestamp, column, metadata, result_columns

listed_answer = sa.Table(
    "listed_answer",
    metadata,
    *result_columns(columns.LISTED_ANSWER),
    column("created_at", Timestamp, "When it was stored.", default="now()"),
    sa.PrimaryKeyConstraint("run_id", "ordinal"),
    sa.CheckConstraint("ordinal >= 1", name="listed_answer_ordinal_counts_from_one"),
    sa.CheckConstraint(r"answer ~ '\S'", name="listed_answer_answer_is_not_blank"),
    sa.CheckConstraint("variants[1] = answer", name="listed_answer_variants_have_the_answer"),
    comment="One answer of a list.",
)
