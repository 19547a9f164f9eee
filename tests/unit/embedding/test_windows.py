"""Windows of a passage: what is cut, what overlaps, and what they cover."""

from __future__ import annotations

from itertools import pairwise

import pgclarify_minilm
import pytest

from pgclarify.embedding.windows import WINDOW_TOKENS, Windows

SENTENCE = "The wide café opens at 7:30 for members of the rowing club. "


@pytest.mark.parametrize("repeats", [1, 10, 17, 60])
@pytest.mark.parametrize(("title", "above"), [("", 0), ("Opening hours", 3), ("Hours " * 40, 24)])
@pytest.mark.parametrize(("question", "asked"), [("When does it open?", 5), ("opens " * 90, 48)])
def test_windows_cover_a_passage_below_a_question_and_a_title(
    question: str, asked: int, title: str, above: int, repeats: int
) -> None:
    passage = SENTENCE * repeats
    windows = [*Windows(pgclarify_minilm.FOLDER).of(question, title, passage)]
    covered = {place for window in windows for start, end in window.offsets for place in range(start, end)}
    assert covered == {place for place, character in enumerate(passage) if not character.isspace()}
    for window in windows:
        assert (window.title_start, window.passage_start) == (asked + 2, asked + 2 + above)
        assert len(window.tokens) == window.passage_start + len(window.offsets) + 1 <= WINDOW_TOKENS
    for one, other in pairwise(windows):
        assert one.offsets[-96:] == other.offsets[:96]
