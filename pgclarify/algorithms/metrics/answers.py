"""How well answers match the known ones, by their words alone."""

from __future__ import annotations

import re
import string
from collections.abc import Sequence

_PUNCTUATION = str.maketrans("", "", string.punctuation)
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
    steps = (_ARTICLE.sub(" ", bare), bare, lowered)
    return next((joined for joined in (" ".join(step.split()) for step in steps) if joined), "")


def exact_match(answer: str, names: Sequence[str]) -> bool:
    """Whether an answer is a known one, in any of its spellings, after normalization.

    Args:
        answer: The given answer; an empty text matches nothing.
        names: Spellings of the known answer.

    Source: SQuAD (Rajpurkar et al., EMNLP 2016).
    """
    normalized = normalize_answer(answer)
    return bool(normalized) and any(normalize_answer(name) == normalized for name in names)


def cover_exact_match(text: str, names: Sequence[str]) -> bool:
    """Whether a text contains a known answer, in any of its spellings, word for word after normalization.

    1973 does not contain 7, and "rate" does not contain "rat".

    Args:
        text: An answer, a quote or a passage.
        names: Spellings of the known answer.

    Source: SUNAR, §4 (Evaluation Metrics: "cover-EM").
    """
    return _covers(_padded(text), names)


def covered_answers(golds: Sequence[Sequence[str]], texts: Sequence[str]) -> list[bool]:
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


def answer_coverage(golds: Sequence[Sequence[str]], texts: Sequence[str]) -> float:
    """Share of the known answers that are contained in one of the texts, after normalization.

    Args:
        golds: The known answers, at least one, each in all its spellings.
        texts: The given answers, quotes or passages.

    Returns:
        0 to 1; 0 if there are no texts.

    Source: cover-EM (SUNAR, §4) over all known answers of an ambiguous question, as recall of short answers (ASQA,
        Stelmakh et al., EMNLP 2022, "STR-EM").
    """
    return sum(covered_answers(golds, texts)) / len(golds)


def answer_f1(predicted: Sequence[str], answer_sets: Sequence[Sequence[Sequence[str]]]) -> float:
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
    return max(_f1(distinct, _distinct_golds(golds)) for golds in answer_sets)


def _distinct(answers: Sequence[str]) -> list[str]:
    first: dict[str, str] = {}
    for answer in answers:
        first.setdefault(normalize_answer(answer), answer)
    return list(first.values())


def _distinct_golds(golds: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    first: dict[frozenset[str], Sequence[str]] = {}
    for names in golds:
        first.setdefault(frozenset(map(normalize_answer, names)), names)
    return list(first.values())


def _f1(predicted: Sequence[str], golds: Sequence[Sequence[str]]) -> float:
    fits = [[place for place, names in enumerate(golds) if exact_match(answer, names)] for answer in predicted]
    return 2 * _most_pairs(fits) / (len(predicted) + len(golds))


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

    return sum(place(answer, set()) for answer in range(len(fits)))


def _padded(text: str) -> str:
    return f" {normalize_answer(text)} "


def _covers(padded: str, names: Sequence[str]) -> bool:
    # An empty spelling matches nothing, not even an empty text.
    return any(f" {normalized} " in padded for normalized in map(normalize_answer, names) if normalized)
