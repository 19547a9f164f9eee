"""Formulas of Office on one line: (a+b)/2, x^2, √(x)."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from lxml.etree import _Element

# What is not one word stands in parentheses, except below a root.
_FORMS: Final = {
    "f": "{num}/{den}",
    "sSup": "{e}^{sup}",
    "sSub": "{e}_{sub}",
    "sSubSup": "{e}_{sub}^{sup}",
}
_WORD: Final = re.compile(r"[\w.,]*")


def formula_text(formula: _Element) -> str:
    """Write a formula."""
    return " ".join(_told(formula).split())


def _told(element: _Element) -> str:
    name = _name(element)
    if name == "t":
        return element.text or ""
    told = [(_name(child), _told(child)) for child in element]
    plain = defaultdict(str, told)
    grouped = {part: text if _WORD.fullmatch(text) else f"({text})" for part, text in told}
    if name in _FORMS:
        return _FORMS[name].format_map(defaultdict(str, grouped))
    if name == "rad":
        return f"{plain['deg']}√({plain['e']})"
    if name == "d":
        return f"({', '.join(text for part, text in told if part == 'e')})"
    if name == "nary":
        sign = next(iter(element.xpath("*/*[local-name()='chr']/@*")), "∫")
        limits = "".join(f"{mark}{grouped[part]}" for part, mark in (("sub", "_"), ("sup", "^")) if plain[part])
        return f"{sign}{limits} {plain['e']}"
    return "".join(text for _, text in told)


def _name(element: _Element) -> str:
    return str(element.tag).rpartition("}")[2]
