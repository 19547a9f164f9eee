"""What the page shows and sends, over made-up rows."""

from __future__ import annotations

import re
from typing import Any

import pytest

from pgclarify.errors import CallCancelled, DatabaseBusy, InputError, NotFound, ServerUnavailable
from tests.unit.page.asked import (
    DOCUMENT,
    FORM,
    FakeDatabase,
    client,
    database,
    document_row,
    progress,
    quote_row,
    report_row,
    surroundings,
)
from tests.unit.reports.reported import HOSTILE, QUOTE, Page

# What the page shows where a run is shown.
RUN = "/run/42"


def page(fake: FakeDatabase, path: str = RUN) -> Page:
    answer = client(fake).get(path)
    assert answer.status_code == 200, answer.text
    return Page(answer.text)


class TestAsking:
    def test_a_question_with_all_that_narrows_it_is_submitted(self) -> None:
        fake = database()
        form = {
            "question": " rental cars ", "corpus": "claims", "filter": '{"year": 2026}',
            "history": "Who insures it?\r\n\r\nWe do.",
        }  # fmt: skip
        answer = client(fake).post("/ask", headers=FORM, data=form)
        assert (answer.status_code, answer.headers["location"]) == (303, RUN)
        asked = {
            "question": "rental cars", "corpus": "claims", "filter": {"year": 2026},
            "history": ["Who insures it?", "We do."],
        }  # fmt: skip
        assert fake.sent == [(None, True, "clarify", asked)]

    @pytest.mark.parametrize("wrong", ["[1]", "{", "7", "x" * 50, "[" * 5000])
    def test_a_filter_that_is_no_object_is_told_and_the_form_is_kept(self, wrong: str) -> None:
        fake = database()
        answer = client(fake).post("/ask", headers=FORM, data={"question": "rental cars", "filter": wrong})
        assert answer.status_code == 400
        assert "rental cars</textarea>" in answer.text
        assert [name for *_, name, _ in fake.sent if name == "clarify"] == []

    def test_an_estimate_shows_what_it_costs_and_what_is_left(self) -> None:
        budget = {"name": "support", "left_usd": 3.5, "left_calls": None, "period": "month"}
        fake = database(page_read_surroundings=surroundings(models=["small"], budgets=[budget]))
        whole = client(fake).post("/estimate", headers=FORM, data={"question": "rental cars", "corpus": "claims"})
        told = " ".join(Page(whole.text).text.split())
        assert "$0.012" in told
        assert "$3.50" in told
        part = client(fake).post("/estimate?part=estimate", headers=FORM, data={"question": "rental cars"})
        assert "<html" not in part.text
        assert "$0.012" in part.text

    def test_budgets_follow_in_sentences_of_their_own(self) -> None:
        budgets = [
            {"name": name, "left_usd": None, "left_calls": 5, "period": period}
            for name, period in (("a", "day"), ("b", "month"), ("c", "total"))
        ]
        around = surroundings(models=["a-model"], budgets=budgets)
        text = " ".join(page(database(page_read_surroundings=around), "/").text.split())
        assert (
            "read by a-model. Left of budget a: 5 calls today. Left of budget b: 5 calls this month."
            " Left of budget c: 5 calls in total." in text
        )

    def test_without_a_worker_it_says_so(self) -> None:
        assert "No worker is running" in page(database(page_read_surroundings=surroundings(has_worker=False)), "/").text


