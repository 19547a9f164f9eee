"""Numbers, links and text on a page."""

from __future__ import annotations

from decimal import Decimal

import pytest
from markupsafe import Markup

from pgclarify.reports import formats, pages


@pytest.mark.parametrize(
    ("uri", "is_link"),
    [
        ("https://example.com/a?b=c#d", True),
        ("HTTP://example.com", True),
        ("javascript:alert(1)", False),
        (" javascript:alert(1)", False),
        ("java\nscript:alert(1)", False),
        ("data:text/html,<script>", False),
        ("file:///etc/passwd", False),
        ("//example.com/a", False),
        ("https://", False),
        ("https://[", False),
        ("https://example.com/\u202egnp.exe", False),
        ("https://example.com/a b", False),
        ("docs/page.md", False),
        ("", False),
        (None, False),
    ],
)
def test_links_are_those_of_the_web(uri: str | None, is_link: bool) -> None:
    assert formats.web_link(uri) == (uri if is_link else None)


@pytest.mark.parametrize(
    ("value", "told"),
    [(None, "–"), (0, "0"), (0.1234, "0.12"), (12.345, "12.3"), (-0.5, "-0.50"), (12345.6, "12,346"), (1.0, "1.00")],  # noqa: RUF001
)
def test_figures(value: float | None, told: str) -> None:
    assert formats.figure(value) == told


@pytest.mark.parametrize(
    ("value", "told"),
    [(None, "–"), (0.0123, "12 ms"), (1.25, "1.2 s"), (119.99, "120.0 s"), (3601, "60 min 1 s")],  # noqa: RUF001
)
def test_seconds(value: float | None, told: str) -> None:
    assert formats.seconds(value) == told


def test_control_characters_are_shown_by_their_codes() -> None:
    assert pages.shown("a\x00b\u202e\n\tc") == "a\\u0000b\\u202e\n\tc"
    assert pages.shown(None) == ""
    assert pages.shown(Markup("<b>")) == Markup("<b>")
    assert pages.shown(7) == 7


def test_texts_are_shortened_to_one_line() -> None:
    assert formats.shortened("one\n two", 20) == "one two"
    assert formats.shortened("one two three", 8) == "one two…"
    assert len(formats.shortened("x" * 99, 10)) == 10


def test_settings_are_on_one_line() -> None:
    assert formats.settings({"b": "text", "a": None, "c": 1}) == "a=null, b=text, c=1"


def test_amounts_are_written_in_digits() -> None:
    assert formats.amount(Decimal("1.40E-7")) == "0.00000014"
    assert formats.amount(Decimal("100")) == "100"


@pytest.mark.parametrize(
    ("amount", "told"),
    [
        ("0", "$0.00"), ("0.0000", "$0.00"), ("12345.678", "$12,345.68"), ("1", "$1.00"), ("0.5", "$0.50"),
        ("0.0312", "$0.031"), ("0.0000456", "$0.000046"),
    ],
)  # fmt: skip
def test_small_amounts_are_told_apart(amount: str, told: str) -> None:
    assert formats.dollars(Decimal(amount)) == told
