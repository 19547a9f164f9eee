"""The rows of public functions and of the views of results."""

from __future__ import annotations

from typing import Final

from pgclarify.declared.columns import (
    CITATIONS,
    CLARIFYING_QUESTION,
    DETECTION,
    DOCUMENT_IDS,
    ESTIMATE,
    INTERPRETATION,
    LISTED_ANSWER,
    REWRITING,
    RUN_ID,
    STATUS,
    STEP,
    STOP_CODE,
)
from pgclarify.declared.forms import Column, Rows

# What was there when the columns of evidence were added. Later columns come after them.
_READING_COLUMNS: Final = 5
_READING: Final = (
    *INTERPRETATION[:_READING_COLUMNS],
    DOCUMENT_IDS,
    CITATIONS,
    *INTERPRETATION[_READING_COLUMNS:],
)
_BEFORE_STOP_CODE: Final = len(_READING) - len(INTERPRETATION[_READING_COLUMNS + 1 :])
_CORPUS: Final = Column(
    "corpus", "text", "The corpus's name at the time of the question.", is_prose=True, source="run.corpus_name"
)
_QUESTION: Final = Column("question", "text", "The question.", is_prose=True, source="run.question")
_FINISHED_AT: Final = Column(
    "finished_at", "timestamptz", "When the run ended; null before.", null=True, source="run.finished_at"
)

_ABSTENTION_CODE: Final = Column(
    "abstention_code",
    "text",
    "Why there is no evidence: not_answered, no_passage or unproven; null for other outcomes.",
    null=True,
    record_type="StopCode | None",
    default="None",
)
_CREATED_AT: Final = Column("created_at", "timestamptz", "When it was stored.")


def _documents(what: str) -> Column:
    return Column(
        "documents",
        "bigint",
        f"How many documents {what}, including those that you may not read.",
        source="""(
        select count(distinct citation.document_id)
        from pgclarify_private.citation
        where citation.run_id = result.run_id and citation.ordinal = result.ordinal
    )""",
    )