class TestARun:
    def test_readings_have_quotes_that_lead_to_their_document(self) -> None:
        shown = page(database())
        quotes = [link["href"] for link in shown.all("a") if link.get("class") == "quote"]
        assert quotes == [f"{RUN}?quote={place}#quote" for place in ("1.1", "1.2", "2.1")]

    def test_a_quote_is_marked_in_its_document_at_its_offsets(self) -> None:
        twice = f"{QUOTE} is said twice. {DOCUMENT}"
        at = twice.rindex(QUOTE)
        html = client(database(page_read_document=document_row(twice, quote_start=at))).get(f"{RUN}?quote=1.1").text
        before, _, rest = html.partition('<mark id="quote" tabindex="-1">')
        assert rest.startswith(f"{QUOTE}</mark>")
        assert QUOTE in before[before.index('class="text"') :]
        assert "page 7" in html
        part = client(database()).get(f"{RUN}?quote=1.1&part=document").text
        assert "<html" not in part
        assert f">{QUOTE}</mark>" in part

    def test_a_quote_that_is_gone_is_told_and_nothing_is_marked(self) -> None:
        for gone in ({"quote_start": None}, None):
            rows: list[Any] = [] if gone is None else [document_row("Another text.", **gone)]
            shown = client(database(page_read_document=rows)).get(f"{RUN}?quote=1.1")
            assert shown.status_code == 200
            assert "<mark" not in shown.text[shown.text.index('<section id="document"') :]
            assert "The quote was" in shown.text

    def test_less_sure_readings_are_counted_and_shown_apart(self) -> None:
        row = report_row()
        row["report"]["findings"][1]["is_shown"] = False
        fake = database(report_run=row)
        html = client(fake).get(RUN).text
        sure, _, others = html.partition('id="less-sure"')
        less_sure, _, after = others.partition("</details>")
        assert 'id="finding-1"' in sure
        assert 'id="finding-2"' not in sure + after
        assert 'id="finding-2"' in less_sure
        # The view of quotes has only those of readings that are shown.
        quotes = [link["href"] for link in page(fake).all("a") if link.get("class") == "quote"]
        assert quotes == [f"{RUN}?quote=1.1#quote", f"{RUN}?quote=1.2#quote", f"{RUN}?passage=3#quote"]

    def test_a_less_sure_reading_can_be_rated_and_is_open_once_it_is(self) -> None:
        row = report_row()
        row["report"]["findings"][1]["is_shown"] = False
        for said, attribute in (
            ([], ""),
            ([{"ordinal": 2, "rating": "wrong", "comment": None, "missing": None}], " open"),
        ):
            fake = database(report_run=row, page_read_ratings=said)
            whole = client(fake).get(RUN).text
            tag, _, less_sure = whole.partition('id="less-sure"')[2].partition(">")
            assert tag == attribute
            assert '<input type="hidden" name="ordinal" value="2">' in less_sure.partition("</section>")[0]
            assert ('value="" aria-pressed="true">Wrong' in less_sure) is bool(said)

    def test_what_was_read_and_not_shown_says_why(self) -> None:
        html = client(database()).get(RUN).text
        part = html[html.index('id="not-shown"') : html.index('class="more"')]
        assert "the passage answers nothing" in part
        assert "the reply is no JSON" in part

    def test_a_partial_run_says_why_it_is_partial(self) -> None:
        row = report_row(status="partial", stop_meaning="a budget is spent", stop_help="Wait for the next day.")
        assert "Only a part: a budget is spent" in page(database(report_run=row)).text

    def test_nothing_found_shows_why_and_the_closest_passages(self) -> None:
        row = report_row(stop_meaning="no passage answers it", stop_help="Add documents.")
        row["report"]["findings"] = []
        text = page(database(report_run=row)).text
        assert "No reading was found" in text
        assert "Why: no passage answers it" in text
        assert "The closest passages" in text

    def test_a_run_that_goes_on_shows_how_far_it_is_and_can_be_cancelled(self) -> None:
        going = progress(status="running", is_over=False, verdicts=3)
        fake = database(page_read_progress=going, report_run=report_row(status="running", finished_at=None))
        shown = page(fake)
        assert "3 of 7 passages judged" in shown.text
        assert f"{RUN}/cancel" in {form["action"] for form in shown.all("form")}
        assert client(fake).get(f"{RUN}?part=progress").status_code == 200
        assert client(database()).get(f"{RUN}?part=progress").status_code == 204
        answer = client(fake).post(f"{RUN}/cancel", headers=FORM, data={"sure": "yes"})
        assert answer.status_code == 303
        assert fake.sent[-1] == (None, True, "cancel", {"run_ids": [42]})

    def test_a_run_of_another_role_cannot_be_cancelled_here(self) -> None:
        going = progress(status="running", is_over=False, is_own=False)
        fake = database(page_read_progress=going, report_run=report_row(finished_at=None))
        assert "/cancel" not in client(fake).get(RUN).text

    def test_looking_stores_nothing(self) -> None:
        fake = database()
        for path in ("/", RUN, f"{RUN}?quote=1.1", f"{RUN}?passage=5", f"{RUN}?part=progress"):
            client(fake).get(path)
        assert {may_store for _, may_store, *_ in fake.sent} == {False}

    def test_a_run_that_is_not_there_is_not_found(self) -> None:
        assert client(database(report_run=[])).get(RUN).status_code == 404
        assert client(database(page_find_quote=[])).get(f"{RUN}?quote=9.9").status_code == 404
        for path in ("/run/x", "/run/-1", "/run/9999999999999999999999", "/run/1e3", "/run/٣", "/run/42/", "/nothing"):
            assert client(database()).get(path).status_code == 404

    def test_a_strange_part_of_an_address_is_left_out(self) -> None:
        for strange in (
            "quote=1",
            "quote=1.1.1",
            "quote=٣.1",
            "passage=-1",
            "passage=99999999999",
            "part=x",
            "from=1e9",
        ):
            assert client(database()).get(f"{RUN}?{strange}").status_code == 200


