"""How a slide numbers its paragraphs: each of them says the form of its number."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pgclarify.ingest.numbering import Counts, Level

if TYPE_CHECKING:
    from lxml.etree import _Element

_KINDS: Final = {"arabic": "1", "alphaLc": "a", "alphaUc": "A", "romanLc": "i", "romanUc": "I"}
_FORMS: Final = {"Period": "{}.", "ParenR": "{})", "ParenBoth": "({})", "Plain": "{}"}
_AUTO_NUMBER: Final = re.compile(f"({'|'.join(_KINDS)})({'|'.join(_FORMS)})")


def slide_label(paragraph: _Element, counts: Counts) -> str:
    """Take the automatic number from a paragraph of a slide; empty if it has none."""
    for number in paragraph.iterfind("{*}pPr/{*}buAutoNum"):
        own = number.getparent()
        depth = int(own.get("lvl", "0"))
        found = _AUTO_NUMBER.fullmatch(number.get("type", ""))
        kind, form = found.groups() if found else ("arabic", "Period")
        text = _FORMS[form].format(f"%{depth + 1}")
        level = Level(text, _KINDS[kind], int(number.get("startAt", "1")))
        own.remove(number)
        # The name of the list is that of the text around it.
        place = paragraph.getroottree().getpath(paragraph.getparent())
        return counts.label(place, {depth: level}, depth)
    return ""
