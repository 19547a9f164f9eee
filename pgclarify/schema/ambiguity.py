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
    text,
)
from sqlalchemy.dialects.postgresql import JSONB, REAL

from pgclarify.schema.base import Timestamp, metadata

ambiguity_rule = Table(
    "ambiguity_rule",
    metadata,
    Column("ambiguity_rule_id", BigInteger, Identity(always=True), nullable=False, comment="Key."),
    Column(
        "pattern",
        Text,
        nullable=False,
        comment=(
            r"Regular expression (advanced, as of operator ~*: any case of letters; \m and \M are the begin and end "
            "of a word) of 1 to 500 characters, found anywhere in a question."
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
        ForeignKey("pgclarify.corpus.name", name="ambiguity_rule_corpus_fk", onupdate="CASCADE", ondelete="CASCADE"),
        comment="Corpus whose questions it is for; null for all, also for those that are asked of no corpus.",
    ),
    Column(
        "note",
        Text,
        comment="Why it is ambiguous, for whoever asked: shown among the reasons; null if nothing is to be said.",
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
        ForeignKey("pgclarify.run.run_id", name="detection_run_id_fk", ondelete="CASCADE"),
        nullable=False,
        comment="The run.",
    ),
    Column("ordinal", Integer, nullable=False, comment="Place of the question in the run, from 1."),
    Column("question", Text, nullable=False, comment="The question."),
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
            "Of being ambiguous, from 0 to 1; 1 if a rule matched; null for a question in another language than "
            "English."
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
        nullable=False,
        comment=(
            "What spoke: array of objects with source (classifier, feature, rule or corpus), name and text, and of a "
            "corpus document_ids."
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
        ForeignKey("pgclarify.run.run_id", name="rewriting_run_id_fk", ondelete="CASCADE"),
        nullable=False,
        comment="The run.",
    ),
    Column(
        "rewritten",
        Text,
        nullable=False,
        comment="The question; the one that was asked, to the byte, if it was clear or could not be rewritten.",
    ),
    Column(
        "was_ambiguous",
        Boolean,
        comment=(
            "Whether it was ambiguous with what was said before; null for replies. False, with a reason: it is clear "
            "with that, and not alone."
        ),
    ),
    Column(
        "reason",
        Text,
        comment="Why it was rewritten as it was, or not at all; null if nothing is to be said.",
    ),
    PrimaryKeyConstraint("run_id", name="rewriting_pk"),
    comment="The question that a run of rewrite or reply came to: one that stands on its own.",
)
