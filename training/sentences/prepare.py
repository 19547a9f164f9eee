"""Make the examples of the training, as arrays of token ids.

    python -m training.sentences.prepare DATA_DIR EVALUATED_DIR DOCUMENTS_DIR examples.npz

README.md says what the folders have.
"""

from __future__ import annotations

import argparse
import random
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import numpy as np
import pgclarify_minilm
from tokenizers import Tokenizer

from pgclarify.embedding.windows import Windows
from pgclarify.ingest.chunking import Chunker
from pgclarify.language.sentences import split_sentences
from training.reader.facts import fact_pairs
from training.reader.pairs import Pair, make_pairs
from training.reader.records import record_pairs
from training.reader.sources import read_all
from training.sentences.sections import Labels, section_labels

_FACTS: Final = 1_000
_RECORDS: Final = 1_000
# The same number of each repository at most, so that none decides alone; and a share of the pairs of the reader.
_MOST_OF_A_REPOSITORY: Final = 3_000
_SHARE_OF_PAIRS: Final = 0.25
_EMBEDDED_TOKENS: Final = 256


def load_chunker() -> Chunker:
    """Return what cuts documents into the passages that the product makes of them."""
    tokenizer = Tokenizer.from_file(str(pgclarify_minilm.FOLDER / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return Chunker(tokenizer, _EMBEDDED_TOKENS)


def labels_of(pair: Pair) -> Labels:
    """Label the sentences of a pair of the reader: the one with the answer answers, the others do not."""
    labels = []
    for one in split_sentences(pair.passage):
        answers = pair.start is not None and one.start < pair.start + len(pair.answer) and pair.start < one.end
        labels.append((one.start, one.end, float(answers)))
    return Labels(pair.question, pair.title, pair.passage, tuple(labels))


def write(examples: Iterable[Labels], windows: Windows, output: Path) -> None:
    """Write the first window of each example, and the tokens of its sentences."""
    tokens, rows, sentences = array("H"), array("i"), array("f")
    for example in examples:
        window = next(windows.of(example.question, example.title, example.passage), None)
        if window is None:
            continue
        found = [*_in_tokens(window.offsets, window.passage_start, example)]
        if not found:
            continue
        tokens.extend(window.tokens)
        rows.extend([len(window.tokens), window.title_start, len(found)])
        for sentence in found:
            sentences.extend(sentence)
    columns = np.array(rows, dtype=np.int32).reshape(-1, 3)
    labeled = np.array(sentences, dtype=np.float32).reshape(-1, 3)
    print(f"{len(columns):,} passages, {len(labeled):,} sentences, {labeled[:, 2].mean():.3f} answer")
    length, title_start, count = columns.T
    np.savez_compressed(
        output, tokens=np.array(tokens), length=length, title_start=title_start, count=count, sentences=labeled
    )


def _in_tokens(offsets: list[tuple[int, int]], begin: int, example: Labels) -> Iterator[tuple[float, float, float]]:
    """Yield the first and last token of each whole sentence, and how much it answers."""
    for start, end, label in example.sentences:
        inside = [place for place, (first, last) in enumerate(offsets) if start <= first and last <= end]
        if inside and end <= offsets[-1][1]:
            yield begin + inside[0], begin + inside[-1], label


def main() -> None:
    """Read the command line, make all examples, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("data_dir", "evaluated_dir", "documents_dir", "output"):
        parser.add_argument(name, type=Path)
    given = parser.parse_args()

    paragraphs, questions, left_out = read_all(given.data_dir, given.evaluated_dir)
    print(f"{len(paragraphs):,} paragraphs with {len(questions):,} questions; {left_out} evaluated ones left out")
    folder = pgclarify_minilm.FOLDER
    windows = Windows(folder)
    chunker = load_chunker()

    def examples() -> Iterator[Labels]:
        chance = random.Random(0)  # noqa: S311 - no secret
        for number, repository in enumerate(sorted(given.documents_dir.iterdir())):
            made = [*section_labels(repository, chunker, seed=number)]
            print(f"{repository.name}: {len(made):,} passages")
            yield from chance.sample(made, min(len(made), _MOST_OF_A_REPOSITORY))
        (pairs,) = make_pairs(paragraphs, questions, 1)
        pairs += fact_pairs(_FACTS, seed=0) + record_pairs(_RECORDS, seed=0)
        yield from map(labels_of, chance.sample(pairs, int(len(pairs) * _SHARE_OF_PAIRS)))

    write(examples(), windows, given.output)


if __name__ == "__main__":
    main()
