"""The declaration of an operation that a later release adds: a recipe puts this file into `pgclarify/declared`."""

from __future__ import annotations

from typing import Final

from pgclarify.declared import options
from pgclarify.declared.columns import CITATIONS, DATED, DOCUMENT_IDS, RUN_ID
from pgclarify.declared.forms import Column, Function, Operation, Rows, Table
from pgclarify.declared.parameters import CORPUS, PART, QUESTION

SUMMARY: Final = Table(
    name="summary",
    meaning="A sentence of a summary.",
    columns=(
        Column("ordinal", "integer", "Place, from 1."),
        Column("sentence", "text", "The sentence.", is_prose=True),
    ),
    withheld_if="citation.rank = 1",
    is_erased=True,
)

SENTENCE: Final = Rows(
    name="sentence",
    meaning="A sentence of a summary: the row of summarize.",
    table=SUMMARY,
    columns=SUMMARY.after((RUN_ID, DATED.but(source="cited.dated"), *SUMMARY.columns, DOCUMENT_IDS, CITATIONS)),
    record="Sentence",
)

SUMMARY_VIEW: Final = Rows(
    name="summary", meaning="Summaries.", table=SUMMARY, is_view=True, columns=SUMMARY.after((RUN_ID,))
)

SUMMARIZE: Final = Operation(
    function=Function(
        name="summarize",
        summary="What a corpus says about something.",
        parameters=(QUESTION, CORPUS, *PART),
        options=(options.TIMEOUT,),
        since="99.0.0",
        returns=SENTENCE,
        is_set=True,
    ),
    searches=True,
    view=SUMMARY_VIEW,
)
