"""Corpora that tests distribute, and what the tests do with them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tests.integration.by_hand import Connection, scalar, vector_of

TOPICS = ("rental cars", "hail damage", "roadside assistance", "water in the basement", "a broken window")
DOCUMENTS = {
    f"d{number}": f"# {topic} {number}\n\nCommon words on {topic}, item{number}.\n\nMore of {number}."
    for number, topic in enumerate(TOPICS * 6)
}
# Every third document is visible to only one role.
RESTRICTED = [document_id for number, document_id in enumerate(DOCUMENTS) if number % 3 == 0]
ON_NODES = "select sum(result::integer) from run_command_on_workers(%s)"
TABLES = "select count(*) from pg_class where relname ~ '^passage_' and relkind = 'r'"
QUESTIONS = ("rental cars", "common words", "item7 hail", "basement window assistance")
SEARCH = (
    "select result.* from pgclarify.corpus cross join lateral"
    " pgclarify_private.search(corpus_id, %s::name[], %s, %s, %s::public.halfvec, %s) as result where name = %s"
)


def fill(connection: Connection, corpus: str, reader: str | None) -> None:
    """Make a corpus of the documents above. reader: Who may read the restricted ones; None: they are for everyone."""
    connection.execute("select pgclarify.create_corpus(%s)", [corpus])
    for document_id, content in DOCUMENTS.items():
        readers = [reader] if reader and document_id in RESTRICTED else None
        connection.execute(
            "select pgclarify.add_document(%s, %s, %s, readers => %s::name[])", [corpus, document_id, content, readers]
        )


def distribute(connection: Connection, corpus: str, **options: Any) -> dict[str, Any]:
    """Distribute it; what the call returns."""
    result: dict[str, Any] = scalar(connection, "select pgclarify.distribute(%s, %s)", corpus, json.dumps(options))
    return result


def found(
    connection: Connection, corpus: str, roles: Sequence[str], method: str, question: str, top_k: int = 10
) -> list[tuple[Any, ...]]:
    """What a search finds: document, heading, content, and score to six places."""
    return connection.execute(
        "select result.document_id, result.heading, result.content, round(result.score::numeric, 6)"
        " from pgclarify.corpus cross join lateral pgclarify_private.search("
        " corpus.corpus_id, %s::name[], %s, %s, %s::public.halfvec, %s) as result"
        " where corpus.name = %s order by result.score desc, result.document_id, result.content",
        [list(roles), method, question, json.dumps(vector_of(question)), top_k, corpus],
    ).fetchall()
