"""Exploration in the database: what a worker finds for a run before anything of it is chosen."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import psycopg
import pytest

from pgclarify.database import ExplorationTables, Runs, exploration, open_pool
from pgclarify.database.pool import Pool, fetch
from pgclarify.pipelines.exploration import Query, by_signal, explore_passages, find_first
from pgclarify.pipelines.trace import Trace
from tests.integration.by_hand import Connect, Connection, HandWorker, Hire, MakeRole, scalar
from tests.integration.linking import add, link, load
from tests.integration.test_retrieval import bm25, cosine

ANGLES = (0, 10, 25, 45, 70, 100, 135, 175)
MODEL = "all-MiniLM-L6-v2"


def ask(user: Connection, worker: HandWorker, question: str = "question") -> int:
    """A run that the worker has in hand."""
    run_id = int(scalar(user, "select pgclarify.submit(%s, 'insurance')", question))
    assert worker.start(run_id) is not None
    return run_id


def text_of(vector: Sequence[float] | None) -> str | None:
    return None if vector is None else json.dumps(list(vector))


def find(
    worker: HandWorker,
    run_id: int,
    *,
    question: str = "question",
    vector: Sequence[float] | None = None,
    method: str = "dense",
    depth: int = 100,
    signal: str | None = None,
    attempt: int = 1,
    embedding_model: str = MODEL,
) -> list[dict[str, Any]]:
    """Search for a run, and record nothing."""
    return worker.send(
        "find_passages",
        run_id=run_id,
        attempt=attempt,
        question=question,
        vector=text_of(vector),
        embedding_model=embedding_model,
        method=method,
        depth=depth,
        signal=signal,
    )


def near(
    worker: HandWorker,
    run_id: int,
    passages: Sequence[Mapping[str, Any]],
    *,
    k: int = 10,
    known: Sequence[int] = (),
    question: str = "question",
    vector: Sequence[float] | None = None,
    signal: str | None = None,
    attempt: int = 1,
    embedding_model: str = MODEL,
) -> list[dict[str, Any]]:
    """Edges from passages, with content where it was not known."""
    return worker.send(
        "find_neighbors",
        run_id=run_id,
        attempt=attempt,
        document_ids=[passage["document_id"] for passage in passages],
        passage_ids=[passage["passage_id"] for passage in passages],
        k=k,
        known=list(known),
        question=question,
        vector=text_of(vector),
        embedding_model=embedding_model,
        signal=signal,
    )


def record(worker: HandWorker, run_id: int, passages: Sequence[Mapping[str, Any]], *, first_rank: int = 1) -> list[int]:
    """Keep passages as candidates of batch 2, each led to by the one before it; the ranks that were kept."""
    ids = [passage["passage_id"] for passage in passages]
    return list(
        worker.send(
            "record_candidates",
            run_id=run_id,
            attempt=1,
            ranks=list(range(first_rank, first_rank + len(passages))),
            document_ids=[passage["document_id"] for passage in passages],
            passage_ids=ids,
            scores=[0.5] * len(ids),
            origins=["neighbor"] * len(ids),
            via_passage_ids=[None, *ids[:-1]],
            batches=[2] * len(ids),
            step_ordinals=[None] * len(ids),
        )[0]["kept"]
    )


def passage(connection: Connection, document_id: str) -> dict[str, Any]:
    """The key of a document's only passage."""
    return {
        "document_id": document_id,
        "passage_id": scalar(connection, "select id from pgclarify.passage where document_id = %s", document_id),
    }


@pytest.fixture
def worker(connection: Connection, hire: Hire) -> HandWorker:
    """A worker that has linked the circle."""
    connection.execute("select pgclarify.create_corpus('insurance')")
    worker = hire()
    load(connection, worker, *ANGLES)
    link(worker)
    return worker


@pytest.fixture
def user(connect: Connect, make_role: MakeRole) -> Connection:
    return connect(make_role("pgclarify_user", name="alice"))


