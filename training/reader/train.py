"""Train the reader of answers on the file that training.reader.prepare made.

    python -m training.reader.train examples.npz MODEL_DIR reader.safetensors

MODEL_DIR has config.json and model.safetensors of all-MiniLM-L6-v2. A GPU is used if there is one. The weights are the
mean of several trainings, which finds more answers than each of them ("Model soups", Wortsman et al., 2022, §3).
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 - as PyTorch's own pages do
from numpy.typing import NDArray
from torch import Tensor

from training.reader.export import pack
from training.reader.model import Reader

# Batch size and highest learning rate of the encoder in each training; its number is the seed.
_TRAININGS: Final = ((64, 2e-4), (128, 4e-4), (64, 2e-4))
# Windows are sorted by length within this many batches. A short window costs as much as the longest one of its batch.
_SORTED_TOGETHER: Final = 40
_HEADS_RATE: Final = 5e-4
_WEIGHT_DECAY: Final = 0.01
_WARM_UP: Final = 0.06
_LAST_RATE: Final = 0.02
_LARGEST_GRADIENT: Final = 1.0
# The logit of tokens outside the passage in the loss.
_NOT_ALLOWED: Final = -10_000.0
_STEPS_BETWEEN_REPORTS: Final = 200


class Batch(NamedTuple):
    """Windows that are read together. All tensors have a row for each."""

    ids: Tensor
    types: Tensor
    mask: Tensor
    is_passage: Tensor
    first: Tensor
    last: Tensor


def batch_of(columns: dict[str, NDArray[Any]], begins: NDArray[np.int64], rows: NDArray[np.int64]) -> Batch:
    """Pad the windows of some rows to the length of the longest.

    Args:
        columns: The arrays of training.reader.prepare.
        begins: Where the tokens of each window begin.
        rows: Numbers of windows.
    """
    lengths = columns["length"][rows].astype(np.int64)
    places = np.arange(lengths.max())
    mask = places < lengths[:, None]
    ids = np.where(mask, columns["tokens"][np.minimum(begins[rows, None] + places, len(columns["tokens"]) - 1)], 0)
    types = mask & (places >= columns["title_start"][rows, None])
    is_passage = (places >= columns["passage_start"][rows, None]) & (places < lengths[:, None] - 1)
    first, last = columns["first"][rows], columns["last"][rows]
    arrays = (ids, types, mask, is_passage, first, last)
    return Batch(*(torch.from_numpy(one if one is is_passage else one.astype(np.int64)) for one in arrays))


def loss_of(reader: Reader, batch: Batch) -> Tensor:
    """Return the cross-entropy of answerability, and of the first and last token if the passage answers."""
    spans, answerable = reader(batch.ids, batch.types, batch.mask)
    answers = batch.first >= 0
    allowed = spans.float().masked_fill(~batch.is_passage[..., None], _NOT_ALLOWED)
    # The index -1 is of windows without an answer.
    ends = [
        F.cross_entropy(allowed[..., end], target, ignore_index=-1, reduction="sum")
        for end, target in enumerate((batch.first, batch.last))
    ]
    loss: Tensor = F.binary_cross_entropy_with_logits(answerable.float(), answers.float())
    return loss + 0.5 * (ends[0] + ends[1]) / answers.sum().clamp(min=1)


def batches_of(columns: dict[str, NDArray[Any]], size: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """Yield the rows of all batches, round after round, in random order: the same each time."""
    chance = np.random.default_rng(seed)
    for number in range(columns["round"].max() + 1):
        rows = chance.permutation(np.flatnonzero(columns["round"] == number))
        batches = []
        for together in np.array_split(rows, math.ceil(len(rows) / (size * _SORTED_TOGETHER))):
            ordered = together[np.argsort(columns["length"][together], kind="stable")]
            batches += [ordered[begin : begin + size] for begin in range(0, len(ordered), size)]
        yield from (batches[place] for place in chance.permutation(len(batches)))


def train(
    reader: Reader, columns: dict[str, NDArray[Any]], batches: Sequence[NDArray[np.int64]], encoder_rate: float
) -> None:
    """Train on all batches, each a list of rows of the columns; prints the loss and the time that is left."""
    device = next(reader.parameters()).device.type
    heads = [*reader.span.parameters(), *reader.answerable.parameters()]
    rates = (encoder_rate, _HEADS_RATE)
    groups = [{"params": list(reader.bert.encoder.parameters())}, {"params": heads}]
    optimizer = torch.optim.AdamW(groups, weight_decay=_WEIGHT_DECAY, fused=True)
    begins = np.concatenate([[0], np.cumsum(columns["length"], dtype=np.int64)[:-1]])
    began, losses = time.monotonic(), []
    for step, rows in enumerate(batches):
        share = step / len(batches)
        factor = min(1.0, share / _WARM_UP) * max(_LAST_RATE, 1 - share)
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = rate * factor
        with torch.autocast(device, dtype=torch.bfloat16):
            loss = loss_of(reader, Batch(*(one.to(device) for one in batch_of(columns, begins, rows))))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(reader.parameters(), _LARGEST_GRADIENT)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.detach())
        if (step + 1) % _STEPS_BETWEEN_REPORTS == 0:
            recent = torch.stack(losses[-_STEPS_BETWEEN_REPORTS:]).mean().item()
            taken = time.monotonic() - began
            left = taken / (step + 1) * (len(batches) - step - 1) / 60
            print(f"{step + 1}/{len(batches)}: loss {recent:.3f}, about {left:.1f} minutes to go", flush=True)


def main() -> None:
    """Read the command line, train, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("examples", type=Path)
    parser.add_argument("model_dir", type=Path)
    parser.add_argument("output", type=Path)
    given = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    columns, trained = dict(np.load(given.examples)), []
    for seed, (size, encoder_rate) in enumerate(_TRAININGS):
        torch.manual_seed(seed)
        reader = Reader(given.model_dir).to(device)
        train(reader, columns, [*batches_of(columns, size, seed)], encoder_rate)
        trained.append(reader.weights())
    mean = {name: np.mean([weights[name] for weights in trained], axis=0) for name in trained[0]}
    given.output.write_bytes(pack(mean))
    print(f"{given.output}: {given.output.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
