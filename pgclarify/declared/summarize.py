"""summarize: a throw-away exercise."""

from __future__ import annotations

from typing import Final

from pgclarify.declared import options
from pgclarify.declared.columns import CITATIONS, DOCUMENT_IDS, RUN_ID
from pgclarify.declared.forms import Column, Command, Function, Operation, Rows, Table
from pgclarify.declared.parameters import CORPUS, QUESTION, TOP_K

SUMMARY: Final = Table(
    name="summary",
    meaning="What a passage says about a question.",
    columns=(
        Column("ordinal", "integer", "Place of the passage, from 1."),
        Column("summary", "text", "What it says, in one sentence.", is_prose=True),
    ),
    withheld_if="true",
    is_erased=True,
)
SUMMARY_VIEW: Final = Rows(
    name="summary",
    meaning=SUMMARY.meaning,
    table=SUMMARY,
    is_view=True,
    columns=(RUN_ID, *SUMMARY.columns),
)
SUMMARIZED: Final = Rows(
    name="summarized_passage",
    meaning="What a passage says about a question: a row of summarize.",
    table=SUMMARY,
    columns=(RUN_ID, *SUMMARY.columns, DOCUMENT_IDS, CITATIONS),
    record="SummarizedPassage",
)
SUMMARIZE: Final = Operation(
    function=Function(
        name="summarize",
        summary="What each of the best passages says about a question.",
        parameters=(QUESTION, CORPUS, TOP_K),
        options=(options.METHOD, options.TIMEOUT),
        returns=SUMMARIZED,
        is_set=True,
    ),
    searches=True,
    searches_for_question=True,
    prefers_language_model=True,
    looks_for_answers=True,
    view=SUMMARY_VIEW,
    command=Command("summarize", "Say what each of the best passages says.", "Reading passages", "'rental cars'"),
)
