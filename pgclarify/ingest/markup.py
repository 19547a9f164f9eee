"""HTML as Markdown, so that its headings count and its tags do not."""

from __future__ import annotations

import warnings
from pathlib import Path

from pgclarify.errors import UnreadableFile
from pgclarify.ingest.extras import missing_reader

# Their text is not for people, or there is none.
_UNSEEN = ["script", "style", "noscript", "template", "svg", "iframe", "img", "input", "button"]


def read_html(html: str, name: str | Path, *, has_header_rows: bool = False) -> tuple[str | None, str]:
    """Render an HTML page as Markdown: headings, lists, tables and code; of links and emphasis the text alone.

    Args:
        html: The page.
        name: What it is called where something is wrong.
        has_header_rows: Whether the first row of a table is its header, even if the page does not say so.

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

    # What markup would add (escapes, link targets) is not on the page: a quote of the page has to be in the text.
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
            # XHTML is read well enough.
            warnings.simplefilter("ignore", XMLParsedAsHTMLWarning)
            soup = BeautifulSoup(html, "html.parser")
        title = " ".join(soup.title.get_text().split()) if soup.title else None
        for element in soup([*_UNSEEN, "title"]):
            element.decompose()
        return title or None, converter.convert_soup(soup).strip()
    except RecursionError as error:
        raise UnreadableFile(f"cannot read {name}", detail="Its elements are nested too deeply.") from error
