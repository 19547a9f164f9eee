"""Data sets: valid lines, names of fields, and the selected lines."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from pgclarify.errors import InputError, UnreadableFile
from pgclarify.evaluated import Case, GoldInterpretation
from pgclarify.evaluation.case_fields import CaseFields
from pgclarify.evaluation.data_sets import DataSet, Selection, data_set_hash, read_data_set

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a file of lines: objects as JSON, texts and bytes as they are."""

    def write(*lines: Any, name: str = "questions.jsonl") -> Path:
        path = tmp_path / name
        encoded = [line if isinstance(line, bytes) else _text(line).encode() for line in lines]
        content = b"\n".join(encoded)
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        return path

    return write


def _text(line: Any) -> str:
    return line if isinstance(line, str) else json.dumps(line)


def case_of(write: Write, record: Any, **fields: str) -> Case:
    (case,) = read_data_set(write(record), fields=fields).cases
    return case


def ids(read: DataSet) -> list[str]:
    return [case.case_id for case in read.cases]


def test_a_question_is_enough(write: Write) -> None:
    case = case_of(write, {"question": "  rental cars\n"})
    assert case == Case(case.case_id, "rental cars")
    assert case.case_id == case_of(write, {"question": "rental cars", "other": 1}).case_id


def test_all_that_may_be_known(write: Write) -> None:
    record = {
        "id": 7,
        "question": "rental cars",
        "interpretations": [
            {"question": "How long are they paid?", "answers": ["30 days", "a month", "30 days"], "documents": ["a"]},
            {"interpretation": "What do they cost?", "answer": 19.5, "gold": ["b", "a"]},
            "Who pays for them?",
            {"answers": ["We do"]},
        ],
        "answers": ["left out, where there are readings"],
        "is_ambiguous": True,
        "history": ["Hello.", " ", "What?"],
    }
    assert case_of(write, record) == Case(
        "7",
        "rental cars",
        (
            GoldInterpretation("How long are they paid?", ("30 days", "a month"), ("a",)),
            GoldInterpretation("What do they cost?", ("19.5",), ("b", "a")),
            GoldInterpretation("Who pays for them?", ()),
            GoldInterpretation(None, ("We do",)),
        ),
        ((("30 days", "a month"), ("19.5",), ("We do",)),),
        ("a", "b"),
        is_ambiguous=True,
        history=("Hello.", "What?"),
    )


@pytest.mark.parametrize(
    ("given", "answer_sets"),
    [
        ("six", ((("six",),),)),
        (1950, ((("1950",),),)),
        (["six", "6", "six", " "], ((("six", "6"),),)),
        (
            [["1919"], ["October of that year", "October 1919"]],
            ((("1919",),), (("October of that year", "October 1919"),)),
        ),
        ([[["a", "A"], ["b"]], [["c"]]], ((("a", "A"), ("b",)), (("c",),))),
        ([], ()),
        ([[], [""]], ()),
        (None, ()),
        ("", ()),
    ],
)
def test_answers_of_one_person_or_several(write: Write, given: Any, answer_sets: Any) -> None:
    assert case_of(write, {"question": "q", "answers": given}).answer_sets == answer_sets


def test_readings_that_are_none_leave_the_answers(write: Write) -> None:
    case = case_of(
        write, {"question": "q", "interpretations": [], "single_answers": [["1950"]]}, answers="single_answers"
    )
    assert (case.interpretations, case.answer_sets) == ((), ((("1950",),),))


@pytest.mark.parametrize(("given", "truth"), [(0, False), (1, True), (False, False), (None, None)])
def test_fields_have_other_names(write: Write, given: Any, truth: bool | None) -> None:
    record = {"query": "q", "needs": given, "context": "Before.", "proof": "d1", "question": "another"}
    case = case_of(write, record, question="query", is_ambiguous="needs", history="context", documents="proof")
    assert (case.question, case.is_ambiguous, case.history, case.document_ids) == ("q", truth, ("Before.",), ("d1",))


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "no JSON"),
        ("[]", "no JSON object but a list"),
        ('"text"', "a text"),
        ("[" * 100_000, "too deeply"),
        ('{"question": NaN}', "NaN"),
        ({}, "question is missing"),
        ({"question": None}, "question is missing"),
        ({"question": " \t"}, "question is blank"),
        ({"question": 3}, "a number where a text is expected"),
        ({"question": ["q"]}, "a list where a text is expected"),
        ({"question": "q" * 10_001}, "10,001 characters"),
        ({"question": "a\0b"}, "NUL"),
        ('{"question": "a\\ud800b"}', "surrogate"),
        ({"question": "q", "id": ""}, "id is blank"),
        ({"question": "q", "id": True}, "true or false where a text"),
        ({"question": "q", "id": "i" * 1_001}, "1,001 characters"),
        ({"question": "q", "interpretations": "text"}, "a text where a list"),
        ({"question": "q", "interpretations": [3]}, "a number where an object"),
        ({"question": "q", "interpretations": [{}]}, "neither a question nor an answer"),
        ({"question": "q", "interpretations": [{"question": " ", "answers": []}]}, "neither"),
        ({"question": "q", "answers": {"a": 1}}, "an object where a text"),
        ({"question": "q", "answers": [["a"], "b"]}, "a text where a list"),
        ({"question": "q", "answers": [[["a"], "b"]]}, "a text where a list"),
        ({"question": "q", "answers": ["a\0"]}, "NUL"),
        ('{"question": "q", "answers": 1e999}', "out of range"),
        ({"question": "q", "documents": [None]}, "null where a text"),
        ({"question": "q", "is_ambiguous": "yes"}, "a text where true"),
        ({"question": "q", "is_ambiguous": 2}, "a number where true"),
        ({"question": "q", "history": ["h"] * 101}, "101 elements"),
        ({"question": "q", "history": ["h" * 10_001]}, "10,001 characters"),
        (b"\xff", "0xff"),
    ],
)
def test_what_is_no_case_is_named_with_its_line(write: Write, line: Any, told: str) -> None:
    with pytest.raises(InputError) as caught:
        read_data_set(write({"question": "first"}, "", line))
    assert caught.value.message == "line 3 of questions.jsonl is no case"
    assert told in (caught.value.detail or "")
    assert caught.value.hint


