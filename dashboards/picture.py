"""Takes pictures of the dashboard with the system's Chromium: `python -m dashboards.picture`.

It writes docs/superset.png and docs/superset-readings.png: two tabs, with a made-up year of searches, the second one
after a click on a run. It needs `make superset`.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from dashboards import year
from dashboards.bundle import tab_id
from dashboards.starting import PYTHON, started
from dashboards.stories import STORIES, Story
from dashboards.viewing import holder, sign_in

DOCS = Path(__file__).parents[1] / "docs"
ASKED, READINGS = STORIES[0], STORIES[2]
QUESTION = "rental cars"
WIDTH = 1100


def main() -> None:
    """Start everything, take the pictures, and stop everything."""
    if not PYTHON.exists():
        sys.exit("Superset is not installed. Run: make superset")
    browser_path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with started(year.read_searches()) as running, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": 1044})
        page.set_default_timeout(300_000)
        sign_in(page, running.url.partition("/superset/")[0], running.password)
        show(page, running.url, ASKED)
        page.screenshot(path=DOCS / "superset.png")
        page.set_viewport_size({"width": WIDTH, "height": 1460})
        show(page, running.url, READINGS)
        asked = holder(page, READINGS.charts[0]).locator("tr", has_text=QUESTION)
        asked.locator("td").first.click()
        settle(page, READINGS)
        page.screenshot(path=DOCS / "superset-readings.png")
        browser.close()


def show(page: Page, url: str, story: Story) -> None:
    """Show a tab of the dashboard at this address, until its charts are drawn."""
    # The addresses of tabs differ only after the #, so the browser would not load the page again.
    page.goto("about:blank")
    page.goto(f"{url}#{tab_id(story)}")
    settle(page, story)


def settle(page: Page, story: Story) -> None:
    """Wait until all charts of a tab are drawn."""
    for chart in story.charts:
        holder(page, chart).wait_for()
        holder(page, chart).locator(".loading").wait_for(state="detached")
    # Charts grow into place.
    page.wait_for_timeout(5_000)


if __name__ == "__main__":
    main()
