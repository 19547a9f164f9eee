"""Data sets of papers: the files that are read, the cases that are made of their lines, and errors for missing ones."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pgclarify.errors import InputError, NotFound
from pgclarify.evaluation.data_sets import Selection
from pgclarify.evaluation.papers import PAPERS
from pgclarify.evaluation.papers.data import PaperData, check_parts, find_data
from pgclarify.evaluation.papers.planning import plan_tables
from pgclarify.evaluation.papers.tables import Part
from pgclarify.evaluation.simulated_user import intent_of

EVERYTHING = Selection()
COQA = {
    "id": "1",
    "story": "Ann has a red boat. Ben has a blue one.",
    "target_turn": {"question": "Whose is it?", "answer": "Ann's"},
    "history_turns": [{"question": "What is red?", "answer": "A boat."}],
    "ambiguity": "ambiguous",
    "clarification_turn": {
        "question": "Which boat?",
        "answers": [{"clr_ans": "Yes."}, {"clr_ans": "No, I mean the red boat."}],
    },
}
CLEAR = {**COQA, "id": "2", "ambiguity": "non_ambiguous", "clarification_turn": {}}


def write(folder: Path, name: str, rows: Sequence[dict[str, Any]]) -> None:
    text = "\n".join(map(json.dumps, rows))
    if name.endswith(".gz"):
        (folder / name).write_bytes(gzip.compress(text.encode()))
    else:
        (folder / name).write_text(text)


def read(folder: Path, *names: str) -> PaperData:
    return find_data(folder, names, selection=EVERYTHING)


def test_any_name_is_a_data_set_of_two_files(tmp_path: Path) -> None:
    write(tmp_path, "ours.questions.jsonl", [{"question": "cars", "answers": ["red"]}])
    write(
        tmp_path,
        "ours.corpus.jsonl.gz",
        [{"id": 1, "text": "Cars are red."}, {"id": "b", "content": "x", "title": "B"}],
    )
    found = read(tmp_path, "ours")
    assert (found.data_set.name, found.corpus, found.document_count) == ("ours", "paper-ours", 2)
    assert [(one.document_id, one.title) for one in found.documents()] == [("1", None), ("b", "B")]


def test_the_first_that_is_there_is_taken(tmp_path: Path) -> None:
    write(
        tmp_path, "ambignq.questions.jsonl", [{"question": "cars", "single_answers": [["red"]], "interpretations": []}]
    )
    found = read(tmp_path, "asqa", "ambignq")
    assert found.data_set.name == "ambignq"
    assert found.data_set.cases[0].known_answers == [[("red",)]]


def test_conversations_about_one_story_are_of_one_document(tmp_path: Path) -> None:
    write(tmp_path, "abg-coqa.jsonl.gz", [COQA, CLEAR])
    found = read(tmp_path, "abg-coqa")
    (story,) = found.documents()
    first, second = found.data_set.cases
    assert (first.question, first.history) == ("Whose is it?", ("What is red?", "A boat."))
    assert (first.is_ambiguous, second.is_ambiguous) == (True, False)
    assert first.clarifying_questions == ("Which boat?",)
    assert first.document_ids == second.document_ids == (story.document_id,)
    assert story.content == COQA["story"]


def test_users_are_those_who_said_what_they_want(tmp_path: Path) -> None:
    write(tmp_path, "abg-coqa.jsonl", [COQA, CLEAR])
    found = read(tmp_path, "abg-coqa-users")
    assert [intent_of(case) for case in found.data_set.cases] == ["the red boat."]
    assert found.corpus == read(tmp_path, "abg-coqa").corpus


def test_what_is_wanted_of_squad2_is_its_passage(tmp_path: Path) -> None:
    write(tmp_path, "squad2.corpus.jsonl", [{"id": "p", "title": "Union", "text": "It had six republics."}])
    write(tmp_path, "squad2.ambiguous.jsonl", [{"id": "1", "question": "How many?", "answer": "six", "gold": ["p"]}])
    (case,) = read(tmp_path, "squad2").data_set.cases
    assert (case.intent, case.document_ids, case.known_answers) == ("It had six republics.", ("p",), [[("six",)]])


def test_questions_without_documents_are_asked_of_a_corpus_that_says_so(tmp_path: Path) -> None:
    write(
        tmp_path,
        "qulac.jsonl",
        [{"topic_id": 7, "query": "cars", "type": "faceted", "clarifying_questions": ["", "which"]}],
    )
    found = read(tmp_path, "qulac")
    assert found.document_count == 0
    assert len(list(found.documents())) == 1
    assert found.data_set.cases[0].clarifying_questions == ("which",)
    check_parts(found, [Part.QUESTIONS], searches=False)
    with pytest.raises(InputError):
        check_parts(found, [Part.QUESTIONS], searches=True)


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("abg-coqa.jsonl", {"id": 1}),
        ("clamber.jsonl", {"question": "cars"}),
        ("ours.questions.jsonl", {"asked": "cars"}),
        ("squad2.ambiguous.jsonl", {"id": 1, "question": "cars", "answer": "red", "gold": ["gone"]}),
    ],
)
def test_a_line_that_is_no_case_is_named_with_its_file(tmp_path: Path, name: str, row: dict[str, Any]) -> None:
    write(tmp_path, "squad2.corpus.jsonl", [{"id": "p", "text": "It had six."}])
    write(tmp_path, name, [row])
    with pytest.raises(InputError) as caught:
        read(tmp_path, name.partition(".")[0])
    assert name in caught.value.message
    assert caught.value.detail


@pytest.mark.parametrize(
    "row", [{"id": "p"}, {"text": "x"}, {"id": "p", "text": 3}, {"id": "p", "text": "x", "title": 3}]
)
def test_a_line_that_is_no_document_is_named_with_its_file(tmp_path: Path, row: dict[str, Any]) -> None:
    write(tmp_path, "ours.questions.jsonl", [{"question": "cars"}])
    write(tmp_path, "ours.corpus.jsonl", [row])
    with pytest.raises(InputError, match=r"ours\.corpus\.jsonl"):
        read(tmp_path, "ours")


def test_what_is_missing_is_said_once_for_a_table_and_the_others_stay(tmp_path: Path) -> None:
    write(tmp_path, "qulac.jsonl", [{"topic_id": 7, "query": "cars", "type": "", "clarifying_questions": ["which"]}])
    asked_back, *turns = plan_tables(PAPERS["at-cot"], tmp_path, selection=EVERYTHING, settings={}, judge="lexical")
    assert not any(row.obstacle for row in asked_back.rows)
    for table in turns:
        assert table.data is None
        (obstacle,) = {row.obstacle for row in table.rows}
        assert isinstance(obstacle, NotFound)
        assert "abg-coqa.jsonl" in (obstacle.detail or "")
        assert obstacle.hint


def test_a_data_set_that_lacks_what_a_table_needs_leaves_it_out(tmp_path: Path) -> None:
    write(tmp_path, "ours.questions.jsonl", [{"question": "cars", "documents": ["1"]}])
    write(tmp_path, "ours.corpus.jsonl", [{"id": 1, "text": "Cars are red."}])
    made = plan_tables(PAPERS["sunar"], tmp_path, data_set="ours", selection=EVERYTHING, settings={}, judge="lexical")
    assert [one.table.source for one in made if not any(row.obstacle for row in one.rows)] == [
        "Table 5",
        "Tables 7 and 8",
    ]


def test_a_judge_that_a_table_takes_leaves_it_out_without_it(tmp_path: Path) -> None:
    write(tmp_path, "ours.questions.jsonl", [{"question": "cars", "answers": ["red"]}])
    write(tmp_path, "ours.corpus.jsonl", [{"id": 1, "text": "Cars are red."}])
    left_out = {
        judge: [
            one.table.source
            for one in plan_tables(
                PAPERS["verdict"], tmp_path, data_set="ours", selection=EVERYTHING, settings={}, judge=judge
            )
            if all(row.obstacle for row in one.rows)
        ]
        for judge in ("lexical", "model")
    }
    assert left_out == {"lexical": ["Figure 3"], "model": []}
