"""Methods that need no server: what people know."""

from __future__ import annotations

from typing import cast

import pytest

from pgclarify.evaluated import Case, GoldInterpretation
from pgclarify.evaluation.methods import Asking, Human, sql_method
from pgclarify.model import Passage

PASSAGE = Passage("d", 1, "Tony Goldwyn was there.")


class Found:
    """A search that finds one passage."""

    async def search(self, question: str, top_k: int) -> list[Passage]:
        assert (question, top_k) == ("q", 3)
        return [PASSAGE]


@pytest.mark.parametrize(
    ("case", "given"),
    [
        (
            Case("1", "q", (GoldInterpretation("a?", ("x", "y")), GoldInterpretation(None, ("z",)))),
            [("a?", "x"), ("q", "z")],
        ),
        (Case("1", "q", (GoldInterpretation("a?", ()),)), [("a?", None)]),
        (Case("1", "q", answer_sets=((("x", "y"), ("z",)), (("w",),))), [("q", "x"), ("q", "z")]),
        (Case("1", "q"), []),
    ],
)
async def test_what_people_know(case: Case, given: list[tuple[str, str | None]]) -> None:
    output = await Human(Found(), top_k=3).answer(case)
    assert [(one.interpretation, one.answer) for one in output.interpretations] == given
    assert all(not one.citations for one in output.interpretations)
    assert output.retrieved == (PASSAGE,)
    assert (output.run_id, output.usage.calls) == (None, 0)


def test_baselines_are_no_operations() -> None:
    with pytest.raises(ValueError, match="rac"):
        sql_method(cast("Asking", None), "rac", {})
