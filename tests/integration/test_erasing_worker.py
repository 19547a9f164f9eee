"""Erasing a document that a real worker has read for every operation, and while it is reading it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator

import pytest

from pgclarify import embedded
from tests.integration.erasing import CANARY, places
from tests.openai_server import Chat, Reply, Server, by_rules
from tests.sessions import Connection, scalar
from tests.workers import CORPUS, Service, until, wait, wait_until_searchable

QUESTION = "Which fee is charged for a rental car?"
FOLLOWED = (
    "Which late fee is charged for each rental car? Which fee is charged for each rental car abroad, and is it [1]?"
)
HIDDEN = "901"
TEXT = (
    f"# {CANARY} fees\n\nThe {CANARY} charges a late fee for each rental car of {CANARY} dollars.\n\n"
    f"A rental car of the {CANARY} may be driven abroad for a fee of {CANARY} dollars."
)


def talkative(chat: Chat) -> Reply:
    """Reply by the rules, then add the secrets of the prompt, so that an invalid reply has them, too."""
    reply = by_rules(chat)
    if chat.purpose in ("relevance", "entailment") and CANARY in chat.user:
        return Reply(f"{reply.content} since it is about {CANARY}")
    return reply


@pytest.fixture
def secret(superuser: Connection, model: Server) -> Iterator[str]:
    """The id of a document that alone has a word."""
    superuser.execute(
        "select pgclarify.add_document(%s, %s, %s, %s, %s, %s)",
        [CORPUS, HIDDEN, TEXT, f"On {CANARY}", f"https://{CANARY}", json.dumps({"of": CANARY})],
    )
    wait_until_searchable(superuser)
    model.behavior = talkative
    yield HIDDEN
    scalar(superuser, "select pgclarify.erase_document(%s, %s)", CORPUS, HIDDEN)


def ask_everything(asker: Connection) -> None:
    """Let each operation read all passages."""
    asker.execute("select * from pgclarify.clarify(%s, top_k => 20)", [QUESTION])
    (run_id,) = asker.execute("select max(run_id) from pgclarify.run").fetchone() or (None,)
    asker.execute("select * from pgclarify.consolidate(%s)", [run_id])
    adaptive = json.dumps({"retrieval": "adaptive", "reranker": "model", "max_passages": 20})
    asker.execute("select * from pgclarify.clarify(%s, top_k => 20, options => %s)", [QUESTION, adaptive])
    asker.execute(
        "select * from pgclarify.clarify(%s, top_k => 20, options => %s)", [QUESTION, '{"ask_back": "when_vague"}']
    )
    asker.execute("select * from pgclarify.search(%s, top_k => 20)", [QUESTION])
    asker.execute("select * from pgclarify.investigate(%s)", [FOLLOWED])
    asker.execute("select * from pgclarify.list_answers(%s)", [QUESTION])
    asker.execute("select * from pgclarify.clarifying_questions(%s)", [QUESTION])
    asker.execute(
        "select * from pgclarify.detect_ambiguity(%s, options => %s)", [QUESTION, json.dumps({"corpus": CORPUS})]
    )


def test_no_table_and_no_dump_has_a_word_of_it(
    service: Service, superuser: Connection, asker: Connection, secret: str
) -> None:
    ask_everything(asker)
    had = places(superuser)
    assert had >= {
        "candidate.heading", "citation.quote", "completion.reply", "document.content",
        "document.metadata", "document.title", "document.uri", "interpretation.interpretation",
        "listed_answer.answer", "passage.content", "step.answer", "verdict.quote",
    }  # fmt: skip

    assert scalar(superuser, "select pgclarify.erase_document(%s, %s)", CORPUS, secret)

    assert until(lambda: not places(superuser))
    dump = subprocess.run([embedded.binary("pg_dump"), service.dsn], stdout=subprocess.PIPE, check=True, timeout=120)
    assert CANARY.lower().encode() not in dump.stdout.lower()
    assert b"COPY pgclarify_private.completion " in dump.stdout
    # The same question again is answered from the remaining documents.
    rows = asker.execute("select document_ids from pgclarify.clarify(%s, top_k => 20)", [QUESTION]).fetchall()
    assert rows
    assert not any(secret in document_ids for (document_ids,) in rows)


def test_replies_of_deleted_runs_are_found_by_their_documents(
    superuser: Connection, asker: Connection, secret: str
) -> None:
    options = json.dumps({"entailment": "model", "max_calls": 1000})
    asker.execute("select * from pgclarify.investigate(%s, options => %s)", [FOLLOWED, options])
    asker.execute("select * from pgclarify.list_answers(%s)", [QUESTION])
    repeated = "select distinct purpose from pgclarify_private.completion where reply ilike %s"
    purposes = {purpose for (purpose,) in superuser.execute(repeated, [f"%{CANARY}%"]).fetchall()}
    assert purposes >= {"sample", "answer", "verdict"}
    superuser.execute("delete from pgclarify_private.run")

    assert scalar(superuser, "select pgclarify.erase_document(%s, %s)", CORPUS, secret)

    assert "completion.reply" not in places(superuser)
    # A worker applies the changed counts of words.
    assert until(lambda: not places(superuser))


def test_replies_that_are_on_their_way_do_not_bring_it_back(
    superuser: Connection, asker: Connection, model: Server, secret: str
) -> None:
    model.latency = 1.0
    run_ids = [
        int(
            scalar(
                asker,
                "select pgclarify.submit('clarify', %s, options => jsonb_build_object('top_k', 20))",
                f"{QUESTION} {number}",
            )
        )
        for number in range(3)
    ]
    run_ids.append(int(scalar(asker, "select pgclarify.submit('investigate', %s)", FOLLOWED)))
    reading = """
        select count(distinct run_id) = 4 from pgclarify.candidate where document_id = %s and run_id = any(%s)
    """
    until(lambda: scalar(superuser, reading, secret, run_ids))
    until(lambda: model.in_flight > 0)

    assert scalar(superuser, "select pgclarify.erase_document(%s, %s)", CORPUS, secret)

    model.latency = 0.0
    assert wait(asker, run_ids) == ["succeeded"] * 4
    until(lambda: model.in_flight == 0)
    assert until(lambda: not places(superuser))
    assert scalar(superuser, "select count(*) from pgclarify.run where run_id = any(%s) and attempt > 1", run_ids) > 0
