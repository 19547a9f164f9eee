"""Retrieval against plain Python (BM25, cosine similarity, the mean of both), and for roles that may see little."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Mapping, Sequence
from typing import Any

import psycopg
import pytest

from tests.integration.by_hand import (
    MAKE_OPEN_CORPUS,
    Connect,
    Connection,
    HandWorker,
    Hire,
    MakeRole,
    scalar,
    vector_of,
)
from tests.integration.counts import assert_counts_agree
from tests.integration.in_turn import in_turn

pytestmark = pytest.mark.rolled_back

SIMPLE = '{"search_config": "simple"}'


def add_all(
    connection: Connection, documents: Mapping[str, str], readers: Mapping[str, Sequence[str]] | None = None
) -> None:
    rows = [
        {"id": document_id, "content": content, "readers": (readers or {}).get(document_id)}
        for document_id, content in documents.items()
    ]
    connection.execute(
        """
        select pgclarify.add_document('insurance', given.id, given.content, readers => given.readers)
        from jsonb_to_recordset(%s) as given (id text, content text, readers name[])
        """,
        [json.dumps(rows)],
    )


def lexical(connection: Connection, question: str, top_k: int = 1000) -> list[tuple[str, float]]:
    return connection.execute(
        "select document_id, score"
        " from pgclarify.search(%s, 'insurance', %s, '{\"method\": \"lexical\"}') order by rank",
        [question, top_k],
    ).fetchall()


def retrieve(
    connection: Connection,
    worker: HandWorker,
    question: str,
    vector: Sequence[float] | None,
    *,
    method: str,
    top_k: int = 10,
) -> list[dict[str, Any]]:
    """Ask, and retrieve for the run."""
    row = connection.execute(
        "select pgclarify.submit('clarify', %s, 'insurance', jsonb_build_object('top_k', %s::integer) || jsonb_build_object('method', %s::text))",  # noqa: E501
        [question, top_k, method],
    ).fetchone()
    assert row is not None
    run = worker.start(row[0])
    assert run is not None
    return worker.retrieve(row[0], run["attempt"], question, vector)


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


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True)) / (math.hypot(*one) * math.hypot(*other))


class TestLexical:
    @pytest.mark.parametrize("seed", range(3))
    def test_scores_are_those_of_bm25(self, connection: Connection, hire: Hire, seed: int) -> None:
        chance = random.Random(seed)  # noqa: S311 - not for secrets
        words = [f"w{number}" for number in range(30)]
        # Some words are everywhere, most are rare, and passages repeat theirs.
        weights = [1 / (number + 1) for number in range(30)]
        passages = {
            str(number): chance.choices(words, weights, k=chance.choice([1, 5, 20, 60])) for number in range(40)
        }
        connection.execute("select pgclarify.create_corpus('insurance', options => %s)", [SIMPLE])
        add_all(connection, {key: " ".join(value) for key, value in passages.items()})
        hire().index_everything()

        for _ in range(10):
            question = chance.choices([*words, "unknown"], k=chance.randint(1, 8))
            expected = bm25(passages, question)

            found = lexical(connection, " ".join(question))

            assert {key for key, _ in found} == set(expected)
            for key, score in found:
                assert score == pytest.approx(expected[key], rel=1e-6)
            assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)

    def test_scores_follow_what_changes(self, connection: Connection, hire: Hire) -> None:
        """Removed and replaced passages no longer count, and their words do not either."""
        connection.execute("select pgclarify.create_corpus('insurance', options => %s)", [SIMPLE])
        documents = {str(number): f"car {'van ' * number}truck{number % 3}" for number in range(12)}
        add_all(connection, documents)
        worker = hire()
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

    def test_more_occurrences_than_a_rank_tells_apart(self, connection: Connection, hire: Hire) -> None:
        connection.execute("select pgclarify.create_corpus('insurance', options => %s)", [SIMPLE])
        passages = {str(count): ["car"] * count + ["van"] * (70 - count) for count in (1, 2, 15, 16, 62, 63, 64, 70)}
        add_all(connection, {key: " ".join(value) for key, value in passages.items()})
        hire().index_everything()

        assert dict(lexical(connection, "car")) == pytest.approx(bm25(passages, ["car"]), rel=3e-3)

    def test_lexemes_are_any_text(self, connection: Connection, hire: Hire) -> None:
        words = ["it's", "o''brien", "back\\slash", "a'b\\c", "1.5", "50%", "foo@bar.org", "/usr/bin", "C:*", "d'été"]
        # The parser keeps quotes in paths of URLs.
        words.append("example.org/o'brien")
        connection.execute("select pgclarify.create_corpus('insurance', options => %s)", [SIMPLE])
        add_all(connection, {word: f"here is {word} in words" for word in words})
        hire().index_everything()
        assert scalar(connection, "select count(*) from pgclarify_private.term where strpos(lexeme, chr(39)) > 0") > 0

        assert [lexical(connection, word)[0][0] for word in words] == words

    @pytest.fixture
    def car_and_cart(self, connection: Connection, hire: Hire) -> Connection:
        connection.execute("select pgclarify.create_corpus('insurance')")
        add_all(connection, {"1": "A car.", "2": "A cart."})
        hire().index_everything()
        return connection

    @in_turn("question", ["!", "car & | ! <-> ( ) :* ", r"'car' & \\", "'", "\\", "car:*A", "-car", "the of"])
    def test_a_question_is_words_and_nothing_else(self, car_and_cart: Connection, question: str) -> None:
        assert [key for key, _ in lexical(car_and_cart, question)] == (["1"] if "car" in question else [])

    @pytest.mark.committed
    def test_common_words(self, connection: Connection, hire: Hire) -> None:
        """Passages with only common words of the question are left out if there are too many of them.

        A passage with all words of the question is found even if the rarest word is too common to be scored.
        """
        connection.execute("select pgclarify.create_corpus('insurance', options => %s)", [SIMPLE])
        # A paragraph is a passage.
        common = {"r": "\n\n".join(["rental"] * 5100), "c": "\n\n".join(["car"] * 5200)}
        add_all(connection, common | {"rare": "car needle", "zz": "rental car"})
        hire().index_everything()

        assert [key for key, _ in lexical(connection, "car needle", 3)] == ["rare"]
        assert len(lexical(connection, "car", 3)) == 3
        assert lexical(connection, "unknown") == []
        assert lexical(connection, "rental car", 5)[0][0] == "zz"


class TestDense:
    def test_similarity_is_the_cosine(self, connection: Connection, hire: Hire) -> None:
        connection.execute("select pgclarify.create_corpus('insurance')")
        documents = {str(number): f"text {number}" for number in range(50)}
        add_all(connection, documents)
        worker = hire()
        worker.index_everything()
        asked = vector_of("question")
        expected = sorted(((cosine(asked, vector_of(text)), key) for key, text in documents.items()), reverse=True)

        found = retrieve(connection, worker, "question", asked, method="dense", top_k=10)

        assert [passage["document_id"] for passage in found] == [key for _, key in expected[:10]]
        # Vectors are stored with eleven bits of precision.
        assert [passage["score"] for passage in found] == pytest.approx([score for score, _ in expected[:10]], abs=2e-3)
        assert {passage["origin"] for passage in found} == {"dense"}
        assert [passage["rank"] for passage in found] == list(range(1, 11))

    def test_a_vector_of_the_wrong_length(self, connection: Connection, hire: Hire) -> None:
        connection.execute("select pgclarify.create_corpus('insurance')")
        add_all(connection, {"1": "Cars."})
        worker = hire()
        worker.index_everything()

        with pytest.raises(psycopg.errors.DataException) as wrong:
            retrieve(connection, worker, "cars", [1.0, 0.0], method="dense")
        assert wrong.value.sqlstate == "22000"

    def test_nothing_is_open_yet(self, connection: Connection, hire: Hire) -> None:
        connection.execute("select pgclarify.create_corpus('insurance')")
        add_all(connection, {"1": "Cars."})

        for search in ("dense", "lexical", "hybrid"):
            assert retrieve(connection, hire(), "cars", [1.0, 0.0, 0.0, 0.0], method=search) == []


class TestHybrid:
    def test_the_score_is_the_mean_of_both_brought_to_0_to_1(self, connection: Connection, hire: Hire) -> None:
        connection.execute("select pgclarify.create_corpus('insurance', options => %s)", [SIMPLE])
        chance = random.Random(1)  # noqa: S311 - not for secrets
        words = [f"w{number}" for number in range(12)]
        documents = {str(number): " ".join(chance.choices(words, k=6)) for number in range(60)}
        add_all(connection, documents)
        worker = hire()
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


QUESTION = [1.0, 0.0, 0.0, 0.0]
SECRET, REDACTED, KEPT = "Cars cost 70 dollars.", "Cars cost money.", "Vans and cars differ."


@pytest.mark.parametrize(
    ("visible", "restricted", "least_recall"),
    [
        (12, 2500, 1.0),
        # If the visible passages are the farthest, the index scan ends before it finds them.
        (1500, 1500, 0.0),
        (2500, 20, 0.9),
    ],
)
def test_dense_finds_what_is_visible(
    connection: Connection,
    connect: Connect,
    hire: Hire,
    make_role: MakeRole,
    visible: int,
    restricted: int,
    least_recall: float,
) -> None:
    """The visible ones are far from the question, behind all those that are not.

    If few passages are visible, all are compared. If many (10,000) are visible, they are not. A test has no time to
    make that many, so the counter pretends that there are more. A stranger, who may read none of them, finds none.

    least_recall: The recall required when many are visible.
    """
    alice, bob = make_role("pgclarify_user", name="alice"), make_role(name="bob")
    chance = random.Random(7)  # noqa: S311 - not for secrets
    connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
    hers = [f"hers {number}" for number in range(visible)]
    his = [f"his {number}" for number in range(restricted)]
    vectors = {
        text: [direction, *(chance.gauss(0, 0.3) for _ in range(3))]
        for direction, texts in ((-1.0, hers), (1.0, his))
        for text in texts
    }
    add_all(
        connection, {text: text for text in vectors}, {text: [alice if text[:3] == "her" else bob] for text in vectors}
    )
    worker = hire()
    worker.index_everything(vectors)
    nearest = sorted(hers, key=lambda text: cosine(QUESTION, vectors[text]), reverse=True)[:10]
    # In half precision, passages of nearly equal distance may change places.
    worst = min(cosine(QUESTION, vectors[text]) for text in nearest) - 0.002
    session, stranger = connect(alice), connect(make_role("pgclarify_user"))

    def recall() -> float:
        assert retrieve(stranger, worker, "question", QUESTION, method="dense", top_k=10) == []
        found = [
            passage["document_id"]
            for passage in retrieve(session, worker, "question", QUESTION, method="dense", top_k=10)
        ]
        assert len(found) == len(set(found)) == 10
        assert set(found) <= set(hers)
        near = sum(cosine(QUESTION, vectors[text]) >= worst for text in found)
        return near / len(nearest)

    assert recall() == 1.0
    connection.execute("insert into pgclarify_private.corpus_tally (corpus_id, passages) values (1, 20000)")
    assert recall() >= least_recall


def test_dense_where_some_have_no_readers(
    connection: Connection, connect: Connect, hire: Hire, make_role: MakeRole
) -> None:
    """A scan of the index meets only what is invisible, so everything visible is compared."""
    alice, bob = make_role("pgclarify_user", name="alice"), make_role(name="bob")
    connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
    everyones = [f"open {number}" for number in range(5)]
    his = [f"his {number}" for number in range(500)]
    vectors = {text: [1.0 if text in his else -1.0, 0.1, 0.2, 0.3] for text in everyones + his}
    add_all(connection, {text: text for text in vectors}, {text: [bob] for text in his})
    worker = hire()
    worker.index_everything(vectors)
    connection.execute("insert into pgclarify_private.corpus_tally (corpus_id, passages) values (1, 20000)")

    found = retrieve(connect(alice), worker, "question", QUESTION, method="dense", top_k=10)

    assert sorted(passage["document_id"] for passage in found) == everyones


def test_every_method_asks_who_reads(connection: Connection, connect: Connect, hire: Hire, make_role: MakeRole) -> None:
    alice, bob = make_role("pgclarify_user", name="alice"), make_role("pgclarify_user", name="bob")
    team = make_role("pgclarify_user", name="team")
    connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
    readers: dict[str, list[Any]] = {
        "hers": [alice],
        "his": [bob],
        "nobody's": [],
        "a stranger's": ["no such role"],
        # Readers that the index treats as everyone, and readers that it treats as no role.
        "of no name": [""],
        "of no name at all": [None],
        "both": [alice, bob, "no such role"],
        "team's": [team],
    }
    add_all(connection, dict.fromkeys([*readers, "everyone's"], "Cars."), readers)
    worker = hire()
    worker.index_everything()

    for role, readable in (
        (alice, {"hers", "everyone's", "both"}),
        (bob, {"his", "everyone's", "both"}),
        (team, {"team's", "everyone's"}),
        (make_role(team), {"team's", "everyone's"}),
        (make_role("pgclarify_user"), {"everyone's"}),
    ):
        user = connect(role)
        assert {key for key, _ in lexical(user, "cars")} == readable
        for search in ("lexical", "hybrid", "dense"):
            found = retrieve(user, worker, "cars", vector_of("x"), method=search)
            assert {passage["document_id"] for passage in found} == readable


def test_lexical_misses_nothing_of_the_little_that_is_visible(
    connection: Connection, connect: Connect, hire: Hire, make_role: MakeRole
) -> None:
    """Many passages have the words of the question, but few of those that the role may read."""
    alice, bob = make_role("pgclarify_user", name="alice"), make_role(name="bob")
    connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
    readers = {f"his {number}": [bob] for number in range(20)} | {"car": [alice], "van": [alice]}
    contents = {f"his {number}": "Cars and vans." for number in range(20)}
    contents |= {"car": "A car.", "van": "A van.", "open": "Cars and trucks."}
    add_all(connection, contents, readers)
    hire().index_everything()
    # Pretend that each lexeme is in too many passages to score all of them.
    connection.execute("update pgclarify_private.term set passages = passages + 6000")
    connection.execute(
        "insert into pgclarify_private.corpus_tally (corpus_id, passages, restricted_passages) values (1, 9000, 9000)"
    )

    assert {key for key, _ in lexical(connect(alice), "car van")} == {"car", "open", "van"}


def test_a_new_reader_reads_at_once(connection: Connection, connect: Connect, hire: Hire, make_role: MakeRole) -> None:
    alice = make_role("pgclarify_user", name="alice")
    user = connect(alice)
    connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
    add_all(connection, {"1": "Cars."}, {"1": []})
    worker = hire()
    worker.index_everything()

    for readers, readable in (([], []), ([alice], ["1"]), (["no such role"], []), (None, ["1"])):
        add_all(connection, {"1": "Cars."}, {} if readers is None else {"1": readers})
        assert [key for key, _ in lexical(user, "cars")] == readable
        found = retrieve(user, worker, "cars", vector_of("x"), method="dense")
        assert [passage["document_id"] for passage in found] == readable


def put(connection: Connection, contents: list[str], readers: list[str] | None) -> None:
    add_all(connection, {"memo": "\n\n".join(contents)}, {} if readers is None else {"memo": readers})


def seen(user: Connection, worker: HandWorker) -> list[str]:
    """The passages that a role reads in the table; a search by words and one by vectors find the same."""
    contents = [row[0] for row in user.execute("select content from pgclarify.passage order by content")]
    for search in ("lexical", "dense"):
        found = retrieve(user, worker, "cars", vector_of("x"), method=search)
        assert sorted(passage["content"] for passage in found) == contents
    return contents


@pytest.mark.parametrize("is_for_everyone", [True, False])
@pytest.mark.parametrize("is_redacted_before", [True, False])
def test_new_readers_never_find_an_earlier_content(
    connection: Connection,
    connect: Connect,
    hire: Hire,
    make_role: MakeRole,
    is_redacted_before: bool,
    is_for_everyone: bool,
) -> None:
    boss, alice = make_role("pgclarify_user", name="boss"), make_role("pgclarify_user", name="alice")
    manager, user = connect(boss), connect(alice)
    wider = None if is_for_everyone else [boss, alice]
    connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
    put(connection, [SECRET, KEPT], [boss])
    worker = hire()
    worker.index_everything()

    if is_redacted_before:
        put(connection, [REDACTED, KEPT], [boss])
    put(connection, [REDACTED, KEPT], wider)
    assert seen(user, worker) == []
    assert seen(manager, worker) == [SECRET, KEPT]
    assert_counts_agree(connection)

    worker.fail(worker.claim()[0])
    assert seen(user, worker) == []
    assert_counts_agree(connection)

    put(connection, [REDACTED, KEPT], wider)
    assert seen(user, worker) == []
    worker.index_everything()
    assert seen(user, worker) == seen(manager, worker) == [REDACTED, KEPT]
    assert_counts_agree(connection)


def test_readers_of_an_earlier_content_only_become_fewer(connection: Connection, hire: Hire) -> None:
    connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
    put(connection, [SECRET, KEPT], None)
    worker = hire()
    worker.index_everything()
    readers = "select jsonb_agg(distinct readers) from pgclarify_private.passage"

    for given, left in (
        (["boss", "staff"], ["boss", "staff"]),
        (["guest", "staff"], ["staff"]),
        (None, ["staff"]),
        (["boss"], []),
        (["boss", "guest"], []),
    ):
        put(connection, [REDACTED, KEPT], given)
        assert scalar(connection, readers) == [left]
        assert_counts_agree(connection)
    worker.index_everything()
    assert scalar(connection, readers) == [["boss", "guest"]]
    assert_counts_agree(connection)


def test_no_wrong_count_shows_a_passage(
    connection: Connection, connect: Connect, hire: Hire, make_role: MakeRole
) -> None:
    alice, bob = make_role("pgclarify_user", name="alice"), make_role(name="bob")
    connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
    add_all(connection, {"hers": "Cars.", "his": "Cars."}, {"hers": [alice], "his": [bob]})
    worker = hire()
    worker.index_everything()
    connection.execute("insert into pgclarify_private.corpus_tally (corpus_id, restricted_passages) values (1, -2)")

    for method in ("dense", "lexical", "hybrid"):
        found = retrieve(connect(alice), worker, "cars", QUESTION, method=method, top_k=10)
        assert [passage["document_id"] for passage in found] == ["hers"]


def test_chosen_passages_are_read_by_who_may(
    connection: Connection, connect: Connect, hire: Hire, make_role: MakeRole
) -> None:
    alice, bob = make_role("pgclarify_user", name="alice"), make_role("pgclarify_user", name="bob")
    connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
    connection.execute(
        "select pgclarify.create_corpus('closed', options => jsonb_build_object('reader', %s::text))", [bob]
    )
    add_all(connection, {"open": "For all.", "hers": "For Alice."}, {"hers": [alice]})
    connection.execute("select pgclarify.add_document('closed', 'his', 'For Bob.')")
    hire().index_everything()
    chosen = connection.execute(
        "select corpus_id, array_agg(document_id), array_agg(id) from pgclarify.passage group by corpus_id order by 1"
    ).fetchall()

    def contents(role: str) -> list[str]:
        session = connect(role)
        return [
            content
            for which in chosen
            for (content,) in session.execute(
                "select passage.content from pgclarify_private.caller as caller cross join lateral"
                " pgclarify_private.readable_passages(caller, %s, %s, %s) as passage order by 1",
                which,
            ).fetchall()
        ]

    assert contents(alice) == ["For Alice.", "For all."]
    assert contents(bob) == ["For all.", "For Bob."]