def test_a_line_without_end_is_not_read_to_its_end(write: Write) -> None:
    path = write(b'{"question": "' + b"q" * (17 * 1024 * 1024), name="q.jsonl.gz")
    with pytest.raises(InputError, match="line 1"):
        read_data_set(path)


def test_ids_are_unique(write: Write) -> None:
    with pytest.raises(InputError, match="line 2") as caught:
        read_data_set(write({"id": "1", "question": "a"}, {"id": 1, "question": "b"}))
    assert "'1'" in (caught.value.detail or "")


def test_questions_without_ids_may_come_twice(write: Write) -> None:
    first = read_data_set(write({"question": "a"}, {"question": "b"}, {"question": "a"}, {"question": "a"}))
    assert len(set(ids(first))) == 4
    assert read_data_set(write({"question": "b"}, {"question": "a"})).cases[1].case_id == first.cases[0].case_id
    other = read_data_set(write({"question": "a", "history": "Before."}))
    assert other.cases[0].case_id not in ids(first)


def test_files_that_cannot_be_read(write: Write, tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile):
        read_data_set(tmp_path / "nowhere.jsonl")
    with pytest.raises(UnreadableFile):
        read_data_set(tmp_path)
    whole = gzip.compress(b"\n".join(json.dumps({"question": str(i)}).encode() for i in range(1000)))
    (tmp_path / "cut.jsonl.gz").write_bytes(whole[:-20])
    with pytest.raises(UnreadableFile, match="beyond line"):
        read_data_set(tmp_path / "cut.jsonl.gz")
    for empty in (write(), write(" ", "\t")):
        with pytest.raises(InputError, match="no case"):
            read_data_set(empty)


@pytest.mark.parametrize("name", ["tuning.set.jsonl", "tuning.set.jsonl.gz", "tuning.set.json", "tuning.set"])
def test_it_is_named_after_its_file(write: Write, name: str) -> None:
    read = read_data_set(write("\ufeff" + json.dumps({"question": "q"}), name=name))
    assert (read.name, read.total, len(read.cases)) == ("tuning.set", 1, 1)


def test_a_field_that_is_nowhere_is_a_mistake(write: Write) -> None:
    path = write({"question": "q", "single_answers": []}, {"question": "r"})
    read_data_set(path, fields={"answers": "single_answers"})
    with pytest.raises(InputError) as caught:
        read_data_set(path, fields={"answers": "singleanswers"})
    assert "'singleanswers'" in (caught.value.detail or "")
    with pytest.raises(InputError, match="no part 'answer'"):
        read_data_set(path, fields={"answer": "single_answers"})


def test_assignments_of_fields() -> None:
    assert CaseFields.parse(["answers=a=b", "id=key"]) == {"answers": "a=b", "id": "key"}
    for wrong in ("answers", "=a", "answers="):
        with pytest.raises(InputError):
            CaseFields.parse([wrong])


def numbered(count: int) -> list[dict[str, Any]]:
    return [{"id": f"case {number}", "question": f"question {number}"} for number in range(count)]


def test_a_sample_depends_on_ids_alone(write: Write) -> None:
    records = numbered(300)
    some = ids(read_data_set(write(*records), selection=Selection(20)))
    assert len(some) == 20
    assert some == [record["id"] for record in records if record["id"] in some], "in the order of the file"
    backwards = ids(read_data_set(write(*reversed(records)), selection=Selection(20)))
    assert backwards == some[::-1]
    more = ids(read_data_set(write(*records), selection=Selection(50)))
    assert set(some) < set(more)
    assert ids(read_data_set(write(*records), selection=Selection(1000))) == [record["id"] for record in records]


def test_parts_have_nothing_in_common_and_make_up_the_whole(write: Write) -> None:
    path = write(*numbered(300))
    parts = [ids(read_data_set(path, selection=Selection.parse(None, f"{k}/3"))) for k in (1, 2, 3)]
    assert sorted(chain.from_iterable(parts)) == sorted(ids(read_data_set(path)))
    assert all(60 < len(part) < 140 for part in parts)
    some = read_data_set(path, selection=Selection.parse(10, "2/3"))
    assert set(ids(some)) < set(parts[1])
    assert (len(some.cases), some.total) == (10, 300)


