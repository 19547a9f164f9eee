"""The map of a run's verdicts: where each point is, and how it is drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import cos, pi, sin, sqrt

import numpy as np

from pgclarify.reports.charts import WIDTH, Label, label_beside
from pgclarify.reports.marks import Mark, mark, outline
from pgclarify.reports.projection import project
from pgclarify.reports.run_report import Row

HEIGHT = 420
_MARGIN = 28
# If the map shows less than this share of the variance, near points may be far apart in fact.
_FAITHFUL = 0.5
# With more points than this, marks are smaller.
_CROWD = 200
_GOLDEN_ANGLE = pi * (3 - sqrt(5))


@dataclass(frozen=True, slots=True)
class MapPoint:
    """A verdict on the map.

    Attributes:
        passage: The passage of the verdict.
        x: From the left, in units of the drawing.
        y: From the top.
        mark: Its shape and color; None (a hollow point) if it is in no kept reading.
        ordinal: The reading that it is in; None likewise.
        is_medoid: Whether it is the medoid of that reading.
        label: The number of that reading, for medoids only.
    """

    passage: Row
    x: float
    y: float
    mark: Mark | None
    ordinal: int | None
    is_medoid: bool
    label: Label | None


@dataclass(frozen=True, slots=True)
class VerdictMap:
    """All points.

    Attributes:
        points: By rank.
        share: Share of the variance of the readings that the map shows, 0 to 1.
        hollow: The path of a verdict that is in no reading.
        halo: Radius of the ring around selected points.
    """

    points: tuple[MapPoint, ...]
    share: float
    hollow: str
    halo: float

    @property
    def is_faithful(self) -> bool:
        """Whether distances on the map are reliable: its two dimensions have at least half of the variance."""
        return self.share >= _FAITHFUL


def draw(passages: Sequence[Row], groups: Mapping[int, int], medoids: frozenset[int]) -> VerdictMap | None:
    """Draw the verdicts that have a vector.

    Args:
        passages: The passages of the run.
        groups: For the rank of each passage, the ordinal of its reading.
        medoids: Ranks of the medoids.

    Returns:
        None if no verdict has a vector. Points that would hide each other are moved apart by a few units.
    """
    seen = [(passage, passage.vector) for passage in passages if passage.vector is not None]
    if not seen:
        return None
    projection = project(np.stack([vector for _, vector in seen]))
    size = 6.5 if len(seen) <= _CROWD else 4.5
    low, high = projection.points.min(axis=0), projection.points.max(axis=0)
    spread = high - low
    # One scale for both axes, so that distances are comparable.
    room = (WIDTH - 2 * _MARGIN, HEIGHT - 2 * _MARGIN)
    scale = min((room[axis] / spread[axis] for axis in (0, 1) if spread[axis] > 0), default=1.0)
    center = (low + high) / 2
    crowd: Counter[tuple[int, int]] = Counter()
    points = []
    for (passage, _), (across, up) in zip(seen, (projection.points - center) * scale, strict=True):
        place = (round(across / size), round(up / size))
        before = crowd[place]
        crowd[place] += 1
        # Place the points on a spiral, as in a sunflower, around their common place.
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
