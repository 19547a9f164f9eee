"""Finding a question's group among many groups: recall, and milliseconds for grouped and for new questions.

python -m benchmarks.grouping [--groups 200000]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector
from pgvector.psycopg import register_vector

from benchmarks import made_up, product
from benchmarks.figures import Figure, show, step

GROUPS = 200_000
_QUESTIONS = 500
_CORPORA = 4
# Gives a distance of about 0.1 from a question to the leader of its group. The limit is 0.15.
_NOISE = 0.022
_MODEL = "all-MiniLM-L6-v2"


def measure(dsn: str, groups: int = GROUPS) -> Iterator[Figure]:
    """Fill the table of groups, look up questions near some of the groups, and add new questions one by one."""
    leaders = made_up.vectors(groups, seed=71)
    chance = np.random.default_rng(72)
    with product.connect(dsn) as connection:
        register_vector(connection)
        for number in range(_CORPORA):
            connection.execute("select pgclarify.create_corpus(%s)", [f"asked {number}"])
        (first,) = connection.execute("select min(corpus_id) as id from pgclarify.corpus").fetchall()
        with step(f"entering {groups:,} groups"), connection.cursor() as cursor:
            columns = "corpus_id, embedding_model, leader"
            with cursor.copy(f"copy pgclarify_private.question_group ({columns}) from stdin") as copy:
                for number, leader in enumerate(leaders):
                    copy.write_row((first["id"] + number % _CORPORA, _MODEL, HalfVector(leader).to_text()))
        with step("building the index"):
            connection.execute("set maintenance_work_mem = '2GB'")
            connection.execute("select pgclarify_private.index_leaders(%s)", [made_up.DIMENSIONS])
            connection.execute("vacuum analyze pgclarify_private.question_group")
        chosen = chance.choice(groups, _QUESTIONS, replace=False)
        found, times = 0, []
        for number in chosen:
            question = leaders[number] + chance.normal(0, _NOISE, made_up.DIMENSIONS).astype(np.float32)
            group, milliseconds = _near(connection, first["id"] + int(number) % _CORPORA, question)
            found += group is not None
            times.append(milliseconds)
        yield Figure("questions near a leader that are given a group", found / _QUESTIONS, aim=">= 0.98")
        yield Figure("finding it, median", statistics.median(times), "ms")
        times, entered = [], []
        for question in chance.normal(0, 1, (_QUESTIONS, made_up.DIMENSIONS)).astype(np.float32):
            group, milliseconds = _near(connection, first["id"], question)
            assert group is None
            times.append(milliseconds)
            started = time.perf_counter()
            connection.execute(
                f"insert into pgclarify_private.question_group ({columns}) values (%s, %s, %s::halfvec)",  # noqa: S608
                [first["id"], _MODEL, HalfVector(question).to_text()],
            )
            entered.append((time.perf_counter() - started) * 1000)
        yield Figure("finding that there is none, median", statistics.median(times), "ms")
        yield Figure("beginning a group, median", statistics.median(entered), "ms")


def _near(connection: product.Connection, corpus_id: int, question: NDArray[np.float32]) -> tuple[int | None, float]:
    started = time.perf_counter()
    (row,) = connection.execute(
        "select pgclarify_private.near_question_group(%s, %s, 'cars', %s::halfvec) as id",
        [corpus_id, _MODEL, HalfVector(question).to_text()],
    ).fetchall()
    return row["id"], (time.perf_counter() - started) * 1000


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--groups", type=int, default=GROUPS)
    given = parser.parse_args()
    with product.database() as dsn:
        show(list(measure(dsn, given.groups)))
