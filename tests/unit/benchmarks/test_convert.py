"""Published data sets in the form that the tables of the papers read."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from benchmarks.papers.convert import CONVERTERS, Source, write
from pgclarify.evaluation.data_sets import read_data_set, read_records


def wrote(tmp_path: Path, name: str, **files: object) -> Path:
    for path, content in files.items():
        file = tmp_path / "source" / path.replace("__", "/").replace("_DOT_", ".")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content if isinstance(content, str) else json.dumps(content))
    target = tmp_path / "target"
    list(write(CONVERTERS[name](Source(tmp_path / "source")), target, name))
    return target


def lines(rows: Iterable[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_each_answer_of_ramdocs_is_a_reading(tmp_path: Path) -> None:
    row = {"id": "1", "question": "When was it built?", "answers": ["1820", "1910"], "wrong_answers": ["1700"]}
    documents = [{"id": "a", "type": "correct", "answer": "1820"}, {"id": "b", "type": "noise", "answer": "unknown"}]
    target = wrote(
        tmp_path,
        "ramdocs",
        ramdocs_DOT_questions_DOT_jsonl=lines([{**row, "documents": documents}]),
        ramdocs_DOT_corpus_DOT_jsonl=lines([{"id": "a", "text": "Built in 1820."}]),
    )
    (case,) = read_data_set(target / "ramdocs.questions.jsonl.gz").cases
    assert case.known_answers == [[("1820",), ("1910",)]]
    assert case.wrong_answers == ("1700",)
    assert case.relevant_documents == {"a"}


def test_ramdocs_is_read_as_published(tmp_path: Path) -> None:
    documents = [
        {"text": "Built in 1820.", "type": "correct", "answer": "1820"},
        {"text": "Built in 1700.", "type": "misinfo", "answer": "1700"},
        {"text": "A house.", "type": "noise", "answer": "unknown"},
    ]
    row = {"question": "When was it built?", "documents": documents, "disambig_entity": ["House"]}
    row |= {"gold_answers": ["1820"], "wrong_answers": ["1700"]}
    target = wrote(tmp_path, "ramdocs", RAMDocs_test_DOT_jsonl=lines([row]))
    (case,) = read_data_set(target / "ramdocs.questions.jsonl.gz").cases
    corpus = {one["id"]: one["text"] for _, one in read_records(target / "ramdocs.corpus.jsonl.gz")}
    assert case.known_answers == [[("1820",)]]
    assert case.wrong_answers == ("1700",)
    assert [corpus[one] for one in case.relevant_documents] == ["Built in 1820."]
    assert len(corpus) == 3


def test_musique_is_read_as_published(tmp_path: Path) -> None:
    shown = [
        {"title": "Altar", "paragraph_text": "Ida Holm painted it.", "is_supporting": True},
        {"title": "Ortval", "paragraph_text": "A port.", "is_supporting": False},
    ]
    steps = [{"id": 1, "question": "Altar >> painter", "answer": "Ida Holm", "paragraph_support_idx": 0}]
    row: dict[str, Any] = {"id": "2hop", "question": "Who painted it?", "answer": "Ida Holm", "answer_aliases": []}
    row |= {"paragraphs": shown, "question_decomposition": steps, "answerable": True}
    target = wrote(tmp_path, "musique", **{"musique_ans_v1_DOT_0_dev_DOT_jsonl": lines([row])})
    (case,) = read_data_set(target / "musique.questions.jsonl.gz").cases
    corpus = {one["id"]: one["title"] for _, one in read_records(target / "musique.corpus.jsonl.gz")}
    assert [corpus[one] for one in case.relevant_documents] == ["Altar"]
    assert len(corpus) == 2


def test_qulac_is_read_as_published(tmp_path: Path) -> None:
    table = {"topic_id": {"0": 7, "1": 7}, "topic": {"0": "air travel", "1": "air travel"}}
    table |= {"question": {"0": "which airport", "1": ""}}
    target = wrote(tmp_path, "qulac", data__qulac__qulac_DOT_json=table)
    ((_, row),) = read_records(target / "qulac.questions.jsonl.gz")
    assert row == {"id": "7", "question": "air travel", "clarifying_questions": ["which airport"]}


def test_clamber_is_read_as_published(tmp_path: Path) -> None:
    rows = [{"question": f"Which fee is number {place}?", "require_clarification": 1} for place in range(30)]
    rows = [{**row, "context": "", "category": "MC", "subclass": "what"} for row in rows]
    published = "".join(json.dumps(json.dumps(row) + "\n") + "\n" for row in rows)
    target = wrote(tmp_path, "clamber", clamber_benchmark_DOT_jsonl=published)
    halves = [read_data_set(target / f"clamber.{part}.jsonl.gz").cases for part in ("questions", "training.questions")]
    assert sum(map(len, halves)) == 30
    assert {case.is_ambiguous for cases in halves for case in cases} == {True}


def test_abg_coqa_is_read_as_published(tmp_path: Path) -> None:
    turn = {"question": "Who was she?", "answer": "The queen"}
    row = {"target_turn": {"question": "Where?"}, "history_turns": [turn], "ambiguity": "ambiguous"}
    rows = [{**row, "id": str(place), "story": f"Story {place}"} for place in range(30)]
    target = wrote(tmp_path, "abg-coqa", **{"abg-coqa__coqa_abg_val_DOT_json": {"version": "1.0", "data": rows}})
    (first, *_) = read_data_set(target / "abg-coqa.questions.jsonl.gz").cases
    assert (first.history, first.is_ambiguous) == (("Who was she?", "The queen"), True)


def test_clariq_is_read_as_published(tmp_path: Path) -> None:
    head = "topic_id\tinitial_request\tclarification_need\tquestion"
    files = {
        f"data__{name}_DOT_tsv": f"{head}\n{name}\tObama\t{level}\twhose family\n{name}\tObama\t{level}\t\n"
        for level, name in enumerate(("train", "dev", "test_with_labels"), start=1)
    }
    target = wrote(tmp_path, "clariq", **files)
    rows = [row for _, row in read_records(target / "clariq.questions.jsonl.gz")]
    assert [(row["id"], row["level"]) for row in rows] == [("train", 1), ("dev", 2), ("test_with_labels", 3)]
    assert rows[0]["clarifying_questions"] == ["whose family"]


def test_raocq_is_read_as_published(tmp_path: Path) -> None:
    numbers = range(1, 11)
    head = "\t".join(["postid", *(f"q{one}" for one in numbers), *(f"a{one}" for one in numbers)])
    folders = ("askubuntu.com", "unix.stackexchange.com", "superuser.com")
    files: dict[str, str] = {}
    for folder in folders:
        site = folder.split(".")[0]
        # Some files have the site in the number of the post.
        post = "7" if site == "unix" else f"{site}_7"
        asked = "\t".join([post, *(f'which "{one} ?' for one in numbers), *("an answer" for _ in numbers)])
        named = f"data__{folder}__".replace(".", "_DOT_")
        files[f"{named}post_data_DOT_tsv"] = (
            f'postid\ttitle\tpost\n{post}\tno sound\ti hear " nothing\n8\tother\tpost\n'
        )
        files[f"{named}qa_data_DOT_tsv"] = f"{head}\n{asked}\n"
        files[f"{named}human_annotations"] = f"ann_{site}_1,7,0,1 2 4,1\tbob_{site}_1,7,3,2 4 5,3\n"
    target = wrote(tmp_path, "raocq", **files)
    rows = [row for _, row in read_records(target / "raocq.questions.jsonl.gz")]
    assert [row["id"] for row in rows] == ["askubuntu_7", "unix_7", "superuser_7"]
    assert {row["question"] for row in rows} == {'no sound i hear " nothing'}
    # Each called the first or the fourth best, and both the third and the fifth valid.
    known = [f'which "{one} ?' for one in (1, 3, 4, 5)]
    assert all(row["clarifying_questions"] == known for row in rows)


def test_dl_hard_is_read_as_published(tmp_path: Path) -> None:
    runs = "dataset/baselines/passage"
    found = "".join(f"915 Q0 {passage} {rank} 9.5 PYSERINI\n" for rank, passage in enumerate("abc", start=1))
    files = {
        "dataset/topics.tsv": "915\tfoods to cook sous vide\n794\twhat is shape space\n",
        "dataset/dl_hard-passage.qrels": "915 0 a 1\n915 0 b 2\n915 Q0 c 3\n794 0 d 0\n",
        f"{runs}/bm25.run": found,
        f"{runs}/bm25+t5(zs).run": found.replace("PYSERINI", "T5"),
    }
    target = wrote(tmp_path, "dl-hard", **files)
    (case, other) = read_data_set(target / "dl-hard.questions.jsonl.gz").cases
    assert (case.case_id, case.question) == ("915", "foods to cook sous vide")
    assert case.relevant_documents == {"b", "c"}
    assert not other.relevant_documents
    ((_, row), _) = read_records(target / "dl-hard.questions.jsonl.gz")
    assert row["rankings"] == {"BM25": ["a", "b", "c"], "BM25, re-ranked by T5": ["a", "b", "c"]}


def test_a_question_of_cast_has_its_history_and_what_people_made_of_it(tmp_path: Path) -> None:
    folder = "2019__data__evaluation__evaluation_topics"
    turns = [{"number": 1, "raw_utterance": "What is it?"}, {"number": 2, "raw_utterance": "Is it treatable?"}]
    topics = [{"number": number, "turn": turns} for number in range(31, 61)]
    resolved = "".join(f"{number}_1\tWhat is it?\n{number}_2\tIs cancer treatable?\n" for number in range(31, 61))
    files = {f"{folder}_v1_DOT_0_DOT_json": topics, f"{folder}_annotated_resolved_v1_DOT_0_DOT_tsv": resolved}
    target = wrote(tmp_path, "cast", **files)

    first, second = read_data_set(target / "cast.questions.jsonl.gz").cases
    assert (first.is_ambiguous, second.is_ambiguous) == (False, True)
    assert second.history == ("What is it?",)
    assert [row["rewrite"] for _, row in read_records(target / "cast.questions.jsonl.gz")] == [
        "What is it?",
        "Is cancer treatable?",
    ]
    assert (target / "cast.training.questions.jsonl.gz").exists()


@pytest.mark.parametrize("kind", ["musique", "2wikimultihopqa"])
def test_a_question_of_several_hops_has_the_passages_that_answer_it(tmp_path: Path, kind: str) -> None:
    corpus = [{"title": "Altar", "text": "Ida Holm painted it."}, {"title": "Ida Holm", "text": "Born in Ortval."}]
    row: dict[str, Any] = {"question": "Where was its painter born?"}
    if kind == "musique":
        shown = [{"title": one["title"], "paragraph_text": one["text"], "is_supporting": True} for one in corpus]
        steps = [{"question": "Altar >> painter", "answer": "Ida Holm", "id": 1}]
        row |= {"id": "2hop", "answer": "Ortval", "answer_aliases": ["Port Ortval"], "paragraphs": shown}
        row |= {"question_decomposition": steps}
    else:
        row |= {"_id": "w", "answer": "Ortval", "supporting_facts": [["Altar", 0], ["Ida Holm", 0], ["Altar", 1]]}
    folder = "reproduce__dataset__"
    target = wrote(
        tmp_path,
        f"hipporag-{kind}",
        **{f"{folder}{kind}_DOT_json": [row], f"{folder}{kind}_corpus_DOT_json": corpus},
    )
    (case,) = read_data_set(target / f"hipporag-{kind}.questions.jsonl.gz").cases
    documents = {one["id"] for _, one in read_records(target / f"hipporag-{kind}.corpus.jsonl.gz")}
    assert case.relevant_documents == documents
    assert len(documents) == 2


def test_a_source_may_be_a_repository_without_a_work_tree(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *identity, "-C", str(tmp_path / "work"), *arguments], check=True, capture_output=True)

    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "qulac.jsonl").write_text(
        lines([{"topic_id": "1", "query": "family tree", "clarifying_questions": ["", "whose"]}])
    )
    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "--message", "data")
    list(write(CONVERTERS["qulac"](Source(tmp_path / "work" / ".git")), tmp_path, "qulac"))
    ((_, row),) = read_records(tmp_path / "qulac.questions.jsonl.gz")
    assert row == {"id": "1", "question": "family tree", "clarifying_questions": ["whose"]}


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"qulac\.jsonl"):
        CONVERTERS["qulac"](Source(tmp_path))
