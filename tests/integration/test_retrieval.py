"""Retrieval against plain Python: BM25, cosine similarity, the mean of both."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence

import psycopg
import pytest

from tests.integration.manual_worker import MakeWorker, vector_of
from tests.integration.parametrize_in_one_test import parametrize_in_one_test
from tests.integration.retrieving import add_all, cosine, lexical, retrieve
from tests.sessions import Connection, scalar

pytestmark = pytest.mark.rolled_back

SIMPLE = '{"search_config": "simple"}'


def bm25(passages: Mapping[str, list[str]], question: Sequence[str]) -> dict[str, float]:
    """BM25 with k1 = 1.2 and b = 0.75 in Lucene's form: the score of each passage, a list of words, that matches."""
    average = sum(len(words) for words in passages.values()) / len(passages)
    scores: dict[str, float] = {}
    for word in set(question):
        holding = sum(word in words for words in passages.values())
        weight = math.log(1 + (len(passages) - holding + 0.5) / (holding + 0.5))
        for key, words in passages.items():
            if occurrences := words.count(word):
                length = 1.2 * (1 - 0.75 + 0.75 * len(words) / average)
                scores[key] = scores.get(key, 0.0) + weight * occurrences / (occurrences + length)
    return scores


class TestLexical:
    @pytest.mark.parametrize("seed", range(3))
    def test_scores_are_those_of_bm25(self, connection: Connection, make_worker: MakeWorker, seed: int) -> None:
        chance = random.Random(seed)  # noqa: S311 - not for secrets
        words = [f"w{number}" for number in range(30)]
        # Some words are everywhere, most are rare, and passages repeat theirs.
        weights = [1 / (number + 1) for number in range(30)]
        passages = {
            str(number): chance.choices(words, weights, k=chance.choice([1, 5, 20, 60])) for number in range(40)
        }
        connection.execute("select pgclarify.create_corpus('insurance', options => %s)", [SIMPLE])
        add_all(connection, {key: " ".join(value) for key, value in passages.items()})
        make_worker().index_everything()

        for _ in range(10):
            question = chance.choices([*words, "unknown"], k=chance.randint(1, 8))
            expected = bm25(passages, question)

            found = lexical(connection, " ".join(question))

            assert {key for key, _ in found} == set(expected)
            for key, score in found:
                assert score == pytest.approx(expected[key], rel=1e-6)
            assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)

    def test_scores_follow_what_changes(self, connection: Connection, make_worker: MakeWorker) -> None:
        """Removed and replaced passages no longer count, and their words do not either."""
        connection.execute("select pgclarify.create_corpus('insurance', options => %s)", [SIMPLE])
        documents = {str(number): f"car {'van ' * number}truck{number % 3}" for number in range(12)}
        add_all(connection, documents)
        worker = make_worker()
        worker.index_everything()
        for number in (1, 4, 7):
            scalar(connection, "select pgclarify.remove_document('insurance', %s)", str(number))
            del documents[str(number)]
        documents["2"] = "bus bus car"
        add_all(connection, {"2": documents["2"]})
        worker.index_everything()

        for question in ("car", "van truck1", "bus truck0 car"):
            expected = bm25({key: content.split() for key, content in documents.items()}, question.split())
            assert dict(lexical(connection, question)) == pytest.approx(expected, rel=1e-6)

    def test_more_occurrences_than_a_rank_tells_apart(self, connection: Connection, make_worker: MakeWorker) -> None:
        connection.execute("select pgclarify.create_corpus('insurance', options => %s)", [SIMPLE])
        passages = {str(count): ["car"] * count + ["van"] * (70 - count) for count in (1, 2, 15, 16, 62, 63, 64, 70)}
        add_all(connection, {key: " ".join(value) for key, value in passages.items()})
        make_worker().index_everything()

        assert dict(lexical(connection, "car")) == pytest.approx(bm25(passages, ["car"]), rel=3e-3)

    def test_lexemes_are_any_text(self, connection: Connection, make_worker: MakeWorker) -> None:
        words = ["it's", "o''brien", "back\\slash", "a'b\\c", "1.5", "50%", "foo@bar.org", "/usr/bin", "C:*", "d'été"]
        # The parser keeps quotes in paths of URLs.
        words.append("example.org/o'brien")
        connection.execute("select pgclarify.create_corpus('insurance', options => %s)", [SIMPLE])
        add_all(connection, {word: f"here is {word} in words" for word in words})
        make_worker().index_everything()
        assert scalar(connection, "select count(*) from pgclarify_private.term where strpos(lexeme, chr(39)) > 0") > 0

        assert [lexical(connection, word)[0][0] for word in words] == words

    @pytest.fixture
    def car_and_cart(self, connection: Connection, make_worker: MakeWorker) -> Connection:
        connection.execute("select pgclarify.create_corpus('insurance')")
        add_all(connection, {"1": "A car.", "2": "A cart."})
        make_worker().index_everything()
        return connection

    @parametrize_in_one_test(
        "question", ["!", "car & | ! <-> ( ) :* ", r"'car' & \\", "'", "\\", "car:*A", "-car", "the of"]
    )
    def test_a_question_is_words_and_nothing_else(self, car_and_cart: Connection, question: str) -> None:
        assert [key for key, _ in lexical(car_and_cart, question)] == (["1"] if "car" in question else [])

    def test_common_words(self, connection: Connection, make_worker: MakeWorker) -> None:
        """Passages with only common words of the question are left out if there are too many of them.

        A passage with all words of the question is found even if the rarest word is too common to be scored.
        """
        connection.execute("select pgclarify.create_corpus('insurance', options => %s)", [SIMPLE])
        # A paragraph is a passage.
        common = {"r": "\n\n".join(["rental"] * 5100), "c": "\n\n".join(["car"] * 52)}
        add_all(connection, common | {"rare": "car needle", "zz": "rental car"})
        make_worker().index_everything()
        # The counters pretend that there are a hundred times as many cars.
        connection.execute("update pgclarify_private.term set passages = 5202 where lexeme = 'car'")
        connection.execute(
            "insert into pgclarify_private.corpus_tally (corpus_id, passages, lexemes) values (1, 5148, 5148)"
        )

        assert [key for key, _ in lexical(connection, "car needle", 3)] == ["rare"]
        assert len(lexical(connection, "car", 3)) == 3
        assert lexical(connection, "unknown") == []
        assert lexical(connection, "rental car", 5)[0][0] == "zz"


