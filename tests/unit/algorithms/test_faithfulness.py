"""What a rewritten question has to keep, and what it must not bring in."""

from __future__ import annotations

import pytest

from pgclarify.algorithms.faithfulness import find_fault

_HISTORY = ("Who painted the Lindvik Altar?", "Ida Holm, in 1903")


@pytest.mark.parametrize(
    ("question", "rewritten"),
    [
        ("Where was she born?", "Where was Ida Holm born?"),
        ("where was she born", "where was Ida Holm born"),
        ("WHERE WAS SHE BORN", "Where was Ida Holm born?"),
        ("And why?", "Why did Ida Holm paint the Lindvik Altar in 1903?"),
        ("Did she know Carl's wife?", "Did Ida Holm know the wife of Carl?"),
        ("Did she know the Vikings?", "Did Ida Holm know a Viking?"),
        ("Did she paint it in 1903?", "Did Ida Holm paint the Lindvik Altar in 1903?"),
        ("Can she do two at once?", "Can Ida Holm do 2 at once?"),
        ("Does it cost $1,500?", "Does the Lindvik Altar cost $1500?"),
        ('Who sang "Blue Night" to her?', "Who sang \u201cblue  night\u201d to Ida Holm?"),
        ("Tell me more about her.", "Tell me more about Ida Holm."),
        ("\u4ed6\u4ec0\u4e48\u65f6\u5019\u51fa\u751f\uff1f", "\u4f0a\u8fbe\u4ec0\u4e48\u65f6\u5019\u51fa\u751f\uff1f"),
        ("\u00bfD\u00f3nde naci\u00f3?", "\u00bfD\u00f3nde naci\u00f3 Ida Holm?"),
        ("museum hours there", "museum hours Lindvik"),
    ],
)
def test_a_faithful_question_has_no_fault(question, rewritten):
    assert find_fault(question, rewritten, _HISTORY) is None


@pytest.mark.parametrize(
    ("question", "rewritten", "fault"),
    [
        ("Did she know Carl?", "Did Ida Holm know anybody?", 'the name "Carl"'),
        ("Did she know Carl?", "Did Ida Holm know Karl?", 'the name "Carl"'),
        ("Lindvik: when was it built?", "When was the altar built?", 'the name "Lindvik"'),
        ("Carl's wife, who is she?", "Who is the wife?", 'the name "Carl"'),
        ("Did she paint it in 1903?", "Did Ida Holm paint the Lindvik Altar?", "the number 1903"),
        ("Did she paint two of them?", "Did Ida Holm paint them?", "the number 2"),
        ("Was it in May?", "Was the Lindvik Altar painted?", "the number may"),
        ("Who was the first one?", "Who was Ida Holm?", "the number 1"),
        ('Who sang "blue night" to her?', "Who sang the song to Ida Holm?", 'the quoted words "blue night"'),
        ("Who sang \u00abblue night\u00bb to her?", "Who sang to Ida Holm?", 'the quoted words "blue night"'),
        ("Where was she born?", "Where was Ada Holm born?", 'the name "Ada"'),
        ("Where was she born?", "Oslo's Ida Holm was born where?", 'the name "Oslo"'),
        ("And why?", "Why did Ida Holm paint the Lindvik Altar in 1904?", "the number 1904"),
        ("Where was she born?", "Ida Holm was born in 1903.", "no question"),
        ("Where was she born?", "In 1903", "no question"),
        ("Where was she born?", " ".join(["word"] * 60) + "?", "much longer"),
        ("Where was she born?", "?!", "nothing"),
        ("When did she sell the altar?", "Who painted Ida Holm?", "other words"),
    ],
)
def test_a_fault_is_named(question, rewritten, fault):
    found = find_fault(question, rewritten, _HISTORY)

    assert found is not None
    assert fault in found


def test_a_name_that_the_history_has_in_lower_case_is_not_made_up():
    assert find_fault("where was she born", "Where was Ida Holm born?", ("who is ida holm",)) is None


def test_a_capital_at_the_beginning_is_a_name_if_it_is_one_elsewhere():
    history = ("Who was king of Norway?",)

    assert find_fault("Norway today?", "Who is king of Norway today?", history) is None
    assert find_fault("Norway today?", "Who is king of Sweden today?", history) is not None


@pytest.mark.parametrize("text", ["", "?", "\u201e" * 3000, "1," * 1000, '"' * 2999, "\u202e", "A. " * 500])
def test_nothing_that_is_said_is_an_error(text):
    assert find_fault(text, "Where was Ida Holm born?", (text,)) is not None
    assert find_fault("Where was she born?", text, (text,)) is not None
