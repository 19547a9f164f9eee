"""The system's browser, for tests that look at pages."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

# The names that the Makefile looks for, too.
NAMES = (os.environ.get("CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome")
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser that is installed on the system. It is never downloaded."""
    paths = [path for name in NAMES if (path := shutil.which(name))]
    if not paths:
        pytest.fail("there is no Chromium: run make system, or install it with your system's packages")
    with sync_playwright() as playwright:
        # Its user data are in a temporary folder, which is removed with it.
        browser = playwright.chromium.launch(executable_path=paths[0], headless=True, args=ARGUMENTS, timeout=180_000)
        yield browser
        browser.close()
