"""The map of a run's verdicts: where each stands, and how it is drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import cos, pi, sin, sqrt

import numpy as np

from pgclarify.reports.charts import WIDTH, Label, label_beside
from pgclarify.reports.marks import Mark, mark, outline
from pgclarify.reports.projection import project
from pgclarify.reports.run_report import SeenPassage

HEIGHT = 420
_MARGIN = 28
# Below that share of the variance, points that seem near may be far apart.
_FAITHFUL = 0.5
# Above this, marks are drawn smaller.
_CROWD = 200
_GOLDEN_ANGLE = pi * (3 - sqrt(5))


@dataclass(frozen=True, slots=True)
class MapPoint:
    """A verdict on the map.

    Attributes:
        passage: What it was read from.
        x: From the left, in units of the drawing.
        y: From the top.
        mark: How it is drawn; None if it is in no reading that was kept: then it is hollow.
        ordinal: The reading that it is in; None likewise.
        is_medoid: Whether it speaks for that reading.
        label: The number of that reading; of medoids alone.
    """

    passage: SeenPassage
    x: float
    y: float
    mark: Mark | None
    ordinal: int | None
    is_medoid: bool
    label: Label | None


@dataclass(frozen=True, slots=True)
class VerdictMap:
    """All of them.

    Attributes:
        points: By rank.
        share: How much of what tells the readings apart the map can show, 0 to 1.
        hollow: The path of a verdict that is in no reading.
        halo: Radius of what is drawn around points that are chosen.
    """

    points: tuple[MapPoint, ...]
    share: float
    hollow: str
    halo: float

    @property
    def is_faithful(self) -> bool:
        """Whether what is near on it is near: at least half of the variance is in its two dimensions."""
        return self.share >= _FAITHFUL


def draw(passages: Sequence[SeenPassage], groups: Mapping[int, int], medoids: frozenset[int]) -> VerdictMap | None:
    """Draw the verdicts that have a vector.

    Args:
        passages: Of the run.
        groups: The ordinal of the reading that each is in, by the passage's rank.
        medoids: Ranks of those that speak for theirs.

    Returns:
        None if there are none. Points that would hide each other are moved apart, by a few units.
    """
    seen = [(passage, passage.vector) for passage in passages if passage.vector is not None]
    if not seen:
        return None
    projection = project(np.stack([vector for _, vector in seen]))
    size = 6.5 if len(seen) <= _CROWD else 4.5
    low, high = projection.points.min(axis=0), projection.points.max(axis=0)
    spread = high - low
    # One scale for both axes: what is near on the map is near in it.
    room = (WIDTH - 2 * _MARGIN, HEIGHT - 2 * _MARGIN)
    scale = min((room[axis] / spread[axis] for axis in (0, 1) if spread[axis] > 0), default=1.0)
    center = (low + high) / 2
    crowd: Counter[tuple[int, int]] = Counter()
    points = []
    for (passage, _), (across, up) in zip(seen, (projection.points - center) * scale, strict=True):
        place = (round(across / size), round(up / size))
        before = crowd[place]
        crowd[place] += 1
        # A spiral, as in a sunflower, whose first point is where all of them would be.
        away, angle = size * 1.1 * sqrt(before), before * _GOLDEN_ANGLE
        x = round(min(max(WIDTH / 2 + across + away * cos(angle), size * 1.5), WIDTH - size * 1.5), 1)
        y = round(min(max(HEIGHT / 2 - up + away * sin(angle), size * 1.5), HEIGHT - size * 1.5), 1)
        ordinal = groups.get(passage.rank)
        is_medoid = ordinal is not None and passage.rank in medoids
        points.append(
            MapPoint(
                passage,
                x,
                y,
                None if ordinal is None else mark(ordinal - 1, size),
                ordinal,
                is_medoid,
                label_beside(x, y, str(ordinal)) if is_medoid else None,
            )
        )
    return VerdictMap(tuple(points), projection.share, outline("circle", size * 0.75), round(size * 1.9, 1))
