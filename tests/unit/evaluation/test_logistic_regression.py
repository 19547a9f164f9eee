"""A regression that is trained on some cases of a data set, and judges the others."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from pgclarify.errors import InputError
from pgclarify.evaluated import Case
from pgclarify.evaluation.logistic_regression import check_labels, foretell
from tests.fakes import FakeEmbedder

# The ambiguous questions have pronouns.
CASES = [
    case
    for number in range(20)
    for case in (
        Case(f"vague {number}", f"When was it that they opened it, the {number}?", is_ambiguous=True),
        Case(f"clear {number}", f"In which year did Lindvik Harbor Museum number {number} open?", is_ambiguous=False),
    )
]


async def test_it_learns_from_other_cases() -> None:
    check_labels(CASES)
    found = await foretell(CASES, FakeEmbedder())
    assert found.keys() == {case.case_id for case in CASES}
    right = [(found[case.case_id] >= 0.5) == case.is_ambiguous for case in CASES]
    assert np.mean(right) > 0.9


async def test_a_label_never_decides_about_its_own_case() -> None:
    before = await foretell(CASES, FakeEmbedder())
    for place in (0, 1, 7):
        wrong = replace(CASES[place], is_ambiguous=not CASES[place].is_ambiguous)
        after = await foretell([*CASES[:place], wrong, *CASES[place + 1 :]], FakeEmbedder())
        assert after[wrong.case_id] == before[wrong.case_id]
        assert after != before, "but it does for other documents"


async def test_cases_about_one_document_are_judged_without_each_other() -> None:
    shared = [replace(case, document_ids=("d",)) for case in CASES[:2]]
    before = await foretell([*shared, *CASES[2:]], FakeEmbedder())
    wrong = replace(shared[1], is_ambiguous=True)
    after = await foretell([shared[0], wrong, *CASES[2:]], FakeEmbedder())
    assert after[shared[0].case_id] == before[shared[0].case_id]


async def test_a_case_without_a_label_is_judged_too() -> None:
    found = await foretell([*CASES, replace(CASES[0], case_id="unknown", is_ambiguous=None)], FakeEmbedder())
    assert found["unknown"] == pytest.approx(found[CASES[0].case_id], abs=0.05)


@pytest.mark.parametrize(
    "cases",
    [CASES[:1], [case for case in CASES if case.is_ambiguous], [replace(case, is_ambiguous=None) for case in CASES]],
)
def test_too_few_labels_are_refused(cases: list[Case]) -> None:
    with pytest.raises(InputError) as caught:
        check_labels(cases)
    assert caught.value.hint


async def test_equal_questions_are_alike_whatever_their_ids() -> None:
    class Counting(FakeEmbedder):
        async def encode(self, texts: object, *, are_passages: bool = False) -> NDArray[np.float32]:
            assert not are_passages
            return await super().encode(list(texts), are_passages=are_passages)  # type: ignore[call-overload]

    found = await foretell([*CASES, replace(CASES[0], case_id="again")], Counting())
    assert found["again"] == found[CASES[0].case_id]
