"""rewrite."""

from __future__ import annotations

from typing import Final

from pgclarify.declared import options
from pgclarify.declared.columns import RUN_ID
from pgclarify.declared.forms import Column, Command, Function, Measure, Method, Operation, Rows, Table
from pgclarify.declared.parameters import HISTORY, QUESTION

REWRITING: Final = Table(
    name="rewriting",
    meaning="The result of rewrite or reply, or of clarify with a history: a question that stands alone.",
    columns=(
        Column(
            "rewritten",
            "text",
            "The rewritten question; exactly the original one if it was clear or could not be rewritten.",
            is_prose=True,
        ),
        Column(
            "was_ambiguous",
            "boolean",
            "True if it was ambiguous even with its history; null for replies. False if it was clear. A question that "
            "was clear only with its history has a reason.",
            null=True,
        ),
        Column(
            "reason",
            "text",
            "Why it was rewritten in this way, or not at all; null if there is nothing to say.",
            null=True,
            is_prose=True,
        ),
    ),
    withheld_if=None,
    is_erased=False,
)

REWRITING_VIEW: Final = Rows(
    name="rewriting",
    meaning="The result of rewrite or reply, or of clarify with a history: a question that stands alone.",
    table=REWRITING,
    is_view=True,
    columns=(RUN_ID, *REWRITING.columns),
    record="RewrittenQuestion",
)

REWRITE: Final = Operation(
    function=Function(
        name="rewrite",
        summary="Rewrite a question of a conversation so that it stands alone: one row. The original question is "
        "returned unchanged, without a model call, if it is clear, or if it depends on earlier turns but says enough "
        "itself; also if it cannot be rewritten faithfully: reason says why. Without a language model every question "
        "is returned unchanged.",
        parameters=(QUESTION, HISTORY.but(meaning=f"{HISTORY.meaning}; the last ten count")),
        options=(options.RULES_OF, options.THRESHOLD, options.TIMEOUT),
        returns=REWRITING_VIEW,
        is_set=True,
        expected_rows=1,
        method=Method(
            about="""\
Rewrite a question so that it stands alone, using the earlier turns.

A clear question is returned unchanged, without a call. An ambiguous one needs a language model; without one, it is \
also returned unchanged.""",
            example="""\
said = ["Who wrote Emma?", "Jane Austen."]
print(client.rewrite("When was she born?", said).rewritten)""",
            returns="The rewritten question; or the original one, with the reason, if it could not be rewritten.",
            positional=("history",),
            script="ask_one",
        ),
    ),
    needs_corpus=False,
    prefers_language_model=True,
    reuses_runs=False,
    view=REWRITING_VIEW,
    prepare="prepare_rewriting",
    measured=frozenset({Measure.AMBIGUITY, Measure.RANKING}),
    command=Command(
        "rewrite",
        "Rewrite a question so that it stands alone. A clear question stays as it is. Needs a language model.",
        "Looking at the question",
        "'When was she born?' --history 'Who wrote Emma?' --history 'Jane Austen.'",
        show="rewritten",
        remark="why_rewritten",
    ),
)
