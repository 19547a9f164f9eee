"""How often a mark that two readings contest each other is right, and how many contradictions are marked.

python -m benchmarks.quality.contested DATA_DIR URL [--unjudged]. DATA_DIR has ramdocs.questions.jsonl.gz. The database
of the URL has answered, with `clarify` and without a language model, its questions in corpus ramdocs, and those of
real_documents.jsonl in the corpora handbook (folder pages of 18F/handbook) and mattermost (folder source of
mattermost/docs). Of each question, the last run counts. Its verdicts are grouped and marked again by the code at hand.

labels/contested.jsonl has a pair of readings in each line, and no text of the documents: the question (of RAMDocs, its
id), and for each reading the document and a hash of the answer. A language model agent read the passages and made the
labels; no person has checked them:

contradict    both ask the same of the same thing, and their answers cannot both hold
same          both ask the same, and have the same answer: they should be one reading
compatible    any other pair: another thing, another year, another part of the answer

All pairs are there that were marked before 0.3.0. Of the others, a part was drawn by chance from the pairs that are
alike, and from the rest: `drawn` is that part, so that a pair stands for 1 / drawn pairs; null if it was added later.
Half of the questions are development, half are held; but the rules were chosen by one who had seen all labels.

precision   of the marked pairs with a label, those that contradict each other
recall      of the contradictions of the runs, estimated by the drawn pairs, those that are marked
unjudged    marked pairs without a label; --unjudged prints them
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks import product
from benchmarks.data_sets import part_of, read
from pgclarify.data.documents import Passage
from pgclarify.operations.clarification.interpretations import Grounded, contenders

_LABELS: Final = Path(__file__).with_name("labels") / "contested.jsonl"
_REAL: Final = Path(__file__).with_name("real_documents.jsonl")
_CORPORA: Final = ["ramdocs", "handbook", "mattermost"]

# A document, and the hash of an answer in it.
_Key: TypeAlias = tuple[str, str]
# A corpus, a question, and the keys of two readings.
_Pair: TypeAlias = tuple[str, str, frozenset[_Key]]

_RUNS = """
    select distinct on (corpus, question) run_id, corpus, question from pgclarify.run
    where operation = 'clarify' and status in ('succeeded', 'partial') and corpus = any(%s)
    order by corpus, question, run_id desc
"""
_VERDICTS = """
    select candidate.rank, candidate.document_id, candidate.passage_id, passage.content, passage.heading,
        document.title, verdict.interpretation, verdict.answer, verdict.quote,
        translate(verdict.vector::text, '[]', '{}')::real[] as vector
    from pgclarify.candidate
    inner join pgclarify.passage
        on passage.corpus_id = candidate.corpus_id and passage.document_id = candidate.document_id
        and passage.id = candidate.passage_id
    inner join pgclarify.document on document.corpus_id = candidate.corpus_id and document.id = candidate.document_id
    inner join pgclarify.verdict using (run_id, rank)
    where run_id = %s and verdict.outcome = 'grounded'
    order by rank
"""


def key(document_id: str, answer: str) -> _Key:
    """Name a reading without its text."""
    return document_id, hashlib.sha256(answer.encode()).hexdigest()[:12]


def marked(dsn: str, ids: Mapping[str, str]) -> Iterator[tuple[_Pair, bool, str]]:
    """Yield all pairs of readings of the runs, whether they are marked, and their texts.

    Args:
        dsn: The database.
        ids: The questions, and what names them in the labels.
    """
    with product.connect(dsn) as connection:
        for run in connection.execute(_RUNS, [_CORPORA]).fetchall():
            question = ids.get(run["question"])
            rows = connection.execute(_VERDICTS, [run["run_id"]]).fetchall() if question is not None else []
            if question is None or not rows:
                continue
            found = contenders([_grounded(row) for row in rows], np.array([row["vector"] for row in rows], np.float32))
            citations = {row["rank"]: row for row in rows}
            places = [(one, citations[one.interpretation.citations[0].candidate_rank]) for one in found]
            for (one, here), (other, there) in combinations(places, 2):
                keys = frozenset(key(row["document_id"], row["answer"]) for row in (here, there))
                texts = (
                    f"{each.interpretation.interpretation} => {each.interpretation.answer}" for each in (one, other)
                )
                yield (run["corpus"], question, keys), other.place in one.rivals, "\n    ".join(texts)


def _grounded(row: Mapping[str, Any]) -> Grounded:
    passage = Passage(row["document_id"], row["passage_id"], row["content"], row["title"], row["heading"])
    return Grounded(passage, row["rank"], row["interpretation"], row["answer"], row["quote"], 0, 0)


def figures(pairs: Sequence[tuple[_Pair, bool, str]], labels: Mapping[_Pair, tuple[str, float | None]]) -> Table:
    """Count marks that are right and wrong, by part."""
    table = Table(
        "part", "marked pairs", "right", "wrong", "unjudged", "precision", "recall", "two readings of a meaning"
    )
    for part in ("development", "held"):
        of_part = [one for one in pairs if part_of(one[0][1]) == part]
        judged = Counter(labels.get(pair, ("unjudged", None))[0] for pair, is_marked, _ in of_part if is_marked)
        right = judged["contradict"]
        wrong = judged["compatible"] + judged["same"]
        stands_for = {True: 0.0, False: 0.0}
        same = 0.0
        for pair, is_marked, _ in of_part:
            label, drawn = labels.get(pair, ("", None))
            if drawn is not None and label == "contradict":
                stands_for[is_marked] += 1 / drawn
            elif drawn is not None and label == "same":
                same += 1 / drawn
        table.add_row(
            part,
            *map(str, (sum(judged.values()), right, wrong, judged["unjudged"])),
            f"{right / max(1, right + wrong):.2f}",
            f"{stands_for[True] / max(1.0, sum(stands_for.values())):.2f}",
            f"{same:.0f} of {len(of_part)} pairs",
        )
    return table


def _main(given: argparse.Namespace) -> None:
    labels = {
        (row["corpus"], row["question"], frozenset(map(tuple, (row["one"], row["other"])))): (
            row["label"],
            row["drawn"],
        )
        for row in map(json.loads, _LABELS.read_text().splitlines())
    }
    real = [json.loads(line)["question"] for line in _REAL.read_text().splitlines()]
    ids = dict(zip(real, real, strict=True)) | {
        row["question"]: row["id"] for row in read(given.data_dir / "ramdocs.questions.jsonl.gz")
    }
    pairs = [*marked(given.url, ids)]
    Console(width=120).print(figures(pairs, labels))
    if given.unjudged:
        for pair, is_marked, texts in pairs:
            if is_marked and pair not in labels:
                print(f"{pair}\n    {texts}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("url")
    parser.add_argument("--unjudged", action="store_true", help="print marked pairs without a label")
    _main(parser.parse_args())
