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
    model, most = trial["model"], trial["passages_per_call"]
    if trial["calls"] is None:
        return ok(_NAME, f"{model} {_ONE}: no trial has begun that finds out how many it can read")
    if trial["error"] is not None:
        remedy = f"The trial is repeated from {trial['due_at'].astimezone():%H:%M} on."
        return warning(_NAME, f"{model} {_ONE}, because its trial has failed: {trial['error']}", remedy)
    if most is None:
        when = "is going on" if trial["is_going_on"] else "is about to begin"
        return ok(_NAME, f"{model} {_ONE} as yet: a trial of at most {MOST_CALLS} calls {when}")
    reads = _ONE if most == 1 else f"reads up to {most} passages a call"
    why_no_more = _why_no_more(trial)
    return ok(_NAME, f"{model} {reads} ({_about(trial)}{f'; {why_no_more}' if why_no_more else ''})")


def _about(trial: Row) -> str:
    """Say when a trial was made, and what it cost."""
    day = trial["finished_at"].astimezone()
    cost = f"{trial['tokens']:,} tokens" if trial["cost_usd"] is None else dollars(trial["cost_usd"])
    return f"trial of {day.day} {day:%b %Y}: {trial['calls']:,} calls, {cost}"


def _why_no_more(trial: Row) -> str | None:
    """Say what the model did wrong with the largest calls that were tried; None if nothing."""
    counted = [Counted(**one) for one in trial["measured"]]
    found = flaw(counted)
    return None if found is None else f"with {counted[-1].size} it {found}"
