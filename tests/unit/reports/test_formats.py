"""Numbers, links and text on a page."""

from __future__ import annotations

import pytest
from markupsafe import Markup

from pgclarify.reports import formats, pages


@pytest.mark.parametrize(
    ("uri", "is_link"),
    [
        ("https://example.com/a?b=c#d", True),
        ("HTTP://example.com", True),
        ("javascript:alert(1)", False),
        ("java\nscript:alert(1)", False),
        ("file:///etc/passwd", False),
        ("//example.com/a", False),
        ("https://", False),
        ("https://[", False),
        ("https://example.com/\u202egnp.exe", False),
        ("https://example.com/a b", False),
        ("docs/page.md", False),
        (None, False),
    ],
)
def test_links_are_those_of_the_web(uri: str | None, is_link: bool) -> None:
    assert formats.web_link(uri) == (uri if is_link else None)


def test_control_characters_are_shown_by_their_codes() -> None:
    assert pages.shown("a\x00b\u202e\n\tc") == "a\\u0000b\\u202e\n\tc"
    assert pages.shown(None) == ""
    assert pages.shown(Markup("<b>")) == Markup("<b>")
    assert pages.shown(7) == 7
