"""The output of commands, from rows."""

from __future__ import annotations

import io
import unicodedata
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console, RenderableType

from pgclarify.cli import overview, rendering, result_rendering
from pgclarify.data.vocabulary import Refusal

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
        "dated": None,
        "place": "page 7",
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
        "older_hidden": None,
        "doubt": None,
        "level": None,
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
    row = {"rank": 1, "document_id": text, "title": text, "heading": None, "place": text}
    return {**row, "score": 0.03, "content": text}


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
        result_rendering.readings(text, [row | {"is_contested": True, "doubt": text}]),
        result_rendering.passages(text, [near(text * 50)]),
        rendering.warning(text or "x", text),
        result_rendering.nothing_found(text, text, run=ended(text), passages=[near(text)], pending=1),
        rendering.empty_corpus(text),
        result_rendering.investigation(
            text,
            [
                investigation(
                    step(question=text, answer=text, citations=row["citations"]),
                    unanswered("failed", text or None, question=text),
                    step(kind="conclusion", answer=text, citations=row["citations"]),
                )
            ],
        ),
        result_rendering.investigation(text, [investigation(unanswered("not_in_corpus", text or None))]),
        rendering.failure(text or "x", text, text),
        rendering.loaded(text, 1, 1, is_searchable=True, skipped={}),
        rendering.listed("1 failed:", [text], text),
        rendering.psql_table([{"answer": text}]),
        rendering.columns({"model": text}),
        overview.status(state(text, [worker], [corpus])),
        rendering.statement(text, "select 1;"),
    ]


def state(text: str, workers: list[Any], corpora: list[Any]) -> dict[str, Any]:
    server = {"version": text, "database": text, "place": text, "listens_on": None}
    now = datetime.now(UTC)
    asked = {"run_id": 1, "status": text, "operation": text, "interpretations": None, "seconds": 1.0, "corpus": None}
    return {
        "server": server,
        "workers": workers,
        "queue": IDLE,
        "corpora": corpora,
        "sources": [{"corpus": text, "relation": text, "pending_changes": 1, "state": text, "error": text}],
        "recent_runs": [asked | {"question": text}],
        "recent_errors": [{"run_id": 1, "status": text, "reason": text, "failed": 1, "finished_at": now}],
    }


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


def test_what_cannot_be_loaded_is_listed_by_reason_and_a_long_list_is_cut() -> None:
    lines = [f"cannot read line {number}" for number in range(1, 23)]
    single, many = rendering.problems({"There is no id.": lines, "It is a picture.": ["cannot read a.png"]})
    assert single.plain == "1 could not be loaded:\n  cannot read a.png: It is a picture."
    assert many.plain.startswith("22 could not be loaded: There is no id.\n  cannot read line 1\n")
    assert many.plain.endswith("\n  cannot read line 20\n  ... and 2 more")


def test_skipped_pictures_have_a_hint_and_other_files_have_none() -> None:
    assert "--ocr" in rendering.skipped({".png": 2, ".exe": 1}, {".png"}).plain
    assert "--ocr" not in rendering.skipped({".exe": 1}, {".png"}).plain


def test_the_overview_says_how_to_begin_and_what_waits() -> None:
    empty = shown(overview.status(state("x", [], [])))
    assert "pgclarify up" in empty
    assert "pgclarify load" in empty
    loading = state("x", [], []) | {"queue": IDLE | {"pending_documents": 2, "pending_passages": 1200}}
    assert "about 1,200 passages of 2 documents" in shown(overview.status(loading))


def test_readings_number_their_citations_through() -> None:
    output = shown(result_rendering.readings("rental cars", [reading(), reading(ordinal=2, citations=[citation()])]))
    assert '2 readings of "rental cars"' in output
    assert "1. How much is paid for a rental car during repairs?" in output
    assert "supported by 2 documents" in output
    assert "[1] rental-reimbursement.md  Endorsement RR-3 > What we pay  page 7\n" in output
    assert "[2] auto-faq.md  FAQ > Will I?  page 7\n" in output
    assert "[3] rental-reimbursement.md" in output
    assert '"We pay up to $45 a day."' in output


@pytest.mark.parametrize("doubt", [Refusal.BESIDE_THE_POINT, "of_a_newer_server"])
def test_a_reading_says_what_a_check_doubts(doubt: str) -> None:
    output = " ".join(shown(result_rendering.readings("q", [reading(doubt=doubt)])).split())
    assert (Refusal.BESIDE_THE_POINT.meaning if doubt in set(Refusal) else doubt) in output


def test_copies_of_one_text_are_not_told_as_several_supports() -> None:
    copied = reading(support=1, document_ids=["a", "b", "c"])
    assert "1 text in 3 documents" in shown(result_rendering.readings("q", [copied]))


