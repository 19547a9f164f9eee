"""Converts published data sets to those that the tables of the papers read.

python -m benchmarks.papers.convert NAME SOURCE TARGET writes TARGET/NAME.questions.jsonl.gz and, if the data set has
documents, TARGET/NAME.corpus.jsonl.gz. SOURCE is a folder, or a git repository, such as one without a work tree.

NAME      SOURCE has, as published                         or, chosen from it          for
ramdocs   RAMDocs_test.jsonl (HanNight/RAMDocs, MIT)       ramdocs.questions, .corpus  verdict, ambigprompt
musique   musique_ans_v1.0_dev.jsonl (MuSiQue, CC BY 4.0)  musique.questions, .corpus  sunar
hipporag-musique, hipporag-2wikimultihopqa
          reproduce/dataset (OSU-NLP-Group/HippoRAG)                                   sunar
qulac     data/qulac/qulac.json (aliannejadi/qulac, MIT)   qulac                       at_cot
clariq    data/train.tsv, dev.tsv, test_with_labels.tsv (aliannejadi/ClariQ)                at_cot
raocq     data/askubuntu.com, …, superuser.com: post_data.tsv, qa_data.tsv,
          human_annotations (raosudha89/ranking_clarification_questions)               at_cot
dl-hard   dataset (grill-lab/DL-Hard)                                                  at_cot
cast      2019/data/evaluation (daltonj/treccastweb, MIT)                              rewrite
clamber   clamber_benchmark.jsonl (zt991211/CLAMBER)       clamber                     rewrite
abg-coqa  abg-coqa/coqa_abg_val.json                       abg-coqa                    rewrite
          (MeiqiGuo/AKBC2021-Abg-CoQA, MIT)
ambignq                                                    ambignq.questions, .corpus  verdict, ambigprompt
squad2                                                     squad2.ambiguous, .corpus   verdict, at_cot

Names without a folder and an ending are JSON lines, gzipped or not. Of clamber, abg-coqa and cast, NAME.questions has
the rows to test on, and NAME.training.questions those to train on, as `training.splits` says.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import hashlib
import io
import json
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from training.splits import clamber_group, coqa_group, is_for_training

Line = Mapping[str, Any]


@dataclass(frozen=True)
class Converted:
    """A converted data set.

    Attributes:
        questions: Its questions.
        corpus: Its documents; empty if it has none.
        training: The questions that a method may be trained on; empty if there is no such half.
    """

    questions: Iterable[Line]
    corpus: Iterable[Line] = ()
    training: Iterable[Line] = field(default=())


class Source:
    """A folder, or the newest commit of a git repository."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._is_bare = (folder / "HEAD").exists() and (folder / "objects").exists()

    def read(self, path: str) -> str:
        """Read a file, unzipped.

        Raises:
            SystemExit: If there is no such file.
        """
        try:
            if not self._is_bare:
                raw = (self._folder / path).read_bytes()
            else:
                command = ["git", "-C", str(self._folder), "show", f"HEAD:{path}"]
                raw = subprocess.run(command, check=True, capture_output=True).stdout
        except (OSError, subprocess.CalledProcessError) as error:
            raise SystemExit(f"{self._folder} has no file {path}") from error
        return (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode("utf-8-sig")

    def has(self, path: str) -> bool:
        """Tell whether there is a file."""
        if not self._is_bare:
            return (self._folder / path).exists()
        command = ["git", "-C", str(self._folder), "cat-file", "-e", f"HEAD:{path}"]
        return subprocess.run(command, check=False, capture_output=True).returncode == 0

    def lines(self, name: str) -> list[Line]:
        """Read JSON lines."""
        is_zipped = not self._is_bare and (self._folder / f"{name}.jsonl.gz").exists()
        return [json.loads(one) for one in self.read(f"{name}.jsonl{'.gz' if is_zipped else ''}").splitlines() if one]

    def table(self, path: str) -> list[dict[str, str]]:
        """Read a file of tab-separated values with names in its first line."""
        return list(csv.DictReader(io.StringIO(self.read(path)), delimiter="\t", quoting=csv.QUOTE_NONE))


def ramdocs(source: Source) -> Converted:
    """Each known answer is a reading, whose question is not known. The documents of all questions are one corpus."""
    if source.has("RAMDocs_test.jsonl"):
        rows = [_published_ramdocs(row) for row in source.lines("RAMDocs_test")]
        corpus = {one["id"]: one["text"] for row in rows for one in row["documents"]}
        return Converted(map(_of_ramdocs, rows), ({"id": one, "text": text} for one, text in corpus.items()))
    return Converted(map(_of_ramdocs, source.lines("ramdocs.questions")), source.lines("ramdocs.corpus"))


def _of_ramdocs(row: Line) -> Line:
    return {
        "id": row["id"],
        "question": row["question"],
        "interpretations": [{"answers": [one]} for one in row["answers"]],
        "wrong_answers": row["wrong_answers"],
        "documents": [one["id"] for one in row["documents"] if one["type"] == "correct"],
        "noise": [one["id"] for one in row["documents"] if one["type"] == "noise"],
    }


def _published_ramdocs(row: Line) -> Line:
    return {
        "id": _id_of("", row["question"]),
        "question": row["question"],
        "answers": row["gold_answers"],
        "wrong_answers": row["wrong_answers"],
        "documents": [{**one, "id": _id_of("", one["text"])} for one in row["documents"]],
    }


def ambignq(source: Source) -> Converted:
    """Questions with several readings have these; others have the answers that each person gave."""
    questions = (
        {"id": row["id"], "question": row["question"]}
        | (
            {"interpretations": row["interpretations"]}
            if row["interpretations"]
            else {"answers": row["single_answers"]}
        )
        for row in source.lines("ambignq.questions")
    )
    return Converted(questions, source.lines("ambignq.corpus"))


def squad2(source: Source) -> Converted:
    """What the user wants is what the paragraph says, without the answer being known."""
    corpus = source.lines("squad2.corpus")
    texts = {one["id"]: f"{one['title']}: {one['text']}" for one in corpus}
    questions = (
        {"id": row["id"], "question": row["question"], "answer": row["answer"], "documents": row["gold"]}
        | {"intent": texts[row["gold"][0]]}
        for row in source.lines("squad2.ambiguous")
    )
    return Converted(questions, corpus)


def musique(source: Source) -> Converted:
    """With the relevant passages, and the sub-questions. The paragraphs of all questions are one corpus."""
    if source.has("musique_ans_v1.0_dev.jsonl"):
        rows = source.lines("musique_ans_v1.0_dev")
        shown = [(one["title"], one["paragraph_text"]) for row in rows for one in row["paragraphs"]]
        corpus = {_id_of(title, text): {"title": title, "text": text} for title, text in shown}
        return Converted(
            (_multi_hop(row, {}) for row in rows), ({"id": one, **passage} for one, passage in corpus.items())
        )
    return Converted(source.lines("musique.questions"), source.lines("musique.corpus"))


def hipporag(source: Source, *, name: str) -> Converted:
    """MuSiQue or 2WikiMultihopQA, with the passages of all questions as one corpus."""
    corpus = {
        _id_of(one["title"], one["text"]): one
        for one in json.loads(source.read(f"reproduce/dataset/{name}_corpus.json"))
    }
    by_title = defaultdict(list)
    for passage_id, one in corpus.items():
        by_title[one["title"]].append(passage_id)
    rows = json.loads(source.read(f"reproduce/dataset/{name}.json"))
    return Converted(
        (_multi_hop(row, by_title) for row in rows),
        ({"id": passage_id, "title": one["title"], "text": one["text"]} for passage_id, one in corpus.items()),
    )


def _multi_hop(row: Line, by_title: Mapping[str, Sequence[str]]) -> Line:
    if "paragraphs" in row:
        supporting = [one for one in row["paragraphs"] if one["is_supporting"]]
        gold = [_id_of(one["title"], one.get("paragraph_text") or one["text"]) for one in supporting]
    else:
        gold = [
            passage_id
            for title in dict.fromkeys(title for title, _ in row["supporting_facts"])
            for passage_id in by_title[title]
        ]
    answers = row["answer"] if isinstance(row["answer"], list) else [row["answer"], *row.get("answer_aliases", ())]
    steps = [{"question": one["question"], "answer": one["answer"]} for one in row.get("question_decomposition", ())]
    decomposition = {"decomposition": steps} if steps else {}
    return {
        "id": row.get("id") or row["_id"],
        "question": row["question"],
        "answers": answers,
        "gold": gold,
    } | decomposition


def _id_of(title: str, text: str) -> str:
    return hashlib.sha256(f"{title}\n{text}".encode()).hexdigest()[:16]


def qulac(source: Source) -> Converted:
    """Queries with people's clarifying questions."""
    if source.has("data/qulac/qulac.json"):
        table = json.loads(source.read("data/qulac/qulac.json"))
        topics: dict[str, Line] = {}
        for place, topic in table["topic_id"].items():
            row = topics.setdefault(str(topic), {"question": table["topic"][place], "asked": set()})
            row["asked"].add(table["question"][place])
        return Converted(
            {"id": topic, "question": row["question"], "clarifying_questions": sorted(filter(None, row["asked"]))}
            for topic, row in topics.items()
        )
    return Converted(
        {
            "id": row["topic_id"],
            "question": row["query"],
            "clarifying_questions": list(filter(None, row["clarifying_questions"])),
        }
        for row in source.lines("qulac")
    )


def clariq(source: Source) -> Converted:
    """Requests with people's clarifying questions, and how much people say that the request needs one, 1 to 4."""
    asked: dict[str, set[str]] = defaultdict(set)
    topics: dict[str, Line] = {}
    for name in ("train", "dev", "test_with_labels"):
        for row in source.table(f"data/{name}.tsv"):
            topics[row["topic_id"]] = {"question": row["initial_request"], "level": int(row["clarification_need"])}
            if row["question"]:
                asked[row["topic_id"]].add(row["question"])
    return Converted(
        {"id": topic, **known, "clarifying_questions": sorted(asked[topic])}
        for topic, known in topics.items()
        if asked[topic]
    )


def raocq(source: Source) -> Converted:
    """Posts that two people annotated, with the questions that one of them calls best, or both call valid."""
    rows: list[Line] = []
    for folder in ("askubuntu.com", "unix.stackexchange.com", "superuser.com"):
        site = folder.partition(".")[0]
        posts, asked = (
            {row["postid"].rpartition("_")[2]: row for row in source.table(f"data/{folder}/{name}.tsv")}
            for name in ("post_data", "qa_data")
        )
        for line in source.read(f"data/{folder}/human_annotations").splitlines():
            # Annotator and site, post, best question, valid ones, from 0, and how sure the annotator is.
            said = [one.split(",") for one in line.split("\t")]
            post = said[0][1]
            valid = set.intersection(*({*map(int, one[3].split())} for one in said))
            known = sorted(valid | {int(one[2]) for one in said})
            rows.append(
                {
                    "id": f"{site}_{post}",
                    "question": f"{posts[post]['title']} {posts[post]['post']}",
                    "clarifying_questions": [asked[post][f"q{place + 1}"] for place in known],
                }
            )
    return Converted(rows)


def dl_hard(source: Source) -> Converted:
    """Queries, the passages of MS MARCO that answer them, and two rankings that were published with them.

    Grades from 2 count as relevant, as the authors say.
    """
    relevant: dict[str, list[str]] = defaultdict(list)
    for line in source.read("dataset/dl_hard-passage.qrels").splitlines():
        topic, _, passage, grade = line.split()
        if int(grade) > 1:
            relevant[topic].append(passage)
    rankings: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for name, run in (("BM25", "bm25"), ("BM25, re-ranked by T5", "bm25+t5(zs)")):
        for line in source.read(f"dataset/baselines/passage/{run}.run").splitlines():
            topic, _, passage, *_ = line.split()
            rankings[topic].setdefault(name, []).append(passage)
    topics = (line.split("\t") for line in source.read("dataset/topics.tsv").splitlines())
    return Converted(
        {"id": topic, "question": text, "documents": relevant[topic]}
        | {"rankings": {name: ranked[:20] for name, ranked in rankings[topic].items()}}
        for topic, text in topics
    )


def clamber(source: Source) -> Converted:
    """Questions that are ambiguous or not."""
    # Each published line is a string that has a line of JSON.
    rows = (
        [json.loads(str(one)) for one in source.lines("clamber_benchmark")]
        if source.has("clamber_benchmark.jsonl")
        else source.lines("clamber")
    )
    return _halves(
        (clamber_group(row), {"question": row["question"], "is_ambiguous": bool(row["require_clarification"])})
        for row in rows
    )


def abg_coqa(source: Source) -> Converted:
    """The last questions of conversations about a story, which are ambiguous or not; the stories are the documents."""
    published = "abg-coqa/coqa_abg_val.json"
    rows = json.loads(source.read(published))["data"] if source.has(published) else source.lines("abg-coqa")
    halves = _halves((coqa_group(row), _of_conversation(row)) for row in rows)
    stories = {_id_of("", row["story"]): row["story"] for row in rows}
    return Converted(
        halves.questions, ({"id": story_id, "text": story} for story_id, story in stories.items()), halves.training
    )


def _of_conversation(row: Line) -> Line:
    return {
        "id": row["id"],
        "question": row["target_turn"]["question"],
        "history": [text for turn in row["history_turns"] for text in (turn["question"], turn["answer"])],
        "is_ambiguous": row["ambiguity"] == "ambiguous",
        "documents": [_id_of("", row["story"])],
    }


def _halves(rows: Iterable[tuple[str, Line]]) -> Converted:
    """Split rows by their groups; equal questions of one half are one."""
    halves: dict[bool, dict[str, Line]] = {True: {}, False: {}}
    for group, row in rows:
        halves[is_for_training(group)].setdefault(json.dumps([row["question"], row.get("history")]), row)
    return Converted(halves[False].values(), training=halves[True].values())


def cast(source: Source) -> Converted:
    """The questions of conversations, with what people made of them; ambiguous are those that people changed."""
    folder = "2019/data/evaluation/evaluation_topics"
    resolved = dict(
        one.split("\t", 1) for one in source.read(f"{folder}_annotated_resolved_v1.0.tsv").splitlines() if one
    )
    rows: list[tuple[str, Line]] = []
    for topic in json.loads(source.read(f"{folder}_v1.0.json")):
        history: list[str] = []
        for turn in topic["turn"]:
            name = f"{topic['number']}_{turn['number']}"
            said, rewritten = turn["raw_utterance"].strip(), resolved[name].strip()
            row = {"id": name, "question": said, "history": list(history), "rewrite": rewritten}
            is_changed = " ".join(said.lower().split()) != " ".join(rewritten.lower().split())
            rows.append((str(topic["number"]), {**row, "is_ambiguous": is_changed}))
            history.append(said)
    return _halves(rows)


CONVERTERS: Final[Mapping[str, Callable[[Source], Converted]]] = {
    "ramdocs": ramdocs,
    "ambignq": ambignq,
    "squad2": squad2,
    "musique": musique,
    "hipporag-musique": lambda source: hipporag(source, name="musique"),
    "hipporag-2wikimultihopqa": lambda source: hipporag(source, name="2wikimultihopqa"),
    "qulac": qulac,
    "clariq": clariq,
    "raocq": raocq,
    "dl-hard": dl_hard,
    "clamber": clamber,
    "abg-coqa": abg_coqa,
    "cast": cast,
}


def write(converted: Converted, target: Path, name: str) -> Iterator[str]:
    """Write the files of a data set, and say how many lines each has."""
    target.mkdir(parents=True, exist_ok=True)
    for part, lines in (
        ("questions", converted.questions),
        ("training.questions", converted.training),
        ("corpus", converted.corpus),
    ):
        texts = [json.dumps(one, ensure_ascii=False) for one in lines]
        if texts:
            path = target / f"{name}.{part}.jsonl.gz"
            path.write_bytes(gzip.compress("".join(f"{one}\n" for one in texts).encode(), mtime=0))
            yield f"{path}: {len(texts):,}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=CONVERTERS)
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    given = parser.parse_args()
    for written in write(CONVERTERS[given.name](Source(given.source)), given.target, given.name):
        print(written)
