"""A simulated user: its prompt, the course of a conversation, and its end."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from pgclarify.client import ProposedQuestion, ReformulatedQuestion
from pgclarify.database.evaluated_runs import RunFacts
from pgclarify.errors import EndpointFailed, EndpointUnavailable, InputError, InvalidReply, RunFailed
from pgclarify.evaluated import Case, CorpusDescription, GoldInterpretation, Output, Usage
from pgclarify.evaluation.asking import Asking
from pgclarify.evaluation.baselines import Asked
from pgclarify.evaluation.judging import Judgements
from pgclarify.evaluation.scoring import score
from pgclarify.evaluation.simulated_user import SimulatedUser, check_intents, intent_of
from pgclarify.ledger.completions import PollInterval
from pgclarify.model import Passage
from pgclarify.vocabulary import RunStatus
from tests.fakes import FakeEmbedder, FakeLedger
from tests.fakes.completer import Line, Prompt, ScriptedCompleter

QUESTION, WANTED = "harbor", "What a berth costs."
CASE = Case("1", QUESTION, intent=WANTED, document_ids=("berth",), history=("Hello.",))
BERTH = Passage("berth", 1, "A berth costs forty crowns.")
NOVEL = Passage("novel", 2, "A novel by Ida Holm.")
OFFERED = ("Who wrote the novel?", "What does a berth cost?")


class World:
    """A fake server that asks back, and whose search finds the berth only if the query has it."""

    def __init__(
        self,
        *,
        offered: Sequence[str] = OFFERED,
        fails_at: int | None = None,
        code: str = "",
        asks_until: int = 3,
        search_fails_at: int = 0,
        partial: int | None = None,
    ) -> None:
        self.corpus = CorpusDescription(1, "docs", 3, "m")
        self.opened_at = datetime(2026, 3, 1, tzinfo=UTC)
        self.client = self.runs = self
        self.asked: list[dict[str, Any]] = []
        self.replied: list[tuple[int, str]] = []
        self.searches: list[str] = []
        self.sought: list[tuple[str, dict[str, Any]]] = []
        self._offered = offered
        self._fails_at = fails_at
        self._code = code
        self._asks_until = asks_until
        self._search_fails_at = search_fails_at
        self._partial = partial

    async def clarifying_questions(
        self, question: str | None, history: Sequence[str], **options: Any
    ) -> list[ProposedQuestion]:
        self.asked.append({"question": question, "history": tuple(history), **options})
        run_id = 10 * len(self.asked)
        if self._fails_at == len(self.asked):
            raise RunFailed(f"run {run_id} failed", detail="it could not be asked", run_ids=[run_id])
        if len(self.asked) > self._asks_until:
            return []
        is_choice = options.get("form") == "select"
        return [
            ProposedQuestion(run_id, place, None, None if is_choice else text, text, (), None, None, ())
            for place, text in enumerate(self._offered, start=1)
        ]

    async def now(self) -> datetime:
        return self.opened_at

    async def find(
        self, operation: str, question: str, corpus_id: int, settings: Mapping[str, Any], *, since: datetime
    ) -> int:
        assert (operation, corpus_id, since) == ("clarifying_questions", 1, self.opened_at)
        self.sought.append((question, dict(settings)))
        return 10 * len(self.asked)

    async def reply(self, run_id: int, text: str, **options: Any) -> ReformulatedQuestion:
        assert options == {"timeout": None}
        self.replied.append((run_id, text))
        return self._since(f"{QUESTION}, {text}")

    async def choose(self, run_id: int, ordinal: int) -> ReformulatedQuestion:
        self.replied.append((run_id, str(ordinal)))
        return self._since(self._offered[ordinal - 1])

    def _since(self, question: str) -> ReformulatedQuestion:
        turn = len(self.replied)
        return ReformulatedQuestion(5, turn, question, 3 - turn)

    async def find_reply(self, run_id: int) -> int:
        return run_id + 1

    async def facts(self, run_id: int, time: datetime) -> RunFacts:
        fails = 10 * (self._fails_at or 0)
        code = self._code if run_id in (self._partial, fails) else None
        status = RunStatus.FAILED if run_id == fails else RunStatus.PARTIAL
        return RunFacts(status, None, None, None, code, None, was_there=False, retrievals=1)

    async def used(self, run_id: int, facts: RunFacts) -> Usage:
        return Usage(calls=1, prompt_tokens=100)

    async def search(self, question: str, top_k: int) -> list[Passage]:
        self.searches.append(question)
        if len(self.searches) == self._search_fails_at:
            raise RunFailed("the search failed")
        return [BERTH, NOVEL] if "berth" in question else [NOVEL]


def user(reply: Line | list[Line] = "a berth", choice: object = 2) -> ScriptedCompleter:
    def say(_: Prompt) -> Line | list[Line]:
        return json.dumps({"reply": reply}) if isinstance(reply, str) else reply

    return ScriptedCompleter({"simulated_reply": say, "simulated_choice": lambda _: json.dumps({"choice": choice})})


async def lead(world: World, chat: ScriptedCompleter, case: Case = CASE, **settings: Any) -> Output:
    asked = Asked(FakeLedger(), chat, world, FakeEmbedder(), PollInterval(first=0.001, longest=0.002))
    return await SimulatedUser(cast("Asking", world), asked, settings).answer(case)


async def test_three_turns_in_words() -> None:
    world, chat = World(), user()
    output = await lead(world, chat, scheme="cot")

    first, *later = world.asked
    assert first == {
        "question": QUESTION, "history": ("Hello.",), "corpus": "docs", "timeout": None, "scheme": "cot",
    }  # fmt: skip
    # The conversation keeps its question and the earlier turns.
    assert [(one["question"], one["history"], one["conversation"]) for one in later] == [(None, (), 5)] * 2
    assert world.replied == [(10, "a berth"), (20, "a berth"), (30, "a berth")]
    assert output.questions == ("harbor, a berth",) * 3
    assert world.searches == [QUESTION, *output.questions]
    assert [len(ranking) for ranking in output.steps] == [1, 2, 2, 2]
    # Each turn has three calls: a run that asks back and searches once, a reply of the user, and a reformulation.
    assert (output.usage.calls, output.usage.prompt_tokens >= 600, output.retrievals) == (9, True, 4 + 6)


async def test_the_user_is_told_what_is_wanted_and_all_that_was_said() -> None:
    chat = user()
    output = await lead(World(), chat)
    first, _, last = chat.asked("simulated_reply")
    asked = " / ".join(OFFERED)
    assert (first.line("Wanted"), first.question) == (WANTED, QUESTION)
    assert (first.lines("Asked back"), first.lines("Reply")) == ([asked], [])
    assert (last.lines("Asked back"), last.lines("Reply")) == ([asked] * 3, ["a berth"] * 2)
    assert [one.lines("Turn") for one in (first, last)] == [["Hello."]] * 2, "what was said before the question, too"
    assert output.notes["turns"] == [[asked, "a berth"]] * 3


async def test_by_choice() -> None:
    world, chat = World(), user()
    output = await lead(world, chat, form="select", check="none")
    assert world.replied == [(10, "2"), (20, "2"), (30, "2")]
    assert output.questions == (OFFERED[1],) * 3
    assert [one["corpus"] for one in world.asked] == [None] * 3, "without a check, no corpus is asked"
    first, _, last = chat.asked("simulated_choice")
    assert [one.lines("Offered") for one in (first, last)] == [list(OFFERED)] * 2
    assert [one.lines("Turn") for one in (first, last)] == [["Hello."]] * 2
    assert (last.lines("Asked back"), last.lines("Reply")) == ([" / ".join(OFFERED)] * 2, [OFFERED[1]] * 2)


@pytest.mark.parametrize(
    "world", [World(offered=()), World(fails_at=1, code=InvalidReply.sqlstate)], ids=["nothing to ask", "no reply"]
)
async def test_without_a_turn_the_question_stays(world: World) -> None:
    output = await lead(world, user())
    assert (output.status, output.questions, world.searches) == (RunStatus.SUCCEEDED, (), [QUESTION])
    assert output.steps == ((NOVEL,),) * 4
    # The call for the dropped proposals was paid for.
    assert (output.usage.calls, output.retrievals) == (1, 1 + 1)


async def test_a_later_turn_that_asks_nothing_is_counted_too() -> None:
    world = World(asks_until=1)
    output = await lead(world, user(), count=2)
    assert world.sought == [("harbor, a berth", {"count": 2, "conversation": 5})]
    # Asking back, the user's reply, the reformulation; then asking back again.
    assert (len(output.questions), output.usage.calls) == (1, 4)


async def test_a_search_that_fails_keeps_what_the_case_took() -> None:
    world = World(search_fails_at=2)
    output = await lead(world, user())
    assert (output.status, output.error_code, output.usage.calls) == (RunStatus.FAILED, RunFailed.sqlstate, 3)


async def test_a_conversation_may_end_early() -> None:
    output = await lead(World(fails_at=2, code=InvalidReply.sqlstate), user())
    assert len(output.questions) == 1
    assert [len(ranking) for ranking in output.steps] == [1, 2, 2, 2]


async def test_a_user_who_cannot_be_understood_says_nothing() -> None:
    output = await lead(World(), user(["prose", "more prose"]))
    assert (output.status, output.questions) == (RunStatus.SUCCEEDED, ())


async def test_an_outage_is_no_result() -> None:
    output = await lead(World(fails_at=2, code=EndpointUnavailable.sqlstate), user())
    assert (output.status, output.error_code, output.run_id) == (RunStatus.FAILED, EndpointUnavailable.sqlstate, 20)
    # The second run of clarifying_questions, its run of reply, and a last one that asks nothing.
    for partial in (20, 21, 30):
        output = await lead(World(partial=partial, code=EndpointUnavailable.sqlstate, asks_until=2), user())
        assert (output.status, output.error_code, output.run_id) == (
            RunStatus.FAILED,
            EndpointUnavailable.sqlstate,
            partial,
        )
        assert output.usage.calls > 0
    of_the_user = await lead(World(), user(cast("Line", EndpointUnavailable("away"))))
    assert (of_the_user.status, of_the_user.error_code) == (RunStatus.FAILED, EndpointUnavailable.sqlstate)


async def test_a_conversation_goes_on_after_an_outage_that_passes() -> None:
    output = await lead(World(partial=20, code=EndpointFailed.sqlstate), user())
    assert (output.status, output.error_code, len(output.questions)) == (RunStatus.PARTIAL, EndpointFailed.sqlstate, 3)
    output = await lead(World(fails_at=2, code=EndpointFailed.sqlstate), user())
    assert (output.status, output.error_code, output.questions) == (RunStatus.FAILED, EndpointFailed.sqlstate, ())


async def test_each_turn_is_scored() -> None:
    output = await lead(World(), user())
    values = score(CASE, output, Judgements((), ()), method="simulated_user")
    assert [values[f"turn_{turn}_mrr@10"] for turn in range(4)] == [0, 1, 1, 1]
    assert [values[f"turn_{turn}_ndcg@10"] for turn in range(4)] == [0, 1, 1, 1]
    assert values["mrr@10"] == 1
    failed = score(CASE, Output(status=RunStatus.FAILED, error="x"), Judgements((), ()), method="simulated_user")
    assert [failed[f"turn_{turn}_recall@10"] for turn in range(4)] == [0] * 4


def test_what_is_wanted_is_said_or_a_reading_of_people() -> None:
    reading = GoldInterpretation("What does a berth cost?", ())
    assert intent_of(CASE) == WANTED
    assert intent_of(Case("1", "q", (GoldInterpretation(None, ("x",)), reading))) == "What does a berth cost?"
    check_intents([CASE])
    with pytest.raises(InputError) as caught:
        check_intents([CASE, Case("2", "q", (GoldInterpretation(None, ("x",)),))])
    assert "'2'" in (caught.value.detail or "")
