"""Questions that are clear only with their conversation: how many there are, and what a search finds for them.

python -m benchmarks.leaning DATA_DIR [--classifier FILE], where abg-coqa (and, without FILE, clamber and squad2.*) is.
A classifier puts each last question of abg-coqa into the classes of `rewrite`. It was trained on the training side of
the split (FILE, or trained here in some minutes). For each question, a search looks for its story among all stories:
dense and lexical rankings of passages of a hundred words, fused. The search uses the question alone, and the question
after the turns before it, which stands for a perfect rewrite. The training side chose the number of words from which a
question says enough.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import bm25s
import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.ambiguity_quality import trained_on_one_side
from benchmarks.figures import step
from benchmarks.ingest import MODEL
from benchmarks.lexical_quality import read
from benchmarks.rewriting import sample
from pgclarify.algorithms.ambiguity import AmbiguityClassifier
from pgclarify.embedding import load_embedder
from pgclarify.operations.rewrite import QuestionClass, classify, says_enough
from pgclarify.protocols import Embedder
from training.splits import coqa_group, is_for_training

_WORDS, _STRIDE = 100, 80
_RANKED = 100
_FUSED = 60
_DEPTH = 10
_ENOUGH = "leaning, says enough"


@dataclass(frozen=True)
class Searched:
    """One question: its class, its label, and the place of its story, for the question alone and after its turns."""

    id: str
    name: str
    is_ambiguous: bool
    is_for_training: bool
    alone: int
    behind_turns: int


def story_id(row: Mapping[str, Any]) -> str:
    """Return the id of a story. Several conversations may be about one story."""
    return hashlib.sha256(row["story"].encode()).hexdigest()[:16]


class _Stories:
    """All stories, in passages."""

    def __init__(self, stories: dict[str, str]) -> None:
        self.ids = list(stories)
        cut = [(place, part) for place, text in enumerate(stories.values()) for part in _parts(text)]
        self.owners = np.array([place for place, _ in cut])
        self.passages = [part for _, part in cut]
        self._index = bm25s.BM25()
        self._index.index(bm25s.tokenize(self.passages, show_progress=False), show_progress=False)

    async def places(self, questions: Sequence[str], golds: Sequence[str], embedder: Embedder) -> list[int]:
        """The place, from 1, of the story of each question. A story that was not found has the last place."""
        passages = await embedder.encode(self.passages, are_passages=True)
        vectors = await embedder.encode(questions)
        words = bm25s.tokenize(list(questions), return_ids=False, show_progress=False)
        found = []
        for vector, asked, gold in zip(vectors, words, golds, strict=True):
            lexical = self._index.get_scores(asked) if asked else np.zeros(len(self.passages))
            scores = np.zeros(len(self.ids))
            for ranking in (passages @ vector, lexical):
                for place, passage in enumerate(np.argsort(-ranking, kind="stable")[:_RANKED]):
                    scores[self.owners[passage]] += (ranking[passage] > 0) / (_FUSED + place)
            story = self.ids.index(gold)
            order = np.argsort(-scores, kind="stable")
            found.append(int(np.flatnonzero(order == story)[0]) + 1 if scores[story] else len(self.ids))
        return found


def _parts(text: str) -> Iterator[str]:
    words = text.split()
    for start in range(0, len(words), _STRIDE):
        yield " ".join(words[start : start + _WORDS])


async def measure(rows: Sequence[dict[str, Any]], classifier: AmbiguityClassifier) -> list[Searched]:
    """Classify and search all questions."""
    stories = _Stories({story_id(row): row["story"] for row in rows})
    questions = [row["target_turn"]["question"] for row in rows]
    histories = [[text for turn in row["history_turns"] for text in (turn["question"], turn["answer"])] for row in rows]
    golds = [story_id(row) for row in rows]
    embedder = load_embedder(MODEL)
    try:
        names = await _classes(questions, histories, classifier, embedder)
        alone = await stories.places(questions, golds, embedder)
        turns = [" ".join((*said, asked)) for asked, said in zip(questions, histories, strict=True)]
        behind = await stories.places(turns, golds, embedder)
    finally:
        embedder.close()
    return [
        Searched(
            row["id"],
            name,
            row["ambiguity"] == "ambiguous",
            is_for_training(coqa_group(row)),
            first,
            second,
        )
        for row, name, first, second in zip(rows, names, alone, behind, strict=True)
    ]


async def _classes(
    questions: Sequence[str], histories: Sequence[list[str]], classifier: AmbiguityClassifier, embedder: Embedder
) -> list[str]:
    judged = []
    conversations: list[tuple[str, list[str]]] = list(zip(questions, histories, strict=True))
    for asked in (conversations, [(question, list[str]()) for question in questions]):
        vectors = await embedder.encode([text for one in asked for text in classifier.inputs(*one)])
        judged.append(classifier.judge(asked, vectors))
    names = []
    for question, within, alone in zip(questions, *judged, strict=True):
        is_ambiguous = alone.probability >= classifier.threshold
        found = classify(
            question,
            is_ambiguous=within.probability >= classifier.threshold,
            kind_alone=str(alone.kind) if is_ambiguous else None,
        )
        leaves_enough = found is QuestionClass.LEANING and says_enough(question)
        names.append(_ENOUGH if leaves_enough else found.value)
    return names


def show(searched: Sequence[Searched], benchmarked: frozenset[str]) -> None:
    """Print a row for each class on each side of the split, and how many conversations of the benchmark have it."""
    table = Table(
        "side", "class", "questions", "labelled ambiguous", f"recall@{_DEPTH}", "behind the turns", "of the benchmark's"
    )
    for side in (True, False):
        for name in (QuestionClass.AMBIGUOUS.value, QuestionClass.LEANING.value, _ENOUGH, QuestionClass.CLEAR.value):
            those = [one for one in searched if one.name == name and one.is_for_training is side]
            if those:
                table.add_row(
                    "training" if side else "other",
                    name,
                    str(len(those)),
                    str(sum(one.is_ambiguous for one in those)),
                    f"{fmean(one.alone <= _DEPTH for one in those):.2f}",
                    f"{fmean(one.behind_turns <= _DEPTH for one in those):.2f}",
                    str(sum(one.id in benchmarked for one in those)),
                )
    Console(width=140).print(table)


async def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("--classifier", type=Path, help="a classifier that was trained with --part training")
    given = parser.parse_args()
    if given.classifier:
        classifier = AmbiguityClassifier(given.classifier.read_bytes())
    else:
        classifier = await asyncio.to_thread(trained_on_one_side, given.data_dir)
    rows = list(read(given.data_dir / "abg-coqa.jsonl.gz"))
    with step("searching"):
        searched = await measure(rows, classifier)
    # The conversations for which benchmarks.rewriting calls a model.
    show(searched, frozenset(row["id"] for row in sample(rows, 60)))


if __name__ == "__main__":
    asyncio.run(_main())
