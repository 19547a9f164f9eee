"""Train the judge of sentences on a file of training.sentences.prepare or training.sentences.judged.

    python -m training.sentences.train examples.npz MODEL_DIR START sentences.safetensors [--minutes 40] [--epochs 1]

MODEL_DIR has config.json and model.safetensors of all-MiniLM-L6-v2. START has the weights where the training starts:
reader.safetensors, or a judge that is trained further, on the file of training.sentences.judged. A core is enough. The
logit of a sentence is the mean of the logits of its tokens.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 - as PyTorch's own pages do
from numpy.typing import NDArray
from torch import Tensor

from training.reader.export import pack, unpack
from training.sentences.model import SentenceJudge

_BATCH_TOKENS: Final = 3_000
_SORTED_TOGETHER: Final = 1_024
_ENCODER_RATE: Final = 1e-4
_NEW_HEAD_RATE: Final = 1e-3
_HEAD_RATE: Final = 4e-4
_WEIGHT_DECAY: Final = 0.01
_WARM_UP: Final = 0.05
_LARGEST_GRADIENT: Final = 1.0
_STEPS_BETWEEN_REPORTS: Final = 50


def loss_of(judge: SentenceJudge, columns: dict[str, NDArray[Any]], rows: NDArray[np.int64]) -> Tensor:
    """Return the mean cross-entropy of the sentences of a passage, averaged over passages."""
    lengths = columns["length"][rows]
    places = np.arange(lengths.max())
    mask = places < lengths[:, None]
    tokens, last = columns["tokens"], len(columns["tokens"]) - 1
    ids = np.where(mask, tokens[np.minimum(columns["begin"][rows, None] + places, last)], 0)
    types = mask & (places >= columns["title_start"][rows, None])
    logits = judge(*(torch.from_numpy(one.astype(np.int64)) for one in (ids, types, mask)))
    counts = columns["count"][rows]
    owner = np.repeat(np.arange(len(rows)), counts)
    begins = columns["first"][rows]
    chosen = np.concatenate([begin + np.arange(count) for begin, count in zip(begins, counts, strict=True)])
    start, end, label = columns["sentences"][chosen].T
    share = (places >= start[:, None]) & (places <= end[:, None])
    share = torch.from_numpy(share / share.sum(axis=1, keepdims=True)).float()
    told = (logits[torch.from_numpy(owner)] * share).sum(dim=1)
    weight = torch.from_numpy(1 / counts[owner] / len(rows)).float()
    return F.binary_cross_entropy_with_logits(told, torch.from_numpy(label), weight=weight, reduction="sum")


def batches_of(columns: dict[str, NDArray[Any]], seed: int, most_tokens: int) -> list[NDArray[np.int64]]:
    """Return the rows of all batches in random order. Passages of a batch have similar lengths."""
    chance = np.random.default_rng(seed)
    rows = chance.permutation(np.flatnonzero(columns["length"] <= most_tokens))
    batches = []
    for begin in range(0, len(rows), _SORTED_TOGETHER):
        together = rows[begin : begin + _SORTED_TOGETHER]
        together = together[np.argsort(columns["length"][together], kind="stable")]
        start = 0
        for end in range(1, len(together) + 1):
            if end == len(together) or columns["length"][together[end]] * (end + 1 - start) > _BATCH_TOKENS:
                batches.append(together[start:end])
                start = end
    return [batches[place] for place in chance.permutation(len(batches))]


def train(
    judge: SentenceJudge,
    columns: dict[str, NDArray[Any]],
    batches: list[NDArray[np.int64]],
    minutes: float,
    in_bfloat16: bool,
) -> None:
    """Train until the batches or the minutes are over; the rates fall with the batches or the time."""
    groups = [
        {"params": [one for one in judge.bert.parameters() if one.requires_grad], "rate": _ENCODER_RATE},
        {"params": judge.tells.parameters(), "rate": _HEAD_RATE if judge.has_trained_head else _NEW_HEAD_RATE},
    ]
    optimizer = torch.optim.AdamW(groups, lr=0.0, weight_decay=_WEIGHT_DECAY, fused=True)
    began, losses = time.monotonic(), []
    for step, rows in enumerate(batches):
        share = max(step / len(batches), (time.monotonic() - began) / (60 * minutes))
        if share >= 1:
            break
        for group in optimizer.param_groups:
            group["lr"] = group["rate"] * min(1.0, share / _WARM_UP) * (1 - share)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=in_bfloat16):
            loss = loss_of(judge, columns, rows)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(judge.parameters(), _LARGEST_GRADIENT)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
        if (step + 1) % _STEPS_BETWEEN_REPORTS == 0:
            recent = np.mean(losses[-_STEPS_BETWEEN_REPORTS:])
            print(f"{step + 1}/{len(batches)} ({share:.0%}): loss {recent:.4f}", flush=True)


def main() -> None:
    """Read the command line, train, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("examples", "model_dir", "start", "output"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--minutes", type=float, default=40)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--most-tokens", type=int, default=160, help="longer passages are left out: they take long")
    parser.add_argument("--bfloat16", action="store_true", help="faster on processors with AMX, slower on others")
    given = parser.parse_args()
    torch.manual_seed(0)
    columns = dict(np.load(given.examples))
    columns["begin"] = np.concatenate([[0], np.cumsum(columns["length"], dtype=np.int64)[:-1]])
    columns["first"] = np.concatenate([[0], np.cumsum(columns["count"], dtype=np.int64)[:-1]])
    judge = SentenceJudge(given.model_dir, unpack(given.start.read_bytes()))
    batches = [one for epoch in range(given.epochs) for one in batches_of(columns, epoch, given.most_tokens)]
    train(judge, columns, batches, given.minutes, given.bfloat16)
    given.output.write_bytes(pack(judge.weights()))
    print(f"{given.output}: {given.output.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
