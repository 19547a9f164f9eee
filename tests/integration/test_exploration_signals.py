"""How well passages fit a question, by their words and by their vectors."""

from __future__ import annotations

import math

import psycopg
import pytest

from tests.integration.by_hand import MAKE_OPEN_CORPUS, Connection, HandWorker, Hire, MakeRole
from tests.integration.exploring import ANGLES, ask, find, near, passage, user, worker
from tests.integration.linking import add
from tests.integration.test_retrieval import bm25, cosine

pytestmark = pytest.mark.rolled_back

__all__ = ["user", "worker"]


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

    def test_a_vector_of_zeros_gives_the_lowest_signal(self, user: Connection, worker: HandWorker) -> None:
        found = find(worker, ask(user, worker), question="at 10", vector=[0, 0, 0, 0], method="lexical", signal="dense")
        assert [one["signal_score"] for one in found] == pytest.approx([1e-6] * len(found))
        assert found

    def test_a_vector_of_the_wrong_length_is_an_error(self, user: Connection, worker: HandWorker) -> None:
        run_id = ask(user, worker)
        for signal in ("lexical", "dense", "both"):
            with pytest.raises(psycopg.errors.DataException) as wrong:
                find(worker, run_id, question="at 10", vector=[1, 0], method="lexical", signal=signal)
            assert wrong.value.sqlstate == "22000"

    def test_before_there_are_vectors(self, connection: Connection, user: Connection, worker: HandWorker) -> None:
        run_id = ask(user, worker)
        connection.execute("update pgclarify_private.corpus set embedding_space_id = null")
        by = {
            signal: find(worker, run_id, question="at 10", method="lexical", signal=signal)[0]["signal_score"]
            for signal in ("lexical", "dense", "both")
        }
        assert by["dense"] == pytest.approx(1e-6)
        assert by["both"] == pytest.approx(by["lexical"] / 2)
        assert find(worker, run_id, vector=[1, 0, 0, 0], signal="both") == []

    def test_lexical(self, connection: Connection, user: Connection, hire: Hire) -> None:
        """BM25 for each of the question's lexemes, in units of 4, bent below 1."""
        connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
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
    def test_unknown_words_give_the_lowest_signal(self, user: Connection, worker: HandWorker, question: str) -> None:
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
