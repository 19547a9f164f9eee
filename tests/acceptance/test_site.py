"""The pages that `make docs` builds load nothing from other hosts, and fit on a phone."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.acceptance.browsing import browser
from tests.pages import CHECKOUT

__all__ = ["browser"]

LOADED = re.compile(r'<(?:script|link|img|source|iframe)\b[^>]*\b(?:src|href)="(?:https?:)?//[^"]*"')


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the pages."""
    folder = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--config-file", "website/mkdocs.yml"]
    subprocess.run([*build, "--site-dir", folder], cwd=CHECKOUT, check=True)
    return folder


def test_built_pages_load_nothing_from_other_hosts(browser: Browser, site: Path) -> None:
    assert [tag for path in site.rglob("*.html") for tag in LOADED.findall(path.read_text())] == []

    # A script of the theme could load more, such as one that draws the diagrams of this page.
    page, requests = browser.new_page(), list[str]()
    page.on("request", lambda request: requests.append(request.url))
    page.goto((site / "run-states.html").as_uri(), wait_until="networkidle")
    assert len(requests) > 1
    assert [url for url in requests if not url.startswith("file:")] == []


@pytest.mark.parametrize("width", [390, 1280])
def test_no_page_is_wider_than_the_screen(browser: Browser, site: Path, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    wide = []
    pages = sorted(site.rglob("*.html"))
    assert pages
    for path in pages:
        page.goto(path.as_uri(), wait_until="domcontentloaded")
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            wide.append(path.relative_to(site).as_posix())
    page.close()
    assert wide == []
