"""Takes the picture of `pgclarify ui` with the system's Chromium: `python -m website.page` writes docs/page.png.

It shows the demo's question, without a language model, and a quote in its document.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from website.served import served

PICTURE = Path(__file__).parents[1] / "docs" / "page.png"


def main() -> None:
    """Start the demo, open its question, and take the picture beside a quote."""
    browser_path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with served("page") as (run, folder), sync_playwright() as playwright:
        run("demo")
        command = [sys.executable, "-m", "pgclarify.cli", "ui", "--no-browser"]
        environment = os.environ | {"PGCLARIFY_DATA_DIR": str(folder / "data")}
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as page:  # noqa: S603
            assert page.stdout is not None  # noqa: S101
            # The page is at http://127.0.0.1:8713, as role …
            address = page.stdout.readline().split()[4].removesuffix(",")
            browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
            shown = browser.new_page(viewport={"width": 1200, "height": 700}, color_scheme="light")
            shown.goto(f"{address}/run/1?quote=1.1")
            shown.locator("#finding-1").get_by_role("button", name="Right").click()
            shown.locator("#finding-1 button[aria-pressed='true']").wait_for()
            shown.evaluate("document.activeElement.blur(); history.replaceState(null, '', location.search)")
            shown.reload()
            shown.locator("#document mark").first.wait_for()
            shown.evaluate("scrollTo(0, 0)")
            taken = shown.screenshot()
            browser.close()
            page.terminate()
    # A fourth of the size, and the same to the eye.
    Image.open(BytesIO(taken)).quantize(64).save(PICTURE, optimize=True)


if __name__ == "__main__":
    main()
