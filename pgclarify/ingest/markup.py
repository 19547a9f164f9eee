"""HTML as Markdown, so that its headings count and its tags do not."""

from __future__ import annotations

import warnings
from pathlib import Path

from pgclarify.errors import ConfigurationError, UnreadableFile

# Their text is not for people, or there is none.
_UNSEEN = ["script", "style", "noscript", "template", "svg", "iframe", "img", "input", "button"]


def read_html(html: str, name: str | Path) -> tuple[str | None, str]:
    """Render an HTML page as Markdown: headings, lists, tables and code; of links and emphasis the text alone.

    Returns:
        The page's <title>, and its body.

    Raises:
        ConfigurationError: If the extra "files" is not installed.
        UnreadableFile: If the page is nested too deeply.
    """
    # An optional extra, and slow to import.
    try:
        from bs4 import BeautifulSoup, XMLParsedAsHTMLWarning
        from markdownify import MarkdownConverter
    except ImportError as error:
        raise ConfigurationError(
            "reading HTML needs the package markdownify",
            detail=f"{name} is an HTML file, and {error.name} is not installed.",
            hint="Run: pip install 'pgclarify[files]'",
        ) from error

    # What markup would add (escapes, link targets) is not on the page: a quote of the page has to be in the text.
    converter = MarkdownConverter(
        heading_style="atx",
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
