"""Reports in a browser: they open, load nothing, run nothing from foreign text, and work with a keyboard."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from pgclarify.reports.evaluation_page import evaluation_page
from pgclarify.reports.run_page import run_page
from tests.acceptance.browsing import browser
from tests.acceptance.conftest import House, write_files
from tests.unit.reports.reported import HOSTILE, evaluated, run_report

__all__ = ["browser"]


PAGES = {
    "run": run_page(run_report()),
    "hostile run": run_page(run_report(HOSTILE)),
    "evaluation": evaluation_page(evaluated()),
    "hostile evaluation": evaluation_page(evaluated(HOSTILE)),
}


@dataclass
class Opened:
    """An open page, and what it did.

    Attributes:
        said: Its messages in the console, and its errors.
        loaded: The URLs that it requested.
    """

    page: Page
    said: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)

    def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        for key in keys:
            self.page.keyboard.press(key)

    def ask(self, expression: str) -> Any:
        """The value of an expression on the page."""
        return self.page.evaluate(expression)


class Desk:
    """Opens pages."""

    def __init__(self, browser: Browser, folder: Path) -> None:
        self._browser = browser
        self._folder = folder

    def open(self, html: str, *, width: int = 1200, scheme: Any = "light") -> Opened:
        """Open a page as a file, in a window of this width."""
        path = self._folder / "page.html"
        path.write_text(html, encoding="utf-8")
        context = self._browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
        opened = Opened(context.new_page())
        opened.page.set_default_timeout(180_000)
        opened.page.on("console", lambda message: opened.said.append(message.text))
        opened.page.on("pageerror", lambda error: opened.said.append(str(error)))
        opened.page.on("request", lambda request: opened.loaded.append(request.url))
        opened.page.goto(path.as_uri())
        return opened


@pytest.fixture
def desk(browser: Browser, tmp_path: Path) -> Iterator[Desk]:
    yield Desk(browser, tmp_path)
    for context in browser.contexts:
        context.close()


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (390, "dark")])
def test_a_report_opens_without_errors_and_loads_nothing(desk: Desk, name: str, width: int, scheme: str) -> None:
    opened = desk.open(PAGES[name], width=width, scheme=scheme)
    assert opened.page.locator("h1").is_visible()
    # Print, too: printing opens folded parts.
    opened.page.emulate_media(media="print")
    opened.page.pdf()
    assert opened.said == []
    assert len(opened.loaded) == 1
    assert opened.loaded[0].startswith("file://")


@pytest.mark.parametrize("name", PAGES)
def test_foreign_text_does_nothing(desk: Desk, name: str) -> None:
    opened = desk.open(PAGES[name])
    assert opened.ask("typeof window.__pwned") == "undefined"
    assert opened.ask("document.querySelectorAll('img, iframe, object, embed, form, [onload], [onerror]').length") == 0
    assert opened.ask("document.scripts.length") == 1
    # A script that would run if it were put into the page.
    with opened.page.expect_console_message(lambda message: "Content Security Policy" in message.text):
        opened.ask("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.__pwned = 1\">')")
    opened.page.wait_for_function("document.images[0].complete")
    assert opened.ask("typeof window.__pwned") == "undefined"


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("width", [390, 1200])
def test_nothing_is_wider_than_the_window(desk: Desk, name: str, width: int) -> None:
    opened = desk.open(PAGES[name], width=width)
    opened.ask("document.querySelectorAll('details').forEach(part => { part.open = true })")
    assert opened.ask("document.documentElement.scrollWidth") <= width


class TestKeyboard:
    def test_buttons_choose_passages(self, desk: Desk) -> None:
        opened = desk.open(PAGES["run"])
        rows = opened.page.locator("#passage-table tbody tr:visible")
        assert rows.count() == 7
        opened.page.get_by_role("button", name="Abstained 1").focus()
        opened.press("Space")
        assert rows.count() == 1
        assert opened.page.locator("button[aria-pressed='true']").inner_text() == "Abstained 1"
        opened.page.get_by_role("button", name="All 7").click()
        assert rows.count() == 7

    def test_a_link_leads_to_a_passage_that_was_left_out(self, desk: Desk) -> None:
        opened = desk.open(PAGES["run"])
        row = opened.page.locator("#passage-3")
        # The second time, the address does not change.
        for _ in range(2):
            opened.page.get_by_role("button", name="Abstained 1").click()
            assert not row.is_visible()
            link = opened.page.locator(".finding a[href='#passage-3']").first
            link.focus()
            opened.press("Enter")
            row.wait_for(state="visible")
            assert opened.page.locator("button[aria-pressed='true']").inner_text() == "All 7"
            assert opened.page.locator("#passage-table tbody tr:visible").count() == 7


def test_without_script_everything_is_there(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(PAGES["run"], encoding="utf-8")
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    assert page.locator("#passage-table tbody tr").count() == 7
    assert not page.locator(".filters").is_visible()
    page.locator(".finding summary").last.click()
    context.close()


def test_the_commands_write_pages_that_open(house: House, desk: Desk) -> None:
    write_files(house.folder / "reported")
    house.done("load", "reported", "reported/policies")
    house.done("ask", "what is the refueling fee", "--corpus", "reported")
    run_id = house.sql("select max(run_id) from pgclarify.run where operation = 'clarify'")
    house.done("explain", run_id, "--html", f"report-{run_id}.html")
    page = (house.folder / f"report-{run_id}.html").read_text(encoding="utf-8")
    assert house.done("explain", run_id, "--html", "-").partition("<footer>")[0] == page.partition("<footer>")[0]
    opened = desk.open(page)
    assert "ninety dollars" in opened.page.locator(".answer").first.inner_text()
    assert "ninety dollars" in opened.page.locator(".finding mark").first.inner_text()
    assert opened.said == []

    case = {"question": "what is the refueling fee", "answers": ["ninety dollars"]}
    (house.folder / "questions.jsonl").write_text(json.dumps(case))
    house.done("eval", "run", "questions.jsonl", "--corpus", "reported", "--yes")
    house.done("eval", "report", "--output", "evaluations.html")
    opened = desk.open((house.folder / "evaluations.html").read_text(encoding="utf-8"))
    assert opened.page.locator("h1").inner_text() == "Evaluation of questions"
    assert "coverage" in opened.page.locator("table").first.inner_text()
    assert opened.said == []
