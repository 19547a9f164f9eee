"""clarify, and what else has readings: clarify_many, consolidate."""

from __future__ import annotations

from typing import Final

from pgclarify.data.vocabulary import Level
from pgclarify.declared import options
from pgclarify.declared.columns import CITATIONS, DATED, DOCUMENT_IDS, RUN_ID, STATUS, STOP_CODE
from pgclarify.declared.forms import Column, Command, Function, Measure, Method, Operation, Parameter, Rows, Table
from pgclarify.declared.parameters import CORPUS, FILTERS, HISTORY, PART, QUESTION, RUN, TIMEOUT, TOP_K
from pgclarify.declared.words import DOUBTS, listed

INTERPRETATION: Final = Table(
    name="interpretation",
    meaning="A reading after consolidation.",
    columns=(
        Column(
            "ordinal",
            "integer",
            "Place, from 1: first what a model called the most likely in a reply about several passages; then those "
            "below the heading nearest to the question, then by falling support; conservative: by falling score. Of "
            "those that contest each other, the newest is first.",
        ),
        Column("interpretation", "text", "The reading: a question that stands alone.", is_prose=True),
        Column("answer", "text", "Its answer.", is_prose=True),
        Column("support", "integer", "How many documents support it; of copies of one text, one counts."),
        Column("cohesion", "real", "Mean cosine similarity of the readings in its cluster to their medoid; 1 for one."),
        Column(
            "is_contested",
            "boolean",
            "Whether another reading of the run asks the same of the same thing, and both answers cannot be right.",
        ),
        Column(
            "older_hidden",
            "integer",
            "How many older readings, which contest it, option prefer has hidden; null without the option.",
            null=True,
            default="None",
            since="0.3.0",
        ),
        Column(
            "doubt",
            "text",
            "Why a check doubts the reading, which then stands after those that no check doubts: "
            f"{listed(DOUBTS)}; null if none does.",
            null=True,
            record_type="Refusal | None",
            default="None",
            since="0.4.0",
        ),
        Column(
            "probability",
            "real",
            "How probably it is right, by the judge of sentences; null if a language model has read it.",
            null=True,
            default="None",
            since="0.4.0",
        ),
        Column(
            "level",
            "text",
            f"The narrowest value of option include that shows it: {listed(tuple(Level))}; null before 0.4.0.",
            null=True,
            record_type="Level | None",
            default="None",
            since="0.4.0",
        ),
        Column(
            "is_shown",
            "boolean",
            "Whether the run shows it. Others are less sure, and only option include returns them.",
            sql_default="true",
            since="0.4.0",
        ),
    ),
    withheld_if="citation.is_medoid",
    has_unshown=True,
    is_recorded=False,
    is_erased=False,
)

CLARIFICATION: Final = Rows(
    name="clarification",
    meaning="A reading with its answer and its evidence: a row of clarify.",
    table=INTERPRETATION,
    columns=INTERPRETATION.after(
        (
            RUN_ID,
            STATUS.but(source="run.status"),
            *INTERPRETATION.named("ordinal", "interpretation", "answer", "support", "cohesion"),
            DOCUMENT_IDS,
            CITATIONS,
            *INTERPRETATION.named("is_contested"),
            DATED.but(source="cited.dated"),
        ),
        "is_shown",
    ),
    record="Interpretation",
)

_OF_READINGS: Final = tuple(
    column.but(meaning="As in clarification.", source=None)
    for column in CLARIFICATION.columns
    if column.name not in ("run_id", "status")
)

QUESTION_CLARIFICATION: Final = Rows(
    name="question_clarification",
    meaning="A row of clarify_many.",
    columns=(
        Column(
            "question_ordinal",
            "integer",
            "Place of the question, from 1.",
            source="question_reading.question_ordinal::integer",
        ),
        Column(
            "question_key", "text", "The caller's key of it; null without keys.", source="question_reading.question_key"
        ),
        Column("question", "text", "The question.", source="question_reading.question"),
        RUN_ID.but(source="question_reading.run_id"),
        Column(
            "status",
            "text",
            "succeeded, partial, failed or cancelled. If there is no reading, its columns are null.",
            source="question_reading.status",
        ),
        *_OF_READINGS,
        STOP_CODE.but(meaning="As in run_outcome.", source="question_reading.stop_code"),
    ),
)

INTERPRETATION_VIEW: Final = Rows(
    name="interpretation",
    meaning="A reading after consolidation.",
    table=INTERPRETATION,
    is_view=True,
    columns=(
        RUN_ID,
        *INTERPRETATION.after((), "is_shown"),
        DATED.but(
            source="""(
        select max(document.dated)
        from pgclarify_private.citation
        inner join pgclarify_private.document
            on citation.corpus_id = document.corpus_id and citation.document_id = document.id
        where citation.run_id = result.run_id and citation.ordinal = result.ordinal
    )"""
        ),
    ),
)

