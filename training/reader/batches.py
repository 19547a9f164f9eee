"""The order of examples in training."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

from training.reader.examples import Example

_BATCH: Final = 16
# Windows are sorted by length within this many batches. A short window costs as much as the longest one of its batch.
_SORTED_TOGETHER: Final = 40


def plan(examples: Sequence[Example], epochs: int) -> list[list[Example]]:
    """Put examples into batches for all epochs, in random order: the same each time."""
    batches: list[list[Example]] = []
    for epoch in range(epochs):
        chance = random.Random(epoch)  # noqa: S311 - no secret
        shuffled, of_epoch = list(examples), []
        chance.shuffle(shuffled)
        for begin in range(0, len(shuffled), _BATCH * _SORTED_TOGETHER):
            together = sorted(shuffled[begin : begin + _BATCH * _SORTED_TOGETHER], key=_length)
            of_epoch += [together[place : place + _BATCH] for place in range(0, len(together), _BATCH)]
        chance.shuffle(of_epoch)
        batches += of_epoch
    return batches


def count_pieces(batches: Sequence[Sequence[Example]]) -> int:
    """Return the number of word pieces that the network reads, including padding."""
    return sum(len(batch) * max(map(_length, batch)) for batch in batches)


def _length(example: Example) -> int:
    return len(example.window.tokens)
