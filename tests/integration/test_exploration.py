"""Exploration in the database: first passages, their neighbors, signals, and the recorded candidates; its options."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import psycopg
import pytest

from pgclarify.data.runs import Run
from pgclarify.database.exploration import ExplorationTables
from pgclarify.database.pool import open_pool
from pgclarify.database.run_tables import RunTables
from pgclarify.database.runs import Runs
from pgclarify.operations.retrieval.exploration import Exploration, Query, by_signal, find_first
from tests.fakes.context import context_of
from tests.integration.explaining import Desk, desk
from tests.integration.exploring import ANGLES, ask, find, near, passage, record, user, worker
from tests.integration.linking import add, load
from tests.integration.manual_worker import MAKE_OPEN_CORPUS, MakeWorker, ManualWorker
from tests.integration.parametrize_in_one_test import parametrize_in_one_test
from tests.integration.retrieving import cosine
from tests.integration.test_retrieval import bm25
from tests.sessions import Connection, MakeRole, scalar

pytestmark = pytest.mark.rolled_back

__all__ = ["desk", "user", "worker"]


class TestNeighbors:
    def test_are_nearest_first_and_told_once(
        self, connection: Connection, user: Connection, worker: ManualWorker
    ) -> None:
        batch = [passage(connection, "0"), passage(connection, "10")]
        rows = near(worker, ask(user, worker), batch, k=3)

        edges = [(row["via_passage_id"], row["document_id"]) for row in rows]
        zero, ten = (one["passage_id"] for one in batch)
        assert edges == [(zero, "10"), (zero, "25"), (zero, "45"), (ten, "0"), (ten, "25"), (ten, "45")]
        told = [row for row in rows if row["content"] is not None]
        assert sorted(row["document_id"] for row in told) == ["0", "10", "25", "45"]
        # Each edge comes from the nearest passage of the batch.
        assert {row["document_id"]: row["via_passage_id"] for row in told if row["document_id"] in ("25", "45")} == {
            "25": ten,
            "45": ten,
        }
        (row,) = [row for row in told if row["document_id"] == "25"]
        assert (row["content"], row["start_char"], row["signal_score"]) == ("At 25.", 0, None)
        assert row["similarity"] == pytest.approx(math.cos(math.radians(15)), abs=0.001)

    def test_the_text_of_known_neighbors_is_not_read_again(
        self, connection: Connection, user: Connection, worker: ManualWorker
    ) -> None:
        known = [passage(connection, angle)["passage_id"] for angle in ("0", "10")]
        rows = near(worker, ask(user, worker), [passage(connection, "0")], k=2, known=known)

        assert [(row["document_id"], row["content"]) for row in rows] == [("10", None), ("25", "At 25.")]

    def test_hidden_neighbors_take_no_place(
        self, connection: Connection, user: Connection, worker: ManualWorker, make_role: MakeRole
    ) -> None:
        add(connection, {"10": "At 10."}, readers=[make_role(name="boss")])
        run_id, batch = ask(user, worker), [passage(connection, "0"), passage(connection, "10")]

        assert [(row["via_passage_id"], row["document_id"]) for row in near(worker, run_id, batch, k=2)] == [
            (batch[0]["passage_id"], "25"),
            (batch[0]["passage_id"], "45"),
        ], "they do not lead to other passages either"
        add(connection, {"10": "At 10."})
        assert [row["document_id"] for row in near(worker, run_id, batch, k=2)] == ["10", "25", "0", "25"]

    def test_removed_neighbors_are_left_out(
        self, connection: Connection, user: Connection, worker: ManualWorker
    ) -> None:
        run_id, batch = ask(user, worker), [passage(connection, "0"), passage(connection, "10")]
        connection.execute("select pgclarify.remove_document('insurance', '10')")

        assert [row["document_id"] for row in near(worker, run_id, batch, k=2)] == ["25", "45"]

    def test_before_there_is_a_graph(self, connection: Connection, user: Connection, make_worker: MakeWorker) -> None:
        connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
        load(connection, worker := make_worker(), *ANGLES)
        run_id = ask(user, worker)

        assert near(worker, run_id, [passage(connection, "0")]) == []
        assert near(worker, run_id, []) == []

    def test_a_dropped_space_has_no_neighbors(
        self, connection: Connection, user: Connection, worker: ManualWorker
    ) -> None:
        run_id, there = ask(user, worker), [passage(connection, "0")]
        space = scalar(connection, "select embedding_space_id from pgclarify_private.corpus")
        connection.execute(f"drop table pgclarify_private.neighborhood_{space}".encode())

        assert near(worker, run_id, there) == []
        assert find(worker, run_id, vector=[1, 0, 0, 0])


@pytest.mark.parametrize(
    ("operation", "is_kept"),
    [("clarify", True), ("list_answers", True), ("clarifying_questions", False), ("investigate", False)],
)
def test_the_words_and_the_vector_of_a_search_are_kept_if_it_is_for_the_question_itself(
    desk: Desk, operation: str, *, is_kept: bool
) -> None:
    run_id = desk.start(desk.enter(operation, {"top_k": 20, "method": "hybrid"}))
    find(desk.worker, run_id, question="hired vehicles", vector=[1, 0, 0, 0])

    kept = "select relaxed_question, question_vector is not null from pgclarify_private.run where run_id = %s"
    assert desk.owner.execute(kept, [run_id]).fetchone() == (("hired vehicles", True) if is_kept else (None, False))


@pytest.mark.committed
async def test_an_exploration_sends_few_statements(
    connection: Connection, user: Connection, worker: ManualWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One for the first ranking, at most one for the neighbors of a batch, and one for the candidates."""
    sent: list[str] = []

    fetch = Runs.fetch

    async def noted(runs: Runs, run: Run, name: str, /, **parameters: Any) -> list[Any]:
        sent.append(name)
        return await fetch(runs, run, name, **parameters)

    monkeypatch.setattr(Runs, "fetch", noted)
    run_id = int(scalar(user, "select pgclarify.submit('clarify', 'at 25', 'insurance')"))
    query = Query("at 25", np.array([1, 0, 0, 0], dtype=np.float32), "dense", "lexical")
    async with open_pool(worker.connection.info.dsn) as pool:
        runs = Runs(pool, worker.worker_id)
        run = await runs.start(run_id)
        assert isinstance(run, Run)
        tables = ExplorationTables(runs)
        context = context_of(run, RunTables(runs, run), passages=tables)
        first = await find_first(context, query, depth=2)
        explored = await Exploration(
            context,
            query,
            first=first,
            scorer=by_signal,
            max_passages=6,
            batch_size=2,
            k=2,
        ).carry_out()
        assert await tables.record_candidates(run, explored) == [1, 2, 3, 4, 5, 6]

    assert [one.passage.document_id for one in first] == ["0", "10"]
    assert {one.passage.document_id for one in explored} == {"0", "10", "25", "45", "70", "100"}
    # Five batches. The last one leads to no new passage.
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


