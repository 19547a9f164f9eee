"""What an investigation asked on its way."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import REAL

from pgclarify.schema.base import NO_STATISTICS, Timestamp, metadata

step = Table(
    "step",
    metadata,
    Column(
        "run_id",
        BigInteger,
        ForeignKey("pgclarify_private.run.run_id", name="step_run_id_fk", ondelete="CASCADE"),
        nullable=False,
        comment="The run.",
    ),
    Column("ordinal", Integer, nullable=False, comment="Place in the chain, from 1; the conclusion is the last one."),
    Column(
        "kind",
        Text,
        nullable=False,
        comment=(
            "direct (the question itself, without a follow-up), follow_up (a question that it depends on) or "
            "conclusion (the answer to the whole question)."
        ),
    ),
    Column("question", Text, info=NO_STATISTICS, nullable=False, comment="The question."),
    Column("answer", Text, info=NO_STATISTICS, comment="Its answer; null unless answered."),
    Column(
        "outcome",
        Text,
        nullable=False,
        comment=(
            "answered, not_in_corpus (there is no evidence), repeated (it was asked before), contradicted (steps "
            "contradict each other, and the evidence does not decide), cut_off (the limit on calls was reached) or "
            "failed (the model could not be reached or understood)."
        ),
    ),
    Column("confidence", REAL, comment="Confidence in the answer, above 0 and up to 1; null unless answered."),
    Column(
        "reason",
        Text,
        info=NO_STATISTICS,
        comment="Why there is no answer, or a remark on the answer; null if there is nothing to say.",
    ),
    Column(
        "semantic_sets",
        Integer,
        comment="How many groups of equal meaning the sampled answers form; null if no answers were sampled.",
    ),
    Column("created_at", Timestamp, nullable=False, server_default=text("now()"), comment="When it was decided."),
    Column(
        "abstention_code",
        Text,
        comment="Why there is no evidence, as a code; null unless that is the outcome, and for older steps.",
    ),
    PrimaryKeyConstraint("run_id", "ordinal", name="step_pk"),
    CheckConstraint("ordinal >= 1", name="step_ordinal_counts_from_one"),
    CheckConstraint("kind in ('direct', 'follow_up', 'conclusion')", name="step_kind_is_known"),
    CheckConstraint(
        "outcome in ('answered', 'not_in_corpus', 'repeated', 'contradicted', 'cut_off', 'failed')",
        name="step_outcome_is_known",
    ),
    CheckConstraint("confidence > 0 and confidence <= 1", name="step_confidence_is_a_share"),
    CheckConstraint("semantic_sets >= 1", name="step_semantic_sets_count_from_one"),
    CheckConstraint("(outcome = 'answered') = (answer is not null)", name="step_answered_has_an_answer"),
    CheckConstraint("(answer is not null) = (confidence is not null)", name="step_answer_has_a_confidence"),
    CheckConstraint(r"answer ~ '\S'", name="step_answer_is_not_blank"),
    CheckConstraint(
        "abstention_code in ('not_answered', 'no_passage', 'unproven', 'limit', 'budget', 'failed_calls')",
        name="step_abstention_code_is_known",
    ),
    CheckConstraint("abstention_code is null or outcome = 'not_in_corpus'", name="step_abstention_has_no_evidence"),
    Index("step_conclusion_key", "run_id", unique=True, postgresql_where=text("kind = 'conclusion'")),
    comment="A question of an investigation, and its answer. Written while the run is not over.",
)

step_citation = Table(
    "step_citation",
    metadata,
    Column("run_id", BigInteger, nullable=False, comment="The run."),
    Column("step_ordinal", Integer, nullable=False, comment="The step."),
    Column("rank", Integer, nullable=False, comment="Place among its citations, from 1."),
    Column(
        "candidate_rank",
        Integer,
        nullable=False,
        comment="The candidate's rank in the run; a conclusion cites candidates of other steps.",
    ),
    Column("corpus_id", BigInteger, nullable=False, comment="The corpus."),
    Column("document_id", Text, nullable=False, comment="The document."),
    Column("passage_id", BigInteger, nullable=False, comment="The passage."),
    Column("heading", Text, info=NO_STATISTICS, comment="Headings above the passage when it was cited; null if none."),
    Column("quote", Text, info=NO_STATISTICS, nullable=False, comment="The words that prove the answer, verbatim."),
    Column("start_char", Integer, nullable=False, comment="Offset of the quote in the document, from 0."),
    Column("end_char", Integer, nullable=False, comment="Offset of the end of the quote."),
    PrimaryKeyConstraint("run_id", "step_ordinal", "rank", name="step_citation_pk"),
    CheckConstraint("rank >= 1", name="step_citation_rank_counts_from_one"),
    ForeignKeyConstraint(
        ["run_id", "step_ordinal"],
        ["pgclarify_private.step.run_id", "pgclarify_private.step.ordinal"],
        name="step_citation_step_fk",
        ondelete="CASCADE",
    ),
    comment="A passage that proves the answer of a step. Quote and ids stay when the document is removed.",
)
