"""The pipelines that clarify is compared with: their searches, calls, passages, results and cost."""

import json
from collections.abc import Mapping, Sequence

import pytest

from pgclarify.errors import DatabaseError, EndpointUnavailable
from pgclarify.evaluated import Case, Output, PredictedInterpretation
from pgclarify.evaluation.baselines import AllAtOnce, Asked, DiversifyThenVerify
from pgclarify.ledger.completions import PollInterval
from pgclarify.model import Passage
from pgclarify.protocols import Completer, Ledger
from pgclarify.providers.chat_model import ChatModel
from pgclarify.providers.endpoint import Endpoint
from pgclarify.vocabulary import RunStatus
from tests.fakes import FakeEmbedder, FakeLedger, FakeLedgerTable, scripts
from tests.fakes.completer import ScriptedCompleter
from tests.openai_server import serve

QUESTION = "When does the museum open?"
CASE = Case("1", QUESTION)
HOUR = "At what hour does the museum open?"
YEAR = "In what year did the museum open?"
PASSAGES = {
    name: Passage(f"document {name}", number, text)
    for number, (name, text) in enumerate(
        {
            "hours": "At what hour the museum opens is known: at 9 am",
            "more hours": "The museum opens at what hour? at 9 am in summer",
            "years": "In what year the museum did open is known: in 1931",
            "pier": "A pier was added to the harbor",
            "castle": "Lindvik castle has a park",
            "cheese": "Cheese is made of milk",
            "boats": "Twelve boats are in the harbor",
        }.items(),
        start=1,
    )
}
HOURS, MORE_HOURS, YEARS, PIER, CASTLE, CHEESE, BOATS = PASSAGES.values()
AWAY = EndpointUnavailable("the endpoint cannot be reached")


class FakeRetriever:
    """Finds the passages that a test sets.

    Args:
        found: Passages by question, best first; nothing for all others.
        error: Raised instead.

    Attributes:
        searches: Questions and numbers of passages so far.
    """

    def __init__(self, found: Mapping[str, Sequence[Passage]], *, error: Exception | None = None) -> None:
        self.searches: list[tuple[str, int]] = []
        self._found = found
        self._error = error

    async def search(self, question: str, top_k: int) -> list[Passage]:
        """Look the question up."""
        self.searches.append((question, top_k))
        if self._error is not None:
            raise self._error
        return list(self._found.get(question, ()))[:top_k]


def asked(model: Completer, retriever: FakeRetriever, ledger: Ledger | None = None) -> Asked:
    return Asked(ledger or FakeLedger(), model, retriever, FakeEmbedder(), PollInterval(first=0.001, longest=0.002))


def found() -> FakeRetriever:
    return FakeRetriever({HOUR: [HOURS, MORE_HOURS], YEAR: [YEARS, HOURS], QUESTION: [HOURS, CHEESE, YEARS]})


PROPOSED = {f"proposal: {QUESTION}": json.dumps([HOUR, YEAR])}
VERIFIED = {f"verification: {HOUR}": "[0]", f"verification: {YEAR}": "[2]"}


def purposes(model: ScriptedCompleter) -> list[str]:
    return [request.purpose.removeprefix("baseline_") for request in model.calls]


def read_out(output: Output) -> list[tuple[str, str | None, list[Passage]]]:
    return [(one.interpretation, one.answer, [c.passage for c in one.citations]) for one in output.interpretations]


