"""Does an answer cite the passages that prove it?"""

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
        cited: Places of the cited passages, from 0; a repeated place counts once.
        relevant: Places of the passages that give the answer, at least one.
        count: How many passages could be cited.

    Returns:
        Precision, the share of cited passages that are relevant. Citing everything lowers it. Recall, the share of
        relevant passages that are cited.

    Raises:
        InputError: If a place is not in [0, count), because a negative one would be another passage; or if no passage
            is relevant.

    Source: ALCE (Gao et al., EMNLP 2023), citation quality. ALCE decides relevance with a model; here it is known.
    """
    for place in (*cited, *relevant):
        if not 0 <= place < count:
            raise InputError(
                "a citation of a passage that is not there",
                detail=f"Its place is {place}; places are from 0, and there are {count} passages.",
            )
    wanted, given = set(relevant), set(cited)
    if not wanted:
        raise InputError("no relevant passage to cite")
    if not given:
        return CitationScores(0.0, 0.0)
    hits = len(given & wanted)
    return CitationScores(hits / len(given), hits / len(wanted))


def supported_citation_scores(alone: Sequence[bool], *, together: bool) -> CitationScores:
    """Score the citations of one answer by whether they support it.

    Args:
        alone: For each cited passage, whether it alone supports the answer.
        together: Whether all of them together support it. It is true if one alone does.

    Returns:
        Precision, the share of citations that alone support the answer; recall, 1 if all together support it, else 0.

    Source: ALCE (Gao et al., EMNLP 2023), citation quality. In ALCE a citation is also precise if the others do not
    suffice without it. Answers here are a few words long, so one passage gives the answer or does not.
    """
    if not alone:
        return CitationScores(0.0, 0.0)
    return CitationScores(sum(alone) / len(alone), float(together or any(alone)))
