"""Frozen data of consolidation: clusters of readings, and interpretations.

They are in the form that a worker writes. `pgclarify.client.result_records` has the form that an application reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pgclarify.data.citations import Citation
from pgclarify.data.vocabulary import Level


@dataclass(frozen=True, slots=True)
class Cluster:
    """A group of readings with the same meaning.

    Attributes:
        members: Indices into the consolidated vectors, ascending.
        medoid: The member that is most similar to all others.
        cohesion: Mean cosine similarity of the members to the medoid, the medoid itself included; 1 for one member.
    """

    members: tuple[int, ...]
    medoid: int
    cohesion: float


@dataclass(frozen=True, slots=True)
class Interpretation:
    """A reading that survived consolidation. The medoid's citation comes first.

    Attributes:
        is_contested: True if another reading of the run asks the same of the same thing, and both answers cannot be
            right.
        older_hidden: How many older readings that contest it are hidden; None if the run does not want that.
        doubt: Why a check doubts all verdicts of the reading; None if there is one that no check doubts.
        probability: How probably it is right, in [0, 1]; None if the judge of sentences has not read it.
        level: How sure it is: the narrowest value of option include that shows it.
        is_shown: Whether the run shows it.
    """

    interpretation: str
    answer: str
    support: int
    cohesion: float
    is_contested: bool
    citations: Sequence[Citation]
    older_hidden: int | None = None
    doubt: str | None = None
    probability: float | None = None
    level: Level = Level.LIKELY
    is_shown: bool = True
