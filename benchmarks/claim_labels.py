"""Claims with labels: does a passage fully give this answer to this reading?

The labels were made by a language model agent that read each claim and its passage, blind to the maker: it saw neither
who made a claim nor what a judge says of it, and the order was random. No person has checked them.

benchmarks/labels/squad2.claims.jsonl has one claim a line, and no text of the data set: its questions and passages are
named by id, and what was copied from a passage by its place there ("answer_at": [start, end]). Fields:

source          who made it: a model, the extractive provider, or squad2.answerable (a question of people, with its
                answer or with another answer of the same passage)
part            development: for choosing rules. held: reported once. By the passage that the data set names
label, fault    yes or no; of a no, why: other_subject, not_answered, wrong_answer (the passage gives another one),
                incomplete
form            of a yes: plain; paraphrase, number, pronoun: the passage says it in other words, writes the number
                otherwise, or names its subject in another sentence
stands_alone    whether the reading says what it is about, without its passage
is_reading      whether it is a reading of the question that was asked
is_borderline   whether another careful reader may decide otherwise
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.lexical_quality import read
from pgclarify.evaluated import Stated
from pgclarify.model import Passage

LABELS = Path(__file__).with_name("labels") / "squad2.claims.jsonl"
OF_PEOPLE = "squad2.answerable"


@dataclass(frozen=True)
class LabelledClaim:
    """One claim with its label.

    Attributes:
        claim_id: Of the claim.
        source: Who made it.
        is_held: Whether no rule may be chosen by it.
        question: What was asked.
        stated: The reading and its answer.
        passage: What should give the answer.
        is_supported: The label.
        kind: Why not, or in which form it is given.
        is_reading: Whether it is a reading of the question.
        is_borderline: Whether the label may be disputed.
    """

    claim_id: str
    source: str
    is_held: bool
    question: str
    stated: Stated
    passage: Passage
    is_supported: bool
    kind: str
    is_reading: bool
    is_borderline: bool

    @property
    def is_hard(self) -> bool:
        """Neither in the passage's own words nor about another subject."""
        return self.kind not in ("plain", "other_subject")


def read_claims(data_dir: Path, labels: Path = LABELS) -> list[LabelledClaim]:
    """Read the labels, and join them with the texts.

    Args:
        data_dir: Where squad2.corpus, squad2.ambiguous and squad2.answerable are (.jsonl.gz).
        labels: One claim a line.
    """
    passages = {
        row["id"]: Passage(row["id"], place, row["text"], title=row["title"])
        for place, row in enumerate(read(data_dir / "squad2.corpus.jsonl.gz"))
    }
    questions = {row["id"]: row["question"] for row in read(data_dir / "squad2.ambiguous.jsonl.gz")}
    answers = {}
    for row in read(data_dir / f"{OF_PEOPLE}.jsonl.gz"):
        digest = hashlib.sha256(row["question"].encode()).hexdigest()[:16]
        questions[digest], answers[digest] = row["question"], row["answer"]
    claims = []
    for line in labels.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        passage, question = passages[row["passage_id"]], questions[row["question_id"]]
        answer = answers[row["answer_of"]] if row["source"] == OF_PEOPLE else _said(row, "answer", passage)
        claims.append(
            LabelledClaim(
                row["id"],
                row["source"],
                row["part"] == "held",
                question,
                Stated(_said(row, "interpretation", passage) or question, (answer,) if answer else ()),
                passage,
                row["label"] == "yes",
                row["fault"] or row["form"],
                row["is_reading"],
                row["is_borderline"],
            )
        )
    return claims


def _said(row: dict[str, Any], name: str, passage: Passage) -> str | None:
    place = row.get(f"{name}_at")
    said: str | None = passage.content[slice(*place)] if place else row[name]
    return said
