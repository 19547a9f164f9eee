"""The output of commands, from rows."""

from __future__ import annotations

import io
import unicodedata
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console, RenderableType

from pgclarify.cli import overview, rendering

HOSTILE = "\x1b[2J\x1b]0;owned\x07[bold red]loud[/bold red] \u202egnp.exe\r\nnext\x9b31m :smile:"

IDLE = {"queued": 0, "running": 0, "pending_documents": 0, "pending_passages": 0}


def shown(renderable: RenderableType, *, is_terminal: bool = False, width: int = 100) -> str:
    stream = io.StringIO()
    console = Console(
        file=stream, width=width, force_terminal=is_terminal, markup=False, highlight=False, emoji=False, _environ={}
    )
    console.print(renderable)
    return stream.getvalue()


def citation(**changes: Any) -> dict[str, Any]:
    return {
        "rank": 1,
        "is_medoid": True,
        "document_id": "rental-reimbursement.md",
        "title": "Endorsement RR-3",
        "uri": None,
        "passage_id": 7,
        "heading": "Endorsement RR-3 > What we pay",
        "quote": "We pay up to $45\na day.",
        "start_char": 10,
        "end_char": 33,
        "is_current": True,
    } | changes


def reading(**changes: Any) -> dict[str, Any]:
    return {
        "run_id": 1,
        "status": "succeeded",
        "ordinal": 1,
        "interpretation": "How much is paid for a rental car during repairs?",
        "answer": "up to $45 a day",
        "support": 2,
        "cohesion": 0.9,
        "is_contested": False,
        "document_ids": ["rental-reimbursement.md", "auto-faq.md"],
        "citations": [citation(), citation(document_id="auto-faq.md", title="FAQ", heading="Will I?")],
    } | changes


def step(**changes: Any) -> dict[str, Any]:
    return {
        "ordinal": 1,
        "kind": "follow_up",
        "question": "Who insures them?",
        "answer": "Acme",
        "outcome": "answered",
        "confidence": 0.754,
        "reason": None,
        "abstention_code": None,
        "citations": [citation()],
    } | changes


def unanswered(outcome: str, reason: str | None = None, **changes: Any) -> dict[str, Any]:
    """A step without an answer."""
    return step(answer=None, confidence=None, outcome=outcome, reason=reason, citations=[]) | changes


def investigation(*steps: dict[str, Any], status: str = "succeeded") -> dict[str, Any]:
    """A row of investigate, whose conclusion is the last step."""
    end = {name: steps[-1][name] for name in ("outcome", "answer", "confidence", "citations")}
    return end | {"run_id": 1, "status": status, "steps": list(steps)}


def ended(text: str, **changes: Any) -> dict[str, Any]:
    """A run without a result, from CommandClient.runs."""
    return {
        "stop_code": text,
        "stop_reason": text,
        "meaning": text,
        "help": text,
        "judged": 3,
        "candidates": 20,
    } | changes


def near(text: str) -> dict[str, Any]:
    """A row of Client.closest_passages."""
    return {"rank": 1, "document_id": text, "title": text, "heading": None, "score": 0.03, "content": text}


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("run 7 failed", "Run 7 failed"),
        ("pgclarify is not installed", "pgclarify is not installed"),
        ("pg_config cannot be run", "pg_config cannot be run"),
        ("http://localhost/v1 cannot be reached", "http://localhost/v1 cannot be reached"),
    ],
)
def test_only_words_are_capitalized(message: str, shown: str) -> None:
    assert rendering.failure(message).plain == f"Error: {shown}."


def every_rendering(text: str) -> list[RenderableType]:
    row = reading(
        interpretation=text,
        answer=text,
        citations=[citation(document_id=text, title=text, heading=text, quote=text, is_current=False)],
    )
    worker = {"is_alive": True, "provider": text, "model": text, "host": text, "version": text}
    corpus = dict.fromkeys(
        ("documents", "passages", "pending", "pending_passages", "embedded", "linked", "failed"), 1
    ) | {"corpus": text}
    return [
        rendering.readings(text, [row]),
        rendering.nothing_found(text, text, run=ended(text), passages=[near(text)], pending=1),
        rendering.empty_corpus(text),
        rendering.investigation(
            text,
            [
                investigation(
                    step(question=text, answer=text, citations=row["citations"]),
                    unanswered("failed", text or None, question=text),
                    step(kind="conclusion", answer=text, citations=row["citations"]),
                )
            ],
        ),
        rendering.investigation(text, [investigation(unanswered("contradicted", text or None))]),
        rendering.failure(text or "x", text, text),
        rendering.loaded(text, 1, 1, is_searchable=True),
        rendering.listed("1 failed:", [text], text),
        rendering.psql_table([{"answer": text, "document_ids": [text]}]),
        rendering.columns({"model": text}),
        overview.status(state(text, [worker], [corpus])),
        rendering.statement(text, "select 1;"),
    ]