class TestPassages:
    def test_are_those_of_a_search_and_none_is_recorded(self, user: Connection, worker: HandWorker) -> None:
        run_id = ask(user, worker)
        found = find(worker, run_id, vector=[1, 0, 0, 0], depth=3)

        assert [one["document_id"] for one in found] == ["0", "10", "25"]
        assert {one["origin"] for one in found} == {"dense"}
        assert [one["signal_score"] for one in found] == [None] * 3
        assert scalar(user, "select count(*) from pgclarify.candidate") == 0

    @pytest.mark.parametrize("method", ["dense", "lexical", "hybrid"])
    def test_come_in_the_order_of_a_search(self, user: Connection, worker: HandWorker, method: str) -> None:
        vector = [1.0, 0.3, 0.0, 0.0]
        run_id = int(
            scalar(
                user,
                "select pgclarify.submit('at 25', 'insurance', 5, jsonb_build_object('search', %s::text))",
                method,
            )
        )
        assert worker.start(run_id) is not None

        found = find(worker, run_id, question="at 25", vector=vector, method=method, depth=5)
        retrieved = worker.retrieve(run_id, 1, "at 25", vector)

        keys = ("document_id", "passage_id", "title", "heading", "content", "start_char", "score", "origin")
        assert [{key: one[key] for key in keys} for one in found] == [
            {key: one[key] for key in keys} for one in retrieved
        ]
        assert found

    def test_keep_the_vector_of_the_question(
        self, connection: Connection, user: Connection, worker: HandWorker
    ) -> None:
        run_id = ask(user, worker)
        find(worker, run_id, vector=[1, 0, 0, 0])
        vector = "select question_vector::text from pgclarify.run where run_id = %s"
        assert scalar(connection, vector, run_id) == "[1,0,0,0]"

        connection.execute("update pgclarify.run set operation = 'investigate' where run_id = %s", [run_id])
        find(worker, run_id, vector=[0, 1, 0, 0])
        assert scalar(connection, vector, run_id) == "[1,0,0,0]", "that of a step is not the question's"

    def test_of_a_run_that_is_lost(self, connection: Connection, user: Connection, worker: HandWorker) -> None:
        run_id = ask(user, worker)
        there = [passage(connection, "0")]
        with pytest.raises(psycopg.Error) as refused:
            find(worker, run_id, attempt=2)
        assert refused.value.sqlstate == "PC006"
        with pytest.raises(psycopg.Error) as refused:
            near(worker, run_id, there, attempt=2)
        assert refused.value.sqlstate == "PC006"
        user.execute("select pgclarify.cancel(%s)", [run_id])
        with pytest.raises(psycopg.Error) as refused:
            record(worker, run_id, there)
        assert refused.value.sqlstate == "PC006"

    def test_of_a_corpus_that_was_dropped(self, connection: Connection, user: Connection, worker: HandWorker) -> None:
        run_id = ask(user, worker)
        there = [passage(connection, "0")]
        connection.execute("select pgclarify.drop_corpus('insurance')")
        worker.sweep()
        with pytest.raises(psycopg.errors.UndefinedObject):
            find(worker, run_id)
        with pytest.raises(psycopg.errors.UndefinedObject):
            record(worker, run_id, there)
        with pytest.raises(psycopg.errors.UndefinedObject):
            near(worker, run_id, there)

    def test_of_who_may_not_search_the_corpus_any_more(
        self, connection: Connection, user: Connection, worker: HandWorker, make_role: MakeRole
    ) -> None:
        run_id, there = ask(user, worker), [passage(connection, "0")]
        connection.execute("update pgclarify.corpus set reader = %s", [make_role(name="boss")])
        calls: tuple[Callable[[], object], ...] = (
            lambda: find(worker, run_id, question="at 10", method="lexical"),
            lambda: near(worker, run_id, there),
            lambda: record(worker, run_id, there),
            lambda: worker.retrieve(run_id, 1, "at 10", [1, 0, 0, 0]),
        )
        for call in calls:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                call()
        connection.execute("update pgclarify.corpus set reader = null")
        assert near(worker, run_id, there)

    def test_of_another_embedding_model(self, connection: Connection, user: Connection, worker: HandWorker) -> None:
        run_id = ask(user, worker)
        vector, there = [1.0, 0.0, 0.0, 0.0], [passage(connection, "0")]
        with pytest.raises(psycopg.errors.SerializationFailure):
            find(worker, run_id, vector=vector, embedding_model="another")
        with pytest.raises(psycopg.errors.SerializationFailure):
            near(worker, run_id, there, vector=vector, embedding_model="another")
        with pytest.raises(psycopg.errors.SerializationFailure):
            near(worker, run_id, there, embedding_model="another")
        # What is not of a model is not wrong.
        assert find(worker, run_id, question="at 10", method="lexical", embedding_model="another")


