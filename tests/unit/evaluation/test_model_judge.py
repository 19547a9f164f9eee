"""The judge that asks a model: its calls, the judgements it makes without a call, and how it handles failures."""

from collections.abc import Sequence

import pytest

from pgclarify.errors import CompletionError, DatabaseError, EndpointUnavailable, RequestRefused
from pgclarify.evaluated import (
    Case,
    CitedPassage,
    GoldInterpretation,
    Output,
    PredictedInterpretation,
    Stated,
    Usage,
)
from pgclarify.evaluation.judging import judge_output
from pgclarify.evaluation.model_judge import ModelJudge
from pgclarify.evaluation.scoring import score
from pgclarify.ledger.completions import PollInterval
from pgclarify.model import Passage
from pgclarify.model_calls import Claim, CompletionRequest
from pgclarify.prompts.versions import JUDGE_VERSIONS, combined
from pgclarify.protocols import Judge
from pgclarify.providers.chat_model import ChatModel
from pgclarify.providers.endpoint import Endpoint
from tests.fakes import FakeLedger, FakeLedgerTable, scripts
from tests.fakes.completer import Line, ScriptedCompleter
from tests.openai_server import Chat, Reply, serve

QUESTION = "When does the museum open?"
HOUR = Stated("At what time does the museum open?", ("9 am", "nine"))
YEAR = Stated("In what year was the museum opened?")
MONTH = Stated("In which month does the museum open?", ("May",))
CASTLE = Stated("In what year was the castle opened?")
HOURS = Passage("a", 1, "The museum opens at 9 am.")
YEARS = Passage("b", 2, "The museum opened in 1931.")
AWAY = EndpointUnavailable("the endpoint cannot be reached")
FAST = PollInterval(first=0.001, longest=0.002)


def judge_of(model: ScriptedCompleter, ledger: FakeLedger | None = None) -> ModelJudge:
    return ModelJudge(ledger or FakeLedger(), model, poll=FAST)


async def every_judgement(judge: Judge, readings: Sequence[Stated]) -> tuple[object, ...]:
    return (
        await judge.supports([(reading, [HOURS, YEARS]) for reading in readings]),
        await judge.matches(QUESTION, readings, [Stated("Is it open?")]),
        await judge.distinct(QUESTION, readings),
        await judge.relevant(QUESTION, readings),
    )


def scripted(readings: str, *, otherwise: str = "no") -> ScriptedCompleter:
    script = {
        f"support: {HOUR.interpretation}": "true",
        f"support: {YEAR.interpretation}": "false",
        f"match: {readings}": "[false, true]",
        f"distinct: {readings}": "[0, 1]",
        f"relevance: {readings}": "[true, false]",
    }
    return scripts.judge_model(dict(script), otherwise=otherwise)


BOTH = f"{HOUR.interpretation} | {YEAR.interpretation}"


async def test_judgements_are_the_models():
    model = scripted(BOTH)
    judge = judge_of(model)
    assert (judge.name, judge.version) == ("fake", combined(JUDGE_VERSIONS))
    assert await every_judgement(judge, [HOUR, YEAR]) == ([True, False], [False, True], [0, 1], [True, False])
    assert [request.purpose for request in model.calls] == [
        *("judge_support", "judge_support"),
        *("judge_match", "judge_distinct", "judge_relevance"),
    ]
    # The prompt has all spellings of an answer, and all passages.
    first, second = model.asked("judge_support")
    assert (first.question, first.line("Answer")) == (HOUR.interpretation, "9 am or nine")
    assert (second.question, second.line("Answer")) == (YEAR.interpretation, "")
    assert first.passages == second.passages == [HOURS.content, YEARS.content]


async def test_claims_are_asked_all_at_once():
    model = scripts.judge_model(otherwise="true")
    ledger = FakeLedger()
    claims = [(Stated(f"Reading {number}?"), [HOURS]) for number in range(20)]
    assert await judge_of(model, ledger).supports(claims) == [True] * 20
    assert (model.most_in_flight, ledger.table.claims) == (20, 1)


async def test_equal_claims_are_asked_once():
    model = scripts.judge_model(otherwise="true")
    judge = judge_of(model)
    assert await judge.supports([(HOUR, [HOURS]), (HOUR, [HOURS]), (HOUR, [YEARS])]) == [True] * 3
    assert judge.usage.calls == len(model.calls) == 2


async def test_judging_again_costs_nothing():
    table = FakeLedgerTable()
    first, second = scripted(BOTH), scripts.judge_model(otherwise="never asked")
    judges = judge_of(first, FakeLedger(table)), judge_of(second, FakeLedger(table))
    assert await every_judgement(judges[0], [HOUR, YEAR]) == await every_judgement(judges[1], [HOUR, YEAR])
    assert second.calls == []
    assert (judges[0].usage.calls, judges[0].usage.reused_calls) == (5, 0)
    assert (judges[1].usage.calls, judges[1].usage.reused_calls) == (5, 5)
    assert judges[0].usage.prompt_tokens == judges[1].usage.prompt_tokens > 0
    assert judges[0].usage.completion_tokens > 0


