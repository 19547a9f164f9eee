"""Rules of ambiguity, what was detected and what was rewritten."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, REAL

from pgclarify.data.vocabulary import AmbiguityKind
from pgclarify.declared.words import listed
from pgclarify.schema.base import Timestamp, column, metadata, prose, word_is_known

ambiguity_rule = sa.Table(
    "ambiguity_rule",
    metadata,
    column("ambiguity_rule_id", sa.BigInteger, "Key.", sa.Identity(always=True)),
    prose(
        "pattern",
        r"Regular expression of 1 to 500 characters, found anywhere in a question (advanced syntax, as for "
        r"operator ~*: letters match in any case; \m and \M are the begin and end of a word).",
    ),
    column("kind", sa.Text, f"{listed(AmbiguityKind)}."),
    column(
        "corpus",
        sa.Text,
        "Name of the corpus whose questions it applies to; null for all questions, also those without a corpus.",
        null=True,
    ),
    prose(
        "note", "Why such a question is ambiguous, shown to the user among the reasons; null for no note.", null=True
    ),
    column("created_at", Timestamp, "When it was made.", default="now()"),
    column(
        "corpus_id",
        sa.BigInteger,
        "That corpus: another one may have its name later.",
        sa.ForeignKey("corpus.corpus_id", ondelete="CASCADE"),
        null=True,
    ),
    sa.PrimaryKeyConstraint("ambiguity_rule_id"),
    sa.CheckConstraint("length(pattern) between 1 and 500 and not '' ~* pattern", name="ambiguity_rule_pattern_is_fit"),
    word_is_known("ambiguity_rule.kind"),
    sa.CheckConstraint("length(note) between 1 and 500", name="ambiguity_rule_note_is_short"),
    sa.CheckConstraint("(corpus is null) = (corpus_id is null)", name="ambiguity_rule_corpus_has_a_name"),
    sa.Index("ambiguity_rule_corpus_id_idx", "corpus_id"),
    comment="A question that matches a rule is ambiguous; add_ambiguity_rule and remove_ambiguity_rule write it.",
)

trained_classifier = sa.Table(
    "trained_classifier",
    metadata,
    column("trained_classifier_id", sa.BigInteger, "Key.", sa.Identity(always=True)),
    column("corpus_id", sa.BigInteger, "The corpus.", sa.ForeignKey("corpus.corpus_id", ondelete="CASCADE")),
    column("version", sa.Integer, "Its number in its corpus, from 1."),
    column("shipped_version", sa.Text, "Version of the classifier that ships which it corrects."),
    column("examples", sa.Integer, "Different labelled questions that it was trained on."),
    column(
        "threshold",
        REAL,
        "The probability from which a question counts as ambiguous, unless a caller passes another one.",
    ),
    column("judges_questions", sa.Boolean, "Whether it judges questions before which nothing was said."),
    column("judges_conversations", sa.Boolean, "Whether it judges questions with a history."),
    column(
        "figures",
        JSONB,
        "How well it tells ambiguous questions from clear ones, beside the classifier that ships: what "
        "eval train-ambiguity prints.",
    ),
    column(
        "is_better",
        sa.Boolean,
        "Whether its F1 was higher than that of the classifier that ships, by the whole 95 % interval of the "
        "difference.",
    ),
    column("is_used", sa.Boolean, "Whether it judges the questions of the corpus; at most one does.", default="false"),
    column(
        "weights",
        ARRAY(REAL),
        "What it learned: single-precision numbers, in the order that "
        "pgclarify/algorithms/ambiguity/correction.py gives.",
    ),
    sa.PrimaryKeyConstraint("trained_classifier_id"),
    sa.UniqueConstraint("corpus_id", "version", name="trained_classifier_version_key"),
    sa.CheckConstraint("version >= 1", name="trained_classifier_version_is_positive"),
    sa.CheckConstraint("examples >= 1", name="trained_classifier_examples_are_positive"),
    sa.CheckConstraint("threshold between 0 and 1", name="trained_classifier_threshold_is_a_share"),
    sa.CheckConstraint("judges_questions or judges_conversations", name="trained_classifier_judges_something"),
    sa.CheckConstraint(
        "jsonb_typeof(figures) = 'object' and length(figures::text) <= 10000",
        name="trained_classifier_figures_are_an_object",
    ),
    sa.CheckConstraint("length(shipped_version) between 1 and 100", name="trained_classifier_shipped_version_is_short"),
    sa.CheckConstraint(
        "array_ndims(weights) = 1 and cardinality(weights) between 1 and 100000 "
        "and array_position(weights, null) is null and not weights && array['NaN', 'Infinity', '-Infinity']::real[]",
        name="trained_classifier_weights_are_finite",
    ),
    sa.Index("trained_classifier_is_used_idx", "corpus_id", unique=True, postgresql_where=sa.text("is_used")),
    comment="A version of the classifier of ambiguity that was trained on labelled questions of a corpus.",
)
