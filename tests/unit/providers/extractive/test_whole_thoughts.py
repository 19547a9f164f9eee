"""Neighbours that answer, too, are read together with the sentence that most probably answers."""

from __future__ import annotations

import pytest

from pgclarify.language.english.reading.evidence import gather_evidence
from pgclarify.providers.extractive.whole_thoughts import whole_thought

PROSE = "Leave is paid. You get 12 weeks. They may be split."
LIST = "To delete an emoji:\n\n- Open the emoji picker.\n- Select Custom Emoji.\n- Choose the Delete action.\n"


@pytest.mark.parametrize(
    ("passage", "best", "answering", "text"),
    [
        (PROSE, "You get", ("They may",), "You get 12 weeks. They may be split."),
        (PROSE, "You get", ("Leave", "They may"), PROSE),
        (PROSE, "You get", (), "You get 12 weeks."),
        # What does not answer parts what does.
        (PROSE, "Leave", ("They may",), "Leave is paid."),
        (LIST, "Select", ("Choose",), "Select Custom Emoji.\n- Choose the Delete action."),
        # The introduction belongs to the first item.
        (LIST, "Select", ("Open", "Choose"), LIST.strip()),
        ("You get 12 weeks.\n\n## Sick leave\n\nCall your manager.", "You get", ("Call",), "You get 12 weeks."),
        ("Mailing list\n\nWrite to the list.", "Write", ("Mailing",), "Write to the list."),
        ("Rent: 940 euros\nDeposit: 1,880 euros", "Rent", ("Deposit",), "Rent: 940 euros"),
        ("You get 12 weeks. Follow these steps.", "You get", ("Follow",), "You get 12 weeks."),
        ("Follow these steps. You get 12 weeks.", "Follow", ("You get",), "Follow these steps."),
        # What follows a question answers that question.
        ("Are dogs allowed? On Fridays. Are cats? They are not.", "On", ("Are", "They"), "On Fridays."),
        # An item may have two sentences.
        ("- Open it now. It is below.\n- Close it again.", "Open", ("It is",), "Open it now. It is below."),
        # An introduction that is too long is left out.
        (
            "To delete an emoji" + " now" * 100 + ":\n\n- Open the picker.\n- Select it there.",
            "Open",
            ("Select",),
            "Open the picker.\n- Select it there.",
        ),
        # 200 words of 3 characters are longer than an answer.
        ("You get 12 weeks. They" + " or" * 200 + ".", "You get", ("They",), "You get 12 weeks."),
    ],
)
def test_neighbours_that_answer_are_read_with_the_best_sentence(
    passage: str, best: str, answering: tuple[str, ...], text: str
) -> None:
    judged = [
        (piece, 0.9 if piece.text.startswith(best) else 0.4 if piece.text.startswith(answering) else 0.1)
        for piece in gather_evidence(passage)
    ]
    piece = next(piece for piece, told in judged if told == 0.9 and not piece.items)
    assert whole_thought(piece, judged, passage).text == text


def test_a_mark_begins_the_next_item_of_a_list() -> None:
    passage = "- Open it now. It is below.\n- Close it again."
    judged = [(piece, 0.9) for piece in gather_evidence(passage)]
    thought = whole_thought(next(piece for piece, _ in judged if not piece.items), judged, passage)
    assert thought.items == ("Open it now. It is below.", "Close it again.")