def state(text: str, workers: list[Any], corpora: list[Any]) -> dict[str, Any]:
    server = {"version": text, "database": text, "place": text, "listens_on": None}
    nothing: dict[str, Any] = {name: [] for name in ("sources", "tight_budgets", "recent_runs", "recent_errors")}
    return nothing | {"server": server, "workers": workers, "queue": IDLE, "corpora": corpora}


def test_printable_neutralizes_what_a_terminal_would_act_on() -> None:
    assert rendering.printable(HOSTILE) == (
        "\\u001b[2J\\u001b]0;owned\\u0007[bold red]loud[/bold red] \\u202egnp.exe next\\u009b31m :smile:"
    )


def test_printable_keeps_letters_of_all_scripts() -> None:
    text = "naïve 東京 عربى 👩\u200d👧 „quoted“"
    assert rendering.printable(text) == text


@given(st.text())
def test_no_rendering_lets_control_characters_through(text: str) -> None:
    for renderable in every_rendering(text):
        output = shown(renderable)
        assert not [c for c in output if c != "\n" and unicodedata.category(c) in {"Cc", "Zl", "Zp", "Cs"}]


@pytest.mark.parametrize("renderable", every_rendering(HOSTILE), ids=lambda renderable: type(renderable).__name__)
def test_hostile_text_is_shown_as_text_even_on_a_terminal(renderable: RenderableType) -> None:
    output = shown(renderable, is_terminal=True, width=300)
    # Our own styles may be in the output; control sequences of the text may not.
    assert "\x1b[2J" not in output
    assert "\x1b]" not in output
    assert "\x07" not in output
    assert "\u202e" not in output
    assert "[bold red]loud[/bold red]" in output


def test_readings_number_their_citations_through() -> None:
    output = shown(rendering.readings("rental cars", [reading(), reading(ordinal=2, citations=[citation()])]))
    assert '2 readings of "rental cars"' in output
    assert "1. How much is paid for a rental car during repairs?" in output
    assert "supported by 2 documents" in output
    assert "[1] rental-reimbursement.md  Endorsement RR-3 > What we pay\n" in output
    assert "[2] auto-faq.md  FAQ, Will I?\n" in output
    assert "[3] rental-reimbursement.md" in output
    assert '"We pay up to $45 a day."' in output


def test_steps_show_what_proves_them() -> None:
    output = shown(rendering.investigation("Who?", [investigation(step(), step(ordinal=2))]))
    assert output.splitlines()[6:12] == [
        "2. Who insures them?",
        "   Acme",
        "   confidence 0.75",
        "   [2] rental-reimbursement.md  Endorsement RR-3 > What we pay",
        '       "We pay up to $45 a day."',
        "",
    ]


@pytest.mark.parametrize("outcome", ["not_in_corpus", "repeated", "contradicted", "cut_off", "failed"])
def test_steps_without_an_answer_say_why(outcome: str) -> None:
    output = shown(rendering.investigation("Who?", [investigation(unanswered(outcome, "nobody knows"))])).splitlines()
    assert output[0] == "1. Who insures them?"
    assert output[1] == f"   {outcome.replace('_', ' ')} (nobody knows)"


def test_an_investigation_ends_with_its_answer() -> None:
    end = step(kind="conclusion", ordinal=2)
    output = shown(rendering.investigation("Who?", [investigation(step(), end)]))
    assert output.startswith("1. Who insures them?\n")
    assert 'Answer to "Who?", with its proof\n   Acme\n   confidence 0.75\n   [2] rental' in output


def test_an_investigation_without_an_answer_says_why() -> None:
    output = shown(rendering.investigation("Who?", [investigation(unanswered("cut_off", "the limit is reached"))]))
    assert output.splitlines()[-1] == 'There is no answer to "Who?": the limit is reached'


def test_long_readings_wrap_behind_their_numbers_and_leave_no_blanks() -> None:
    rows = [reading(ordinal=10, interpretation="why " * 30, citations=[citation(quote="so " * 40)])]
    lines = shown(rendering.readings("q", rows), width=40).splitlines()
    start = next(index for index, line in enumerate(lines) if line.startswith("10. why"))
    assert lines[start + 1].startswith("    why")
    assert max(len(line) for line in lines) <= 40
    assert all(line == line.rstrip() for line in lines)


