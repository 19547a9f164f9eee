"""The measured quality of judges, and the warnings in tables whose judge is weak or failed.

`python -m benchmarks.judge_agreement DATA_DIR --publish FILE` measured the figures in judge_figures.json: for each
judge and version its kappa with labels, and how often it accepts right claims and wrong ones.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from pgclarify.evaluated import EvaluationPlan, Summary
from pgclarify.language.numbers import counted

_FIGURES: Final = Path(__file__).with_name("judge_figures.json")
# Below this, agreement is moderate at most (Landis and Koch, 1977).
_LEAST_KAPPA: Final = 0.6
_MOST_YES_TO_WRONG: Final = 1 / 3


@dataclass(frozen=True, slots=True)
class JudgeFigures:
    """The agreement of a judge with labels.

    Attributes:
        judge: The name of the judge.
        version: The version of its rules or prompts.
        claims: Number of judged claims.
        kappa: Cohen's kappa with the labels.
        yes_to_right: Share of the right claims that it calls supported.
        yes_to_wrong: Share of the wrong claims that it calls supported.
    """

    judge: str
    version: str
    claims: int
    kappa: float
    yes_to_right: float
    yes_to_wrong: float

    @property
    def is_weak(self) -> bool:
        """Return whether small differences in its judgements mean little."""
        return self.kappa < _LEAST_KAPPA or self.yes_to_wrong >= _MOST_YES_TO_WRONG


@cache
def published_figures() -> tuple[JudgeFigures, ...]:
    """Return the figures of all measured judges."""
    return tuple(JudgeFigures(**one) for one in json.loads(_FIGURES.read_text(encoding="utf-8")))


def judge_warning(judge: str, version: str) -> str | None:
    """Return the warning for figures of this judge as a whole sentence; None if the judge is good enough.

    Args:
        judge: The name of the judge.
        version: The version of its rules or prompts.
    """
    known = next((one for one in published_figures() if (one.judge, one.version) == (judge, version)), None)
    if known is None:
        return f"The judge {judge}, version {version}, has not been measured: how often it errs is not known."
    if not known.is_weak:
        return None
    return (
        f"The judge {judge} is weak: its kappa with {known.claims} labels is {known.kappa:.2f}, and it calls "
        f"{known.yes_to_wrong:.0%} of wrong claims and {known.yes_to_right:.0%} of right ones supported."
    )


def judge_warnings(plans: Iterable[EvaluationPlan]) -> list[str]:
    """Return the warnings of the judges of some evaluations, each once."""
    judges = dict.fromkeys((plan.judge, plan.judge_version) for plan in plans)
    return [warning for judge in judges if (warning := judge_warning(*judge))]


def unjudged_warnings(given: Iterable[tuple[str, Mapping[str, Summary]]]) -> list[str]:
    """Return a warning for each evaluation of which judgements failed.

    Args:
        given: The name and the metrics of each evaluation.
    """
    counts = [(name, summaries["unjudged"]) for name, summaries in given if "unjudged" in summaries]
    return [unjudged_warning(name, round(one.value * one.cases)) for name, one in counts if one.value]


def unjudged_warning(name: str, failed: int) -> str:
    """Return the warning for an evaluation of which judgements failed as whole sentences.

    Args:
        name: The name of the evaluation.
        failed: How many failed.
    """
    return (
        f"{counted(failed, 'judgement')} of {name} failed. Readings without a judgement count as unsupported or "
        "irrelevant. Cases that could not be compared with the readings of people have no recall."
    )
