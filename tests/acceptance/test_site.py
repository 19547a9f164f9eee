"""The site, opened from disk: it loads nothing from other hosts, fits a phone, and its search works."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Request, expect

from tests.acceptance.browsing import browser
from tests.pages import CHECKOUT

__all__ = ["browser"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make docs` builds it. Warnings are errors."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"),
            *("--config-file", "website/mkdocs.yml", "--site-dir", folder),
        ],
        cwd=CHECKOUT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    return folder


class Visit:
    """An open page, with its messages and requests."""

    def __init__(self, browser: Browser, width: int, scheme: str) -> None:
        self.page: Page = browser.new_context(
            viewport={"width": width, "height": 800},
            color_scheme="dark" if scheme == "dark" else "light",
        ).new_page()
        self.page.set_default_timeout(180_000)
        self.said: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", self._note_request)

    def _note_request(self, request: Request) -> None:
        if not request.url.startswith("file:"):
            self.said.append(request.url)


@pytest.fixture(params=[(1200, "light"), (390, "dark")], ids=["desk", "phone"])
def visit(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Visit]:
    yield Visit(browser, *request.param)
    for context in browser.contexts:
        context.close()


def test_pages_open_quietly_and_fit(site: Path, visit: Visit) -> None:
    assert visit.page.viewport_size
    # A page with code, tables and cards; one with a diagram; the widest tables; a long page.
    for name in ("index", "run-states", "benchmarks", "reference/functions"):
        visit.page.goto((site / f"{name}.html").as_uri())
        assert visit.page.locator("h1").is_visible()
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= visit.page.viewport_size["width"], name
    visit.page.goto((site / "run-states.html").as_uri())
    drawings = visit.page.locator(".diagram svg").all()
    assert drawings
    assert all(drawing.is_visible() for drawing in drawings)
    assert visit.said == []


def test_the_site_can_be_searched(site: Path, visit: Visit) -> None:
    visit.page.goto((site / "methods" / "retrieval.html").as_uri())
    if visit.page.locator("label[for=__search].md-header__button").is_visible():
        visit.page.locator("label[for=__search].md-header__button").click()
    visit.page.locator(".md-search__input").click()
    visit.page.keyboard.type("pgbouncer")
    found = visit.page.locator(".md-search-result__link").first
    # The first letters of the word find other pages.
    expect(found).to_have_attribute("href", re.compile(r"operations\.html"), timeout=120_000)
    assert visit.said == []