async def test_dtv_reads_answers_out_of_what_was_verified():
    told = {f"disambiguation: {QUESTION}": json.dumps([[HOUR, "9 am", [0]], [YEAR, "1931", [0, 1]]])}
    model = scripts.baseline_model(PROPOSED | VERIFIED | told)
    retriever = found()
    output = await DiversifyThenVerify(asked(model, retriever)).answer(CASE)

    # There is one search for each reading, with the reading as query.
    assert retriever.searches == [(HOUR, 5), (YEAR, 5)]
    assert purposes(model) == ["proposal", "verification", "verification", "disambiguation"]
    # Each verification sees all passages. The last call sees the passages that passed at least one verification, in
    # order.
    contents = [passage.content for passage in (HOURS, MORE_HOURS, YEARS)]
    verifications = model.asked("baseline_verification")
    assert [(one.question, one.passages) for one in verifications] == [(HOUR, contents), (YEAR, contents)]
    (last,) = model.asked("baseline_disambiguation")
    assert (last.question, last.passages) == (QUESTION, [HOURS.content, YEARS.content])
    # The places in the last reply count the passages of the last call.
    assert read_out(output) == [(HOUR, "9 am", [HOURS]), (YEAR, "1931", [HOURS, YEARS])]
    assert [one.support for one in output.interpretations] == [1, 2]
    assert output.retrieved == (HOURS, MORE_HOURS, YEARS)
    assert output.notes == {"proposed": [HOUR, YEAR], "verified_passages": 2, "unread_verifications": 0}
    assert output.status is RunStatus.SUCCEEDED


async def test_another_model_may_verify_and_does_nothing_else():
    told = {f"disambiguation: {QUESTION}": json.dumps([[HOUR, "9 am", [0]]])}
    model, verifier = scripts.baseline_model(PROPOSED | told), scripts.baseline_model(VERIFIED)
    output = await DiversifyThenVerify(asked(model, found()), verifier=verifier).answer(CASE)
    assert purposes(model) == ["proposal", "disambiguation"]
    assert purposes(verifier) == ["verification", "verification"]
    assert read_out(output) == [(HOUR, "9 am", [HOURS])]
    assert output.usage.calls == 4, "the calls of both models"


async def test_dtv_verifies_all_readings_at_once():
    model = scripts.baseline_model(PROPOSED)
    await DiversifyThenVerify(asked(model, found())).answer(CASE)
    assert model.most_in_flight == 2


async def test_dtv_gives_nothing_if_no_passage_is_verified():
    model = scripts.baseline_model(PROPOSED)
    output = await DiversifyThenVerify(asked(model, found())).answer(CASE)
    assert output.interpretations == ()
    assert output.retrieved == (HOURS, MORE_HOURS, YEARS)
    assert purposes(model) == ["proposal", "verification", "verification"]


async def test_a_verification_that_fails_keeps_nothing_and_the_others_count():
    told = {f"disambiguation: {QUESTION}": json.dumps([[YEAR, "1931", [0]]])}
    model = scripts.baseline_model(PROPOSED | VERIFIED | {f"verification: {HOUR}": "which?"} | told)
    output = await DiversifyThenVerify(asked(model, found())).answer(CASE)
    assert read_out(output) == [(YEAR, "1931", [YEARS])]
    # The failed verification was asked twice, and both replies count.
    assert output.usage.calls == 5
    assert (output.status, output.notes["unread_verifications"]) == (RunStatus.PARTIAL, 1)


async def test_passages_are_pruned_to_those_nearest_to_all_readings():
    retriever = FakeRetriever({HOUR: [CHEESE, HOURS, CASTLE], YEAR: [BOATS, PIER, YEARS, MORE_HOURS]})
    model = scripts.baseline_model(PROPOSED)
    dtv = DiversifyThenVerify(asked(model, retriever), passages_each=7, passages_kept=3)
    output = await dtv.answer(CASE)
    assert [number for _, number in retriever.searches] == [7, 7]
    assert set(output.retrieved) == {HOURS, MORE_HOURS, YEARS}
    similarities = await similarity_to_both([passage.content for passage in output.retrieved])
    assert similarities == sorted(similarities, reverse=True)


async def similarity_to_both(contents: Sequence[str]) -> list[float]:
    vectors = await FakeEmbedder().encode([HOUR, YEAR, *contents])
    return [float(similarity) for similarity in (vectors[2:] @ vectors[:2].T).mean(axis=1)]


async def test_few_passages_need_no_embedding_and_each_is_there_once():
    retriever = FakeRetriever({HOUR: [HOURS, YEARS], YEAR: [YEARS, HOURS]})
    embedder = FakeEmbedder()
    method = DiversifyThenVerify(Asked(FakeLedger(), scripts.baseline_model(PROPOSED), retriever, embedder))
    assert (await method.answer(CASE)).retrieved == (HOURS, YEARS)
    assert embedder.calls == []


