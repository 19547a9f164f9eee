"""How well two equal answers are recognized without a language model, and which threshold is best.

python -m benchmarks.entailment_quality DATA_DIR, which has the questions of ambignq, musique and squad2. Half of the
questions choose the threshold, by the F1 of the pairs that rules on words do not decide. All other figures come from
the other half.

Equal are: spellings of one answer in the data sets; the same answer as a sentence, in lower case, as a surname, with
initials or as an acronym; wordings by hand. Different are: answers to two readings of a question; answers to the steps
towards an answer; answers to the two most similar questions; names with another first name; wordings by hand of
different answers.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.figures import Figure, show, step
from benchmarks.ingest import MODEL
from benchmarks.lexical_quality import read
from benchmarks.wordings import WORDINGS
from pgclarify.algorithms import Relation, answer_directions, relate_answers
from pgclarify.embedding import LocalEmbedder, load_embedder
from pgclarify.operations.investigation.entailment import SAME_ANSWER_SIMILARITY

_THRESHOLDS = np.arange(0.3, 1.0, 0.01)
# Questions that are more similar than this may have the same answer.
_SAME_QUESTION = 0.98


@dataclass(frozen=True)
class _Pair:
    source: str
    question: str
    one: str
    other: str
    is_same: bool


async def measure(data_dir: Path) -> list[Figure]:
    """Choose on one half of the questions, and report on the other."""
    embedder = load_embedder(MODEL)
    try:
        with step("making pairs"):
            pairs = [*_spellings(data_dir), *_variants(data_dir), *await _others(data_dir, embedder), *_by_hand()]
        with step(f"comparing {len(pairs):,} pairs"):
            similarities = {"vectors": await _similarities(pairs, embedder)}
            similarities["vectors of answers alone"] = np.sum(
                await embedder.encode([pair.one for pair in pairs])
                * await embedder.encode([pair.other for pair in pairs]),
                axis=1,
            )
    finally:
        embedder.close()
    relations = np.array([relate_answers(pair.one, pair.other) for pair in pairs])
    is_same = np.array([pair.is_same for pair in pairs])
    is_chosen_on = np.array([hashlib.sha256(pair.question.encode()).digest()[0] % 2 == 0 for pair in pairs])
    is_unclear = relations == Relation.UNKNOWN
    figures = []
    judged = {}
    for name, each in similarities.items():
        best = max(_THRESHOLDS, key=lambda least: _score(each >= least, is_same, is_unclear & is_chosen_on)[2])
        figures.append(Figure(f"best threshold on one half, {name}", float(best)))
        least = SAME_ANSWER_SIMILARITY if name == "vectors" else best
        judged[f"words and {name}"] = (relations == Relation.AGREE) | (is_unclear & (each >= least))
    judged["words alone"] = relations == Relation.AGREE
    for part_name, part in (("all", np.ones_like(is_same)), ("unclear by their words", is_unclear)):
        for name, is_judged in judged.items():
            scores = _score(is_judged, is_same, part & ~is_chosen_on)
            figures += [
                Figure(f"{part_name}: {name}, {of}", value)
                for value, of in zip(scores, ("precision", "recall", "F1"), strict=True)
            ]
    right = judged["words and vectors"] == is_same
    sources = np.array([pair.source for pair in pairs])
    for source in dict.fromkeys(sources.tolist()):
        part = sources == source
        figures.append(Figure(f"right of {int(part.sum()):,} pairs, {source}", float(right[part].mean())))
    return figures


async def _similarities(pairs: Sequence[_Pair], embedder: LocalEmbedder) -> NDArray[np.float32]:
    """The same as in `EmbeddingEntailment`."""
    questions = await embedder.encode([pair.question for pair in pairs])
    ones, others = [
        answer_directions(await embedder.encode(texts), questions)
        for texts in (
            [f"{pair.question} {pair.one}" for pair in pairs],
            [f"{pair.question} {pair.other}" for pair in pairs],
        )
    ]
    similarities: NDArray[np.float32] = np.sum(ones * others, axis=1)
    return similarities


def _score(
    judged: NDArray[np.bool_], is_same: NDArray[np.bool_], part: NDArray[np.bool_]
) -> tuple[float, float, float]:
    """Precision, recall and F1 of a part of the pairs."""
    right = float((judged & is_same & part).sum())
    precision, recall = right / max(1, (judged & part).sum()), right / (is_same & part).sum()
    return precision, recall, 2 * precision * recall / max(1e-9, precision + recall)


def _spellings(data_dir: Path) -> Iterator[_Pair]:
    """Aliases of an answer, answers to two readings, and answers to the steps."""
    for row in read(data_dir / "ambignq.questions.jsonl.gz"):
        answers = [(each["question"], each["answers"]) for each in row["interpretations"]]
        for question, aliases in (*answers, *((row["question"], single) for single in row["single_answers"])):
            yield from (_Pair("aliases", question, *pair, True) for pair in combinations(aliases, 2))
        for (_, some), (_, others) in combinations(answers, 2):
            yield from (_Pair("two readings", row["question"], a, b, False) for a in some for b in others)
    seen = set()
    for row in read(data_dir / "musique.questions.jsonl.gz"):
        answers = row["answers"]
        # Longer lists hold several answers.
        if len(answers) == 2 and frozenset(answers) not in seen:
            seen.add(frozenset(answers))
            yield _Pair("aliases", row["question"], answers[0], answers[1], True)
        for hop in row["decomposition"][:-1]:
            if not any(_overlap(hop["answer"], answer) for answer in answers):
                yield _Pair("on the way", row["question"], answers[0], hop["answer"], False)


def _variants(data_dir: Path) -> Iterator[_Pair]:
    """Other spellings of each answer, and names with another first name."""
    chance = random.Random(5)  # noqa: S311 - no secret
    asked = _asked(data_dir)
    first_names = sorted({answer.split()[0] for _, answer in asked if _is_full_name(answer)})
    for question, answer in asked:
        lower = re.sub(r"^(the|an?) ", "", answer.lower())
        sentence = chance.choice([f"It was {answer}.", f"The answer is {answer}.", lower])
        if sentence != answer:
            yield _Pair("sentences", question, answer, sentence, True)
        words = answer.split()
        if _is_full_name(answer):
            yield _Pair("surnames", question, answer, words[1], True)
            yield _Pair("initials", question, answer, f"{words[0][0]}. {words[1]}", True)
            other = chance.choice([name for name in first_names if name[0] != words[0][0]])
            yield _Pair("other first names", question, answer, f"{other} {words[1]}", False)
        elif len(words) > 2 and all(word[0].isupper() for word in words) and words[0] != "The":
            yield _Pair("acronyms", question, answer, "".join(word[0] for word in words), True)


async def _others(data_dir: Path, embedder: LocalEmbedder) -> list[_Pair]:
    """Answers to the two most similar questions."""
    asked = _asked(data_dir)
    vectors = await embedder.encode([question for question, _ in asked])
    similarities = vectors @ vectors.T
    pairs = []
    for position, (question, answer) in enumerate(asked):
        alike = [
            asked[other][1]
            for other in np.argsort(-similarities[position])[:20]
            if similarities[position, other] < _SAME_QUESTION and not _overlap(asked[other][1], answer)
        ]
        pairs += [_Pair("other questions", question, answer, other, False) for other in alike[:2]]
    return pairs


def _by_hand() -> Iterator[_Pair]:
    for question, groups in WORDINGS:
        for number, group in enumerate(groups):
            yield from (_Pair("wordings", question, *pair, True) for pair in combinations(group, 2))
            others = [answer for other in groups[number + 1 :] for answer in other]
            yield from (_Pair("wordings", question, one, other, False) for one in group for other in others)


def _asked(data_dir: Path) -> list[tuple[str, str]]:
    """Questions with their answers."""
    rows: list[dict[str, Any]] = [
        *read(data_dir / "squad2.answerable.jsonl.gz"),
        *read(data_dir / "squad2.ambiguous.jsonl.gz"),
    ]
    musique = read(data_dir / "musique.questions.jsonl.gz")
    return [
        *((row["question"], row["answers"][0]) for row in musique),
        *((row["question"], row["answer"]) for row in rows if row["answer"]),
    ]


def _overlap(one: str, other: str) -> bool:
    one, other = (" ".join(re.findall(r"\w+", text.casefold())) for text in (one, other))
    return one in other or other in one


def _is_full_name(answer: str) -> bool:
    return re.fullmatch(r"(?!The |New )[A-Z][a-z]+ [A-Z][a-z]+", answer) is not None


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_dir", type=Path)
    show(asyncio.run(measure(parser.parse_args().data_dir)))
