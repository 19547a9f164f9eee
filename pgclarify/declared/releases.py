"""The releases that have added columns and parameters, and the order that follows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Protocol, TypeVar

FIRST: Final = "0.2.0"


class Added(Protocol):
    """What a release has added."""

    @property
    def since(self) -> str:
        """The release."""
        ...


T = TypeVar("T", bound=Added)


def number(release: str) -> tuple[int, ...]:
    """Return the number of a release, which can be compared."""
    return tuple(map(int, release.split(".")))


def in_order(items: Iterable[T], first: str = FIRST) -> tuple[T, ...]:
    """Return columns or parameters as an upgraded database has them: those of a later release after all others.

    Args:
        items: In any order. Those of one release keep it.
        first: The first release of the function or table. What was there before counts as of this release.
    """
    return tuple(sorted(items, key=lambda one: max(number(one.since), number(first))))
