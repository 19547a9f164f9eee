"""The baselines of rewriting only ambiguous questions: detectors, calls and searches."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from pgclarify.client import Ambiguity
from pgclarify.database.evaluated_runs import RunFacts
from pgclarify.errors import CompletionError, EndpointUnavailable, RunFailed
from pgclarify.evaluated import Case, CorpusDescription, Output
from pgclarify.evaluation.asking import Asking
from pgclarify.evaluation.baselines import Asked
from pgclarify.evaluation.dialogue_baselines import Detect, RewriteWhere, classifier, everything, few_shot, foretold
from pgclarify.evaluation.judging import Judgements
from pgclarify.evaluation.scoring import score
from pgclarify.ledger.completions import PollInterval
from pgclarify.model import Passage
from pgclarify.vocabulary import RunStatus
from tests.fakes import FakeEmbedder, FakeLedger
from tests.fakes.completer import Line, ScriptedCompleter

QUESTION, REWRITTEN = "When was she born?", "When was Ida Holm born?"
HISTORY = ("Who painted the altar?", "Ida Holm.")
CASE = Case("1", QUESTION, history=HISTORY, document_ids=("birth",))
BIRTH = Passage("birth", 1, "Ida Holm was born in 1871.")
AWAY = EndpointUnavailable("the endpoint cannot be reached")


class FakeRetriever:
    """Finds the passage only if the query has the painter's name."""

    def __init__(self) -> None:
        self.searches: list[tuple[str, int]] = []

    async def search(self, question: str, top_k: int) -> list[Passage]:
        self.searches.append((question, top_k))
        return [BIRTH] if "Ida" in question else []


def model(
    rewritten: Line | Sequence[Line] | None = REWRITTEN, *, is_ambiguous: Line | bool = True
) -> ScriptedCompleter:
    def say(_: object) -> Line | list[Line]:
        if isinstance(rewritten, CompletionError):
            return rewritten
        if isinstance(rewritten, str) or rewritten is None:
            return json.dumps({"question": rewritten})
        return list(rewritten)

    def detect(_: object) -> Line:
        return json.dumps({"ambiguous": is_ambiguous}) if isinstance(is_ambiguous, bool) else is_ambiguous

    return ScriptedCompleter({"rewriting": say, "baseline_ambiguity": detect})


async def answer(
    chat: ScriptedCompleter, case: Case = CASE, probabilities: Mapping[str, float] | None = None
) -> Output:
    """Run the baseline with the language model as detector, or with given probabilities."""
    retriever = FakeRetriever()
    asked = Asked(FakeLedger(), chat, retriever, FakeEmbedder(), PollInterval(first=0.001, longest=0.002))
    detect: Detect = few_shot(asked) if probabilities is None else foretold(probabilities)
    return await RewriteWhere(asked, retriever, detect).answer(case)


def purposes(chat: ScriptedCompleter) -> list[str]:
    return [call.purpose for call in chat.calls]


async def test_what_the_model_calls_ambiguous_is_rewritten_and_searched_with() -> None:
    chat = model()
    output = await answer(chat)
    assert purposes(chat) == ["baseline_ambiguity", "rewriting"]
    assert (output.questions, output.probability) == ((REWRITTEN,), 1.0)
    assert (output.retrieved, output.retrievals, output.usage.calls) == ((BIRTH,), 1, 2)


async def test_what_it_calls_clear_is_left_alone() -> None:
    chat = model(is_ambiguous=False)
    output = await answer(chat)
    assert purposes(chat) == ["baseline_ambiguity"]
    assert (output.questions, output.probability, output.retrieved) == ((QUESTION,), 0.0, ())


async def test_everything_is_rewritten_but_where_nothing_was_said() -> None:
    chat, retriever = model(), FakeRetriever()
    asked = Asked(FakeLedger(), chat, retriever, FakeEmbedder())
    method = RewriteWhere(asked, retriever, everything())
    assert (await method.answer(CASE)).questions == (REWRITTEN,)
    assert (await method.answer(Case("2", QUESTION, document_ids=("birth",)))).questions == (QUESTION,)
    assert purposes(chat) == ["rewriting"]
    assert retriever.searches == [(REWRITTEN, 20), (QUESTION, 20)]


@pytest.mark.parametrize(("probability", "question"), [(0.5, REWRITTEN), (0.49, QUESTION)])
async def test_from_a_half_on_a_regression_decides(probability: float, question: str) -> None:
    output = await answer(model(), probabilities={"1": probability})
    assert (output.questions, output.probability) == ((question,), probability)


