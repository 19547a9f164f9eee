"""Reading labelled questions: JSON lines and CSV, and what is wrong with a line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from pgclarify.errors import InputError, UnreadableFile
from pgclarify.evaluation.labelled_log import LabelledQuestion, read_labelled_log

VAGUE = LabelledQuestion("How old is he?", ("Who wrote Emma?", "Jane Austen."), True)
CLEAR = LabelledQuestion("Who wrote Emma?", (), False)


def test_json_lines(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl.gz"
    rows = [
        {"question": VAGUE.question, "history": VAGUE.history, "is_ambiguous": True, "user": 7},
        {"question": " Who wrote Emma? ", "ambiguous": 0},
    ]
    file.write_bytes(gzip.compress("\n\n".join(map(json.dumps, rows)).encode()))

    read = read_labelled_log(file)

    assert read.questions == (VAGUE, CLEAR)
    assert (read.lines, read.contradicted, read.foreign) == (2, 0, 0)


def test_comma_separated_values(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text(
        "\ufeffid,question,ambiguous,history\r\n"
        '1,How old is he?,Yes,"[""Who wrote Emma?"", ""Jane Austen.""]"\r\n'
        "2,Who wrote Emma?,clear,\r\n"
        '3,"How old\nis he, now?",1,"Who wrote Emma?\nJane Austen."\r\n',
        encoding="utf-8",
    )

    assert read_labelled_log(file).questions == (
        VAGUE,
        CLEAR,
        LabelledQuestion("How old\nis he, now?", VAGUE.history, True),
    )


def test_fields_may_have_other_names(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text("text,vague\nWho wrote Emma?,false\n")

    assert read_labelled_log(file, fields={"question": "text", "is_ambiguous": "vague"}).questions == (CLEAR,)
    with pytest.raises(InputError):
        read_labelled_log(file, fields={"question": "text", "is_ambiguous": "vague", "history": "before"})


def test_a_question_counts_once_with_the_label_that_more_lines_have(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    labels = {"Who wrote it?": [True, True, False], "Which one?": [True, False], "And then?": [True, True]}
    file.write_text(
        "\n".join(
            json.dumps({"question": question.upper() if place else question, "is_ambiguous": label})
            for question, given in labels.items()
            for place, label in enumerate(given)
        )
    )

    read = read_labelled_log(file)

    assert read.questions == (LabelledQuestion("Who wrote it?", (), True), LabelledQuestion("And then?", (), True))
    assert (read.lines, read.contradicted) == (7, 2)


def test_questions_in_other_languages_are_left_out(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    asked = ("Wie hoch ist die Selbstbeteiligung bei einem Mietwagen?", "Who wrote Emma?")
    file.write_text("\n".join(json.dumps({"question": one, "is_ambiguous": False}) for one in asked))

    read = read_labelled_log(file)

    assert (read.questions, read.foreign) == ((CLEAR,), 1)


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("log.jsonl", '{"question": "Why?", "is_ambiguous": true}\n{"question": "Why not?"}', 2),
        ("log.jsonl", '\n{"question": "Why?", "is_ambiguous": "perhaps"}', 2),
        ("log.jsonl", '{"is_ambiguous": true}', 1),
        ("log.jsonl", '{"question": "Why?", "is_ambiguous": true', 1),
        ("log.jsonl", '{"question": "Why?", "is_ambiguous": true, "history": [1, {}]}', 1),
        ("log.csv", "question,is_ambiguous\nWhy?,true\nWhy not?\n", 3),
        ("log.csv", "question,is_ambiguous\nWhy?,\n", 2),
        ("log.csv", "question,is_ambiguous,history\nWhy?,true,[1\n", 2),
        ("log.csv", 'question,is_ambiguous\n"Why?,true\n', 2),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, name: str, content: str, line: int) -> None:
    file = tmp_path / name
    file.write_text(content)

    with pytest.raises(InputError) as refused:
        read_labelled_log(file)

    assert f"line {line} " in refused.value.message
    assert refused.value.detail
    assert refused.value.hint


@pytest.mark.parametrize("header", ["", "query,label", "question", "is_ambiguous"])
def test_a_table_needs_both_columns(tmp_path: Path, header: str) -> None:
    file = tmp_path / "log.csv"
    file.write_text(f"{header}\n")

    with pytest.raises(InputError):
        read_labelled_log(file)


def test_a_file_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile):
        read_labelled_log(tmp_path / "none.csv")
