"""The evaluations of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from pgclarify.errors import InputError, NotFound
from pgclarify.evaluated import Evaluation, Summary
from pgclarify.reports.evaluation_tables import MOST_EVALUATIONS, read_evaluations
from tests.evaluated_cases import evaluation
from tests.reported import KeptCases, case


class Kept(KeptCases):
    """Evaluations that are kept in memory, newest first, each with two cases."""

    def __init__(self, *those: Evaluation) -> None:
        super().__init__({one.eval_run_id: (case(1, 0.25), case(2, 0.75)) for one in those})
        self.those = those

    async def find(self, reference: str) -> Evaluation:
        return next(one for one in self.those if reference in (str(one.eval_run_id), one.plan.name))

    async def evaluations(self, limit: int) -> list[Evaluation]:
        return [*self.those[:limit]]

    async def summaries(self, eval_run_ids: Sequence[int]) -> Mapping[int, Mapping[str, Summary]]:
        there = {one.eval_run_id: one for one in self.those}
        whole = Summary(0.9, 0.8, 1.0, 2)
        return {each: {"answer_coverage": whole} if there[each].finished_at else {} for each in eval_run_ids}

    async def strata(self, eval_run_ids: Sequence[int]) -> Mapping[int, Mapping[str, Mapping[str, Summary]]]:
        return {each: {} for each in eval_run_ids}


OTHER = bytes(32)


async def chosen(kept: Kept, *references: str) -> list[int]:
    report = await read_evaluations(kept, references)
    assert [member.number for member in report.members] == [*range(1, len(report.members) + 1)]
    return [member.evaluation.eval_run_id for member in report.members]


async def test_without_names_it_is_the_latest_data_set() -> None:
    kept = Kept(
        evaluation(9, name="a"),
        evaluation(8, name="b", data_set_hash=OTHER),
        evaluation(7, name="c"),
        evaluation(6, name="a"),
    )
    assert await chosen(kept) == [7, 9]


async def test_without_names_what_is_finished_comes_before_its_rerun() -> None:
    kept = Kept(
        evaluation(9, name="a", done=1, is_finished=False),
        evaluation(8, name="b", done=0, is_finished=False),
        evaluation(7, name="b", done=1, is_finished=False),
        evaluation(6, name="a"),
        evaluation(5, name="b", done=2, is_finished=False),
        evaluation(4, name="a"),
    )
    assert await chosen(kept) == [6, 7]


async def test_what_has_no_case_yet_is_left_out() -> None:
    kept = Kept(evaluation(9, name="a", done=0, is_finished=False), evaluation(8, name="b"))
    report = await read_evaluations(kept, [])
    assert [member.evaluation.eval_run_id for member in report.members] == [8]
    assert report.left_out == 1


async def test_named_ones_keep_their_order_and_come_once() -> None:
    kept = Kept(evaluation(9, name="a"), evaluation(8, name="b"))
    assert await chosen(kept, "a", "8", "9") == [9, 8]


async def test_what_is_not_finished_is_summarized_as_far_as_it_is() -> None:
    report = await read_evaluations(Kept(evaluation(9, is_finished=False), evaluation(8, name="b")), [])
    coverages = [member.summaries["answer_coverage"].value for member in report.members]
    assert coverages == pytest.approx([0.9, 0.5])


async def test_other_cases_cannot_be_compared() -> None:
    kept = Kept(evaluation(9, name="a"), evaluation(8, name="b", data_set_hash=OTHER))
    with pytest.raises(InputError):
        await read_evaluations(kept, ["a", "b"])


async def test_there_may_be_nothing_to_report() -> None:
    for kept in (Kept(), Kept(evaluation(9, done=0, is_finished=False))):
        with pytest.raises(NotFound):
            await read_evaluations(kept, [])
    with pytest.raises(NotFound):
        await read_evaluations(Kept(evaluation(9, done=0, is_finished=False)), ["9"])


async def test_a_page_holds_so_many() -> None:
    many = [replace(evaluation(place, name=str(place)), eval_run_id=place) for place in range(40, 0, -1)]
    report = await read_evaluations(Kept(*many), [])
    assert [member.evaluation.eval_run_id for member in report.members] == [*range(41 - MOST_EVALUATIONS, 41)]
    assert report.left_out == 40 - MOST_EVALUATIONS
    with pytest.raises(InputError):
        await read_evaluations(Kept(*many), [str(place) for place in range(1, 41)])


async def test_only_verdicts_of_clarify_are_followed() -> None:
    report = await read_evaluations(Kept(evaluation(9, name="a"), evaluation(8, name="b", method="rac")), [])
    assert [member.curves is None for member in report.members] == [True, False]


async def test_metrics_are_read_of_all_cases() -> None:
    report = await read_evaluations(Kept(evaluation(9)), [])
    assert report.metric == "answer_coverage"
    assert {place: values["answer_coverage"] for place, values in report.members[0].values.items()} == {
        1: 0.25,
        2: 0.75,
    }
    assert [one.place for one in report.cases.shown] == [1, 2]
