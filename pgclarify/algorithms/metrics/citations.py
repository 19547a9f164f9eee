"""Are the passages that an answer cites the ones that prove it?"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from pgclarify.errors import InputError


@dataclass(frozen=True, slots=True)
class CitationScores:
    """How good the citations of an answer are.

    Attributes:
        precision: 0 to 1; 0 if nothing is cited.
        recall: 0 to 1; 0 if nothing is cited.
    """

    precision: float
    recall: float


def citation_scores(cited: Sequence[int], relevant: Collection[int], count: int) -> CitationScores:
    """Compare what an answer cites with what it should cite.

    Args:
        cited: Places of the passages that it cites, from 0; one that comes twice counts once.
        relevant: Places of the passages that give the answer, at least one.
        count: How many passages there were to cite.

    Returns:
        Precision, the share of the cited that are relevant: citing everything costs it. Recall, the share of the
        relevant that are cited.

    Raises:
        InputError: If a place is not in [0, count): it is never silently another passage. If none is relevant.

    Source: ALCE (Gao et al., EMNLP 2023), citation quality; relevant passages are known, in place of its model.
    """
    for place in (*cited, *relevant):
        if not 0 <= place < count:
            raise InputError(
                "a citation of a passage that is not there", detail=f"It is number {place}, from 0, of {count}."
            )
    wanted, given = set(relevant), set(cited)
    if not wanted:
        raise InputError("no relevant passage to cite")
    if not given:
        return CitationScores(0.0, 0.0)
    hits = len(given & wanted)
    return CitationScores(hits / len(given), hits / len(wanted))


def supported_citation_scores(alone: Sequence[bool], *, together: bool) -> CitationScores:
    """Score the citations of one answer by what they support.

    Args:
        alone: For each passage that it cites, whether that passage alone supports the answer.
        together: Whether all of them together do. Where one alone does, they do.

    Returns:
        Precision, the share of the citations that support it alone; recall, 1 if they support it together, else 0.

    Source: ALCE (Gao et al., EMNLP 2023), citation quality. There, a citation without which the others do not suffice
        is precise, too; an answer here is a few words long, and one passage gives it or does not.
    """
    if not alone:
        return CitationScores(0.0, 0.0)
    return CitationScores(sum(alone) / len(alone), float(together or any(alone)))
