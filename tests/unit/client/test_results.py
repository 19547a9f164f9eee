"""Lists that a client returns: as HTML, and as a DataFrame."""

from __future__ import annotations

import copy
import pickle
import sys
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from pgclarify import (
    Answer,
    Citation,
    CitedPassage,
    Interpretation,
    ListedAnswer,
    ProposedQuestion,
    Results,
    SearchResult,
)
from pgclarify.client.result_records import Neighbor
from pgclarify.data.vocabulary import Origin, Refusal, RunStatus, StopCode
from pgclarify.errors import ConfigurationError, ServerUnavailable

QUOTE = "pays <b>$45</b> a day"
PASSAGE = CitedPassage("a.md", 3, f"The endorsement {QUOTE}, & no more.", 100)
CITATION = Citation(
    rank=1,
    document_id="a.md",
    title="<script>alert(1)</script>",
    uri="javascript:alert(1)",
    passage_id=3,
    heading="Rental",
    quote=QUOTE,
    start_char=116,
    end_char=116 + len(QUOTE),
    is_current=True,
    is_medoid=True,
    dated=datetime(2026, 3, 1, tzinfo=UTC),
)
READING = Interpretation(
    run_id=17,
    status=RunStatus.SUCCEEDED,
    ordinal=1,
    interpretation="How much <i>is it</i>?",
    answer="$45",
    support=1,
    cohesion=1.0,
    document_ids=("a.md",),
    citations=(CITATION,),
    is_contested=False,
)
MARKED = "<mark>pays &lt;b&gt;$45&lt;/b&gt; a day</mark>"


def shown(results: Results[Any], passages: list[CitedPassage] | None = None) -> str:
    if passages is not None:
        results._cited_passages = lambda run_id: passages if run_id == READING.run_id else []
    return results._repr_html_()


def test_a_quote_is_marked_in_its_passage_and_all_texts_are_escaped() -> None:
    html = shown(Results(Interpretation, [READING]), [PASSAGE])
    assert f"The endorsement {MARKED}, &amp; no more." in html
    assert "2026-03-01" in html
    for forbidden in ("<script", "<i>", "javascript:"):
        assert forbidden not in html


@pytest.mark.parametrize(
    "passage",
    [
        pytest.param(replace(PASSAGE, start_char=0, content=f"Moved: {QUOTE}."), id="moved"),
        pytest.param(replace(PASSAGE, content="Something else."), id="changed"),
        pytest.param(replace(PASSAGE, passage_id=4), id="gone"),
    ],
)
def test_a_quote_is_marked_wherever_its_passage_is_now(passage: CitedPassage) -> None:
    html = shown(Results(Interpretation, [READING]), [passage])
    assert html.count("<mark>") == html.count(MARKED) == 1
    assert ("Moved: " in html) == passage.content.startswith("Moved")
    assert "Something else" not in html


def test_a_reading_says_what_a_check_doubts() -> None:
    doubted = replace(READING, doubt=Refusal.BESIDE_THE_POINT)
    assert Refusal.BESIDE_THE_POINT.meaning in shown(Results(Interpretation, [doubted]), [PASSAGE])
    assert "doubts" not in shown(Results(Interpretation, [READING]), [PASSAGE])


def test_quotes_stand_alone_without_a_connection() -> None:
    def refuse(run_id: int) -> list[CitedPassage]:
        raise ServerUnavailable("the connection is closed")

    results = Results(Interpretation, [READING])
    results._cited_passages = refuse
    assert MARKED in shown(results)


def test_answers_say_why_there_is_no_reading() -> None:
    found = Answer("rental", None, RunStatus.SUCCEEDED, 17, (READING,))
    missed = Answer("<u>chess</u>", None, RunStatus.SUCCEEDED, None, (), StopCode.NOT_ANSWERED)
    html = shown(Results(Answer, [found, missed]), [PASSAGE])
    assert f"endorsement {MARKED}" in html
    assert "&lt;u&gt;chess" in html
    assert "not_answered" in html


def test_texts_of_other_records_are_escaped() -> None:
    bad = "<script>"
    listed = ListedAnswer(17, 1, bad, (bad, f"{bad}, too"), ("a.md",), (CITATION,))
    proposed = ProposedQuestion(17, 1, None, bad, bad, ("a.md",), bad, is_answerable=True, citations=(CITATION,))
    found = SearchResult(1, 3, "a.md", bad, bad, f"{bad}\n\n{bad}", 0.5, Origin.DENSE)
    near = Neighbor(1, bad, 3, 0.5)
    for records in ([listed], [proposed], [found], [near], [bad], [found, near]):
        html = shown(Results(object, records), [PASSAGE])
        assert bad not in html
        assert "&lt;script&gt;" in html
    assert "&lt;script&gt;, too" in shown(Results(ListedAnswer, [listed]))
    assert "<th>similarity</th>" in shown(Results(Neighbor, [near]))
    assert "No rows" in shown(Results(Neighbor, []))


def test_results_are_a_list_that_can_be_copied_and_pickled() -> None:
    results = Results(Interpretation, [READING])
    results._cited_passages = lambda run_id: []
    assert results == [READING] == copy.copy(results) == pickle.loads(pickle.dumps(results))  # noqa: S301


def test_a_data_frame_has_a_row_for_each_reading() -> None:
    frame = Results(Interpretation, [READING]).to_pandas()
    assert frame.loc[0, ["run_id", "status", "answer", "document_ids"]].tolist() == [17, "succeeded", "$45", ["a.md"]]
    assert frame.loc[0, "citations"][0]["quote"] == QUOTE
    assert list(Results(Interpretation).to_pandas().columns) == list(frame.columns)
    assert Results(str, ["a", "b"]).to_pandas()["line"].tolist() == ["a", "b"]


def test_without_pandas_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ConfigurationError) as caught:
        Results(Interpretation, [READING]).to_pandas()
    assert "pip install pandas" in (caught.value.hint or "")


def test_a_data_frame_of_answers_names_the_question_in_each_row() -> None:
    found = Answer("rental", "k", RunStatus.SUCCEEDED, 17, (READING, replace(READING, ordinal=2)))
    missed = Answer("chess", None, RunStatus.SUCCEEDED, None, (), StopCode.NOT_ANSWERED)
    frame = Results(Answer, [found, missed]).to_pandas()
    assert frame["question"].tolist() == ["rental", "rental", "chess"]
    assert frame["stop_code"].tolist()[2] == "not_answered"
    assert frame["ordinal"].tolist()[:2] == [1, 2]