class TestCandidates:
    def test_are_kept_as_given(self, connection: Connection, user: Connection, worker: ManualWorker) -> None:
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

    def test_removed_or_hidden_candidates_are_not_stored(
        self, connection: Connection, user: Connection, worker: ManualWorker, make_role: MakeRole
    ) -> None:
        run_id = ask(user, worker)
        batch = [passage(connection, angle) for angle in ("0", "10", "25")]
        connection.execute("select pgclarify.remove_document('insurance', '0')")
        add(connection, {"10": "At 10."}, readers=[make_role(name="boss")])

        assert record(worker, run_id, batch) == [3]
        assert user.execute("select document_id from pgclarify.candidate").fetchall() == [("25",)]


SETTINGS = """
    select pgclarify_private.check_settings(
        'search',
        pgclarify_private.check_options(%s, pgclarify_private.options_of('search'))
        || jsonb_build_object('top_k', %s::integer)
    )
"""


class TestOptions:
    """The options of `search`, and the settings that the run stores."""

    @parametrize_in_one_test(
        "options, kept",
        [
            ({"method": "dense"}, {"method": "dense"}),
            (
                {"retrieval": "adaptive"},
                {"method": "hybrid", "retrieval": "adaptive", "reranker": "signal", "max_passages": 100},
            ),
            (
                {"retrieval": "adaptive", "method": "lexical", "reranker": "model", "max_passages": 10},
                {"method": "lexical", "retrieval": "adaptive", "reranker": "model", "max_passages": 10},
            ),
            ({"reranker": "a-model"}, {"method": "hybrid", "reranker": "a-model", "max_passages": 100}),
            (
                {"method": "lexical", "reranker": "signal", "max_passages": 30.0},
                {"method": "lexical", "reranker": "signal", "max_passages": 30},
            ),
        ],
    )
    def test_options_are_stored_with_their_defaults(
        self, connection: Connection, options: dict[str, Any], kept: dict[str, Any]
    ) -> None:
        assert scalar(connection, SETTINGS, json.dumps(options), 10) == kept | {"top_k": 10, "timeout": "60s"}

    def test_max_passages_is_no_less_than_what_is_asked_for(self, connection: Connection) -> None:
        given = '{"retrieval": "adaptive"}'
        for top_k, most in ((1, 100), (100, 100), (101, 101), (1000, 1000)):
            assert scalar(connection, SETTINGS, given, top_k)["max_passages"] == most

    @parametrize_in_one_test(
        "options",
        [
            {"max_passages": 10},
            {"method": "lexical", "max_passages": 10},
            {"retrieval": "adaptive", "max_passages": 9},
            {"reranker": "model", "max_passages": 9},
        ],
    )
    def test_max_passages_is_for_more_passages_of_an_exploration_or_a_reranker(
        self, user: Connection, worker: ManualWorker, options: dict[str, Any]
    ) -> None:
        with pytest.raises(psycopg.errors.InvalidParameterValue) as refused:
            user.execute("select pgclarify.search('cars', 'insurance', options => %s)", [json.dumps(options)])
        assert refused.value.diag.column_name == "max_passages"
        assert refused.value.diag.message_hint


