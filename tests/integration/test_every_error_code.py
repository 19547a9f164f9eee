"""Each error that a call of a model can have, by the real way: from the endpoint to the rows of the caller."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import psycopg
import pytest

from pgclarify import errors
from tests.integration.spending import budget
from tests.openai_server import PROSE, Behavior, EmbeddingBehavior, Reply, Server, bags_of_words, by_rules
from tests.sessions import Connection
from tests.workers import DOCUMENTS, wait_until_searchable

FAILURES = {
    "PC013": Reply.error(401, "no key"),
    "PC014": Reply.error(400, "bad request"),
    "PC015": PROSE,
    "PC017": Reply(status=500, body="{}", headers={"x-should-retry": "false"}),
    "PC020": Reply("", finish_reason="content_filter"),
}
# A reply that is none of those that the operation asked for.
UNREADABLE = "PC015"
OTHER_FILTERS = (
    Reply('{"interpretation": "W', finish_reason="content_filter"),
    Reply.error(400, "The prompt was filtered.", code="content_filter"),
)
# Budgets that refuse calls, and endpoints that do not embed a reading.
OF_BUDGETS: dict[str, dict[str, Any]] = {"PC007": {"max_calls": 4}, "PC008": {"max_cost_usd": 1}}
OF_EMBEDDINGS = {
    "PC010": Reply.error(500, "failed to encode response: json: unsupported value: NaN"),
    "PC013": Reply.error(401, "no key"),
}
# No verdict gets these: the limit of investigate, whose steps have no codes; a model that cannot be loaded, which ends
# the run before; and mistakes of ours.
OF_NO_VERDICT = {errors.CompletionError.sqlstate, errors.ModelNotFound.sqlstate, errors.PgclarifyError.sqlstate}

RUN = "select status, stop_code, error_code from pgclarify.run order by run_id desc limit 1"
VERDICTS = """
select outcome, error_code, count(*) from pgclarify.verdict
where run_id = (select max(run_id) from pgclarify.run) and outcome <> 'abstained'
group by 1, 2 order by 1
"""


def test_no_code_of_a_verdict_is_forgotten_here() -> None:
    assert {*FAILURES, *OF_BUDGETS, *OF_EMBEDDINGS} | OF_NO_VERDICT == set(errors.VERDICT_CODES)


@pytest.fixture(autouse=True)
def forgetful(superuser: Connection) -> Iterator[None]:
    """No test reuses what another one has paid for."""
    yield
    superuser.execute(
        "delete from pgclarify_private.run; delete from pgclarify_private.completion; "
        "delete from pgclarify_private.budget"
    )


def failing(reply: Reply, word: str) -> Behavior:
    """The model of the tests, but calls about a passage with this word fail."""
    return lambda chat: reply if word in str(chat.passage) else by_rules(chat)


def not_embedding(reply: Reply, word: str) -> EmbeddingBehavior:
    """The embedding model of the tests, but it fails on texts with this word."""
    return lambda body: reply if any(word in text for text in body["input"]) else bags_of_words(body)


def assert_one_passage_is_left_out(asker: Connection, code: str, call: str) -> None:
    """Ask, and look at what the caller gets: seven passages are answered, and one is left out."""
    rows = asker.execute(f"select document_ids from pgclarify.{call}".encode()).fetchall()  # noqa: S608 - of this file
    assert {document_id for row in rows for document_id in row[0]} > {"101", "102", "104"}
    assert asker.execute(RUN).fetchall() == [("partial", "failed_calls", code)]
    assert asker.execute(VERDICTS.encode()).fetchall() == [("failed", code, 1), ("grounded", None, 7)]


@pytest.mark.parametrize(
    ("call", "code"),
    [
        *(("clarify('rental cars')", code) for code in FAILURES),
        # All operations learn of an endpoint's failures in one way, and each reads replies of its own.
        ("clarify('rental cars', options => '{\"retrieval\": \"adaptive\"}')", "PC013"),
        ("clarify('rental cars', options => '{\"retrieval\": \"adaptive\"}')", UNREADABLE),
        ("clarify_many(array['rental cars'])", "PC014"),
        ("clarify_many(array['rental cars'])", UNREADABLE),
        ("list_answers('rental cars')", "PC017"),
        ("list_answers('rental cars')", UNREADABLE),
    ],
)
def test_a_passage_whose_call_fails_is_left_out(asker: Connection, model: Server, call: str, code: str) -> None:
    model.behavior = failing(FAILURES[code], "Canada")
    assert_one_passage_is_left_out(asker, code, call)


@pytest.mark.parametrize("reply", OTHER_FILTERS, ids=["a part of a reply", "a refusal"])
def test_a_passage_that_is_filtered_in_another_way_is_left_out(asker: Connection, model: Server, reply: Reply) -> None:
    model.behavior = failing(reply, "Canada")
    assert_one_passage_is_left_out(asker, "PC020", "clarify('rental cars')")


@pytest.mark.parametrize("code_of", ["endpoint", UNREADABLE])
@pytest.mark.parametrize(
    ("call", "code"),
    [
        ('clarify(\'rental cars\', options => \'{"ask_back": "when_vague", "threshold": 1}\')', "PC013"),
        ("investigate('Which deductible applies to damage by hail?')", "PC014"),
        ("search('rental cars', options => '{\"reranker\": \"model\"}')", "PC017"),
        ("clarifying_questions('rental cars', options => '{\"form\": \"select\"}')", "PC020"),
        ("rewrite('What about that?', array['Do you rent cars?', 'Yes.'])", "PC013"),
    ],
)
def test_a_run_whose_calls_all_fail_has_their_code(
    asker: Connection, model: Server, call: str, code: str, code_of: str
) -> None:
    code = code if code_of == "endpoint" else UNREADABLE
    model.behavior = lambda _: FAILURES[code]
    with suppress(psycopg.errors.ProgrammingError):
        asker.execute(f"select * from pgclarify.{call}".encode())  # noqa: S608 - one of those above
    ((status, _, error_code),) = asker.execute(RUN).fetchall()
    assert (status in {"partial", "failed"}, error_code) == (True, code)


@pytest.mark.parametrize("code", OF_BUDGETS)
def test_a_passage_whose_call_a_budget_refuses_has_its_code(
    superuser: Connection, asker: Connection, model: Server, code: str
) -> None:
    budget(superuser, "all", **OF_BUDGETS[code])
    with suppress(psycopg.errors.ProgrammingError):
        asker.execute("select * from pgclarify.clarify('rental cars')")
    ((outcome, error_code, _), *_) = asker.execute(VERDICTS.encode()).fetchall()
    assert (outcome, error_code) == ("failed", code)


def test_a_reading_that_cannot_be_embedded_is_left_out(superuser: Connection, asker: Connection, model: Server) -> None:
    create = "select pgclarify.create_corpus('remote', 'endpoint:words-1', '{\"reader\": \"pgclarify_reader\"}')"
    superuser.execute(create)
    superuser.cursor().executemany(
        "select pgclarify.add_document('remote', %s, %s, title => %s)",
        [(str(document_id), content, title) for document_id, (title, content) in DOCUMENTS.items()],
    )
    wait_until_searchable(superuser, "remote")
    try:
        for code, reply in OF_EMBEDDINGS.items():
            model.embed = not_embedding(reply, "Abroad")
            # An endpoint that is away fails all texts of a request, which may be all readings.
            with suppress(psycopg.errors.ProgrammingError):
                asker.execute("select from pgclarify.clarify('rental cars', 'remote')")
            ((status, _, error_code),) = asker.execute(RUN).fetchall()
            assert (status in {"partial", "failed"}, error_code) == (True, code)
            assert asker.execute(VERDICTS.encode()).fetchall()[0][:2] == ("failed", code)
    finally:
        model.embed = bags_of_words
        superuser.execute("select pgclarify.drop_corpus('remote')")
