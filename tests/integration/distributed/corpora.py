"""Corpora that tests distribute, and what the tests do with them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from psycopg import sql

from tests.integration.manual_worker import MAKE_OPEN_CORPUS, vector_of
from tests.sessions import Connection, scalar

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
    " pgclarify_private.search(corpus_id, %s::name[], %s, %s, %s::public.halfvec, %s) as result"
    " where corpus.corpus = %s"
)


def fill(connection: Connection, corpus: str, reader: str | None) -> None:
    """Make a corpus of the documents above. reader: Who may read the restricted ones; None: they are for everyone."""
    connection.execute(MAKE_OPEN_CORPUS, [corpus])
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
        " where corpus.corpus = %s order by result.score desc, result.document_id, result.content",
        [list(roles), method, question, json.dumps(vector_of(question)), top_k, corpus],
    ).fetchall()


def ids_of(connection: Connection, corpus: str) -> tuple[int, int]:
    """The corpus_id and embedding_space_id of a corpus."""
    ids = "select corpus_id, embedding_space_id from pgclarify_private.corpus where name = %s"
    ((corpus_id, space_id),) = connection.execute(ids.encode(), [corpus]).fetchall()
    return corpus_id, space_id


def content_of(connection: Connection, corpus: str) -> tuple[list[Any], list[Any], list[Any]]:
    """Passages, vectors and counted words of a corpus, without what is different in each: ids."""
    corpus_id, space_id = ids_of(connection, corpus)
    passages = connection.execute(
        sql.SQL(
            "select document_id, ordinal, heading, content, start_char, readers, lexemes::text from {} order by 1, 2"
        ).format(sql.Identifier("pgclarify_private", f"passage_{corpus_id}"))
    ).fetchall()
    vectors = connection.execute(
        sql.SQL("select document_id, vector::text from {} order by 1, 2").format(
            sql.Identifier("pgclarify_private", f"passage_embedding_{space_id}")
        )
    ).fetchall()
    terms = connection.execute(
        "select lexeme, passages, restricted_passages from pgclarify_private.term"
        " where corpus_id = %s and passages <> 0 order by 1",
        [corpus_id],
    ).fetchall()
    return passages, vectors, terms


def assert_same(connection: Connection, reader: str) -> None:
    """Check that the two corpora have the same contents and find the same."""
    assert content_of(connection, "there") == content_of(connection, "here")
    for roles in ([reader], ["somebody_else"]):
        for method in ("dense", "lexical", "hybrid"):
            for question in QUESTIONS:
                expected = found(connection, "here", roles, method, question)
                assert found(connection, "there", roles, method, question) == expected, (roles, method, question)
                assert expected
