"""The metrics of all cases together."""

from __future__ import annotations

import asyncio

import pytest

from pgclarify.algorithms.metrics.intervals import Floats
from pgclarify.evaluated import Summary
from pgclarify.evaluation import summaries
from pgclarify.evaluation.summaries import summarize, summarize_in_parts


def test_summaries_are_means_over_the_cases_that_have_it() -> None:
    found = summarize(
        [
            {"recall": 1.0, "calls": 2.0},
            {"recall": 0.0, "calls": 4.0},
            {"calls": 3.0},
        ]
    )
    assert (found["recall"].value, found["recall"].cases) == (0.5, 2)
    assert (found["recall"].low, found["recall"].high) == (0, 1)
    assert (found["calls"].value, found["calls"].cases) == (3, 3)


def test_g_f1_is_the_harmonic_mean_of_two_means() -> None:
    rows = [
        {"grounded_precision": 1.0, "grounded_recall": 0.0},
        {"grounded_precision": 0.6, "grounded_recall": 0.4},
        # This case has no known reading, so the metric leaves it out.
        {"grounded_precision": 0.0},
    ]
    found = summarize(rows)["grounded_f1"]
    # The mean of the values of the two cases would be 0.24.
    assert found.value == pytest.approx(2 * 0.8 * 0.2 / 1.0)
    assert (found.low, found.cases) == (0, 2)
    assert found.high == pytest.approx(0.48)


def test_one_case_has_no_interval() -> None:
    found = summarize([{"recall": 0.5}])["recall"]
    assert (found.value, found.low, found.high, found.cases) == (0.5, None, None, 1)


async def test_no_cases() -> None:
    assert summarize([]) == await summarize_in_parts([]) == {}


async def test_parts_make_the_whole_in_order() -> None:
    detected = {"label": 1.0, "predicted": 1.0, "probability": 0.9, "seconds": 2.0}
    rows = [{"calls": 2.0, "recall": 1.0, "seconds": 1.0}, {"calls": 4.0, "seconds": 3.0}, detected]
    found = await summarize_in_parts(rows)
    assert found == summarize(rows)
    assert list(found) == ["calls", "recall", "seconds", "accuracy", "f1", "average_precision"]
    assert found["seconds"].value == 2


async def test_it_can_be_cancelled_between_two_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []
    loop, is_begun = asyncio.get_running_loop(), asyncio.Event()

    def means(values: Floats) -> list[Summary]:
        begun.append(len(values))
        loop.call_soon_threadsafe(is_begun.set)
        return [Summary(0.0, None, None, len(values))] * values.shape[1]

    monkeypatch.setattr(summaries, "_means", means)
    # Each case has one metric more than the one before, so each metric is a part of its own.
    task = asyncio.create_task(summarize_in_parts([{f"m{name}": 1.0 for name in range(row)} for row in range(500)]))
    await is_begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(begun) < 400


def test_summaries_of_detection() -> None:
    rows = [
        {"label": 1.0, "predicted": 1.0, "probability": 0.9},
        {"label": 0.0, "predicted": 1.0, "probability": 0.8},
        {"label": 1.0, "predicted": 0.0, "probability": 0.4},
        {"label": 0.0, "predicted": 0.0, "probability": 0.1},
    ]
    found = summarize(rows)
    assert found.keys() == {"accuracy", "f1", "average_precision"}
    assert (found["accuracy"].value, found["f1"].value) == (0.5, 0.5)
    assert found["average_precision"].value == pytest.approx(5 / 6)
    assert found["accuracy"].low == 0
    assert found["accuracy"].cases == 4


def test_a_detection_that_failed_is_wrong() -> None:
    rows = [{"label": 1.0, "predicted": 1.0, "probability": 0.9}, {"label": 1.0}, {"label": 0.0}]
    found = summarize(rows)
    assert found["accuracy"].value == pytest.approx(1 / 3)
    assert found["f1"].value == 0.5
    # In the order of the ranking: the clear question without a result, the found one, the ambiguous one without a
    # result.
    assert found["average_precision"].value == pytest.approx(0.5 * 1 / 2 + 0.5 * 2 / 3)
