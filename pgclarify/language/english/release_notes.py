"""Sections that tell what a release of something changed."""

from __future__ import annotations

import re

_NOTES = re.compile(r"change ?log|release notes|\b(?:v|version |release )v?\d+\.\d", re.IGNORECASE)
_ASKED = re.compile(
    r"\b(?:change[ds]?|change ?logs?|history|latest|new|news|releases?|since|updates?|versions?|when)\b|\d\.\d",
    re.IGNORECASE,
)


def tells_a_release(heading: str) -> bool:
    """Return whether a heading says that what is below it was true or new in one release."""
    return _NOTES.search(heading) is not None


def asks_about_releases(question: str) -> bool:
    """Return whether a question may ask what a release changed, or when something came."""
    return _ASKED.search(question) is not None
