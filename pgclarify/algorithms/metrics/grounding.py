"""Diversity and grounding of readings, out of what a judge said of each.

VERDICT's symbols: Q̂ are the readings of a method, Q̃ those of people, Q̄ the grounded gold; V is the judge, p̂ the
passage that a reading cites. docs/methods/evaluation.md says what the paper leaves open, and how it is read here.
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
    """Whether a question has as many distinct readings as people know.

    Args:
        distinct: How many readings remain if those that nearly repeat one are left out.
        human: How many people know, at least 1, counted in the same way.

    Source: VERDICT, §5.1.1 ("Sufficient%", footnote 4); what is enough it does not say.
    """
    return distinct >= human


def recall(covered: Sequence[bool]) -> float:
    """Ungrounded recall: the share of people's readings that are among a method's, 0 to 1; 0 if there are none.

    Args:
        covered: V(q̃, Q̂) of each.

    Source: VERDICT, Eq. 18.
    """
    return _share(covered)


def grounded_precision(supported: Sequence[bool]) -> float:
    """The share of a method's readings that their passage answers, 0 to 1; 0 if there are none.

    Args:
        supported: V(q̂, p̂) of each.

    Source: VERDICT, Eq. 11 and Eq. 19.
    """
    return _share(supported)


def grounded_gold(supported: Sequence[bool], human_supported: Sequence[bool]) -> list[int]:
    """The readings that a passage is known to answer: Q̄, before repetitions are left out.

    Args:
        supported: V(q̂, p̂) of each reading of the method.
        human_supported: V of each reading of people, and the evidence of the case: the same for all methods.

    Returns:
        Places in both lists, one after the other, the method's first; ascending.

    Source: VERDICT, Eq. 22.
    """
    return [place for place, judged in enumerate((*supported, *human_supported)) if judged]


def grounded_recall(gold: Sequence[int], readings: int, human_covered: Sequence[bool]) -> float:
    """The share of Q̄ that a supported reading of the method covers, 0 to 1; 0 if Q̄ is empty.

    The method's own readings in Q̄ are covered by themselves.

    Args:
        gold: Q̄ without repetitions: places as of `grounded_gold`.
        readings: How many readings the method has, supported or not: where people's begin.
        human_covered: For each reading of people, whether it is among the method's supported ones.

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
        relevant: Whether each is a reading of the question at all.
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
