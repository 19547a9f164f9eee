"""search, and neighbors of a passage."""

from __future__ import annotations

from typing import Final

from pgclarify.data.vocabulary import Origin
from pgclarify.declared import options
from pgclarify.declared.forms import Column, Command, Function, Measure, Method, Operation, Parameter, Rows
from pgclarify.declared.parameters import CORPUS, PART, QUESTION, TOP_K
from pgclarify.declared.words import listed

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
        Column("origin", "text", f"How it was found: {listed(Origin)}.", record_type="Origin"),
        Column(
            "place",
            "text",
            'Where in the document it begins, such as "page 7"; null if its file has no places.',
            null=True,
            default="None",
            since="0.3.0",
        ),
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

SEARCH: Final = Operation(
    function=Function(
        name="search",
        summary="The passages that fit a question best. Method lexical needs no worker.",
        parameters=(QUESTION, CORPUS, TOP_K.but(meaning="how many, 1 to 1000", default="10"), *PART),
        # Defaults that depend on other options are in check_searching.
        options=(
            options.METHOD,
            options.RETRIEVAL,
            options.RERANKER,
            options.MAX_PASSAGES.but(
                meaning="Most passages that are scored again, by default 100, or top_k if that is more."
            ),
            options.TIMEOUT,
        ),
        returns=SEARCH_RESULT,
        is_set=True,
        expected_rows=10,
        calls="search_corpus",
        method=Method(
            about="""\
Find the passages that match a question best, without judging them.

With method="lexical" it needs no worker.""",
            example="""\
for passage in client.search("rental cars", corpus="insurance", method="lexical"):
    print(passage.rank, passage.document_id, passage.content)""",
            returns="Passages, best first.",
        ),
    ),
    searches=True,
    searches_for_question=True,
    answers_questions=True,
    looks_for_answers=True,
    view="candidate",
    check_settings="check_searching",
    measured=frozenset({Measure.RANKING}),
    command=Command(
        "search",
        "Find the passages that match a question best. They are not judged.",
        "Searching",
        "'rental cars' --corpus insurance -o method=lexical",
        show="passages",
    ),
)

NEIGHBORS: Final = Function(
    name="neighbors",
    summary="The passages nearest to a passage, nearest first, of those that you may read.",
    parameters=(
        CORPUS.but(default=None),
        Parameter("document_id", "text", "its document"),
        Parameter("passage_id", "bigint", "the passage; error 42704 if you may not read it"),
        Parameter(
            "k",
            "integer",
            "how many, 1 to 1000; a corpus keeps graph_degree of them (16), and passages that you may not read do "
            "not count",
            "10",
        ),
        *PART,
    ),
    returns=NEIGHBOR,
    is_set=True,
    expected_rows=10,
    volatility="stable",
    grantee="pgclarify_reader",
)
