"""list_answers."""

from __future__ import annotations

from typing import Final

from pgclarify.declared import options
from pgclarify.declared.columns import CITATIONS, DOCUMENT_IDS, RUN_CORPUS, RUN_ID, RUN_QUESTION, documents
from pgclarify.declared.forms import Column, Command, Function, Measure, Method, Operation, Option, Rows, Table
from pgclarify.declared.parameters import CORPUS, PART, QUESTION

LISTED_ANSWER: Final = Table(
    name="listed_answer",
    meaning="One answer of a list.",
    columns=(
        Column("ordinal", "integer", "Place in the list, from 1: answers that more documents give come first."),
        Column("answer", "text", "The answer, in its first spelling.", is_prose=True),
        Column("variants", "text[]", "All spellings that were found, the first one first.", is_prose=True),
        Column("created_at", "timestamptz", "When it was stored.", sql_default="now()"),
    ),
    # A policy cannot hide one spelling of several, and each may be from another citation.
    withheld_if="citation.rank = 1 or cardinality(result.variants) > 1",
    is_erased=True,
)

ANSWER: Final = Rows(
    name="answer",
    meaning="One answer of a list: the row of list_answers.",
    table=LISTED_ANSWER,
    columns=LISTED_ANSWER.after(
        (
            RUN_ID,
            *LISTED_ANSWER.until("answer"),
            *(
                # Which citation has which spelling is not recorded. The first citation has the first one.
                variants.but(source="case when cited.has_withheld then result.variants[:1] else result.variants end")
                for variants in LISTED_ANSWER.named("variants")
            ),
            DOCUMENT_IDS.but(meaning="Documents that have the answer, best first."),
            CITATIONS.but(meaning="The evidence of the answer: array of objects with the columns of view citation."),
        ),
        "created_at",
    ),
    record="ListedAnswer",
)

LISTED_ANSWER_VIEW: Final = Rows(
    name="listed_answer",
    meaning="Listed answers. Their citations are in view citation. An answer with several spellings is hidden if a "
    "citation of it is; list_answers shows its first spelling.",
    table=LISTED_ANSWER,
    is_view=True,
    columns=LISTED_ANSWER.after(
        (RUN_ID, RUN_CORPUS, RUN_QUESTION, *LISTED_ANSWER.until("variants"), documents("have it"))
    ),
)

LIST_ANSWERS: Final = Operation(
    function=Function(
        name="list_answers",
        summary="The answers of a question that has several, each one once, with quotes: those that most documents "
        "give first. No rows if the corpus has none. Passages are judged as by clarify, with the same calls.",
        parameters=(QUESTION, CORPUS, *PART),
        options=(
            options.METHOD,
            options.RELAX,
            options.RERANKER,
            options.TOP_K.but(default=20),
            Option(
                name="max_answers",
                type="integer",
                least=1,
                most=50,
                default=10,
                meaning="Most answers; raise it if the list ends with stop_code limit.",
            ),
            options.TIMEOUT.but(default="5min"),
        ),
        returns=ANSWER,
        is_set=True,
        expected_rows=5,
        method=Method(
            about="Ask for all answers of a question that has several, each one once, with its evidence.",
            example="""\
for found in client.list_answers("Who plays in it?", corpus="films"):
    print(found.ordinal, found.answer, found.document_ids)""",
            returns="Answers, those that most documents give first; none if the corpus has none.",
        ),
    ),
    searches=True,
    searches_for_question=True,
    answers_questions=True,
    prefers_language_model=True,
    looks_for_answers=True,
    view=LISTED_ANSWER_VIEW,
    measured=frozenset({Measure.READINGS, Measure.RANKING}),
    command=Command(
        "list-answers",
        "List all answers of a question, each with its proof.",
        "Looking for answers",
        "'Which companies insure rental cars?' -o max_answers=3",
        show="answers",
    ),
)
