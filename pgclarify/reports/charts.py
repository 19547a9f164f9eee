"""Geometry of charts: what the templates draw, in the units of the drawing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Literal

from pgclarify.reports.marks import Mark

WIDTH = 640
HEIGHT = 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 36, 16, 48
_TICKS = 6
# Distance from a point to its label, and width of a digit, in the size for a phone.
_LABEL_AWAY = 10
_LABEL_ADVANCE = 12


@dataclass(frozen=True, slots=True)
class Range:
    """A value with its interval.

    Attributes:
        value: The value.
        low: Lower end; None if there is no interval.
        high: Upper end; None likewise.
    """

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Tick:
    """A line of the grid, with its label."""

    place: float
    label: str


@dataclass(frozen=True, slots=True)
class Label:
    """A word in a chart.

    Attributes:
        anchor: Which end of it is at x: start or end.
    """

    x: float
    y: float
    text: str
    anchor: Literal["start", "end"] = "start"


@dataclass(frozen=True, slots=True)
class Dot:
    """A point with whiskers.

    label: The number beside it.
    text: Its description, in words.
    whiskers: Lines from (x1, y1) to (x2, y2).
    """

    x: float
    y: float
    mark: Mark
    label: Label
    text: str
    whiskers: tuple[tuple[float, float, float, float], ...]


@dataclass(frozen=True, slots=True)
class Line:
    """A line through several points.

    Attributes:
        path: As attribute d of an SVG path.
        style: Its class in page.css.
        text: Its description, in words.
    """

    path: str
    style: str
    text: str


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart with two axes.

    Attributes:
        name: Unique on its page; part of ids.
        title: What it shows.
    """

    name: str
    title: str
    x_title: str
    y_title: str
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    dots: tuple[Dot, ...]
    lines: tuple[Line, ...]
    labels: tuple[Label, ...] = ()
    width: int = WIDTH
    height: int = HEIGHT
    left: int = _LEFT
    right: int = WIDTH - _RIGHT
    top: int = _TOP
    bottom: int = HEIGHT - _BOTTOM


class Plane:
    """Maps values to places.

    Args:
        x_most: The largest value of the x axis, which begins at 0.
        y_most: The largest value of the y axis, which begins at 0.
    """

    def __init__(self, x_most: float, y_most: float) -> None:
        self._x_step, self._x_end = _steps(x_most)
        self._y_step, self._y_end = _steps(y_most)

    def x(self, value: float) -> float:
        """The place of a value on the x axis."""
        return round(_LEFT + value / self._x_end * (WIDTH - _LEFT - _RIGHT), 1)

    def y(self, value: float) -> float:
        """The place of a value on the y axis."""
        return round(HEIGHT - _BOTTOM - value / self._y_end * (HEIGHT - _TOP - _BOTTOM), 1)

    def x_ticks(self) -> tuple[Tick, ...]:
        """The grid of the x axis."""
        return tuple(Tick(self.x(value), label) for value, label in _ticks(self._x_step, self._x_end))

    def y_ticks(self) -> tuple[Tick, ...]:
        """The grid of the y axis."""
        return tuple(Tick(self.y(value), label) for value, label in _ticks(self._y_step, self._y_end))

    def dot(self, x: Range, y: Range, mark: Mark, label: str, text: str) -> Dot:
        """Make a point, with whiskers if it has intervals."""
        whiskers = []
        if x.low is not None and x.high is not None:
            whiskers.append((self.x(x.low), self.y(y.value), self.x(x.high), self.y(y.value)))
        if y.low is not None and y.high is not None:
            whiskers.append((self.x(x.value), self.y(y.low), self.x(x.value), self.y(y.high)))
        beside = label_beside(self.x(x.value), self.y(y.value), label)
        return Dot(self.x(x.value), self.y(y.value), mark, beside, text, tuple(whiskers))

    def line(self, points: Sequence[tuple[float, float]], style: str, text: str) -> Line:
        """Make a line through at least one point."""
        places = (f"{self.x(x):.1f} {self.y(y):.1f}" for x, y in points)
        return Line("M" + "L".join(places), style, text)


def label_beside(x: float, y: float, text: str) -> Label:
    """Place a short label above and to the right of a point; to the left if it would leave the drawing."""
    is_at_the_end = x + _LABEL_AWAY + len(text) * _LABEL_ADVANCE > WIDTH
    return Label(
        round(x - _LABEL_AWAY if is_at_the_end else x + _LABEL_AWAY, 1),
        round(y + _LABEL_AWAY + _LABEL_ADVANCE if y < _LABEL_AWAY + 2 * _LABEL_ADVANCE else y - _LABEL_AWAY, 1),
        text,
        "end" if is_at_the_end else "start",
    )


def _steps(most: float) -> tuple[float, float]:
    """Return a round distance of ticks, and its first multiple that is at least a value."""
    if most <= 0:
        return 0.2, 1.0
    power = 10.0 ** floor(log10(most / _TICKS))
    step = next(step for step in (power, 2 * power, 5 * power, 10 * power) if most / step <= _TICKS)
    # Rounding must not add a tick: a value just below a multiple counts as that multiple.
    return step, step * max(ceil(most / step - 1e-9), 1)


def _ticks(step: float, end: float) -> list[tuple[float, str]]:
    digits = max(0, -floor(log10(step) + 1e-9))
    return [(place * step, f"{place * step:,.{digits}f}") for place in range(round(end / step) + 1)]