class TestDense:
    def test_similarity_is_the_cosine(self, connection: Connection, make_worker: MakeWorker) -> None:
        connection.execute("select pgclarify.create_corpus('insurance')")
        documents = {str(number): f"text {number}" for number in range(50)}
        add_all(connection, documents)
        worker = make_worker()
        worker.index_everything()
        asked = vector_of("question")
        expected = sorted(((cosine(asked, vector_of(text)), key) for key, text in documents.items()), reverse=True)

        found = retrieve(connection, worker, "question", asked, method="dense", top_k=10)

        assert [passage["document_id"] for passage in found] == [key for _, key in expected[:10]]
        # Vectors are stored with eleven bits of precision.
        assert [passage["score"] for passage in found] == pytest.approx([score for score, _ in expected[:10]], abs=2e-3)
        assert {passage["origin"] for passage in found} == {"dense"}
        assert [passage["rank"] for passage in found] == list(range(1, 11))

    def test_a_vector_of_the_wrong_length(self, connection: Connection, make_worker: MakeWorker) -> None:
        connection.execute("select pgclarify.create_corpus('insurance')")
        add_all(connection, {"1": "Cars."})
        worker = make_worker()
        worker.index_everything()

        with pytest.raises(psycopg.errors.DataException) as wrong:
            retrieve(connection, worker, "cars", [1.0, 0.0], method="dense")
        assert wrong.value.sqlstate == "22000"

    def test_nothing_is_open_yet(self, connection: Connection, make_worker: MakeWorker) -> None:
        connection.execute("select pgclarify.create_corpus('insurance')")
        add_all(connection, {"1": "Cars."})

        for search in ("dense", "lexical", "hybrid"):
            assert retrieve(connection, make_worker(), "cars", [1.0, 0.0, 0.0, 0.0], method=search) == []


class TestHybrid:
    def test_the_score_is_the_mean_of_both_brought_to_0_to_1(
        self, connection: Connection, make_worker: MakeWorker
    ) -> None:
        connection.execute("select pgclarify.create_corpus('insurance', options => %s)", [SIMPLE])
        chance = random.Random(1)  # noqa: S311 - not for secrets
        words = [f"w{number}" for number in range(12)]
        documents = {str(number): " ".join(chance.choices(words, k=6)) for number in range(60)}
        add_all(connection, documents)
        worker = make_worker()
        worker.index_everything()
        asked = vector_of("question")

        lists = {
            search: [
                (passage["document_id"], passage["score"])
                for passage in retrieve(connection, worker, "w1 w2", asked, method=search, top_k=100)
            ]
            for search in ("dense", "lexical")
        }
        found = retrieve(connection, worker, "w1 w2", asked, method="hybrid", top_k=15)

        scores: dict[str, float] = {}
        places: dict[str, list[tuple[int, str]]] = {}
        for search, ranking in lists.items():
            most, least = ranking[0][1], ranking[-1][1]
            for place, (key, score) in enumerate(ranking, 1):
                scores[key] = scores.get(key, 0.0) + (score - least) / (most - least) / 2
                places.setdefault(key, []).append((place, search))
        expected = sorted(scores, key=lambda key: (-scores[key], key))[:15]
        assert len(lists["dense"]) == 60
        assert 0 < len(lists["lexical"]) < 60
        assert [passage["document_id"] for passage in found] == expected
        assert [passage["score"] for passage in found] == pytest.approx([scores[key] for key in expected])
        assert [passage["origin"] for passage in found] == [min(places[key])[1] for key in expected]
