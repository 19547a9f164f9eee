"""Diversity and grounding of readings, computed from a judge's verdicts.

VERDICT's symbols: Q̂ are the readings of a method, Q̃ the readings of people, Q̄ the grounded gold; V is the judge, p̂
the passage that a reading cites. docs/methods/evaluation.md says what the paper leaves open, and what we chose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Quadrants:
    """Shares of readings by relevance to the question and answerability from their passage, 0 to 1 each.

    They add up to 1, or to 0 if there are no readings.

    Source: VERDICT, §5.2 and Figure 3.
    """

    relevant_answerable: float
    relevant_unanswerable: float
    irrelevant_answerable: float
    irrelevant_unanswerable: float


def sufficient(distinct: int, human: int) -> bool:
    """Whether a question has at least as many distinct readings as people know.

    Args:
        distinct: The number of readings without those that nearly repeat another one.
        human: The number of readings that people know, at least 1, counted in the same way.

    Source: VERDICT, §5.1.1 ("Sufficient%", footnote 4). The paper does not say which number is sufficient.
    """
    return distinct >= human


def recall(covered: Sequence[bool]) -> float:
    """Ungrounded recall: the share of people's readings that a method has, 0 to 1; 0 if there are none.

    Args:
        covered: V(q̃, Q̂) of each reading of people.

    Source: VERDICT, Eq. 18.
    """
    return _share(covered)


def grounded_precision(supported: Sequence[bool]) -> float:
    """The share of a method's readings that their passage answers, 0 to 1; 0 if there are none.

    Args:
        supported: V(q̂, p̂) of each reading of the method.

    Source: VERDICT, Eq. 11 and Eq. 19.
    """
    return _share(supported)


def grounded_gold(supported: Sequence[bool], human_supported: Sequence[bool]) -> list[int]:
    """List the readings that a passage is known to answer: Q̄, before repeated ones are removed.

    Args:
        supported: V(q̂, p̂) of each reading of the method.
        human_supported: V of each reading of people, and the evidence of the case: the same for all methods.

    Returns:
        Places in the concatenation of both lists, the method's first; ascending.

    Source: VERDICT, Eq. 22.
    """
    return [place for place, judged in enumerate((*supported, *human_supported)) if judged]


def grounded_recall(gold: Sequence[int], readings: int, human_covered: Sequence[bool]) -> float:
    """The share of Q̄ that a supported reading of the method covers, 0 to 1; 0 if Q̄ is empty.

    The method's own readings in Q̄ count as covered.

    Args:
        gold: Q̄ without repeated readings: places as `grounded_gold` returns them.
        readings: How many readings the method has, supported or not. People's readings begin at this place.
        human_covered: For each reading of people, whether the method's supported readings cover it.

    Source: VERDICT, Eq. 12 and Eq. 21.
    """
    return _share([place < readings or human_covered[place - readings] for place in gold])


def f1(precision: float, recall: float) -> float:
    """Harmonic mean, 0 to 1; 0 if both are 0.

    Source: VERDICT, §5.1.1 ("G-F1": of the means over all questions of G-precision and G-recall).
    """
    total = precision + recall
    return 2 * precision * recall / total if total else 0.0


def quadrants(relevant: Sequence[bool], answerable: Sequence[bool]) -> Quadrants:
    """Sort readings by relevance and answerability.

    Args:
        relevant: Whether each reading is a reading of the question at all.
        answerable: Whether its passage answers it, V(q̂, p̂); of the same length.

    Source: VERDICT, §5.2 and Figure 3.
    """
    pairs = list(zip(relevant, answerable, strict=True))
    return Quadrants(
        *(
            _share([pair == (is_relevant, is_answerable) for pair in pairs])
            for is_relevant in (True, False)
            for is_answerable in (True, False)
        )
    )


def _share(judged: Sequence[bool]) -> float:
    return sum(judged) / len(judged) if judged else 0.0
