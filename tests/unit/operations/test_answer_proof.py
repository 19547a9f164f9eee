"""When an answer counts as proven."""

import pytest

from pgclarify.data.candidates import Candidate
from pgclarify.data.citations import Citation
from pgclarify.data.documents import Passage
from pgclarify.data.investigation import Evidence, Finding, Step
from pgclarify.data.vocabulary import StepKind, StepOutcome
from pgclarify.ledger.calls import Unproven
from pgclarify.operations.judging.answer_proof import Proven, is_told, prove

ALTAR = "The altar was painted by Ida  Holm in 1903."
BIRTH = "Ida Holm was born in Ortval, a fishing village."
SHOWN = [
    Candidate(7, Passage("altar", 1, ALTAR, title="Lindvik Altar", start_char=1000), 0.9, "dense"),
    Candidate(9, Passage("holm", 2, BIRTH, title="Ida Holm (painter)"), 0.8, "dense"),
]


ASKED = "where was she born"
FROM_LINDVIK = Step(1, StepKind.FOLLOW_UP, "Where is Ida Holm from?", StepOutcome.ANSWERED, "Lindvik", 1.0)


def finding(answer: str | None, *evidence: tuple[int, str]) -> Finding:
    return Finding(answer, tuple(Evidence(*one) for one in evidence))


def test_a_quote_is_cited_as_the_document_spells_it():
    proven = prove(finding("Ida Holm", (1, "painted by ida holm")), SHOWN, asked=ASKED)
    assert proven is not None
    assert proven.citations == (Citation(7, "painted by Ida  Holm", 1014, 1034),)
    assert proven.cited == (SHOWN[0],)


@pytest.mark.parametrize(
    ("text", "answer", "quote", "cited"),
    [
        ("The fee is 400 euros a day.", "40", "The fee is 40", None),
        ("Bertram Lindgren collects the fee.", "Bertram Lind", "Bertram Lind", None),
        ("Nobody believes that the fee is 40 euros.", "40 euros", "the fee is 40 euros", None),
        ("The fee is 40 euros a day.", "40", "fee is 40", "The fee is 40 euros a day."),
        ("If it rains, the fee is 40 euros.", "40 euros", "the fee is 40 euros", "If it rains, the fee is 40 euros."),
    ],
)
def test_a_quote_is_whole_words_and_judged_with_its_sentence(text: str, answer: str, quote: str, cited: str | None):
    shown = [Candidate(1, Passage("fees", 1, text), 0.9, "dense")]
    if cited is None:
        with pytest.raises(Unproven):
            prove(finding(answer, (1, quote)), shown, asked="What is the fee?")
        return
    proven = prove(finding(answer, (1, quote)), shown, asked="What is the fee?")
    assert proven is not None
    assert [citation.quote for citation in proven.citations] == [cited]


@pytest.mark.parametrize(
    "evidence", [(), ((1, "born in Ortval"),), ((3, "in Ortval"),), ((0, "Ortval"),), ((2, "..."),)]
)
def test_a_quote_that_is_not_in_its_passage_proves_nothing(evidence: tuple[tuple[int, str], ...]):
    with pytest.raises(Unproven):
        prove(finding("Ortval", *evidence), SHOWN, asked=ASKED)


@pytest.mark.parametrize("number", [0, 1, 5, -1])
def test_a_long_quote_is_looked_for_in_the_other_passages_too(number: int):
    proven = prove(finding("Ortval", (number, "Ida Holm was born in Ortval")), SHOWN, asked=ASKED)
    assert proven is not None
    assert [citation.candidate_rank for citation in proven.citations] == [9]


def test_an_answer_may_rest_on_a_title():
    assert prove(finding("a painter", (2, "born in Ortval")), SHOWN, asked=ASKED) is not None


def test_a_passage_that_names_nothing_of_the_question_is_about_something_else():
    born = finding("Ortval", (2, "born in Ortval"))
    with pytest.raises(Unproven):
        prove(born, SHOWN, asked="Where was Greta Lind born?")
    assert prove(born, SHOWN, asked="Where was Greta Holm born?") is not None
    # Only the title has the name.
    altar = finding("1903", (1, "in 1903"))
    assert prove(altar, SHOWN, asked="When was the Lindvik panel painted?") is not None


