"""Searches for questions, and writes them with the passages that are found.

python -m benchmarks.quality.large_model.collect URL DATA_DIR QUESTIONS OUT CORPUS=DOCUMENTS …

In the database of URL, corpus ramdocs has been loaded from DATA_DIR/ramdocs.corpus.jsonl.gz, and each CORPUS from the
public repository DOCUMENTS, as it is. QUESTIONS has JSON lines with documents, question and readings, each with an
answer and must_contain: a right answer, with its quote, has one of the texts of each part. OUT gets all passages, for
`recorder plan`; the file beside this module has hashes for those that are not ours to publish.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from benchmarks import product
from benchmarks.data_sets import read
from benchmarks.quality.large_model.files import HERE, MANY, Asked, Known, without_texts, write_asked
from pgclarify.data.documents import Passage

_EACH: Final = 4
"""Of the questions of RAMDocs, one in so many."""
_MOST: Final = 60

_FOUND: Final = """
    select found.document_id, found.passage_id, found.title, found.heading, found.content, passage.start_char
    from pgclarify.search(%s, corpus => %s, top_k => %s) as found
    inner join pgclarify.corpus on corpus.corpus = %s
    inner join pgclarify.passage
        on passage.corpus_id = corpus.corpus_id and passage.document_id = found.document_id
        and passage.id = found.passage_id
    order by found.rank
"""


def _ramdocs(data_dir: Path) -> Iterator[tuple[str, Asked]]:
    for row in list(read(data_dir / "ramdocs.questions.jsonl.gz"))[::_EACH][:_MOST]:
        known = [Known(one) for one in row["answers"]]
        yield "ramdocs", Asked("ramdocs", row["question"], tuple(known), tuple(row["wrong_answers"]), ())


def _real(questions: Path, corpora: dict[str, str]) -> Iterator[tuple[str, Asked]]:
    for row in map(json.loads, questions.read_text("utf-8").splitlines()):
        known = [Known(one["answer"], tuple(map(tuple, one["must_contain"]))) for one in row["readings"]]
        yield corpora[row["documents"]], Asked(row["documents"], row["question"], tuple(known), (), ())


def main() -> None:
    """Read the command line, search and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("corpora", nargs="+", metavar="CORPUS=DOCUMENTS")
    given = parser.parse_args()
    corpora = {documents: corpus for corpus, _, documents in (one.partition("=") for one in given.corpora)}
    found = []
    with product.connect(given.url) as connection:
        for corpus, asked in (*_ramdocs(given.data_dir), *_real(given.questions, corpora)):
            rows = connection.execute(_FOUND, [asked.question, corpus, MANY, corpus]).fetchall()
            found.append(replace(asked, passages=tuple(Passage(**row) for row in rows)))
    write_asked(given.out, found)
    write_asked(HERE / "asked.jsonl.gz", without_texts(found))


if __name__ == "__main__":
    main()
