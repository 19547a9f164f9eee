from __future__ import annotations

from collections import Counter

from tests.unit.training.reader_examples import examples
from training.reader.batches import count_pieces, plan


def test_every_epoch_has_each_example_once_in_an_order_of_its_own() -> None:
    given = examples(100)
    batches = plan(given, 2)
    epochs = [[id(one) for batch in half for one in batch] for half in (batches[:7], batches[7:])]

    assert batches == plan(given, 2)
    assert Counter(epochs[0]) == Counter(epochs[1]) == Counter(map(id, given))
    assert epochs[0] != epochs[1]


def test_padding_counts() -> None:
    short, long = examples(2)

    assert count_pieces([[short, long]]) == 2 * len(long.window.tokens)