def test_an_earlier_step_may_name_the_subject():
    born = finding("Ortval", (2, "born in Ortval"))
    assert prove(born, SHOWN, asked="Who made the Lindvik Panel?", steps=[FROM_LINDVIK]) is not None


LIFE = "Ida Holm was born in 1872 and was a painter. She loved the sea."


def life(quote: str, answer: str, asked: str) -> Proven | None:
    return prove(finding(answer, (1, quote)), [Candidate(1, Passage("holm", 1, LIFE), 0.5, "dense")], asked=asked)


@pytest.mark.parametrize(
    ("quote", "answer", "asked"),
    [
        # The quote says nothing, or nothing about the question.
        ("was", "1872", "When was Ida Holm born?"),
        ("She loved the sea", "1872", "When was Ida Holm born?"),
        ("She loved the sea", "no", "Was Ida Holm a painter?"),
        # Words of the question are not an answer, and do not replace words that the passage lacks.
        ("Ida Holm was born in 1872", "Ida Holm", "When was Ida Holm born?"),
        ("Ida Holm was born in 1872", "Ida Holm was born in Paris, France", "Where was Ida Holm born?"),
        # The passages must have every number of the answer.
        ("Ida Holm was born in 1872", "Ida Holm the painter, 1873", "Who was born in Ortval?"),
        ("Ida Holm was born in 1872", "1873", "Was Ida Holm born in 1872 or 1873?"),
    ],
)
def test_a_true_quote_beside_a_remembered_answer_proves_nothing(quote: str, answer: str, asked: str):
    with pytest.raises(Unproven):
        life(quote, answer, asked)


@pytest.mark.parametrize(
    ("quote", "answer", "asked"),
    [
        ("Ida Holm was born in 1872", "1872", "When was Ida Holm born?"),
        ("Ida Holm was born in 1872", "Ida Holm was born in 1872", "When was Ida Holm born?"),
        ("Ida Holm was born in 1872", "1872", "Was Ida Holm born in 1872 or 1873?"),
        ("Ida Holm was born in 1872", "yes", "Was Ida Holm born in 1872?"),
        ("Ida Holm was born", "Ida Holm", "Who was born first, Ida Holm or Greta Lind?"),
    ],
)
def test_a_quote_that_says_it_proves_it(quote: str, answer: str, asked: str):
    assert life(quote, answer, asked) is not None


def test_a_quote_beside_the_point_is_not_cited():
    proven = prove(finding("Ortval", (1, "in"), (2, "born in Ortval")), SHOWN, asked=ASKED)
    assert proven is not None
    assert [citation.quote for citation in proven.citations] == ["born in Ortval"]


def test_words_of_the_question_are_an_answer_where_they_are_told_together():
    asked = "Which county is Lindvik in?"
    assert is_told("Lindvik County", ["Lindvik lies in Lindvik County."], asked=asked)
    assert not is_told("Lindvik County", ["Lindvik lies in a county."], asked=asked)


def test_a_choice_may_be_named_by_the_steps_questions():
    built = Step(1, StepKind.FOLLOW_UP, "When was Lindvik Castle built?", StepOutcome.ANSWERED, "1410", 1.0)
    assert is_told("Lindvik Castle", [], asked="Which is older, Lindvik Castle or its chapel?", steps=[built])
    assert not is_told("Lindvik Castle", [], asked="Who built Lindvik Castle?", steps=[built])


def test_a_step_answers_a_name_within_the_question():
    asked = "Where was the painter of the Lindvik Altar born?"
    assert is_told("Lindvik", [], asked=asked, steps=[FROM_LINDVIK])
    assert not is_told("Lindvik", ["The Lindvik Altar"], asked=asked)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("yes", True),
        ("No.", True),
        ("in Ortval", True),
        ("Ortval, Denmark", True),
        ("Ortval, Jutland, Denmark", False),
        ("the", False),
        ("?", False),
    ],
)
def test_half_of_the_words_have_to_be_told(answer: str, expected: bool):
    assert is_told(answer, [BIRTH], asked=ASKED) is expected
