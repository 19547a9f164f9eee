"""One line for each check, and a last line with the sum."""

from __future__ import annotations

from pgclarify.cli.doctor import report
from pgclarify.cli.doctor.check import problem


def test_a_line_stays_one_line_whatever_a_server_says() -> None:
    line = str(report.line(problem("loopback", "FATAL:\n\x1b[31m no\n", "Do this.")))
    assert line == "problem  loopback: FATAL: \\u001b[31m no. Do this."