@pytest.mark.parametrize("is_verified", [True, False])
async def test_where_nothing_is_found_nothing_more_is_asked(is_verified: bool):
    model = scripts.baseline_model(PROPOSED)
    output = await DiversifyThenVerify(asked(model, FakeRetriever({})), is_verified=is_verified).answer(CASE)
    assert (output.interpretations, output.retrieved, output.status) == ((), (), RunStatus.SUCCEEDED)
    assert purposes(model) == ["proposal"]


async def test_unverified_readings_stay_as_proposed_and_cite_nothing():
    model = scripts.baseline_model(PROPOSED | {f"answers: {HOUR} | {YEAR}": '["9 am", null]'})
    retriever = found()
    output = await DiversifyThenVerify(asked(model, retriever), is_verified=False).answer(CASE)
    assert purposes(model) == ["proposal", "answers"]
    assert output.interpretations == (PredictedInterpretation(HOUR, "9 am"), PredictedInterpretation(YEAR, None))
    assert output.retrieved == (HOURS, MORE_HOURS, YEARS)
    assert retriever.searches == [(HOUR, 5), (YEAR, 5)]


async def test_rac_reads_everything_in_one_call():
    told = {f"disambiguation: {QUESTION}": json.dumps([[YEAR, "1931", [2, 1]], [HOUR, "9 am", []]])}
    model = scripts.baseline_model(told, relaxation=QUESTION)
    retriever = found()
    output = await AllAtOnce(asked(model, retriever), top_k=3).answer(CASE)
    assert retriever.searches == [(QUESTION, 3)]
    assert purposes(model) == ["relaxation", "disambiguation"]
    assert read_out(output) == [(YEAR, "1931", [CHEESE, YEARS]), (HOUR, "9 am", [])]
    assert [one.support for one in output.interpretations] == [2, 0]
    assert output.retrieved == (HOURS, CHEESE, YEARS)
    assert output.notes == {"relaxed_question": QUESTION}


async def test_rac_searches_with_the_relaxed_question_and_asks_the_question():
    model = scripts.baseline_model(relaxation="museum opening")
    retriever = FakeRetriever({"museum opening": [HOURS]})
    output = await AllAtOnce(asked(model, retriever), top_k=20).answer(CASE)
    assert retriever.searches == [("museum opening", 20)]
    assert output.retrievals == 1
    (last,) = model.asked("baseline_disambiguation")
    assert (last.question, last.passages) == (QUESTION, [HOURS.content])
    assert output.notes == {"relaxed_question": "museum opening"}
    assert output.usage.calls == 2


async def test_rac_goes_on_with_the_question_where_relaxing_fails():
    # PostgreSQL could not store the second reply as text.
    model = scripts.baseline_model(relaxation=["", "half \ud800"])
    retriever = found()
    output = await AllAtOnce(asked(model, retriever), top_k=2).answer(CASE)
    assert retriever.searches == [(QUESTION, 2)]
    assert output.status is RunStatus.SUCCEEDED


async def test_rac_asks_nothing_where_nothing_is_found():
    model = scripts.baseline_model()
    output = await AllAtOnce(asked(model, FakeRetriever({})), top_k=20).answer(CASE)
    assert (output.interpretations, purposes(model), output.usage.calls) == ((), ["relaxation"], 1)


FAILING = [
    (True, {f"proposal: {QUESTION}": "hm"}, 2),
    (True, PROPOSED | {f"verification: {reading}": "which?" for reading in (HOUR, YEAR)}, 5),
    (True, PROPOSED | VERIFIED | {f"disambiguation: {QUESTION}": "hm"}, 5),
    # The number of a passage that was not shown is ignored.
    (True, PROPOSED | VERIFIED | {f"disambiguation: {QUESTION}": '[["q", "a", [2]]]'}, 5),
    (False, PROPOSED | {f"answers: {HOUR} | {YEAR}": '["9 am"]'}, 3),
]


