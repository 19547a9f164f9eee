"""A check on one line."""

from __future__ import annotations

from pgclarify.cli.doctor.check import problem


def test_a_line_stays_one_line_whatever_a_server_says() -> None:
    line = str(problem("loopback", "FATAL:\n\x1b[31m no\n", "Do this.").line())
    assert line == "problem  loopback: FATAL: \\u001b[31m no. Do this."