class TestOptionsOfClarify:
    """What `clarify` takes."""

    CALLS = (
        "select pgclarify.submit('clarify', 'cars', 'insurance', jsonb_build_object('top_k', %s::integer) || %s::jsonb)",  # noqa: E501
        "select pgclarify.clarify('cars', 'insurance', %s, options => %s)",
    )

    @parametrize_in_one_test("call", CALLS)
    def test_no_more_can_be_judged_than_are_retrieved(self, user: Connection, worker: ManualWorker, call: str) -> None:
        with pytest.raises(psycopg.errors.InvalidParameterValue) as refused:
            user.execute(call.encode(), [4, '{"max_passages": 5}'])
        assert refused.value.diag.column_name == "max_passages"
        assert refused.value.diag.message_hint

    def test_as_many_can_be_judged_as_are_retrieved(self, user: Connection, worker: ManualWorker) -> None:
        for options in ('{"max_passages": 4}', '{"max_passages": 5, "retrieval": "adaptive"}'):
            assert scalar(user, self.CALLS[0], 4, options)


class TestPassages:
    def test_are_those_of_a_search_and_none_is_recorded(self, user: Connection, worker: ManualWorker) -> None:
        run_id = ask(user, worker)
        found = find(worker, run_id, vector=[1, 0, 0, 0], depth=3)

        assert [one["document_id"] for one in found] == ["0", "10", "25"]
        assert {one["origin"] for one in found} == {"dense"}
        assert [one["signal_score"] for one in found] == [None] * 3
        assert scalar(user, "select count(*) from pgclarify.candidate") == 0

    def test_keep_the_vector_of_the_question(
        self, connection: Connection, user: Connection, worker: ManualWorker
    ) -> None:
        run_id = ask(user, worker)
        find(worker, run_id, vector=[1, 0, 0, 0])
        vector = "select question_vector::text from pgclarify_private.run where run_id = %s"
        assert scalar(connection, vector, run_id) == "[1,0,0,0]"

        connection.execute("update pgclarify_private.run set operation = 'investigate' where run_id = %s", [run_id])
        find(worker, run_id, vector=[0, 1, 0, 0])
        assert scalar(connection, vector, run_id) == "[1,0,0,0]", "the vector of a step is not that of the question"

    def test_a_lost_or_cancelled_run_finds_nothing_more(
        self, connection: Connection, user: Connection, worker: ManualWorker
    ) -> None:
        run_id = ask(user, worker)
        there = [passage(connection, "0")]
        with pytest.raises(psycopg.Error) as refused:
            find(worker, run_id, attempt=2)
        assert refused.value.sqlstate == "PC006"
        with pytest.raises(psycopg.Error) as refused:
            near(worker, run_id, there, attempt=2)
        assert refused.value.sqlstate == "PC006"
        user.execute("select pgclarify.cancel(array[%s]::bigint[])", [run_id])
        with pytest.raises(psycopg.Error) as refused:
            record(worker, run_id, there)
        assert refused.value.sqlstate == "PC006"

    def test_a_run_of_a_dropped_corpus_fails(
        self, connection: Connection, user: Connection, worker: ManualWorker
    ) -> None:
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

    def test_a_run_of_a_role_that_lost_the_corpus_is_refused(
        self, connection: Connection, user: Connection, worker: ManualWorker, make_role: MakeRole
    ) -> None:
        run_id, there = ask(user, worker), [passage(connection, "0")]
        connection.execute("update pgclarify_private.corpus set readers = %s", [[make_role(name="boss")]])
        calls: tuple[Callable[[], object], ...] = (
            lambda: find(worker, run_id, question="at 10", method="lexical"),
            lambda: near(worker, run_id, there),
            lambda: record(worker, run_id, there),
            lambda: worker.retrieve(run_id, 1, "at 10", [1, 0, 0, 0]),
        )
        for call in calls:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                call()
        connection.execute("update pgclarify_private.corpus set readers = '{pgclarify_reader}'")
        assert near(worker, run_id, there)

    def test_a_vector_of_another_embedding_model_is_refused(
        self, connection: Connection, user: Connection, worker: ManualWorker
    ) -> None:
        run_id = ask(user, worker)
        vector, there = [1.0, 0.0, 0.0, 0.0], [passage(connection, "0")]
        with pytest.raises(psycopg.errors.SerializationFailure):
            find(worker, run_id, vector=vector, embedding_model="another")
        with pytest.raises(psycopg.errors.SerializationFailure):
            near(worker, run_id, there, vector=vector, embedding_model="another")
        with pytest.raises(psycopg.errors.SerializationFailure):
            near(worker, run_id, there, embedding_model="another")
        # A lexical search uses no model, so no model is wrong.
        assert find(worker, run_id, question="at 10", method="lexical", embedding_model="another")


