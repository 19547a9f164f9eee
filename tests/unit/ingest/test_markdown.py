"""Markdown is read as people see it: without markup, front matter, and what other programs replace."""

from __future__ import annotations

from math import inf
from typing import Any

import pytest

from pgclarify.ingest.front_matter import split_front_matter
from pgclarify.ingest.parsing import parse


def read(source: str) -> str:
    (parsed,) = parse(source.encode(), ".md", "page.md")
    return parsed.content


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('# Fees\n\nTen **dollars**, see [the list](list.md "Fees").\n', "# Fees\n\nTen dollars, see the list."),
        ("![A car](car.png)\n\nTen [dollars][1].\n\n[1]: https://example.com\n", "Ten dollars."),
        ('<div class="box">\n\nTen<br>dollars.\n\n</div>\n<!-- hidden -->\n', "Ten  \ndollars."),
        ("{% include 'menu.html' %}\n\nTen {{ currency }} dollars.\n", "Ten dollars."),
        ("## Fees {#fees .wide}\n\nTen dollars.\n{: .note }\n", "## Fees\n\nTen dollars."),
        ("{{< tabs >}}\n\nTen dollars.\n\n{{% /tabs %}}\n", "Ten dollars."),
        (":::note\n\nTen dollars.\n\n:::\n", "Ten dollars."),
        ("> [!WARNING]\n> Ten dollars.\n>\n> * or nine\n", "Ten dollars.\n\n* or nine"),
        ("Ten [dollars][undefined] or [nine][].\n", "Ten dollars or nine."),
        ('!!! note "Fees"\n', '"Fees"'),
        ("import Tabs from '@theme/Tabs';\nimport './a.css'\n\nTen dollars. {/* or nine */}\n", "Ten dollars."),
        ("export const fee = 10;\n\nTen dollars.\n", "Ten dollars."),
        ("export default fees are kept.\n", "export default fees are kept."),
        ("import your contacts from 'Google'\n", "import your contacts from 'Google'"),
        ("import contacts from 'Google'\n", "import contacts from 'Google'"),
        ("* import a from './a';\n", "* import a from './a';"),
        ("[TOC]\n\nSee [[fees|the fees]].\n", "See the fees."),
        ("```{note} Fees\n:class: wide\n\nTen *dollars*.\n```\n", "Fees\n\nTen dollars."),
        ("```{seealso}\nThe page about fees.\n```\n\nTen dollars.\n", "Ten dollars."),
        ("```{toctree}\nfirst\nsecond\n```\n\nTen dollars.\n", "Ten dollars."),
        ("```sh\n# not a heading {{ kept }}\n```\n", "```\n# not a heading {{ kept }}\n```"),
        ("Set `{{ name }}` first.\n", "Set `{{ name }}` first."),
        ("| Vehicle | Day |\n|---|---|\n| E-bike | 42 |\n", "Vehicle: E-bike; Day: 42"),
        ("1. First\n2. Second\n   - inner\n", "1. First\n2. Second\n   * inner"),
    ],
)
def test_is_read_as_people_see_it(source: str, expected: str) -> None:
    assert read(source) == expected


@pytest.mark.parametrize(
    ("source", "front_matter", "rest"),
    [
        ("---\ntags: [a, b]\ndate: 2026-01-31\n---\nText", {"tags": ["a", "b"], "date": "2026-01-31"}, "Text"),
        ("---\n1: one\nend: .inf\n---\nText", {"1": "one", "end": inf}, "Text"),
        ("---\ntitle: {{ broken\n---\nText", {}, "Text"),
        ("---\ntitle: Fees\n...\nText", {"title": "Fees"}, "Text"),
        ("+++\ntitle = \"Fees\"\n[menu]\nweight = 2\n+++\nText", {"title": "Fees", "menu": {"weight": 2}}, "Text"),
        ("+++\nbroken\n+++\nText", {}, "Text"),
        ("---\nA line between two breaks.\n---\nText", {}, "---\nA line between two breaks.\n---\nText"),
        ("---\ntitle: never ended\n", {}, "---\ntitle: never ended\n"),
        ("Text", {}, "Text"),
    ],
)  # fmt: skip
def test_front_matter_is_metadata(source: str, front_matter: dict[str, Any], rest: str) -> None:
    assert split_front_matter(source) == (front_matter, rest)


def test_the_title_of_the_front_matter_is_that_of_the_document() -> None:
    (parsed,) = parse(b"---\ntitle: Fees <em>now</em>\nteam: a\n---\n# Other\n\nTen dollars.\n", ".md", "page.md")
    assert (parsed.title, parsed.metadata) == ("Fees now", {"team": "a"})
    assert parsed.content == "# Other\n\nTen dollars."
