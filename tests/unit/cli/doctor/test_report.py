"""One line for each check, and a last line with the sum."""

from __future__ import annotations

import pytest

from pgclarify.cli.doctor import report
from pgclarify.cli.doctor.check import ok, problem, warning


def test_a_line_says_what_and_what_to_do() -> None:
    assert str(report.line(ok("server", "PostgreSQL 18"))) == "ok       server: PostgreSQL 18."
    assert str(report.line(warning("disk", "little is free.", "Make room."))) == (
        "warning  disk: little is free. Make room."
    )


def test_a_line_stays_one_line_whatever_a_server_says() -> None:
    line = str(report.line(problem("loopback", "FATAL:\n\x1b[31m no\n", "Do this.")))
    assert line == "problem  loopback: FATAL: \\u001b[31m no. Do this."


@pytest.mark.parametrize(
    ("problems", "warnings", "expected"),
    [
        (0, 0, "All is well."),
        (0, 2, "0 problems and 2 warnings."),
        (1, 0, "1 problem."),
        (2, 1, "2 problems and 1 warning."),
    ],
)
def test_the_last_line(problems: int, warnings: int, expected: str) -> None:
    assert str(report.verdict(problems, warnings)) == expected
