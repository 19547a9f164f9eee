"""What every operation returns and leaves behind, for a fixed corpus and a scripted model, is in recorded_run.txt."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.openai_server import PROSE, Chat, Reply, Server, by_rules
from tests.sessions import scalar
from tests.snapshots.recording import Connection, Recorder
from tests.workers import CORPUS, Service, asker, model, service, superuser, until

__all__ = ["asker", "model", "service", "superuser"]

RECORDED = Path(__file__).with_name("recorded_run.txt")
HEAD = """\
# What every operation returns and which rows it leaves behind, for a fixed corpus and a scripted model. Written by
# `make snapshots`. tests/snapshots/recording.py says what is left out.
"""
# Two documents say the same in their first sentence, so that a reading is supported by both. One has sections.
MORE_DOCUMENTS = {
    "201": (
        "Cleaning",
        "A cleaning fee of two hundred dollars is charged when somebody has smoked in the rental car."
        " Nobody pays it twice.",
    ),
    "202": (
        "Returning",
        "# Returning\n\nThe rental car is returned where it was picked up.\n\n## Late\n\n"
        "Whoever returns the rental car late pays thirty dollars for every hour.\n",
    ),
}
VAGUE, CLEAR = "rental car", "How high is the deductible of a rental car?"
TWO_HOPS = (
    "Which deductible applies to damage by hail? Which cleaning fee is charged when somebody has smoked in a car [1]?"
)


@pytest.fixture
def recorder(service: Service, asker: Connection, superuser: Connection, model: Server) -> Recorder:
    """Records what is asked of a corpus that is searchable, linked and counted, with a price for each call."""
    with superuser.transaction():
        for document_id, (title, content) in MORE_DOCUMENTS.items():
            superuser.execute(
                "select pgclarify.add_document(%s, %s, %s, title => %s)", [CORPUS, document_id, content, title]
            )
        superuser.execute("insert into pgclarify_private.model_price values ('rules-1', 1, 2)")
    until(
        lambda: scalar(
            superuser,
            """
            select pending = 0 and linked = passages and not exists (select from pgclarify_private.term_change)
            from pgclarify.corpus where corpus = %s
            """,
            CORPUS,
        )
    )
    return Recorder(asker, superuser, model)


def test_operations_do_what_was_recorded(recorder: Recorder, check_snapshot: Callable[[Path, str], None]) -> None:
    _clarify(recorder)
    _go_wrong(recorder)
    _search(recorder)
    _ask_back(recorder)
    _answer(recorder)
    check_snapshot(RECORDED, HEAD + recorder.text)


def _clarify(recorder: Recorder) -> None:
    statement = "select * from pgclarify.clarify(%s, top_k => %s, options => %s)"
    (first, *_) = recorder.record("clarify", statement, VAGUE, 20, "{}")
    recorder.record("clarify, served again", statement, VAGUE, 20, "{}")
    # All verdicts are paid for: which of those that are late lead on does not depend on time.
    recorder.record("clarify, adaptive", statement, VAGUE, 12, _options(retrieval="adaptive", max_passages=14))
    recorder.record("clarify, reranked", statement, VAGUE, 3, _options(reranker="model", method="lexical"))
    recorder.record("clarify, asked back", statement, VAGUE, 3, _options(ask_back="when_vague", threshold=0))
    recorder.record("clarify, answered in one pass", statement, CLEAR, 3, _options(ask_back="when_vague", threshold=1))
    recorder.record(
        "consolidate",
        "select * from pgclarify.consolidate(%s, options => %s)",
        first["run_id"],
        _options(consolidation="conservative", singletons="drop"),
    )
    recorder.record(
        "clarify_many",
        "select * from pgclarify.clarify_many(%s, keys => %s, top_k => 2)",
        ["tolls", "fuel", "tolls"],
        ["a", "b", "c"],
    )
    (submitted,) = recorder.call(
        "submit",
        "select pgclarify.submit('clarify', %s, options => jsonb_build_object('top_k', 2)) as run_id",
        "a free upgrade",
    )
    recorder.record("wait", "select * from pgclarify.wait(%s)", [submitted["run_id"]])
    recorder.record("result", "select * from pgclarify.result(%s)", submitted["run_id"])
    recorder.record(
        "estimate", "select * from pgclarify.estimate(%s, top_k => 4, options => %s)", [VAGUE, "mileage"], "{}"
    )


def _go_wrong(recorder: Recorder) -> None:
    statement = "select * from pgclarify.clarify(%s, top_k => 7)"
    recorder.record("clarify, partial", statement, "a fee for every day", behavior=_refuses_some)
    recorder.record("clarify, failed", statement, "a fee for smoking", behavior=lambda _: Reply.error(401))
    recorder.record("clarify, nothing found", statement, "unicorns", behavior=_abstains)


def _search(recorder: Recorder) -> None:
    statement = "select * from pgclarify.search(%s, top_k => 5, options => %s)"
    for method in ("hybrid", "dense", "lexical"):
        recorder.record(f"search, {method}", statement, "a fee for each day", _options(method=method))
    recorder.record("search, adaptive", statement, "a fee for each day", _options(retrieval="adaptive", max_passages=8))


def _ask_back(recorder: Recorder) -> None:
    recorder.record("detect_ambiguity", "select * from pgclarify.detect_ambiguity(%s)", "When does she have time?")
    recorder.record(
        "detect_ambiguity, with a corpus",
        "select * from pgclarify.detect_ambiguity(%s, options => %s)",
        VAGUE,
        _options(corpus=CORPUS, top_k=3),
    )
    (submitted,) = recorder.call(
        "submit_many, detect_ambiguity",
        "select pgclarify.submit_many('detect_ambiguity', %s) as run_ids",
        ["How long is it?", CLEAR],
    )
    recorder.record("wait", "select * from pgclarify.wait(%s)", submitted["run_ids"])
    recorder.record(
        "detection", "select * from pgclarify.detection where run_id = any(%s) order by question", submitted["run_ids"]
    )
    rewrite = "select * from pgclarify.rewrite(%s, %s)"
    recorder.record("rewrite", rewrite, "Where was she born?", ["Who painted it?", "It was Ida Holm."])
    recorder.record("rewrite, clear", rewrite, CLEAR, ["Who painted it?"])
    ask = "select * from pgclarify.clarifying_questions(%s, options => %s)"
    (offered, *_) = recorder.record(
        "clarifying_questions, select", ask, "zebra", _options(form="select", method="lexical")
    )
    (chosen,) = recorder.record("reply, chosen", "select * from pgclarify.reply(%s, ordinal => 1)", offered["run_id"])
    (asked, *_) = recorder.record(
        "clarifying_questions, respond",
        ask,
        None,
        _options(reply=chosen["run_id"], count=2),
    )
    recorder.record("reply", "select * from pgclarify.reply(%s, %s)", asked["run_id"], "the fee for smoking")


def _answer(recorder: Recorder) -> None:
    recorder.record(
        "investigate",
        "select * from pgclarify.investigate(%s, options => %s)",
        TWO_HOPS,
        _options(max_passages=8, top_k=4, entailment="model"),
    )
    (submitted,) = recorder.call(
        "submit, investigate", "select pgclarify.submit('investigate', %s) as run_id", "Who invented telescopes?"
    )
    recorder.record("wait", "select * from pgclarify.wait(%s)", [submitted["run_id"]])
    recorder.record(
        "investigation",
        "select * from pgclarify.investigation_step where run_id = %s order by ordinal",
        submitted["run_id"],
    )
    recorder.record(
        "list_answers",
        "select * from pgclarify.list_answers(%s, options => %s)",
        "Which fee is charged?",
        _options(max_answers=3),
    )


def _options(**options: object) -> str:
    return json.dumps(options)


def _refuses_some(chat: Chat) -> Reply:
    """Refuse one passage, and say of others what cannot be read or is not in them."""
    for word, reply in (
        ("Cleaning", Reply.error(400)),
        ("Tolls", PROSE),
        ("Fuel", Reply(json.dumps({"interpretation": "What?", "answer": "a fee", "quote": "a fee of gold"}))),
    ):
        if chat.passage is not None and word in chat.passage:
            return reply
    return by_rules(chat)


def _abstains(chat: Chat) -> Reply:
    return by_rules(chat) if chat.passage is None else Reply('{"interpretation": null, "answer": null, "quote": null}')