class FakeDetector:
    """Stands in for the server, with one judgement of all questions; if the judgement is None, run 7 fails."""

    def __init__(self, judged: Ambiguity | None) -> None:
        self._judged = judged
        self.asked: list[tuple[str, Sequence[str], Mapping[str, object]]] = []
        corpus, now = CorpusDescription(1, "docs", 3, "m"), datetime(2026, 3, 1, tzinfo=UTC)
        server = cast("Any", self)
        self.asking = Asking(server, server, server, server, corpus, now)

    async def detect_ambiguity(self, question: str, history: Sequence[str], **options: object) -> Ambiguity:
        self.asked.append((question, history, options))
        if self._judged is None:
            raise RunFailed("the question could not be embedded", run_ids=[7])
        return self._judged

    async def facts(self, run_id: int, time: datetime) -> RunFacts:
        assert run_id == 7
        return RunFacts(RunStatus.FAILED, None, None, None, AWAY.sqlstate, None, was_there=False, retrievals=0)


async def answer_by_classifier(detector: FakeDetector, chat: ScriptedCompleter) -> Output:
    asked = Asked(FakeLedger(), chat, FakeRetriever(), FakeEmbedder())
    return await RewriteWhere(asked, FakeRetriever(), classifier(detector.asking)).answer(CASE)


@pytest.mark.parametrize(
    ("is_ambiguous", "probability", "expected"),
    [
        (True, 0.5, (REWRITTEN, 0.5, 1)),
        (False, 0.4, (QUESTION, 0.4, 0)),
        (False, None, (QUESTION, 0.0, 0)),
        # The threshold of a trained classifier need not be a half.
        (True, 0.3, (REWRITTEN, 0.3, 1)),
        (False, 0.6, (QUESTION, 0.6, 0)),
    ],
)
async def test_only_what_the_classifier_calls_ambiguous_is_rewritten(
    is_ambiguous: bool, probability: float | None, expected: tuple[str, float, int]
) -> None:
    """The question leans on its history, so `rewrite` would also rewrite it where the classifier calls it clear."""
    chat, detector = model(), FakeDetector(Ambiguity(7, is_ambiguous, probability, None, ()))
    output = await answer_by_classifier(detector, chat)
    assert (*output.questions, output.probability, output.usage.calls) == expected
    assert purposes(chat) == ["rewriting"] * expected[2]
    assert detector.asked == [(QUESTION, HISTORY, {"corpus": "docs", "top_k": 0, "timeout": None})]
    labelled = replace(CASE, is_ambiguous=is_ambiguous)
    values = score(labelled, output, Judgements(), method="rewrite_ambiguous")
    assert values["predicted"] == values["label"] == is_ambiguous


async def test_a_detection_that_fails_fails_the_case() -> None:
    chat = model()
    output = await answer_by_classifier(FakeDetector(None), chat)
    assert (output.status, output.error_code, output.retrievals) == (RunStatus.FAILED, AWAY.sqlstate, 0)
    assert purposes(chat) == []


async def test_without_a_language_model_nothing_is_rewritten() -> None:
    output = await RewriteWhere(None, FakeRetriever(), foretold({"1": 0.9})).answer(CASE)
    assert (output.questions, output.probability, output.usage.calls) == ((QUESTION,), 0.9, 0)
    assert output.status is RunStatus.SUCCEEDED


@pytest.mark.parametrize("said", [None, ["prose", "more prose"]])
async def test_what_the_model_cannot_say_stays_as_it_was(said: Sequence[Line] | None) -> None:
    assert (await answer(model(said))).questions == (QUESTION,)


async def test_a_decision_that_cannot_be_read_is_clear() -> None:
    output = await answer(model(is_ambiguous="perhaps"))
    assert (output.questions, output.probability) == ((QUESTION,), 0.0)


async def test_a_model_that_is_away_fails_the_case_and_searches_nothing() -> None:
    output = await answer(model(AWAY))
    assert (output.status, output.error_code, output.retrievals) == (RunStatus.FAILED, AWAY.sqlstate, 0)


async def test_a_search_that_fails_keeps_what_the_rewriting_took() -> None:
    class Failing(FakeRetriever):
        async def search(self, question: str, top_k: int) -> list[Passage]:
            raise RunFailed("the search failed")

    asked = Asked(FakeLedger(), model(), Failing(), FakeEmbedder(), PollInterval(first=0.001, longest=0.002))
    output = await RewriteWhere(asked, Failing(), everything()).answer(CASE)
    assert (output.status, output.error_code) == (RunStatus.FAILED, RunFailed.sqlstate)
    assert (output.questions, output.usage.calls, output.retrievals) == ((), 1, 1)


async def test_where_nothing_is_known_nothing_is_searched() -> None:
    output = await answer(model(), Case("1", QUESTION, history=HISTORY))
    assert (output.questions, output.retrievals) == ((REWRITTEN,), 0)