class TestSignals:
    def test_dense(self, user: Connection, worker: HandWorker) -> None:
        vector = [math.cos(math.radians(-5)), math.sin(math.radians(-5)), 0.0, 0.0]
        found = find(worker, ask(user, worker), vector=vector, signal="dense")

        expected = {
            f"{angle:g}": max(0.0, cosine(vector, [math.cos(math.radians(angle)), math.sin(math.radians(angle)), 0, 0]))
            for angle in ANGLES
        }
        # Halves of floats.
        assert {one["document_id"]: one["signal_score"] for one in found} == pytest.approx(expected, abs=0.001)
        assert all(0 < one["signal_score"] < 1 for one in found)

    @pytest.mark.parametrize(("vector", "least"), [([1.0, 0.0, 0.0, 0.0], 0.99), ([-1.0, 0.0, 0.0, 0.0], 0.0)])
    def test_dense_lies_within_the_interval(
        self, user: Connection, worker: HandWorker, vector: list[float], least: float
    ) -> None:
        (same,) = [
            one for one in find(worker, ask(user, worker), vector=vector, signal="dense") if one["document_id"] == "0"
        ]
        assert least < same["signal_score"] < least + 0.01

    def test_of_a_vector_of_zeros(self, user: Connection, worker: HandWorker) -> None:
        found = find(worker, ask(user, worker), question="at 10", vector=[0, 0, 0, 0], method="lexical", signal="dense")
        assert [one["signal_score"] for one in found] == pytest.approx([1e-6] * len(found))
        assert found

    def test_of_a_vector_of_the_wrong_length(self, user: Connection, worker: HandWorker) -> None:
        run_id = ask(user, worker)
        for signal in ("lexical", "dense", "both"):
            with pytest.raises(psycopg.errors.DataException) as wrong:
                find(worker, run_id, question="at 10", vector=[1, 0], method="lexical", signal=signal)
            assert wrong.value.sqlstate == "22000"

    def test_before_there_are_vectors(self, connection: Connection, user: Connection, worker: HandWorker) -> None:
        run_id = ask(user, worker)
        connection.execute("update pgclarify.corpus set embedding_space_id = null")
        by = {
            signal: find(worker, run_id, question="at 10", method="lexical", signal=signal)[0]["signal_score"]
            for signal in ("lexical", "dense", "both")
        }
        assert by["dense"] == pytest.approx(1e-6)
        assert by["both"] == pytest.approx(by["lexical"] / 2)
        assert find(worker, run_id, vector=[1, 0, 0, 0], signal="both") == []

    def test_lexical(self, connection: Connection, user: Connection, hire: Hire) -> None:
        """BM25 for each of the question's lexemes, in units of 4, bent below 1."""
        connection.execute("select pgclarify.create_corpus('insurance')")
        words = {
            "1": ["hail", "hail", "car"],
            "2": ["car", "van"],
            "3": ["van", "van", "van", "van"],
            "4": ["hail", "car", "van", "truck"],
        }
        add(connection, {key: " ".join(found) for key, found in words.items()})
        (worker := hire()).index_everything()
        question = ["hail", "car", "boat"]
        found = find(worker, ask(user, worker), question=" ".join(question), vector=[1, 0, 0, 0], signal="lexical")

        scores = bm25(words, question)
        expected = {key: math.tanh(scores.get(key, 0) / (4 * len(question))) for key in words}
        assert {one["document_id"]: one["signal_score"] for one in found} == pytest.approx(expected, abs=2e-6)
        assert all(0 < one["signal_score"] < 1 for one in found)

    @pytest.mark.parametrize("signal", ["lexical", "both"])
    def test_tell_nothing_of_words_that_only_others_may_read(
        self, connection: Connection, user: Connection, worker: HandWorker, make_role: MakeRole, signal: str
    ) -> None:
        add(connection, {"secret": "A merger with Zebra."}, readers=[make_role(name="boss")])
        worker.index_everything()
        run_id = ask(user, worker)
        nowhere, hidden = (
            [
                (one["document_id"], one["signal_score"])
                for one in find(worker, run_id, question=f"at 25 {word}", vector=[1, 0, 0, 0], signal=signal)
            ]
            for word in ("giraffe", "zebra")
        )
        assert hidden == nowhere
        assert max(score for _, score in nowhere) > 0.01

    @pytest.mark.parametrize("question", ["boat", "", "the"])
    def test_of_words_that_nothing_has(self, user: Connection, worker: HandWorker, question: str) -> None:
        run_id = ask(user, worker)
        found = find(worker, run_id, question=question, vector=[1, 0, 0, 0], signal="lexical")
        assert [one["signal_score"] for one in found] == pytest.approx([1e-6] * len(ANGLES))

    def test_both_is_the_mean(self, user: Connection, worker: HandWorker) -> None:
        run_id, vector = ask(user, worker), [0.9, 0.1, 0.0, 0.0]
        of = {
            signal: {
                one["document_id"]: one["signal_score"]
                for one in find(worker, run_id, question="at 25", vector=vector, signal=signal)
            }
            for signal in ("dense", "lexical", "both")
        }
        mean = {key: (of["dense"][key] + of["lexical"][key]) / 2 for key in of["dense"]}
        assert of["both"] == pytest.approx(mean, abs=1e-6)
        assert len(set(of["lexical"].values())) == 2

    @pytest.mark.parametrize("signal", ["dense", "lexical", "both"])
    def test_are_the_same_for_neighbors(
        self, connection: Connection, user: Connection, worker: HandWorker, signal: str
    ) -> None:
        run_id, vector = ask(user, worker), [0.9, 0.1, 0.0, 0.0]
        found = find(worker, run_id, question="at 25", vector=vector, signal=signal)
        neighbors = near(
            worker, run_id, [passage(connection, "0")], question="at 25", vector=vector, signal=signal, k=16
        )

        expected = {one["document_id"]: one["signal_score"] for one in found if one["document_id"] != "0"}
        assert {one["document_id"]: one["signal_score"] for one in neighbors} == pytest.approx(expected)