CLARIFY_OPTIONS: Final = (
    options.METHOD,
    options.RELAX,
    options.RETRIEVAL,
    options.MAX_PASSAGES,
    options.RECALL,
    options.RERANKER,
    options.CONSOLIDATION,
    options.INCLUDE,
    options.HDBSCAN,
    options.SINGLETONS,
    options.PREFER,
    options.PASSAGES_PER_CALL,
    options.VERIFY,
    options.ASK_BACK,
    options.THRESHOLD,
    options.REFRESH,
    options.BATCH,
)

_SAID_BEFORE: Final = HISTORY.but(
    meaning="earlier turns, oldest first, one element for each turn; a follow-up is first made to stand alone, as "
    "rewrite does",
    since="0.3.0",
)

CLARIFY: Final = Operation(
    function=Function(
        name="clarify",
        summary="The readings of a vague question that the corpus answers, each with its answer and the documents that "
        "it cites; no row if the corpus answers none. If that is unknown, a warning says why no reading was found.",
        parameters=(QUESTION, CORPUS, TOP_K, TIMEOUT, *PART, _SAID_BEFORE),
        options=CLARIFY_OPTIONS,
        returns=CLARIFICATION,
        is_set=True,
        expected_rows=5,
        calls="clarify",
        apart=("timeout",),
        method=Method(
            about="""\
Ask a vague question, and wait for the readings that the corpus answers.

A partial run is also logged as a warning of logger "pgclarify.client", since an empty list would not show it. So is a \
run that found nothing, if the corpus may have an answer.""",
            example="""\
for reading in client.clarify("rental cars", corpus="insurance"):
    print(reading.interpretation, reading.answer, reading.document_ids)""",
            returns="Readings, best first. The list is empty if no passage answers, or if none could be read; "
            "then a warning says why.",
        ),
    ),
    searches=True,
    searches_for_question=True,
    finds_readings=True,
    answers_questions=True,
    is_shown_as_question=True,
    looks_for_answers=True,
    result_condition="result.is_shown",
    view=INTERPRETATION_VIEW,
    check_settings="check_judging",
    prepare="prepare_clarification",
    is_estimated=True,
    measured=frozenset({Measure.READINGS, Measure.RANKING}),
    command=Command(
        "ask",
        "Get the readings of a vague question, each with its proof.",
        "Reading passages",
        "'rental cars' --corpus insurance --top-k 50",
        show="readings",
    ),
)

CONSOLIDATE: Final = Operation(
    function=Function(
        name="consolidate",
        summary="Cluster the verdicts of a run again, without a model call; returns rows as clarify does, in a new "
        "run.",
        parameters=(RUN.but(meaning="a clarify run that you may see, of a corpus that you may search"),),
        options=(
            options.CONSOLIDATION,
            options.INCLUDE,
            *options.DENSITY,
            options.SINGLETONS,
            options.PREFER,
            options.TIMEOUT,
        ),
        returns=CLARIFICATION,
        is_set=True,
        expected_rows=5,
        method=Method(about="Group a run's verdicts again, in a new run. No model is called.", returns="As clarify."),
    ),
    finds_readings=True,
    answers_questions=True,
    copies_verdicts=True,
    has_question=False,
    looks_for_answers=True,
    result_condition="result.is_shown",
    view=INTERPRETATION_VIEW,
    check_settings="check_grouping",
    prepare="prepare_consolidation",
)

CLARIFY_MANY: Final = Function(
    name="clarify_many",
    summary="clarify for many questions at once; equal questions are asked once. A question that the corpus does not "
    "answer has no row. A question has one row with status and stop_code, and null in between, if its run failed, was "
    "cancelled, is partial without a reading, or found nothing although the corpus may have an answer.",
    parameters=(
        Parameter("questions", "text[]", "the questions"),
        Parameter("keys", "text[]", "your own key of each, returned with its answer", "null"),
        CORPUS.but(meaning=""),
        TOP_K.but(meaning=""),
        TIMEOUT.but(meaning="for all together; null waits without limit", default="null"),
        *PART,
        FILTERS,
        _SAID_BEFORE,
    ),
    options=CLARIFY.function.options,
    options_of="clarify",
    returns=QUESTION_CLARIFICATION,
    is_set=True,
    calls="clarify_many",
    apart=("questions", "keys", "timeout", "filters"),
    method=Method(
        about="""\
Ask many questions at once, and wait for all. Equal questions are asked once.

If the run of one question fails, the others are still answered.""",
        example="""\
for answer in client.clarify_many(["rental cars", "deductible"]):
    print(answer.question, answer.status, len(answer.interpretations))""",
        returns="One answer for each question, in order, even if nothing was found.",
        positional=("keys",),
        script="ask_many",
    ),
)
