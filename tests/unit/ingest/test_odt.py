"""Texts and slides of OpenDocument are read as people see them."""

from __future__ import annotations

import pytest

from pgclarify.ingest.parsing import parse
from tests.unit.ingest.formats import read
from tests.unit.ingest.kinds import odp, odt

STYLES = (
    '<text:list-style style:name="L1">'
    '<text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix="."/>'
    '<text:list-level-style-number text:level="2" style:num-format="1" text:display-levels="2"/>'
    '<text:list-level-style-number text:level="3" style:num-format="a" style:num-prefix="(" style:num-suffix=")"/>'
    '</text:list-style><text:list-style style:name="L2">'
    '<text:list-level-style-number text:level="1" style:num-format="I" style:num-prefix="Article "'
    ' text:start-value="34"/></text:list-style>'
    '<text:list-style style:name="L3"><text:list-level-style-bullet text:level="1"/></text:list-style>'
)
OUTLINE = (
    '<text:outline-style style:name="Outline"><text:outline-level-style text:level="1" style:num-format="1"'
    ' style:num-suffix="."/><text:outline-level-style text:level="2" style:num-format=""/></text:outline-style>'
)


def listed(style: str, *items: str, more: str = "") -> str:
    """A list of items, each a text or a list in the item before."""
    inner = "".join(
        f"<text:list-item>{one if one.startswith('<') else f'<text:p>{one}</text:p>'}</text:list-item>" for one in items
    )
    return f'<text:list text:style-name="{style}"{more}>{inner}</text:list>'


INNER = "<text:p>Notice</text:p><text:list><text:list-item><text:p>Six weeks.</text:p></text:list-item></text:list>"


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        (listed("L1", "Rent", INNER, "End"), ["1. Rent", "2. Notice", "2.1 Six weeks.", "3. End"]),
        (listed("L2", "Parking", "Noise"), ["Article XXXIV Parking", "Article XXXV Noise"]),
        (listed("L1", "One") + listed("L1", "Anew"), ["1. One", "1. Anew"]),
        (
            listed("L1", "One") + listed("L1", "Goes on", more=' text:continue-numbering="true"'),
            ["1. One", "2. Goes on"],
        ),
        (listed("L3", "One"), ["* One"]),
    ],
)
def test_lists_have_their_numbers(body: str, lines: list[str]) -> None:
    assert [line.strip() for line in read(odt(body, STYLES), ".odt").splitlines() if line.strip()] == lines


def test_headings_have_the_numbers_of_the_outline() -> None:
    heading = '<text:h text:outline-level="{}">{}</text:h>'
    body = heading.format(1, "Rent") + heading.format(2, "Due") + heading.format(1, "Noise") + "<text:p>None.</text:p>"
    assert read(odt(body, OUTLINE), ".odt") == "# 1. Rent\n\n## Due\n\n# 2. Noise\n\nNone."


def test_headers_and_footers_are_read_once_and_counts_of_pages_are_not() -> None:
    lines = "<text:p>Gate code 4711</text:p><text:p>Page <text:page-number>1</text:page-number></text:p>"
    margins = f"<style:header><text:p>Rules</text:p></style:header><style:footer>{lines}</style:footer>"
    told = read(odt("<text:p>Rules</text:p><text:p>Ten.</text:p>", margins * 2), ".odt")
    assert told == "Rules\n\nTen.\n\nGate code 4711"


def test_comments_and_deletions_are_counted() -> None:
    deleted = (
        "<text:tracked-changes><text:changed-region><text:p>Nine.</text:p></text:changed-region></text:tracked-changes>"
    )
    body = f"{deleted}<text:p>Ten<office:annotation><text:p>Why?</text:p></office:annotation> euros</text:p>"
    (parsed,) = parse(odt(body), ".odt", "a.odt")
    assert (parsed.content, parsed.unread) == ("Ten euros", {"tracked deletion": 1, "comment": 1})


def test_slides_are_places() -> None:
    text = "<draw:text-box><text:p>{}</text:p></draw:text-box>"
    (parsed,) = parse(odp(text.format("One"), text.format("Two")), ".odp", "a.odp")
    assert [(place.start_char, place.name) for place in parsed.places] == [(0, "slide 1"), (5, "slide 2")]
