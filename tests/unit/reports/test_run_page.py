"""The page of a run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pgclarify.data.vocabulary import Refusal
from pgclarify.reports.run_page import run_page
from pgclarify.reports.run_tables import RunReport
from tests.unit.reports.reported import (
    AT,
    HOSTILE,
    QUOTE,
    Page,
    check_page,
    finding,
    head,
    line,
    passage,
    proof,
    run_report,
)


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
    assert page.text.count(Refusal.BESIDE_THE_POINT.meaning) == 1
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


def test_a_citation_has_the_day_of_its_document() -> None:
    report = run_report()
    report.findings[0].citations[0]["dated"] = "2026-03-01T00:30:00+02:00"
    assert run_page(report).count("2026-02-28") == 1


def test_only_what_a_browser_may_follow_becomes_a_link() -> None:
    page = page_of(run_report())
    outside = {given["href"] for given in page.all("a") if not (given["href"] or "").startswith("#")}
    assert outside == {"https://example.com/letter?a=b&c=d"}
    assert "javascript:alert(1)" in page.text


def test_the_page_of_the_run_is_named_and_linked_if_its_address_is_known() -> None:
    assert "/run/42 of pgclarify ui" in page_of(run_report()).text
    for address, is_link in (("https://ask.example.com/run/42", True), ("javascript:alert(1)/run/42", False)):
        page = page_of(replace(run_report(), head=head(page=address)))
        assert address in page.text
        assert (address in {given["href"] for given in page.all("a")}) is is_link


def test_a_run_that_a_budget_ended_says_why_and_what_helps() -> None:
    spent = head(
        status="partial", stop_reason='budget "support" is spent', stop_meaning="no further call", stop_help="See it."
    )
    page = page_of(
        replace(run_report(), head=spent, findings=(), passages=(passage(1), passage(2, outcome="abstained")))
    )
    assert 'Why: no further call: budget "support" is spent. What helps: See it.' in page.text
    assert "1 of 2 passages judged." in page.text


def test_a_run_that_failed_says_why() -> None:
    failed = head(status="failed", error="the endpoint is gone", started_at=None, cost_usd=None, completions=None)
    page = Page(run_page(RunReport(failed, "reading", (), (), (), (line("clarify"),), AT)))
    assert "It failed: the endpoint is gone" in page.text
    assert "no price is known" in page.text


def test_steps_of_an_investigation_have_their_proof() -> None:
    first, second = passage(1, step_ordinal=1), passage(2, step_ordinal=2)
    steps = (
        finding("follow-up", 1, "Who insures it?", "Cobalt", proof(first, is_medoid=False), outcome="answered",
                confidence=0.5, reason="one of two"),
        finding("conclusion", 2, "Where is that?", None, outcome="not_in_corpus", reason="no evidence"),
    )  # fmt: skip
    report = replace(run_report(), noun="step", findings=steps, passages=(first, second))
    page = page_of(report)
    assert "follow-up, confidence 0.50, one of two" in page.text
    assert "not in corpus: no evidence" in page.text
    assert "in step 1" in page.text


def test_listed_answers_have_their_spellings() -> None:
    first = passage(1)
    listed = (finding("answer", 1, None, "Cobalt Car Hire", proof(first), variants=["Cobalt"]),)
    page = page_of(replace(run_report(), noun="answer", findings=listed, passages=(first,)))
    assert "1. Cobalt Car Hire" in page.text
    assert "also: Cobalt" in page.text


def test_a_search_has_passages_alone() -> None:
    found = (passage(1), passage(2))
    page = page_of(replace(run_report(), noun=None, findings=(), passages=found))
    assert "What it found" not in page.text
    assert "Letter 2" in page.text