CLARIFICATION: Final = Rows(
    name="clarification",
    meaning="A reading with its answer and its evidence: a row of clarify.",
    table="interpretation",
    cites=True,
    is_withheld=True,
    columns=(RUN_ID, STATUS.but(source="run.status"), *_READING),
    record="Interpretation",
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
        *(column.but(meaning="As in clarification.") for column in _READING[:_BEFORE_STOP_CODE]),
        STOP_CODE.but(meaning="As in run_outcome.", source="question_reading.stop_code"),
        *(column.but(meaning="As in clarification.") for column in _READING[_BEFORE_STOP_CODE:]),
    ),
)
RUN_OUTCOME: Final = Rows(
    name="run_outcome",
    meaning="The state of a run: a row of wait.",
    columns=(
        RUN_ID,
        Column("status", "text", "Its state; queued or running if the timeout came first.", record_type="RunStatus"),
        Column("error", "text", "Why it failed; null unless it did.", null=True),
        Column(
            "interpretations",
            "integer",
            "Number of readings found; 0 means that none was found, and stop_code says why. Null unless succeeded or "
            "partial, and for operations without readings, such as investigations.",
            null=True,
        ),
        Column(
            "stop_reason",
            "text",
            "Why it stopped early; null if it did not, or is not over.",
            null=True,
            default="None",
        ),
        Column(
            "cost_usd",
            "numeric",
            "What it cost, in US dollars: 0 if it paid for no call; null if the cost of a call is unknown, or before "
            "its end.",
            null=True,
            default="None",
        ),
        STOP_CODE,
        Column(
            "error_code",
            "text",
            "Why it failed, as a SQLSTATE that docs/errors.md lists; for a partial run, why calls failed; else null.",
            null=True,
            default="None",
        ),
    ),
    record="RunOutcome",
    record_base="Ending",
)
SEARCH_RESULT: Final = Rows(
    name="search_result",
    meaning="A passage that fits a question: a row of search.",
    columns=(
        Column("rank", "integer", "Place, from 1."),
        Column("passage_id", "bigint", "The passage."),
        Column("document_id", "text", "The document, by your own id."),
        Column("title", "text", "The document's title; null if it has none.", null=True),
        Column("heading", "text", "Headings above the passage; null if there are none.", null=True),
        Column("content", "text", "The passage."),
        Column(
            "score",
            "double precision",
            "dense: cosine similarity; lexical: BM25; hybrid: mean of both, each brought to 0 to 1; a neighbor: its "
            "similarity to the passage that led to it; with a reranker: its score. Higher is better.",
        ),
        Column("origin", "text", "How it was found: dense, lexical or neighbor."),
    ),
    record="SearchResult",
)
NEIGHBOR: Final = Rows(
    name="neighbor",
    meaning="A passage near another: a row of neighbors.",
    columns=(
        Column("rank", "integer", "Place among those that you may read, from 1."),
        Column("document_id", "text", "The document, by your own id."),
        Column("passage_id", "bigint", "The passage."),
        Column("similarity", "real", "How near it is: cosine similarity."),
    ),
    record="Neighbor",
)
INVESTIGATION: Final = Rows(
    name="investigation",
    meaning="The result of investigate, in one row.",
    columns=(
        RUN_ID,
        STATUS,
        Column(
            "outcome",
            "text",
            "The outcome of its conclusion: answered, not_in_corpus, cut_off or failed; null if it has none.",
            null=True,
            record_type="StepOutcome | None",
        ),
        Column("answer", "text", "The answer; null unless answered.", null=True),
        Column("confidence", "real", "Confidence in the answer, above 0 and up to 1; null unless answered.", null=True),
        Column(
            "steps",
            "jsonb",
            "The steps, in order; the last one is the conclusion: array of objects with the columns of view "
            "investigation_step, and citations, an array of objects with the columns of view citation.",
            record_type="tuple[Step, ...]",
        ),
        Column("document_ids", "text[]", "Documents that the conclusion cites, best first; empty if there are none."),
        CITATIONS.but(meaning="The evidence of the conclusion: array of objects with the columns of view citation."),
    ),
    record="Investigation",
)
PROPOSED_QUESTION: Final = Rows(
    name="proposed_question",
    meaning="A clarifying question, or a reformulation to choose: the row of clarifying_questions.",
    table="clarifying_question",
    cites=True,
    columns=(
        RUN_ID.but(meaning="The run, for reply."),
        *(
            {column.name: column for column in CLARIFYING_QUESTION}[name]
            for name in ("ordinal", "ambiguity_type", "clarifying_question", "reformulation")
        ),
        DOCUMENT_IDS.but(
            meaning="Documents that answer the reformulation, best first; empty if there are none or it was not "
            "checked."
        ),
        *(column for column in CLARIFYING_QUESTION if column.name in ("reasoning", "is_answerable")),
        CITATIONS.but(meaning="The evidence of the reformulation: array of objects with the columns of view citation."),
    ),
    record="ProposedQuestion",
)
ANSWER: Final = Rows(
    name="answer",
    meaning="One answer of a list: the row of list_answers.",
    table="listed_answer",
    cites=True,
    is_withheld=True,
    columns=(
        RUN_ID,
        *LISTED_ANSWER[:2],
        # Which citation has which spelling is not recorded. The first citation has the first one.
        LISTED_ANSWER[2].but(source="case when cited.has_withheld then result.variants[:1] else result.variants end"),
        DOCUMENT_IDS.but(meaning="Documents that have the answer, best first."),
        CITATIONS.but(meaning="The evidence of the answer: array of objects with the columns of view citation."),
    ),
    record="ListedAnswer",
)

