"""Make the examples of the training, as arrays of token ids.

    python -m training.reader.prepare DATA_DIR EVALUATED_DIR examples.npz

README.md says what the folders have. Training itself then needs nothing of pgclarify, so it can run on another machine.
"""

from __future__ import annotations

import argparse
from array import array
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import pgclarify_minilm

from pgclarify.embedding.windows import Window, Windows
from training.reader.facts import fact_pairs
from training.reader.pairs import Pair, make_pairs
from training.reader.records import record_pairs
from training.reader.sources import read_all

_ROUNDS: Final = 5
_FACTS: Final = 1_000
_RECORDS: Final = 1_500
_COLUMNS: Final = ("round", "length", "title_start", "passage_start", "first", "last")


def examples_of(windows: Windows, pair: Pair) -> Iterator[tuple[Window, int, int]]:
    """Yield windows, each with the first and the last token of the answer; -1 if the passage does not answer.

    Windows without the whole answer are left out.
    """
    for window in windows.of(pair.question, pair.title, pair.passage):
        if pair.start is None:
            yield window, -1, -1
            continue
        first, last = _token_at(window, pair.start), _token_at(window, pair.start + len(pair.answer) - 1)
        if first is not None and last is not None:
            yield window, first, last


def _token_at(window: Window, character: int) -> int | None:
    tokens = enumerate(window.offsets, start=window.passage_start)
    return next((number for number, (begin, end) in tokens if begin <= character < end), None)


def main() -> None:
    """Read the command line, make all pairs, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("evaluated_dir", type=Path)
    parser.add_argument("output", type=Path)
    given = parser.parse_args()

    paragraphs, questions, left_out = read_all(given.data_dir, given.evaluated_dir)
    print(f"{len(paragraphs):,} paragraphs with {len(questions):,} questions; {left_out} evaluated ones left out")
    windows, kinds = Windows(pgclarify_minilm.FOLDER), Counter[str]()
    tokens, rows = array("H"), array("h")
    for number, pairs in enumerate(make_pairs(paragraphs, questions, _ROUNDS)):
        pairs += fact_pairs(_FACTS, seed=number) + record_pairs(_RECORDS, seed=number)
        kinds.update(pair.kind for pair in pairs)
        # Neighbors share passages, so that the file is smaller.
        for pair in sorted(pairs, key=lambda pair: pair.passage):
            for window, first, last in examples_of(windows, pair):
                tokens.extend(window.tokens)
                rows.extend([number, len(window.tokens), window.title_start, window.passage_start, first, last])
    columns = np.array(rows, dtype=np.int16).reshape(-1, len(_COLUMNS))
    print(f"{len(columns):,} windows; " + ", ".join(f"{count:,} {kind}" for kind, count in kinds.most_common()))
    arrays: dict[str, Any] = dict(zip(_COLUMNS, columns.T, strict=True))
    np.savez_compressed(given.output, tokens=np.array(tokens), **arrays)


if __name__ == "__main__":
    main()
