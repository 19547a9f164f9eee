"""Strata: groups of cases with a common property. They show differences that a figure over all cases hides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from pgclarify.evaluated import Summary
from pgclarify.evaluation.summaries import Row, summarize_in_parts

FEWEST_CASES: Final = 5
"""With fewer cases, a figure says almost nothing. It has no interval, and tables show only the number of cases."""
# Values may be data, with a new one in each line. With more values than this, the smallest have one or two cases.
_MOST_OF_A_NAME: Final = 20
_NAMES: Final = ("answers", "kind", "hops")


def cases_of_strata(strata_of_cases: Mapping[int, Sequence[str]]) -> dict[str, list[int]]:
    """Sort cases into strata, in display order.

    Args:
        strata_of_cases: The strata of each case, as Case.strata has them, by ordinal.

    Returns:
        The ordinals of the cases of each stratum. A stratum with all cases is left out. If a name has more than 20
        values, only the values with most cases are kept.
    """
    found: dict[str, list[int]] = {}
    for ordinal, strata in strata_of_cases.items():
        for stratum in strata:
            found.setdefault(stratum, []).append(ordinal)
    kept: dict[str, list[int]] = {}
    of_names: Counter[str] = Counter()
    for stratum in sorted(found, key=lambda one: -len(found[one])):
        name = stratum.partition("=")[0]
        of_names[name] += 1
        if len(found[stratum]) < len(strata_of_cases) and of_names[name] <= _MOST_OF_A_NAME:
            kept[stratum] = found[stratum]
    return {stratum: kept[stratum] for stratum in in_order(kept)}


def in_order(strata: Iterable[str]) -> list[str]:
    """Put strata in display order: by name, then by value, with numbers in numeric order."""

    def place(stratum: str) -> tuple[int, int, str]:
        name, _, value = stratum.partition("=")
        return _NAMES.index(name), int(value) if value.isdecimal() else 0, value

    return sorted(strata, key=place)


async def summarize_strata(
    values: Mapping[int, Row], strata_of_cases: Mapping[int, Sequence[str]]
) -> dict[str, dict[str, Summary]]:
    """Summarize the cases of each stratum, as summarize_in_parts summarizes all cases.

    Args:
        values: The metrics of each case, by ordinal.
        strata_of_cases: The strata of the same cases.

    Returns:
        Summaries by stratum and metric. A stratum of fewer than FEWEST_CASES cases has no intervals. If all cases have
        one label, f1 and average_precision are missing, because they need both labels.
    """
    found: dict[str, dict[str, Summary]] = {}
    for stratum, ordinals in cases_of_strata(strata_of_cases).items():
        rows = [values[ordinal] for ordinal in ordinals]
        summaries = await summarize_in_parts(rows)
        if len({row["label"] for row in rows if "label" in row}) == 1:
            del summaries["f1"], summaries["average_precision"]
        if len(rows) < FEWEST_CASES:
            summaries = {metric: replace(one, low=None, high=None) for metric, one in summaries.items()}
        found[stratum] = summaries
    return found


def count_cases(summaries: Mapping[str, Summary]) -> int:
    """Return the number of cases of a stratum, from its metrics: every case has some of them."""
    return max(summary.cases for summary in summaries.values())
