"""Documents that are removed or replaced are counted by their bytes, so that no batch takes too long."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.integration.attached_documents import assert_documents_match_rows
from tests.integration.counts import assert_counts_agree
from tests.integration.manual_worker import ManualWorker
from tests.integration.test_following import attach, documents, worker
from tests.sessions import Connection, scalar

pytestmark = pytest.mark.rolled_back

__all__ = ["worker"]

LARGE = "select count(*) from pgclarify.document where octet_length(content) > 1000"
UNNOTICED = "alter table article disable trigger user; {}; select pgclarify.resync('kb', 'article')"


def batches(connection: Connection, worker: ManualWorker, max_bytes: int) -> list[int]:
    """Follow everything, and return how many large documents each batch removed or replaced, if any."""
    counts = [int(scalar(connection, LARGE))]
    while waiting := worker.send("waiting_sources"):
        worker.follow(waiting[0], max_bytes=max_bytes)
        counts.append(int(scalar(connection, LARGE)))
    return [before - after for before, after in pairwise(counts) if before != after]


@pytest.mark.parametrize(
    ("max_bytes", "most", "change", "kept"),
    [
        (1, 1, "delete from article where id < 5", ["5"]),
        (10**9, 5, "delete from article where id < 5", ["5"]),
        (50_000, 2, "delete from article where id < 5", ["5"]),
        (50_000, 2, "update article set body = 'Cars.' where id < 5", ["1", "2", "3", "4", "5"]),
        (50_000, 2, "truncate article", []),
        (50_000, 2, UNNOTICED.format("delete from article where id < 5"), ["5"]),
        (50_000, 2, UNNOTICED.format("update article set body = null where id < 5"), ["5"]),
        (50_000, 2, "select pgclarify.detach_table('kb', 'article', '{\"documents\": \"remove\"}')", []),
    ],
)
def test_a_batch_removes_so_many_bytes(
    connection: Connection, worker: ManualWorker, change: str, kept: list[str], max_bytes: int, most: int
) -> None:
    attach(connection)
    # Documents of some 30,000 bytes, with 20 passages each.
    connection.execute(
        "insert into article (id, body)"
        " select n, string_agg(repeat('Car ' || m || ' is insured. ', 80), e'\n\n')"
        " from generate_series(1, 5) as n, generate_series(1, 20) as m group by n"
    )
    worker.follow_everything()
    worker.index_everything()

    for statement in change.split("; "):
        connection.execute(statement.encode())
    removed = batches(connection, worker, max_bytes)

    total = 5 - int(scalar(connection, LARGE))
    assert total >= 4
    assert removed == [min(most, total - done) for done in range(0, total, most)]
    assert [id_ for id_, _ in documents(connection)] == kept
    if kept:
        assert_documents_match_rows(connection)
    worker.index_everything()
    assert_counts_agree(connection)
