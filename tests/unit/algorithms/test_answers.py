"""Short answers: what their words alone tell."""

import pytest

from pgclarify.algorithms import Relation, relate_answers

SAME = [
    ("Jean Ping", "jean ping"),
    ("the Politburo", "Politburo."),
    ("Hewlett Packard", "Hewlett-Packard"),
    ("J. Ping", "Jean Ping"),
    ("A.P.J. Abdul Kalam", "A. P. J. Abdul Kalam"),
    ("NIDA", "National Institute of Dramatic Art"),
    ("MLS", "Major League Soccer"),
    ("Faki", "Moussa Faki Mahamat"),
    ("fifty", "50"),
    ("It was six.", "6"),
    ("May 6, 1990", "6 May 1990"),
    ("October 1919", "1919"),
    ("9 am", "9:00 a.m."),
    ("I, Claudius", "I Claudius"),
    ("overall mediocrity of the Cardinals", "mediocrity of the Cardinals"),
    ("Yes.", "yes, it is"),
    ("", ""),
]

DIFFERENT = [
    ("Kris Benson", "Anna Benson"),
    ("K. Benson", "Anna Benson"),
    ("University of South Carolina", "University of North Carolina"),
    ("Democratic Party", "Republican Party"),
    ("Moussa Faki", "Jean Ping"),
    ("1902", "1903"),
    ("May 1990", "June 1990"),
    ("30 seconds", "15 seconds"),
    ("9 am", "10 am"),
    ("yes", "no"),
    ("Yes, in 1990", "yes, in 1991"),
]

UNCLEAR = [
    ("constant", "usually goes on until death"),
    ("Rialto Bridge", "Ponte di Rialto"),
    ("an old stadium", "few people came to the games"),
    ("nine in the morning", "9 am"),
    # Two letters stand for too much.
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