class TestFeedback:
    def test_a_rating_is_kept_and_the_document_stays(self) -> None:
        fake = database()
        form = {"ordinal": "2", "rating": "wrong", "comment": " too old ", "back": "quote=1.1"}
        answer = client(fake).post(f"{RUN}/feedback", headers=FORM, data=form)
        assert answer.headers["location"] == f"{RUN}?quote=1.1#finding-2"
        said = {"run_id": 42, "ordinal": 2, "rating": "wrong", "comment": "too old", "missing": None}
        assert fake.sent == [(None, True, "page_give_feedback", said)]

    def test_the_rating_that_it_has_takes_it_back(self) -> None:
        rated = {"ordinal": 1, "rating": "right", "comment": "yes", "missing": None}
        shown = page(database(page_read_ratings=rated))
        pressed = [one for one in shown.all("button") if one.get("aria-pressed") == "true" and one.get("name")]
        assert [one["value"] for one in pressed] == [""]
        fake = database()
        client(fake).post(f"{RUN}/feedback", headers=FORM, data={"ordinal": "1", "rating": "", "comment": "yes"})
        assert fake.sent[0][3] == {"run_id": 42, "ordinal": 1, "rating": None, "comment": None, "missing": None}

    def test_a_missing_answer_is_kept(self) -> None:
        fake = database()
        client(fake).post(f"{RUN}/feedback", headers=FORM, data={"missing": "thirty days"})
        said = {"run_id": 42, "ordinal": None, "rating": None, "comment": None, "missing": "thirty days"}
        assert fake.sent[0][3] == said
        told = {"ordinal": None, "rating": None, "comment": None, "missing": "thirty days"}
        assert "thirty days" in page(database(page_read_ratings=told)).text

    @pytest.mark.parametrize("back", ["//evil.example", "quote=1.1#x", "quote=a", "https://evil.example", "\r\nx: y"])
    def test_it_leads_nowhere_else(self, back: str) -> None:
        form = {"ordinal": "1", "rating": "right", "back": back}
        answer = client(database()).post(f"{RUN}/feedback", headers=FORM, data=form)
        assert answer.headers["location"] == f"{RUN}#finding-1"

    def test_a_number_that_is_none_is_refused(self) -> None:
        fake = database()
        answer = client(fake).post(f"{RUN}/feedback", headers=FORM, data={"ordinal": "x", "rating": "right"})
        assert answer.status_code == 400
        assert "page_give_feedback" not in {name for *_, name, _ in fake.sent}


