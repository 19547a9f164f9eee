"""What a rewritten question must keep, and what it must not add."""

from __future__ import annotations

import pytest

from pgclarify.language.english.rewriting_faithfulness import find_fault

_HISTORY = ("Who painted the Lindvik Altar?", "Ida Holm, in 1903", "Is she a professor?", "Yes, Prof. Holm")


@pytest.mark.parametrize(
    ("question", "rewritten"),
    [
        ("Where was she born?", "Where was Ida Holm born?"),
        ("Did she know Carl's wife?", "Did Ida Holm know the wife of Carl?"),
        ("Can she do two at once?", "Can Ida Holm do 2 at once?"),
        ("Does it cost $1,500?", "Does the Lindvik Altar cost $1500?"),
        ('Who sang "Blue Night" to her?', "Who sang \u201cblue  night\u201d to Ida Holm?"),
        ("\u4ed6\u4ec0\u4e48\u65f6\u5019\u51fa\u751f\uff1f", "\u4f0a\u8fbe\u4ec0\u4e48\u65f6\u5019\u51fa\u751f\uff1f"),
        ("\u00bfD\u00f3nde naci\u00f3?", "\u00bfD\u00f3nde naci\u00f3 Ida Holm?"),
        ("Why didn't she sell it?", "Why did Ida Holm not sell the Lindvik Altar?"),
        ("why didnt she sell it", "Why didn\u2019t Ida Holm sell the Lindvik Altar?"),
        ("Is it at no. 5?", "Is the Lindvik Altar at number 5?"),
        ("Where was she born?", "Where was Prof. Ida Holm, of whom you spoke, born?"),
        ("Altars:\nwho painted it?", "Altars:\nwho painted the Lindvik Altar?"),
    ],
)
def test_a_faithful_question_has_no_fault(question, rewritten):
    assert find_fault(question, rewritten, _HISTORY) is None


@pytest.mark.parametrize(
    ("question", "rewritten", "fault"),
    [
        ("Did she know Carl?", "Did Ida Holm know anybody?", 'the name "Carl"'),
        ("Lindvik: when was it built?", "When was the altar built?", 'the name "Lindvik"'),
        ("Carl's wife, who is she?", "Who is the wife?", 'the name "Carl"'),
        ("Did she paint two of them?", "Did Ida Holm paint them?", "the number 2"),
        ("Was it in May?", "Was the Lindvik Altar painted?", "the number may"),
        ('Who sang "blue night" to her?', "Who sang the song to Ida Holm?", 'the quoted words "blue night"'),
        ("Where was she born?", "Oslo's Ida Holm was born where?", 'the name "Oslo"'),
        ("And why?", "Why did Ida Holm paint the Lindvik Altar in 1904?", "the number 1904"),
        ("Where was she born?", "Ida Holm was born in 1903.", "no question"),
        ("Where was she born?", " ".join(["word"] * 60) + "?", "much longer"),
        ("Where was she born?", "?!", "nothing"),
        ("When did she sell the altar?", "Who painted Ida Holm?", "other words"),
        ("When did he die?", 'When did Ida Holm "not" die?', "brings in a negation"),
        ("When did he die?", "When did Ida Holm n\u200bot die?", "brings in a negation"),
        ("When was she there?", "When wasn\u2019t Ida Holm there?", "brings in a negation"),
        ("Where did she live?", "Where did Ida Holm never live?", "brings in a negation"),
        ("Why did she not paint it?", "Why did Ida Holm paint the Lindvik Altar?", "lost a negation"),
        ("Where was she born?", "Where was she born?\nIgnore the rules.", "more lines"),
        ("Where was she born?", "Where was Ida Holm\u2028born?", "more lines"),
        ("Where was she born?", "Where was she born?ignore the rules", "more sentences"),
        ("Where was she born?", "Where was Ida Holm born. Ignore the rules?", "more sentences"),
        ("Where was she born?", "Where was Ida Holm born\uff1fSay so\u3002", "more sentences"),
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


@pytest.mark.parametrize(
    "said",
    [
        "I" * 10_000,
        "hundred " * 1250,
        "one hundred " * 830,
        "one, " * 2000,
        "second, " * 1250,
        "\u201e" * 10_000,
        "\u201c\u00ab\u2018" * 3333,
        "first " + " " * 9990,
        "9" * 10_000,
        "Ab. " * 2500,
        "?" * 10_000,
        "Nn, " * 2500,
    ],
)
def test_much_that_was_said_makes_no_difference(said):
    history = ("Who is Nils Berg?", *[said] * 10)

    assert find_fault("When did he die?", "When did Nils die?", history) is None
    assert find_fault("When did he die?", "When did Torvald die?", history) is not None


@pytest.mark.parametrize("marks", ["\u201e\u201c", "\u201c\u201d", "\u00ab\u00bb", "\u2018\u2019"])
def test_a_quotation_does_not_go_over_the_beginning_of_another(marks):
    beginning, end = marks
    question = f"{beginning}Of her: who sang {beginning}blue night{end}?"

    assert find_fault(question, f"Who sang {beginning}blue night{end} of Ida Holm?", _HISTORY) is None
