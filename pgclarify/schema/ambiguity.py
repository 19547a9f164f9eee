"""Rules of ambiguity, what was detected and what was rewritten."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Identity,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, REAL

from pgclarify.schema.base import NO_STATISTICS, Name, Timestamp, metadata

ambiguity_rule = Table(
    "ambiguity_rule",
    metadata,
    Column("ambiguity_rule_id", BigInteger, Identity(always=True), nullable=False, comment="Key."),
    Column(
        "pattern",
        Text,
        info=NO_STATISTICS,
        nullable=False,
        comment=(
            r"Regular expression of 1 to 500 characters, found anywhere in a question (advanced syntax, as for "
            r"operator ~*: letters match in any case; \m and \M are the begin and end of a word)."
        ),
    ),
    Column(
        "kind",
        Text,
        nullable=False,
        comment=(
            "pragmatic (what it refers to is missing), syntactic (it is vague) or lexical (a name or word with several "
            "meanings)."
        ),
    ),
    Column(
        "corpus",
        Text,
        ForeignKey(
            "pgclarify_private.corpus.name", name="ambiguity_rule_corpus_fk", onupdate="CASCADE", ondelete="CASCADE"
        ),
        comment="Corpus whose questions it applies to; null for all questions, also those without a corpus.",
    ),
    Column(
        "note",
        Text,
        info=NO_STATISTICS,
        comment="Why such a question is ambiguous, shown to the user among the reasons; null for no note.",
    ),
    Column("created_at", Timestamp, nullable=False, server_default=text("now()"), comment="When it was made."),
    PrimaryKeyConstraint("ambiguity_rule_id", name="ambiguity_rule_pk"),
    CheckConstraint("length(pattern) between 1 and 500 and not '' ~* pattern", name="ambiguity_rule_pattern_is_fit"),
    CheckConstraint("kind in ('pragmatic', 'syntactic', 'lexical')", name="ambiguity_rule_kind_is_known"),
    CheckConstraint("length(note) between 1 and 500", name="ambiguity_rule_note_is_short"),
    Index("ambiguity_rule_corpus_idx", "corpus"),
    comment=("A question that matches a rule is ambiguous; add_ambiguity_rule and remove_ambiguity_rule write it."),
)

detection = Table(
    "detection",
    metadata,
    Column(
        "run_id",
        BigInteger,
        ForeignKey("pgclarify_private.run.run_id", name="detection_run_id_fk", ondelete="CASCADE"),
        nullable=False,
        comment="The run.",
    ),
    Column("ordinal", Integer, nullable=False, comment="Place of the question in the run, from 1."),
    Column("question", Text, info=NO_STATISTICS, nullable=False, comment="The question."),
    Column(
        "is_ambiguous",
        Boolean,
        nullable=False,
        comment="True if the probability reaches the threshold of the run, or a rule says so.",
    ),
    Column(
        "probability",
        REAL,
        comment=(
            "Probability that it is ambiguous, from 0 to 1; 1 if a rule matched; null for a question in another "
            "language than English."
        ),
    ),
    Column(
        "kind",
        Text,
        comment=(
            "pragmatic (what it refers to is missing or in the history), syntactic (it is vague or under-specified) or "
            "lexical (a name or word with several meanings); null unless ambiguous."
        ),
    ),
    Column(
        "reasons",
        JSONB,
        info=NO_STATISTICS,
        nullable=False,
        comment=(
            "The reasons: array of objects with source (classifier, feature, rule or corpus), name and text, and for "
            "a corpus document_ids."
        ),
    ),
    Column("classifier_version", Text, nullable=False, comment="Version of the classifier."),
    PrimaryKeyConstraint("run_id", "ordinal", name="detection_pk"),
    CheckConstraint("ordinal >= 1", name="detection_ordinal_counts_from_one"),
    CheckConstraint("probability between 0 and 1", name="detection_probability_is_a_share"),
    CheckConstraint("kind in ('pragmatic', 'syntactic', 'lexical')", name="detection_kind_is_known"),
    CheckConstraint("jsonb_typeof(reasons) = 'array'", name="detection_reasons_are_an_array"),
    CheckConstraint("is_ambiguous = (kind is not null)", name="detection_ambiguous_has_a_kind"),
    Index(
        "detection_document_ids_idx",
        text("jsonb_path_query_array(reasons, '$[*].document_ids[*]')"),
        postgresql_using="gin",
        info=NO_STATISTICS,
    ),
    Index(
        "detection_unattributed_idx",
        "run_id",
        postgresql_where=text("reasons @? '$[*] ? (@.source == \"corpus\" && !exists(@.document_ids))'"),
    ),
    comment="Whether a question was found to be ambiguous, and why.",
)

rewriting = Table(
    "rewriting",
    metadata,
    Column(
        "run_id",
        BigInteger,
        ForeignKey("pgclarify_private.run.run_id", name="rewriting_run_id_fk", ondelete="CASCADE"),
        nullable=False,
        comment="The run.",
    ),
    Column(
        "rewritten",
        Text,
        info=NO_STATISTICS,
        nullable=False,
        comment="The rewritten question; exactly the original one if it was clear or could not be rewritten.",
    ),
    Column(
        "was_ambiguous",
        Boolean,
        comment=(
            "True if it was ambiguous even with its history; null for replies. False if it was clear. A question that "
            "was clear only with its history has a reason."
        ),
    ),
    Column(
        "reason",
        Text,
        info=NO_STATISTICS,
        comment="Why it was rewritten in this way, or not at all; null if there is nothing to say.",
    ),
    PrimaryKeyConstraint("run_id", name="rewriting_pk"),
    comment="The result of rewrite or reply: a question that stands alone.",
)

trained_classifier = Table(
    "trained_classifier",
    metadata,
    Column("trained_classifier_id", BigInteger, Identity(always=True), nullable=False, comment="Key."),
    Column(
        "corpus_id",
        BigInteger,
        ForeignKey("pgclarify_private.corpus.corpus_id", name="trained_classifier_corpus_id_fk", ondelete="CASCADE"),
        nullable=False,
        comment="The corpus.",
    ),
    Column("version", Integer, nullable=False, comment="Its number in its corpus, from 1."),
    Column("trained_by", Name, nullable=False, comment="Role that trained it."),
    Column("trained_at", Timestamp, nullable=False, server_default=text("now()"), comment="When it was stored."),
    Column("shipped_version", Text, nullable=False, comment="Version of the classifier that ships which it corrects."),
    Column("examples", Integer, nullable=False, comment="Different labelled questions that it was trained on."),
    Column(
        "threshold",
        REAL,
        nullable=False,
        comment="The probability from which a question counts as ambiguous, unless a caller passes another one.",
    ),
    Column(
        "judges_questions",
        Boolean,
        nullable=False,
        comment="Whether it judges questions before which nothing was said.",
    ),
    Column("judges_conversations", Boolean, nullable=False, comment="Whether it judges questions with a history."),
    Column(
        "figures",
        JSONB,
        nullable=False,
        comment=(
            "How well it tells ambiguous questions from clear ones, beside the classifier that ships: what "
            "eval train-ambiguity prints."
        ),
    ),
    Column(
        "is_better",
        Boolean,
        nullable=False,
        comment=(
            "Whether its F1 was higher than that of the classifier that ships, by the whole 95 % interval of the "
            "difference."
        ),
    ),
    Column(
        "is_used",
        Boolean,
        nullable=False,
        server_default=text("false"),
        comment="Whether it judges the questions of the corpus; at most one does.",
    ),
    Column(
        "weights",
        ARRAY(REAL),
        nullable=False,
        comment=(
            "What it learned: single-precision numbers, in the order that "
            "pgclarify/algorithms/ambiguity/correction.py gives."
        ),
    ),
    PrimaryKeyConstraint("trained_classifier_id", name="trained_classifier_pk"),
    UniqueConstraint("corpus_id", "version", name="trained_classifier_version_key"),
    CheckConstraint("version >= 1", name="trained_classifier_version_is_positive"),
    CheckConstraint("examples >= 1", name="trained_classifier_examples_are_positive"),
    CheckConstraint("threshold between 0 and 1", name="trained_classifier_threshold_is_a_share"),
    CheckConstraint("judges_questions or judges_conversations", name="trained_classifier_judges_something"),
    CheckConstraint(
        "jsonb_typeof(figures) = 'object' and length(figures::text) <= 10000",
        name="trained_classifier_figures_are_an_object",
    ),
    CheckConstraint("length(shipped_version) between 1 and 100", name="trained_classifier_shipped_version_is_short"),
    CheckConstraint(
        "array_ndims(weights) = 1 and cardinality(weights) between 1 and 100000 "
        "and array_position(weights, null) is null and not weights && array['NaN', 'Infinity', '-Infinity']::real[]",
        name="trained_classifier_weights_are_finite",
    ),
    Index("trained_classifier_is_used_idx", "corpus_id", unique=True, postgresql_where=text("is_used")),
    comment="A version of the classifier of ambiguity that was trained on labelled questions of a corpus.",
)
