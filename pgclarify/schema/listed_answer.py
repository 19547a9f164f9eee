"""Answers one by one."""

from sqlalchemy import BigInteger, CheckConstraint, Column, ForeignKey, Integer, PrimaryKeyConstraint, Table, Text, text
from sqlalchemy.dialects.postgresql import ARRAY

from pgclarify.schema.base import NO_STATISTICS, Timestamp, metadata

listed_answer = Table(
    "listed_answer",
    metadata,
    Column(
        "run_id",
        BigInteger,
        ForeignKey("pgclarify_private.run.run_id", name="listed_answer_run_id_fk", ondelete="CASCADE"),
        nullable=False,
        comment="The run.",
    ),
    Column("ordinal", Integer, nullable=False, comment="Place in the order in which answers were found, from 1."),
    Column("answer", Text, info=NO_STATISTICS, nullable=False, comment="The answer, in its first spelling."),
    Column(
        "variants",
        ARRAY(Text),
        info=NO_STATISTICS,
        nullable=False,
        comment="All spellings that were found, the first one first.",
    ),
    Column("created_at", Timestamp, nullable=False, server_default=text("now()"), comment="When it was found."),
    PrimaryKeyConstraint("run_id", "ordinal", name="listed_answer_pk"),
    CheckConstraint("ordinal >= 1", name="listed_answer_ordinal_counts_from_one"),
    CheckConstraint(r"answer ~ '\S'", name="listed_answer_answer_is_not_blank"),
    CheckConstraint("variants[1] = answer", name="listed_answer_variants_have_the_answer"),
    comment="One answer of a list, found with knowledge of those before it. Written when it is found.",
)
