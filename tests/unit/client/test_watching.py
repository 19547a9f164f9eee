"""Scripts that watch a run: each result comes once and in time, and they time out."""

from __future__ import annotations

from typing import Any

import pytest

from pgclarify.client import watching
from pgclarify.client.records import Verdict
from pgclarify.client.scripts import Session
from pgclarify.data.vocabulary import Outcome
from pgclarify.errors import InputError, NotReady, RunTimeout
from tests.unit.client.playing import play, sent_name, sent_values

SESSION = Session()


def look(status: str, rank: int | None = None, **others: Any) -> dict[str, Any]:
    """A row of client_watch_run."""
    columns = dict.fromkeys(("document_id", "title", "passage_id", "heading", "outcome", "interpretation", "answer"))
    columns |= dict.fromkeys(("quote", "start_char", "end_char", "reason", "error"))
    if rank is not None:
        columns |= {"document_id": "17", "passage_id": 5, "outcome": "abstained", "reason": "no answer"}
    return (
        columns
        | {"run_id": 3, "operation": "clarify", "status": status, "isolation": "read committed", "rank": rank}
        | others
    )


def outcome(status: str) -> dict[str, Any]:
    columns = dict.fromkeys(("error", "interpretations", "stop_reason", "cost_usd", "stop_code", "error_code"))
    return columns | {"run_id": 3, "status": status}


def test_verdicts_come_as_they_land_and_once() -> None:
    played = play(
        watching.verdicts(SESSION, 3),
        [outcome("queued")],
        [look("queued")],
        [look("running", 2), look("running", 1)],
        [look("running")],
        [look("partial", 4, outcome="failed", reason=None, error="no reply")],
    )

    assert [verdict.rank for verdict in played.yielded] == [2, 1, 4]
    assert played.yielded[2] == Verdict(
        3, 4, Outcome.FAILED, "17", None, 5, None, None, None, None, None, None, None, "no reply"
    )
    assert [sent_name(one) for one in played.sent] == ["wait"] + ["client_watch_run"] * 4
    assert sent_values(played.sent[-1])["seen"] == [2, 1, 4]
    assert len(played.pauses) == 3
    assert all(0 < pause <= 0.25 for pause in played.pauses)


def test_watching_ends_when_the_time_is_up() -> None:
    with pytest.raises(RunTimeout) as caught:
        play(watching.verdicts(SESSION, 3, timeout=1e-6), [outcome("running")], [look("running", 1)])
    assert caught.value.run_ids == (3,)


@pytest.mark.parametrize("isolation", ["repeatable read", "serializable"])
def test_a_snapshot_that_does_not_move_on_is_not_watched(isolation: str) -> None:
    class InTransaction(Session):
        @property
        def _is_in_transaction(self) -> bool:
            return True

    rows = [look("running", isolation=isolation)]
    with pytest.raises(InputError):
        play(watching.verdicts(InTransaction(), 3), [outcome("running")], rows)
    # Each poll is a separate transaction, so it has its own snapshot.
    assert play(watching.verdicts(SESSION, 3), [outcome("running")], rows, [look("succeeded")]).yielded == []


def test_a_run_of_another_operation_has_nothing_to_watch() -> None:
    for operation in ("search", "investigate"):
        with pytest.raises(NotReady, match="run 3 has no verdicts"):
            play(watching.verdicts(SESSION, 3), [outcome("running")], [look("running", operation=operation)])