class TestSignals:
    def test_dense(self, user: Connection, worker: ManualWorker) -> None:
        vector = [math.cos(math.radians(-5)), math.sin(math.radians(-5)), 0.0, 0.0]
        found = find(worker, ask(user, worker), vector=vector, signal="dense")

        expected = {
            f"{angle:g}": max(0.0, cosine(vector, [math.cos(math.radians(angle)), math.sin(math.radians(angle)), 0, 0]))
            for angle in ANGLES
        }
        # Halves of floats.
        assert {one["document_id"]: one["signal_score"] for one in found} == pytest.approx(expected, abs=0.001)
        assert all(0 < one["signal_score"] < 1 for one in found)

    def test_dense_lies_within_the_interval(self, user: Connection, worker: ManualWorker) -> None:
        run_id = ask(user, worker)
        for first, least in ((1, 0.99), (-1, 0.0)):
            found = find(worker, run_id, vector=[first, 0, 0, 0], signal="dense")
            (score,) = (one["signal_score"] for one in found if one["document_id"] == "0")
            assert least < score < least + 0.01

    def test_a_vector_of_zeros_gives_the_lowest_signal(self, user: Connection, worker: ManualWorker) -> None:
        found = find(worker, ask(user, worker), question="at 10", vector=[0, 0, 0, 0], method="lexical", signal="dense")
        assert [one["signal_score"] for one in found] == pytest.approx([1e-6] * len(found))
        assert found

    def test_a_vector_of_the_wrong_length_is_an_error(self, user: Connection, worker: ManualWorker) -> None:
        run_id = ask(user, worker)
        for signal in ("lexical", "dense", "both"):
            with pytest.raises(psycopg.errors.DataException) as wrong:
                find(worker, run_id, question="at 10", vector=[1, 0], method="lexical", signal=signal)
            assert wrong.value.sqlstate == "22000"

    def test_before_there_are_vectors(self, connection: Connection, user: Connection, worker: ManualWorker) -> None:
        run_id = ask(user, worker)
        connection.execute("update pgclarify_private.corpus set embedding_space_id = null")
        by = {
            signal: find(worker, run_id, question="at 10", method="lexical", signal=signal)[0]["signal_score"]
            for signal in ("lexical", "dense", "both")
        }
        assert by["dense"] == pytest.approx(1e-6)
        assert by["both"] == pytest.approx(by["lexical"] / 2)
        assert find(worker, run_id, vector=[1, 0, 0, 0], signal="both") == []

    def test_lexical(self, connection: Connection, user: Connection, make_worker: MakeWorker) -> None:
        """BM25 for each of the question's lexemes, in units of 4, bent below 1."""
        connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
        words = {
            "1": ["hail", "hail", "car"],
            "2": ["car", "van"],
            "3": ["van", "van", "van", "van"],
            "4": ["hail", "car", "van", "truck"],
        }
        add(connection, {key: " ".join(found) for key, found in words.items()})
        (worker := make_worker()).index_everything()
        question = ["hail", "car", "boat"]
        found = find(worker, ask(user, worker), question=" ".join(question), vector=[1, 0, 0, 0], signal="lexical")

        scores = bm25(words, question)
        expected = {key: math.tanh(scores.get(key, 0) / (4 * len(question))) for key in words}
        assert {one["document_id"]: one["signal_score"] for one in found} == pytest.approx(expected, abs=2e-6)
        assert all(0 < one["signal_score"] < 1 for one in found)

    def test_tell_nothing_of_words_that_only_others_may_read(
        self, connection: Connection, user: Connection, worker: ManualWorker, make_role: MakeRole
    ) -> None:
        add(connection, {"secret": "A merger with Zebra."}, readers=[make_role(name="boss")])
        worker.index_everything()
        run_id = ask(user, worker)
        nowhere, hidden = (
            [
                (one["document_id"], one["signal_score"])
                for signal in ("lexical", "both")
                for one in find(worker, run_id, question=f"at 25 {word}", vector=[1, 0, 0, 0], signal=signal)
            ]
            for word in ("giraffe", "zebra")
        )
        assert hidden == nowhere
        assert max(score for _, score in nowhere) > 0.01

    def test_unknown_words_give_the_lowest_signal(self, user: Connection, worker: ManualWorker) -> None:
        run_id = ask(user, worker)
        for question in ("boat", "", "the"):
            found = find(worker, run_id, question=question, vector=[1, 0, 0, 0], signal="lexical")
            assert [one["signal_score"] for one in found] == pytest.approx([1e-6] * len(ANGLES))

    def test_both_is_the_mean(self, user: Connection, worker: ManualWorker) -> None:
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

    def test_are_the_same_for_neighbors(self, connection: Connection, user: Connection, worker: ManualWorker) -> None:
        run_id, there = ask(user, worker), [passage(connection, "0")]
        for signal in ("dense", "lexical", "both"):
            asked: dict[str, Any] = {"question": "at 25", "vector": [0.9, 0.1, 0.0, 0.0], "signal": signal}
            found = {one["document_id"]: one["signal_score"] for one in find(worker, run_id, **asked)}
            neighbors = near(worker, run_id, there, k=16, **asked)
            assert {one["document_id"]: one["signal_score"] for one in neighbors} | {"0": found["0"]} == pytest.approx(
                found
            )
