"""The investigator: what it asks, over real HTTP, and what it believes of the replies."""

import json

import pytest

from pgclarify.errors import InvalidReply
from pgclarify.llm.endpoint import Endpoint
from pgclarify.llm.investigator import EndpointInvestigator
from pgclarify.llm.prompts import PROMPT_VERSION
from pgclarify.model import Completion, Passage
from pgclarify.protocols import Investigator
from pgclarify.steps import Evidence, Finding, FollowUp, Step, StepKind, StepOutcome
from tests.openai_server import serve

QUESTION = "Where was Ida Holm born?"
PASSAGES = [Passage("a", 1, "Ida Holm was born in Ortval.")]


@pytest.fixture
def investigator() -> Investigator:
    return EndpointInvestigator(Endpoint(model="rules-1", base_url="http://127.0.0.1:9/v1"))


def said(reply: object) -> Completion:
    return Completion(reply if isinstance(reply, str) else json.dumps(reply), 1, 1, 1.0)


async def test_a_request_goes_over_http_with_its_schema():
    async with serve() as server, Endpoint(model="rules-1", base_url=server.base_url) as endpoint:
        investigator = EndpointInvestigator(endpoint)
        await investigator.complete(investigator.sample_request(QUESTION, PASSAGES, sample=3))
        (body,) = server.bodies
    assert body["temperature"] == 0.3
    assert body["response_format"]["json_schema"]["name"] == "sample"
    assert body["messages"][1]["content"].endswith(f"Question: {QUESTION}")


def test_purposes_and_versions(investigator: Investigator):
    requests = [
        investigator.follow_up_request(QUESTION, ()),
        investigator.sample_request(QUESTION, PASSAGES, sample=0),
        investigator.answer_request(QUESTION, PASSAGES),
        investigator.conclusion_request(QUESTION, (), PASSAGES),
    ]
    assert [request.purpose for request in requests] == ["follow_up", "sample", "answer", "conclusion"]
    assert {request.prompt_version for request in requests} == {PROMPT_VERSION}
    assert [request.parameters["temperature"] for request in requests] == [0, 0.3, 0, 0]
    assert (investigator.provider, investigator.model) == ("openai", "rules-1")


def test_no_answer_is_taken_where_there_are_no_facts(investigator: Investigator):
    step = Step(1, StepKind.DIRECT, QUESTION, StepOutcome.NOT_IN_CORPUS)
    first, second = (investigator.follow_up_request(QUESTION, steps).schema for steps in ((), (step,)))
    assert first is not None
    assert second is not None
    assert first["properties"]["answer"] == {"type": "null"}
    assert second["properties"]["answer"] == {"type": ["string", "null"]}


def test_samples_are_rows_of_their_own_over_one_input(investigator: Investigator):
    one, other = (investigator.sample_request(QUESTION, PASSAGES, sample=sample) for sample in (0, 1))
    assert one.messages == other.messages
    assert one.key != other.key


def test_a_retry_is_another_row(investigator: Investigator):
    for render in (
        lambda retry: investigator.follow_up_request(QUESTION, (), retry=retry),
        lambda retry: investigator.answer_request(QUESTION, PASSAGES, retry=retry),
        lambda retry: investigator.conclusion_request(QUESTION, (), PASSAGES, retry=retry),
    ):
        assert [render(retry).sample for retry in (False, True)] == [0, 1]
        assert render(False).messages != render(True).messages


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ({"next": "Who  painted\nit?", "answer": None}, FollowUp("Who painted it?")),
        ({"next": None, "answer": "Ortval"}, FollowUp(answer="Ortval")),
        ({"next": "", "answer": "null"}, FollowUp()),
        ({"next": None, "answer": "not found"}, FollowUp()),
    ],
)
def test_follow_ups_are_read(investigator: Investigator, reply: object, expected: FollowUp):
    assert investigator.read_follow_up(said(reply)) == expected


@pytest.mark.parametrize(
    "answer",
    [
        None,
        "",
        "null",
        "Unknown",
        "not found",
        "Not mentioned in the passages.",
        "The answer is not given in the passages",
        "not explicitly stated in the provided text",
        "not in the passages",
        "No information",
        "No information about her birth is given.",
        "no passage tells it",
        "None",
        "N/A",
        "none",
    ],
)
def test_there_are_many_ways_to_say_no(investigator: Investigator, answer: str | None):
    assert investigator.read_sample(said({"answer": answer})) is None


@pytest.mark.parametrize(
    "answer",
    [
        *("Ortval", "no", "No. 5", "The Unknown Soldier", "Nonesuch Palace", "knot", "Not Given Up"),
        *("not in the Netherlands", "not available in stores", "No Information Society", "not known for painting"),
    ],
)
def test_what_only_looks_like_no_is_an_answer(investigator: Investigator, answer: str):
    assert investigator.read_sample(said({"answer": answer})) == answer


def test_an_answer_is_read_with_its_evidence(investigator: Investigator):
    reply: dict[str, object] = {"passage": 1, "quote": "born in Ortval", "answer": "Ortval"}
    assert investigator.read_answer(said(reply)) == Finding("Ortval", (Evidence(1, "born in Ortval"),))
    assert investigator.read_answer(said({**reply, "answer": None})) == Finding()
    # Where it is, is found out.
    assert investigator.read_answer(said({**reply, "passage": None})).evidence == (Evidence(0, "born in Ortval"),)


def test_a_conclusion_is_read_with_all_its_evidence(investigator: Investigator):
    evidence = [{"passage": 2, "quote": "one"}, {"passage": 1, "quote": ""}, {"passage": 3, "quote": "two"}]
    reply: dict[str, object] = {"evidence": evidence, "answer": "Ortval", "contradiction": "none"}
    assert investigator.read_conclusion(said(reply)) == Finding("Ortval", (Evidence(2, "one"), Evidence(3, "two")))


def test_a_conclusion_may_be_a_contradiction(investigator: Investigator):
    reply: dict[str, object] = {"evidence": [], "answer": None, "contradiction": "Fact 1 and fact 2 name two places."}
    assert investigator.read_conclusion(said(reply)) == Finding(contradiction="Fact 1 and fact 2 name two places.")


@pytest.mark.parametrize("reply", ["Ortval", "{}", {"next": 1, "answer": None}, {"next": None}, {"answer": "x\0"}])
def test_what_does_not_fit_is_no_reply(investigator: Investigator, reply: object):
    for read in (
        investigator.read_follow_up,
        investigator.read_sample,
        investigator.read_answer,
        investigator.read_conclusion,
    ):
        with pytest.raises(InvalidReply):
            read(said(reply))


def test_an_answer_without_a_quote_is_no_reply(investigator: Investigator):
    with pytest.raises(InvalidReply):
        investigator.read_answer(said({"passage": 1, "quote": None, "answer": "Ortval"}))
    with pytest.raises(InvalidReply):
        investigator.read_conclusion(said({"evidence": [], "answer": "Ortval", "contradiction": None}))


def test_what_a_chat_model_wraps_around_its_reply_is_taken_off(investigator: Investigator):
    reply = '<think>So.</think>\n```json\n{"answer": "Ortval"}\n```'
    assert investigator.read_sample(said(reply)) == "Ortval"
