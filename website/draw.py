"""Draws the diagrams of the pages with the system's Chromium: `python -m website.draw mermaid.min.js`.

The bundle is in dist/ of the npm package `mermaid` (version 12.3.0 drew the current files). Colors and fonts come from
the site's style sheet.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from website.hooks import DIAGRAMS, FENCE, file_name

CHECKOUT = Path(__file__).parents[1]
OPTIONS = "{startOnLoad: false, htmlLabels: false, state: {nodeSpacing: 110, rankSpacing: 60}}"


def main(bundle: Path) -> None:
    """Draw every diagram of the pages, and delete drawings of removed diagrams."""
    pages = [CHECKOUT / "README.md", *CHECKOUT.glob("docs/**/*.md")]
    sources = {fence for page in pages for fence in FENCE.findall(page.read_text("utf-8"))}
    shutil.rmtree(DIAGRAMS, ignore_errors=True)
    DIAGRAMS.mkdir()
    browser_path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        page = browser.new_page()
        page.set_content("<!doctype html><body style='font-family: DejaVu Sans, sans-serif'>")
        page.add_script_tag(path=bundle)
        page.evaluate(f"mermaid.initialize({OPTIONS})")
        for source in sources:
            name = file_name(source)
            label = "diagram-" + name.removesuffix(".svg")
            svg = page.evaluate("async ([id, source]) => (await mermaid.render(id, source)).svg", [label, source])
            (DIAGRAMS / name).write_text(plain(svg) + "\n", encoding="utf-8")
        browser.close()


def plain(svg: str) -> str:
    """Return a drawing without its own styles."""
    svg = re.sub(r"<style>.*?</style>", "", svg, flags=re.S)
    return re.sub(r' (?:data-[\w-]+|style)="[^"]*"', "", svg)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
