"""What doctor prints."""

from __future__ import annotations

from rich.text import Text

from pgclarify.cli.doctor.check import Check, Level
from pgclarify.cli.rendering import counted, printable

_STYLES = {Level.OK: "green", Level.WARNING: "yellow", Level.PROBLEM: "bold red"}
_WIDTH = max(map(len, Level))


def line(check: Check) -> Text:
    """One check: its level, its name, what was found, and what to do."""
    text = Text()
    text.append(check.level.ljust(_WIDTH), style=_STYLES[check.level])
    text.append(f"  {check.name}: ", style="bold")
    text.append(printable(check.finding).rstrip(".") + ".")
    if check.remedy:
        text.append(f" {printable(check.remedy)}", style="cyan")
    return text


def verdict(problems: int, warnings: int) -> Text:
    """The last line: how many problems there are."""
    if not problems and not warnings:
        return Text("All is well.", style="green")
    parts = [
        counted(number, noun)
        for number, noun in ((problems, "problem"), (warnings, "warning"))
        if number or noun == "problem"
    ]
    return Text(f"{' and '.join(parts)}.", style="bold red" if problems else "yellow")
