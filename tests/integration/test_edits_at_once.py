"""Edited documents, by several sessions and in any order."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tests.integration.by_hand import Connection, HandWorker, Hire, paragraphs, scalar, vector_of
from tests.integration.counts import assert_counts_agree
from tests.integration.editing import (
    BOATS,
    CARS,
    TRUCKS,
    VANS,
    add,
    link_everything,
    passages,
    rows,
    worker,
)

pytestmark = pytest.mark.rolled_back

__all__ = ["worker"]


class TestAtTheSameTime:
    def test_a_passage_that_went_meanwhile_leaves_the_document_pending(
        self, connection: Connection, worker: HandWorker, hire: Hire
    ) -> None:
        """Staged without a vector, because the passage existed when its hash was requested."""
        add(connection, CARS, TRUCKS)
        worker.index_everything()
        add(connection, CARS, VANS)
        add(connection, "Bikes.", document_id="2")
        slow = hire()
        late = slow.claim()
        known = slow.hashes(late)
        scalar(connection, "select pgclarify.remove_document('insurance', '1')")
        add(connection, CARS, VANS)
        connection.execute(
            "update pgclarify_private.pending_document set leased_by = %s, leased_until = 'infinity'", [slow.worker_id]
        )

        assert slow.store(late, hashes=known) == 1

        assert [row[0] for row in rows(connection, "select document_id from pgclarify_private.pending_document")] == [
            "1"
        ]
        assert list(passages(connection)) == ["Bikes."]
        assert_counts_agree(connection)
        worker.index_everything()
        assert list(passages(connection)) == [CARS, VANS, "Bikes."]
        assert_counts_agree(connection)

    def test_an_answer_that_says_too_little_costs_only_work(self, connection: Connection, worker: HandWorker) -> None:
        add(connection, CARS, TRUCKS)
        worker.index_everything()
        before = passages(connection)
        add(connection, CARS, VANS)

        assert worker.store(worker.claim(), {CARS: [1.0, 0.0, 0.0, 0.0]}, hashes={}) == 1

        assert passages(connection)[CARS] == before[CARS], "it has the same vector already"
        assert_counts_agree(connection)

    @pytest.mark.committed
    @pytest.mark.parametrize("seed", range(4))
    def test_edits_in_any_order(self, connection: Connection, hire: Hire, seed: int) -> None:
        """Edited, renamed, opened, claimed, asked for, stored by two workers and removed, in any order."""
        chance = random.Random(seed)  # noqa: S311 - not for secrets
        connection.execute("select pgclarify.create_corpus('insurance')")
        workers = [hire(), hire()]
        workers[0].open_spaces()
        claimed: list[tuple[HandWorker, Any, Any]] = []
        texts = [CARS, TRUCKS, VANS, BOATS, "# Land\n" + CARS, "# Sea\n" + CARS, "# Sea\n" + VANS]

        def edit() -> None:
            contents = chance.choices(texts, k=chance.randint(1, 8))
            add(
                connection,
                *contents,
                document_id=str(chance.randint(1, 4)),
                title=chance.choice([None, "A", "B"]),
                readers=chance.choice([None, [], ["boss"], ["boss", "staff"]]),
            )

        def claim() -> None:
            worker = chance.choice(workers)
            if documents := worker.claim(max_documents=chance.randint(1, 3), lease=chance.choice([60, -1])):
                claimed.append((worker, documents, worker.hashes(documents)))

        def store() -> None:
            if claimed:
                worker, documents, hashes = claimed.pop(chance.randrange(len(claimed)))
                worker.store(documents, hashes=hashes)

        def remove() -> None:
            scalar(connection, "select pgclarify.remove_document('insurance', %s)", str(chance.randint(1, 4)))

        def link() -> None:
            link_everything(connection)

        steps: Sequence[Callable[[], None]] = [edit] * 4 + [claim, store] * 4 + [remove, link]
        for _ in range(120):
            chance.choice(steps)()
            assert_counts_agree(connection)
        for each in workers:
            each.die()
        last = hire()
        last.index_everything()
        assert_counts_agree(connection)
        assert scalar(connection, "select pending from pgclarify.corpus") == 0
        for document_id, content, title in rows(connection, "select id, content, title from pgclarify.document"):
            assert rows(
                connection,
                "select p.content, p.heading, e.vector::text from pgclarify.passage as p"
                " join pgclarify_private.passage_embedding as e"
                " on (e.document_id, e.passage_id) = (p.document_id, p.id)"
                " where p.document_id = %s order by p.ordinal",
                document_id,
            ) == [
                (
                    chunk.content,
                    chunk.heading,
                    scalar(connection, "select %s::real[]::halfvec::text", vector_of(chunk.content)),
                )
                for chunk in paragraphs(content)
            ], title