class TestNeighbors:
    def test_are_nearest_first_and_told_once(
        self, connection: Connection, user: Connection, worker: HandWorker
    ) -> None:
        batch = [passage(connection, "0"), passage(connection, "10")]
        rows = near(worker, ask(user, worker), batch, k=3)

        edges = [(row["via_passage_id"], row["document_id"]) for row in rows]
        zero, ten = (one["passage_id"] for one in batch)
        assert edges == [(zero, "10"), (zero, "25"), (zero, "45"), (ten, "0"), (ten, "25"), (ten, "45")]
        told = [row for row in rows if row["content"] is not None]
        assert sorted(row["document_id"] for row in told) == ["0", "10", "25", "45"]
        # With the edge of whoever is nearest.
        assert {row["document_id"]: row["via_passage_id"] for row in told if row["document_id"] in ("25", "45")} == {
            "25": ten,
            "45": ten,
        }
        (row,) = [row for row in told if row["document_id"] == "25"]
        assert (row["content"], row["start_char"], row["signal_score"]) == ("At 25.", 0, None)
        assert row["similarity"] == pytest.approx(math.cos(math.radians(15)), abs=0.001)

    def test_that_are_known_are_not_read_again(
        self, connection: Connection, user: Connection, worker: HandWorker
    ) -> None:
        known = [passage(connection, angle)["passage_id"] for angle in ("0", "10")]
        rows = near(worker, ask(user, worker), [passage(connection, "0")], k=2, known=known)

        assert [(row["document_id"], row["content"]) for row in rows] == [("10", None), ("25", "At 25.")]

    @pytest.mark.parametrize(("k", "found"), [(1, 1), (7, 7), (1000, 7)])
    def test_are_at_most_k(
        self, connection: Connection, user: Connection, worker: HandWorker, k: int, found: int
    ) -> None:
        assert len(near(worker, ask(user, worker), [passage(connection, "0")], k=k)) == found

    def test_that_may_not_be_read_take_no_place(
        self, connection: Connection, user: Connection, worker: HandWorker, make_role: MakeRole
    ) -> None:
        add(connection, {"10": "At 10."}, readers=[make_role(name="boss")])
        run_id, batch = ask(user, worker), [passage(connection, "0"), passage(connection, "10")]

        assert [(row["via_passage_id"], row["document_id"]) for row in near(worker, run_id, batch, k=2)] == [
            (batch[0]["passage_id"], "25"),
            (batch[0]["passage_id"], "45"),
        ], "nor do they lead anywhere"
        add(connection, {"10": "At 10."})
        assert [row["document_id"] for row in near(worker, run_id, batch, k=2)] == ["10", "25", "0", "25"]

    def test_that_are_gone(self, connection: Connection, user: Connection, worker: HandWorker) -> None:
        run_id, batch = ask(user, worker), [passage(connection, "0"), passage(connection, "10")]
        connection.execute("select pgclarify.remove_document('insurance', '10')")

        assert [row["document_id"] for row in near(worker, run_id, batch, k=2)] == ["25", "45"]

    def test_before_there_is_a_graph(self, connection: Connection, user: Connection, hire: Hire) -> None:
        connection.execute("select pgclarify.create_corpus('insurance')")
        load(connection, worker := hire(), *ANGLES)
        run_id = ask(user, worker)

        assert near(worker, run_id, [passage(connection, "0")]) == []
        assert near(worker, run_id, []) == []

    def test_of_a_space_that_another_transaction_has_dropped(
        self, connection: Connection, user: Connection, worker: HandWorker
    ) -> None:
        run_id, there = ask(user, worker), [passage(connection, "0")]
        space = scalar(connection, "select embedding_space_id from pgclarify.corpus")
        connection.execute(f"drop table pgclarify.neighborhood_{space}".encode())

        assert near(worker, run_id, there) == []
        assert find(worker, run_id, vector=[1, 0, 0, 0])


