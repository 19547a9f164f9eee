"""Replies that end early: one that was cut off is asked for once more, one that a filter removed is not."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence

import pytest

from pgclarify.data.documents import Passage
from pgclarify.data.model_calls import ModelCall
from pgclarify.data.runs import Tally
from pgclarify.data.verdicts import Reading
from pgclarify.data.vocabulary import StopCode
from pgclarify.errors import FilteredReply, InvalidReply
from pgclarify.ledger.completions import CallResult, ask_one
from pgclarify.prompts.verdict import verdict
from pgclarify.providers.client import Address
from pgclarify.providers.endpoint import Endpoint
from tests.fakes import FakeLedger
from tests.openai_server import Reply, Server, serve

FORM = {"interpretation": "How much?", "answer": "35 dollars", "quote": "It costs 35 dollars."}
READING = Reading("How much?", "35 dollars", "It costs 35 dollars.")
GOOD = Reply(json.dumps(FORM))
CUT = Reply('{"interpretation": "How much?"', finish_reason="length")
FILTERED = Reply("", finish_reason="content_filter")
REFUSED = Reply.error(400, "The prompt was filtered.", code="content_filter")


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with serve() as running:
        yield running


def call() -> ModelCall[Reading | StopCode]:
    return verdict("price?", Passage("d", 1, "It costs 35 dollars."))


async def ask(
    server: Server, ledger: FakeLedger, replies: Sequence[Reply], tally: Tally | None = None
) -> CallResult[Reading | StopCode]:
    server.script.extend(replies)
    async with Endpoint(Address(server.base_url), "rules-1", max_retries=0) as endpoint:
        return await ask_one(ledger, endpoint, call(), tally=tally)


def limits(server: Server) -> list[int]:
    return [body["max_tokens"] for body in server.bodies]


async def test_a_reply_that_was_cut_off_is_asked_for_once_with_more_tokens(server: Server) -> None:
    ledger = FakeLedger()
    assert (await ask(server, ledger, [CUT, GOOD])).value == READING
    assert limits(server) == [1024, 4096]
    # A later run takes both replies from the ledger.
    assert (await ask(server, ledger, [])).value == READING
    assert len(server.bodies) == 2


async def test_a_reply_that_is_cut_off_twice_says_so_and_is_not_asked_for_again(server: Server) -> None:
    result = await ask(server, FakeLedger(), [CUT, CUT])
    assert isinstance(result.value, InvalidReply)
    assert "used all its tokens" in str(result.value.detail)
    assert limits(server) == [1024, 4096]


async def test_another_invalid_reply_is_asked_for_with_the_same_limit(server: Server) -> None:
    await ask(server, FakeLedger(), [Reply("I cannot."), GOOD])
    assert limits(server) == [1024, 1024]


async def test_a_whole_reply_at_the_limit_is_read(server: Server) -> None:
    reply = Reply(json.dumps(FORM) + "\n" * 20, finish_reason="length")
    assert (await ask(server, FakeLedger(), [reply])).value == READING
    assert len(server.bodies) == 1


@pytest.mark.parametrize("ending", [FILTERED, Reply(CUT.content, finish_reason="content_filter"), REFUSED], ids=repr)
async def test_what_a_filter_removed_is_an_outcome_of_its_own_and_paid_once(server: Server, ending: Reply) -> None:
    ledger = FakeLedger()
    for _ in range(2):
        result = await ask(server, ledger, [ending] if not server.bodies else [])
        assert isinstance(result.value, FilteredReply)
        assert result.value.sqlstate == "PC020"
    assert len(server.bodies) == 1
    assert len(ledger.table.rows) == 1


TAKEN_BACK = f"First idea: {json.dumps({**FORM, 'answer': '48'})}\nNo, that is wrong: it must be 35 dollars"


@pytest.mark.parametrize(
    "reply",
    [
        Reply(TAKEN_BACK),
        Reply(TAKEN_BACK, finish_reason="length"),
        Reply("", message={"reasoning_content": TAKEN_BACK}),
    ],
    ids=["whole", "cut off", "thoughts"],
)
async def test_an_object_that_the_words_after_it_take_back_is_asked_for_once_more(server: Server, reply: Reply) -> None:
    tally = Tally()
    assert (await ask(server, FakeLedger(), [reply, GOOD], tally)).value == READING
    assert len(server.bodies) == 2
    assert not (tally.mends or {}).keys() & {"words"}


@pytest.mark.parametrize(
    ("said", "kinds"),
    [
        (json.dumps(FORM), None),
        (f"Sure:\n```json\n{json.dumps(FORM)}\n```", {"words": 1}),
        (json.dumps({**FORM, "answer": 35}), {"quoting": 1}),
        (f"[{json.dumps({**FORM, 'sure': True})}]", {"wrapped": 1, "extra_key": 1}),
    ],
)
async def test_a_mended_reply_is_paid_once_and_counted_by_kind(
    server: Server, said: str, kinds: dict[str, int] | None
) -> None:
    ledger = FakeLedger()
    tally = Tally()
    result = await ask(server, ledger, [Reply(said)], tally)
    assert isinstance(result.value, Reading)
    assert len(server.bodies) == 1
    assert tally.mends == kinds
    # The ledger has what was paid for, as it was sent.
    (row,) = ledger.table.rows.values()
    assert row.completion is not None
    assert row.completion.reply == said


@pytest.mark.parametrize("nothing", ["N/A", "none", "NULL", "Unknown"])
@pytest.mark.parametrize("key", ["interpretation", "answer"])
async def test_a_word_for_nothing_is_no_reading_and_not_asked_again(server: Server, key: str, nothing: str) -> None:
    result = await ask(server, FakeLedger(), [Reply(json.dumps({**FORM, key: nothing}))])
    assert result.value is StopCode.NOT_ANSWERED
    assert len(server.bodies) == 1
