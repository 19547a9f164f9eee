"""Takes the picture of a report with the system's Chromium: `python -m website.report` writes docs/report.png.

Two letters with a list of prices are asked without a language model, so the picture has places and dates.
"""

from __future__ import annotations

import shutil
from email.message import EmailMessage
from pathlib import Path

from playwright.sync_api import sync_playwright

from website.served import served

CHECKOUT = Path(__file__).parents[1]
PICTURE = CHECKOUT / "docs" / "report.png"
QUESTION = "rental car"
LETTERS = (
    ("prices-2025.eml", "Mon, 03 Nov 2025 09:00:00 +0000", "A small rental car costs 40 dollars a day.", ""),
    (
        "prices-2026.eml",
        "Mon, 02 Mar 2026 09:00:00 +0000",
        "A small rental car costs 45 dollars a day. The list of all prices is attached.",
        "Vehicle,Price a day\nSmall rental car,45 dollars\nLarge rental car,70 dollars\nVan,90 dollars\n",
    ),
)


def letter(date: str, text: str, table: str) -> bytes:
    """Return a message, with a table as its attachment if there is one."""
    message = EmailMessage()
    message["Subject"] = "Prices of rental cars"
    message["From"] = "office@example.org"
    message["Date"] = date
    message.set_content(f"{text}\n")
    if table:
        message.add_attachment(table, subtype="csv", filename="list.csv")
    return message.as_bytes()


def main() -> None:
    """Load the letters, ask, and take the picture of what was found."""
    browser_path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with served("report") as (run, folder), sync_playwright() as playwright:
        letters = folder / "letters"
        letters.mkdir()
        for name, *parts in LETTERS:
            (letters / name).write_bytes(letter(*parts))
        run("load", "letters", str(letters))
        # Of "run 1: pgclarify explain 1", which stands below the readings.
        run_id = run("ask", QUESTION, "--corpus", "letters").split()[-1]
        page_of_run = folder / "report.html"
        run("explain", run_id, "--html", str(page_of_run))
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 900, "height": 800}, color_scheme="light")
        page.goto(page_of_run.as_uri())
        page.get_by_role("heading", name="What it found").evaluate("heading => heading.scrollIntoView()")
        page.screenshot(path=PICTURE)
        browser.close()


if __name__ == "__main__":
    main()
