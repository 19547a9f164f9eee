"""Answers one by one."""

from sqlalchemy import BigInteger, CheckConstraint, Column, ForeignKey, Integer, PrimaryKeyConstraint, Table, Text, text
from sqlalchemy.dialects.postgresql import ARRAY

from pgclarify.schema.base import Timestamp, metadata

listed_answer = Table(
    "listed_answer",
    metadata,
    Column(
        "run_id",
        BigInteger,
        ForeignKey("pgclarify.run.run_id", name="listed_answer_run_id_fk", ondelete="CASCADE"),
        nullable=False,
        comment="The run.",
    ),
    Column("ordinal", Integer, nullable=False, comment="The order in which they were found, from 1."),
    Column("answer", Text, nullable=False, comment="The answer, as it was first found."),
    Column(
        "variants", ARRAY(Text), nullable=False, comment="Spellings in which it was found, the answer itself first."
    ),
    Column("created_at", Timestamp, nullable=False, server_default=text("now()"), comment="When it was found."),
    PrimaryKeyConstraint("run_id", "ordinal", name="listed_answer_pk"),
    CheckConstraint("ordinal >= 1", name="listed_answer_ordinal_counts_from_one"),
    CheckConstraint(r"answer ~ '\S'", name="listed_answer_answer_is_not_blank"),
    CheckConstraint("variants[1] = answer", name="listed_answer_variants_have_the_answer"),
    comment="One answer of several, each found knowing those before it. Written as it is found.",
)