class TestHostileText:
    FAKE = database(
        report_run=report_row(HOSTILE),
        page_read_surroundings=surroundings(
            seen_by=f"alice{HOSTILE}", corpora=[HOSTILE], models=[HOSTILE],
            budgets=[{"name": HOSTILE, "left_usd": 1.0, "left_calls": 2, "period": "day"}],
        ),
        page_list_questions=[
            {"run_id": 41, "operation": "clarify", "question": HOSTILE, "corpus": HOSTILE, "status": "succeeded",
             "created_at": report_row()["created_at"], "interpretations": 1}
        ],
        page_find_quote=quote_row(HOSTILE),
        page_read_document=document_row(
            f"{HOSTILE}{QUOTE}{HOSTILE}", title=HOSTILE, uri=f"javascript:alert(1){HOSTILE}", place=HOSTILE,
            places=[{"start_char": 5, "kind": "page", "name": HOSTILE}],
        ),
        page_list_copies=[{"rank": 2, "document_id": HOSTILE, "title": None, "dated": None, "ordinal": None,
                           "citation_rank": None}],
        page_read_ratings=[{"ordinal": 1, "rating": "right", "comment": HOSTILE, "missing": None},
                           {"ordinal": None, "rating": None, "comment": None, "missing": HOSTILE}],
    )  # fmt: skip

    @pytest.mark.parametrize(
        "path", ["/", RUN, f"{RUN}?quote=1.1", f"{RUN}?passage=5", f"{RUN}?quote=1.1&part=document"]
    )
    def test_it_is_shown_and_does_nothing(self, path: str) -> None:
        shown = page(self.FAKE, path)
        # The page's own form has the text as the value of an attribute, and areas have it as a text.
        assert "<script>window.__pwned = 1</script>" in shown.text
        assert {tag for tag, _ in shown.tags} & {"img", "iframe", "object", "embed", "base"} == set()
        assert [given.get("src") for given in shown.all("script")] in ([], ["/static/page.js?0.4.0"])
        assert not [name for _, given in shown.tags for name in given if name.startswith("on")]
        addresses = {given.get("href") or given.get("action") or "" for _, given in shown.tags}
        assert {one for one in addresses if one and not re.match(r"[/#]|https://example\.com/", one)} == set()
        assert "{{ 7 * 7 }}" in shown.text
        shown.html.encode()

    def test_a_question_of_an_address_is_only_text(self) -> None:
        shown = page(database(), "/?question=%3C/textarea%3E%3Cscript%3Ex%3C/script%3E&filter=%22%3E%3Cb%3E")
        assert len(shown.all("script")) == 1
        assert shown.all("b") == [{}]


class TestErrors:
    @pytest.mark.parametrize(
        ("error", "status"),
        [
            (NotFound("no such corpus"), 404),
            (InputError("top_k is wrong"), 400),
            (ServerUnavailable("no server"), 503),
            (DatabaseBusy("no connection came free"), 503),
            (CallCancelled("statement timeout"), 503),
        ],
    )
    def test_they_are_told_with_what_to_do(self, error: Exception, status: int) -> None:
        class Failing(FakeDatabase):
            def writing(self, role: str | None) -> Any:
                raise error

        answer = client(Failing(database().rows)).post("/ask", headers=FORM, data={"question": "rental cars"})
        assert answer.status_code == status
        assert 'role="alert"' in answer.text
        assert "rental cars</textarea>" in answer.text

    def test_a_database_that_is_gone_is_told_without_the_rest(self) -> None:
        class Gone(FakeDatabase):
            def reading(self, role: str | None) -> Any:
                raise ServerUnavailable("no connection to the database server", detail="it <b>stopped</b>")

        answer = client(Gone()).get("/")
        assert answer.status_code == 503
        assert "<b>stopped" not in answer.text

    def test_what_nobody_expects_shows_no_secret(self) -> None:
        class Broken(FakeDatabase):
            def reading(self, role: str | None) -> Any:
                raise ValueError("postgresql://ada:secret@host/db")

            writing = reading

        browser = client(Broken(), raise_server_exceptions=False)
        for answer in (browser.get("/"), browser.post("/ask", headers=FORM, data={"question": "rental cars"})):
            assert answer.status_code == 500
            assert "secret" not in answer.text
            assert "The page failed" in answer.text
