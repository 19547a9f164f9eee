"""Rewriting: only ambiguous questions with a history, only faithful rewrites, and always with a reason."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pgclarify.data.dialogue import Detection, DetectionReason, Rewriting
from pgclarify.data.vocabulary import AmbiguityKind, RunStatus
from pgclarify.errors import EndpointUnavailable
from pgclarify.operations.execution import execute
from tests.fakes import FakeClassifier, FakeDialogueStore, FakeEmbedder, FakeStore, scripts
from tests.fakes.context import context_of

HISTORY = ["Who painted the Lindvik Altar?", "Ida Holm, in 1903"]
VAGUE = " Where was  she born?\n"
CLEAR = "\tWhere was Ida Holm  born? "
REWRITTEN = "Where was Ida Holm born?"


async def carry_out(question=VAGUE, history=HISTORY, rewriter=None, *, rules=(), classifier=None, **options):
    """One run: the rewritten question, its record, and the model's prompts."""
    store = FakeStore()
    dialogue = FakeDialogueStore(store, rules=rules)
    run = store.add_run(question, operation="rewrite", settings={"history": list(history)} if history else {})
    classifier = classifier or FakeClassifier({CLEAR: 0.1}, otherwise=0.9)
    embedder = FakeEmbedder(**options)
    context = context_of(
        run, store, rewriter, chat=rewriter, dialogue=dialogue, embedder=embedder, classifier=classifier
    )
    await execute(context)
    record = store.runs[run.run_id]
    return next(iter(record.results_of(Rewriting)), None), record, record.results_of(Detection)


class TestWhatIsNotRewritten:
    async def test_a_clear_question_comes_back_to_the_byte_without_a_call(self) -> None:
        model = scripts.rewriter({CLEAR: "What?"})
        rewriting, record, (detection,) = await carry_out(CLEAR, rewriter=model)

        assert rewriting == Rewriting(CLEAR, was_ambiguous=False, reason=None)
        assert not detection.is_ambiguous
        assert (record.status, model.calls) == (RunStatus.SUCCEEDED, [])
        assert [stage.name for stage in record.stages] == ["detection"]

    @pytest.mark.parametrize("rules", [[], [("sie", "pragmatic", None)]])
    async def test_nor_one_in_another_language_which_is_said(self, rules) -> None:
        question = "Und wo wurde sie geboren?"
        model = scripts.rewriter({question: "Wo wurde Ida Holm geboren?"})
        rewriting, record, (detection,) = await carry_out(question, rewriter=model, rules=rules)

        assert (rewriting.rewritten, rewriting.was_ambiguous) == (question, bool(rules))
        assert "language" in {reason.name for reason in detection.reasons}
        assert "not in English" in rewriting.reason
        assert (record.status, model.calls) == (RunStatus.SUCCEEDED, [])

    @pytest.mark.parametrize("history", [[], ["", " \n"]])
    async def test_nor_one_before_which_nothing_was_said(self, history) -> None:
        model = scripts.rewriter({VAGUE: REWRITTEN})
        rewriting, record, _ = await carry_out(history=history, rewriter=model)

        assert rewriting.rewritten == VAGUE
        assert rewriting.was_ambiguous
        assert "nothing was said before" in rewriting.reason
        assert (record.status, model.calls) == (RunStatus.SUCCEEDED, [])


class Settled(FakeClassifier):
    """With its history every question is clear, and without it every question is ambiguous."""

    def judge(self, asked, vectors, **options):
        return [
            replace(judged, probability=0.2 if history else 0.9)
            for judged, (_, history) in zip(super().judge(asked, vectors, **options), asked, strict=True)
        ]


class Unknowing(Settled):
    """It gives the reasons that the classifier gives without the history."""

    def judge(self, asked, vectors, **options):
        said = (
            DetectionReason(
                "feature", "referential_words", 'it says "she", and nothing before says who or what is meant'
            ),
            DetectionReason("feature", "length", "it has four words"),
        )
        return [replace(judged, reasons=said) for judged in super().judge(asked, vectors, **options)]


