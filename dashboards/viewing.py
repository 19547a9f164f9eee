"""What a browser does with the dashboard: signing in, and finding a chart on the page."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page

from dashboards.stories import Chart


def sign_in(page: Page, url: str, password: str) -> None:
    """Sign the browser of a page in to the Superset at this address, as admin.

    Superset's own login page is not opened. It asks the server for more after it is drawn, and an answer that comes
    after the form was sent sets the cookie of the earlier session again, in which nobody is signed in.

    Raises:
        RuntimeError: If the server does not know the browser afterwards.
    """
    login = f"{url}/login/"
    token = re.search(r'id="csrf_token"\s+value="([^"]+)"', page.request.get(login, timeout=120_000).text())
    form = {"username": "admin", "password": password, "csrf_token": token[1] if token else ""}
    page.request.post(login, form=form, max_redirects=0, timeout=120_000)
    known = page.request.get(f"{url}/api/v1/me/", timeout=120_000)
    if not known.ok:
        raise RuntimeError(f"Superset did not sign admin in: {known.status} {known.text()}")


def holder(page: Page, chart: Chart) -> Locator:
    """Return the part of the page that has a chart."""
    title = page.get_by_text(chart.title, exact=True)
    return page.locator(".dashboard-component-chart-holder:visible", has=title)
