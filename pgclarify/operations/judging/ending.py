"""How verdicts end their run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pgclarify.data.verdicts import Refusal, Verdict
from pgclarify.data.vocabulary import Outcome, RunStatus, StopCode
from pgclarify.errors import BudgetSpent
from pgclarify.operations.context import OF_A_BUDGET, Ending, RunContext, code_of_failures


def failure_of(context: RunContext, verdicts: Sequence[Verdict]) -> Ending | None:
    """How a run ends whose verdicts all failed; None if one did not.

    A spent budget alone does not make a run fail.

    Args:
        context: The run.
        verdicts: All verdicts, by rank.
    """
    failed = _failed(verdicts)
    if not failed or len(failed) < len(verdicts):
        return None
    # Other errors matter more than the budget, because a larger budget would not help against them.
    others = [verdict for verdict in failed if verdict.error_code not in OF_A_BUDGET]
    if not others and isinstance(context.store.refusal, BudgetSpent):
        return None
    error, error_code = _summarize(others or failed)
    return Ending(RunStatus.FAILED, error=error, error_code=error_code)


def ending_of(context: RunContext, verdicts: Sequence[Verdict]) -> Ending:
    """How a run ends that has not failed, and note why it has no result if no verdict is grounded.

    It succeeds if no verdict failed, even if none is grounded. It is partial if some failed. Then it has their code,
    unless a budget refused all these calls.

    Args:
        context: The run.
        verdicts: All verdicts, by rank.
    """
    stop_code = _why_without_result(verdicts)
    if stop_code is not None:
        context.trace.stop_code = stop_code
    failed = _failed(verdicts)
    if not failed:
        return Ending(RunStatus.SUCCEEDED)
    error_code = code_of_failures(verdict.error_code for verdict in failed)
    return Ending(RunStatus.PARTIAL, error_code=error_code)


def _why_without_result(verdicts: Sequence[Verdict]) -> StopCode | None:
    """Why no verdict is grounded; None if one is, or if the passages just have no answer."""
    outcomes = {verdict.outcome for verdict in verdicts}
    if Outcome.GROUNDED in outcomes:
        return None
    codes = Counter(verdict.abstention_code for verdict in verdicts)
    if codes[StopCode.LANGUAGE] > len(verdicts) // 2:
        return StopCode.LANGUAGE
    # An answer that was found and refused tells more than passages without an answer.
    if StopCode.THRESHOLD in codes:
        return StopCode.THRESHOLD
    if not codes.keys().isdisjoint(Refusal):
        return StopCode.UNPROVEN
    return None


def _failed(verdicts: Sequence[Verdict]) -> list[Verdict]:
    return [verdict for verdict in verdicts if verdict.outcome is Outcome.FAILED]


def _summarize(failed: Sequence[Verdict]) -> tuple[str, str | None]:
    """Return the most frequent error of failed verdicts, with its code; the first among equals.

    The error quotes no reply, because a role that may no longer read the passage still sees the error of the run.
    """
    errors = Counter((verdict.error_without_reply or "", verdict.error_code) for verdict in failed)
    ((most_frequent, count),) = errors.most_common(1)
    error, code = most_frequent
    if len(failed) > 1:
        error = f"{error} ({count} of {len(failed)} passages)"
    return error, code
