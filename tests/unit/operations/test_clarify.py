"""clarify: from a question to its interpretations."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pgclarify.algorithms.consolidation import Density, consolidate
from pgclarify.data.citations import Citation
from pgclarify.data.documents import Passage
from pgclarify.data.interpretations import Cluster, Interpretation
from pgclarify.data.runs import Run
from pgclarify.data.verdicts import Reading, Refusal
from pgclarify.data.vocabulary import Level, Outcome, RunStatus, StopCode
from pgclarify.embedding import load_span_reader
from pgclarify.errors import EmbeddingError, EndpointUnavailable
from pgclarify.operations import execution
from pgclarify.operations.clarification import interpretations
from pgclarify.operations.clarification.interpretations import Grounded
from pgclarify.providers.extractive import ExtractiveVerifier
from tests.fakes import FakeEmbedder, FakeStore, scripts
from tests.unit.ledger.buying import eventually, until_in_flight
from tests.unit.operations.rental_cars import (
    ALSO_COVERED,
    ASIDE,
    COVERAGE,
    COVERED,
    DRIVERS,
    LICENSE,
    QUOTE,
    carry_out,
    clarify_with,
    corpus,
    passage,
    script,
)

RELAX = {"relax": True}
GREEK = "Αντικαθιστούμε τις χαμένες αποσκευές έως 1800 δολάρια."


async def test_readings_are_grouped_ordered_and_cited() -> None:
    record = await carry_out(corpus(), scripts.verifier(script()))
    assert record.status is RunStatus.SUCCEEDED
    assert record.error is None
    coverage, license_ = record.interpretations
    # A reading of two documents comes before a reading of one, although that one has the better rank.
    assert (coverage.interpretation, coverage.answer, coverage.support) == (
        COVERAGE.interpretation,
        COVERAGE.answer,
        2,
    )
    assert coverage.cohesion == pytest.approx(1.0)
    assert coverage.citations == [
        Citation(candidate_rank=2, is_medoid=True, quote=QUOTE, start_char=0, end_char=47),
        Citation(candidate_rank=4, is_medoid=False, quote=QUOTE, start_char=10, end_char=57),
    ]
    assert (license_.interpretation, license_.support) == (LICENSE.interpretation, 1)


IN_OTHER_WORDS = replace(COVERAGE, quote="A rental car is covered up to 30 dollars a day")


async def test_a_quote_in_other_words_is_cited_as_its_sentence_and_counted() -> None:
    record = await carry_out(corpus(), scripts.verifier({**script(), COVERED: IN_OTHER_WORDS}))
    coverage = record.interpretations[0]
    assert Citation(candidate_rank=2, is_medoid=True, quote=QUOTE, start_char=0, end_char=47) in coverage.citations
    assert [stage.mends for stage in record.stages if stage.name == "judgement"] == [{"quote": 1}]


async def test_a_quote_in_other_words_proves_nothing_if_only_verbatim_quotes_are_checked() -> None:
    record = await carry_out(
        corpus(), scripts.verifier({**script(), COVERED: IN_OTHER_WORDS}), settings={"verify": "none"}
    )
    assert record.verdicts[2].abstention_code is Refusal.UNPROVEN


async def test_statements_with_different_answers_become_one_contested_question() -> None:
    question = "Which sport is played in Lindvik?"
    said = {sport: f"People in Lindvik play {sport}." for sport in ("rugby", "cricket")}
    store = FakeStore([passage(sport, content) for sport, content in said.items()])
    run = store.add_run(question)
    statements: dict[str, Reading | None] = {
        content: Reading(f"The sport of Lindvik is {sport}.", sport, content) for sport, content in said.items()
    }
    await clarify_with(store, run, scripts.verifier(statements))
    found = [(one.interpretation, one.answer, one.is_contested) for one in store.runs[run.run_id].interpretations]
    assert found == [(question, "rugby", True), (question, "cricket", True)]


async def test_support_counts_documents_not_passages() -> None:
    passages = [
        passage("policy", COVERED),
        passage("policy", ALSO_COVERED, passage_id=2, start_char=100),
        passage("drivers", DRIVERS),
    ]
    record = await carry_out(passages, scripts.verifier(script()))
    assert [found.support for found in record.interpretations] == [1, 1]
    assert [len(found.citations) for found in record.interpretations] == [2, 1]


async def test_the_medoid_speaks_and_is_cited_first(monkeypatch: pytest.MonkeyPatch) -> None:
    def all_together(vectors: NDArray[np.float32], **_: object) -> list[Cluster]:
        return [Cluster(members=(0, 1, 2), medoid=1, cohesion=0.75)]

    monkeypatch.setattr(interpretations, "consolidate", all_together)
    record = await carry_out(corpus(), scripts.verifier(script()))
    (found,) = record.interpretations
    assert found.interpretation == COVERAGE.interpretation
    assert found.cohesion == 0.75
    assert found.support == 3
    assert [(one.candidate_rank, one.is_medoid) for one in found.citations] == [(2, True), (1, False), (4, False)]


async def test_a_quote_that_does_not_occur_is_an_abstention() -> None:
    invented = Reading(LICENSE.interpretation, LICENSE.answer, "Drivers need a license for three years.")
    record = await carry_out([passage("a", DRIVERS)], scripts.verifier({DRIVERS: invented}))
    verdict = record.verdicts[1]
    assert verdict.outcome is Outcome.ABSTAINED
    assert verdict.reason is not None
    assert "quote" in verdict.reason
    assert (verdict.interpretation, verdict.answer, verdict.quote, verdict.start_char) == (None, None, None, None)
    assert verdict.vector is None
    assert (record.status, record.interpretations) == (RunStatus.SUCCEEDED, [])
    assert record.stop_code is StopCode.UNPROVEN
    assert verdict.abstention_code is Refusal.UNPROVEN


@pytest.mark.parametrize(
    ("contents", "code"),
    [
        (["Wir ersetzen das verlorene Gepäck bis zu einem Betrag von 1800 Dollar.", GREEK], StopCode.LANGUAGE),
        (["Lost baggage is replaced for up to $1,800.", GREEK], None),
    ],
)
async def test_rules_that_read_only_english_name_the_language_if_most_passages_are_in_another_one(
    contents: list[str], code: StopCode | None
) -> None:
    embedder = FakeEmbedder()
    record = await carry_out(
        [passage(str(place), content) for place, content in enumerate(contents)],
        ExtractiveVerifier(embedder, load_span_reader()),
    )
    assert record.verdicts[2].abstention_code is StopCode.LANGUAGE
    assert record.stop_code is code


async def test_equal_passages_and_confirmed_answers_wait_for_no_verdict_to_be_stored(monkeypatch) -> None:
    monkeypatch.setattr(execution, "_RECORDING_SECONDS", 600)
    passages = [passage("one", ASIDE), passage("other", ASIDE), passage("policy", COVERED)]
    async with asyncio.timeout(10):
        record = await carry_out(
            passages, scripts.verifier(script(), confirmation=lambda _: True), settings={"verify": "model"}
        )
    assert [verdict.outcome for verdict in record.verdicts.values()].count(Outcome.GROUNDED) == 1


async def test_a_verdict_is_kept_before_the_last_one_is_there() -> None:
    gate = asyncio.Event()
    verifier, store = scripts.verifier(script(), gate=gate, gated=[ASIDE]), FakeStore(corpus())
    run = store.add_run("rental cars")
    clarification = asyncio.create_task(clarify_with(store, run, verifier))
    await eventually(lambda: len(store.runs[run.run_id].verdicts) == 3)
    assert store.runs[run.run_id].status is RunStatus.RUNNING
    gate.set()
    await clarification
    assert store.runs[run.run_id].status is RunStatus.SUCCEEDED


@pytest.mark.parametrize("settings", [{}, {"relax": False}])
async def test_a_question_is_searched_for_as_it_was_asked(settings: dict[str, object]) -> None:
    verifier, embedder = scripts.verifier(script(), relaxation="hired vehicles"), FakeEmbedder()
    record = await carry_out(corpus(), verifier, embedder=embedder, settings=settings)
    assert {call.purpose for call in verifier.calls} == {"verdict"}
    assert (record.query, record.relaxed_question, record.asked_vector) == ("rental cars", None, None)
    assert embedder.calls[0] == ["rental cars"]
    assert "relaxation" not in {stage.name for stage in record.stages}
    assert len(record.interpretations) == 2


async def test_a_run_that_is_paid_for_makes_no_call() -> None:
    store = FakeStore(corpus())
    first = await carry_out([], scripts.verifier(script(), relaxation="rented cars"), store=store, settings=RELAX)
    again = scripts.verifier(relaxation="another")
    second = await carry_out([], again, store=store, settings=RELAX)
    assert again.calls == []
    assert second.relaxed_question == "rented cars"
    assert second.interpretations == first.interpretations
    assert all(verdict.is_reused for verdict in second.verdicts.values())


async def test_the_relaxed_question_is_for_retrieval_and_the_question_itself_for_verdicts() -> None:
    verifier = scripts.verifier(script(), relaxation="hired vehicles")
    embedder = FakeEmbedder()
    record = await carry_out(corpus(), verifier, embedder=embedder, settings=RELAX)
    assert record.relaxed_question == record.query == "hired vehicles"
    # The question is embedded while it is being relaxed.
    assert embedder.calls[:2] == [["rental cars"], ["hired vehicles"]]
    relaxed, asked = await embedder.encode(["hired vehicles", "rental cars"])
    assert record.query_vector is not None and np.array_equal(record.query_vector, relaxed)
    assert record.asked_vector is not None and np.array_equal(record.asked_vector, asked)
    assert {prompt.question for prompt in verifier.asked("verdict")} == {"rental cars"}


async def test_a_question_that_cannot_be_embedded_ends_its_relaxation() -> None:
    verifier = scripts.verifier(script(), relaxation="hired vehicles", gate=asyncio.Event())

    class FailingEmbedder(FakeEmbedder):
        async def encode(self, texts: Sequence[str], *, are_passages: bool = False) -> NDArray[np.float32]:
            await until_in_flight(verifier, 1)
            raise EmbeddingError("it cannot be embedded")

    record = await carry_out(corpus(), verifier, embedder=FailingEmbedder(), settings=RELAX)
    assert (record.status, record.error_code) == (RunStatus.FAILED, EmbeddingError.sqlstate)
    assert verifier.in_flight == 0


async def test_a_relaxation_that_never_fits_falls_back_to_the_question() -> None:
    record = await carry_out(corpus(), scripts.verifier(script(), relaxation=["", "nul \x00"]), settings=RELAX)
    assert (record.query, record.relaxed_question) == ("rental cars", None)
    assert record.status is RunStatus.SUCCEEDED
    assert len(record.interpretations) == 2


async def test_no_endpoint_for_the_relaxation_fails_the_run() -> None:
    verifier = scripts.verifier(script(), relaxation=EndpointUnavailable("no endpoint", detail="It is off."))
    record = await carry_out(corpus(), verifier, settings=RELAX)
    assert (record.status, record.error) == (RunStatus.FAILED, "no endpoint: It is off.")
    assert len(verifier.calls) == 1


async def test_readings_are_embedded_with_their_answers() -> None:
    embedder = FakeEmbedder()
    record = await carry_out([passage("a", DRIVERS)], scripts.verifier(script()), embedder=embedder)
    text = f"{LICENSE.interpretation} {LICENSE.answer}"
    assert embedder.calls == [["rental cars"], [text]]
    vector = record.verdicts[1].vector
    assert vector is not None
    assert np.array_equal(vector, (await embedder.encode([text]))[0])


@pytest.mark.parametrize(("n_readings", "n_shown"), [(0, 0), (1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (6, 4), (20, 13)])
async def test_conservative_shows_two_thirds_at_most_of_equals_the_best_ranked(n_readings: int, n_shown: int) -> None:
    run = FakeStore().add_run(settings={"consolidation": "conservative"})
    grounded = [
        Grounded(Passage(f"d{rank}", rank, ""), rank, f"reading {rank}", "", "", 0, 1)
        for rank in range(1, n_readings + 1)
    ]
    found = await _shown(run, grounded, np.eye(n_readings, 20, dtype=np.float32))
    assert [one.interpretation for one in found] == [f"reading {rank}" for rank in range(1, n_shown + 1)]


async def _shown(run: Run, grounded: Sequence[Grounded], vectors: NDArray[np.float32]) -> list[Interpretation]:
    return [one for one in await interpretations.interpret(run, grounded, vectors) if one.is_shown]


def _scored(*scores: float | None) -> list[Grounded]:
    """Make a reading with each score, by rank, all of different meanings."""
    return [
        Grounded(Passage(f"d{rank}", rank, ""), rank, f"reading {rank}", "", "", 0, 1, score)
        for rank, score in enumerate(scores, start=1)
    ]


@pytest.mark.parametrize(
    ("settings", "shown"),
    [({}, {1, 2}), ({"consolidation": "conservative"}, {1})],
)
async def test_what_is_read_and_not_shown_is_kept_with_its_level(settings: dict[str, str], shown: set[int]) -> None:
    scored = [replace(one, answer="free") for one in _scored(0.9, 0.65, 0.2, 0.1)]
    run = FakeStore().add_run("parental leave", settings=settings)
    found = await interpretations.interpret(run, scored, np.eye(4, dtype=np.float32))
    levels = [Level.CERTAIN, Level.LIKELY, Level.ALL, Level.ALL]
    assert [(one.interpretation, one.level, one.is_shown) for one in found] == [
        (f"reading {rank}", level, rank in shown) for rank, level in enumerate(levels, start=1)
    ]


async def test_a_heading_in_the_words_of_the_question_makes_a_reading_surer() -> None:
    headings = ("Parental leave", None)
    given = [
        replace(one, answer="free", passage=replace(one.passage, heading=heading))
        for one, heading in zip(_scored(0.3, 0.5), headings, strict=True)
    ]
    found = await interpretations.interpret(FakeStore().add_run("parental leave"), given, np.eye(2, dtype=np.float32))
    assert [(one.interpretation, one.level) for one in found] == [("reading 1", Level.LIKELY), ("reading 2", Level.ALL)]


async def test_where_nothing_is_sure_enough_the_surest_is_shown_as_unsure() -> None:
    found = await interpretations.interpret(
        FakeStore().add_run("parental leave"), _scored(0.25, 0.1), np.eye(2, dtype=np.float32)
    )
    assert [(one.level, one.is_shown) for one in found] == [(Level.ALL, True), (Level.ALL, False)]


@pytest.mark.parametrize(
    ("question", "passage", "score", "is_shown"),
    [
        ("parental leave", Passage("d", 1, "Leave is paid.", "Handbook", "Parents > Parental leave"), 0.12, True),
        ("parental leave", Passage("d", 1, "Leave is paid.", "Parental affairs"), 0.12, True),
        ("parental leave", Passage("d", 1, "Leave is paid.", "Handbook"), 0.12, False),
        ("parental leave", Passage("d", 1, "Parental leave is paid."), 0.04, False),
        ("who pays for parental leave", Passage("d", 1, "The state pays.", "Parental leave"), 0.12, False),
    ],
)
async def test_an_unsure_reading_is_shown_if_its_passage_has_all_words_of_the_few(
    question: str, passage: Passage, score: float, is_shown: bool
) -> None:
    given = [replace(one, passage=passage) for one in _scored(score)]
    (one,) = await interpretations.interpret(FakeStore().add_run(question), given, np.eye(1, dtype=np.float32))
    assert (one.level, one.is_shown) == (Level.ALL, is_shown)


@pytest.mark.parametrize(
    ("scores", "shown"), [([0.7, 0.3, 0.9], [3, 1]), ([0.46, 0.35], [1]), ([0.3, 0.35], []), ([0.7, None, 0.3], [2, 1])]
)
async def test_conservative_shows_likely_readings_best_first(scores: list[float | None], shown: list[int]) -> None:
    run = FakeStore().add_run("who pays for parental leave", settings={"consolidation": "conservative"})
    found = await _shown(run, _scored(*scores), np.eye(len(scores), 20, dtype=np.float32))
    assert [one.interpretation for one in found] == [f"reading {rank}" for rank in shown]


@pytest.mark.parametrize(
    ("question", "scores", "shown"),
    [
        # The worse the rank, the more probably must a passage answer.
        ("parental leave", [0.46, 0.45, 0.5, 0.9, 0.6, 0.85], [4, 6, 1]),
        ("parental leave", [0.2, 0.5, 0.1], [2]),
        ("parental leave", [0.25, 0.3, 0.1], [1]),
        ("parental leave", [0.2, 0.3, 0.1], []),
        ("parental leave", [None, 0.3, 0.9], [1, 3]),
        ("parental leave", [None, None, None], [1, 2, 3]),
        # A probability may be rounded to 0 or 1.
        ("parental leave", [0.0, 1.0, 0.9], [2, 3]),
        ("parental leave", [0.1, 0.2], []),
        # Of a whole question, none is shown that is unsure.
        ("who pays for parental leave", [0.3, 0.5, 0.3, 0.9], [4]),
        ("who pays for parental leave", [0.41, 0.3], [1]),
        ("who pays for parental leave", [0.39, 0.3], []),
        # It has two words with meaning.
        ("who pays?", [0.9, 0.3], [1]),
    ],
)
async def test_of_a_few_words_the_likeliest_readings_come_first_and_unlikely_ones_are_hidden(
    question: str, scores: list[float | None], shown: list[int]
) -> None:
    scored = [replace(one, answer="free") for one in _scored(*scores)]
    vectors = np.eye(len(scores), dtype=np.float32)
    found = await _shown(FakeStore().add_run(question), scored, vectors)
    assert [one.interpretation for one in found] == [f"reading {rank}" for rank in shown]


async def test_conservative_shows_fewer_readings_of_a_few_words() -> None:
    run = FakeStore().add_run("parental leave", settings={"consolidation": "conservative"})
    scored = [replace(one, answer="free") for one in _scored(0.6, 0.9, 0.9, 0.8)]
    found = await _shown(run, scored, np.eye(4, dtype=np.float32))
    assert [one.interpretation for one in found] == ["reading 2", "reading 3"]


async def test_what_two_documents_say_is_shown_sooner() -> None:
    one, *same = _scored(0.9, 0.5, 0.3)
    given = [one, *(replace(reading, interpretation="reading 2", answer="free") for reading in same)]
    run, apart = FakeStore().add_run("parental leave"), np.eye(3, dtype=np.float32)
    alone = await _shown(run, given, apart)
    together = await _shown(run, given, apart[[0, 1, 1]])
    assert ([one.interpretation for one in alone], len(together)) == (["reading 1"], 2)


def _below(*headings: str | None) -> list[Grounded]:
    """Make a reading below each heading, all of different meanings."""
    return [
        replace(one, answer="free", passage=replace(one.passage, heading=heading))
        for one, heading in zip(_scored(*[None] * len(headings)), headings, strict=True)
    ]


async def test_readings_below_the_heading_that_is_nearest_to_the_question_come_first_then_those_with_support() -> None:
    run = FakeStore().add_run("parental leave")
    given = _below(
        None, "Parental notes", "Parental leave > Forms", "Requests for parental leave", "Leave > Parental leave"
    )
    found = await _shown(run, given, np.eye(5, dtype=np.float32))
    assert [one.interpretation for one in found] == [f"reading {rank}" for rank in (5, 4, 1, 2, 3)]
    # The same reading of two documents.
    given.append(replace(given[1], rank=6, passage=replace(given[1].passage, document_id="d6")))
    found = await _shown(run, given, np.eye(5, dtype=np.float32)[[0, 1, 2, 3, 4, 1]])
    assert [one.interpretation for one in found] == [f"reading {rank}" for rank in (5, 4, 2, 1, 3)]


@pytest.mark.parametrize(
    ("question", "places", "shown"),
    [
        # The title counts only where there is no heading.
        ("parental leave", [("Parental leave", "Forms"), ("Parental leave", "")], [2, 1]),
        # The number of a section is no word of its heading.
        ("grants", [("Handbook", "Notes on grants"), ("Handbook", "2.1. Grants")], [2, 1]),
        ("<=>", [("Handbook", "Signs"), ("Handbook", "<=>")], [1, 2]),
    ],
)
async def test_the_words_of_the_innermost_heading_tell_which_is_nearest(
    question: str, places: list[tuple[str, str]], shown: list[int]
) -> None:
    given = [
        replace(one, passage=replace(one.passage, title=title))
        for one, (title, _) in zip(_below(*(heading for _, heading in places)), places, strict=True)
    ]
    found = await _shown(FakeStore().add_run(question), given, np.eye(2, dtype=np.float32))
    assert [one.interpretation for one in found] == [f"reading {rank}" for rank in shown]


async def test_support_counts_for_whole_questions_too() -> None:
    run = FakeStore().add_run("who pays for parental leave", settings={"consolidation": "conservative"})
    one, *same = _scored(0.7, 0.7, 0.7, 0.7)
    supported = [replace(reading, interpretation="reading 2", answer="free") for reading in same]
    found = await _shown(run, [one, *supported], np.eye(2, dtype=np.float32)[[0, 1, 1, 1]])
    assert [(reading.interpretation, reading.support) for reading in found] == [("reading 2", 3), ("reading 1", 1)]


async def test_a_reading_is_contested_only_by_what_is_shown() -> None:
    one, other = (replace(reading, interpretation="the fee") for reading in _scored(0.9, 0.1))
    given = [replace(one, answer="$5"), replace(other, answer="$9")]
    found = await interpretations.interpret(FakeStore().add_run("fee"), given, np.eye(2, dtype=np.float32))
    assert [(reading.is_shown, reading.is_contested) for reading in found] == [(True, False), (False, True)]


async def test_a_reading_does_not_speak_for_two_siblings() -> None:
    asked = ["How much are parking spaces on Fridays?", "How much is the garage for employees?"]

    async def shown(*titles: str) -> int:
        grounded = [
            Grounded(Passage(f"d{rank}", rank, "", title=title), rank, one, "free", "", 0, 1)
            for rank, (title, one) in enumerate(zip(titles, asked, strict=True), start=1)
        ]
        return len(await _shown(FakeStore().add_run(), grounded, np.ones((2, 1), dtype=np.float32)))

    assert await shown("Berlin office guide", "Lisbon office guide") == 2
    assert await shown("Berlin office guide", "Berlin office guide") == 1


@pytest.mark.parametrize(
    ("others", "shown"),
    [
        ({}, 2),
        ({"completion_id": 8}, 1),
        ({"completion_id": None}, 1),
        # The same reading, in two passages.
        ({"reading_ordinal": 1}, 1),
        # Listed twice.
        ({"interpretation": "How much is parking?", "answer": "Free"}, 1),
    ],
)
async def test_readings_that_one_reply_tells_apart_stay_apart(others: dict[str, Any], shown: int) -> None:
    one, other = (
        Grounded(Passage(f"d{rank}", rank, ""), rank, asked, answer, "", 0, 1, completion_id=7, reading_ordinal=rank)
        for rank, (asked, answer) in enumerate(
            [("How much is parking?", "free"), ("How much is parking for a day?", "free, on Fridays")], start=1
        )
    )
    found = await _shown(
        FakeStore().add_run("parking"), [one, replace(other, **others)], np.ones((2, 1), dtype=np.float32)
    )
    assert len(found) == shown


@pytest.mark.parametrize(
    ("settings", "density"),
    [
        ({"consolidation": "default"}, None),
        ({"consolidation": "conservative"}, None),
        ({"consolidation": "hdbscan"}, Density()),
        (
            {"consolidation": "hdbscan", "min_cluster_size": 3, "allow_single_cluster": True},
            Density(3, allow_single_cluster=True),
        ),
    ],
)
async def test_consolidation_groups_by_its_settings_in_a_thread_of_its_own(
    settings: dict[str, object], density: Density | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[object, bool]] = []

    def noting(vectors: NDArray[np.float32], **options: object) -> list[Cluster]:
        seen.append((options["density"], threading.current_thread() is threading.main_thread()))
        return consolidate(vectors)

    monkeypatch.setattr(interpretations, "consolidate", noting)
    await carry_out(corpus(), scripts.verifier(script()), settings=settings)
    assert seen == [(density, False)]
