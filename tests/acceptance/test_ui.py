"""The page of `pgclarify ui` in a real browser: ask, see the proof in its document, say what is right."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import httpx2
import psycopg
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.acceptance.browsing import browser
from tests.acceptance.conftest import House
from tests.clients.serving import free_port
from tests.unit.ingest.test_pdf import pdf
from tests.unit.reports.reported import HOSTILE
from tests.workers import until

__all__ = ["browser"]

CORPUS = "fleet"
HOSTILE_TEXT = (
    "<script>window.__pwned = 1</script> <img src=x onerror='window.__pwned = 1'> [x](javascript:window.__pwned=1)\n\n"
    "The towing fee for a broken van is seventy dollars.\n\n"
    "</mark></div><b onclick='window.__pwned=1'>free</b>"
    " <form action='https://evil.example'><button>Free money</button></form><base href='https://evil.example/'>\n"
)
# How long anything may take on a machine that does other things, too.
MILLISECONDS = 60_000


@contextmanager
def serving(house: House, *options: str, **variables: str) -> Iterator[str]:
    """Run the page, and return its address."""
    port = free_port()
    environment = {**house.variables, **variables}
    with subprocess.Popen(
        [*house.program, "ui", "--no-browser", "--listen", f"127.0.0.1:{port}", *options],
        env={**house_environment(house), **environment},
        cwd=house.folder,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert f"http://127.0.0.1:{port}" in line
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def house_environment(house: House) -> dict[str, str]:
    """The environment of its commands."""
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(("PGCLARIFY_", "OPENAI_", "PG"))
    }
    return inherited | {"PGCLARIFY_DATA_DIR": str(house.folder / "data"), "COLUMNS": "200"}


@pytest.fixture(scope="module")
def fleet(house: House) -> House:
    """A corpus of a PDF of three pages, a table, and a document that attacks its readers."""
    folder = house.folder / CORPUS
    folder.mkdir()
    pages = ("Terms of rental", "The cleaning fee for a van with mud is eighty dollars.", "Signed by the office.")
    (folder / "terms.pdf").write_bytes(pdf(*pages))
    (folder / "towing.txt").write_text(HOSTILE_TEXT)
    house.done("load", CORPUS, str(folder))
    with psycopg.connect(house.done("dsn").strip(), autocommit=True) as session:
        session.execute("create table tariff (id bigint primary key, name text, body text)")
        session.execute(
            "insert into tariff values (7, 'Ferry', 'The ferry supplement for a van is forty-one euros.'),"
            " (8, 'Tunnel', 'The tunnel supplement for a van is nineteen euros.')"
        )
        session.execute(
            "select pgclarify.attach_table(%s, 'tariff', 'id', 'body', options => '{\"title\": \"name\"}')", [CORPUS]
        )
        until(
            lambda: session.execute(
                "select true from pgclarify.corpus where corpus = %s and pending = 0 and documents >= 4", [CORPUS]
            ).fetchone()
        )
    return house


@pytest.fixture(scope="module")
def address(fleet: House) -> Iterator[str]:
    with serving(fleet) as url:
        yield url


class Reader:
    """A person at the page. What the browser said and loaded is kept."""

    def __init__(self, context: BrowserContext, address: str) -> None:
        self.page: Page = context.new_page()
        self.page.set_default_timeout(MILLISECONDS)
        self.said: list[str] = []
        self.loaded: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.loaded.append(request.url))
        self.address = address

    def ask(self, question: str) -> None:
        """Ask with the mouse, and wait for what is found."""
        self.page.goto(self.address)
        self.page.get_by_label("Your question").fill(question)
        self.page.get_by_label("Corpus").select_option(CORPUS)
        self.page.get_by_role("button", name="Ask").click()
        self.page.locator("#found").wait_for()

    def marked(self) -> str:
        """What is marked in the document; it is in sight."""
        mark = self.page.locator("#document mark").first
        expect(mark).to_be_in_viewport(timeout=MILLISECONDS)
        return mark.inner_text()


Reading = Callable[..., Reader]


@pytest.fixture
def read(browser: Browser, address: str) -> Iterator[Reading]:
    """Open the page; nothing that the browser says is an error, and nothing is loaded from elsewhere."""
    readers: list[Reader] = []
    with ExitStack() as stack:

        def open_page(url: str = address, **options: Any) -> Reader:
            context = browser.new_context(**({"viewport": {"width": 1300, "height": 700}} | options))
            stack.callback(context.close)
            readers.append(Reader(context, url))
            return readers[-1]

        yield open_page
    for reader in readers:
        assert reader.said == []
        assert {url for url in reader.loaded if not url.startswith(reader.address)} == set()


@pytest.mark.parametrize("with_script", [True, False])
def test_a_quote_of_a_pdf_is_marked_on_its_page(read: Reading, with_script: bool) -> None:
    reader = read(java_script_enabled=with_script)
    reader.ask("what is the cleaning fee for a van with mud")
    reader.page.locator("a.quote", has_text="eighty dollars").first.click()
    assert "eighty dollars" in reader.marked()
    document = reader.page.locator("#document")
    assert "page 2" in document.inner_text()
    assert "terms.pdf" in document.inner_text()
    # What stands before and after is the document as it is stored.
    assert "Signed by the office." in document.locator(".text").inner_text()


def test_a_quote_of_a_row_of_a_table_is_marked(read: Reading) -> None:
    reader = read()
    reader.ask("what is the ferry supplement for a van")
    reader.page.locator("a.quote", has_text="forty-one euros").first.click()
    assert "forty-one euros" in reader.marked()
    assert reader.page.locator("#document h2").inner_text() == "Ferry"
    # The address names what is shown: it can be sent to somebody else.
    again = read()
    again.page.goto(reader.page.url)
    assert "forty-one euros" in again.marked()


def test_a_reading_is_rated_and_a_missing_answer_is_told(read: Reading, fleet: House) -> None:
    reader = read()
    reader.ask("what is the tunnel supplement for a van")
    run_id = reader.page.url.rpartition("/")[2]
    card = reader.page.locator(".finding").first
    card.get_by_text("Why?").click()
    card.get_by_label("Your comment").fill("as the tariff says")
    card.get_by_role("button", name="Right", exact=True).click()
    pressed = reader.page.locator(".finding").first.get_by_role("button", name="Right", exact=True)
    expect(pressed).to_have_attribute("aria-pressed", "true", timeout=MILLISECONDS)
    reader.page.get_by_text("The right answer is missing").click()
    reader.page.get_by_label("The right answer", exact=True).fill("nineteen euros")
    reader.page.get_by_role("button", name="Tell").click()
    expect(reader.page.get_by_role("button", name="Change it")).to_be_visible(timeout=MILLISECONDS)
    said = f"select ordinal, rating, comment, missing from pgclarify.feedback where run_id = {run_id} order by 1"  # noqa: S608
    assert fleet.sql(said) == "1|right|as the tariff says|\n|||nineteen euros"
    # Pressed again, it is taken back.
    pressed.click()
    expect(pressed).to_have_attribute("aria-pressed", "false", timeout=MILLISECONDS)
    assert fleet.sql(said) == "|||nineteen euros"


@pytest.mark.parametrize("with_script", [True, False])
def test_a_less_sure_reading_is_opened_and_rated(read: Reading, fleet: House, with_script: bool) -> None:
    reader = read(java_script_enabled=with_script)
    reader.ask("supplement for a van")
    less_sure = reader.page.locator("#less-sure")
    expect(less_sure.locator(".answer").first).to_be_hidden()
    less_sure.locator("summary").first.click()
    quote = less_sure.locator("a.quote").first
    said = quote.inner_text().strip()
    quote.click()
    assert reader.marked()
    assert said.strip('"“”') in reader.page.locator("#document .text").inner_text()
    if not with_script:
        # The page was loaded anew.
        less_sure.locator("summary").first.click()
    less_sure.get_by_role("button", name="Wrong", exact=True).first.click()
    pressed = less_sure.get_by_role("button", name="Wrong", exact=True).first
    expect(pressed).to_have_attribute("aria-pressed", "true", timeout=MILLISECONDS)
    # It is in sight, not folded.
    expect(pressed).to_be_visible()
    run_id = re.search(r"/run/(\d+)", reader.page.url)
    assert run_id
    rated = f"select rating, ordinal > (select interpretations from pgclarify.run where run_id = {run_id[1]})"  # noqa: S608
    assert fleet.sql(f"{rated} from pgclarify.feedback where run_id = {run_id[1]}") == "wrong|True"
    pressed.click()


def test_a_hostile_document_runs_nothing(read: Reading) -> None:
    reader = read()
    reader.ask("what is the towing fee for a broken van")
    reader.page.locator("a.quote", has_text="seventy dollars").first.click()
    reader.marked()
    shown = reader.page.locator("#document .text").inner_text()
    assert "<script>window.__pwned = 1</script>" in shown
    assert reader.page.evaluate("typeof window.__pwned") == "undefined"
    assert reader.page.get_by_role("button", name="Free money").count() == 0
    assert reader.page.evaluate("document.querySelectorAll('#document :is(img, form, base, script, b)').length") == 0
    # A script that would run if it were put into the page.
    with reader.page.expect_console_message(lambda message: "Content Security Policy" in message.text):
        reader.page.evaluate("document.body.insertAdjacentHTML('beforeend', '<p onclick=\"window.__pwned = 1\">x</p>')")
        reader.page.evaluate("document.body.lastElementChild.click()")
    assert reader.page.evaluate("typeof window.__pwned") == "undefined"
    reader.said.clear()


def test_a_hostile_question_runs_nothing(read: Reading) -> None:
    reader = read()
    reader.ask(f"towing {HOSTILE[:400].replace(chr(0), '').replace(chr(0xDC80), '')}")
    assert reader.page.evaluate("typeof window.__pwned") == "undefined"
    assert reader.page.locator("h1").inner_text().startswith("towing </script>")


def test_a_keyboard_is_enough(read: Reading) -> None:
    reader = read()
    page = reader.page
    page.goto(reader.address)
    # The field of the question has the focus.
    page.keyboard.type("what is the ferry supplement for a van")
    page.keyboard.press("Tab")
    page.keyboard.type(CORPUS)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.locator("#found").wait_for()

    def press_until(selector: str, key: str = "Tab") -> None:
        for _ in range(60):
            if page.evaluate("selector => document.activeElement.matches(selector)", selector):
                return
            page.keyboard.press(key)
        pytest.fail(f"the focus never reaches {selector}")

    press_until("a.quote")
    page.keyboard.press("Enter")
    assert "forty-one euros" in reader.marked()
    # The mark has the focus; the next stop leads back to the quote.
    expect(page.locator("#document mark").first).to_be_focused(timeout=MILLISECONDS)
    press_until("a.back", "Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.locator("a.quote[aria-current]").first).to_be_focused(timeout=MILLISECONDS)
    press_until(".rating button[value='right']")
    page.keyboard.press("Space")
    expect(page.locator(".rating button[aria-pressed='true']")).to_have_count(1, timeout=MILLISECONDS)
    # What was read beside that quote is still there.
    assert "forty-one euros" in page.locator("#document mark").first.inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1300])
def test_nothing_is_wider_than_the_window(read: Reading, width: int, scheme: str) -> None:
    reader = read(viewport={"width": width, "height": 700}, color_scheme=scheme)
    reader.ask("what is the ferry supplement for a van")
    reader.page.locator("a.quote").first.click()
    reader.marked()
    reader.page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true })")
    assert reader.page.evaluate("document.documentElement.scrollWidth") <= width
    # Each field and button has a name for people who do not see it.
    assert (
        reader.page.evaluate(
            "[...document.querySelectorAll('button, input:not([type=hidden]), textarea, select, a[href]')]"
            ".filter(one => !(one.innerText || one.labels?.length || one.ariaLabel || one.textContent)).length"
        )
        == 0
    )


@pytest.fixture(scope="module")
def tenants(fleet: House) -> Iterator[Mapping[str, str]]:
    """A corpus with a document of each of two tenants, and the login of a page that acts for them."""
    folder = fleet.folder / "tickets"
    folder.mkdir()
    rows = (
        {"id": name, "content": f"The delivery of pallets to {name} takes {days} days.", "title": name, "tenant": name}
        for name, days in (("acme", "two"), ("bolt", "five"))
    )
    (folder / "tickets.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    fleet.done("load", "tickets", str(folder / "tickets.jsonl"))
    with psycopg.connect(fleet.done("dsn").strip(), autocommit=True) as session:
        session.execute("create role page_login login password 'open sesame'")
        for name in ("acme", "bolt"):
            session.execute(f"create role {name} in role pgclarify_user".encode())
            session.execute(f"grant {name} to page_login with inherit false, set true".encode())
            session.execute(
                "select pgclarify.grant_access('tickets', %s, filter => %s)", [name, json.dumps({"tenant": name})]
            )
    login = {"PGCLARIFY_DATABASE_URL": f"{fleet.done('dsn').strip()}&user=page_login", "PGPASSWORD": "open sesame"}
    yield login


def test_a_tenant_sees_nothing_of_another(read: Reading, fleet: House, tenants: Mapping[str, str]) -> None:
    with serving(fleet, "--role-header", "X-Role", "--behind", "127.0.0.1", **tenants) as url:
        runs = {}
        for name, other in (("acme", "bolt"), ("bolt", "acme")):
            reader = read(url, extra_http_headers={"X-Role": name})
            reader.page.goto(url)
            assert f"role {name}" in reader.page.locator("header.top").inner_text()
            reader.page.get_by_label("Your question").fill("how long does the delivery of pallets take")
            reader.page.get_by_role("button", name="Ask").click()
            reader.page.locator("#found").wait_for()
            text = reader.page.locator("body").inner_text()
            assert name in text
            assert other not in text
            runs[name] = reader.page.url
        assert status(runs["acme"], "acme") == 200
        assert status(runs["acme"], "bolt") == 404
        for role in ("postgres", "pgclarify_owner", "page_login", "none", "cara", ""):
            assert status(url, role) in (401, 403)


def status(url: str, role: str) -> int:
    """The status that a role gets."""
    with httpx2.Client() as client:
        return client.get(url, headers={"X-Role": role}).status_code
