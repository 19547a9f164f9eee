"""The pipelines that investigate is compared with: their searches, calls, results and cost."""

from collections.abc import Mapping, Sequence

import pytest

from pgclarify.errors import EndpointUnavailable
from pgclarify.evaluated import Case, Output
from pgclarify.evaluation.baselines import Asked
from pgclarify.evaluation.multi_hop_baselines import OnePass, SelfAsk
from pgclarify.ledger.completions import PollInterval
from pgclarify.model import Passage
from pgclarify.steps import Evidence, Finding, FollowUp
from pgclarify.vocabulary import RunStatus
from tests.fakes import FakeEmbedder, FakeLedger, scripts
from tests.fakes.completer import ScriptedCompleter

QUESTION = "Where was the painter of the Lindvik Altar born?"
CASE = Case("1", QUESTION)
WHO = "Who painted the Lindvik Altar?"
WHERE = "Where was Ida Holm born?"
ALTAR = Passage("altar", 1, "The altar was painted by Ida Holm in 1903.")
BIRTH = Passage("birth", 2, "Ida Holm was born in Ortval, a fishing village.")
CASTLE = Passage("castle", 3, "Lindvik Castle opens at 10 am.")
FOUND = {WHO: [ALTAR, CASTLE], WHERE: [CASTLE, BIRTH], QUESTION: [CASTLE, ALTAR, BIRTH]}
PAINTER = Finding("Ida Holm", (Evidence(1, "painted by Ida Holm"),))
BIRTHPLACE = Finding("Ortval", (Evidence(2, "born in Ortval"),))
CHAIN = (FollowUp(WHO), FollowUp(WHERE), FollowUp(answer="Ortval"))
AWAY = EndpointUnavailable("the endpoint cannot be reached")


class FakeRetriever:
    """Finds the passages that a test sets, and records the queries."""

    def __init__(self, found: Mapping[str, Sequence[Passage]]) -> None:
        self.searches: list[tuple[str, int]] = []
        self._found = found

    async def search(self, question: str, top_k: int) -> list[Passage]:
        self.searches.append((question, top_k))
        return list(self._found.get(question, ()))[:top_k]


def asked(model: ScriptedCompleter, retriever: FakeRetriever) -> Asked:
    return Asked(FakeLedger(), model, retriever, FakeEmbedder(), PollInterval(first=0.001, longest=0.002))


def read_out(output: Output) -> list[tuple[str, str | None, list[Passage], int]]:
    return [
        (one.interpretation, one.answer, [cited.passage for cited in one.citations], one.support)
        for one in output.interpretations
    ]


def purposes(model: ScriptedCompleter) -> list[str]:
    return [call.purpose for call in model.calls]


class TestOnePass:
    async def test_one_search_and_one_call(self) -> None:
        model = scripts.investigator(
            answers={QUESTION: Finding("Ortval", (Evidence(3, "born in Ortval"), Evidence(2, "by Ida Holm")))}
        )
        retriever = FakeRetriever(FOUND)
        output = await OnePass(asked(model, retriever), top_k=3).answer(CASE)
        assert retriever.searches == [(QUESTION, 3)]
        assert purposes(model) == ["answer"]
        assert model.asked("answer")[0].passages == [CASTLE.content, ALTAR.content, BIRTH.content]
        assert read_out(output) == [(QUESTION, "Ortval", [BIRTH, ALTAR], 2)]
        assert (output.retrieved, output.steps) == ((CASTLE, ALTAR, BIRTH), ())
        assert (output.status, output.retrievals, output.usage.calls) == (RunStatus.SUCCEEDED, 1, 1)

    async def test_quotes_are_not_looked_up_and_passages_that_were_not_shown_are_not_cited(self) -> None:
        evidence = (Evidence(0, "x y"), Evidence(1, "made up"), Evidence(1, "as well"), Evidence(4, "z"))
        model = scripts.investigator(answers={QUESTION: Finding("Ortval", evidence)})
        output = await OnePass(asked(model, FakeRetriever(FOUND)), top_k=3).answer(CASE)
        assert read_out(output) == [(QUESTION, "Ortval", [CASTLE], 1)]

    async def test_what_is_not_there_is_no_answer(self) -> None:
        model = scripts.investigator()
        output = await OnePass(asked(model, FakeRetriever(FOUND)), top_k=2).answer(CASE)
        assert (output.interpretations, output.retrieved) == ((), (CASTLE, ALTAR))
        output = await OnePass(asked(model, FakeRetriever({})), top_k=2).answer(CASE)
        assert (output.interpretations, output.status, output.usage.calls) == ((), RunStatus.SUCCEEDED, 0)

    @pytest.mark.parametrize("said", [AWAY, "Ortval"])
    async def test_it_may_fail(self, said: object) -> None:
        model = scripts.investigator(answers={QUESTION: said})  # type: ignore[dict-item]
        output = await OnePass(asked(model, FakeRetriever(FOUND)), top_k=2).answer(CASE)
        assert (output.status, output.interpretations) == (RunStatus.FAILED, ())
        assert output.error_code is not None