async def test_what_fails_twice_is_judged_as_unfounded():
    model = scripts.judge_model(otherwise="maybe")
    judge = judge_of(model)
    assert await every_judgement(judge, [HOUR, YEAR]) == ([False, False], [False, False], [0, 1], [False, False])
    assert [request.sample for request in model.calls] == [0, 0, 1, 1, 0, 1, 0, 1, 0, 1]
    # Both replies of each call were paid for.
    assert judge.usage.calls == 10
    assert judge.unjudged == 5


async def test_what_the_endpoint_refuses_to_judge_is_judged_as_unfounded():
    """The endpoint would refuse the same request again, so the evaluation must go on without it."""
    refused = RequestRefused("the endpoint refused the request", detail="the context is full")
    kinds = ("match", "distinct", "relevance")
    script = {f"{kind}: {BOTH}": refused for kind in kinds} | {f"support: {HOUR.interpretation}": refused}
    judge = judge_of(scripts.judge_model(dict(script), otherwise="true"))
    assert await every_judgement(judge, [HOUR, YEAR]) == ([False, True], [False, False], [0, 1], [False, False])
    assert judge.unjudged == 4
    assert judge.usage.calls == 1


async def scored(judge: Judge) -> dict[str, float]:
    """Score one of two known readings; passages answer both."""
    case = Case("1", QUESTION, tuple(GoldInterpretation(one.interpretation, one.answers) for one in (HOUR, YEAR)))
    output = Output((PredictedInterpretation(str(HOUR.interpretation), "9 am", (CitedPassage(HOURS),)),), (HOURS,))
    return score(case, output, await judge_output(case, output, judge, [HOURS, YEARS]), method="clarify")


@pytest.mark.parametrize(
    ("refused", "unjudged"),
    [
        (f"support: {YEAR.interpretation}", 1),
        (f"match: {YEAR.interpretation}", 1),
        # Of the readings of people, and of the grounded ones.
        (f"distinct: {BOTH}", 2),
    ],
)
async def test_a_case_that_could_not_be_compared_with_people_has_no_recall(refused: str, unjudged: int):
    script: dict[str, str | CompletionError | list[Line]] = {
        f"support: {HOUR.interpretation}": "true",
        f"support: {YEAR.interpretation}": "true",
        f"match: {YEAR.interpretation}": "[false]",
        f"distinct: {BOTH}": "[0, 1]",
        f"relevance: {HOUR.interpretation}": "[true]",
    }
    values = await scored(judge_of(scripts.judge_model(dict(script))))
    assert (values["recall"], values["grounded_recall"], values["unjudged"]) == (0.5, 0.5, 0)
    script[refused] = RequestRefused("the endpoint refused the request")
    judge = judge_of(scripts.judge_model(script))
    values = await scored(judge)
    assert not {"sufficient", "recall", "grounded_recall"} & set(values)
    assert (values["grounded_precision"], values["relevant"], values["unjudged"]) == (1, 1, unjudged)
    # Another case at the same time would not have counted them.
    assert (judge.unjudged, judge.usage.calls > 0) == (0, True)


async def test_a_second_reply_that_fits_counts():
    key = f"support: {HOUR.interpretation}"
    assert await judge_of(scripts.judge_model({key: ["maybe", "true"]})).supports([(HOUR, [HOURS])]) == [True]


async def test_one_failure_leaves_other_claims_alone():
    model = scripts.judge_model({f"support: {HOUR.interpretation}": "maybe"}, otherwise="true")
    assert await judge_of(model).supports([(HOUR, [HOURS]), (YEAR, [HOURS])]) == [False, True]


@pytest.mark.parametrize("reply", ["[true]", "[true, true, true]", "[]", "[true, 1]", '"true"', "[true, false"])
async def test_a_reply_about_other_readings_is_none(reply: str):
    judge = judge_of(scripts.judge_model(otherwise=reply))
    assert await judge.matches(QUESTION, [HOUR, YEAR], [MONTH]) == [False, False]
    assert await judge.relevant(QUESTION, [HOUR, YEAR]) == [False, False]
    assert await judge.distinct(QUESTION, [HOUR, YEAR]) == [0, 1]


