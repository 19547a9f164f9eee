"""Which questions wait while slow rules of ambiguity are tried."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pgclarify.data.runs import Run
from pgclarify.database.dialogue import DialogueTables
from tests.openai_server import MODEL

SLOW_CORPUS, OTHER_CORPUS = 1, 2


def run_of(corpus_id: int | None, run_id: int) -> Run:
    return Run(run_id, 1, "detect_ambiguity", "cars", {}, corpus_id, MODEL, 4)


class FakeRuns:
    """The part of a worker's tables that matching uses."""

    pool = None


async def test_a_slow_rule_of_one_corpus_does_not_hold_up_questions_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    is_over = asyncio.Event()
    most = running = 0

    async def match(_pool: None, _limit: str, _name: str, *, run_id: int, **_: Any) -> list[dict[str, Any]]:
        nonlocal most, running
        if run_id < 10:
            running += 1
            most = max(most, running)
            await is_over.wait()
            running -= 1
        return []

    monkeypatch.setattr("pgclarify.database.dialogue.fetch_within", match)
    tables = DialogueTables(FakeRuns())  # type: ignore[arg-type]
    slow = [asyncio.create_task(tables.match_rules(run_of(SLOW_CORPUS, number), ["cars"])) for number in range(5)]
    await asyncio.sleep(0)

    others = [tables.match_rules(run_of(corpus_id, 10), ["cars"]) for corpus_id in (OTHER_CORPUS, None)]
    assert await asyncio.wait_for(asyncio.gather(*others), 60) == [[], []]
    assert most == 1, "its own questions wait for each other"
    is_over.set()
    await asyncio.gather(*slow)