@pytest.mark.parametrize(("is_verified", "replies", "calls"), FAILING)
async def test_a_reply_that_does_not_fit_twice_fails_the_case(is_verified: bool, replies: dict[str, str], calls: int):
    model = scripts.baseline_model(replies)
    output = await DiversifyThenVerify(asked(model, found()), is_verified=is_verified).answer(CASE)
    assert (output.status, output.interpretations) == (RunStatus.FAILED, ())
    assert output.error
    # The calls count, although there was no result.
    assert output.usage.calls == calls
    assert output.usage.prompt_tokens > 0


@pytest.mark.parametrize("key", ["proposal: ", "verification: ", "disambiguation: "])
async def test_an_endpoint_that_is_away_fails_the_case(key: str):
    replies = PROPOSED | VERIFIED | {f"disambiguation: {QUESTION}": "[]"}
    broken = {name: AWAY if name.startswith(key) else reply for name, reply in replies.items()}
    output = await DiversifyThenVerify(asked(scripts.baseline_model(broken), found())).answer(CASE)
    assert output.status is RunStatus.FAILED
    assert "cannot be reached" in (output.error or "")


async def test_rac_fails_where_relaxing_finds_nobody():
    method = AllAtOnce(asked(scripts.baseline_model(relaxation=AWAY), found()), top_k=2)
    assert (await method.answer(CASE)).status is RunStatus.FAILED


async def test_a_search_that_fails_stops_the_evaluation():
    retriever = FakeRetriever({}, error=DatabaseError("the server is gone"))
    for method in (
        DiversifyThenVerify(asked(scripts.baseline_model(PROPOSED), retriever)),
        AllAtOnce(asked(scripts.baseline_model(), retriever), top_k=2),
    ):
        with pytest.raises(DatabaseError):
            await method.answer(CASE)


async def test_the_same_case_again_costs_nothing():
    told = {f"disambiguation: {QUESTION}": json.dumps([[HOUR, "9 am", [0]]])}
    table = FakeLedgerTable()
    first = scripts.baseline_model(PROPOSED | VERIFIED | told)
    second = scripts.baseline_model(otherwise="never asked")
    outputs = [
        await DiversifyThenVerify(asked(model, found(), FakeLedger(table))).answer(CASE) for model in (first, second)
    ]
    assert second.calls == []
    assert read_out(outputs[0]) == read_out(outputs[1])
    assert (outputs[0].usage.calls, outputs[0].usage.reused_calls) == (4, 0)
    assert (outputs[1].usage.calls, outputs[1].usage.reused_calls) == (4, 4)
    assert outputs[0].usage.prompt_tokens == outputs[1].usage.prompt_tokens
    assert outputs[0].seconds > 0


async def test_over_http():
    retriever = FakeRetriever(
        {
            "When does the museum open at first?": [HOURS, CHEESE],
            "When does the museum open at last?": [YEARS],
            "When does the museum open? overview": [CHEESE, HOURS],
        }
    )
    async with serve() as server, Endpoint(model="rules-1", base_url=server.base_url) as endpoint:
        model = ChatModel(endpoint)
        dtv = await DiversifyThenVerify(asked(model, retriever)).answer(CASE)
        unverified = await DiversifyThenVerify(asked(model, retriever), is_verified=False).answer(CASE)
        rac = await AllAtOnce(asked(model, retriever), top_k=2).answer(CASE)
    assert [(one.answer, [c.passage for c in one.citations]) for one in dtv.interpretations] == [
        ("9 am", [HOURS]),
        ("in 1931", [YEARS]),
    ]
    assert [one.answer for one in unverified.interpretations] == ["9 am", "9 am"]
    assert [c.passage for one in rac.interpretations for c in one.citations] == [HOURS]
    assert [output.usage.calls for output in (dtv, unverified, rac)] == [4, 2, 2]
    assert [output.retrievals for output in (dtv, unverified, rac)] == [2, 2, 1]
    assert all(output.usage.prompt_tokens > 0 and output.usage.model_seconds > 0 for output in (dtv, unverified, rac))
