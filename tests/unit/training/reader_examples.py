from __future__ import annotations

from pgclarify.embedding.windows import Window
from training.reader.examples import Example


def examples(count: int) -> list[Example]:
    """Windows with a question of one word piece and a passage. Every second one has an answer."""
    made = []
    for number in range(count):
        words = [1 + (number + place) % 7 for place in range(3 + number % 5)]
        window = Window([8, 9, 8, *words, 8], 3, 3, [(place, place + 1) for place in range(len(words))])
        made.append(Example(window, 3, 4) if number % 2 else Example(window, None, None))
    return made
