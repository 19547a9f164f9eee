"""Listed answers."""

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Integer, PrimaryKeyConstraint, Table, Text
from sqlalchemy.dialects.postgresql import ARRAY

from pgclarify.schema.base import Timestamp, column, metadata

listed_answer = Table(
    "listed_answer",
    metadata,
    column("run_id", BigInteger, "The run.", ForeignKey("run.run_id", ondelete="CASCADE")),
    column("ordinal", Integer, "Place in the list, from 1: answers that more documents give come first."),
    column("answer", Text, "The answer, in its first spelling.", has_statistics=False),
    column("variants", ARRAY(Text), "All spellings that were found, the first one first.", has_statistics=False),
    column("created_at", Timestamp, "When it was stored.", default="now()"),
    PrimaryKeyConstraint("run_id", "ordinal"),
    CheckConstraint("ordinal >= 1", name="listed_answer_ordinal_counts_from_one"),
    CheckConstraint(r"answer ~ '\S'", name="listed_answer_answer_is_not_blank"),
    CheckConstraint("variants[1] = answer", name="listed_answer_variants_have_the_answer"),
    comment="One answer of a list.",
)
