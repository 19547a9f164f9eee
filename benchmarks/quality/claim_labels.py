"""Claims with labels: does a passage fully give this answer to this reading?

A language model agent made the labels. It read each claim and its passage in random order, without the source of the
claim and without the judgements of other judges. No person has checked the labels.

benchmarks/labels/squad2.claims.jsonl has one claim in each line, and no text of the data set: it has the ids of
questions and passages, and the positions of texts that were copied from a passage ("answer_at": [start, end]). Fields:

source          the source of the claim: a model, the extractive provider, or squad2.answerable (a question by a
                person, with its answer or with another answer from the same passage).
part            development: for choosing rules. held: reported once. The gold passage of the question decides.
label, fault    yes or no. The fault is the reason of a no: other_subject, not_answered, wrong_answer (the passage
                gives another answer) or incomplete.
form            how the passage gives the answer, for a yes: plain, paraphrase (in other words), number (written
                differently) or pronoun (the subject is named in another sentence).
stands_alone    whether the reading names its subject, without its passage.
is_reading      whether it is a reading of the question.
is_borderline   whether another careful reader may decide differently.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.data_sets import read
from pgclarify.data.documents import Passage
from pgclarify.evaluation.records import Stated

LABELS = Path(__file__).with_name("labels") / "squad2.claims.jsonl"
OF_PEOPLE = "squad2.answerable"


@dataclass(frozen=True)
class LabelledClaim:
    """One claim with its label.

    Attributes:
        claim_id: The id of the claim.
        source: The source of the claim.
        is_held: Whether the claim is only for reporting, not for choosing rules.
        question: The question that was asked.
        stated: The reading and its answer.
        passage: The passage that should give the answer.
        is_supported: The label.
        kind: The fault of a no, or the form of a yes.
        is_reading: Whether it is a reading of the question.
        is_borderline: Whether another reader may choose another label.
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
        """Whether the claim is hard to judge: neither in the passage's own words, nor about another subject."""
        return self.kind not in ("plain", "other_subject")


def read_claims(data_dir: Path, labels: Path = LABELS) -> list[LabelledClaim]:
    """Read the labels, and join them with the texts.

    Args:
        data_dir: Where squad2.corpus, squad2.ambiguous and squad2.answerable are (.jsonl.gz).
        labels: A file with one claim in each line.
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
