"""Runs of reply: one question from a conversation."""

from collections.abc import Sequence

import pytest

from pgclarify.data.dialogue import Rewriting, Turn
from pgclarify.data.vocabulary import RunStatus
from pgclarify.errors import CompletionError, EndpointUnavailable
from pgclarify.operations.execution import execute
from tests.fakes import FakeDialogueStore, FakeStore, RunRecord, scripts
from tests.fakes.completer import ScriptedCompleter
from tests.fakes.context import context_of

QUESTION = "Who wrote Lindvik Harbor?"
FIRST = "Lindvik harbor"
TURNS = [Turn(["Do you mean the novel?"], "yes"), Turn(["Which edition?", "In which language?"], "the first one")]
SAID = TURNS[-1].reply
NEW = "Who printed the first edition of Lindvik Harbor?"


async def replied(
    said: str | CompletionError | list[str | CompletionError | None], *, has_model: bool = True, **settings: object
) -> tuple[RunRecord, Rewriting | None, ScriptedCompleter]:
    store = FakeStore()
    run = store.add_run(QUESTION, operation="reply", settings={"text": SAID} | settings)
    dialogue = FakeDialogueStore(store, conversations={run.run_id: (FIRST, TURNS)})
    rewriter = scripts.rewriter({SAID: said})
    await execute(context_of(run, store, rewriter, chat=rewriter if has_model else None, dialogue=dialogue))
    record = store.runs[run.run_id]
    return record, next(iter(record.results_of(Rewriting)), None), rewriter


async def test_the_whole_conversation_becomes_one_question() -> None:
    record, rewriting, rewriter = await replied(NEW)

    assert (record.status, record.error) == (RunStatus.SUCCEEDED, None)
    assert rewriting == Rewriting(NEW, None)
    (asked,) = rewriter.asked("reformulation")
    assert asked.text.splitlines() == [
        f"First question: {FIRST}",
        *(line for turn in TURNS for line in (f"Asked back: {' / '.join(turn.asked)}", f"Reply: {turn.reply}")),
    ]
    assert [(stage.name, stage.calls, stage.note) for stage in record.stages] == [("rewriting", 1, NEW)]


async def test_a_chosen_reformulation_needs_no_call_and_no_language_model() -> None:
    record, rewriting, rewriter = await replied(NEW, has_model=False, ordinal=2)
    assert (record.status, rewriting, rewriter.calls) == (RunStatus.SUCCEEDED, Rewriting(SAID, None), [])


async def test_a_reply_in_words_needs_a_language_model() -> None:
    record, _, _ = await replied(NEW, has_model=False)
    assert (record.error or "").startswith("replying in words needs a language model")


@pytest.mark.parametrize("first", [None, " \n", QUESTION, "who wrote lindvik harbor"])
async def test_a_question_that_will_not_do_is_asked_for_again(first: str | None) -> None:
    record, rewriting, rewriter = await replied([first, NEW])
    assert record.status is RunStatus.SUCCEEDED
    assert rewriting == Rewriting(NEW, None)
    assert [request.sample for request in rewriter.calls] == [0, 1]


async def test_somebody_may_have_nothing_to_add() -> None:
    record, rewriting, _ = await replied([QUESTION, f"{QUESTION} "])
    assert record.status is RunStatus.SUCCEEDED
    assert rewriting == Rewriting(QUESTION, None, "the reply changed nothing of the question")


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ([None, None], "the model's reply does not fit its form"),
        (["", " "], "the model's reply does not fit its form"),
        (["Who\ud800?"] * 2, "the model's reply does not fit its form"),
        (EndpointUnavailable("the endpoint cannot be reached"), "the endpoint cannot be reached"),
    ],
)
async def test_no_question_is_a_failure(
    said: CompletionError | Sequence[str | CompletionError | None], error: str
) -> None:
    record, rewriting, _ = await replied(said if isinstance(said, CompletionError) else list(said))
    assert record.status is RunStatus.FAILED
    assert (record.error or "").startswith(error)
    assert rewriting is None