async def test_an_exploration_sends_few_statements(
    connection: Connection, user: Connection, worker: HandWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One for the first ranking, at most one for the neighbors of a batch, and one for the candidates."""
    sent: list[str] = []

    async def noted(pool: Pool, name: str, /, **parameters: Any) -> list[Any]:
        sent.append(name)
        return await fetch(pool, name, **parameters)

    monkeypatch.setattr(exploration, "fetch", noted)
    run_id = int(scalar(user, "select pgclarify.submit('at 25', 'insurance')"))
    query = Query("at 25", np.array([1, 0, 0, 0], dtype=np.float32), "dense", "lexical")
    async with open_pool(worker.connection.info.dsn) as pool:
        runs = Runs(pool, worker.worker_id)
        run = await runs.start(run_id)
        assert run is not None
        tables, trace = ExplorationTables(runs), Trace()
        first = await find_first(run, query, store=tables, depth=2, trace=trace)
        explored = await explore_passages(
            run,
            query,
            store=tables,
            first=first,
            scorer=by_signal,
            budget=6,
            batch_size=2,
            k=2,
            trace=trace,
        )
        assert await tables.record_candidates(run, explored) == [1, 2, 3, 4, 5, 6]

    assert [one.passage.document_id for one in first] == ["0", "10"]
    assert {one.passage.document_id for one in explored} == {"0", "10", "25", "45", "70", "100"}
    # Five batches, the last of which leads nowhere any more.
    assert sent == ["find_passages", *["find_neighbors"] * 4, "record_candidates"]
    leads = connection.execute(
        "select near.document_id, via.document_id, candidate.batch from pgclarify.candidate"
        " inner join pgclarify.passage as near on near.id = candidate.passage_id"
        " left join pgclarify.passage as via on via.id = candidate.via_passage_id"
        " order by candidate.batch, near.document_id"
    ).fetchall()
    assert leads == [
        ("0", None, 1), ("10", None, 1), ("25", "0", 2), ("45", "25", 3), ("70", "45", 4), ("100", "70", 5)
    ]  # fmt: skip


class TestOptions:
    """What `search` takes, and what the run keeps of it."""

    @pytest.mark.parametrize(
        ("options", "kept"),
        [
            ({"method": "dense"}, {"search": "dense"}),
            (
                {"method": "adaptive"},
                {"search": "hybrid", "retrieval": "adaptive", "reranker": "signal", "budget": 100},
            ),
            (
                {"method": "adaptive", "search": "lexical", "reranker": "model", "budget": 10},
                {"search": "lexical", "retrieval": "adaptive", "reranker": "model", "budget": 10},
            ),
            ({"reranker": "a-model"}, {"search": "hybrid", "reranker": "a-model", "budget": 100}),
            (
                {"method": "lexical", "reranker": "signal", "budget": 30.0},
                {"search": "lexical", "reranker": "signal", "budget": 30},
            ),
        ],
    )
    def test_settings(self, connection: Connection, options: dict[str, Any], kept: dict[str, Any]) -> None:
        settings = scalar(connection, "select pgclarify._search_settings(10, %s)", json.dumps(options))
        assert settings == kept | {"top_k": 10, "timeout": "60s"}

    def test_the_budget_is_no_less_than_what_is_asked_for(self, connection: Connection) -> None:
        budget = """select pgclarify._search_settings(%s, '{"method": "adaptive"}') -> 'budget'"""
        assert [scalar(connection, budget, top_k) for top_k in (1, 100, 101, 1000)] == [100, 100, 101, 1000]

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"budget": 10}, 'option "budget" is for method adaptive, or for a reranker'),
            ({"method": "lexical", "budget": 10}, 'option "budget" is for method adaptive, or for a reranker'),
            ({"search": "dense"}, 'option "search" is for method adaptive'),
            ({"method": "dense", "search": "dense"}, 'option "search" is for method adaptive'),
            ({"method": "adaptive", "search": "adaptive"}, 'option "search" has a wrong value'),
            ({"method": "adaptive", "budget": 0}, 'option "budget" has a wrong value'),
            ({"method": "adaptive", "budget": 1001}, 'option "budget" has a wrong value'),
            ({"method": "adaptive", "budget": 1.5}, 'option "budget" has a wrong value'),
            ({"method": "adaptive", "budget": 9}, "budget must not be less than top_k"),
            ({"reranker": "model", "budget": 9}, "budget must not be less than top_k"),
            ({"method": "adaptive", "reranker": 1}, 'option "reranker" has a wrong value'),
            ({"method": "adaptive", "reranker": "x" * 501}, 'option "reranker" has a wrong value'),
            ({"method": "adaptive", "reranker": " "}, 'option "reranker" has a wrong value'),
            ({"method": "adaptive", "reranker": "a\nb"}, 'option "reranker" has a wrong value'),
            ({"x" * 1000 + "\u202e": 1}, 'unknown option "x+…"'),
            ({"timeout": "9999999999999 years"}, 'option "timeout" has a wrong value'),
            ({"method": "exhaustive"}, 'option "method" has a wrong value'),
        ],
    )
    def test_that_are_refused(
        self, user: Connection, worker: HandWorker, options: dict[str, Any], message: str
    ) -> None:
        with pytest.raises(psycopg.errors.InvalidParameterValue, match=message) as refused:
            user.execute("select pgclarify.search('cars', 'insurance', options => %s)", [json.dumps(options)])
        assert refused.value.diag.message_hint
        assert len(str(refused.value)) < 1000

    def test_whole_numbers_are_kept_as_such(self, connection: Connection, user: Connection, worker: HandWorker) -> None:
        ids = [
            scalar(user, "select pgclarify.submit('cars', 'insurance', options => %s)", f'{{"budget": {budget}}}')
            for budget in ("8", "8.0", "0.8e1")
        ]
        assert connection.execute(
            "select distinct settings ->> 'budget', encode(reuse_key, 'hex') from pgclarify.run"
        ).fetchall() == [("8", scalar(connection, "select encode(max(reuse_key), 'hex') from pgclarify.run"))]
        assert worker.start(ids[1]) is not None
        assert len(worker.retrieve(ids[1], 1, "at 10", [1, 0, 0, 0])) == len(ANGLES)


class TestCandidates:
    def test_are_kept_as_given(self, connection: Connection, user: Connection, worker: HandWorker) -> None:
        run_id = ask(user, worker)
        assert record(worker, run_id, [passage(connection, "0"), passage(connection, "10")]) == [1, 2]
        assert record(worker, run_id, [passage(connection, "25")], first_rank=5) == [5]

        rows = user.execute(
            "select rank, document_id, score, origin, via_passage_id, batch, step_ordinal from pgclarify.candidate"
            " order by rank"
        ).fetchall()
        via = passage(connection, "0")["passage_id"]
        assert rows == [
            (1, "0", 0.5, "neighbor", None, 2, None),
            (2, "10", 0.5, "neighbor", via, 2, None),
            (5, "25", 0.5, "neighbor", None, 2, None),
        ]

    def test_that_are_gone_or_hidden_are_not_kept(
        self, connection: Connection, user: Connection, worker: HandWorker, make_role: MakeRole
    ) -> None:
        run_id = ask(user, worker)
        batch = [passage(connection, angle) for angle in ("0", "10", "25")]
        connection.execute("select pgclarify.remove_document('insurance', '0')")
        add(connection, {"10": "At 10."}, readers=[make_role(name="boss")])

        assert record(worker, run_id, batch) == [3]
        assert user.execute("select document_id from pgclarify.candidate").fetchall() == [("25",)]
