"""Other languages than English: recall in five small corpora, the results of questions, and false detections.

python -m benchmarks.quality.languages [DATA_DIR]. It starts a worker with the extractive provider. The corpora are
those in tests/data/languages. With DATA_DIR, it counts the English questions there that are detected as another
language.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from psycopg.types.json import Jsonb
from rich.table import Table

from benchmarks import product
from benchmarks.data_sets import read
from benchmarks.figures import show_tables, step
from pgclarify.language.languages import is_foreign
from tests.languages import CORPORA, Corpus

_METHODS = ("lexical", "dense", "hybrid")
_SHOWN = 3


def measure() -> Table:
    """A row for each language: questions whose document is first or in the first three, readings and stop codes."""
    table = Table("language", "configuration", *_METHODS, "lexical with english", "readings", "stop codes", "judged")
    with product.database() as dsn, product.connect(dsn) as connection:
        environment = os.environ | {"PGCLARIFY_DATABASE_URL": dsn, "PGCLARIFY_LLM_PROVIDER": "extractive"}
        with product.running_worker(dsn, environment):
            for corpus in CORPORA.values():
                with step(corpus.language):
                    _load(connection, corpus.language, corpus, corpus.search_config)
                    _load(connection, "default", corpus, "english")
                    _wait(connection)
                    found = [_found(connection, corpus, corpus.language, method) for method in _METHODS]
                    default = _found(connection, corpus, "default", "lexical")
                    readings, codes = _asked(connection, corpus)
                    judged = _judged(connection, corpus)
                    table.add_row(corpus.language, corpus.search_config, *found, default, readings, codes, judged)
                    connection.execute("select pgclarify.drop_corpus('default')")
    return table


def _load(connection: product.Connection, name: str, corpus: Corpus, search_config: str) -> None:
    connection.execute(
        "select pgclarify.create_corpus(%s, options => %s)", [name, Jsonb({"search_config": search_config})]
    )
    for one in corpus.documents:
        connection.execute(
            "select pgclarify.add_document(%s, %s, %s, title => %s)", [name, one.id, one.content, one.title]
        )


def _wait(connection: product.Connection) -> None:
    while connection.execute("select from pgclarify.corpus where pending > 0").fetchall():
        time.sleep(0.1)


def _found(connection: product.Connection, corpus: Corpus, name: str, method: str) -> str:
    ranks = []
    for one in corpus.questions:
        rows = connection.execute(
            "select document_id from pgclarify.search(%s, %s, %s, %s) order by rank",
            [one.question, name, _SHOWN, Jsonb({"method": method})],
        ).fetchall()
        ranks.append([row["document_id"] for row in rows].index(one.document) if _has(rows, one.document) else _SHOWN)
    return f"{sum(rank == 0 for rank in ranks)}, {sum(rank < _SHOWN for rank in ranks)} of {len(ranks)}"


def _has(rows: Sequence[dict[str, Any]], document_id: str) -> bool:
    return any(row["document_id"] == document_id for row in rows)


def _asked(connection: product.Connection, corpus: Corpus) -> tuple[str, str]:
    readings, codes = 0, Counter[str]()
    for one in corpus.questions:
        rows = connection.execute(
            "select ordinal from pgclarify.clarify(%s, %s, options => %s)",
            [one.question, corpus.language, Jsonb({"refresh": 1})],
        ).fetchall()
        readings += len(rows)
        (run,) = connection.execute("select stop_code from pgclarify.run order by run_id desc limit 1").fetchall()
        codes[run["stop_code"] or "none"] += 1
    return str(readings), ", ".join(f"{code} {count}" for code, count in codes.most_common())


def _judged(connection: product.Connection, corpus: Corpus) -> str:
    with connection.transaction():
        (submitted,) = connection.execute(
            "select pgclarify.submit_many('detect_ambiguity', %s) as run_ids",
            [[one.question for one in corpus.questions]],
        ).fetchall()
    run_ids = list(dict.fromkeys(submitted["run_ids"]))
    connection.execute("select from pgclarify.wait(%s::bigint[], null)", [run_ids])
    rows = connection.execute(
        "select probability from pgclarify.detection where run_id = any(%s)", [run_ids]
    ).fetchall()
    return f"{sum(row['probability'] is not None for row in rows)} of {len(rows)}"


def _english(data_dir: Path) -> Iterator[tuple[str, list[str]]]:
    for name in ("clamber", "ambignq.questions", "musique.questions", "squad2.ambiguous", "squad2.answerable"):
        yield name, [row["question"] for row in read(data_dir / f"{name}.jsonl.gz")]
    rows = list(read(data_dir / "qulac.jsonl.gz"))
    yield "qulac, queries", [row["query"] for row in rows]
    yield "qulac, facets", [str(facet) for row in rows for facet in row["facets"].values()]
    yield "abg-coqa", [row["target_turn"]["question"] for row in read(data_dir / "abg-coqa.jsonl.gz")]
    for name in ("musique", "ambignq", "squad2"):
        passages = list(read(data_dir / f"{name}.corpus.jsonl.gz"))
        yield f"{name}, passages", [row["text"] for row in passages]
        yield f"{name}, titles", [row["title"] for row in passages]


def false_alarms(data_dir: Path) -> Table:
    """How many English questions, passages and titles are detected as another language."""
    table = Table("English texts", "taken for another language", "of", "such as")
    for name, texts in _english(data_dir):
        taken = [text for text in texts if is_foreign(text)]
        table.add_row(name, str(len(taken)), str(len(texts)), "; ".join(taken[:3]))
    return table


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data_dir", type=Path, nargs="?")
    given = parser.parse_args().data_dir
    if given is not None:
        show_tables(false_alarms(given), width=160)
    show_tables(measure(), width=160)
