"""Hooks of MkDocs: they insert prepared drawings of diagrams, so that no page loads an external script."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from mkdocs.exceptions import PluginError

DIAGRAMS = Path(__file__).parent / "diagrams"
FENCE = re.compile(r"^```mermaid\n(.*?)^```$", re.M | re.S)


def on_page_markdown(markdown: str, **_: object) -> str:
    """Replace the sources of a page's diagrams with their drawings."""
    return FENCE.sub(lambda fence: drawing(fence[1]), markdown)


def drawing(source: str) -> str:
    """Return the SVG of a diagram on lines that Markdown does not change.

    Raises:
        PluginError: If the diagram has changed since it was drawn.
    """
    path = DIAGRAMS / file_name(source)
    if not path.exists():
        raise PluginError(f"no drawing of this diagram; python -m website.draw makes one:\n{source}")
    return f'<figure class="diagram">\n{path.read_text(encoding="utf-8").strip()}\n</figure>'


def file_name(source: str) -> str:
    """Return the file of a diagram's drawing. Its name depends on the source, so an old drawing is never shown."""
    return hashlib.sha256(source.encode()).hexdigest()[:12] + ".svg"
