"""Renders the output of doctor."""

from __future__ import annotations

from rich.text import Text

from pgclarify.cli.doctor.check import Check, Level
from pgclarify.cli.rendering import counted, printable

_STYLES = {Level.OK: "green", Level.WARNING: "yellow", Level.PROBLEM: "bold red"}
_WIDTH = max(map(len, Level))


def line(check: Check) -> Text:
    """Render one check: level, name, finding and remedy."""
    text = Text()
    text.append(check.level.ljust(_WIDTH), style=_STYLES[check.level])
    text.append(f"  {check.name}: ", style="bold")
    text.append(printable(check.finding).rstrip(".") + ".")
    if check.remedy:
        text.append(f" {printable(check.remedy)}", style="cyan")
    return text


def verdict(problems: int, warnings: int) -> Text:
    """Render the last line: the number of problems."""
    if not problems and not warnings:
        return Text("All is well.", style="green")
    parts = [
        counted(number, noun)
        for number, noun in ((problems, "problem"), (warnings, "warning"))
        if number or noun == "problem"
    ]
    return Text(f"{' and '.join(parts)}.", style="bold red" if problems else "yellow")
