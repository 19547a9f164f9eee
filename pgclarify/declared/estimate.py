"""estimate."""

from __future__ import annotations

from typing import Final

from pgclarify.declared import options
from pgclarify.declared.clarify import CLARIFY_OPTIONS
from pgclarify.declared.columns import RUN_ID
from pgclarify.declared.forms import Column, Command, Function, Method, Operation, Parameter, Rows, Table
from pgclarify.declared.parameters import CORPUS, PART, TOP_K

ESTIMATE_TABLE: Final = Table(
    name="estimate",
    meaning="The result of a run of estimate: what questions would cost.",
    columns=(
        Column("questions", "bigint", "How many questions were given."),
        Column("distinct_questions", "bigint", "How many of them are different."),
        Column("answered", "bigint", "How many of these an earlier run has answered, so that they need no call."),
        Column(
            "sampled",
            "bigint",
            "How many of the others were examined. If not all were, the figures are scaled up from these.",
        ),
        Column(
            "calls",
            "bigint",
            "About how many calls of the language model would be made and paid for; equal calls count once.",
        ),
        Column(
            "calls_at_most",
            "bigint",
            "At most so many calls, except for calls that are repeated because their reply was invalid.",
        ),
        Column("reused_calls", "bigint", "About how many further calls are needed whose replies are in the ledger."),
        Column("prompt_tokens", "bigint", "About how many input tokens the calls have."),
        Column("completion_tokens", "bigint", "About how many output tokens they have."),
        Column(
            "cost_usd",
            "numeric",
            "About what the calls cost in US dollars, by the model's price at the time of the estimate; null if it had "
            "none.",
            null=True,
        ),
    ),
    is_recorded=False,
    withheld_if=None,
    is_erased=False,
)

ESTIMATE_VIEW: Final = Rows(
    name="estimate",
    meaning="The result of a run of estimate: what questions would cost.",
    table=ESTIMATE_TABLE,
    is_view=True,
    columns=ESTIMATE_TABLE.after(
        (
            RUN_ID,
            *ESTIMATE_TABLE.until("cost_usd"),
            Column("model", "text", "The model that would be called.", is_prose=True, source="run.model"),
        )
    ),
    record="Estimate",
)

ESTIMATE: Final = Operation(
    function=Function(
        name="estimate",
        summary="What clarify, clarify_many or submit_many of these questions would ask of the language model, which "
        "is not called: one row. Questions with reusable answers, and replies that are in the ledger, cost nothing.",
        parameters=(
            Parameter("questions", "text[]", "each 1 to 10,000 characters", json="array"),
            CORPUS,
            TOP_K,
            *PART,
        ),
        options=(*CLARIFY_OPTIONS, options.TIMEOUT),
        returns=ESTIMATE_VIEW,
        is_set=True,
        expected_rows=1,
        remark="With retrieval adaptive, verify model, ask_back or reranker, some calls are only decided during a run, "
        "but calls_at_most is a limit.",
        method=Method(
            about="Estimate what clarify would cost for these questions. No language model is called.",
            example="""\
expected = client.estimate(["rental cars", "deductible"])
print(expected.calls, expected.reused_calls, expected.cost_usd)""",
            script="ask_one",
        ),
    ),
    searches=True,
    has_question=False,
    # It calls no model, but it estimates calls of the model of its worker.
    prefers_language_model=True,
    reuses_runs=False,
    view=ESTIMATE_VIEW,
    check_settings="check_judging",
    prepare="prepare_estimate",
    command=Command(
        "estimate",
        "Estimate what asking questions would cost. No language model is called. Replies that are paid for already, "
        "and questions whose answers can be reused, cost nothing.",
        "Looking at what would be asked",
        "'rental cars' deductible --corpus insurance",
        show="costs",
    ),
)
