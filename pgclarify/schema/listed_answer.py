"""Listed answers."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from pgclarify.schema.base import Timestamp, column, metadata, prose

listed_answer = sa.Table(
    "listed_answer",
    metadata,
    column("run_id", sa.BigInteger, "The run.", sa.ForeignKey("run.run_id", ondelete="CASCADE")),
    column("ordinal", sa.Integer, "Place in the list, from 1: answers that more documents give come first."),
    prose("answer", "The answer, in its first spelling."),
    prose("variants", "All spellings that were found, the first one first.", type_=ARRAY(sa.Text)),
    column("created_at", Timestamp, "When it was stored.", default="now()"),
    sa.PrimaryKeyConstraint("run_id", "ordinal"),
    sa.CheckConstraint("ordinal >= 1", name="listed_answer_ordinal_counts_from_one"),
    sa.CheckConstraint(r"answer ~ '\S'", name="listed_answer_answer_is_not_blank"),
    sa.CheckConstraint("variants[1] = answer", name="listed_answer_variants_have_the_answer"),
    comment="One answer of a list.",
)
