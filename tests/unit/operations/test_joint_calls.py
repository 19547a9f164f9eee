"""clarify with several passages in a call: what is asked, what is kept, and what is asked about alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from pgclarify.data.documents import Passage
from pgclarify.data.verdicts import Reading
from pgclarify.data.vocabulary import Outcome, RunStatus
from pgclarify.errors import BudgetSpent, CompletionError, EndpointUnavailable, FilteredReply, RequestRefused
from pgclarify.operations.execution import execute
from pgclarify.operations.judging.planning import dealt
from tests.fakes import FakeEmbedder, FakeStore, RunRecord, scripts
from tests.fakes.completer import Line, Prompt, ScriptedCompleter
from tests.fakes.context import context_of

QUESTION = "What does it cost?"
THINGS = ("car", "boat", "tent", "bike", "raft")
TOLD = {f"A {thing} costs {10 + n} dollars.": f"{10 + n} dollars" for n, thing in enumerate(THINGS)}
SILENT = ("The office is near the pier.", "Nobody knows who built the pier.")
Said = Callable[[list[str]], Line]


def reading(content: str) -> Reading:
    return Reading(f"What does a {content.split()[1]} cost?", TOLD[content], content)


def joint(contents: Sequence[str], proofs: Mapping[int, str] | None = None) -> str:
    """What a model replies about several passages; proofs has other quotes, by place."""
    found = [(place, content) for place, content in enumerate(contents, start=1) if content in TOLD]
    return json.dumps(
        {
            "readings": [
                {
                    "interpretation": reading(content).interpretation,
                    "answer": TOLD[content],
                    "proofs": [{"passage": place, "quote": (proofs or {}).get(place, content)}],
                }
                for place, content in found
            ]
        }
    )


class Model(ScriptedCompleter):
    """Answers about one passage, or about several."""

    def __init__(self, about_several: Said | list[Line] = joint, *, alone: Mapping[str, Line] | None = None) -> None:
        known = dict(alone or {})

        def several(prompt: Prompt) -> Line | list[Line]:
            return about_several if isinstance(about_several, list) else about_several(prompt.passages)

        def one(prompt: Prompt) -> Line:
            content = prompt.passage
            said = scripts.verdict_reply(reading(content) if content in TOLD else None)
            return known.get(content, said)

        super().__init__({"joint_verdicts": several, "verdict": one})

    def asked_about(self, purpose: str) -> list[list[str]]:
        """The contents of the passages in each call."""
        return [prompt.passages for prompt in self.asked(purpose)]


class Desk:
    """Asks a question about some passages, as often as wanted."""

    def __init__(self, contents: Sequence[str], model: Model, *, most: int = 3, **settings: object) -> None:
        self.model = model
        self.settings: dict[str, object] = {"passages_per_call": most, **settings}
        self.contents = contents
        self.store = FakeStore()

    async def ask(self, embedder: FakeEmbedder | None = None) -> RunRecord:
        self.store.passages = [
            Passage(f"document-{place}", place, content) for place, content in enumerate(self.contents, start=1)
        ]
        run = self.store.add_run(QUESTION, settings=self.settings)
        await execute(context_of(run, self.store, self.model, embedder=embedder))
        return self.store.runs[run.run_id]


def answers(record: RunRecord) -> set[str]:
    return {one.answer for one in record.interpretations}


async def test_one_call_reads_several_passages() -> None:
    desk = Desk([*TOLD, *SILENT], Model())
    record = await desk.ask()
    assert answers(record) == set(TOLD.values())
    assert [len(one) for one in desk.model.asked_about("joint_verdicts")] == [3, 3]
    # A single passage has the prompt for one.
    assert desk.model.asked_about("verdict") == [[SILENT[1]]]
    assert [record.verdicts[rank].outcome for rank in (6, 7)] == [Outcome.ABSTAINED, Outcome.ABSTAINED]


async def test_without_the_setting_each_passage_has_its_own_call() -> None:
    desk = Desk([*TOLD], Model(), most=1)
    assert answers(await desk.ask()) == set(TOLD.values())
    assert desk.model.asked_about("joint_verdicts") == []


async def test_later_runs_ask_only_about_passages_of_which_nothing_is_known() -> None:
    desk = Desk([*TOLD, *SILENT], Model(), most=20)
    await desk.ask()
    before = len(desk.model.calls)
    again = await desk.ask()
    assert answers(again) == set(TOLD.values())
    assert len(desk.model.calls) == before
    new = "A sled costs 99 dollars."
    desk.model = Model(alone={new: scripts.verdict_reply(Reading("What does a sled cost?", "99 dollars", new))})
    desk.contents = [new, *[*TOLD][1:], *SILENT]
    changed = await desk.ask()
    assert answers(changed) == {"99 dollars", *[*TOLD.values()][1:]}
    assert desk.model.asked_about("verdict") == [[new]]
    assert desk.model.asked_about("joint_verdicts") == []


async def test_what_was_judged_alone_before_is_not_paid_for_again() -> None:
    desk = Desk([*TOLD], Model(), most=1)
    await desk.ask()
    desk.settings["passages_per_call"] = 20
    desk.model = Model()
    assert answers(await desk.ask()) == set(TOLD.values())
    assert desk.model.calls == []


@pytest.mark.parametrize(
    ("reply", "calls"),
    [
        # Its quote stands nowhere.
        (lambda shown: joint(shown, {2: "Boats are cheap."}), 1),
        # Neither reply can be read.
        (lambda _: "what?", 2),
        (lambda _: FilteredReply("a filter of the endpoint removed the reply"), 1),
        # So many passages are too long for the model, or a filter refuses one of them.
        (lambda _: RequestRefused("the endpoint refuses the request"), 1),
    ],
)
async def test_what_a_reply_leaves_open_is_asked_about_alone(reply: Said, calls: int) -> None:
    desk = Desk([*TOLD], Model(reply), most=20)
    record = await desk.ask()
    assert answers(record) == set(TOLD.values())
    assert len(desk.model.asked_about("joint_verdicts")) == calls
    open_ones = [*TOLD][1:2] if calls == 1 and isinstance(reply([*TOLD]), str) else [*TOLD]
    assert sorted(desk.model.asked_about("verdict")) == sorted([one] for one in open_ones)


async def test_a_filter_leaves_out_only_the_passage_that_it_is_about() -> None:
    removed = FilteredReply("a filter of the endpoint removed the reply")
    bad = next(iter(TOLD))
    record = await Desk([*TOLD], Model([removed], alone={bad: removed}), most=20).ask()
    assert record.status is RunStatus.PARTIAL
    assert answers(record) == {*TOLD.values()} - {TOLD[bad]}


async def test_what_one_reply_left_open_stays_alone_in_later_runs() -> None:
    open_ones = [*TOLD][1:3]
    failed = EndpointUnavailable("nobody is there")
    mixed_up = Model(lambda shown: joint(shown, {2: "Boats.", 3: "Tents."}), alone=dict.fromkeys(open_ones, failed))
    desk = Desk([*TOLD], mixed_up, most=20)
    assert (await desk.ask()).status is RunStatus.PARTIAL
    desk.model = Model()
    assert answers(await desk.ask()) == set(TOLD.values())
    assert desk.model.asked_about("joint_verdicts") == []
    assert sorted(desk.model.asked_about("verdict")) == sorted([one] for one in open_ones)


@pytest.mark.parametrize("error", [EndpointUnavailable("nobody is there")])
async def test_an_endpoint_that_fails_fails_for_all_passages_of_the_call(error: CompletionError) -> None:
    desk = Desk([*TOLD], Model([error]), most=20)
    record = await desk.ask()
    assert record.status is RunStatus.FAILED
    assert desk.model.asked_about("verdict") == []


async def test_readings_of_one_reply_are_embedded_at_once() -> None:
    class Counting(FakeEmbedder):
        at_once = most_at_once = 0

        async def encode(self, texts: Sequence[str], *, are_passages: bool = False) -> NDArray[np.float32]:
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
            try:
                return await super().encode(texts, are_passages=are_passages)
            finally:
                self.at_once -= 1

    desk = Desk([*TOLD], Model(), most=20)
    for embedder in (Counting(), Counting()):
        # The second run knows what the reply to the first one says.
        await desk.ask(embedder)
        assert embedder.most_at_once == len(TOLD)


async def test_a_budget_counts_calls_as_they_are_sent() -> None:
    desk = Desk([*TOLD], Model(), most=2)
    desk.store.table.max_calls = 1
    record = await desk.ask()
    assert isinstance(desk.store.refusal, BudgetSpent)
    assert record.status is RunStatus.PARTIAL
    assert len(answers(record)) == 2


async def test_readings_stand_in_the_order_of_the_reply() -> None:
    def turned(contents: Sequence[str]) -> str:
        reply = json.loads(joint(contents))
        return json.dumps({"readings": reply["readings"][::-1]})

    record = await Desk([*TOLD], Model(turned), most=20).ask()
    assert [one.answer for one in record.interpretations] == [*TOLD.values()][::-1]


class TestDealt:
    PASSAGES = tuple(Passage(f"d{place}", place, "text") for place in range(20))

    @pytest.mark.parametrize(
        ("count", "most", "sizes"), [(20, 20, [20]), (20, 8, [8, 8, 4]), (3, 8, [3]), (0, 8, []), (9, 4, [4, 4, 1])]
    )
    def test_calls_are_filled_by_rank(self, count: int, most: int, sizes: list[int]) -> None:
        groups = dealt(self.PASSAGES[:count], most, is_urgent=False)
        assert [len(one) for one in groups] == sizes
        assert [place for one in groups for place in one] == [*range(count)]

    @pytest.mark.parametrize(
        ("count", "most", "sizes"), [(20, 20, [7, 7, 6]), (20, 4, [4] * 5), (3, 8, [3]), (4, 8, [2, 2])]
    )
    def test_a_caller_who_waits_gets_several_at_once(self, count: int, most: int, sizes: list[int]) -> None:
        groups = dealt(self.PASSAGES[:count], most, is_urgent=True)
        assert [len(one) for one in groups] == sizes
        assert sorted(place for one in groups for place in one) == [*range(count)]
        # The best passages, which have the long replies, are in different calls.
        assert [one[0] for one in groups] == [*range(len(groups))]

    @pytest.mark.parametrize("text", ["x" * 20_000, "車" * 8_000])
    def test_long_passages_have_fewer_neighbors(self, text: str) -> None:
        long = [Passage(f"d{place}", place, text) for place in range(3)]
        assert dealt(long, 20, is_urgent=False) == [[0], [1], [2]]
        # Short ones after them share a call again.
        assert dealt([*long, *self.PASSAGES[:3]], 20, is_urgent=False)[:3] == [[0], [1], [2, 3, 4, 5]]
