"""Sampled answers, and when two of them mean the same."""

import pytest

from pgclarify.data.documents import Passage
from pgclarify.data.runs import Tally
from pgclarify.errors import InvalidReply
from pgclarify.ledger.calls import Calls, OutOfCalls
from pgclarify.operations.investigation.entailment import Entailments
from pgclarify.operations.investigation.uncertainty import Samples, SemanticEquivalence, draw_samples
from pgclarify.protocols import Entailment
from tests.fakes import FakeEmbedder, FakeEntailment, FakeLedger, scripts
from tests.fakes.completer import ScriptedCompleter
from tests.fakes.context import no_cross_encoder

QUESTION = "Where was Ida Holm born?"
PASSAGES = [Passage("a", 1, "Ida Holm was born in Ortval.")]
UNREADABLE = InvalidReply("a reply has the wrong form")


def calls(investigator: ScriptedCompleter, most: int = 10) -> Calls:
    return Calls(FakeLedger(), investigator, most=most)


async def sampled(*said: object, entailment: FakeEntailment | None = None) -> Samples:
    investigator = scripts.investigator(samples={QUESTION: list(said)})  # type: ignore[arg-type]
    return await draw_samples(
        QUESTION,
        PASSAGES,
        samples=len(said),
        calls=calls(investigator),
        equivalence=SemanticEquivalence(entailment or FakeEntailment()),
        tally=Tally(),
    )


async def test_answers_are_grouped_by_two_way_entailment():
    both = [("Ortval", "in Ortval"), ("in Ortval", "Ortval")]
    drawn = await sampled("Ortval", "Lindvik", "in Ortval", entailment=FakeEntailment(both))
    assert drawn == Samples(("Ortval", "Lindvik", "in Ortval"), ((0, 2), (1,)), ("a",))


async def test_answers_that_are_written_alike_are_not_judged():
    entailment = FakeEntailment()
    drawn = await sampled("Ortval", "ORTVAL.", "\u201cOrtval\u201d", "Lindvik", entailment=entailment)
    assert drawn.sets[0][:2] == (0, 1)
    ((_, pairs),) = entailment.calls
    # Each ordered pair of the three wordings, once.
    assert len(pairs) == len(set(pairs)) == 6
    assert ("Ortval", "ORTVAL.") not in pairs


async def test_not_here_agrees_with_nothing_and_is_never_judged():
    entailment = FakeEntailment()
    drawn = await sampled(None, "Ortval", None, "Ortval", entailment=entailment)
    assert drawn.sets == ((1, 3), (0,), (2,))
    assert entailment.calls == [(QUESTION, [])]


async def test_nothing_that_can_be_read_is_an_error():
    with pytest.raises(InvalidReply):
        await sampled(UNREADABLE, UNREADABLE)


@pytest.mark.parametrize(
    ("answer", "expected"), [("Ortval", 3 / 4), ("Lindvik", 2 / 4), ("Copenhagen", 1 / 4), ("ortval.", 3 / 4)]
)
async def test_the_share_of_an_answer_counts_itself(answer: str, expected: float):
    drawn = Samples(("Ortval", "Ortval", "Lindvik"), ((0, 1), (2,)))
    assert await SemanticEquivalence(FakeEntailment()).share(QUESTION, drawn, answer, Tally()) == expected


async def asking(judge: ScriptedCompleter, ledger: FakeLedger, limited: Calls | None) -> Entailment:
    return await Entailments(judge, no_cross_encoder).get("model", ledger, FakeEmbedder(), calls=limited)


async def test_comparisons_are_of_the_documents_of_the_batch():
    ledger = FakeLedger()
    limited = calls(scripts.investigator(samples={QUESTION: ["Ortval", "Lindvik"]}))
    equivalence = SemanticEquivalence(await asking(scripts.entailment_judge(), ledger, None))
    drawn = await draw_samples(
        QUESTION, [*PASSAGES, Passage("b", 2, "B.")], samples=2, calls=limited, equivalence=equivalence, tally=Tally()
    )
    assert len(ledger.table.rows) == 2
    await equivalence.share(QUESTION, drawn, "Copenhagen", Tally())
    assert [row.request.document_ids for row in ledger.table.rows.values()] == [("a", "b")] * 6


async def test_calls_of_the_judge_count_against_the_calls_of_the_run():
    judge = scripts.entailment_judge(otherwise="yes")
    limited = calls(scripts.investigator(), most=3)
    equivalence = SemanticEquivalence(await asking(judge, FakeLedger(), limited))
    assert len(await equivalence.group(QUESTION, ["Ortval", "in Ortval"], Tally())) == 1
    # Two of three calls are used, one for each direction. The last one is not enough for the next pair.
    assert limited.left == 1
    with pytest.raises(OutOfCalls):
        await equivalence.group(QUESTION, ["Ortval", "at Ortval"], Tally())
    assert (limited.left, limited.were_short, len(judge.calls)) == (1, True, 2)


@pytest.mark.parametrize(("most", "asked"), [(3, 3), (2, 2)])
async def test_a_second_try_takes_a_call_too(most: int, asked: int):
    judge = scripts.entailment_judge({"Ortval > in Ortval": ["perhaps", "yes"]}, otherwise="yes")
    limited = calls(scripts.investigator(), most=most)
    equivalence = SemanticEquivalence(await asking(judge, FakeLedger(), limited))
    # Without a call for a second try, an unreadable reply counts as different.
    assert len(await equivalence.group(QUESTION, ["Ortval", "in Ortval"], Tally())) == (1 if most == 3 else 2)
    assert (len(judge.calls), limited.left) == (asked, 0)


def test_calls_that_are_kept_cannot_be_taken_meanwhile():
    limited = calls(scripts.investigator(), most=5)
    with limited.keeping(2), limited.keeping(1):
        assert (limited.left, limited.take(3), limited.take(2)) == (2, False, True)
    assert limited.left == 3
