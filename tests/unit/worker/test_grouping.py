"""Grouping waits, for a limited time, while there are runs to execute."""

from __future__ import annotations

import pytest

from pgclarify.worker import grouping
from pgclarify.worker.grouping import QuestionGrouping


async def test_runs_come_first_but_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    now, is_busy = 1000.0, True
    ungrouped, grouped = [1, 2], list[int]()

    async def fetch_value(_pool: object, _function: str, *, most: int) -> int:
        some, ungrouped[:] = ungrouped[:most], ungrouped[most:]
        grouped.extend(some)
        return len(some)

    monkeypatch.setattr(grouping, "fetch_value", fetch_value)
    work = QuestionGrouping(
        None,  # type: ignore[arg-type]  # fetch_value is replaced
        is_busy=lambda: is_busy,
        clock=lambda: now,
    )
    await work.catch_up()
    now = 1299
    await work.catch_up()
    assert grouped == []

    now = 1300
    await work.catch_up()
    assert grouped == [1, 2]

    ungrouped.append(3)
    await work.catch_up()
    assert 3 not in grouped, "it has only caught up now"

    is_busy = False
    await work.catch_up()
    assert 3 in grouped
