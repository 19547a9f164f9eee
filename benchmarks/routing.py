"""Are questions routed right: to clarify (clear or vague), investigate or list_answers?

python -m benchmarks.routing DATA_DIR [--classifier FILE]. DATA_DIR has clamber, squad2.*, musique.questions and qulac.
Sixty questions are chosen by a seed: 20 vague and 20 clear ones, 10 of musique, and 10 that ask for a list. The
classifier that ships is trained on all rows, so the questions are from the test side of the split, and the classifier
is trained on the other side, which takes some minutes. FILE is a classifier that was trained so before. The rules of
`pgclarify.language.routes` were written with the questions that were not chosen, which --development measures.

The questions that ask for a list are ours, or facets of qulac that we selected before the rules were written.
"""

from __future__ import annotations

import argparse
import asyncio
import random
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from benchmarks.ambiguity_quality import trained_on_one_side
from pgclarify.algorithms.ambiguity import AmbiguityClassifier
from pgclarify.embedding import load_embedder
from pgclarify.language.routes import Shape, shape_of
from training.examples import read
from training.splits import clamber_group, is_for_training

_SEED: Final = 43
_CHOSEN: Final = 10
_LONGEST: Final = 200
# Facets of qulac, as topic.facet, whose answer has several parts.
_LISTS: Final = str.split(
    "10.1 11.1 107.5 108.2 134.1 138.4 139.3 146.1 147.2 156.1 156.3 157.3 157.4 159.1 159.2 166.5 168.3 169.1 169.2"
    " 169.4 170.3 171.1 171.3 177.2 180.4 182.1 183.1 183.2 183.4 186.1 194.1 195.3 198.1 199.2 34.6 39.1 4.5 55.2"
    " 65.6 88.3 89.3 8.1 123.2 175.1 123.3 152.1 12.4"
)
_WRITTEN: Final = """\
Name all the countries that border Switzerland.
List the albums that Beyoncé released as a solo artist.
Which countries signed the Treaty of Rome in 1957?
Who are the members of the African Union Commission?
What awards did Frédéric Chopin's biographers win?
Give me every airline that was hijacked in 1970.
Which players scored for France in the 2018 World Cup final?
Tell me the names of all the actors who have played the Doctor.
What were the causes of the Sichuan earthquake?
Which cities have hosted the Summer Olympics more than once?
All the prime ministers of Italy since 1990
What are the official languages of South Africa?
Which rivers flow through Vienna and Budapest?
Who were the wives of Henry VIII?
Can you list the moons of Jupiter that Galileo discovered?
What teams has Arthur Middleton coached?
Which of the Baltic states use the euro?
In which films did Tony Goldwyn appear?
Show the documents that a visitor needs to enter Kenya.
What steps are needed to register a trademark?""".splitlines()


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its true kind: vague, clear, several steps or list."""

    question: str
    kind: str
    source: str


def choose(data_dir: Path) -> tuple[list[Asked], list[Asked]]:
    """Choose the sixty questions; the others are for development."""
    clamber = [row for row in read(data_dir, "clamber") if not is_for_training(clamber_group(row))]
    facets = {
        f"{row['topic_id']}.{number}": facet.replace("\\'", "'").replace('\\"', '"')
        for row in read(data_dir, "qulac")
        for number, facet in row["facets"].items()
    }
    pools = {
        ("vague", "clamber"): [row["question"] for row in clamber if row["require_clarification"] and _is_plain(row)],
        ("clear", "clamber"): [
            row["question"] for row in clamber if not row["require_clarification"] and _is_plain(row)
        ],
        ("vague", "squad2.ambiguous"): _unseen(read(data_dir, "squad2.ambiguous")),
        ("clear", "squad2.answerable"): _unseen(row for row in read(data_dir, "squad2.answerable") if row["answer"]),
        ("several steps", "musique"): [row["question"] for row in read(data_dir, "musique.questions")],
        ("list", "qulac and our own"): [*(facets[one] for one in _LISTS), *_WRITTEN],
    }
    rng = random.Random(_SEED)  # noqa: S311 - no secret
    chosen, others = [], []
    for (kind, source), pool in pools.items():
        questions = list(dict.fromkeys(pool))
        rng.shuffle(questions)
        asked = [Asked(question, kind, source) for question in questions]
        chosen += asked[:_CHOSEN]
        others += asked[_CHOSEN:]
    return chosen, others


def _is_plain(row: dict[str, Any]) -> bool:
    """Whether a person could ask it of a corpus: one line that ends as a question, no task with a text."""
    question = row["question"].strip()
    return "\n" not in question and question.endswith("?") and len(question) <= _LONGEST


def _unseen(rows: Iterable[dict[str, Any]]) -> list[str]:
    return [
        row["question"].strip()
        for row in rows
        if _is_plain(row) and not is_for_training(row["question"].strip().lower())
    ]


async def route(asked: list[Asked], classifier: AmbiguityClassifier) -> list[str]:
    """Return the kind that each question is taken for."""
    embedder = load_embedder(AmbiguityClassifier.embedding_model)
    try:
        given = [(one.question, ()) for one in asked]
        vectors = await embedder.encode([text for question in given for text in classifier.inputs(*question)])
        judged = classifier.judge(given, vectors)
    finally:
        embedder.close()
    kinds = {Shape.LIST: "list", Shape.SEVERAL_STEPS: "several steps"}
    return [
        kinds.get(shape_of(one.question)) or ("vague" if verdict.probability >= classifier.threshold else "clear")
        for one, verdict in zip(asked, judged, strict=True)
    ]


def wilson(right: int, count: int, z: float = 1.96) -> tuple[float, float]:
    """Return the Wilson interval of a share."""
    share = right / count
    middle = share + z * z / (2 * count)
    half = z * sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    return (middle - half) / (1 + z * z / count), (middle + half) / (1 + z * z / count)


def _table(asked: list[Asked], routed: list[str]) -> Table:
    table = Table("kind", "source", "questions", "right", "share", "taken for")
    groups = defaultdict(list)
    for one, kind in zip(asked, routed, strict=True):
        groups[one.kind, one.source].append(kind)
        groups["all", ""].append("right" if kind == one.kind else "wrong")
        same_operation = kind == one.kind or {kind, one.kind} == {"clear", "vague"}
        groups["all, clear and vague as one", ""].append("right" if same_operation else "wrong")
    for (kind, source), taken in groups.items():
        right = taken.count("right" if kind.startswith("all") else kind)
        low, high = wilson(right, len(taken))
        others = ", ".join(f"{taken.count(one)} {one}" for one in sorted(set(taken)))
        table.add_row(
            kind, source, str(len(taken)), str(right), f"{right / len(taken):.2f} ({low:.2f} to {high:.2f})", others
        )
    return table


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("--classifier", type=Path, help="trained on the training side before")
    parser.add_argument("--development", action="store_true", help="measure the questions that were not chosen")
    parser.add_argument("--verbose", action="store_true", help="print each question that is routed wrong")
    given = parser.parse_args()
    if given.classifier:
        tested = AmbiguityClassifier(given.classifier.read_bytes())
    else:
        tested = trained_on_one_side(given.data_dir)
    questions = choose(given.data_dir)[given.development]
    kinds = asyncio.run(route(questions, tested))
    Console(width=140).print(_table(questions, kinds))
    if given.verbose:
        for one, kind in zip(questions, kinds, strict=True):
            if kind != one.kind:
                print(f"{one.kind} taken for {kind}: {one.question}")
