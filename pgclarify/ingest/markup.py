"""HTML as Markdown: headings become headings, and tags are removed."""

from __future__ import annotations

import warnings
from pathlib import Path

from pgclarify.errors import UnreadableFile
from pgclarify.ingest.extras import missing_reader

# These elements have no text for people, or only links to other pages (nav).
_UNSEEN = ["nav", "script", "style", "noscript", "template", "svg", "iframe", "img", "input", "button"]


def read_html(html: str, name: str | Path, *, has_header_rows: bool = False) -> tuple[str | None, str]:
    """Convert an HTML page to Markdown: headings, lists, tables and code. Of links and emphasis only the text is kept.

    Args:
        html: The page.
        name: Its name in errors.
        has_header_rows: Whether the first row of a table is its header, even without <th>.

    Returns:
        The page's <title>, and its body.

    Raises:
        MissingReader: If the extra "files" is not installed.
        UnreadableFile: If the page is nested too deeply.
    """
    # An optional extra, and slow to import.
    try:
        from bs4 import BeautifulSoup, XMLParsedAsHTMLWarning
        from markdownify import MarkdownConverter
    except ImportError as error:
        raise missing_reader(name, "HTML", error) from error

    # No escapes and link targets, because a quote of the page has to be in the text.
    converter = MarkdownConverter(
        heading_style="atx",
        table_infer_header=has_header_rows,
        strip=["a", "b", "strong", "i", "em"],
        escape_asterisks=False,
        escape_underscores=False,
        escape_misc=False,
    )
    try:
        with warnings.catch_warnings():
            # The HTML parser reads XHTML well enough.
            warnings.simplefilter("ignore", XMLParsedAsHTMLWarning)
            soup = BeautifulSoup(html, "html.parser")
        title = " ".join(soup.title.get_text().split()) if soup.title else None
        for element in soup([*_UNSEEN, "title"]):
            element.decompose()
        return title or None, converter.convert_soup(soup).strip()
    except RecursionError as error:
        raise UnreadableFile(f"cannot read {name}", detail="Its elements are nested too deeply.") from error
