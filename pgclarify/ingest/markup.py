"""HTML as Markdown: headings become headings, and tags are removed."""

from __future__ import annotations

import warnings

# These elements have no text for people, or only links to other pages (nav).
_UNSEEN = ["nav", "script", "style", "noscript", "template", "svg", "iframe", "img", "input", "button"]


def read_html(html: str, *, has_header_rows: bool = False) -> tuple[str | None, str]:
    """Convert an HTML page to Markdown: headings, lists, tables and code. Of links and emphasis only the text is kept.

    Args:
        html: The page.
        has_header_rows: Whether the first row of a table is its header, even without <th>.

    Returns:
        The page's <title>, and its body.

    Raises:
        ImportError: If the extra "files" is not installed.
        RecursionError: If the page is nested too deeply.
    """
    # An optional extra, and slow to import.
    from bs4 import BeautifulSoup, XMLParsedAsHTMLWarning
    from markdownify import MarkdownConverter

    # No escapes and link targets, because a quote of the page has to be in the text.
    converter = MarkdownConverter(
        heading_style="atx",
        table_infer_header=has_header_rows,
        strip=["a", "b", "strong", "i", "em"],
        escape_asterisks=False,
        escape_underscores=False,
        escape_misc=False,
    )
    with warnings.catch_warnings():
        # The HTML parser reads XHTML well enough.
        warnings.simplefilter("ignore", XMLParsedAsHTMLWarning)
        soup = BeautifulSoup(html, "html.parser")
    title = " ".join(soup.title.get_text().split()) if soup.title else None
    for element in soup([*_UNSEEN, "title"]):
        element.decompose()
    return title or None, converter.convert_soup(soup).strip()
