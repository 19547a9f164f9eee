"""Compare the judge of sentences with the reader and with the embeddings, on documents that it was not trained on.

    python -m training.sentences.evaluate DOCUMENTS_DIR [--questions 300] [--judged]

For each heading of these documents, the question made from it is asked of the passage below it and of others, and of
the sentences of all these, each method names the one that answers best. With --judged, the questions are the short ones
about the held repositories of training.sentences.judged, each with nine passages that a search found.
"""

from __future__ import annotations

import argparse
import asyncio
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from pgclarify.embedding import LocalEmbedder, LocalSpanReader, load_embedder, load_span_reader
from pgclarify.embedding.packaged import PACKAGED
from training.sentences.judged import judged_labels
from training.sentences.prepare import load_chunker
from training.sentences.sections import Labels, section_labels

_THRESHOLDS: Final = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)


def grouped(made: Sequence[Labels]) -> Iterator[list[Labels]]:
    """Yield the passages of each question."""
    group: list[Labels] = []
    for one in made:
        if group and one.question != group[0].question:
            yield group
            group = []
        group.append(one)
    yield group


async def _by_spans(reader: LocalSpanReader, one: Labels) -> list[float]:
    span = await reader.read(one.question, one.title, one.passage)
    if span is None:
        return [0.0] * len(one.sentences)
    score = float(np.exp(span.log_probability) / (1 + np.exp(-span.answerable)))
    return [score * (start < span.end and span.start < end) for start, end, _ in one.sentences]


async def _by_embedding(embedder: LocalEmbedder, one: Labels) -> list[float]:
    texts = [f"{one.title}\n{one.passage[start:end]}" for start, end, _ in one.sentences]
    vectors = await embedder.encode([one.question, *texts])
    return [float(similarity) for similarity in vectors[1:] @ vectors[0]]


def _questions_of_headings(documents_dir: Path, questions: int) -> list[list[Labels]]:
    chunker = load_chunker()
    made = [one for place in sorted(documents_dir.iterdir()) for one in section_labels(place, chunker, seed=1)]
    groups = [group for group in grouped(made) if len(group) > 1]
    return random.Random(0).sample(groups, min(questions, len(groups)))  # noqa: S311 - no secret


def _short_questions(documents_dir: Path) -> list[list[Labels]]:
    groups = grouped([*judged_labels(documents_dir, held=True)])
    return [group for group in groups if any(label == 1.0 for one in group for _, _, label in one.sentences)]


async def _evaluate(documents_dir: Path, questions: int, *, judged: bool) -> None:
    embedder, reader = load_embedder(PACKAGED), load_span_reader()
    groups = _short_questions(documents_dir) if judged else _questions_of_headings(documents_dir, questions)
    first = dict.fromkeys(("judge", "spans", "embeddings"), 0)
    told: list[tuple[float, bool]] = []
    for group in groups:
        labels = [label for one in group for _, _, label in one.sentences]
        told_by_judge: list[float] = []
        spans: list[float] = []
        similar: list[float] = []
        for one in group:
            places = [(start, end) for start, end, _ in one.sentences]
            told_by_judge += await reader.judge(one.question, one.title, one.passage, places)
            spans += await _by_spans(reader, one)
            similar += await _by_embedding(embedder, one)
        for name, scores in (("judge", told_by_judge), ("spans", spans), ("embeddings", similar)):
            first[name] += labels[int(np.argmax(scores))] == 1.0
        told += [(score, label == 1.0) for score, label in zip(told_by_judge, labels, strict=True)]
    reader.close()
    embedder.close()
    for name, right in first.items():
        print(f"{name}: best sentence right for {right} of {len(groups)} questions ({right / len(groups):.2f})")
    answering = sum(answers for _, answers in told)
    for threshold in _THRESHOLDS:
        shown = [answers for score, answers in told if score >= threshold]
        right = sum(shown)
        print(f"at {threshold}: {right} of {len(shown)} sentences answer, of {answering} that do")


def main() -> None:
    """Read the command line, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("documents_dir", type=Path)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--judged", action="store_true", help="ask the short questions about the held repositories")
    given = parser.parse_args()
    asyncio.run(_evaluate(given.documents_dir, given.questions, judged=given.judged))


if __name__ == "__main__":
    main()
