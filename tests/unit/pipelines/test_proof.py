"""What counts as the proof of an answer."""

import pytest

from pgclarify.errors import InvalidReply
from pgclarify.model import Candidate, Passage
from pgclarify.pipelines.calls import Unproven
from pgclarify.pipelines.proof import is_told, prove
from pgclarify.steps import Evidence, Finding, StepCitation

ALTAR = "The altar was painted by Ida  Holm in 1903."
BIRTH = "Ida Holm was born in Ortval, a fishing village."
SHOWN = [
    Candidate(7, Passage("altar", 1, ALTAR, title="Lindvik Altar", start_char=1000), 0.9, "dense"),
    Candidate(9, Passage("holm", 2, BIRTH, title="Ida Holm (painter)"), 0.8, "dense"),
]


ASKED = "where was she born"


def finding(answer: str | None, *evidence: tuple[int, str]) -> Finding:
    return Finding(answer, tuple(Evidence(*one) for one in evidence))


def test_a_quote_is_cited_as_the_document_spells_it():
    proven = prove(finding("Ida Holm", (1, "painted by ida holm")), SHOWN, asked=ASKED)
    assert proven is not None
    assert proven.citations == (StepCitation(7, "painted by Ida  Holm", 1014, 1034),)
    assert proven.cited == (SHOWN[0],)


def test_no_answer_needs_no_proof():
    assert prove(finding(None), SHOWN, asked=ASKED) is None


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


def test_the_same_quote_twice_is_one_citation():
    proven = prove(finding("Ortval", (2, BIRTH), (2, BIRTH), (1, "nowhere")), SHOWN, asked=ASKED)
    assert proven is not None
    assert len(proven.citations) == 1


def test_an_answer_may_rest_on_a_title():
    assert prove(finding("a painter", (2, "born in Ortval")), SHOWN, asked=ASKED) is not None


def test_an_answer_whose_words_are_elsewhere_is_from_memory():
    with pytest.raises(Unproven):
        prove(finding("Copenhagen, Denmark", (2, "born in Ortval")), SHOWN, asked=ASKED)


def test_an_answer_may_rest_on_what_was_known_before():
    assert (
        prove(finding("Lindvik", (2, "born in Ortval")), SHOWN, asked=ASKED, known=["Where is Ida Holm from? Lindvik"])
        is not None
    )


def test_a_passage_that_names_nothing_of_the_question_is_about_something_else():
    born = finding("Ortval", (2, "born in Ortval"))
    with pytest.raises(Unproven):
        prove(born, SHOWN, asked="Where was Greta Lind born?")
    assert prove(born, SHOWN, asked="Where was Greta Holm born?") is not None
    # The name is in the title alone.
    altar = finding("1903", (1, "in 1903"))
    assert prove(altar, SHOWN, asked="When was the Lindvik panel painted?") is not None


def test_what_was_known_before_may_name_it():
    born = finding("Ortval", (2, "born in Ortval"))
    assert prove(born, SHOWN, asked="Who made the Lindvik Panel?", known=["", "Its painter is Ida Holm"]) is not None


def test_an_answer_that_no_table_can_keep_is_none():
    with pytest.raises(InvalidReply):
        prove(finding("Ortval\x00", (2, "born in Ortval")), SHOWN, asked=ASKED)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("yes", True),
        ("No.", True),
        ("in Ortval", True),
        ("ORTVAL", True),
        ("Ortval, Denmark", True),
        ("Ortval, Jutland, Denmark", False),
        ("the", False),
        ("?", False),
    ],
)
def test_half_of_the_words_have_to_be_told(answer: str, expected: bool):
    assert is_told(answer, [BIRTH]) is expected
