"""Breaks one guard in a copy of the repository, and runs its tests there."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from benchmarks.guards.table import Guard

Outcome = Literal["noticed", "not noticed", "hung", "error", "not applied", "fails without the break"]

# Stops a test that waits forever because a lock is broken.
_TIMEOUT_SECONDS = 900
_LEAVE_SECONDS = 60
# Exit codes of pytest: no test of this name, no test at all.
_NO_SUCH_TEST = (4, 5)


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a trial.

    Attributes:
        id: The guard's.
        outcome: "noticed" if a test failed. "error" if no test failed but one could not start, which shows nothing
            about the guard. "hung" if tests took too long. "not applied" if the table does not fit the repository.
        noticed_by: The test that failed first.
        detail: Why a break was not applied, or the message of the test, in one line.
        seconds: How long the tests took.
        row: Fingerprint of the guard's row in the table.
    """

    id: str
    outcome: Outcome
    noticed_by: str = ""
    detail: str = ""
    seconds: float = 0.0
    row: str = ""


@contextmanager
def copied(root: Path) -> Iterator[Path]:
    """Copy the files of a repository that git tracks or does not ignore to a folder, and remove it afterwards."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    )
    with tempfile.TemporaryDirectory(prefix="guards-") as folder:
        tree = Path(folder) / "tree"
        for name in filter(None, listed.stdout.split("\0")):
            if (root / name).is_file():
                (tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(root / name, tree / name)
        yield tree


def try_guard(guard: Guard, root: Path, tree: Path, hint: str) -> Result:
    """Break a guard, run its tests until one fails, and put the file back.

    Args:
        guard: What to break.
        root: The repository.
        tree: A copy of the repository. No other trial uses it meanwhile.
        hint: The test that noticed the break last time, or "". It runs first.
    """
    if reason := guard.apply(tree):
        return Result(guard.id, "not applied", detail=reason)
    started = time.monotonic()
    try:
        result = Result(guard.id, "not noticed")
        for tests in filter(None, ((hint,) if hint else (), guard.tests)):
            result = _judge(guard.id, *run_tests(tree, *tests, "-x"))
            if result.outcome != "not noticed":
                break
    finally:
        shutil.copyfile(root / guard.file, tree / guard.file)
    return Result(
        result.id, result.outcome, result.noticed_by, result.detail, seconds=round(time.monotonic() - started, 1)
    )


def failing_without(tree: Path, tests: list[str]) -> set[str]:
    """Run tests without a break, and return those that fail."""
    _, output = run_tests(tree, *tests, timeout=_TIMEOUT_SECONDS * 4)
    return {failed for _, failed, _ in _failures(output)}


def run_tests(tree: Path, *arguments: str, timeout: float = _TIMEOUT_SECONDS) -> tuple[int | None, str]:
    """Run pytest in a copy. Returns its exit code, None if it took too long, and its output."""
    with tempfile.TemporaryDirectory(prefix="guards-data-") as data:
        environment = os.environ | {"PYTHONPATH": str(tree), "PGCLARIFY_DATA_DIR": data}
        # Without compiled files, each process would compile its imports.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        process = subprocess.Popen(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=no", "-rfE", *arguments],
            cwd=tree,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            # The same signal as Ctrl-C, so that servers and workers are stopped.
            process.send_signal(signal.SIGINT)
            try:
                output, _ = process.communicate(timeout=_LEAVE_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                output, _ = process.communicate()
            return None, output
    return process.returncode, output


def _judge(name: str, code: int | None, output: str) -> Result:
    failures = _failures(output)
    for kind, test, detail in failures:
        if kind == "FAILED":
            return Result(name, "noticed", test, detail)
    if code is None:
        return Result(name, "hung", detail=output[-200:])
    if failures:
        return Result(name, "error", failures[0][1], failures[0][2])
    if code == 0 or code in _NO_SUCH_TEST:
        return Result(name, "not noticed")
    return Result(name, "error", detail=output[-200:])


def _failures(output: str) -> list[tuple[str, str, str]]:
    return re.findall(r"^(FAILED|ERROR) (tests/\S.*?)(?: - (.*))?$", output, flags=re.MULTILINE)
