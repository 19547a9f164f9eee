"""What explain prints, from the lines of the server."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from pgclarify.cli.explaining import tree

LINES = [
    ("head", 'clarify in insurance: "rental cars"  (run 42, succeeded, time=1,000 ms, readings=1)'),
    ("detail", "  Asked by alice at 2026-01-01 12:00:00 UTC, waited 12 ms for a worker"),
    ("error", "  Error: none of 3 passages could be judged"),
    ("node", "  ->  judgement  (time=0.0..900 ms, 90%, rows=2)"),
    ("detail", "        #1  dense  0.8000  passage 1 of 101 (Coverage): grounded  (time=205 ms, tokens=310+41)"),
    ("detail", "            How long (if at all) is it paid for? Answer: thirty days"),
    ("label", "  Total: calls=2"),
]


def shown(lines: list[tuple[str, str]], *, is_terminal: bool = False) -> str:
    stream = io.StringIO()
    console = Console(file=stream, width=40, force_terminal=is_terminal, markup=False, highlight=False, _environ={})
    console.print(tree(lines), soft_wrap=True)
    return stream.getvalue()


def test_lines_are_as_the_server_sent_them() -> None:
    assert shown(LINES) == "".join(f"{line}\n" for _, line in LINES)


def test_what_matters_stands_out() -> None:
    bold, dim, red = "\x1b[1m", "\x1b[2m", "\x1b[1;31m"
    told = shown(LINES, is_terminal=True)

    assert f'{bold}clarify in insurance: "rental cars"\x1b[0m' in told
    assert f"{bold}judgement\x1b[0m{dim}  (time=0.0..900 ms, 90%, rows=2)\x1b[0m" in told
    assert f"{red}  Error:\x1b[0m none of 3" in told
    assert f": grounded{dim}  (time=205 ms, tokens=310+41)\x1b[0m" in told
    assert "            How long (if at all) is it paid for? Answer: thirty days\n" in told


def test_the_kind_of_a_line_decides_and_not_its_words() -> None:
    asked = [("detail", '  Said before: "  Error: it is"'), ("detail", "  Error: no"), ("error", "  Mishap: yes")]
    told = shown(asked, is_terminal=True)
    assert "\n  Error: no\n" in told
    assert "\x1b[1;31m  Mishap:\x1b[0m yes" in told


@pytest.mark.parametrize("text", ["\x1b[2J", "\x07", "\u202egnp.exe", "a\rb", "\x9b31m"])
def test_hostile_text_is_shown_as_text(text: str) -> None:
    told = shown([LINES[0], ("label", f"  Stopped: [bold]{text}[/bold]")])

    assert "[bold]" in told
    assert text not in told