# Views of results. Those of operations without citations are also the rows of these operations.
_DETECTION_COLUMNS: Final = {column.name: column for column in DETECTION}
DETECTION_VIEW: Final = Rows(
    name="detection",
    meaning="Whether a question is ambiguous, and why: from detect_ambiguity, rewrite, and clarify with option "
    "ask_back.",
    table="detection",
    is_view=True,
    columns=(
        RUN_ID,
        Column("operation", "text", "detect_ambiguity, rewrite or clarify.", source="run.operation"),
        _CORPUS.but(meaning="The corpus's name at the time of the question; null without a corpus."),
        *DETECTION[:-1],
        # Wrapped, although it is no prose: it may be that of a corpus which the reader does not see.
        DETECTION[-1].but(is_prose=True),
        _FINISHED_AT,
    ),
    record="Ambiguity",
    record_columns=(
        RUN_ID,
        *(_DETECTION_COLUMNS[name] for name in ("is_ambiguous", "probability", "kind", "reasons")),
        _DETECTION_COLUMNS["question"].but(null=True, default="None"),
        _DETECTION_COLUMNS["ordinal"].but(null=True, default="None"),
    ),
)
REWRITING_VIEW: Final = Rows(
    name="rewriting",
    meaning="The result of rewrite or reply: a question that stands alone.",
    table="rewriting",
    is_view=True,
    columns=(RUN_ID, *REWRITING),
    record="RewrittenQuestion",
)
ESTIMATE_VIEW: Final = Rows(
    name="estimate",
    meaning="The result of a run of estimate: what questions would cost.",
    table="estimate",
    is_view=True,
    is_recorded=False,
    columns=(
        RUN_ID,
        *ESTIMATE,
        Column("model", "text", "The model that would be called.", is_prose=True, source="run.model"),
    ),
    record="Estimate",
)
INTERPRETATION_VIEW: Final = Rows(
    name="interpretation",
    meaning="A reading after consolidation.",
    table="interpretation",
    is_view=True,
    withheld_if="citation.is_medoid",
    is_recorded=False,
    columns=(RUN_ID, *INTERPRETATION),
)
LISTED_ANSWER_VIEW: Final = Rows(
    name="listed_answer",
    meaning="Listed answers. Their citations are in view citation. An answer with several spellings is hidden if a "
    "citation of it is; list_answers shows its first spelling.",
    table="listed_answer",
    is_view=True,
    # A policy cannot hide one spelling of several, and each may be from another citation.
    withheld_if="citation.rank = 1 or cardinality(result.variants) > 1",
    is_erased=True,
    columns=(RUN_ID, _CORPUS, _QUESTION, *LISTED_ANSWER, _documents("have it"), _CREATED_AT),
)
CLARIFYING_QUESTION_VIEW: Final = Rows(
    name="clarifying_question",
    meaning="Clarifying questions, and reformulations to choose from. Their citations are in view citation.",
    table="clarifying_question",
    is_view=True,
    columns=(
        RUN_ID,
        _CORPUS.but(meaning="The corpus's name at the time of the question; null without a corpus."),
        _QUESTION.but(meaning="The question that they are about."),
        Column(
            "form",
            "text",
            "respond (questions to answer freely) or select (reformulations to choose from).",
            source="run.settings ->> 'form'",
        ),
        *(
            {column.name: column for column in CLARIFYING_QUESTION}[name]
            for name in (
                "ordinal",
                "ambiguity_type",
                "clarifying_question",
                "reformulation",
                "reasoning",
                "is_answerable",
            )
        ),
        _documents("answered it"),
    ),
)
INVESTIGATION_STEP_VIEW: Final = Rows(
    name="investigation_step",
    meaning="A question of an investigation with its answer, also while the run is not over.",
    table="step",
    is_view=True,
    # A step's question may repeat the answer of an earlier step.
    withheld_if="true",
    depends_on_earlier=True,
    columns=(
        RUN_ID,
        *STEP,
        Column("created_at", "timestamptz", "When it was decided."),
        _ABSTENTION_CODE,
    ),
    record="Step",
    record_columns=(
        RUN_ID,
        *STEP,
        CITATIONS.but(
            meaning="The passages that prove the answer: array of objects with the columns of view citation."
        ),
        _ABSTENTION_CODE,
    ),
)

ROW_TYPES: Final = (
    CLARIFICATION,
    QUESTION_CLARIFICATION,
    RUN_OUTCOME,
    SEARCH_RESULT,
    NEIGHBOR,
    INVESTIGATION,
    PROPOSED_QUESTION,
    ANSWER,
)
RESULT_VIEWS: Final = (
    INTERPRETATION_VIEW,
    INVESTIGATION_STEP_VIEW,
    DETECTION_VIEW,
    REWRITING_VIEW,
    CLARIFYING_QUESTION_VIEW,
    LISTED_ANSWER_VIEW,
    ESTIMATE_VIEW,
)
