"""The pages that `make docs` builds load nothing from other hosts."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Browser

from tests.acceptance.browsing import browser
from tests.pages import CHECKOUT

__all__ = ["browser"]

LOADED = re.compile(r'<(?:script|link|img|source|iframe)\b[^>]*\b(?:src|href)="(?:https?:)?//[^"]*"')


def test_built_pages_load_nothing_from_other_hosts(browser: Browser, tmp_path: Path) -> None:
    build = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--config-file", "website/mkdocs.yml"]
    subprocess.run([*build, "--site-dir", tmp_path], cwd=CHECKOUT, check=True)
    assert [tag for path in tmp_path.rglob("*.html") for tag in LOADED.findall(path.read_text())] == []

    # A script of the theme could load more, such as one that draws the diagrams of this page.
    page, requests = browser.new_page(), list[str]()
    page.on("request", lambda request: requests.append(request.url))
    page.goto((tmp_path / "run-states.html").as_uri(), wait_until="networkidle")
    assert len(requests) > 1
    assert [url for url in requests if not url.startswith("file:")] == []
