"""investigate."""

from __future__ import annotations

from typing import Final

from pgclarify.data.vocabulary import StepKind, StepOutcome
from pgclarify.declared import options
from pgclarify.declared.columns import CITATIONS, RUN_ID, STATUS
from pgclarify.declared.forms import Column, Command, Function, Measure, Method, Operation, Option, Rows, Table
from pgclarify.declared.parameters import CORPUS, PART, QUESTION
from pgclarify.declared.words import COLUMNS, listed

STEP: Final = Table(
    name="step",
    meaning="A question of an investigation, and its answer. Written while the run is not over.",
    columns=(
        Column("ordinal", "integer", "Place in the order, from 1; the conclusion is the last one."),
        Column(
            "kind",
            "text",
            f"{listed(StepKind)}.",
            record_type="StepKind",
        ),
        Column("question", "text", "The question.", is_prose=True),
        Column("answer", "text", "Its answer; null unless answered.", null=True, is_prose=True),
        Column(
            "outcome",
            "text",
            f"{listed(StepOutcome)}. A step that needs the answer of another one has its outcome.",
            record_type="StepOutcome",
        ),
        Column("confidence", "real", "Confidence in the answer, above 0 and up to 1; null unless answered.", null=True),
        Column(
            "reason",
            "text",
            "Why there is no answer, or a remark on the answer; null if there is nothing to say.",
            null=True,
            is_prose=True,
        ),
        Column(
            "semantic_sets",
            "integer",
            "How many groups of equal meaning the sampled answers form; null if no answers were sampled.",
            null=True,
        ),
        Column("created_at", "timestamptz", "When it was decided.", sql_default="now()"),
        Column(
            "abstention_code",
            "text",
            f"Why there is no evidence: {listed(COLUMNS['step.abstention_code'], with_meanings=False)}; null for other "
            "outcomes.",
            null=True,
            record_type="StopCode | None",
            default="None",
        ),
    ),
    # A step's question may repeat the answer of an earlier step.
    withheld_if="true",
    depends_on_earlier=True,
    is_erased=False,
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
            f"The outcome of its conclusion: {listed(StepOutcome, with_meanings=False)}; null if it has none.",
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

INVESTIGATION_STEP_VIEW: Final = Rows(
    name="investigation_step",
    meaning="A question of an investigation with its answer, also while the run is not over.",
    table=STEP,
    is_view=True,
    columns=(RUN_ID, *STEP.columns),
    record="Step",
    record_columns=STEP.after(
        (
            RUN_ID,
            *STEP.until("semantic_sets"),
            CITATIONS.but(
                meaning="The passages that prove the answer: array of objects with the columns of view citation."
            ),
        ),
        "created_at",
    ),
)

INVESTIGATE: Final = Operation(
    function=Function(
        name="investigate",
        summary="One answer to a question that may take several steps, each with its citations. One row, even if there "
        "is no answer: then outcome says why. It needs a language model.",
        parameters=(QUESTION, CORPUS, *PART),
        options=(
            options.METHOD,
            options.RETRIEVAL.but(choices=("adaptive", "fixed"), default="adaptive"),
            options.RERANKER.but(default="signal"),
            options.TOP_K.but(default=10),
            options.MAX_PASSAGES.but(
                meaning="Most passages that are scored for each step: by default 100 with a CrossEncoder or a reranker "
                "behind an endpoint, else 32; raise it to find more, lower it to pay less."
            ),
            Option(
                name="max_steps",
                type="integer",
                least=0,
                most=20,
                default=4,
                meaning="Most sub-questions of an investigation; 0 or 1 does not split the question.",
            ),
            options.MAX_CALLS.but(
                least=4,
                most=10000,
                meaning="Most calls of the model: by default enough for all steps and samples, but not for a model "
                "that also reranks or compares answers; raise it if runs end early.",
            ),
            Option(
                name="entailment",
                longest=500,
                keywords=("embedding", "model", "none"),
                never=("signal",),
                default="embedding",
                meaning="How sampled answers are compared, if the default joins different ones; none samples none, for "
                "fewer calls.",
            ),
            Option(
                name="samples",
                type="integer",
                least=2,
                most=20,
                default=5,
                meaning="How many answers are sampled from each batch of 16 passages; raise it for a finer confidence.",
            ),
            Option(
                name="meta",
                type="boolean",
                default=False,
                meaning="Use true for one more call, which reads all steps with their best evidence; its answer "
                "counts if quotes prove it.",
            ),
            options.TIMEOUT.but(default="5min"),
        ),
        returns=INVESTIGATION,
        is_set=True,
        expected_rows=1,
        method=Method(
            about="Ask a question that may take several steps, and wait for the answer. Needs a language model.",
            example="""\
found = client.investigate("Who owns the company that insures the rental cars?", corpus="insurance")
print(found.answer or found.outcome, found.confidence, found.document_ids)""",
            returns="The answer with its steps and evidence. If there is no answer, outcome says why.",
            script="ask_one",
        ),
    ),
    searches=True,
    answers_questions=True,
    prefers_language_model=True,
    result_condition="result.kind = 'conclusion' and result.outcome = 'answered'",
    looks_for_answers=True,
    view=INVESTIGATION_STEP_VIEW,
    check_settings="check_investigating",
    measured=frozenset({Measure.READINGS, Measure.RANKING}),
    command=Command(
        "investigate",
        "Answer a question of several steps, each with its proof. Needs a language model.",
        "Taking the question apart",
        "'Who pays for the car that replaces one damaged by hail?' -o max_steps=2",
        show="investigation",
    ),
)
