"""Draws what searches of a part of a corpus find, by the share that is left: `python -m website.recall`.

The figures are the newest ones of benchmarks.scale.filters in benchmarks/figures.jsonl.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.figures import LINES, newest
from website.trace import GRID, MUTED, TEXT, text

PICTURE = Path(__file__).parents[1] / "docs" / "recall.svg"
COMMAND = re.compile(r"python -m benchmarks\.scale\.filters --passages (\d+) --shares [\d. ]+")
ROW = re.compile(r"dense, ([\d.]+)% of the documents, (near|far): recall at 20")
# What the benchmark calls them, how the picture does, and their color.
KINDS = {"near": ("all topics", "#2f6f9f"), "far": ("far from the questions", "#c2553d")}
WIDTH, HEIGHT = 760, 320
LEFT, RIGHT, TOP, BOTTOM = 70, 730, 56, 262
LOWEST = 0.5


def main() -> None:
    """Draw the newest figures."""
    PICTURE.write_text(drawn(map(json.loads, LINES.read_text(encoding="utf-8").splitlines())), encoding="utf-8")


def drawn(lines: Iterable[Mapping[str, Any]]) -> str:
    """The picture as SVG, on a ground of its own, so that it can be read in both color schemes.

    Args:
        lines: Rows as in the file, oldest first.
    """
    commands = {found[1]: rows for command, rows in newest(lines).items() if (found := COMMAND.fullmatch(command))}
    passages, rows = max(commands.items(), key=lambda command: str(command[1][0]["date"]))
    recalls = {
        (found[2], float(found[1])): float(line["cells"]["value"])
        for line in rows
        if (found := ROW.fullmatch(line["cells"]["what"]))
    }
    shares = sorted({share for _, share in recalls})

    def x(share: float) -> float:
        return LEFT + 30 + shares.index(share) * (RIGHT - LEFT - 60) / (len(shares) - 1)

    def y(recall: float) -> float:
        return BOTTOM - (recall - LOWEST) / (1 - LOWEST) * (BOTTOM - TOP)

    parts = [text(LEFT, 24, f"Recall at 20 of a dense search, {int(passages):,} passages", TEXT)]
    for recall in (0.5, 0.6, 0.7, 0.8, 0.9, 1.0):
        parts.append(f'<line x1="{LEFT}" y1="{y(recall):.1f}" x2="{RIGHT}" y2="{y(recall):.1f}" stroke="{GRID}"/>')
        parts.append(text(LEFT - 8, round(y(recall)) + 4, f"{recall:g}", MUTED, "end"))
    parts += [text(x(share), BOTTOM + 20, f"{share:g} %", MUTED, "middle") for share in shares]
    parts.append(text((LEFT + RIGHT) / 2, BOTTOM + 44, "share of the documents that a filter leaves", MUTED, "middle"))
    for place, (kind, (name, color)) in enumerate(KINDS.items()):
        points = [(x(share), y(recalls[kind, share])) for share in shares if (kind, share) in recalls]
        # The lines often coincide, so the dots of one are larger.
        radius = 6 - 2.5 * place
        path = " ".join(f"{across:.1f},{up:.1f}" for across, up in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="{4 - 2 * place}"/>')
        parts += [f'<circle cx="{across:.1f}" cy="{up:.1f}" r="{radius}" fill="{color}"/>' for across, up in points]
        at = RIGHT - 290 + 120 * place
        parts.append(f'<circle cx="{at}" cy="20" r="{radius}" fill="{color}"/>')
        parts.append(text(at + 12, 24, name, TEXT))
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="system-ui, sans-serif"'
        f' font-size="13">\n<rect width="{WIDTH}" height="{HEIGHT}" rx="6" fill="#f4f6f8"/>\n{body}\n</svg>\n'
    )


if __name__ == "__main__":
    main()
