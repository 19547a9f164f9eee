"""How groups are distinguished in charts: by color, by shape, and by number."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, sin

# page.css has this many colors: classes c0, c1, ...
COLORS = 7
# The number of shapes is coprime with that of colors, so that 35 groups look different, and neighbors differ in both.
_CORNERS = ("circle", "square", "triangle", "diamond", "cross")


@dataclass(frozen=True, slots=True)
class Mark:
    """A shape in a color.

    Attributes:
        color: Its class in page.css.
        path: The shape around the origin, as attribute d of an SVG path.
    """

    color: str
    path: str


def mark(group: int, size: float = 6.0) -> Mark:
    """Return the mark of a group, counted from 0. Groups 35 apart look the same, so they are numbered, too.

    Args:
        group: 0 or more.
        size: About half its width.
    """
    return Mark(f"c{group % COLORS}", outline(_CORNERS[group % len(_CORNERS)], size))


def outline(shape: str, size: float) -> str:
    """The path of a shape around the origin: circle, square, triangle, diamond or cross."""
    if shape == "circle":
        half = f"a{size:.1f} {size:.1f} 0 1 0"
        return f"M{-size:.1f} 0{half} {2 * size:.1f} 0{half} {-2 * size:.1f} 0z"
    if shape == "cross":
        arm = size / 2.6
        wide = size * 1.1
        steps = ((wide, -arm), (wide, arm), (arm, arm), (arm, wide), (-arm, wide), (-arm, arm), (-wide, arm))
        return _polygon([*steps, (-wide, -arm), (-arm, -arm), (-arm, -wide), (arm, -wide), (arm, -arm)])
    corners, turn, wide = {
        "square": (4, pi / 4, size * 1.25),
        "triangle": (3, pi / 2, size * 1.3),
        "diamond": (4, 0.0, size * 1.3),
    }[shape]
    angles = [turn + 2 * pi * corner / corners for corner in range(corners)]
    return _polygon([(wide * cos(angle), -wide * sin(angle)) for angle in angles])


def _polygon(points: list[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points) + "z"
