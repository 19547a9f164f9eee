"""What pgclarify was ordered as: a SQL function over a user's own rows, whose readings HDBSCAN groups."""

from __future__ import annotations

import json
from collections.abc import Callable

import psycopg

from tests.openai_server import Chat, Reply, Server, by_rules
from tests.sessions import scalar
from tests.workers import CORPUS, Worker, own_model, run_worker, wait_until_searchable

__all__ = ["own_model", "run_worker"]

# The reading that the model finds in a passage with this word, and its answer.
READINGS = {
    "hail": ("What is the deductible for damage by hail?", "four hundred dollars"),
    "Canada": ("Which country may the car be driven into?", "Canada"),
}
# Rows of the user's own table, by id: the word that decides what the model reads in the row, and the text.
ARTICLES = {
    1: ("hail", "The deductible for hail damage to a rental car is four hundred dollars."),
    2: ("hail", "After a storm with hail, a deductible of four hundred dollars applies to the rental car."),
    3: ("hail", "If hail dents a rental car, the renter pays a deductible of four hundred dollars."),
    4: ("Canada", "The country that a rental car may be driven into is Canada."),
    5: ("Canada", "A rental car may be driven into Canada, and into no other country."),
    6: ("Canada", "Renters drive the car into Canada without a fee; every other country is excluded."),
    7: ("", "The rental desk has a new carpet, and new chairs for those who wait."),
}
ASK = """
    select distinct run_id from pgclarify.clarify(
        'rental cars', corpus => %s, top_k => 7, options => '{"consolidation": "hdbscan"}'
    )
"""
JOINED = """
    select article.article_id, cited.answer, strpos(article.body, cited.quote) > 0
    from pgclarify.citation as cited
    join searches.article on article.article_id::text = cited.document_id
    where cited.run_id = %s order by article.article_id
"""


def judged(chat: Chat) -> Reply:
    """The reply of a model that reads `READINGS`, and abstains on other passages."""
    if chat.passage is None:
        return by_rules(chat)
    (content,) = (content for _, content in ARTICLES.values() if content in chat.passage)
    word = next((word for word in READINGS if word in content), None)
    interpretation, answer = READINGS[word] if word else (None, None)
    return Reply(json.dumps({"interpretation": interpretation, "answer": answer, "quote": content if word else None}))


def test_readings_of_own_rows_are_grouped_by_hdbscan_and_join_to_the_rows_that_they_quote(
    database: str, make_role: Callable[..., str], run_worker: Callable[..., Worker], own_model: Server
) -> None:
    own_model.behavior = judged
    # all-MiniLM-L6-v2 with sentence-transformers, as any other model by name; the default is ONNX Runtime.
    run_worker(database, own_model.base_url, settings={"PGCLARIFY_DEVICE": "cpu"})
    role = make_role("pgclarify_user")
    with psycopg.connect(database, autocommit=True) as owner:
        owner.execute(f'grant create on database "{owner.info.dbname}" to {role}'.encode())
    with psycopg.connect(database, user=role, autocommit=True) as user:
        user.execute("create schema searches")
        user.execute("create table searches.article (article_id bigint primary key, body text not null)")
        for article_id, (_, body) in ARTICLES.items():
            user.execute("insert into searches.article values (%s, %s)", [article_id, body])
        user.execute("select pgclarify.create_corpus(%s)", [CORPUS])
        user.execute("select pgclarify.add_document(%s, article_id::text, body) from searches.article", [CORPUS])
        wait_until_searchable(user)

        run_id = scalar(user, ASK, CORPUS)

        groups = "select interpretation, answer, document_ids from pgclarify.result(%s)"
        assert {
            (interpretation, answer, *sorted(document_ids))
            for interpretation, answer, document_ids in user.execute(groups.encode(), [run_id])
        } == {(*READINGS["hail"], "1", "2", "3"), (*READINGS["Canada"], "4", "5", "6")}
        answers = [(article_id, READINGS[word][1], True) for article_id, (word, _) in ARTICLES.items() if word]
        assert user.execute(JOINED.encode(), [run_id]).fetchall() == answers
