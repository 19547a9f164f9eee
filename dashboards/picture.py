"""Takes the picture of the dashboard with the system's Chromium: `python -m dashboards.picture`.

It writes docs/superset.png: the first tab, with a made-up year of searches. It needs `make superset`.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from dashboards import year
from dashboards.starting import PYTHON, started
from dashboards.stories import STORIES

PICTURE = Path(__file__).parents[1] / "docs" / "superset.png"


def main() -> None:
    """Start everything, take the picture, and stop everything."""
    if not PYTHON.exists():
        sys.exit("Superset is not installed. Run: make superset")
    browser_path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with started(year.read_searches()) as running, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1100, "height": 1044})
        take(page, running.url, running.password)
        browser.close()


def take(page: Page, url: str, password: str) -> None:
    """Sign in, and take the picture when all charts of the first tab are drawn.

    Args:
        page: Of the browser.
        url: The dashboard's.
        password: Of admin.
    """
    page.set_default_timeout(300_000)
    page.goto(url.partition("/superset/")[0] + "/login/")
    page.locator("input[name=username], input#username").first.fill("admin")
    page.locator("input[type=password]").first.fill(password)
    page.keyboard.press("Enter")
    page.wait_for_url(lambda address: "/login" not in address)
    page.goto(url)
    for chart in STORIES[0].charts:
        page.get_by_text(chart.title, exact=True).first.wait_for()
    page.locator(".loading").first.wait_for(state="detached")
    # Charts grow into place.
    page.wait_for_timeout(5_000)
    page.screenshot(path=PICTURE)


if __name__ == "__main__":
    main()
