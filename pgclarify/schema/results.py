"""The tables of results, with the columns that the operations declare, and what else must hold of their rows."""

from collections.abc import Mapping
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, DOUBLE_PRECISION, JSONB, REAL
from sqlalchemy.schema import SchemaItem

from pgclarify.declared.forms import Column, Table
from pgclarify.declared.functions import RESULT_VIEWS
from pgclarify.schema.base import Timestamp, column, metadata, prose, word_is_known

TYPES: Final[Mapping[str, Any]] = {
    "bigint": sa.BigInteger,
    "boolean": sa.Boolean,
    "double precision": DOUBLE_PRECISION,
    "integer": sa.Integer,
    "jsonb": JSONB,
    "numeric": sa.Numeric,
    "real": REAL,
    "text": sa.Text,
    "text[]": ARRAY(sa.Text),
    "timestamptz": Timestamp,
}
_RULES: Final[Mapping[str, tuple[SchemaItem, ...]]] = {
    "interpretation": (
        sa.CheckConstraint("support >= 1", name="interpretation_is_supported"),
        word_is_known("interpretation.doubt"),
        sa.CheckConstraint("probability between 0 and 1", name="interpretation_probability_is_a_share"),
        word_is_known("interpretation.level"),
    ),
    "step": (
        word_is_known("step.kind"),
        word_is_known("step.outcome"),
        sa.CheckConstraint("confidence > 0 and confidence <= 1", name="step_confidence_is_a_share"),
        sa.CheckConstraint("semantic_sets >= 1", name="step_semantic_sets_count_from_one"),
        sa.CheckConstraint("(outcome = 'answered') = (answer is not null)", name="step_answered_has_an_answer"),
        sa.CheckConstraint("(answer is not null) = (confidence is not null)", name="step_answer_has_a_confidence"),
        sa.CheckConstraint(r"answer ~ '\S'", name="step_answer_is_not_blank"),
        word_is_known("step.abstention_code"),
        sa.CheckConstraint(
            "abstention_code is null or outcome = 'not_in_corpus'", name="step_abstention_has_no_evidence"
        ),
        sa.Index("step_conclusion_key", "run_id", unique=True, postgresql_where=sa.text("kind = 'conclusion'")),
    ),
    "detection": (
        sa.CheckConstraint("probability between 0 and 1", name="detection_probability_is_a_share"),
        word_is_known("detection.kind"),
        sa.CheckConstraint("jsonb_typeof(reasons) = 'array'", name="detection_reasons_are_an_array"),
        sa.CheckConstraint("is_ambiguous = (kind is not null)", name="detection_ambiguous_has_a_kind"),
    ),
    "clarifying_question": (
        word_is_known("clarifying_question.ambiguity_type"),
        sa.CheckConstraint(
            "num_nonnulls(clarifying_question, reformulation) >= 1", name="clarifying_question_says_something"
        ),
    ),
    "listed_answer": (
        sa.CheckConstraint(r"answer ~ '\S'", name="listed_answer_answer_is_not_blank"),
        sa.CheckConstraint("variants[1] = answer", name="listed_answer_variants_have_the_answer"),
    ),
    "estimate": (
        sa.CheckConstraint(
            "distinct_questions between 1 and questions", name="estimate_distinct_questions_are_questions"
        ),
        sa.CheckConstraint(
            "answered between 0 and distinct_questions", name="estimate_answered_are_distinct_questions"
        ),
        sa.CheckConstraint(
            "sampled between 0 and distinct_questions - answered", name="estimate_sampled_are_not_answered"
        ),
        sa.CheckConstraint("calls >= 0", name="estimate_calls_are_not_negative"),
        sa.CheckConstraint("calls_at_most >= calls", name="estimate_calls_at_most_are_no_less"),
        sa.CheckConstraint("reused_calls >= 0", name="estimate_reused_calls_are_not_negative"),
        sa.CheckConstraint("prompt_tokens >= 0", name="estimate_prompt_tokens_are_not_negative"),
        sa.CheckConstraint("completion_tokens >= 0", name="estimate_completion_tokens_are_not_negative"),
        sa.CheckConstraint("cost_usd >= 0", name="estimate_cost_usd_is_not_negative"),
    ),
}


def _column(declared: Column) -> sa.Column[Any]:
    make = prose if declared.is_prose else column
    return make(
        declared.name,
        type_=TYPES[declared.type],
        comment=declared.meaning,
        null=declared.null,
        default=declared.sql_default,
    )


def _table(declared: Table) -> sa.Table:
    has_ordinal = any(one.name == "ordinal" for one in declared.columns)
    key = ("run_id", "ordinal") if has_ordinal else ("run_id",)
    counts = sa.CheckConstraint("ordinal >= 1", name=f"{declared.name}_ordinal_counts_from_one")
    return sa.Table(
        declared.name,
        metadata,
        column("run_id", sa.BigInteger, "The run.", sa.ForeignKey("run.run_id", ondelete="CASCADE")),
        *map(_column, declared.columns),
        sa.PrimaryKeyConstraint(*key),
        *((counts,) if has_ordinal else ()),
        *_RULES.get(declared.name, ()),
        comment=declared.meaning,
    )


TABLES: Final = tuple(_table(rows.table) for rows in RESULT_VIEWS if rows.table is not None)