def test_a_citation_of_a_changed_document_says_so() -> None:
    current = shown(rendering.readings("q", [reading(citations=[citation()])]))
    stale = shown(rendering.readings("q", [reading(citations=[citation(is_current=False)])]))
    assert "has changed since" not in current
    assert "has changed since" in stale


def test_a_run_that_ended_early_says_why_and_what_helps() -> None:
    run = ended("budget", stop_reason=f'budget "a" is spent{HOSTILE}', meaning="it is spent", help="See view budget.")
    why, helps = (shown(part) for part in rendering.ending(run))
    assert why.startswith('\nWhy: it is spent (budget): budget "a" is spent')
    assert "\x1b" not in why
    assert helps == "What helps: See view budget.\n"
    assert rendering.ending(ended("", meaning=None)) == []


def test_nothing_found_says_why_and_what_comes_closest() -> None:
    passages = [near("hail.md") | {"content": "Hail is covered. " * 40}]
    run = ended("not_answered", stop_reason=None)
    output = shown(rendering.nothing_found("what's up", "o'brien", run=run, passages=passages, pending=0))
    assert output.startswith("No answer to \"what's up\" was found in the corpus o'brien: 3 of 20 passages judged.\n")
    assert "Why: not_answered (not_answered).\nWhat helps: not_answered\n" in output
    assert "1. hail.md" in output
    assert len(output) < 800, "only the beginning of a passage is shown"
    waiting = shown(rendering.nothing_found("q", None, run=run, passages=[], pending=3))
    assert "3 documents of this corpus cannot be searched yet" in waiting


def test_psql_table_looks_as_psql_prints_it() -> None:
    rows: list[dict[str, Any]] = [
        {"ordinal": 1, "interpretation": "How much?", "support": 2, "document_ids": ["a.md", "b.md"]},
        {"ordinal": 2, "interpretation": None, "support": 11, "document_ids": []},
    ]
    assert [line.rstrip() for line in shown(rendering.psql_table(rows)).splitlines()] == [
        " ordinal | interpretation | support | document_ids",
        "---------+----------------+---------+--------------",
        "       1 | How much?      |       2 | {a.md,b.md}",
        "       2 |                |      11 | {}",
        "(2 rows)",
    ]


def test_a_row_has_a_line_for_each_column() -> None:
    row = {"calls": 42, "cost_usd": Decimal("0.004977"), "model": None}
    assert [line.split() for line in shown(rendering.columns(row)).splitlines()] == [
        ["calls", "42"],
        ["cost_usd", "0.004977"],
        ["model"],
    ]


def test_figures_stand_on_the_right() -> None:
    rows = [("calls", rendering.Figure("+9"), 1), ("seconds", rendering.Figure("+10"), 20)]
    assert shown(rendering.table(("figure", "B - A", "n"), rows)).splitlines() == [
        "figure   B - A   n",
        "calls       +9   1",
        "seconds    +10  20",
    ]


def test_psql_table_wraps_within_the_width() -> None:
    output = shown(rendering.psql_table([{"answer": "word " * 40, "ids": ["x" * 90]}]), width=60)
    assert max(len(line) for line in output.splitlines()) <= 60
    assert output.replace("\n", "").count("word") == 40


def test_cost_and_warnings_of_a_run_are_shown() -> None:
    assert "run 17 ($0.0012): pgclarify explain 17" in shown(rendering.explain_hint(17, Decimal("0.00123")))
    assert "run 17: pgclarify explain 17" in shown(rendering.explain_hint(17, Decimal(0)))
    said = shown(rendering.warning('run 17 is partial: budget "support" is spent', "See: budget."))
    assert 'Warning: Run 17 is partial: budget "support" is spent.' in said
    assert "Hint: See: budget." in said


@pytest.mark.parametrize(
    ("changed", "unchanged", "expected"),
    [
        (1, 0, "1 document added to c or changed there: all is searchable."),
        (2, 3, "2 documents added to c or changed there, 3 unchanged: all is searchable."),
        (0, 3, "Nothing new: c holds 3 documents, none of which changed."),
        (0, 0, "Nothing was loaded."),
    ],
)
def test_a_load_is_summed_up(changed: int, unchanged: int, expected: str) -> None:
    assert shown(rendering.loaded("c", changed, unchanged, is_searchable=True)).strip() == expected