@pytest.mark.parametrize("part", ["1", "0/2", "3/2", "1/0", "a/b", "/", "1/2/3", "-1/2", "²/3"])
def test_what_is_no_part(part: str) -> None:
    with pytest.raises(InputError):
        Selection.parse(None, part)


def test_a_part_may_be_empty(write: Write) -> None:
    path = write({"question": "q"})
    found = []
    for part in ("1/2", "2/2"):
        try:
            found.append(ids(read_data_set(path, selection=Selection.parse(None, part))))
        except InputError as error:
            assert error.message == "no case is asked"
    assert len(found) == 1


def test_the_hash_is_of_what_is_asked_and_known() -> None:
    case = Case("1", "q", answer_sets=((("a",),),))
    changed = [
        Case("2", "q", answer_sets=((("a",),),)),
        Case("1", "r", answer_sets=((("a",),),)),
        Case("1", "q", answer_sets=((("a", "b"),),)),
        Case("1", "q", answer_sets=((("a",), ("b",)),)),
        Case("1", "q", answer_sets=((("a",),),), document_ids=("d",)),
        Case("1", "q", answer_sets=((("a",),),), is_ambiguous=False),
        Case("1", "q", answer_sets=((("a",),),), history=("h",)),
        Case("1", "q", (GoldInterpretation(None, ("a",)),), ((("a",),),)),
    ]
    hashes = {data_set_hash([one]) for one in (case, *changed)}
    assert len(hashes) == 1 + len(changed)
    assert data_set_hash([case, changed[0]]) != data_set_hash([changed[0], case])
    assert all(len(one) == 32 for one in hashes)


def test_cases_that_are_not_asked_are_not_held(write: Write) -> None:
    path = write(*({"question": f"{number} {'x' * 2_000}"} for number in range(3_000)))
    tracemalloc.start()
    try:
        read = read_data_set(path, selection=Selection(5))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (len(read.cases), read.total) == (5, 3_000)
    assert peak < 3_000_000, "the file has 6 MB"


def test_a_question_that_stands_twice_is_in_one_part(tmp_path: Path) -> None:
    lines = [
        {"id": f"{n}-{time}", "question": ("Is it %d?", " is  IT %d?")[time] % n} for n in range(20) for time in (0, 1)
    ]
    path = tmp_path / "twice.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    parts = [read_data_set(path, selection=Selection(part=(part, 2))) for part in (1, 2)]
    asked = [{case.case_id.partition("-")[0] for case in part.cases} for part in parts]
    assert not asked[0] & asked[1]
    assert all(asked)
    told = [{"question": "Why?", "history": [said]} for said in "abcdefgh"]
    path.write_text("\n".join(map(json.dumps, told)))
    assert 0 < len(read_data_set(path, selection=Selection(part=(1, 2))).cases) < len(told), "it is another question"


def test_fields_that_nobody_reads_are_told(write: Write) -> None:
    reading = {"question": "b", "answrs": ["c"], "documents": ["d"]}
    records = [{"question": "a", "answerz": 1, "history": []}, {"question": "b", "interpretations": [reading, "text"]}]
    assert read_data_set(write(*records)).unknown_fields == ("answerz", "interpretations.answrs")
    # A given name replaces the usual names.
    renamed = read_data_set(write({"question": "a", "answers": "b", "single": "c"}), fields={"answers": "single"})
    assert renamed.unknown_fields == ("answers",)
    many = read_data_set(write({"question": "a", **dict.fromkeys(map(str, range(1_000)))}))
    assert len(many.unknown_fields) == 100


def test_the_column_of_broken_json_is_that_of_its_line(write: Write) -> None:
    with pytest.raises(InputError) as caught:
        read_data_set(write('{"question": "a"', {"question": "b"}))
    assert "column 17" in (caught.value.detail or "")


def test_what_people_say_in_a_dialogue(write: Write) -> None:
    record = {
        "question": "When was she born?",
        "rewrite": "When was Ida Holm born?",
        "clarifying_questions": ["", "Do you mean the painter?", "Do you mean the painter?"],
        "intent": " The year. ",
    }
    case = case_of(write, record)
    assert case.rewrites == ("When was Ida Holm born?",)
    assert case.clarifying_questions == ("Do you mean the painter?",)
    assert case.intent == "The year."
    bare = case_of(write, {"question": "When was she born?", "intent": " "})
    assert (bare.rewrites, bare.clarifying_questions, bare.intent) == ((), (), None)
    assert len({data_set_hash([one]) for one in (case, bare, replace(bare, intent="x"))}) == 3


@pytest.mark.parametrize(
    "wrong",
    [{"rewrites": "x" * 10_001}, {"clarifying_questions": [1.5, {}]}, {"intent": ["x"]}, {"intent": "x" * 10_001}],
)
def test_what_nobody_can_say(write: Write, wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        read_data_set(write({"question": "q", **wrong}))
