"""The dashboard in a real Superset: each chart shows what its query returns to the role, and nothing foreign."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest
from playwright.sync_api import Browser, Locator, Page, Response, expect
from psycopg.rows import dict_row

from dashboards import starting, viewing, year
from dashboards.bundle import tab_id
from dashboards.starting import ROLE, Started, started
from dashboards.stories import STORIES, Bars, Chart, Number, Rows, Story, Sums
from tests.acceptance.browsing import browser

__all__ = ["browser"]

pytestmark = pytest.mark.slow

# A question is foreign text. As HTML, this one would load a picture.
HOSTILE = '<img src="http://192.0.2.1/seen.png"> <b>rental cars</b>'


READER = "reader"
# Charts that are empty or 0 if all is well.
EMPTY = {"What needs attention", "The queue, now"}
# Charts in which a reader, who sees no runs, finds something.
FOR_READERS = {"Workers that are alive", "Corpora", "Budgets in their current period", "Budgets by what is spent (%)"}


@pytest.fixture(scope="module")
def running() -> Iterator[Started]:
    """The made-up year of fewer searches, and a corpus that the roles of the dashboard may not see."""
    if not starting.PYTHON.exists():
        pytest.fail("Superset is not installed: run make superset")
    searches = [*year.read_searches()[:21], {"query": HOSTILE, "times": "50"}]
    with started(searches) as running, closing(psycopg.connect(running.dsn, autocommit=True)) as superuser:
        superuser.execute("select pgclarify.create_corpus('payroll')")
        superuser.execute(
            "select pgclarify.add_document('payroll', 'm', 'The salary of the miller is 70 dollars a day.')"
        )
        year.settle(superuser)
        superuser.execute("select from pgclarify.clarify('salary', corpus => 'payroll')")
        superuser.execute(f"create role {READER} login password '{running.role_password}'".encode())
        superuser.execute(f"grant pgclarify_reader to {READER}".encode())
        superuser.execute("select pgclarify.grant_access(%s, %s, 'reader')", [year.CORPUS, READER])
        yield running


@dataclass
class Viewer:
    """A browser that is signed in to Superset, with the first tab of the dashboard open.

    Attributes:
        answers: The last answer for each chart, by its title.
    """

    page: Page
    running: Started
    answers: dict[str, dict[str, Any]] = field(default_factory=dict)
    _titles: dict[int, str] = field(default_factory=dict)
    _asked: dict[str, tuple[str, str]] = field(default_factory=dict)

    def sign_in(self) -> None:
        """Sign in as admin."""
        self.page.set_default_timeout(120_000)
        viewing.sign_in(self.page, self._base, self.running.password)
        listed = self.page.request.get(f"{self._base}/api/v1/chart/?q=(page_size:100)").json()["result"]
        self._titles = {chart["id"]: chart["slice_name"] for chart in listed}
        self.page.on("response", self._keep)

    def open(self, story: Story) -> None:
        """Open the dashboard anew at a tab."""
        self.answers.clear()
        # The addresses of tabs differ only after the #, so the browser would not load the page again.
        self.page.goto("about:blank")
        self.page.goto(f"{self.running.url}#{tab_id(story)}")
        self.show(story)

    def show(self, story: Story) -> None:
        """Show a tab, and wait until its charts are drawn."""
        self.page.get_by_role("tab", name=story.name).click()
        for chart in story.charts:
            self.wait_for(chart.title)
            self.holder(chart).locator(".loading").wait_for(state="detached")

    def answers_to(self, role: str) -> dict[str, dict[str, Any]]:
        """What Superset answers the requests of all charts if it reads the database as a role."""
        self._connect_as(role)
        answers = {}
        for title, (url, body) in self._asked.items():
            answered = self.page.request.post(url, headers=self._headers(), data=json.loads(body) | {"force": True})
            assert answered.ok, f"{title}: {answered.text()}"
            (answers[title],) = answered.json()["result"]
        self._connect_as(ROLE)
        return answers

    def wait_for(self, title: str) -> dict[str, Any]:
        """Wait for the answer to a chart's query, and return it."""
        for _ in range(2400):
            if title in self.answers:
                return self.answers[title]
            self.page.wait_for_timeout(50)
        pytest.fail(f"{title} sent no query")

    def holder(self, chart: Chart) -> Locator:
        """The part of the page that has the chart."""
        return viewing.holder(self.page, chart)

    @property
    def _base(self) -> str:
        parts = urlsplit(self.running.url)
        return f"{parts.scheme}://{parts.netloc}"

    def _headers(self) -> dict[str, str]:
        token = self.page.request.get(f"{self._base}/api/v1/security/csrf_token/").json()["result"]
        return {"X-CSRFToken": token, "Referer": self._base}

    def _connect_as(self, role: str) -> None:
        changed = self.page.request.put(
            f"{self._base}/api/v1/database/1",
            headers=self._headers(),
            data={"sqlalchemy_uri": starting.uri(self.running.dsn, role, self.running.role_password)},
        )
        assert changed.ok, changed.text()

    def _keep(self, response: Response) -> None:
        form = parse_qs(urlsplit(response.url).query).get("form_data")
        if "/api/v1/chart/data" not in response.url or not form:
            return
        title = self._titles[json.loads(form[0])["slice_id"]]
        assert response.ok, f"{title}: {response.text()}"
        (self.answers[title],) = response.json()["result"]
        self._asked.setdefault(title, (response.url, response.request.post_data or ""))


