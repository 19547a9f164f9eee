"""The metrics of a case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from pgclarify.algorithms.metrics import pooled
from pgclarify.evaluated import (
    Case,
    CitedPassage,
    GoldInterpretation,
    Output,
    PredictedInterpretation,
    Stated,
    Usage,
)
from pgclarify.evaluation.judging import EvidenceSearch, Judgements, judge_output
from pgclarify.evaluation.lexical_judge import LexicalJudge
from pgclarify.evaluation.scoring import score
from pgclarify.evaluation.summaries import summarize
from pgclarify.model import Passage
from pgclarify.protocols import Judge
from pgclarify.vocabulary import RunStatus
from tests.fakes import FakeJudge
from tests.unit.evaluation.by_the_book import ByTheBook

USAGE = Usage(calls=4, reused_calls=1, prompt_tokens=900, completion_tokens=80, model_seconds=2.5)
COST = {
    "calls": 4,
    "retrievals": 0,
    "prompt_tokens": 900,
    "completion_tokens": 80,
    "model_seconds": 2.5,
    "seconds": 3.0,
    "failed": 0,
}
FIGURE_3 = (
    "relevant_answerable",
    "relevant_unanswerable",
    "irrelevant_answerable",
    "irrelevant_unanswerable",
    "relevant_answerable_right",
)

P1 = Passage("d1", 1, "Jean Ping was elected in 2008.")
P2 = Passage("d2", 2, "Moussa Faki took office in 2017.")
P3 = Passage("d3", 3, "Nothing of the kind.")
P4 = Passage("d4", 4, "Nkosazana Dlamini-Zuma was elected in 2012.")

CASE = Case(
    "1",
    "Who chaired it?",
    interpretations=(
        GoldInterpretation("Who chaired it in 2008?", ("Jean Ping", "Ping")),
        GoldInterpretation("Who chaired it in 2012?", ("Dlamini-Zuma",)),
        GoldInterpretation("Who chaired it in 2017?", ("Moussa Faki",)),
    ),
)
OUTPUT = Output(
    (
        PredictedInterpretation(
            "Who chaired it in 2008?", "Jean Ping", (CitedPassage(P1, "Jean Ping"), CitedPassage(P3, "kind"))
        ),
        PredictedInterpretation("Who chaired it in 2017?", "Moussa Faki", (CitedPassage(P3, "Nothing"),)),
    ),
    (P1, P2, P3, P4),
    usage=USAGE,
    seconds=3.0,
)
EVIDENCE = (P1, P2, P3, P4)


async def values(
    case: Case,
    output: Output,
    asked: Judge | None = None,
    *,
    evidence: Sequence[Passage] = EVIDENCE,
    method: str | None = None,
) -> dict[str, float]:
    return score(case, output, await judge_output(case, output, asked or ByTheBook(), evidence), method=method)


async def test_a_case_by_hand() -> None:
    found = await values(CASE, OUTPUT)
    assert found == {
        "interpretations": 2,
        # Two distinct readings, of 2008 and of 2017; people know three.
        "sufficient": 0,
        "recall": pytest.approx(2 / 3),
        # The passage that is cited first gives the chair of 2008, and not that of 2017.
        "grounded_precision": 0.5,
        # Q̄: 2008, which the method and people have; 2012 and 2017, which the evidence supports. The method covers
        # 2008. It has 2017 only in a reading that its passage does not support.
        "grounded_recall": pytest.approx(1 / 3),
        "relevant": 1,
        "verbatim_grounding": 0.5,
        "answer_coverage": pytest.approx(2 / 3),
        "quote_coverage": pytest.approx(1 / 3),
        "answer_precision": 1,
        "answer_recall": pytest.approx(2 / 3),
        "answer_f1": 0.8,
        "cover_em": 1,
        # The first reading has one right citation of two, the second has none of one.
        "citation_precision": 0.25,
        "citation_recall": 0.5,
        # The retrieved passages have all three answers.
        **{"mrecall@1": 1, "mrecall@5": 1, "mrecall@10": 1},
        **COST,
    }


async def test_a_passage_is_no_quote() -> None:
    reading = PredictedInterpretation("Who chaired it in 2017?", "Moussa Faki", (CitedPassage(P2),))
    assert (await values(CASE, Output((reading,), (P2,)), method="clarify"))["quote_coverage"] == 0
    for output in (Output((reading,), (P2,)), Output()):
        assert "quote_coverage" not in await values(CASE, output, method="rac")


async def test_whoever_retrieves_less_is_not_rewarded() -> None:
    one = replace(OUTPUT, interpretations=OUTPUT.interpretations[:1])
    many, few = await values(CASE, one), await values(CASE, replace(one, retrieved=(P1,)))
    # Only the metrics of the retrieved passages differ.
    assert {name for name in many if many[name] != few[name]} == {"mrecall@5", "mrecall@10"}
    assert many["grounded_recall"] == pytest.approx(1 / 3)


async def test_readings_that_nobody_can_judge_are_no_gold() -> None:
    """Words cannot tell whether a passage answers a reading of people without an answer; a model can."""
    nameless = replace(CASE, interpretations=tuple(replace(one, answers=()) for one in CASE.interpretations))
    by_words, by_model = LexicalJudge(), FakeJudge(supported=[("Who chaired it in 2012?", P4.content)])
    for output in (OUTPUT, Output()):
        found = await values(nameless, output, by_words)
        assert "grounded_recall" not in found
        assert "recall" in found
        assert "grounded_recall" in await values(nameless, output, by_model)
    # One of the three readings has an answer: Q̄ is the reading of 2008, and that of 2012.
    some = replace(CASE, interpretations=(nameless.interpretations[0], *CASE.interpretations[1:2]))
    assert (await values(some, OUTPUT, by_words))["grounded_recall"] == 0.5


async def test_readings_that_are_the_question_are_told_apart_by_their_answers() -> None:
    """As the readings of list_answers are."""
    names = ("Jean Ping", "Nkosazana Dlamini-Zuma", "Moussa Faki")
    cited = zip(names, (P1, P4, P2), strict=True)
    listed = Output(tuple(PredictedInterpretation(CASE.question, name, (CitedPassage(p),)) for name, p in cited))
    only_answers = Case("1", CASE.question, answer_sets=(tuple((name,) for name in names),))
    for asked in (LexicalJudge(), ByTheBook()):
        for case in (CASE, only_answers):
            assert (await values(case, listed, asked))["sufficient"] == 1
    found = await values(only_answers, replace(listed, interpretations=listed.interpretations[:2]))
    assert found["sufficient"] == 0
    assert found["recall"] == pytest.approx(2 / 3)
    assert found["grounded_recall"] == pytest.approx(2 / 3)


async def test_what_people_repeat_is_not_asked_of_a_method() -> None:
    again = replace(CASE.interpretations[0], interpretation="And who chaired it in 2008?")
    twice = replace(CASE, interpretations=(*CASE.interpretations[::2], again))
    assert (await values(twice, OUTPUT))["sufficient"] == 1


async def test_evidence_is_searched_once_a_question() -> None:
    class Searched:
        def __init__(self) -> None:
            self.asked: list[tuple[str, int]] = []

        async def search(self, question: str, top_k: int) -> list[Passage]:
            self.asked.append((question, top_k))
            return [P1]

    retriever = Searched()
    evidence = EvidenceSearch(retriever)
    assert await evidence(CASE) == await evidence(replace(CASE, case_id="2")) == [P1]
    assert retriever.asked == [(CASE.question, 20)]
    for number in range(1_000):
        await evidence(Case("n", f"question {number}"))
    await evidence(CASE)
    assert len(retriever.asked) == 1_002, "only the latest 1,000 are cached"
    await evidence(Case("n", "question 999"))
    assert len(retriever.asked) == 1_002


async def test_readings_that_cite_nothing_are_judged_by_the_evidence() -> None:
    uncited = tuple(replace(one, citations=()) for one in OUTPUT.interpretations)
    found = await values(CASE, replace(OUTPUT, interpretations=uncited))
    assert found["grounded_precision"] == 1
    assert found["grounded_recall"] == pytest.approx(2 / 3)
    assert found["citation_precision"] == found["citation_recall"] == found["verbatim_grounding"] == 0
    nothing_there = await values(CASE, replace(OUTPUT, interpretations=uncited), evidence=())
    assert nothing_there["grounded_precision"] == nothing_there["grounded_recall"] == 0


async def test_readings_of_people_themselves() -> None:
    human = Output(
        tuple(PredictedInterpretation(one.interpretation or "", one.answers[0]) for one in CASE.interpretations),
        (P1, P2, P3),
    )
    # The evidence does not have the chair of 2012.
    found = await values(CASE, human, evidence=(P1, P2, P3), method="human")
    assert found["grounded_precision"] == pytest.approx(2 / 3)
    # No metric compares people with themselves.
    citations = {"citation_precision", "citation_recall"}
    readings = {"interpretations", "grounded_precision", "relevant", "verbatim_grounding"}
    assert found.keys() == readings | citations | COST.keys()


@pytest.mark.parametrize(
    "output",
    [
        Output(retrieved=(P3, P1, P2)),
        # The output of a failed run does not count.
        replace(OUTPUT, status=RunStatus.FAILED, error="no"),
    ],
)
async def test_giving_nothing_counts_as_zero(output: Output) -> None:
    asked = ByTheBook()
    case = replace(CASE, document_ids=("d9",))
    found = await values(case, output, asked)
    assert asked.calls == []
    readings = {"interpretations", "sufficient", "recall", "grounded_precision", "grounded_recall", "relevant"}
    answers = {"answer_coverage", "quote_coverage", "verbatim_grounding", "cover_em"}
    answer_sets = {"answer_precision", "answer_recall", "answer_f1"}
    rest = {"citation_precision", "citation_recall", "recall@5", "recall@10", "recall@20", "ndcg@10", "mrr@10"}
    # The passages have two of the three answers, which is not enough.
    rest |= {"mrecall@1", "mrecall@5", "mrecall@10"}
    worth = {name: value for name, value in found.items() if name not in COST}
    assert worth == dict.fromkeys(readings | answers | answer_sets | rest, 0)
    assert found["failed"] == (output.status is RunStatus.FAILED)


class OfAnswers(FakeJudge):
    """Knows which passages answer which readings, and which answers are wrong."""

    wrong = frozenset({"9 am"})

    async def supports(self, claims: Sequence[tuple[Stated, Sequence[Passage]]]) -> list[bool]:
        known = await super().supports(claims)
        return [
            is_known and self.wrong.isdisjoint(one.answers) for is_known, (one, _) in zip(known, claims, strict=True)
        ]


async def test_a_reading_is_judged_without_its_answer_and_then_the_answer() -> None:
    """Figure 3. The passage answers four readings. One of them is no reading of the question, and one has no answer."""
    readings = {"When?": "10 am", "And when?": "9 am", "Who?": "Ann", "How?": "well", "Why?": None}
    asked = OfAnswers(supported=[(one, "It opens at 10 am.") for one in readings if one != "How?"], irrelevant=["Who?"])
    cited = (CitedPassage(Passage("d", 1, "It opens at 10 am.")),)
    output = Output(tuple(PredictedInterpretation(one, answer, cited) for one, answer in readings.items()))
    found = await values(CASE, output, asked)
    assert found["grounded_precision"] == 0.6, "judged with its answer, the wrong one does not count"
    assert [found[name] for name in FIGURE_3] == [0.6, 0.2, 0.2, 0, 0.2]
    assert found["relevant"] == 0.8
    # Each reading with an answer is judged again, without its answer.
    assert asked.calls.count(("supports", ["When?", "And when?", "Who?", "How?"])) == 1
    # The first case has three relevant and answerable readings, the second has one. In each case one of them is right.
    one = await values(CASE, replace(output, interpretations=output.interpretations[:1]), asked)
    summary = summarize([found, one, await values(CASE, Output(), asked)])["answer_correctness"]
    assert (summary.value, summary.cases) == (0.5, 2)


async def test_a_judge_that_needs_answers_cannot_say_what_is_answerable() -> None:
    for output in (OUTPUT, Output()):
        assert not set(FIGURE_3) & (await values(CASE, output, LexicalJudge())).keys()
        assert set(FIGURE_3) < (await values(CASE, output, FakeJudge())).keys()
    assert "answer_correctness" not in summarize([await values(CASE, OUTPUT, LexicalJudge())])


async def test_without_a_citation_the_evidence_answers_it() -> None:
    asked = OfAnswers(supported=[("When?", P2.content)])
    found = await values(CASE, Output((PredictedInterpretation("When?", "9 am"),)), asked)
    assert (found["relevant_answerable"], found["relevant_answerable_right"], found["grounded_precision"]) == (1, 0, 0)


async def test_a_failed_case_found_no_document() -> None:
    case = replace(CASE, document_ids=("d1",))
    found = await values(case, replace(OUTPUT, status=RunStatus.FAILED, error="no"))
    assert found["recall@5"] == 0


async def test_what_there_is_no_gold_for_is_absent() -> None:
    asked = ByTheBook()
    found = await values(Case("1", "Who chaired it?"), OUTPUT, asked)
    judged = {"grounded_precision", "relevant", "citation_precision", "citation_recall"}
    assert found.keys() == {"interpretations", "verbatim_grounding"} | judged | COST.keys()
    assert {call.split()[0] for call in asked.calls} == {"supports", "relevant"}


async def test_known_documents_need_no_judge_of_citations() -> None:
    case = replace(
        CASE, document_ids=("d1",), interpretations=(replace(CASE.interpretations[0], document_ids=("d4",)),)
    )
    asked = ByTheBook()
    found = await values(case, OUTPUT, asked)
    # The first reading cites d1 and d3, the second d3; d1 and d4 are relevant.
    assert found["citation_precision"] == 0.25
    assert found["citation_recall"] == 0.5
    assert asked.calls[0] == "supports 2"
    assert (found["recall@5"], found["mrr@10"]) == (1, 1)
    assert found["ndcg@10"] == pytest.approx((1 + 0.43068) / (1 + 0.63093), abs=1e-4)


async def test_citations_that_prove_it_together_only() -> None:
    half, other = Passage("d1", 1, "Jean"), Passage("d2", 2, "Ping")
    reading = PredictedInterpretation(
        "Who?", "Jean Ping", (CitedPassage(half), CitedPassage(other), CitedPassage(half))
    )
    found = await values(CASE, Output((reading,), (half, other)))
    assert (found["citation_precision"], found["citation_recall"], found["grounded_precision"]) == (0, 1, 0)


async def test_only_answers_are_known_as_each_of_several_people_knows_them() -> None:
    case = Case("1", "When?", answer_sets=((("1919",), ("1920",)), (("2008",), ()), ((),), ()))
    reading = PredictedInterpretation("When was Jean Ping elected?", "2008", (CitedPassage(P1, "in 2008"),))
    found = await values(case, Output((reading,), (P1,)))
    # The readings of the second person are covered best. Readings of the first person are alternatives, and not
    # missing.
    for name in (
        "sufficient",
        "recall",
        "grounded_recall",
        "answer_coverage",
        "quote_coverage",
        "answer_f1",
        "cover_em",
    ):
        assert found[name] == 1
    none = await values(case, Output((replace(reading, answer="2007", citations=()),)))
    for name in ("recall", "grounded_recall", "answer_coverage", "answer_f1", "cover_em"):
        assert none[name] == 0
    # No person's answers were found, so the output is compared with the person who knows most.
    assert none["sufficient"] == 0


async def test_the_first_answer_counts_for_cover_em() -> None:
    readings = (
        PredictedInterpretation("Who?", None),
        PredictedInterpretation("Who?", "nobody"),
        PredictedInterpretation("Who?", "Jean Ping"),
    )
    assert (await values(CASE, Output(readings)))["cover_em"] == 0
    assert (await values(CASE, Output(readings[::2])))["cover_em"] == 1


async def test_repetitions_are_counted_once() -> None:
    again = replace(OUTPUT.interpretations[0], interpretation="Who chaired it, in 2008?")
    output = Output((OUTPUT.interpretations[0], again), (P1, P4))
    judgements = await judge_output(CASE, output, ByTheBook(), (P1, P4))
    assert judgements.distinct == 1
    # Q̄: 2008 once, although two readings and people have it, and 2012.
    assert judgements.gold == (0, 3)
    assert score(CASE, output, judgements)["grounded_recall"] == 0.5


async def test_the_judge_is_asked_no_more_than_needed() -> None:
    asked = ByTheBook()
    await judge_output(CASE, OUTPUT, asked, EVIDENCE)
    # Each citation is judged once: two together prove no more than one alone. Readings of people are compared with all
    # readings, and those that match, with the supported one.
    of_readings = ["supports 3", "relevant 2", "distinct 2"]
    of_people = ["matches 3 among 2", "distinct 3", "matches 2 among 1", "supports 3", "distinct 4"]
    assert asked.calls == of_readings + of_people
    asked = ByTheBook()
    unsupported = replace(OUTPUT, interpretations=OUTPUT.interpretations[1:])
    await judge_output(CASE, unsupported, asked, EVIDENCE)
    assert asked.calls == ["supports 1", "relevant 1", "distinct 1", "matches 3 among 1", "distinct 3"]
    asked = ByTheBook()
    only = replace(CASE, interpretations=CASE.interpretations[:1])
    await judge_output(only, replace(OUTPUT, interpretations=OUTPUT.interpretations[:1]), asked, EVIDENCE)
    assert asked.calls == ["supports 2", "relevant 1", "distinct 1", "matches 1 among 1", "distinct 1", "supports 1"]


def test_detection() -> None:
    case = Case("1", "rental cars", is_ambiguous=True)
    output = Output(probability=0.7, notes={"is_ambiguous": False}, usage=USAGE, seconds=3.0)
    found = score(case, output, Judgements())
    assert found == {"label": 1, "probability": 0.7, "predicted": 0, **COST}
    assert score(case, replace(output, notes={}), Judgements(), method="detect_ambiguity")["predicted"] == 1
    failed = Output(status=RunStatus.FAILED, error="no")
    assert score(case, failed, Judgements(), method="detect_ambiguity").keys() == {"label", *COST}
    assert "label" not in score(replace(case, is_ambiguous=None), output, Judgements())


def test_a_search_is_a_ranking() -> None:
    found = score(replace(CASE, document_ids=("d2",)), Output(retrieved=(P1, P1, P2)), Judgements(), method="search")
    of_answers = {"mrecall@1", "mrecall@5", "mrecall@10"}
    assert found.keys() == {"recall@5", "recall@10", "recall@20", "ndcg@10", "mrr@10", *of_answers, *COST}
    assert found["mrr@10"] == 0.5


def test_each_step_is_scored_by_itself_and_all_of_them_together() -> None:
    """Both steps find a document first. The documents of the second step are not ranked behind all of the first one."""
    others = [Passage(f"other {number}", number, "") for number in range(10, 28)]
    steps = ((P1, *others[:9]), (P2, *others[9:]))
    case = replace(CASE, document_ids=("d1", "d2"))
    output = Output(retrieved=tuple(pooled(steps)), steps=steps)
    found = score(case, output, Judgements(), method="investigate")
    assert (found["recall@5"], found["recall@10"], found["ndcg@10"], found["mrr@10"]) == (1, 1, 1, 1)
    # Each step finds one of the two documents, in first place.
    assert (found["step_recall@5"], found["step_recall@10"], found["step_mrr@10"]) == (0.5, 0.5, 1)

    # A step that found nothing, or nothing relevant, counts, too.
    worse = replace(output, steps=((P3, P1), (), (P3,)))
    found = score(case, worse, Judgements(), method="investigate")
    assert found["step_recall@10"] == pytest.approx(1 / 6)
    assert found["step_mrr@10"] == pytest.approx(1 / 6)
    for nothing in (Output(), replace(output, status=RunStatus.FAILED)):
        found = score(case, nothing, Judgements(), method="investigate")
        assert (found["recall@10"], found["step_recall@10"], found["step_mrr@10"]) == (0, 0, 0)
    assert "step_mrr@10" not in score(CASE, output, Judgements(), method="investigate"), "no document is known"
    assert "step_mrr@10" not in score(case, output, Judgements(), method="clarify"), "it has no steps"


def test_all_answers_have_to_be_found() -> None:
    for passages, expected in (((P1, P2, P4), (1, 1)), ((P1, P2, P3), (1, 0)), ((P3,) * 5 + (P1, P2, P4), (0, 0))):
        found = score(CASE, Output(retrieved=passages), Judgements(), method="search")
        # One passage need not have more than one of the three answers.
        assert (found["mrecall@1"], found["mrecall@5"]) == expected
    # Of two people, the one whose answers were found counts.
    people = Case("1", "Who?", answer_sets=((("Ping",), ("nobody",)), (("Moussa Faki", "Faki"),)))
    assert score(people, Output(retrieved=(P2,)), Judgements(), method="search")["mrecall@5"] == 1
    assert "mrecall@5" not in score(CASE, OUTPUT, Judgements(), method="human")


@pytest.mark.parametrize(
    "method", ["rewrite", "rewrite_ambiguous", "always_rewrite", "few_shot", "logistic_regression"]
)
def test_a_rewrite_is_scored_by_when_and_by_what_it_finds(method: str) -> None:
    case = replace(CASE, is_ambiguous=True, document_ids=("d2",), interpretations=())
    output = Output(questions=("Who chaired it in 2017?",), retrieved=(P1, P2), probability=1.0, usage=USAGE, seconds=3)
    values = score(case, output, Judgements(), method=method)
    assert values == {
        **{"label": 1, "probability": 1, "predicted": 1, "rewritten": 1},
        **{"recall@5": 1, "recall@10": 1, "recall@20": 1, "mrr@10": 0.5, "ndcg@10": pytest.approx(0.63, abs=0.01)},
        **COST,
    }
    left = score(case, replace(output, questions=(case.question,), probability=0.0), Judgements(), method=method)
    assert (left["rewritten"], left["predicted"]) == (0, 0)
    failed = score(case, replace(output, status=RunStatus.FAILED, error="x"), Judgements(), method=method)
    assert (failed["rewritten"], failed["recall@5"], "predicted" in failed) == (0, 0, False)


def test_what_is_asked_back_is_counted() -> None:
    output = Output(questions=("In 2008?", "In 2017?"), usage=USAGE, seconds=3.0)
    assert score(CASE, output, Judgements(), method="clarifying_questions") == {"asked_back": 2, **COST}
