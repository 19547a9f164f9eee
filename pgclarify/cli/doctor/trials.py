"""How many passages a call the models of the workers read, as `doctor` and `use` say it."""

from __future__ import annotations

from collections.abc import Sequence

from pgclarify.cli.doctor.check import Check, ok, warning
from pgclarify.cli.rendering import Row
from pgclarify.operations.model_trial.passages_per_call import MOST_CALLS, Counted, flaw
from pgclarify.reports.formats import dollars

_NAME = "passages a call"
_ONE = "reads one passage a call"


def check_trials(trials: Sequence[Row]) -> list[Check]:
    """Say how many passages a call each model reads, and why.

    Args:
        trials: Rows of statement client_list_model_trials.
    """
    return [_check(trial) for trial in trials]


def _check(trial: Row) -> Check:
    if trial["error"] is not None:
        return warning(
            _NAME,
            f"{trial['model']} {_ONE}, because its trial has failed: {trial['error']}",
            f"The trial is repeated from {trial['due_at'].astimezone():%H:%M} on.",
        )
    if trial["calls"] is None:
        what = f"{_ONE}: no trial has begun that finds out how many it can read"
    elif trial["passages_per_call"] is None:
        when = "is going on" if trial["is_going_on"] else "is about to begin"
        what = f"{_ONE} as yet: a trial of at most {MOST_CALLS} calls {when}"
    else:
        what = _finished(trial)
    return ok(_NAME, f"{trial['model']} {what}")


def _finished(trial: Row) -> str:
    most = trial["passages_per_call"]
    reads = _ONE if most == 1 else f"reads up to {most} passages a call"
    reasons = [_about(trial), *_why_no_more(trial)]
    return f"{reads} ({'; '.join(reasons)})"


def _about(trial: Row) -> str:
    """Say when a trial was made, and what it cost."""
    day = trial["finished_at"].astimezone()
    cost = f"{trial['tokens']:,} tokens" if trial["cost_usd"] is None else dollars(trial["cost_usd"])
    return f"trial of {day.day} {day:%b %Y}: {trial['calls']:,} calls, {cost}"


def _why_no_more(trial: Row) -> list[str]:
    """Say what the model did wrong with the largest calls that were tried."""
    counted = [Counted(**one) for one in trial["measured"]]
    found = flaw(counted)
    if found is None:
        return []
    return [f"with {counted[-1].size} it {found}"]