class TestWhatOnlyTheHistorySettles:
    """The question is clear, and depends on its history."""

    async def test_is_rewritten_since_it_will_be_read_alone(self) -> None:
        model = scripts.rewriter({VAGUE: REWRITTEN})
        rewriting, _, (detection,) = await carry_out(rewriter=model, classifier=Settled())

        assert (rewriting.rewritten, rewriting.was_ambiguous) == (REWRITTEN, False)
        assert rewriting.reason
        assert (detection.is_ambiguous, detection.probability, detection.kind) == (False, 0.2, None)
        assert detection.reasons[0].text == (
            'read alone, it says "she", and does not say what is meant; what was said before may settle it'
        )

    async def test_a_judgement_without_history_gives_no_reason_about_the_history(self) -> None:
        _, _, (detection,) = await carry_out(
            history=["Who wrote Emma?", "Jane Austen."], question="When was she born?", classifier=Unknowing()
        )

        assert not detection.is_ambiguous
        assert [(reason.name, reason.text) for reason in detection.reasons[1:]] == [("length", "it has four words")]

    @pytest.mark.parametrize(
        ("question", "why"), [("What about May?", 'it goes on, with "what about"'), ("Why?", "it leaves something out")]
    )
    async def test_a_question_without_a_pronoun_has_reasons_too(self, question, why) -> None:
        _, _, (detection,) = await carry_out(question, classifier=Settled())

        assert why in detection.reasons[0].text

    @pytest.mark.parametrize(
        "question", ["Is it open on Sundays?", "Does it cover Germany?", "When did he die in Paris?"]
    )
    async def test_a_name_does_not_tell_what_a_pronoun_before_it_means(self, question) -> None:
        model = scripts.rewriter({question: None})
        await carry_out(question, rewriter=model, classifier=Settled())

        assert len(model.calls) == 1

    @pytest.mark.parametrize("question", ["Did Karl Aas know her?", "What kind of colors did she mix for altars?"])
    async def test_a_question_that_says_enough_is_left_alone_without_a_call(self, question) -> None:
        model = scripts.rewriter({question: REWRITTEN})
        rewriting, record, _ = await carry_out(question, rewriter=model, classifier=Settled())

        assert (rewriting.rewritten, rewriting.was_ambiguous) == (question, False)
        assert rewriting.reason, "a clear question has no reasons"
        assert (record.status, model.calls) == (RunStatus.SUCCEEDED, [])

    async def test_unless_it_is_vague_rather_than_pointing_back(self) -> None:
        model = scripts.rewriter({VAGUE: REWRITTEN})
        rewriting, _, (detection,) = await carry_out(rewriter=model, classifier=Settled(kind=AmbiguityKind.SYNTACTIC))

        assert (rewriting.rewritten, rewriting.was_ambiguous) == (VAGUE, False)
        assert (detection.probability, model.calls) == (0.2, [])


class TestWithAModel:
    async def test_the_question_is_rewritten_by_one_call(self) -> None:
        model = scripts.rewriter({VAGUE: REWRITTEN})
        rewriting, record, (detection,) = await carry_out(rewriter=model)

        assert (rewriting.rewritten, rewriting.was_ambiguous) == (REWRITTEN, True)
        assert rewriting.reason
        assert detection.is_ambiguous
        assert [call.purpose for call in model.calls] == ["rewriting"]
        assert [(stage.name, stage.calls, stage.rows, stage.note) for stage in record.stages[1:]] == [
            ("rewriting", 1, 1, REWRITTEN)
        ]

    async def test_a_question_that_the_history_does_not_explain_stays(self) -> None:
        rewriting, record, _ = await carry_out(rewriter=scripts.rewriter({VAGUE: None}))

        assert rewriting == Rewriting(VAGUE, True, "what was said before does not tell what is meant")
        assert record.status is RunStatus.SUCCEEDED

    async def test_a_question_that_the_model_repeats_stays_to_the_byte(self) -> None:
        rewriting, _, _ = await carry_out(rewriter=scripts.rewriter({VAGUE: "Where was she born?"}))

        assert rewriting == Rewriting(VAGUE, True, "the model left it as it was")

    async def test_an_unfaithful_rewrite_is_refused_without_another_call(self) -> None:
        reply = "Where was Ada Holm born?"
        model = scripts.rewriter({VAGUE: reply})
        rewriting, record, _ = await carry_out(rewriter=model)

        assert (rewriting.rewritten, rewriting.was_ambiguous) == (VAGUE, True)
        assert f'it brings in the name "Ada", which the conversation does not have: "{reply}"' in rewriting.reason
        assert (record.status, len(model.calls)) == (RunStatus.SUCCEEDED, 1)


class TestWithoutAModel:
    @pytest.mark.parametrize("question", [VAGUE, "And why?"])
    async def test_an_ambiguous_question_comes_back_to_the_byte_with_the_reason(self, question) -> None:
        rewriting, record, _ = await carry_out(question)

        assert (rewriting.rewritten, rewriting.was_ambiguous) == (question, True)
        assert rewriting.reason.startswith("there is no language model")
        assert (record.status, record.stop_reason) == (RunStatus.SUCCEEDED, None)


class TestTrouble:
    async def test_a_model_that_is_not_reached_leaves_the_question_and_a_partial_run(self) -> None:
        model = scripts.rewriter({VAGUE: EndpointUnavailable("the endpoint is down", detail="It said 503.")})
        rewriting, record, _ = await carry_out(rewriter=model)

        assert (rewriting.rewritten, rewriting.was_ambiguous) == (VAGUE, True)
        assert "the endpoint is down: It said 503." in rewriting.reason
        assert (record.status, record.error) == (RunStatus.PARTIAL, None)
        assert record.stop_reason == "the endpoint is down: It said 503."
        assert record.error_code == EndpointUnavailable.sqlstate