async def test_an_endpoint_that_is_away_stops_the_evaluation():
    model = scripts.judge_model({f"support: {HOUR.interpretation}": AWAY}, otherwise="true")
    ledger = FakeLedger()
    with pytest.raises(EndpointUnavailable):
        await judge_of(model, ledger).supports([(HOUR, [HOURS]), (YEAR, [HOURS])])
    # The other reply is kept, and no lease is left.
    assert [row.completion is None for row in ledger.table.rows.values()] == [True, False]
    assert ledger.table.leased == []
    for judgement in ("matches", "distinct", "relevant"):
        judge = judge_of(scripts.judge_model({f"{key}: {BOTH}": AWAY for key in ("match", "distinct", "relevance")}))
        among = [[MONTH]] if judgement == "matches" else []
        with pytest.raises(EndpointUnavailable):
            await getattr(judge, judgement)(QUESTION, [HOUR, YEAR], *among)


async def test_a_ledger_that_fails_stops_it():
    class Broken(FakeLedger):
        async def claim_completions(self, requests: Sequence[CompletionRequest]) -> list[Claim]:
            raise DatabaseError("the server is gone")

    with pytest.raises(DatabaseError):
        await judge_of(scripts.judge_model(), Broken()).relevant(QUESTION, [HOUR])


async def test_nothing_is_asked_about_nothing():
    model = scripts.judge_model()
    judge = judge_of(model)
    assert await every_judgement(judge, []) == ([], [], [], [])
    assert await judge.supports([(HOUR, [])]) == [False]
    assert await judge.matches(QUESTION, [HOUR, YEAR], []) == [False, False]
    assert await judge.distinct(QUESTION, [HOUR]) == [0]
    assert model.calls == []
    assert judge.usage == Usage()


async def test_answers_alone_are_compared_without_a_call():
    model = scripts.judge_model()
    judge = judge_of(model)
    known = [Stated(None, ("9 am", "nine in the morning")), Stated(None, ("1931",)), Stated(None)]
    assert await judge.supports([(stated, [HOURS]) for stated in known]) == [True, False, False]
    assert await judge.matches(QUESTION, known, [HOUR, YEAR]) == [True, False, False]
    assert await judge.matches(QUESTION, [HOUR, MONTH], known) == [True, False]
    assert await judge.distinct(QUESTION, [known[0], Stated(None, ("9 a.m.",)), known[1]]) == [0, 2]
    assert await judge.relevant(QUESTION, known) == [False, False, False]
    assert model.calls == []


async def test_only_what_is_not_plain_is_asked():
    """Some readings have no question, and some are equal. Places count all readings."""
    match = f"match: {YEAR.interpretation} | {MONTH.interpretation}"
    # `same` has the question of HOUR, and another answer.
    distinct = f"distinct: {HOUR.interpretation} | {YEAR.interpretation} | {MONTH.interpretation}"
    relevance = f"relevance: {YEAR.interpretation} | {MONTH.interpretation}"
    model = scripts.judge_model({match: "[false, true]", distinct: "[0, 2]", relevance: "[false, true]"})
    judge = judge_of(model)
    answer = Stated(None, ("10 pm",))
    same = Stated("at what time does the museum open", ("never",))
    assert await judge.matches(QUESTION, [answer, YEAR, same, MONTH], [HOUR, CASTLE]) == [False, False, False, True]
    assert await judge.distinct(QUESTION, [answer, HOUR, YEAR, same, answer, MONTH]) == [0, 1, 3, 5]
    assert await judge.relevant(QUESTION, [answer, YEAR, MONTH]) == [False, False, True]
    assert len(model.calls) == 3


async def test_twenty_equal_readings_are_one():
    model = scripts.judge_model()
    judge = judge_of(model)
    assert await judge.distinct(QUESTION, [HOUR] * 20) == [0]
    assert await judge.matches(QUESTION, [HOUR] * 20, [HOUR]) == [True] * 20
    assert model.calls == []


def orders(chat: Chat) -> Reply:
    """A model that gives the same reply to each request."""
    return Reply('{"supported": true, "matched": [true], "distinct": [99], "relevant": [true]}')


async def test_over_http():
    readings = [Stated(f"When did bridge {number} of the river open?") for number in range(20)]
    async with serve() as server, Endpoint(model="rules-1", base_url=server.base_url) as endpoint:
        judge = ModelJudge(FakeLedger(), ChatModel(endpoint))
        assert await judge.supports([(HOUR, [HOURS]), (Stated("Who?", ("Anna",)), [HOURS])]) == [False, False]
        assert await judge.supports([(Stated("When does it open?", ("museum",)), [HOURS])]) == [True]
        assert len(await judge.matches(QUESTION, readings, [YEAR])) == 20
        assert await judge.distinct(QUESTION, [YEAR, readings[0], YEAR]) == [0, 1]
        assert await judge.relevant("When did the bridge open?", [*readings, Stated("Why?")]) == [True] * 20 + [False]
        assert judge.usage.calls == server.calls == 6
        assert judge.name == "rules-1"
        server.behavior = orders
        assert await judge.distinct(QUESTION, [HOUR, MONTH]) == [0, 1]
        assert await judge.relevant(QUESTION, [HOUR]) == [False]
