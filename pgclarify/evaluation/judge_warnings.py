"""What is known of judges, and the warning that tables made with a weak one carry.

judge_figures.json beside this file has what `python -m benchmarks.judge_agreement DATA_DIR --publish FILE` measured:
for each judge and version its kappa with labels, and how often it says yes to right claims and to wrong ones.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from pgclarify.evaluated import EvaluationPlan

_FIGURES: Final = Path(__file__).with_name("judge_figures.json")
# Below this, agreement is no more than moderate (Landis and Koch, 1977).
_LEAST_KAPPA: Final = 0.6
_MOST_YES_TO_WRONG: Final = 1 / 3


@dataclass(frozen=True, slots=True)
class JudgeFigures:
    """How far a judge agrees with labels.

    Attributes:
        judge: Its name.
        version: Of its rules or prompts.
        claims: How many claims were judged.
        kappa: Cohen's kappa with the labels.
        yes_to_right: Share of the right claims that it calls supported.
        yes_to_wrong: Share of the wrong ones.
    """

    judge: str
    version: str
    claims: int
    kappa: float
    yes_to_right: float
    yes_to_wrong: float

    @property
    def is_weak(self) -> bool:
        """Whether small differences in what it judges mean little."""
        return self.kappa < _LEAST_KAPPA or self.yes_to_wrong >= _MOST_YES_TO_WRONG


@cache
def published_figures() -> tuple[JudgeFigures, ...]:
    """The figures of all judges that were measured."""
    return tuple(JudgeFigures(**one) for one in json.loads(_FIGURES.read_text(encoding="utf-8")))


def judge_warning(judge: str, version: str) -> str | None:
    """What a reader of figures by this judge has to know; a whole sentence, or None if it may be believed.

    Args:
        judge: Its name.
        version: Of its rules or prompts.
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
    """The warnings of the judges of some evaluations, each once."""
    judges = dict.fromkeys((plan.judge, plan.judge_version) for plan in plans)
    return [warning for judge in judges if (warning := judge_warning(*judge))]
