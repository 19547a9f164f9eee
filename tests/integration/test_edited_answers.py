"""Answers over edited documents: nothing is paid for twice, and citations have the present place of their quote."""

from __future__ import annotations

from tests.openai_server import Server
from tests.sessions import Connect, Connection, MakeRole, scalar
from tests.workers import CORPUS, StartWorker, load, wait, wait_until_searchable

SECTIONS = {
    "engine": "The engine is checked by two mechanics of the company on every Monday morning before the office opens.",
    "winter": "Winter tyres are mounted without a charge from November until the end of March in the whole country.",
    "keys": "Lost keys cost two hundred dollars, which the renter pays by credit card before a new car is handed out.",
    "pets": "Dogs and cats may ride along in a box if a cleaning deposit of eighty dollars has been left at the desk.",
    "map": "A navigation device with maps of all of Europe is lent for five dollars each day and must be brought back.",
}
QUESTION = "what does it cost"
CITED = """
    select quote, start_char, end_char, is_current from pgclarify.citation
    where run_id = %s and document_id = 'manual' order by quote
"""


def write(connection: Connection, sections: dict[str, str]) -> str:
    """Store this edition of the manual, and return its content."""
    content = "\n\n".join(f"# The {topic}\n\n{text}" for topic, text in sections.items())
    assert scalar(connection, "select pgclarify.add_document(%s, 'manual', %s)", CORPUS, content)
    wait_until_searchable(connection)
    return content


def ask(connection: Connection) -> int:
    run_id = scalar(
        connection, "select pgclarify.submit('clarify', %s, options => jsonb_build_object('top_k', 100))", QUESTION
    )
    assert wait(connection, [run_id]) == ["succeeded"]
    return int(run_id)


def quoted(connection: Connection, run_id: int) -> dict[str, tuple[int, int, bool]]:
    """By quote from the manual: its place, and whether it is still there."""
    rows = connection.execute(CITED.encode(), [run_id]).fetchall()
    return {quote: (start, end, is_current) for quote, start, end, is_current in rows}


def test_only_what_was_edited_is_asked_again_and_quotes_are_found_again(
    database: str,
    connection: Connection,
    connect: Connect,
    make_role: MakeRole,
    own_model: Server,
    run_worker: StartWorker,
) -> None:
    run_worker(database, own_model.base_url)
    load(connection)
    # Runs are reused among roles with equal rights. A superuser gets each role that another test makes meanwhile.
    asker = connect(make_role("pgclarify_user"))
    write(connection, SECTIONS)
    ids = "select array_agg(id order by ordinal) from pgclarify.passage where document_id = 'manual'"
    before = scalar(connection, ids)
    first = ask(asker)
    asked = own_model.calls
    assert asked == scalar(connection, "select passages from pgclarify.corpus")
    cited = quoted(asker, first)
    assert len(cited) > 2

    # One section has another text, and all that follow move.
    edited = {"engine": "Nobody looks at the engine of a rental car any more, since engines of today watch themselves."}
    content = write(connection, SECTIONS | edited)
    second = ask(asker)

    after = scalar(connection, ids)
    assert after[1:] == before[1:]
    assert after[0] not in before
    assert own_model.calls == asked + 1
    paid = "select completions, reused_completions from pgclarify.run where run_id = %s"
    # All other passages.
    assert asker.execute(paid.encode(), [second]).fetchall() == [(1, asked - 1)]
    for quote, (start, end, is_current) in quoted(asker, first).items():
        assert is_current == (SECTIONS["engine"] not in quote) == (content[start:end] == quote)

    # If texts only move, answers do not change: the same run is reused, and its quotes are found again.
    write(connection, dict(reversed((SECTIONS | edited).items())))
    assert (
        scalar(asker, "select pgclarify.submit('clarify', %s, options => jsonb_build_object('top_k', 100))", QUESTION)
        == second
    )
    assert own_model.calls == asked + 1
