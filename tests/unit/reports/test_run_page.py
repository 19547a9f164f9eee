"""The page of a run."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from pgclarify.reports.run_page import run_page
from pgclarify.reports.run_tables import Row, RunReport
from tests.unit.reports.reported import AT, HOSTILE, QUOTE, Page, check_page, finding, head, passage, proof, run_report


def page_of(report: RunReport) -> Page:
    page = Page(run_page(report))
    check_page(page)
    return page


@pytest.mark.parametrize("text", ["", HOSTILE], ids=["plain", "hostile"])
def test_all_that_a_run_found_is_told(text: str) -> None:
    page = page_of(run_report(text))
    for told in ("How much?", "$45", "supported by 2 documents", "the passage answers nothing", "the reply is no JSON"):
        assert told in page.text
    assert "not current" in page.text
    assert "not there any more, or not for you to read" in page.text
    assert "$0.012" in " ".join(page.text.split())


def test_hostile_text_is_shown_and_does_nothing() -> None:
    page = page_of(run_report(HOSTILE))
    assert "<script>window.__pwned = 1</script>" in page.text
    assert "{{ 7 * 7 }}" in page.text
    assert "\\u202egnp.exe\\u0000\\u001b[2J\\udc80" in page.text
    assert "__pwned" not in page.parts["script"] + page.parts["style"]
    # The page can be encoded.
    page.html.encode()


def test_quotes_are_marked_in_their_passages() -> None:
    html = run_page(run_report())
    assert html.count(f"Before. <mark>{QUOTE}</mark> After.") == 3 + 4


def test_only_what_a_browser_may_follow_becomes_a_link() -> None:
    page = page_of(run_report())
    outside = {given["href"] for given in page.all("a") if not (given["href"] or "").startswith("#")}
    assert outside == {"https://example.com/letter?a=b&c=d"}
    assert "javascript:alert(1)" in page.text


def test_a_run_that_a_budget_ended_says_so_and_not_that_nothing_answers() -> None:
    spent = head(status="partial", stop_reason='budget "support" is spent', is_over_budget=True)
    page = page_of(
        replace(run_report(), head=spent, findings=(), passages=(passage(1), passage(2, outcome="abstained")))
    )
    assert 'Cut short: budget "support" is spent.' in page.text
    assert "Nothing so far: 1 of 2 passages was judged." in page.text
    assert "no passage that was looked at" not in page.text


def test_a_run_that_failed_says_why() -> None:
    failed = head(status="failed", error="the endpoint is gone", started_at=None, cost_usd=None, completions=None)
    page = Page(run_page(RunReport(failed, (), (), (), ("clarify",), AT)))
    assert "It failed: the endpoint is gone" in page.text
    assert "no price is known" in page.text


def test_steps_of_an_investigation_have_their_proof() -> None:
    first, second = passage(1, step_ordinal=1), passage(2, step_ordinal=2)
    steps = (
        finding(1, "Who insures it?", "Cobalt", proof(first, is_medoid=False), kind="follow_up", outcome="answered",
                confidence=0.5, reason="one of two"),
        finding(2, "Where is that?", None, kind="conclusion", outcome="not_in_corpus", reason="no evidence"),
    )  # fmt: skip
    report = RunReport(head(operation="investigate"), steps, (first, second), run_report().stages, ("x",), AT)
    page = page_of(report)
    assert "follow up, confidence 0.50, one of two" in page.text
    assert "not in corpus: no evidence" in page.text
    assert "in step 1" in page.text


def test_a_passage_of_two_steps_leads_where_its_own_step_goes_on() -> None:
    def met(rank: int, step: int, of: int, via: int | None = None) -> Row:
        origin = "dense" if via is None else "neighbor"
        return passage(rank, passage_id=of, step_ordinal=step, via_passage_id=via, origin=origin)

    passages = (met(1, 1, 7), met(2, 1, 8, via=7), met(3, 2, 7), met(4, 2, 9, via=7))
    report = RunReport(head(operation="investigate"), (), passages, run_report().stages, ("x",), AT)
    html = run_page(report)
    assert re.findall(r'neighbor of <a href="#passage-(\d)">', html) == ["1", "3"]


def test_listed_answers_have_their_spellings() -> None:
    first = passage(1)
    listed = (finding(1, None, "Cobalt Car Hire", proof(first), variants=["Cobalt"]),)
    report = RunReport(head(operation="list_answers"), listed, (first,), run_report().stages, ("x",), AT)
    page = page_of(report)
    assert "1. Cobalt Car Hire" in page.text
    assert "also: Cobalt" in page.text


def test_a_search_has_passages_alone() -> None:
    found = (passage(1), passage(2))
    page = page_of(RunReport(head(operation="search"), (), found, run_report().stages, ("x",), AT))
    assert "What it found" not in page.text
    assert "Letter 2" in page.text