@pytest.mark.parametrize(("found", "kept", "said"), [(2, 4, True), (2, 0, False), (6, 0, False)])
def test_what_is_less_sure_is_one_step_away(found: int, kept: int, *, said: bool) -> None:
    told = result_rendering.less_sure([reading()] * found, {"interpretations": 2, "less_sure": kept})
    assert (told is not None and "--include all" in shown(told)) is said


@pytest.mark.parametrize(("kept", "be"), [(1, "is"), (2, "are")])
def test_one_reading_that_is_less_sure_is_not_told_as_several(kept: int, be: str) -> None:
    told = result_rendering.less_sure([reading()], {"interpretations": 1, "less_sure": kept})
    assert told is not None and f" {be} less sure" in shown(told)


def test_an_answer_that_was_given_before_names_no_cost() -> None:
    assert "0.0041" in shown(result_rendering.explain_hint(33, Decimal("0.0041")))
    assert "0.0041" not in shown(result_rendering.explain_hint(33, Decimal("0.0041"), is_served=True))


def test_a_citation_of_a_changed_document_says_so() -> None:
    current = shown(result_rendering.readings("q", [reading(citations=[citation()])]))
    stale = shown(result_rendering.readings("q", [reading(citations=[citation(is_current=False)])]))
    assert "not current" not in current
    assert "not current" in stale


def test_a_citation_says_the_day_of_its_document_in_utc() -> None:
    for dated in ("2026-03-01T00:30:00+02:00", datetime(2026, 2, 28, 22, 30, tzinfo=UTC)):
        assert "2026-02-28" in shown(result_rendering.readings("q", [reading(citations=[citation(dated=dated)])]))


def test_a_run_that_ended_early_says_why_and_what_helps() -> None:
    run = ended("budget", stop_reason=f'budget "a" is spent{HOSTILE}', meaning="it is spent", help="See view budget.")
    why, helps = (shown(part) for part in result_rendering.ending(run))
    assert why.startswith('\nWhy: it is spent (budget): budget "a" is spent')
    assert "\x1b" not in why
    assert helps == "What helps: See view budget.\n"
    assert result_rendering.ending(ended("", meaning=None)) == []


def test_kinds_of_text_that_were_skipped_stand_on_the_first_line() -> None:
    told = rendering.loaded("shed", 3, 0, is_searchable=True, skipped={".xml": 26, ".png": 4, "empty file": 1}).plain
    assert "26 .xml" in told
    assert "all is searchable" not in told
    assert ".png" not in told and "empty" not in told


def test_lines_of_one_file_with_one_reason_are_told_in_one_line() -> None:
    lines = [f"cannot read {place} of a.csv" for place in ("line 2", "lines 3 to 4", "line 5")]
    (told,) = rendering.problems({"There is no id.": [*lines, "line 2 of b.csv cannot be stored"]})
    head, *shown_lines = told.plain.splitlines()
    assert head.startswith("4 ")
    assert len(shown_lines) == 2
    assert "line 2 of a.csv" in shown_lines[0] and " 2 " in shown_lines[0]
    assert "line 2 of b.csv" in shown_lines[1]


def test_kinds_of_what_is_not_read_are_plural_if_there_are_several() -> None:
    one, many = rendering.not_read({"a": {"picture": 1}, "b": {"page without text": 2, "member (.png)": 3}})
    assert one.plain.endswith(" 1 picture")
    assert many.plain.endswith(" 2 pages without text, 3 members (.png)")


def test_documents_of_a_new_corpus_were_not_changed() -> None:
    assert "changed" in rendering.loaded("shed", 3, 0, is_searchable=True, skipped={}).plain
    assert "changed" not in rendering.loaded("shed", 3, 0, is_searchable=True, skipped={}, is_new=True).plain


def test_a_table_has_no_empty_columns_and_keeps_names_whole_to_copy() -> None:
    name = "policies/travel/abroad-and-at-home.md"
    told = shown(rendering.table(("id", "title", "author", "error"), [(name, "Travel " * 20, None, None)]), width=80)
    assert name in told
    assert "author" not in told and "error" not in told


def test_a_name_that_is_longer_than_the_terminal_is_shown_with_all_its_letters() -> None:
    name = "".join(f"{number:04}" for number in range(50))
    told = shown(rendering.table(("id", "title"), [(name, "Travel")]), width=80)
    assert name in told.replace("\n", "").replace(" ", "").replace("Travel", "")


def test_suffixes_have_no_plural_and_other_kinds_of_skipped_files_have_one() -> None:
    told = rendering.skipped({".png": 2, "file without an extension": 2, "link out of the folder": 2}).plain
    assert "2 .png" in told and ".pngs" not in told
    assert "2 files without an extension" in told
    assert "2 links out of the folder" in told
