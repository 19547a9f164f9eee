"""detect_ambiguity."""

from __future__ import annotations

from typing import Final

from pgclarify.data.vocabulary import AmbiguityKind, ReasonSource
from pgclarify.declared import options
from pgclarify.declared.columns import FINISHED_AT, RUN_CORPUS, RUN_ID
from pgclarify.declared.forms import Column, Command, Function, Measure, Method, Operation, Rows, Table
from pgclarify.declared.parameters import HISTORY, QUESTION
from pgclarify.declared.words import listed

DETECTION: Final = Table(
    name="detection",
    meaning="Whether a question was found to be ambiguous, and why.",
    columns=(
        Column("ordinal", "integer", "Place of the question in the run, from 1."),
        Column("question", "text", "The question.", is_prose=True),
        Column(
            "is_ambiguous", "boolean", "True if the probability reaches the threshold of the run, or a rule says so."
        ),
        Column(
            "probability",
            "real",
            "Probability that it is ambiguous, from 0 to 1; 1 if a rule matched; null for a question in another "
            "language than English.",
            null=True,
        ),
        Column(
            "kind",
            "text",
            f"{listed(AmbiguityKind)}; null unless ambiguous.",
            null=True,
            record_type="AmbiguityKind | None",
        ),
        Column(
            "reasons",
            "jsonb",
            f"The reasons: array of objects with source ({listed(ReasonSource, with_meanings=False)}), name and text.",
            is_prose=True,
            record_type="tuple[AmbiguityReason, ...]",
        ),
        Column("classifier_version", "text", "Version of the classifier."),
    ),
    withheld_if=None,
    is_erased=False,
)

# Views of results. Those of operations without citations are also the rows of these operations.
DETECTION_VIEW: Final = Rows(
    name="detection",
    meaning="Whether a question is ambiguous, and why: from detect_ambiguity, rewrite, and clarify with option "
    "ask_back.",
    table=DETECTION,
    is_view=True,
    columns=DETECTION.after(
        (
            RUN_ID,
            Column("operation", "text", "detect_ambiguity, rewrite or clarify.", source="run.operation"),
            RUN_CORPUS.but(meaning="The corpus's name at the time of the question; null without a corpus."),
            *DETECTION.until("reasons"),
            # Wrapped, although it is no prose: it may be that of a corpus which the reader does not see.
            *(version.but(is_prose=True) for version in DETECTION.named("classifier_version")),
            FINISHED_AT,
        )
    ),
    record="Ambiguity",
    record_columns=DETECTION.after(
        (
            RUN_ID,
            *DETECTION.named("is_ambiguous", "probability", "kind", "reasons"),
            # Of a run with several questions.
            *(column.but(null=True, default="None") for column in DETECTION.named("question", "ordinal")),
        ),
        "classifier_version",
    ),
)

DETECT_AMBIGUITY: Final = Operation(
    function=Function(
        name="detect_ambiguity",
        summary="Whether a question is ambiguous, and why: one row. It needs no language model.",
        parameters=(QUESTION, HISTORY),
        options=(options.RULES_OF, options.THRESHOLD, options.TIMEOUT),
        returns=DETECTION_VIEW,
        is_set=True,
        expected_rows=1,
        method=Method(
            about="""\
Say whether a question is ambiguous, and why. No language model is needed.

The rules and the classifier are those of option corpus; of no corpus without it, even if the client has one. For a \
log of many searches, use submit_many("detect_ambiguity", questions).""",
            example="""\
found = client.detect_ambiguity("How much does it cost?")
print(found.is_ambiguous, found.probability, found.kind)""",
            returns="The judgement with its reasons.",
            positional=("history",),
            script="ask_one",
        ),
    ),
    takes_many=True,
    needs_corpus=False,
    reuses_runs=False,
    view=DETECTION_VIEW,
    measured=frozenset({Measure.AMBIGUITY}),
    command=Command(
        "detect-ambiguity",
        "Say whether a question is ambiguous, and why. With --corpus, its rules and its classifier judge.",
        "Looking at the question",
        "'When was she born?' --history 'Who wrote Emma?' --history 'Jane Austen.'",
        show="ambiguity",
    ),
)
