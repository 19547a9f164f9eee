"""After a document is closed to the role that asked, none of its runs repeats the document."""

from __future__ import annotations

import psycopg
import pytest

from tests.integration.manual_worker import MAKE_OPEN_CORPUS, rows_of
from tests.openai_server import PROSE, Reply, Server
from tests.sessions import Connection, scalar
from tests.workers import until, wait_until_searchable

CORPUS = "sealed"
# Only this document has the word.
WORD, CLOSED = "eleven", "fee"
TEXTS = {
    CLOSED: f"The deductible of a rental car is {WORD} Zorblat guilders.",
    "mint": "Zorblat guilders are minted in old Quendale harbor.",
}
QUESTION = "How high is the deductible of a rental car?"
# The second question contains the answer to the first one.
STEPS = "Which deductible has a rental car? Where are [1] minted?"
# By the type of the rows that are returned.
RUNS = {
    "clarification": (
        'select run_id from pgclarify.clarify(%s, %s, options => \'{"ask_back": "when_vague", "threshold": 1}\')',
        [QUESTION, CORPUS],
    ),
    "investigation": ("select run_id from pgclarify.investigate(%s, %s)", [STEPS, CORPUS]),
    "answer": ("select run_id from pgclarify.list_answers(%s, %s)", [QUESTION, CORPUS]),
}
TABLES = (
    "run", "candidate", "verdict", "interpretation", "citation", "investigation_step", "listed_answer",
)  # fmt: skip


def seen(session: Connection, run_id: int, row_type: str | None = None) -> str:
    """All that a role can read of a run. row_type: None for a failed run, which returns no rows."""
    queries = [f"select to_jsonb(t) - 'vector' from pgclarify.{table} as t where run_id = %s" for table in TABLES]  # noqa: S608 - of the above
    queries += ['select pgclarify.explain(%s, \'{"detail": "passages"}\')']
    queries += ["select pgclarify_private.run_report(caller, %s) from pgclarify_private.caller"]
    queries += [] if row_type is None else [rows_of(row_type)]
    return "\n".join(str(session.execute(query.encode(), [run_id]).fetchall()) for query in queries)


def add(owner: Connection, document_id: str, readers: list[str] | None = None) -> None:
    owner.execute(
        "select pgclarify.add_document(%s, %s, %s, readers => %s)",
        [CORPUS, document_id, TEXTS[document_id], readers],
    )


@pytest.fixture
def corpus(superuser: Connection) -> None:
    if not scalar(superuser, "select count(*) from pgclarify.corpus where corpus = %s", CORPUS):
        superuser.execute(MAKE_OPEN_CORPUS, [CORPUS])
    for document_id in TEXTS:
        add(superuser, document_id)
    wait_until_searchable(superuser, CORPUS)


@pytest.mark.usefixtures("corpus")
@pytest.mark.parametrize("row_type", RUNS)
def test_nothing_that_was_read_from_outside_a_new_filter_is_shown(
    asker: Connection, superuser: Connection, model: Server, row_type: str
) -> None:
    statement, parameters = RUNS[row_type]
    run_id = scalar(asker, statement, *parameters)
    assert WORD in seen(asker, run_id, row_type)
    grant = "select pgclarify.grant_access(%s, %s, filter => %s)"
    opened = superuser.execute(
        "select reader from pgclarify.corpus cross join unnest(readers) as reader where corpus = %s", [CORPUS]
    ).fetchall()

    for (reader,) in opened:
        superuser.execute(grant, [CORPUS, reader, '{"is_public": true}'])

    shown = seen(asker, run_id, row_type)
    for (reader,) in opened:
        superuser.execute(grant, [CORPUS, reader, None])
    assert WORD not in shown
    # The run itself is still shown.
    assert "finished_at" in shown
    assert WORD in seen(asker, run_id, row_type)


@pytest.mark.usefixtures("corpus")
@pytest.mark.parametrize("row_type", RUNS)
def test_nothing_that_was_read_from_it_is_shown(
    asker: Connection, superuser: Connection, model: Server, row_type: str
) -> None:
    statement, parameters = RUNS[row_type]
    run_id = scalar(asker, statement, *parameters)
    assert WORD in seen(asker, run_id, row_type)

    add(superuser, CLOSED, ["nobody"])

    shown = seen(asker, run_id, row_type)
    assert WORD not in shown
    # The run itself is still shown.
    assert "finished_at" in shown
    add(superuser, CLOSED)
    assert WORD in until(lambda: seen(asker, run_id, row_type))


@pytest.mark.usefixtures("corpus")
def test_the_error_of_a_failed_run_quotes_no_reply(asker: Connection, superuser: Connection, model: Server) -> None:
    model.behavior = lambda chat: Reply(f"It is {WORD}.") if WORD in str(chat.passage) else PROSE
    with pytest.raises(psycopg.Error) as caught:
        asker.execute("select from pgclarify.clarify('Which deductible fails?', %s)", [CORPUS])
    assert caught.value.sqlstate == "PC003"
    assert WORD not in str(caught.value)
    run_id = scalar(superuser, "select max(run_id) from pgclarify.run")
    errors = "select string_agg(error, '') from pgclarify.verdict where run_id = %s"
    assert WORD in scalar(asker, errors, run_id)

    add(superuser, CLOSED, ["nobody"])

    shown = seen(asker, run_id)
    assert WORD not in shown
    assert "PC015" in shown
    add(superuser, CLOSED)
