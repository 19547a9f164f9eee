"""Draws the dashboard of the tutorial: `python -m website.dashboard`.

It loads the demo's documents into a new server, and asks the search log of the dbt example without a language model:
each search as often as the log says. The runs get the times of the log. The charts show what the queries on the page
return.
"""

from __future__ import annotations

import csv
import re
import time
from contextlib import closing
from html import escape
from pathlib import Path
from typing import Any

import psycopg

from website.served import served

CHECKOUT = Path(__file__).parents[1]
PAGE = CHECKOUT / "docs" / "tutorials" / "dashboard.md"
LOG = CHECKOUT / "dbt" / "example" / "seeds" / "search_log.csv"
DOCUMENTS = CHECKOUT / "pgclarify" / "demo_corpus"
CORPUS = "insurance"
QUERY = re.compile(r"^```sql\n(.*?)^```$", re.M | re.S)
# Grouping questions and counting reused answers follow some seconds after the runs.
COUNTED = """
    select not exists (select from pgclarify_private.served_answer)
        and not exists (select from pgclarify.run where question_group_id is null)
"""
SHADES = {"answered": "#2f6f9f", "not_answered": "#c2553d", "not_known": "#75818a"}
TEXT, MUTED, GRID, BAR = "#1f2933", "#5b6770", "#e3e8ec", "#2f6f9f"

Row = tuple[Any, ...]


def main() -> None:
    """Ask the log, and draw the charts beside the page."""
    with served("dashboard") as (run, _):
        run("load", CORPUS, str(DOCUMENTS))
        with closing(psycopg.connect(run("dsn").strip(), autocommit=True)) as connection:
            ask(connection)
            queries = QUERY.findall(PAGE.read_text("utf-8"))
            drawing = draw(*(connection.execute(query.encode()).fetchall() for query in queries))
    PAGE.with_suffix(".svg").write_text(drawing, encoding="utf-8")


def ask(connection: psycopg.Connection[Any]) -> None:
    """Ask each search of the log as often as it says, and wait until all of it is counted."""
    with LOG.open(encoding="utf-8", newline="") as file:
        searches = list(csv.DictReader(file))
    for number in range(max(int(search["times"]) for search in searches)):
        asked = [search["query"] for search in searches if int(search["times"]) > number]
        connection.execute("select from pgclarify.clarify_many(%s, corpus => %s)", [asked, CORPUS])
    connection.cursor().executemany(
        "update pgclarify.run set created_at = (%(searched_at)s || ' UTC')::timestamptz where question = %(query)s",
        searches,
    )
    while connection.execute(COUNTED).fetchone() != (True,):
        time.sleep(1)


def draw(by_week: list[Row], most_asked: list[Row], cited: list[Row], by_day: list[Row]) -> str:
    """Return the dashboard as SVG, from the rows of the page's queries in their order."""
    charts = [
        (0, 0, "Answered or not", stacked(by_week)),
        (1, 0, "Runs by day", line([(row[0], row[2]) for row in by_day])),
        (0, 1, "What people ask most", bars(most_asked[:8])),
        (1, 1, "Documents that answers cite", bars(cited[:8])),
    ]
    panels = "".join(
        f'<g transform="translate({16 + 464 * column} {16 + 264 * place})">'
        f'<rect width="448" height="248" rx="6" fill="#fff" stroke="{GRID}"/>'
        f"{words(16, 26, title, size=15, weight=600)}{chart}</g>\n"
        for column, place, title, chart in charts
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 944 544" font-family="system-ui, sans-serif">\n'
        f'<rect width="944" height="544" fill="#f4f6f8"/>\n{panels}</svg>\n'
    )


def stacked(weeks: list[Row]) -> str:
    """Return a bar for each week, and the meaning of the colors."""
    most = max(sum(row[1:]) for row in weeks)
    drawn = []
    for number, (week, *counts) in enumerate(weeks):
        y, left = 64 + 44 * number, 16.0
        drawn.append(words(16, y - 6, f"week of {week.day} {week:%B %Y}", color=MUTED))
        for shade, count in zip(SHADES.values(), counts, strict=True):
            width = round(416 * float(count / most), 1)
            drawn.append(f'<rect x="{left}" y="{y}" width="{width}" height="20" fill="{shade}"/>')
            if count:
                drawn.append(words(left + width / 2, y + 14, str(count), color="#fff", anchor="middle"))
            left = round(left + width, 1)
    for number, (name, shade) in enumerate(SHADES.items()):
        drawn.append(f'<rect x="{16 + 120 * number}" y="220" width="11" height="11" fill="{shade}"/>')
        drawn.append(words(32 + 120 * number, 230, name))
    return "".join(drawn)


def line(days: list[Row]) -> str:
    """Return a line over days, from 0."""
    most = max(count for _, count in days)
    first, last = days[0][0], days[-1][0]

    def place(day: Any, count: float) -> tuple[float, float]:  # noqa: ANN401 - a date
        return round(40 + 384 * (day - first).days / max((last - first).days, 1), 1), round(208 - 150 * count / most, 1)

    grid = "".join(
        f'<path d="M40 {place(first, count)[1]}H424" stroke="{GRID}"/>'
        f"{words(32, place(first, count)[1] + 4, str(count), color=MUTED, anchor='end')}"
        for count in (0, most)
    )
    path = "L".join(f"{x} {y}" for x, y in (place(*day) for day in days))
    dots = "".join(f'<circle cx="{x}" cy="{y}" r="3" fill="{BAR}"/>' for x, y in (place(*day) for day in days))
    ends = words(40, 230, f"{first.day} {first:%B}", color=MUTED)
    ends += words(424, 230, f"{last.day} {last:%B}", color=MUTED, anchor="end")
    return f'{grid}<path d="M{path}" fill="none" stroke="{BAR}" stroke-width="2"/>{dots}{ends}'


def bars(rows: list[Row]) -> str:
    """Return a bar for each name, with its count."""
    most = max(row[1] for row in rows)
    drawn = []
    for number, (name, count, *_) in enumerate(rows):
        y = 42 + 25 * number
        width = round(190 * count / most, 1)
        shown = name if len(name) <= 28 else name[:27].rstrip(" ,") + "…"
        drawn.append(words(208, y + 13, shown, anchor="end"))
        drawn.append(f'<rect x="216" y="{y}" width="{width}" height="18" fill="{BAR}"/>')
        drawn.append(words(216 + width + 5, y + 13, str(count), color=MUTED))
    return "".join(drawn)


def words(
    x: float, y: float, text: str, *, size: int = 12, weight: int = 400, color: str = TEXT, anchor: str = "start"
) -> str:
    """Return one line of text."""
    style = f'font-size="{size}" font-weight="{weight}" fill="{color}" text-anchor="{anchor}"'
    return f'<text x="{x:g}" y="{y:g}" {style}>{escape(text)}</text>'


if __name__ == "__main__":
    main()
