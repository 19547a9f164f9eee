"""The output of explain, from the pieces of lines that the server sends."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from pgclarify.cli.explaining import tree

BOLD, DIM, RED, END = "\x1b[1m", "\x1b[2m", "\x1b[1;31m", "\x1b[0m"
Line = dict[str, str]


def line(kind: str, body: str, *, indent: str = "  ", label: str = "", figures: str = "") -> Line:
    return {"kind": kind, "indent": indent, "label": label, "body": body, "figures": figures}


LINES = [
    line("head", 'clarify in insurance: "rental cars"', indent="", figures="  (run 42, succeeded, time=1,000 ms)"),
    line("detail", "Asked by alice at 2026-01-01 12:00:00 UTC, waited 12 ms for a worker"),
    line("detail", " retrieval=adaptive", label="Settings other than the defaults:"),
    line("error", " none of 3 passages could be judged", label="Error:"),
    line("node", "judgement", indent="  ->  ", figures="  (time=0.0..900 ms, 90%, rows=2)"),
    line(
        "detail", "#1  dense  0.8000  passage 1 of 101 (Coverage): grounded", indent=" " * 8, figures="  (time=205 ms)"
    ),
    line("detail", "How long (if at all) is it paid for? Answer: thirty days", indent=" " * 12),
    line("summary", " calls=2", label="Total:"),
]


def shown(lines: list[Line], *, is_terminal: bool = False) -> str:
    stream = io.StringIO()
    console = Console(file=stream, width=40, force_terminal=is_terminal, markup=False, highlight=False, _environ={})
    console.print(tree(lines), soft_wrap=True)
    return stream.getvalue()


def test_lines_are_as_the_server_sent_them() -> None:
    pieces = ("indent", "label", "body", "figures")
    assert shown(LINES) == "".join("".join(sent[piece] for piece in pieces) + "\n" for sent in LINES)


def test_explain_highlights_the_question_errors_and_results() -> None:
    told = shown(LINES, is_terminal=True)

    assert f'{BOLD}clarify in insurance: "rental cars"{END}{DIM}  (run 42' in told
    assert "  Settings other than the defaults: retrieval=adaptive\n" in told
    assert f"  {RED}Error:{END} none of 3" in told
    assert f"{DIM}  ->  {END}{BOLD}judgement{END}{DIM}  (time=0.0..900 ms, 90%, rows=2){END}" in told
    assert f": grounded{DIM}  (time=205 ms){END}" in told
    assert "            How long (if at all) is it paid for? Answer: thirty days\n" in told
    assert f"  {BOLD}Total:{END} calls=2" in told


@pytest.mark.parametrize("text", ["  ->  judgement", "  Error: it is", "  (rows=1)", "  ->  Error: a  (time=1 ms)"])
def test_text_that_looks_like_ours_is_styled_as_the_body_that_it_is(text: str) -> None:
    assert shown([line("detail", text)], is_terminal=True) == f"  {text}\n"
    assert shown([line("node", text, indent="  ->  ")], is_terminal=True) == f"{DIM}  ->  {END}{BOLD}{text}{END}\n"
    assert shown([line("summary", text, label="Stopped:")], is_terminal=True) == f"  {BOLD}Stopped:{END}{text}\n"


@pytest.mark.parametrize("text", ["\x1b[2J", "\x07", "\u202egnp.exe", "a\rb", "\x9b31m"])
def test_hostile_text_is_shown_as_text(text: str) -> None:
    told = shown([LINES[0], line("summary", f" [bold]{text}[/bold]", label="Stopped:")])

    assert "[bold]" in told
    assert text not in told
