"""Estimates, compared with the later calls of clarify: the same ledger and passages. Estimates call no model."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pytest

from pgclarify.data.estimates import Expected, Prospect
from pgclarify.data.runs import Run
from pgclarify.data.vocabulary import RunStatus
from pgclarify.operations.execution import execute
from pgclarify.operations.retrieval.reranking import Rerankers
from pgclarify.prompts.joint_verdicts import joint_verdicts
from pgclarify.prompts.verdict import verdict
from pgclarify.protocols import waited_for
from tests.fakes import (
    FakeClassifier,
    FakeDialogueStore,
    FakeEmbedder,
    FakeExplorationStore,
    FakeStore,
    scripts,
)
from tests.fakes.context import context_of, no_cross_encoder
from tests.fakes.reranker import FakeRerankEndpoint
from tests.fakes.scripts import Said, Told
from tests.unit.operations.test_one_pass import CONTENTS, COVERED, DRIVERS, LICENSE, OFFICE, PROVEN, QUESTION, passages

QUESTIONS = (QUESTION, "What is covered?")


@dataclass
class Desk:
    """Estimates questions, and then asks them."""

    contents: Sequence[str] = CONTENTS
    verdicts: dict[str, Said | list[Said]] = field(default_factory=lambda: {DRIVERS: LICENSE})
    relaxation: str | list[Said] | None = "driver license"
    provider: str = "openai"
    answers: Mapping[str, Told | list[Told]] = field(default_factory=dict)
    ambiguous: Sequence[str] = ()
    settings: Mapping[str, object] = field(default_factory=dict)
    has_model: bool = True
    confirmed: bool = True

    def __post_init__(self) -> None:
        found = passages(self.contents)
        self.store = FakeStore(found)
        self.exploration = FakeExplorationStore(self.store, found)
        self.verifier = scripts.verifier(
            self.verdicts,
            relaxation=self.relaxation,
            confirmation=lambda _: self.confirmed,
            provider=self.provider,
        )
        self.relevance = scripts.relevance_judge({COVERED: "0.9"})
        self.reranker = FakeRerankEndpoint({COVERED: 3.5, OFFICE: -2.0})
        self.investigator = scripts.investigator(answers=self.answers)
        # The model that answers from several passages also confirms answers.
        self.investigator._scripts["confirmation"] = self.verifier._scripts["confirmation"]
        self.embedder = FakeEmbedder()
        self.dialogue = FakeDialogueStore(self.store)
        self.classifier = FakeClassifier(dict.fromkeys(self.ambiguous, 0.9), otherwise=0.2)

    @property
    def paid(self) -> int:
        """How many calls were made so far."""
        judged = self.verifier.provider != "extractive"
        calls = [self.verifier.calls if judged else [], self.relevance.calls, self.investigator.calls]
        return sum(map(len, calls)) + len(self.reranker.calls)

    def enter(self, questions: Sequence[str] = QUESTIONS, **settings: object) -> Run:
        settings = {**self.settings, **settings}
        return self.store.add_run(json.dumps(questions), operation="estimate", settings=settings)

    async def carry_out(self, run: Run) -> None:
        context = context_of(
            run,
            self.store,
            self.verifier,
            chat=self.investigator if self.has_model else None,
            passages=self.exploration,
            dialogue=self.dialogue,
            embedder=self.embedder,
            rerankers=Rerankers(self.relevance, no_cross_encoder, at_endpoint=self.reranker.at_endpoint),
            classifier=self.classifier,
        )
        await execute(context)

    async def estimate(self, questions: Sequence[str] = QUESTIONS, **settings: object) -> Prospect:
        before, run = self.paid, self.enter(questions, **settings)
        await self.carry_out(run)
        assert self.paid == before, "no model is called"
        assert self.store.runs[run.run_id].error is None
        found = self.store.runs[run.run_id].prospect
        assert found is not None
        return found

    async def clarify(self, questions: Sequence[str] = QUESTIONS, **settings: object) -> int:
        """Ask the questions, and return how many calls that made."""
        before = self.paid
        for question in questions:
            run = self.store.add_run(question, settings={**self.settings, **settings})
            await self.carry_out(run)
            assert self.store.runs[run.run_id].status in (RunStatus.SUCCEEDED, RunStatus.PARTIAL)
        return self.paid - before


def calls(prospect: Prospect) -> int:
    return sum(one.calls for one in prospect.purposes)


def reused(prospect: Prospect) -> int:
    return sum(one.reused_calls for one in prospect.purposes)


def figures(prospect: Prospect) -> tuple[int, int, int]:
    return calls(prospect), prospect.calls_at_most, reused(prospect)


async def test_an_estimate_equals_the_calls_that_clarify_then_makes() -> None:
    desk = Desk(settings={"top_k": 3})
    before = await desk.estimate()
    assert figures(before) == (6, 6, 0)
    assert (before.sampled, before.calls_at_most_each) == (2, 3)
    rendered = [verdict(question, passage).messages for question in QUESTIONS for passage in passages()]
    length = sum(len(message.content) for messages in rendered for message in messages)
    assert before.purposes == [Expected("verdict", "fake", 6, 0, length)]

    assert await desk.clarify() == 6
    assert figures(await desk.estimate()) == (0, 0, 6)
    assert [query for query, *_ in desk.exploration.searches] == [*QUESTIONS] * 3


async def test_a_relaxed_question_is_counted_and_searched_for_if_it_is_known() -> None:
    desk = Desk(settings={"top_k": 3, "relax": True})
    before = await desk.estimate()
    assert figures(before) == (8, 8, 0)
    assert (before.sampled, before.calls_at_most_each) == (2, 4)
    assert {one.purpose: one.calls for one in before.purposes} == {"relaxation": 2, "verdict": 6}
    # The search uses the question itself, because the relaxed one is unknown.
    assert [query for query, *_ in desk.exploration.searches] == [*QUESTIONS]

    assert await desk.clarify() == 8
    assert figures(await desk.estimate()) == (0, 0, 8)
    assert [query for query, *_ in desk.exploration.searches[-2:]] == ["driver license"] * 2


async def test_only_questions_without_a_relaxed_one_in_the_ledger_are_bounded() -> None:
    desk = Desk(settings={"top_k": 3, "relax": True})
    assert await desk.clarify(QUESTIONS[:1]) == 4
    assert figures(await desk.estimate()) == (4, 4, 4)


async def test_equal_texts_are_counted_once() -> None:
    desk = Desk(contents=(OFFICE, OFFICE, COVERED, OFFICE))
    assert calls(await desk.estimate()) == await desk.clarify() == 4


@pytest.mark.parametrize(("relaxation", "asked_again"), [(["", "license"], 1), (["", ""], 2)])
async def test_an_estimate_follows_stored_replies_that_were_unreadable(
    relaxation: list[Said], asked_again: int
) -> None:
    desk = Desk(
        relaxation=relaxation,
        verdicts={DRIVERS: ["no JSON", LICENSE], OFFICE: ["no JSON", "none"]},
        settings={"top_k": 20, "relax": True},
    )
    question = QUESTIONS[:1]
    paid = await desk.clarify(question)
    assert paid == 2 + 2 + 2 + 1
    estimate = await desk.estimate(question)
    # Where no reply could be read, the next run asks again: about the office, and for a relaxed question.
    assert (calls(estimate), figures(estimate)[2]) == (asked_again, paid)
    assert desk.exploration.searches[-1][0] == (relaxation[1] or QUESTIONS[0])


async def test_a_retry_that_was_cut_off_is_to_be_paid() -> None:
    desk = Desk(verdicts={DRIVERS: ["no JSON", LICENSE]})
    await desk.clarify(QUESTIONS[:1])
    (again,) = [row for row in desk.store.table.rows.values() if row.request.sample == 1]
    again.completion = None
    assert figures(await desk.estimate(QUESTIONS[:1])) == (1, 1, 3)


async def test_the_calls_of_a_reranker_are_counted() -> None:
    desk = Desk(settings={"top_k": 1, "reranker": "model"})
    before = await desk.estimate()
    # Three grades, one verdict. At most, there could be a hundred grades.
    assert (calls(before), before.calls_at_most) == (8, 2 * 101)
    assert await desk.clarify() == 8
    # The grades do not predict which passage is judged: the best one is the last that the search finds.
    assert figures(await desk.estimate()) == (2, 2 * 101, 6)


async def test_the_calls_of_a_reranker_behind_an_endpoint_are_counted() -> None:
    desk = Desk(settings={"top_k": 1, "reranker": "endpoint:words-1"})
    before = await desk.estimate()
    # One call for all passages, one verdict.
    assert figures(before) == (4, 4, 0)
    assert {one.purpose: one.model for one in before.purposes} == {"reranking": "words-1", "verdict": "fake"}
    assert await desk.clarify() == 4
    assert figures(await desk.estimate()) == (2, 4, 2)


async def test_a_question_and_its_relaxed_one_may_each_be_ranked() -> None:
    desk = Desk(settings={"top_k": 1, "reranker": "model", "retrieval": "adaptive", "max_passages": 9, "relax": True})
    # A relaxation, three grades, and one verdict on each of three passages; at most 200 grades, and nine verdicts.
    assert figures(await desk.estimate(QUESTIONS[:1])) == (1 + 3 + 9, 1 + 200 + 9, 0)
    assert (await desk.estimate(QUESTIONS[:1], relax=False)).calls_at_most == 100 + 9


@pytest.mark.parametrize(
    "more", [{}, {"ask_back": "when_vague"}, {"retrieval": "adaptive", "max_passages": 2, "relax": True}]
)
async def test_without_a_language_model_only_the_endpoint_is_counted(more: dict[str, object]) -> None:
    settings = {"top_k": 1, "reranker": "endpoint:words-1", **more}
    desk = Desk(settings=settings, provider="extractive", relaxation=None, has_model=False)
    assert figures(await desk.estimate()) == (2, 2, 0)
    assert await desk.clarify() == 2
    after = await desk.estimate()
    assert figures(after) == (0, 2, 2)


async def test_exploration_is_counted_at_most() -> None:
    desk = Desk(settings={"top_k": 2, "max_passages": 5, "retrieval": "adaptive"})
    assert figures(await desk.estimate()) == (10, 10, 0)
    # There are fewer passages than requested, so the search has found all of them.
    assert figures(await desk.estimate(top_k=4)) == (6, 10, 0)


class TestAskingBack:
    async def test_counts_one_call_for_a_clear_question(self) -> None:
        desk = Desk(settings={"ask_back": "when_vague", "top_k": 3}, ambiguous=QUESTIONS[1:])
        before = await desk.estimate()
        # One question is clear, the other is clarified. If the single pass proves nothing, the first one is clarified,
        # too.
        assert figures(before) == (1 + 3, 4 + 3, 0)
        assert {one.purpose: one.calls for one in before.purposes} == {"joint_verdicts": 1, "verdict": 3}

    async def test_knows_an_answer_that_was_proven(self) -> None:
        desk = Desk(settings={"ask_back": "when_vague", "top_k": 3}, answers={QUESTIONS[0]: PROVEN})
        assert await desk.clarify(QUESTIONS[:1]) == 1
        # If the answer were not proven, the question would be clarified.
        assert figures(await desk.estimate(QUESTIONS[:1])) == (0, 4, 1)


def by_purpose(prospect: Prospect) -> dict[str, int]:
    return {one.purpose: one.calls for one in prospect.purposes if one.calls}


class TestJointCalls:
    FIVE = (*CONTENTS, "Offices open at nine.", "Fuel is not included.")

    async def test_are_counted_as_they_are_sent(self) -> None:
        desk = Desk(contents=self.FIVE, settings={"top_k": 5, "passages_per_call": 2})
        before = await desk.estimate()
        # For each question two calls about two passages, and one about the last. At most, a joint reply leaves both of
        # its passages open.
        assert figures(before) == (6, 6 + 8, 0)
        assert before.calls_at_most_each == 5 + 2
        assert by_purpose(before) == {"joint_verdicts": 4, "verdict": 2}
        assert {one.purpose: one.documents for one in before.purposes} == {"joint_verdicts": 8, "verdict": 0}
        groups = (passages(self.FIVE)[:2], passages(self.FIVE)[2:4])
        rendered = [joint_verdicts(question, group).messages for question in QUESTIONS for group in groups]
        length = sum(len(message.content) for messages in rendered for message in messages)
        assert before.purposes[0].input_bytes == length

        assert await desk.clarify() == 6
        assert figures(await desk.estimate()) == (0, 0, 6)

    async def test_are_bounded_if_a_caller_waits(self) -> None:
        desk = Desk(contents=self.FIVE, settings={"top_k": 5, "passages_per_call": 5})
        before = await desk.estimate(QUESTIONS[:1])
        # One call; two for a caller who waits.
        assert figures(before) == (1, 2 + 5, 0)
        with waited_for(True):
            assert await desk.clarify(QUESTIONS[:1]) == 2

    async def test_of_a_batch_stay_the_same_if_a_caller_waits(self) -> None:
        desk = Desk(contents=self.FIVE, settings={"top_k": 5, "passages_per_call": 5, "batch": True})
        with waited_for(True):
            assert await desk.clarify(QUESTIONS[:1]) == 1

    async def test_know_what_was_asked_about_each_passage(self) -> None:
        desk = Desk(contents=self.FIVE, settings={"top_k": 3})
        question = QUESTIONS[:1]
        assert await desk.clarify(question) == 3
        joint = {"passages_per_call": 5, "top_k": 5}
        assert figures(await desk.estimate(question, **joint)) == (1, 1 + 2, 3)
        assert await desk.clarify(question, **joint) == 1
        assert figures(await desk.estimate(question, **joint)) == (0, 0, 3 + 1)

    async def test_know_what_a_joint_reply_has_left_open(self) -> None:
        # The joint reply quotes what stands nowhere, and the reply about that passage alone is better.
        unfit = replace(LICENSE, quote="Every driver was born in 1931.")
        desk = Desk(contents=self.FIVE, settings={"top_k": 5, "passages_per_call": 5}, verdicts={DRIVERS: unfit})
        question = QUESTIONS[:1]
        assert await desk.clarify(question) == 2
        assert figures(await desk.estimate(question)) == (0, 0, 2)

    async def test_are_asked_again_if_no_reply_can_be_read(self) -> None:
        desk = Desk(contents=self.FIVE, settings={"top_k": 5, "passages_per_call": 5})
        desk.verifier._scripts["joint_verdicts"] = lambda _: ["what?", "what?"]
        question = QUESTIONS[:1]
        assert await desk.clarify(question) == 2 + 5
        assert calls(await desk.estimate(question)) == await desk.clarify(question) == 0

    async def test_of_an_exploration_are_those_of_its_batches(self) -> None:
        settings = {"top_k": 20, "max_passages": 20, "retrieval": "adaptive", "passages_per_call": 20}
        contents = [f"Car {number} costs {number} dollars." for number in range(20)]
        desk = Desk(contents=contents, verdicts={}, settings=settings)
        assert figures(await desk.estimate(QUESTIONS[:1])) == (3, 20 + 10, 0)

    async def test_are_not_made_without_a_language_model(self) -> None:
        settings = {"top_k": 1, "reranker": "endpoint:words-1", "passages_per_call": 5}
        desk = Desk(settings=settings, provider="extractive", relaxation=None, has_model=False)
        assert figures(await desk.estimate()) == (2, 2, 0)

    async def test_of_a_single_pass_are_not_paid_for_again(self) -> None:
        settings = {"ask_back": "when_vague", "top_k": 3, "passages_per_call": 3}
        desk = Desk(settings=settings)
        question = QUESTIONS[:1]
        before = await desk.estimate(question)
        assert (by_purpose(before), before.calls_at_most) == ({"joint_verdicts": 1}, 1 + 3 + 1)
        assert await desk.clarify(question) == 1


class TestConfirming:
    async def test_counts_calls_as_if_every_passage_answered(self) -> None:
        desk = Desk(settings={"verify": "model", "top_k": 3})
        before = await desk.estimate()
        # For each question three verdicts and a confirmation.
        assert figures(before) == (2 * 4, 2 * 4, 0)
        assert (before.calls_at_most_each, {one.purpose: one.calls for one in before.purposes}) == (
            4,
            {"verdict": 6, "confirmation": 2},
        )
        assert await desk.clarify(QUESTIONS[:1]) == 4
        # Confirmations are not looked up.
        assert figures(await desk.estimate(QUESTIONS[:1])) == (1, 1, 3)

    async def test_exploration_is_counted_at_most(self) -> None:
        desk = Desk(settings={"top_k": 2, "max_passages": 12, "retrieval": "adaptive", "verify": "model"})
        # There may be 12 verdicts, and two passages are known. Each passage may be a batch with its own confirmation.
        assert figures(await desk.estimate(QUESTIONS[:1])) == (12 + 3, 12 + 12, 0)

    async def test_asking_back_confirms_one_answer(self) -> None:
        desk = Desk(settings={"ask_back": "when_vague", "verify": "model", "top_k": 3}, answers={QUESTIONS[0]: PROVEN})
        question = QUESTIONS[:1]
        assert figures(await desk.estimate(question)) == (2, 2 + 4, 0)
        assert await desk.clarify(question) == 2


async def test_without_a_language_model_nothing_is_asked_and_nothing_looked_for() -> None:
    desk = Desk(provider="extractive")
    assert await desk.estimate() == Prospect(2, [], 0, 0)
    assert desk.exploration.searches == []


@pytest.mark.parametrize("settings", [{"reranker": "model"}, {"verify": "model"}])
async def test_a_model_that_is_not_there_is_an_error(settings: dict[str, object]) -> None:
    desk = Desk(settings=settings, has_model=False)
    run = desk.enter()
    await desk.carry_out(run)
    record = desk.store.runs[run.run_id]
    assert (record.status, record.prospect) == (RunStatus.FAILED, None)
    assert "language model" in (record.error or "")


async def test_many_passages_are_read_in_turns() -> None:
    desk = Desk(settings={"top_k": 400})
    questions = [f"What is {number}?" for number in range(5)]
    assert calls(await desk.estimate(questions)) == 15
    assert [len(queries) for queries in desk.embedder.calls] == [2, 2, 1]
