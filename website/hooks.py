"""What MkDocs does besides: diagrams are drawn beforehand, so that no page needs a script from elsewhere."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from mkdocs.exceptions import PluginError

DIAGRAMS = Path(__file__).parent / "diagrams"
FENCE = re.compile(r"^```mermaid\n(.*?)^```$", re.M | re.S)


def on_page_markdown(markdown: str, **_: object) -> str:
    """Put the drawings of a page's diagrams in place of their sources."""
    return FENCE.sub(lambda fence: drawing(fence[1]), markdown)


def drawing(source: str) -> str:
    """The SVG of a diagram, on lines that Markdown leaves alone.

    Raises:
        PluginError: If it has changed since it was drawn.
    """
    path = DIAGRAMS / file_name(source)
    if not path.exists():
        raise PluginError(f"no drawing of this diagram; python -m website.draw makes one:\n{source}")
    return f'<figure class="diagram">\n{path.read_text(encoding="utf-8").strip()}\n</figure>'


def file_name(source: str) -> str:
    """Where the drawing of a diagram is: named for its source, so that an old drawing is never shown for a new one."""
    return hashlib.sha256(source.encode()).hexdigest()[:12] + ".svg"
