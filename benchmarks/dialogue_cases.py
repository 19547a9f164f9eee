"""Data sets of dialogue, written as `pgclarify eval run` reads them, and the documents that belong to them.

python -m benchmarks.dialogue_cases DATA_DIR OUT_DIR, where abg-coqa, clamber, qulac and squad2.* are. Writes
OUT_DIR/NAME.jsonl, questions, and OUT_DIR/NAME.corpus.jsonl, documents, of which each question names its own:

abg-coqa   last questions of conversations about a story: label, history, the story; what people asked back
users      those of abg-coqa that are ambiguous, with what the person said who was asked back: for simulated_user
squad2     under-specified questions, with the passage that they were asked about as what is wanted: likewise
clamber    questions with a label, of no corpus
qulac      queries with the questions that people asked back, of no corpus

docs/benchmarks.md has the commands that make tables of them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks.lexical_quality import read

Row: TypeAlias = Mapping[str, Any]

# "No, I mean the boat." says what is wanted behind its first words; "Yes." alone says it of what was asked back.
_ASSENT = re.compile(r"^(?:yes|no|yeah|nope)\b[\s,.:;-]*(?:i mean(?:t)?\b[\s,.:;-]*)?", re.IGNORECASE)
_FEWEST_WORDS = 3


def of_abg_coqa(rows: Iterable[Row]) -> Iterator[dict[str, Any]]:
    """Every last question, with its label."""
    for row in rows:
        asked_back = row["clarification_turn"].get("question")
        yield _in_conversation(row) | {
            "is_ambiguous": row["ambiguity"] == "ambiguous",
            **({"clarifying_questions": [asked_back]} if asked_back else {}),
        }


def of_users(rows: Iterable[Row]) -> Iterator[dict[str, Any]]:
    """Every ambiguous one of which somebody said what is wanted."""
    for row in rows:
        answers = row["clarification_turn"].get("answers", [])
        wanted = [_ASSENT.sub("", answer["clr_ans"]) for answer in answers]
        if told := next((text for text in wanted if len(text.split()) >= _FEWEST_WORDS), None):
            yield _in_conversation(row) | {"intent": told}


def _in_conversation(row: Row) -> dict[str, Any]:
    return {
        "id": row["id"],
        "question": row["target_turn"]["question"],
        "history": [text for turn in row["history_turns"] for text in (turn["question"], turn["answer"])],
        "documents": [story_id(row)],
    }


def story_id(row: Row) -> str:
    """The id of a story as a document; several conversations are about one."""
    return hashlib.sha256(row["story"].encode()).hexdigest()[:16]


def of_squad2(rows: Iterable[Row], passages: Mapping[str, Row]) -> Iterator[dict[str, Any]]:
    """Every question with its passage, which is what the person has in mind."""
    for row in rows:
        (document_id,) = row["gold"][:1]
        yield {
            "id": row["id"],
            "question": row["question"],
            "documents": row["gold"],
            "answers": [row["answer"]],
            "intent": passages[document_id]["text"],
        }


def of_clamber(rows: Iterable[Row]) -> Iterator[dict[str, Any]]:
    """Every question with its label and kind; what is asked about stands below it."""
    for row in rows:
        asked_back = row["clarifying_question"].strip()
        yield {
            "question": "\n".join(part for part in (row["question"], row["context"]) if part.strip()),
            "is_ambiguous": bool(row["require_clarification"]),
            "kind": row["category"],
            **({"clarifying_questions": [asked_back]} if asked_back else {}),
        }


def of_qulac(rows: Iterable[Row]) -> Iterator[dict[str, Any]]:
    """Every query with what people asked back."""
    for row in rows:
        yield {
            "id": row["topic_id"],
            "question": row["query"],
            "kind": row["type"],
            "clarifying_questions": [text for text in row["clarifying_questions"] if text.strip()],
        }


def write_all(data_dir: Path, out_dir: Path) -> dict[str, int]:
    """Write all data sets; how many rows each file has."""
    coqa = list(read(data_dir / "abg-coqa.jsonl.gz"))
    stories = {story_id(row): {"id": story_id(row), "text": row["story"]} for row in coqa}
    passages = {row["id"]: row for row in read(data_dir / "squad2.corpus.jsonl.gz")}
    files: dict[str, Iterable[Row]] = {
        "abg-coqa": of_abg_coqa(coqa),
        "abg-coqa.corpus": stories.values(),
        "users": of_users(coqa),
        "squad2": of_squad2(read(data_dir / "squad2.ambiguous.jsonl.gz"), passages),
        "squad2.corpus": passages.values(),
        "clamber": of_clamber(read(data_dir / "clamber.jsonl.gz")),
        "qulac": of_qulac(read(data_dir / "qulac.jsonl.gz")),
    }
    out_dir.mkdir(parents=True, exist_ok=True)
    counts = {}
    for name, rows in files.items():
        lines = [json.dumps(row, ensure_ascii=False) for row in rows]
        (out_dir / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        counts[name] = len(lines)
    return counts


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("out_dir", type=Path)
    given = parser.parse_args()
    for name, count in write_all(given.data_dir, given.out_dir).items():
        print(f"{given.out_dir / name}.jsonl: {count} lines")
