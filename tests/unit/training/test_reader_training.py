from __future__ import annotations

import pytest

from tests.unit.training.reader_examples import examples
from training.reader.batches import plan

pytestmark = pytest.mark.slow  # imports PyTorch


def small_reader():
    import torch
    from torch import nn

    class SmallReader(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.layers, self.span, self.answerable = nn.Embedding(10, 4), nn.Linear(4, 2), nn.Linear(4, 1)

        def forward(self, ids, types, mask):
            hidden = self.layers(ids) * mask[..., None] + types[..., None]
            scores = self.span(hidden)
            return scores[..., 0], scores[..., 1], self.answerable(hidden.mean(1))[:, 0]

    return SmallReader()


def test_a_training_that_was_interrupted_goes_on_as_if_it_was_not(tmp_path, monkeypatch) -> None:
    import torch

    from training.reader import train

    batches = plan(examples(100), 1)
    whole, interrupted, resumed = small_reader(), small_reader(), small_reader()
    train.train(whole, batches, tmp_path / "whole")

    monkeypatch.setattr(train, "_STEPS_BETWEEN_CHECKPOINTS", 3)
    step = torch.optim.AdamW.step
    taken = []

    def fail_at_the_fifth(optimizer):
        taken.append(step(optimizer))
        if len(taken) == 5:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(torch.optim.AdamW, "step", fail_at_the_fifth)
        train.train(interrupted, batches, tmp_path / "interrupted")
    train.train(resumed, batches, tmp_path / "interrupted")

    for of_whole, of_resumed, untrained in zip(
        whole.parameters(), resumed.parameters(), small_reader().parameters(), strict=True
    ):
        assert torch.equal(of_whole, of_resumed)
        assert not torch.equal(of_whole, untrained)


def test_a_checkpoint_of_other_data_is_refused(tmp_path) -> None:
    from training.reader import train

    train.train(small_reader(), plan(examples(20), 1), tmp_path / "checkpoint")

    with pytest.raises(ValueError, match="other data"):
        train.train(small_reader(), plan(examples(21), 1), tmp_path / "checkpoint")
