"""Detection: the classifier, users' rules, and runs of many questions."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from typing import Any

import pytest

from pgclarify.algorithms.ambiguity import AmbiguityClassifier
from pgclarify.data.dialogue import Detection, DetectionReason, TrainedVersion
from pgclarify.data.runs import Run
from pgclarify.data.vocabulary import RunStatus
from pgclarify.errors import RunLost
from pgclarify.operations.detector import Detector, summarize
from pgclarify.operations.execution import execute
from tests.fakes import FakeClassifier, FakeDialogueStore, FakeEmbedder, FakeStore
from tests.fakes.context import context_of

VAGUE, CLEAR = "How much is it?", "How tall is the Varden Tower?"
SAID = DetectionReason("classifier", "meaning", "it is 0.8 ambiguous")


def detector(classifier: AmbiguityClassifier, embedder: FakeEmbedder | None = None) -> Detector:
    embedder = embedder or FakeEmbedder()

    async def get(model: str) -> FakeEmbedder:
        assert model == classifier.embedding_model
        return embedder

    return Detector(classifier, get)


def without_corpus(run: Run) -> Run:
    return replace(run, corpus_id=None, embedding_model=None, dimensions=None)


async def carry_out(
    question,
    *,
    settings=None,
    operation="detect_ambiguity",
    rules=(),
    **options,
):
    """Execute one run. Returns the detections, and the record of the run."""
    store = FakeStore()
    dialogue = FakeDialogueStore(store, rules=rules)
    run = store.add_run(question, operation=operation, settings=settings)
    classifier = FakeClassifier({VAGUE: 0.8}, otherwise=0.1)
    judge = detector(classifier, **options)
    await execute(context_of(without_corpus(run), store, dialogue=dialogue, detector=judge))
    return store.runs[run.run_id].results_of(Detection), store.runs[run.run_id], classifier


class TestOneQuestion:
    async def test_is_ambiguous_from_the_classifiers_threshold_on(self) -> None:
        (found,), record, _ = await carry_out(VAGUE)

        assert found == Detection(VAGUE, True, 0.8, "pragmatic", (SAID,), "fake 1")
        assert record.status is RunStatus.SUCCEEDED

    @pytest.mark.parametrize("question", ["Wie viel kostet das?", "¿Cuánto cuesta?", "いくらですか", "Сколько стоит?"])
    async def test_is_not_judged_in_another_language_than_english(self, question) -> None:
        (found,), record, _ = await carry_out(question, settings={"threshold": 0})

        assert (found.is_ambiguous, found.probability, found.kind) == (False, None, None)
        assert [(reason.source, reason.name) for reason in found.reasons] == [("classifier", "language")]
        assert record.status is RunStatus.SUCCEEDED
        assert summarize([found]).startswith("not judged")

    async def test_in_another_language_a_rule_decides(self) -> None:
        (found,), _, _ = await carry_out("Wie viel kostet das?", rules=[("kostet", "lexical", None)])

        assert (found.is_ambiguous, found.probability, found.kind) == (True, 1.0, "lexical")
        assert [reason.name for reason in found.reasons][1:] == ["language"]

    @pytest.mark.parametrize(("threshold", "is_ambiguous"), [(0.8, True), (0.81, False), (0, True), (1, False)])
    async def test_by_the_callers_threshold_if_there_is_one(self, threshold, is_ambiguous) -> None:
        (found,), _, _ = await carry_out(VAGUE, settings={"threshold": threshold})

        assert found.is_ambiguous is is_ambiguous

    @pytest.mark.parametrize(("threshold", "found"), [(0.05, "ambiguous (pragmatic)"), (0.8, "clear")])
    async def test_if_nothing_speaks_for_that_side_it_says_so(self, threshold, found) -> None:
        class Silent(FakeClassifier):
            def judge(self, asked, vectors, **options):
                return [replace(judged, reasons=()) for judged in super().judge(asked, vectors, **options)]

        store = FakeStore()
        dialogue = FakeDialogueStore(store)
        run = store.add_run(VAGUE, operation="detect_ambiguity", settings={"threshold": threshold})
        silent = detector(Silent(otherwise=0.22))
        await execute(context_of(without_corpus(run), store, dialogue=dialogue, detector=silent))

        text = f"nothing in its wording speaks for that; the threshold is {threshold}"
        record = store.runs[run.run_id]
        assert record.results_of(Detection)[0].reasons == (DetectionReason("classifier", "threshold", text),)
        assert record.stages[0].note == f"{found}, probability 0.22: {text}"

    async def test_is_judged_with_what_was_said_before_without_blanks(self) -> None:
        _, _, classifier = await carry_out(VAGUE, settings={"history": ["Is there a tour?", " ", "Yes"]})

        assert classifier.asked == [(VAGUE, ("Is there a tour?", "Yes"))]


class TestRules:
    async def test_make_a_clear_question_ambiguous_as_they_say(self) -> None:
        rules = [
            ("tower", "lexical", "there are two towers"),
            ("varden", "syntactic", None),
            ("bridge", "lexical", None),
        ]
        (found,), _, _ = await carry_out(CLEAR, rules=rules)

        assert (found.is_ambiguous, found.probability, found.kind) == (True, 1.0, "lexical")
        assert found.reasons == (
            DetectionReason("rule", "rule 1", '"Tower": there are two towers'),
            DetectionReason("rule", "rule 2", '"Varden" matches a rule'),
        )


class TestManyQuestions:
    async def test_are_judged_in_order_under_one_run(self) -> None:
        questions = [f"{VAGUE} {number}" if number % 3 else VAGUE for number in range(600)]
        found, record, classifier = await carry_out(json.dumps(questions), settings={"questions": 1})

        assert [one.question for one in found] == questions
        assert [one.is_ambiguous for one in found] == [question == VAGUE for question in questions]
        assert [question for question, _ in classifier.asked] == questions
        (stage,) = record.stages
        assert (stage.rows, stage.note) == (600, "200 of 600 questions are ambiguous")


class TestTrouble:
    async def test_nobody_waits_while_the_classifier_computes(self) -> None:
        threads = []

        class Slow(FakeClassifier):
            def judge(self, asked, vectors, **options):
                threads.append(threading.current_thread())
                return super().judge(asked, vectors, **options)

        store = FakeStore()
        run = store.add_run("[]", operation="detect_ambiguity")
        found = await detector(Slow()).detect(run, FakeDialogueStore(store), [(VAGUE, ["a", "b"])] * 600, None)

        assert len(found) == 600
        assert threads and threading.main_thread() not in threads

    async def test_a_run_that_is_lost_meanwhile_says_so_to_who_embeds_the_detector(self) -> None:
        store = FakeStore()
        run = store.add_run(VAGUE, operation="rewrite")
        store.cancel(run)

        with pytest.raises(RunLost):
            await detector(FakeClassifier()).detect(run, FakeDialogueStore(store), [(VAGUE, ())], None)


class TestATrainedVersion:
    TRAINED = TrainedVersion(4, "fake 1", 0.3, True, True, (0.4,))

    async def detect(self, detector: Detector, trained: tuple[int, TrainedVersion] | None, *, corpus: bool = True):
        """Detect in another run. Returns the detection, and whether the version was read."""
        store = FakeStore()
        run = store.add_run(CLEAR, operation="detect_ambiguity")
        dialogue = FakeDialogueStore(store)
        dialogue.trained = trained
        asked = run if corpus else without_corpus(run)
        (found,) = await detector.detect(asked, dialogue, [(CLEAR, ())], None)
        return found, dialogue.sent

    async def test_a_new_trained_version_judges_at_once(self) -> None:
        ours = detector(FakeClassifier())
        versions = [(9, self.TRAINED), (10, replace(self.TRAINED, version=5, weights=(0.2,))), None, (9, self.TRAINED)]
        found = [(await self.detect(ours, one))[0].classifier_version for one in versions]

        assert found == ["fake 1+4", "fake 1+5", "fake 1", "fake 1+4"]

    async def test_judges_nothing_that_is_asked_of_no_corpus(self) -> None:
        found, sent = await self.detect(detector(FakeClassifier()), (9, self.TRAINED), corpus=False)

        assert (found.classifier_version, sent) == ("fake 1", [])

    @pytest.mark.parametrize("change", [{"weights": ()}, {"shipped_version": "fake 0"}])
    async def test_a_version_that_is_broken_or_for_another_classifier_does_not_judge(
        self, change: dict[str, Any], caplog: pytest.LogCaptureFixture
    ) -> None:
        ours = detector(FakeClassifier())
        useless = replace(self.TRAINED, **change)
        found, _ = await self.detect(ours, (9, useless))
        again, sent = await self.detect(ours, (9, useless))

        assert (found.classifier_version, found.probability, sent) == ("fake 1", 0.0, [])
        assert again == found
        assert len([one for one in caplog.records if one.name.endswith("detector")]) == 1
