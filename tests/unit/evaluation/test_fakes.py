"""The fake judge keeps the promises of the protocol."""

import pytest

from pgclarify.errors import EndpointUnavailable
from pgclarify.evaluated import Stated
from pgclarify.model import Passage
from pgclarify.protocols import Judge
from tests.fakes import FakeJudge

ONE, OTHER, THIRD = Stated("When?"), Stated("At what time?"), Stated(None, ("9 am", "nine"))
PASSAGE = Passage("a", 1, "At nine.")


async def test_it_judges_as_it_was_told_to():
    fake = FakeJudge(
        supported={("When?", "At nine."), ("9 am", "At nine.")},
        matching={("At what time?", "When?")},
        irrelevant={"9 am"},
    )
    judge: Judge = fake
    elsewhere = Passage("b", 2, "Elsewhere.")
    claims = [(ONE, [elsewhere, PASSAGE]), (OTHER, [PASSAGE]), (THIRD, [PASSAGE]), (ONE, [elsewhere]), (ONE, [])]
    assert await judge.supports(claims) == [True, False, True, False, False]
    assert await judge.matches("?", [ONE, OTHER, THIRD], [ONE]) == [True, True, False]
    assert await judge.matches("?", [ONE, THIRD], [OTHER, THIRD]) == [True, True]
    assert await judge.distinct("?", [ONE, THIRD, OTHER, THIRD]) == [0, 1]
    assert await judge.relevant("?", [ONE, THIRD]) == [True, False]
    assert [judgement for judgement, _ in fake.calls] == ["supports", "matches", "matches", "distinct", "relevant"]
    assert fake.calls[-1] == ("relevant", ["When?", "9 am"])
    assert (judge.name, judge.version) == ("fake", "1")


async def test_it_fails_if_it_was_told_to():
    judge = FakeJudge(error=EndpointUnavailable("away"))
    with pytest.raises(EndpointUnavailable):
        await judge.relevant("?", [ONE])
