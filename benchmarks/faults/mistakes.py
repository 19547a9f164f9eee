"""Make mistakes in a copy of the repository, one at a time, and run the tests where one would look for each.

python -m benchmarks.faults.mistakes [--only TEXT] [--write]

The mistakes are in mistakes.toml. A line for each says which test fails first, or that none does; then one more test is
needed. --write stores the table as mistakes.md.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

ROOT: Final = Path(__file__).parents[2]
LIST: Final = Path(__file__).with_suffix(".toml")
PAGE: Final = Path(__file__).with_suffix(".md")
SECONDS: Final = 600
# The exit codes of pytest.
_PASSED, _FAILED = 0, 1
_FAILURE: Final = re.compile(r"^FAILED (\S+?::.+?)(?: - .*)?$", re.MULTILINE)
_HEAD: Final = """\
# Planted mistakes

What `python -m benchmarks.faults.mistakes --write` found. [mistakes.toml](mistakes.toml) has the changes of the code.
Seconds are those until the first test fails, with the start of a server.

| mistake | tests where one would look | which fails | s |
|---|---|---|---|
"""


@dataclass(frozen=True)
class Mistake:
    """A change of one file, and the tests that should fail; the fields are explained in mistakes.toml."""

    about: str
    file: str
    right: str
    wrong: str
    tests: str


@dataclass(frozen=True)
class Found:
    """What the tests say about a mistake.

    Attributes:
        mistake: The mistake.
        failed: The first test that fails; empty if all pass.
        seconds: How long that took.
    """

    mistake: Mistake
    failed: str
    seconds: float

    def row(self) -> str:
        """Return the row of the table."""
        name = self.failed.partition("::")[2].partition("[")[0]
        failed = f"`{name}`" if name else "none"
        return f"| {self.mistake.about} | {self.mistake.tests} | {failed} | {self.seconds:.0f} |\n"


class Copy:
    """A copy of the files of the repository, in which mistakes are made.

    Args:
        folder: An empty folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        for name in filter(None, listed.stdout.split("\0")):
            if (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name)
        for environment in ROOT.glob(".venv*"):
            (folder / environment.name).symlink_to(environment)

    @contextmanager
    def with_mistake(self, mistake: Mistake) -> Iterator[None]:
        """Make a mistake, and correct it at the end of the block.

        Raises:
            ValueError: If its text does not occur.
        """
        file = self._folder / mistake.file
        sound = file.read_text(encoding="utf-8")
        if mistake.right not in sound:
            raise ValueError(f"{mistake.file} has no such text any more: {mistake.right}")
        file.write_text(sound.replace(mistake.right, mistake.wrong), encoding="utf-8")
        try:
            yield
        finally:
            file.write_text(sound, encoding="utf-8")

    def first_failure(self, tests: str) -> str:
        """Run tests, and return the first one that fails; empty if all pass.

        Raises:
            RuntimeError: If they cannot be run, for example because nothing can be installed.
        """
        options = ["-q", "-x", "--tb=no", "-p", "no:cacheprovider"]
        ended = subprocess.run(
            [sys.executable, "-m", "pytest", *options, tests],
            cwd=self._folder,
            # Programs that tests start import this copy, too.
            env={**os.environ, "PYTHONPATH": str(self._folder), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        if ended.returncode == _PASSED:
            return ""
        failed = _FAILURE.search(ended.stdout)
        if ended.returncode != _FAILED or failed is None:
            raise RuntimeError(f"{tests} cannot be run: {ended.stdout[-2000:]}{ended.stderr[-2000:]}")
        return failed[1]


def look(copy: Copy, mistake: Mistake) -> Found:
    """Make a mistake, and run its tests.

    Raises:
        RuntimeError: If a test also fails without it.
    """
    began = time.monotonic()
    with copy.with_mistake(mistake):
        failed = copy.first_failure(mistake.tests)
    seconds = time.monotonic() - began
    if failed and copy.first_failure(failed):
        raise RuntimeError(f"{failed} fails without the mistake, too")
    return Found(mistake, failed, seconds)


def page(found: Sequence[Found]) -> str:
    """Return the page with the table."""
    noticed = sum(bool(one.failed) for one in found)
    return f"{_HEAD}{''.join(one.row() for one in found)}\nNoticed: {noticed} of {len(found)}.\n"


def main() -> None:
    """Make the mistakes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="mistakes with this text")
    parser.add_argument("--write", action="store_true", help="store the table as mistakes.md")
    given = parser.parse_args()
    mistakes = [Mistake(**one) for one in tomllib.loads(LIST.read_text(encoding="utf-8"))["mistake"]]
    found: list[Found] = []
    with TemporaryDirectory() as folder:
        copy = Copy(Path(folder))
        for mistake in mistakes:
            if given.only in f"{mistake.about} {mistake.file} {mistake.tests}":
                found.append(look(copy, mistake))
                print(found[-1].row(), end="", flush=True)
    if given.write:
        PAGE.write_text(page(found), encoding="utf-8")
    sys.exit(not all(one.failed for one in found))


if __name__ == "__main__":
    main()
