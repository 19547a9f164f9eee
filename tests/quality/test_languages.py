"""Corpora in other languages than English: searches find the right documents, and the extractive provider abstains."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from pgclarify.data.documents import Passage
from pgclarify.data.vocabulary import StopCode
from pgclarify.embedding import LocalEmbedder, LocalSpanReader
from pgclarify.prompts.verdict import verdict
from pgclarify.providers.extractive import ExtractiveVerifier
from tests.integration.manual_worker import MakeWorker, make_worker
from tests.languages import CORPORA, Corpus
from tests.quality.passages import PASSAGES, QUESTIONS
from tests.sessions import scalar

__all__ = ["make_worker"]

Connection = psycopg.Connection[Any]
EVERY = pytest.mark.parametrize("corpus", CORPORA.values(), ids=CORPORA)
# English questions of few and of many words, which the extractive provider answers from English text.
IN_ENGLISH = ("library", "opening hours", "How much does it cost?", "How much is the fee for adults?", "Ida Holm")


@EVERY
def test_searches_by_words_find_what_answers(connection: Connection, make_worker: MakeWorker, corpus: Corpus) -> None:
    connection.execute(
        "select pgclarify.create_corpus('c', options => jsonb_build_object('search_config', %s::text))",
        [corpus.search_config],
    )
    for one in corpus.documents:
        connection.execute("select pgclarify.add_document('c', %s, %s, title => %s)", [one.id, one.content, one.title])
    make_worker().index_everything()
    search = "select document_id from pgclarify.search(%s, 'c', 3, '{\"method\": \"lexical\"}') order by rank limit 1"
    wrong = [one.question for one in corpus.questions if scalar(connection, search, one.question) != one.document]
    assert len(wrong) <= 1, wrong


@EVERY
async def test_the_extractive_provider_abstains(
    embedder: LocalEmbedder, reader: LocalSpanReader, corpus: Corpus
) -> None:
    verifier = ExtractiveVerifier(embedder, reader)
    passages = [Passage(one.id, 1, one.content, one.title) for one in corpus.documents]
    asked = [(question, passage) for question in (*questions(corpus), *IN_ENGLISH) for passage in passages]
    asked += [(question, Passage("d", 1, text, title)) for question in questions(corpus) for title, text in ENGLISH]
    read = {}
    for question, passage in asked:
        call = verifier.adapt(verdict(question, passage))
        assert call is not None
        read[question, passage.content] = call.read(await verifier.complete(verifier.request(call)))
    assert {key: found for key, found in read.items() if found is not StopCode.LANGUAGE} == {}


def questions(corpus: Corpus) -> list[str]:
    return [one.question for one in corpus.questions]


ENGLISH = [PASSAGES[one.passage] for one in QUESTIONS[:10]]
