"""Short answers: what their words decide, and their vectors without the part of the question."""

import numpy as np
import pytest

from pgclarify.algorithms.directions import answer_directions
from pgclarify.language.english.answers import relate_answers
from pgclarify.language.relations import Relation

SAME = [
    ("Jean Ping", "jean ping"),
    ("the Politburo", "Politburo."),
    ("Hewlett Packard", "Hewlett-Packard"),
    ("J. Ping", "Jean Ping"),
    ("A.P.J. Abdul Kalam", "A. P. J. Abdul Kalam"),
    ("NIDA", "National Institute of Dramatic Art"),
    ("Faki", "Moussa Faki Mahamat"),
    ("fifty", "50"),
    ("It was six.", "6"),
    ("October 1919", "1919"),
    ("I, Claudius", "I Claudius"),
    ("overall mediocrity of the Cardinals", "mediocrity of the Cardinals"),
    ("Yes.", "yes, it is"),
    ("", ""),
]

DIFFERENT = [
    ("Kris Benson", "Anna Benson"),
    ("K. Benson", "Anna Benson"),
    ("University of South Carolina", "University of North Carolina"),
    ("May 1990", "June 1990"),
    ("9 am", "10 am"),
    ("yes", "no"),
    ("Yes, in 1990", "yes, in 1991"),
]

UNCLEAR = [
    ("constant", "usually goes on until death"),
    ("Rialto Bridge", "Ponte di Rialto"),
    ("nine in the morning", "9 am"),
    # Two letters may be an abbreviation of many things.
    ("LA", "the city of angels"),
]


def both_ways(one: str, other: str) -> Relation:
    relation = relate_answers(one, other)
    assert relate_answers(other, one) is relation
    return relation


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same(one, other):
    assert both_ways(one, other) is Relation.AGREE


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different(one, other):
    assert both_ways(one, other) is Relation.CONFLICT


@pytest.mark.parametrize(("one", "other"), UNCLEAR)
def test_unclear(one, other):
    assert both_ways(one, other) is Relation.UNKNOWN


def unit(*rows):
    matrix = np.array(rows, dtype=np.float32)
    return matrix / np.linalg.norm(matrix, axis=-1, keepdims=True)


def test_directions_of_answers_leave_out_the_direction_of_the_question():
    question = unit([1, 0, 0])[0]
    answers = unit([5, 1, 0], [9, 0, 1], [1, 1, 0], [3, -1, 0])
    assert answers[0] @ answers[1] > 0.9
    directions = answer_directions(answers, question)
    assert directions.dtype == np.float32
    np.testing.assert_allclose(directions @ directions[0], [1, 0, 1, -1], atol=1e-6)


def test_each_answer_may_have_a_question_of_its_own():
    answers = unit([5, 1, 0], [0, 5, 1])
    questions = unit([1, 0, 0], [0, 1, 0])
    np.testing.assert_allclose(answer_directions(answers, questions), [[0, 1, 0], [0, 0, 1]], atol=1e-6)


def test_an_answer_that_adds_nothing_is_like_no_other():
    question = unit([1, 2, 3])[0]
    directions = answer_directions(np.stack([question, question]), question)
    assert (directions == 0).all()
