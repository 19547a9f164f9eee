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
    model = trial["model"]
    if trial["error"] is not None:
        due = trial["due_at"].astimezone()
        return warning(
            _NAME,
            f"{model} {_ONE}, because its trial has failed: {trial['error']}",
            f"Once the cause is gone, start the worker again; else the trial is repeated at {due:%d %b %H:%M}.",
        )
    if trial["calls"] is None:
        return ok(_NAME, f"{model} {_ONE}: no trial has begun that finds out how many it can read")
    if trial["passages_per_call"] is None:
        when = "is going on" if trial["is_going_on"] else "is about to begin"
        return ok(_NAME, f"{model} {_ONE} as yet: a trial of at most {MOST_CALLS} calls {when}")
    return _finished(trial)


def _finished(trial: Row) -> Check:
    most = trial["passages_per_call"]
    reads = _ONE if most == 1 else f"reads up to {most} passages a call"
    counted = [Counted(**one) for one in trial["measured"]]
    reasons = [_about(trial)]
    found = flaw(counted)
    if found is not None:
        size = counted[-1].size
        reasons.append(f"with {size} it {found}")
    because = "; ".join(reasons)
    finding = f"{trial['model']} {reads} ({because})"
    if found is not None and len(counted) == 1:
        return warning(_NAME, finding, "Its answers will be poor. Choose another model: pgclarify use URL MODEL")
    return ok(_NAME, finding)


def _about(trial: Row) -> str:
    """Say when a trial was made, and what it cost."""
    day = trial["finished_at"].astimezone()
    calls = trial["calls"]
    cost = f"{trial['tokens']:,} tokens"
    if trial["cost_usd"] is not None:
        cost = dollars(trial["cost_usd"])
    return f"trial of {day.day} {day:%b %Y}: {calls:,} calls, {cost}"
