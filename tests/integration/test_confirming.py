"""clarify with verify model or reader, as callers see it: with a worker and a model server."""

from __future__ import annotations

import json

from tests.integration.by_hand import Connection
from tests.openai_server import Chat, Reply, Server, by_rules
from tests.workers import Service, scalar

VERDICTS = """
select outcome, abstention_code, error_code, completion_id is not null as is_judged, count(*)
from pgclarify.verdict where run_id = %s group by 1, 2, 3, 4 order by 1, 2
"""


def clarify(asker: Connection, **options: object) -> int:
    asker.execute(
        "select from pgclarify.clarify('rental car', top_k => 6, options => %s)", [json.dumps(options)]
    ).fetchall()
    return int(scalar(asker, "select max(run_id) from pgclarify.run"))


def refusing(chat: Chat) -> Reply:
    """Confirm no answer."""
    if chat.purpose != "confirmation":
        return by_rules(chat)
    return Reply(json.dumps({"confirmed": [False] * chat.schema["properties"]["confirmed"]["minItems"]}))


def failing(chat: Chat) -> Reply:
    """Refuse the call."""
    return Reply.error(401) if chat.purpose == "confirmation" else by_rules(chat)


def test_an_unconfirmed_answer_is_an_abstention(
    service: Service, asker: Connection, superuser: Connection, model: Server
) -> None:
    confirmed = clarify(asker, verify="model")
    (grounded,) = [row for row in superuser.execute(VERDICTS, [confirmed]).fetchall() if row[0] == "grounded"]
    (stage,) = superuser.execute(
        "select rows, calls from pgclarify_private.seen_stage where run_id = %s and name = 'confirmation'", [confirmed]
    ).fetchall()
    assert stage == (grounded[4], 1)

    model.behavior = refusing
    refused = clarify(asker, verify="model", refresh=1)
    rows = superuser.execute(VERDICTS, [refused]).fetchall()
    assert [row[:4] for row in rows if row[1] == "not_confirmed"] == [("abstained", "not_confirmed", None, True)]
    assert "grounded" not in {row[0] for row in rows}
    assert scalar(asker, "select stop_code from pgclarify.run where run_id = %s", refused) == "unproven"
    reason = scalar(
        superuser,
        "select distinct reason from pgclarify.verdict where run_id = %s and abstention_code = 'not_confirmed'",
        refused,
    )
    lines = "\n".join(row[0] for row in asker.execute("select * from pgclarify.explain(%s)", [refused]).fetchall())
    assert reason in lines
    assert "confirmation" in lines

    model.behavior = failing
    cut_off = clarify(asker, verify="model", refresh=2)
    assert scalar(asker, "select status from pgclarify.run where run_id = %s", cut_off) == "partial"
    assert {row[0] for row in superuser.execute(VERDICTS, [cut_off]).fetchall()} == {"abstained", "failed"}


def test_the_trained_reader_confirms_without_a_call(service: Service, asker: Connection, superuser: Connection) -> None:
    run_id = clarify(asker, verify="reader")
    (stage,) = superuser.execute(
        "select rows, calls from pgclarify_private.seen_stage where run_id = %s and name = 'confirmation'", [run_id]
    ).fetchall()
    (grounded,) = [row for row in superuser.execute(VERDICTS, [run_id]).fetchall() if row[0] == "grounded"]
    assert stage == (grounded[4], 0)
