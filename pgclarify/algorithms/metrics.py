"""How good answers and rankings are, and how much of a figure is chance. See docs/methods/evaluation.md."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

_PUNCTUATION = str.maketrans("", "", string.punctuation)
Spellings: TypeAlias = Sequence[str]
"""A known answer, in all its spellings."""

_ARTICLE = re.compile(r"\b(?:a|an|the)\b")


def normalize_answer(text: str) -> str:
    """Lower case, without ASCII punctuation and English articles, with single spaces.

    A step that would remove everything is skipped: the band "The The" stays "the the", and "!!!" stays as it is.

    Args:
        text: An answer, a quote or a passage.

    Returns:
        The normalized text; empty only if the text is.

    Source: SQuAD (Rajpurkar et al., EMNLP 2016), the official evaluation. Skipping a step that leaves nothing is ours.
    """
    lowered = text.lower()
    bare = lowered.translate(_PUNCTUATION)
    without_articles = _ARTICLE.sub(" ", bare)
    for step in (without_articles, bare, lowered):
        words = step.split()
        if words:
            return " ".join(words)
    return ""


def exact_match(answer: str, names: Spellings) -> bool:
    """Whether an answer is a known one, in any of its spellings, after normalization.

    Args:
        answer: The given answer; an empty text matches nothing.
        names: Spellings of the known answer.

    Source: SQuAD (Rajpurkar et al., EMNLP 2016).
    """
    normalized = normalize_answer(answer)
    if not normalized:
        return False
    return normalized in map(normalize_answer, names)


def cover_exact_match(text: str, names: Spellings) -> bool:
    """Whether a text contains a known answer, in any of its spellings, word for word after normalization.

    1973 does not contain 7, and "rate" does not contain "rat".

    Args:
        text: An answer, a quote or a passage.
        names: Spellings of the known answer.

    Source: SUNAR, §4 (Evaluation Metrics: "cover-EM").
    """
    return _covers(_padded(text), names)


def covered_answers(golds: Sequence[Spellings], texts: Sequence[str]) -> list[bool]:
    """Tell which of the known answers are contained in one of the texts, after normalization.

    Args:
        golds: The known answers, each in all its spellings.
        texts: The given answers, quotes or passages.

    Returns:
        A boolean for each known answer, in order.

    Source: cover-EM; see `cover_exact_match`.
    """
    padded = [_padded(text) for text in texts]
    return [any(_covers(text, names) for text in padded) for names in golds]


def answer_coverage(golds: Sequence[Spellings], texts: Sequence[str]) -> float:
    """Share of the known answers that are contained in one of the texts, after normalization.

    Args:
        golds: The known answers, at least one, each in all its spellings.
        texts: The given answers, quotes or passages.

    Returns:
        0 to 1; 0 if there are no texts.

    Source: cover-EM (SUNAR, §4) over all known answers of an ambiguous question, as recall of short answers (ASQA,
        Stelmakh et al., EMNLP 2022, "STR-EM").
    """
    covered = sum(covered_answers(golds, texts))
    return covered / len(golds)


def answer_f1(predicted: Sequence[str], answer_sets: Sequence[Sequence[Spellings]]) -> float:
    """Compare a set of answers with the known ones, by `exact_match`, paired one to one with as many pairs as possible.

    Args:
        predicted: The given answers. Answers that are the same after normalization count once.
        answer_sets: A set of known answers for each person who was asked, at least one set, none empty; each answer in
            all its spellings. Answers of one set with the same spellings count once. The set that matches best counts.

    Returns:
        0 to 1: the harmonic mean of precision and recall.

    Source: AmbigQA (Min et al., EMNLP 2020), F1 of answers, as AmbigPrompt §4.2 uses it.
    """
    distinct = _distinct(predicted)
    distinct_sets = [_distinct_golds(golds) for golds in answer_sets]
    return max(_f1(distinct, golds) for golds in distinct_sets)


def _distinct(answers: Sequence[str]) -> list[str]:
    first: dict[str, str] = {}
    for answer in answers:
        first.setdefault(normalize_answer(answer), answer)
    return list(first.values())


def _distinct_golds(golds: Sequence[Spellings]) -> list[Spellings]:
    first: dict[frozenset[str], Spellings] = {}
    for names in golds:
        spellings = frozenset(map(normalize_answer, names))
        first.setdefault(spellings, names)
    return list(first.values())


def _f1(predicted: Sequence[str], golds: Sequence[Spellings]) -> float:
    fits = []
    for answer in predicted:
        fitting = [place for place, names in enumerate(golds) if exact_match(answer, names)]
        fits.append(fitting)
    pairs = _most_pairs(fits)
    answers = len(predicted) + len(golds)
    return 2 * pairs / answers


def _most_pairs(fits: Sequence[Sequence[int]]) -> int:
    """Return the greatest number of pairs, each side at most once, by augmenting paths.

    Args:
        fits: For each answer, the places of the known answers that it matches.
    """
    owners: dict[int, int] = {}

    def place(answer: int, seen: set[int]) -> bool:
        for gold in fits[answer]:
            if gold in seen:
                continue
            seen.add(gold)
            if gold not in owners or place(owners[gold], seen):
                owners[gold] = answer
                return True
        return False

    paired = [place(answer, set()) for answer in range(len(fits))]
    return sum(paired)


def _padded(text: str) -> str:
    return f" {normalize_answer(text)} "


def _covers(padded: str, names: Spellings) -> bool:
    # An empty spelling matches nothing, not even an empty text.
    spellings = [normalize_answer(name) for name in names]
    return any(f" {spelling} " in padded for spelling in spellings if spelling)


Id = TypeVar("Id", bound=Hashable)


def recall_at(ranking: Sequence[Id], relevant: Collection[Id], k: int) -> float:
    """Share of the relevant ids that are among the first k different ones.

    Args:
        ranking: Best first.
        relevant: The ids to find, at least one.
        k: The depth, at least 1.

    Source: SUNAR, §4 ("R@k").
    """
    wanted = set(relevant)
    different = list(dict.fromkeys(ranking))
    found = wanted.intersection(different[:k])
    return len(found) / len(wanted)


Floats = NDArray[np.float64]
Statistic = Callable[[Floats], Floats]
"""Takes samples of rows, shape (samples, n) or (samples, n, columns), and returns one value for each sample."""

_ENDS: Final = (0.025, 0.975)
_SAMPLES: Final = 2_000
# Numbers in memory at a time, 16 MiB.
_BLOCK: Final = 1 << 21
# Two sums of the same numbers in another order differ by at most this.
_ROUNDING: Final = 1e-12


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """The difference between two methods on the same questions.

    Attributes:
        difference: The statistic of the second method minus that of the first.
        low: Lower end of its 95 % interval.
        high: Upper end.
        p: The probability of a difference at least this large, in either direction, if the two results of each question
            were assigned to the methods at random; greater than 0, up to 1.
    """

    difference: float
    low: float
    high: float
    p: float


def mean(values: Floats) -> Floats:
    """Mean over questions of each sample."""
    averages: Floats = values.mean(axis=1)
    return averages


def f1_of_means(values: Floats) -> Floats:
    """Harmonic mean of the means of two columns: takes shape (samples, n, 2), returns (samples,); 0 where both are 0.

    NaN counts for no mean, and a column of NaN alone has the mean 0.

    Source: VERDICT, Table 2 ("G-F1").
    """
    known = ~np.isnan(values)
    sums = np.where(known, values, 0).sum(axis=1)
    counts = known.sum(axis=1)
    averages = sums / np.maximum(1, counts)
    total = averages.sum(axis=1)
    product = averages.prod(axis=1)
    harmonic: Floats = np.zeros_like(total)
    np.divide(2 * product, total, out=harmonic, where=total > 0)
    return harmonic


def f1s_of_labels(labels: NDArray[np.bool_], called: NDArray[np.bool_]) -> Floats:
    """F1 of each of many samples: both of shape (..., n), n at least 1; returns shape (...). 0 if nothing is True."""
    hits = np.sum(labels & called, axis=-1)
    labelled = np.sum(labels, axis=-1)
    found = np.sum(called, axis=-1)
    both = np.maximum(1, labelled + found)
    f1s: Floats = 2 * hits / both
    return f1s


def bootstrap_interval(
    values: ArrayLike, statistic: Statistic = mean, *, samples: int = _SAMPLES
) -> tuple[float, float]:
    """The middle 95 % of a statistic over questions that are resampled with replacement.

    Args:
        values: One row a question: float64, shape (n,) or (n, columns), n at least 1.
        statistic: The mean, `f1_of_means`, or another.
        samples: How many samples are drawn.

    Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), §13.3 (percentile interval).
    """
    rows = np.asarray(values, dtype=np.float64)
    drawn_values = [statistic(rows[drawn]) for drawn, _ in _draws(rows, samples)]
    return _middle(drawn_values)


def paired_bootstrap(
    first: ArrayLike, second: ArrayLike, statistic: Statistic = mean, *, samples: int = _SAMPLES
) -> PairedDifference:
    """Compare two methods on the same questions.

    Args:
        first: One row a question, as for `bootstrap_interval`.
        second: Of the same shape, rows for the same questions.
        statistic: As for `bootstrap_interval`.
        samples: As for `bootstrap_interval`.

    Returns:
        Second minus first. The interval comes from resampled pairs. p comes from a randomization test: each sample
        swaps the two results of some questions. With few questions p proves nothing.

    Source: Efron and Tibshirani (1993), §13.3; Smucker, Allan and Carterette (CIKM 2007) on the randomization test.
    """
    one = np.asarray(first, dtype=np.float64)
    other = np.asarray(second, dtype=np.float64)

    def difference(ones: Floats, others: Floats) -> Floats:
        return statistic(others) - statistic(ones)

    (observed,) = difference(one[None], other[None]).tolist()
    # A difference that is as large but for rounding.
    as_large = abs(observed) - _ROUNDING
    differences = []
    # The observed assignment is one of the possible ones.
    as_far = 1
    for drawn, swaps in _draws(one, samples):
        differences.append(difference(one[drawn], other[drawn]))
        is_swapped = swaps if one.ndim == 1 else swaps[..., None]
        ones = np.where(is_swapped, other, one)
        others = np.where(is_swapped, one, other)
        by_chance = difference(ones, others)
        are_as_far = np.abs(by_chance) >= as_large
        as_far += int(np.count_nonzero(are_as_far))
    low, high = _middle(differences)
    p = as_far / (1 + samples)
    return PairedDifference(observed, low, high, p)


def _middle(values: Sequence[Floats]) -> tuple[float, float]:
    """The ends of the middle 95 % of all values."""
    together = np.concatenate(values)
    low, high = np.quantile(together, _ENDS)
    return float(low), float(high)


def _draws(rows: Floats, samples: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.bool_]]]:
    """Yield the drawn rows of samples, and which rows each sample swaps: blocks that fit into memory."""
    chance = np.random.default_rng(0)
    size = max(1, _BLOCK // rows.size)
    for start in range(0, samples, size):
        count = min(size, samples - start)
        shape = (count, len(rows))
        drawn = chance.integers(len(rows), size=shape)
        swaps = chance.random(shape) < 0.5
        yield drawn, swaps
