"""Edited documents: unchanged passages keep their rows, changed ones are new in all tables, also by many sessions."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tests.integration.counts import assert_counts_agree
from tests.integration.editing import (
    BOATS,
    CARS,
    TRUCKS,
    VANS,
    add,
    link_everything,
    passages,
    revision,
    rows,
    waiting,
    worker,
)
from tests.integration.manual_worker import MakeWorker, ManualWorker, paragraphs, vector_of
from tests.sessions import Connection, scalar

pytestmark = pytest.mark.rolled_back

__all__ = ["worker"]


class TestWhatStays:
    def test_a_changed_paragraph_replaces_only_its_passage(self, connection: Connection, worker: ManualWorker) -> None:
        add(connection, CARS, TRUCKS, VANS)
        worker.index_everything()
        before = passages(connection)
        version = revision(connection)

        add(connection, CARS, BOATS, VANS)
        worker.index_everything()

        after = passages(connection)
        assert list(after) == [CARS, BOATS, VANS]
        assert after[CARS] == before[CARS], "the row was not written"
        assert after[VANS][0] == before[VANS][0]
        assert after[VANS][2] == before[VANS][2], "its vector was not written"
        assert after[BOATS][0] > max(row[0] for row in before.values())
        assert revision(connection) == version + 1
        assert_counts_agree(connection)

    def test_paragraphs_that_change_places(self, connection: Connection, worker: ManualWorker) -> None:
        add(connection, CARS, TRUCKS, VANS)
        worker.index_everything()
        before = passages(connection)
        version = revision(connection)

        add(connection, VANS, CARS, TRUCKS)
        worker.index_everything()

        after = passages(connection)
        assert list(after) == [VANS, CARS, TRUCKS]
        assert {content: (row[0], row[2]) for content, row in after.items()} == {
            content: (row[0], row[2]) for content, row in before.items()
        }
        # Nothing that a search could find has changed.
        assert revision(connection) == version
        assert_counts_agree(connection)

    @pytest.mark.committed
    def test_a_move_leaves_the_indexes_alone(self, connection: Connection, worker: ManualWorker) -> None:
        # Each page has room for a new version of each of its rows, so only a change of an indexed column would touch an
        # index.
        connection.execute("alter table pgclarify_private.passage_1 set (fillfactor = 40)")
        contents = [f"Cars of number {number}." for number in range(50)]
        add(connection, CARS, *contents)
        worker.index_everything()

        add(connection, f"{BOATS} {TRUCKS}", *contents)
        worker.index_everything()

        worker.connection.execute("select pg_stat_force_next_flush()")
        counted = "select n_tup_upd, n_tup_hot_upd from pg_stat_user_tables where relname = 'passage_1'"
        assert rows(connection, counted) == [(50, 50)]
        assert_counts_agree(connection)

    def test_white_space_between_paragraphs_is_no_change(self, connection: Connection, worker: ManualWorker) -> None:
        add(connection, CARS, TRUCKS)
        worker.index_everything()
        before = passages(connection)
        version = revision(connection)

        add(connection, "", f"{CARS}\n", TRUCKS)
        worker.index_everything()

        assert {row[0] for row in passages(connection).values()} == {row[0] for row in before.values()}
        assert rows(connection, "select start_char from pgclarify.passage order by ordinal") == [(2,), (len(CARS) + 5,)]
        assert revision(connection) == version
        assert rows(connection, "select pending from pgclarify.corpus") == [(0,)]
        assert_counts_agree(connection)

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ([CARS, CARS], [CARS, CARS, CARS, CARS]),
            ([CARS, CARS, CARS], [CARS]),
            ([CARS, TRUCKS, CARS], [TRUCKS, CARS, CARS, TRUCKS]),
        ],
    )
    def test_the_same_paragraph_several_times(
        self, connection: Connection, worker: ManualWorker, before: list[str], after: list[str]
    ) -> None:
        add(connection, *before)
        worker.index_everything()
        ids = rows(connection, "select content, id from pgclarify.passage order by ordinal")

        add(connection, *after)
        worker.index_everything()

        kept = rows(connection, "select content, id from pgclarify.passage order by ordinal")
        assert [content for content, _ in kept] == after
        for content in (CARS, TRUCKS):
            old, new = ([one for one in many if one[0] == content] for many in (ids, kept))
            # Equal passages are paired in their order.
            assert new[: len(old)] == old[: len(new)]
        assert_counts_agree(connection)

    def test_another_title_or_heading_makes_a_new_passage(self, connection: Connection, worker: ManualWorker) -> None:
        add(connection, "# Land\n" + CARS, TRUCKS, title="Policy")
        worker.index_everything()
        land = passages(connection)

        add(connection, "# Sea\n" + CARS, TRUCKS, title="Policy")
        worker.index_everything()

        sea = passages(connection)
        assert list(sea) == ["# Sea\n" + CARS, TRUCKS]
        assert {row[0] for row in sea.values()}.isdisjoint(row[0] for row in land.values())
        assert scalar(connection, "select bool_and(heading = 'Sea') from pgclarify.passage")
        assert scalar(connection, "select bool_and(lexemes @@ 'sea') from pgclarify_private.passage")
        assert_counts_agree(connection)

        add(connection, "# Sea\n" + CARS, TRUCKS, title="Law")
        worker.index_everything()
        assert {row[0] for row in passages(connection).values()}.isdisjoint(row[0] for row in sea.values())
        assert scalar(connection, "select bool_and(lexemes @@ 'law') from pgclarify_private.passage")
        assert_counts_agree(connection)


class TestTheGraph:
    def test_edges_of_what_stays_stay(self, connection: Connection, worker: ManualWorker) -> None:
        add(connection, CARS, TRUCKS, VANS)
        worker.index_everything()
        link_everything(connection)
        before = passages(connection)
        links = rows(connection, "select * from pgclarify_private.neighborhood order by passage_id")

        add(connection, VANS, CARS, BOATS)
        worker.index_everything()

        after = passages(connection)
        assert rows(connection, "select * from pgclarify_private.neighborhood order by passage_id") == [
            row for row in links if row[2] != before[TRUCKS][0]
        ]
        assert waiting(connection, "pending_link") == [after[BOATS][0]]
        assert waiting(connection, "pending_unlink") == [before[TRUCKS][0]]
        assert_counts_agree(connection)


class TestASpaceBeingBuilt:
    @pytest.fixture
    def space(self, connection: Connection, worker: ManualWorker) -> int:
        """Documents "1" and "2", of which a second space has all vectors but one, and one passage waits."""
        add(connection, CARS, TRUCKS, VANS, title="Policy")
        add(connection, BOATS, document_id="2")
        worker.index_everything()
        space_id: int = scalar(
            connection,
            "insert into pgclarify_private.embedding_space (corpus_id, model, dimensions) values (1, 'other', 2)"
            " returning embedding_space_id",
        )
        for parent in ("pgclarify_private.passage_embedding", "pgclarify_private.neighborhood"):
            connection.execute(
                "select pgclarify_private.add_partition(%s, 'embedding_space_id', %s)", [parent, space_id]
            )
        connection.execute(
            "insert into pgclarify_private.passage_embedding"
            " select %s, document_id, id, '[1, 0]' from pgclarify.passage where content <> %s",
            [space_id, TRUCKS],
        )
        connection.execute(
            "insert into pgclarify_private.pending_passage (embedding_space_id, document_id, passage_id)"
            " select %s, document_id, id from pgclarify.passage where content = %s",
            [space_id, TRUCKS],
        )
        return space_id

    def embedded(self, connection: Connection, space_id: int) -> set[str]:
        query = (
            "select p.content from pgclarify_private.passage_embedding as e join pgclarify.passage as p"
            " on (p.document_id, p.id) = (e.document_id, e.passage_id) where e.embedding_space_id = %s"
        )
        return {content for (content,) in rows(connection, query, space_id)}

    def queued(self, connection: Connection) -> set[str]:
        query = (
            "select p.content from pgclarify_private.pending_passage as w join pgclarify.passage as p"
            " on (p.document_id, p.id) = (w.document_id, w.passage_id)"
        )
        return {content for (content,) in rows(connection, query)}

    def test_loses_what_has_other_words_around_it(
        self, connection: Connection, worker: ManualWorker, space: int
    ) -> None:
        # A worker is embedding the old text. Its lease is lost with the row.
        connection.execute(
            "update pgclarify_private.pending_passage set leased_by = 1, leased_until = now() + interval '1h'"
        )

        add(connection, CARS, TRUCKS, VANS, title="Law")
        worker.store(worker.claim())

        assert self.embedded(connection, space) == {BOATS}
        assert self.queued(connection) == {CARS, TRUCKS, VANS}
        assert scalar(connection, "select count(leased_by) from pgclarify_private.pending_passage") == 0
        assert_counts_agree(connection)

    def test_vectors_of_the_old_model_do_not_come_into_the_new_space(
        self, connection: Connection, worker: ManualWorker, space: int
    ) -> None:
        add(connection, CARS)
        claimed = worker.claim()
        for change, changed in (
            ("embedding_space set state = 'retired', retired_at = now()", "embedding_space_id <> %s"),
            ("embedding_space set state = 'active'", "embedding_space_id = %s"),
            (f"corpus set embedding_space_id = {space}", "embedding_space_id <> %s"),
        ):
            connection.execute(f"update pgclarify_private.{change} where {changed}".encode(), [space])

        assert worker.store(claimed) == 0

        again = worker.claim()
        assert [(one["document_id"], one["embedding_space_id"], one["dimensions"]) for one in again] == [
            ("1", space, 2)
        ]
        assert scalar(connection, "select count(*) from pgclarify_private.staged_passage") == 0


class TestAtTheSameTime:
    def test_a_passage_that_went_meanwhile_leaves_the_document_pending(
        self, connection: Connection, worker: ManualWorker, make_worker: MakeWorker
    ) -> None:
        """Staged without a vector, because the passage existed when its hash was requested."""
        add(connection, CARS, TRUCKS)
        worker.index_everything()
        add(connection, CARS, VANS)
        add(connection, "Bikes.", document_id="2")
        slow = make_worker()
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

    def test_an_answer_that_says_too_little_costs_only_work(self, connection: Connection, worker: ManualWorker) -> None:
        add(connection, CARS, TRUCKS)
        worker.index_everything()
        before = passages(connection)
        add(connection, CARS, VANS)

        assert worker.store(worker.claim(), {CARS: [1.0, 0.0, 0.0, 0.0]}, hashes={}) == 1

        assert passages(connection)[CARS] == before[CARS], "it has the same vector already"
        assert_counts_agree(connection)

    @pytest.mark.committed
    @pytest.mark.parametrize("seed", range(4))
    def test_edits_in_any_order(self, connection: Connection, make_worker: MakeWorker, seed: int) -> None:
        """Edited, renamed, opened, claimed, asked for, stored by two workers and removed, in any order."""
        chance = random.Random(seed)  # noqa: S311 - not for secrets
        connection.execute("select pgclarify.create_corpus('insurance')")
        workers = [make_worker(), make_worker()]
        workers[0].open_spaces()
        claimed: list[tuple[ManualWorker, Any, Any]] = []
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
        last = make_worker()
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