@pytest.fixture(scope="module")
def viewer(browser: Browser, running: Started) -> Iterator[Viewer]:
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    viewer = Viewer(context.new_page(), running)
    viewer.sign_in()
    viewer.open(STORIES[0])
    yield viewer
    context.close()


def rows_of(running: Started, role: str, query: str) -> list[dict[str, Any]]:
    """The rows of a query as a role, outside of Superset."""
    dsn = psycopg.conninfo.make_conninfo(
        running.dsn, user=role, password=running.role_password, options="-c timezone=UTC"
    )
    with closing(psycopg.connect(dsn, row_factory=dict_row)) as connection:
        return connection.execute(query.encode()).fetchall()


def in_series(chart: Chart, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows as bars show them: with a column for each series."""
    if not isinstance(chart, Bars) or not chart.series:
        return rows
    (name,) = chart.values
    bars: dict[Any, dict[str, Any]] = {}
    for row in rows:
        bars.setdefault(row[chart.by], {chart.by: row[chart.by]})[row[chart.series]] = row[name]
    return list(bars.values())


def plainly(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows without nulls, in an order of their own."""
    present = ({name: plain(value) for name, value in row.items() if value is not None} for row in rows)
    return sorted(present, key=lambda row: json.dumps(row, sort_keys=True))


def plain(value: Any) -> Any:
    """A value as Superset sends it: times are milliseconds."""
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        value = datetime.datetime(value.year, value.month, value.day, tzinfo=datetime.UTC)
    if isinstance(value, datetime.datetime):
        value = value.timestamp() * 1000
    return round(float(value), 2) if isinstance(value, int | float | Decimal) and not isinstance(value, bool) else value


def test_a_question_is_shown_as_text(viewer: Viewer) -> None:
    asked = viewer.holder(STORIES[0].charts[1])
    expect(asked.get_by_text(HOSTILE, exact=True)).to_be_visible(timeout=60_000)
    assert asked.locator("td img").count() == 0


def test_charts_show_what_their_queries_return(viewer: Viewer) -> None:
    for story in STORIES:
        viewer.show(story)
        for chart in story.charts:
            answer, holder = viewer.answers[chart.title], viewer.holder(chart)
            rows = rows_of(viewer.running, ROLE, answer["query"])
            assert plainly(answer["data"]) == plainly(in_series(chart, rows)), chart.title
            if isinstance(chart, Number):
                assert [{chart.title: int(holder.locator(".header-line").inner_text())}] == rows
            if isinstance(chart, Rows | Sums):
                expect(holder.locator("tbody tr")).to_have_count(len(answer["data"]), timeout=60_000)


@pytest.mark.parametrize("role", [ROLE, READER])
def test_no_chart_receives_what_the_role_may_not_see(viewer: Viewer, role: str) -> None:
    answers = viewer.answers_to(role)
    received = {title: answer["data"] for title, answer in answers.items()}
    for chart in (chart for story in STORIES for chart in story.charts):
        rows = rows_of(viewer.running, role, answers[chart.title]["query"])
        assert plainly(received[chart.title]) == plainly(in_series(chart, rows)), chart.title
    assert "payroll" not in json.dumps(received)
    assert "salary" not in json.dumps(received)
    filled = {title for title, rows in received.items() if any(value for row in rows for value in row.values())}
    assert filled == (FOR_READERS if role == READER else set(received) - EMPTY)


def test_a_click_on_a_run_shows_only_its_quotes(viewer: Viewer) -> None:
    several, _, readings = STORIES[2].charts
    viewer.open(STORIES[2])
    cell = viewer.holder(several).locator("tbody td").first
    run_id = cell.inner_text()
    del viewer.answers[readings.title]
    cell.click()
    received = viewer.wait_for(readings.title)["data"]
    assert {row["run"] for row in received} == {run_id}
    quotes = rows_of(viewer.running, ROLE, "select run_id, quote from pgclarify.citation")
    assert len(received) == [row["run_id"] for row in quotes].count(int(run_id))