class TestSelfAsk:
    async def test_a_search_and_a_call_for_each_question(self) -> None:
        model = scripts.investigator(CHAIN, answers={WHO: PAINTER, WHERE: BIRTHPLACE})
        retriever = FakeRetriever(FOUND)
        output = await SelfAsk(asked(model, retriever), top_k=2, max_steps=4).answer(CASE)
        assert retriever.searches == [(WHO, 2), (WHERE, 2)]
        assert purposes(model) == ["follow_up", "answer", "follow_up", "answer", "follow_up"]
        assert model.asked("follow_up")[-1].lines("Fact") == [f"{WHO} Ida Holm", f"{WHERE} Ortval"]
        # The passages that prove the last step come first.
        assert read_out(output) == [(QUESTION, "Ortval", [BIRTH, ALTAR], 2)]
        assert output.steps == ((ALTAR, CASTLE), (CASTLE, BIRTH))
        assert output.retrieved == (ALTAR, CASTLE, BIRTH)
        assert (output.retrievals, output.usage.calls) == (2, 5)
        assert output.notes["steps"] == [["follow_up", WHO, "Ida Holm"], ["follow_up", WHERE, "Ortval"]]

    async def test_what_it_asks_next_is_erased_with_the_documents_that_it_knows_of(self) -> None:
        model = scripts.investigator(CHAIN, answers={WHO: PAINTER, WHERE: BIRTHPLACE})
        await SelfAsk(asked(model, FakeRetriever(FOUND)), top_k=2, max_steps=4).answer(CASE)
        assert [call.document_ids for call in model.calls if call.purpose == "follow_up"] == [
            (),
            ("altar", "castle"),
            ("altar", "castle", "birth"),
        ]

    async def test_a_question_that_needs_no_follow_up_is_looked_up_as_it_is(self) -> None:
        model = scripts.investigator(answers={QUESTION: PAINTER})
        retriever = FakeRetriever(FOUND)
        output = await SelfAsk(asked(model, retriever), top_k=3, max_steps=4).answer(CASE)
        assert retriever.searches == [(QUESTION, 3)]
        assert purposes(model) == ["follow_up", "answer"]
        assert read_out(output) == [(QUESTION, "Ida Holm", [CASTLE], 1)]
        assert output.notes["steps"] == [["direct", QUESTION, "Ida Holm"]]

    async def test_steps_are_limited(self) -> None:
        chain = (FollowUp(WHO), FollowUp(WHERE), FollowUp("And when?", "Ortval"))
        model = scripts.investigator(chain, answers={WHO: PAINTER, WHERE: BIRTHPLACE})
        output = await SelfAsk(asked(model, FakeRetriever(FOUND)), top_k=2, max_steps=2).answer(CASE)
        assert read_out(output) == [(QUESTION, "Ortval", [BIRTH, ALTAR], 2)]
        assert output.retrievals == 2
        model = scripts.investigator((FollowUp(WHO),) * 9, answers={WHO: PAINTER})
        output = await SelfAsk(asked(model, FakeRetriever(FOUND)), top_k=2, max_steps=3).answer(CASE)
        assert (output.interpretations, output.retrievals, len(output.steps)) == ((), 3, 3)

    async def test_a_step_without_an_answer_is_a_fact_that_was_not_found(self) -> None:
        # The second question finds no passage. Both replies to the first question have the wrong form.
        chain = (FollowUp(WHO), FollowUp("Who else?"), FollowUp(answer="Ortval"))
        model = scripts.investigator(chain, answers={WHO: ["?", "?"]})
        output = await SelfAsk(asked(model, FakeRetriever(FOUND)), top_k=2, max_steps=4).answer(CASE)
        assert model.asked("follow_up")[-1].lines("Fact") == [f"{WHO} not found", "Who else? not found"]
        assert output.steps == ((ALTAR, CASTLE), ())
        assert read_out(output) == [(QUESTION, "Ortval", [], 0)]
        assert output.status is RunStatus.SUCCEEDED

    async def test_a_next_question_that_cannot_be_read_ends_the_chain(self) -> None:
        model = scripts.investigator([FollowUp(WHO), ["?", "?"]], answers={WHO: PAINTER})
        output = await SelfAsk(asked(model, FakeRetriever(FOUND)), top_k=2, max_steps=4).answer(CASE)
        assert (output.interpretations, output.retrievals) == ((), 1)
        model = scripts.investigator([["?", "?"]], answers={QUESTION: PAINTER})
        output = await SelfAsk(asked(model, FakeRetriever(FOUND)), top_k=2, max_steps=4).answer(CASE)
        assert read_out(output) == [(QUESTION, "Ida Holm", [CASTLE], 1)]

    async def test_it_fails_where_the_model_is_away(self) -> None:
        for model in (
            scripts.investigator([AWAY]),
            scripts.investigator(CHAIN, answers={WHO: PAINTER, WHERE: AWAY}),
        ):
            output = await SelfAsk(asked(model, FakeRetriever(FOUND)), top_k=2, max_steps=4).answer(CASE)
            assert (output.status, output.interpretations) == (RunStatus.FAILED, ())
            assert output.error_code is not None
