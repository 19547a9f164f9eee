"""Searches of a distributed corpus sort on the shards, by index, and each shard sends as many rows as are wanted."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest

from tests.integration.distributed.corpora import DOCUMENTS, SEARCH, distribute, fill
from tests.integration.distributed.tasks import Task, explaining
from tests.integration.manual_worker import MakeWorker, vector_of
from tests.servers import cluster
from tests.sessions import Connection

pytestmark = cluster.needed

Explain = Callable[..., list[Task]]
SHARDS = 4
TOP_K = 3
VECTOR = json.dumps(vector_of("item7 hail"))
# Vectors of a shard, nearest first; passages with words of the question; passages that a role may read; by key.
NEAREST, WORDS, READERS, KEY = (
    "passage_embedding_vector_idx",
    "passage_lexemes_idx",
    "passage_coalesce_idx",
    "passage_pkey",
)
LOOKED_UP = (None, [KEY])
# How many the index finds where a role may read some: more than are wanted, since the first are not the nearest.
FOUND = 2000


@pytest.fixture
def explain(connection: Connection, make_worker: MakeWorker, reader: str, cluster_dsn: str) -> Iterator[Explain]:
    """Two distributed corpora: all may read everything in the first one, and not in the second one."""
    for corpus, role in (("open", None), ("restricted", reader)):
        fill(connection, corpus, role)
    make_worker().index_everything()
    for corpus in ("open", "restricted"):
        distribute(connection, corpus, shards=SHARDS)
    with explaining(cluster_dsn) as tasks:
        yield tasks


def reads(tasks: list[Task]) -> list[tuple[int | None, list[str]]]:
    """The limit of each statement that went to the shards, and the indexes by which they read.

    Each statement is checked: a shard reads by index, and it sends no more rows than the limit. A statement without a
    limit looks up passages that others have chosen.
    """
    statements = dict[str, list[Task]]()
    for task in tasks:
        statements.setdefault(task.statement, []).append(task)
    for statement, parts in statements.items():
        for task in parts:
            assert "Seq Scan" not in task.kinds, task
            assert task.limit is None or task.rows <= task.limit, task
            assert task.indexes == parts[0].indexes, task
        if parts[0].limit is None:
            assert "read_intermediate_result" in statement
            assert sum(task.rows for task in parts) <= TOP_K
        else:
            assert {task.kinds[0] for task in parts} == {"Limit"}, statement
            assert len({task.shard for task in parts}) == len(parts) == SHARDS, statement
    return [(parts[0].limit, parts[0].indexes) for parts in statements.values()]


def pretend(connection: Connection, **counts: int) -> None:
    """Let the counters say that there are so many more."""
    for name, count in counts.items():
        entry = f"insert into pgclarify_private.corpus_tally (corpus_id, {name}) select corpus_id, %s"
        connection.execute(f"{entry} from pgclarify.corpus".encode(), [count])


def test_nearest_vectors(explain: Explain) -> None:
    found = explain(SEARCH, [], "dense", "", VECTOR, TOP_K, "open")
    assert reads(found) == [(TOP_K, [NEAREST]), LOOKED_UP]
    # Each shard has more.
    assert [task.rows for task in found if task.limit] == [TOP_K] * SHARDS


def test_words(explain: Explain, connection: Connection) -> None:
    assert reads(explain(SEARCH, [], "lexical", "item7 hail", None, TOP_K, "open")) == [(TOP_K, [WORDS]), LOOKED_UP]
    # Both lists of a hybrid search are longer.
    found = explain(SEARCH, [], "hybrid", "item7 hail", VECTOR, TOP_K, "open")
    assert reads(found) == [(100, [NEAREST]), (100, [WORDS]), LOOKED_UP]
    # If each word is in many passages, those with all words are scored first, and the coordinator sorts.
    connection.execute("update pgclarify_private.term set passages = passages + 10000")
    found = explain(SEARCH, [], "lexical", "common words", None, TOP_K, "open")
    assert reads(found) == [(5000, [WORDS]), (5000, [WORDS]), LOOKED_UP]


def test_few_that_the_role_may_read(explain: Explain, connection: Connection, reader: str) -> None:
    pretend(connection, passages=40000, restricted_passages=40000)
    for role in (reader, "somebody_else"):
        # They are counted, and all of them are compared.
        counted, (limit, indexes), last = reads(explain(SEARCH, [role], "dense", "", VECTOR, TOP_K, "restricted"))
        assert (counted, limit, last) == ((20001, [READERS]), TOP_K, LOOKED_UP)
        assert NEAREST not in indexes
        # Their words are counted, too.
        found = explain(SEARCH, [role], "lexical", "item7 hail", None, TOP_K, "restricted")
        assert [limit for limit, _ in reads(found)] == [5001, 2000, TOP_K, None]


def test_many_that_the_role_may_read(explain: Explain, connection: Connection) -> None:
    pretend(connection, passages=20000)
    found = explain(SEARCH, ["somebody_else"], "dense", "", VECTOR, TOP_K, "restricted")
    assert reads(found) == [(FOUND, [NEAREST, KEY]), LOOKED_UP]
    found = explain(SEARCH, ["somebody_else"], "lexical", "item7 hail", None, TOP_K, "restricted")
    assert [limit for limit, _ in reads(found)] == [TOP_K, None]
    # The index finds too few, so all that the role may read are compared. All these are fewer than the limit.
    most = len(DOCUMENTS) * 3
    dense = (
        "select nearest.* from pgclarify.corpus cross join lateral"
        " pgclarify_private.dense(corpus_id, '{somebody_else}', %s::public.halfvec, %s) as nearest where corpus = %s"
    )
    approximate, exact = reads(explain(dense, VECTOR, most, "restricted"))
    assert approximate == (FOUND, [NEAREST, KEY])
    assert exact[0] == most
    assert NEAREST not in exact[1]
