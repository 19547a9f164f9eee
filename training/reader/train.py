"""Train the reader of answers, and write minilm/reader.safetensors.

    python -m training.reader.train DATA_DIR --evaluated EVALUATED_DIR

DATA_DIR has new_wiki_v1.0.json of SQuADShifts. EVALUATED_DIR has squad2.corpus, ambignq.corpus and musique.corpus as
gzipped JSON lines: paragraphs that share eight words in a row with one of them are left out. The same command goes on
where a training was interrupted.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import random
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Final

import pgclarify_minilm
import torch
import torch.nn.functional as F  # noqa: N812 - as PyTorch's own pages do
from torch import Tensor

from pgclarify.embedding.windows import Windows
from training.reader.batches import count_pieces, plan
from training.reader.examples import Example, examples_of
from training.reader.export import pack, unpack
from training.reader.facts import fact_pairs
from training.reader.model import Reader, fast_precision, pad
from training.reader.pairs import Pair, make_pairs
from training.reader.records import record_pairs
from training.reader.squad import FILE, evaluated_sequences, read

_OUTPUT: Final = Path(__file__).parents[2] / "minilm" / "reader.safetensors"
_WIKIPEDIA_PAIRS: Final = 9_000
_FACT_PAIRS: Final = 1_000
_FACTS: Final = 1_000
_RECORD_PAIRS: Final = 3_000
_EPOCHS: Final = 2

_SEED: Final = 0
_FACTS_SEED: Final = 5
_PARAGRAPH_LENGTH: Final = 200
_QUESTION_LENGTH: Final = 48

_ENCODER_RATE: Final = 1e-4
_HEADS_RATE: Final = 5e-4
_WEIGHT_DECAY: Final = 0.01
_WARM_UP: Final = 0.06
_LAST_RATE: Final = 0.02
_LARGEST_GRADIENT: Final = 1.0
# The score of tokens outside the passage in the loss.
_NOT_ALLOWED: Final = -10000.0
_STEPS_BETWEEN_REPORTS: Final = 50
_STEPS_BETWEEN_CHECKPOINTS: Final = 100
_TIMED_BATCHES: Final = 4


def wikipedia_pairs(data_dir: Path, evaluated_dir: Path, reader: Reader, windows: Windows) -> list[Pair]:
    """Make all pairs from SQuADShifts."""
    articles = json.loads((data_dir / FILE).read_bytes())["data"]
    paragraphs, questions, left_out = read(articles, evaluated_sequences(evaluated_dir))
    print(f"{len(paragraphs):,} paragraphs with {len(questions):,} questions; {left_out} evaluated ones left out")
    texts = [f"{paragraph.title} {paragraph.text}" for paragraph in paragraphs]
    return make_pairs(
        paragraphs,
        questions,
        reader.embed([windows.ids(text, _PARAGRAPH_LENGTH) for text in texts]),
        reader.embed([windows.ids(question.text, _QUESTION_LENGTH) for question in questions]),
    )


def some_fact_pairs(count: int) -> list[Pair]:
    """Choose from the pairs of made-up facts, always the same. A larger choice contains a smaller one."""
    pairs = fact_pairs(_FACTS)
    random.Random(_FACTS_SEED).shuffle(pairs)  # noqa: S311 - no secret
    return pairs[:count]


def loss_of(reader: Reader, batch: Sequence[Example]) -> Tensor:
    """Return the cross-entropy of answerability, and of the first and last word piece if the passage answers."""
    ids = pad([example.window.tokens for example in batch])
    types, is_passage = torch.zeros_like(ids), torch.zeros_like(ids, dtype=torch.bool)
    for row, example in enumerate(batch):
        end = len(example.window.tokens)
        types[row, example.window.title_start : end] = 1
        is_passage[row, example.window.passage_start : end - 1] = True
    first_scores, last_scores, answerable = reader(ids, types, ids != 0)
    answers = torch.tensor([example.first is not None for example in batch])
    loss = F.binary_cross_entropy_with_logits(answerable, answers.float())
    if answers.any():
        outside = ~is_passage[answers]
        firsts = torch.tensor([example.first for example in batch if example.first is not None])
        lasts = torch.tensor([example.last for example in batch if example.last is not None])
        of_first = F.cross_entropy(first_scores[answers].masked_fill(outside, _NOT_ALLOWED), firsts)
        of_last = F.cross_entropy(last_scores[answers].masked_fill(outside, _NOT_ALLOWED), lasts)
        loss = loss + 0.5 * (of_first + of_last)
    return loss


def train(reader: Reader, batches: Sequence[Sequence[Example]], checkpoint: Path) -> None:
    """Train on all batches, or on the rest after a checkpoint. It updates the checkpoint.

    Raises:
        ValueError: If the checkpoint is of a training on other batches.
    """
    heads = [*reader.span.parameters(), *reader.answerable.parameters()]
    groups = [
        {"params": list(reader.layers.parameters()), "lr": _ENCODER_RATE},
        {"params": heads, "lr": _HEADS_RATE},
    ]
    optimizer = torch.optim.AdamW(groups, weight_decay=_WEIGHT_DECAY, fused=True)
    fingerprint = hashlib.sha256(
        repr([[astuple(example) for example in batch] for batch in batches]).encode()
    ).hexdigest()
    step = _resume(reader, optimizer, fingerprint, checkpoint)
    seconds_per_piece = _seconds_per_piece(reader, batches[step:])
    print(
        f"Step {step} of {len(batches)}; about {_minutes(seconds_per_piece * count_pieces(batches[step:]))} to go",
        flush=True,
    )

    began, first_step = time.monotonic(), step
    losses: list[float] = []
    for batch in batches[step:]:
        share = step / len(batches)
        factor = min(1.0, share / _WARM_UP) * max(_LAST_RATE, 1 - share)
        for group, rate in zip(optimizer.param_groups, (_ENCODER_RATE, _HEADS_RATE), strict=True):
            group["lr"] = rate * factor
        loss = loss_of(reader, batch)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(reader.parameters(), _LARGEST_GRADIENT)
        optimizer.step()
        optimizer.zero_grad()
        step += 1
        losses.append(loss.item())
        if step % _STEPS_BETWEEN_REPORTS == 0:
            taken = time.monotonic() - began
            left = taken / count_pieces(batches[first_step:step]) * count_pieces(batches[step:])
            recent = losses[-_STEPS_BETWEEN_REPORTS:]
            print(
                f"{step}/{len(batches)}: loss {math.fsum(recent) / len(recent):.3f},"
                f" {_minutes(taken)} taken, about {_minutes(left)} to go",
                flush=True,
            )
        if step % _STEPS_BETWEEN_CHECKPOINTS == 0 or step == len(batches):
            _keep(reader, optimizer, fingerprint, step, checkpoint)


def _resume(reader: Reader, optimizer: torch.optim.Optimizer, fingerprint: str, checkpoint: Path) -> int:
    if not checkpoint.exists():
        return 0
    kept = torch.load(checkpoint, weights_only=True)
    if kept["fingerprint"] != fingerprint:
        raise ValueError(f"{checkpoint} is of a training on other data. Remove it, or name another with --checkpoint.")
    reader.load_state_dict(kept["reader"])
    optimizer.load_state_dict(kept["optimizer"])
    return int(kept["step"])


def _keep(reader: Reader, optimizer: torch.optim.Optimizer, fingerprint: str, step: int, checkpoint: Path) -> None:
    kept = {
        "fingerprint": fingerprint,
        "step": step,
        "reader": reader.state_dict(),
        "optimizer": optimizer.state_dict(),
    }
    # If the write is interrupted, the earlier checkpoint stays.
    beside = checkpoint.with_name(f"{checkpoint.name}.new")
    torch.save(kept, beside)
    beside.replace(checkpoint)


def _seconds_per_piece(reader: Reader, batches: Sequence[Sequence[Example]]) -> float:
    """Time some batches of all lengths, without learning from them."""
    ordered = sorted(batches, key=lambda batch: count_pieces([batch]))
    chosen = ordered[:: max(1, len(ordered) // _TIMED_BATCHES)]
    if not chosen:
        return 0.0
    # The first batch is not timed, because it also reserves memory.
    loss_of(reader, chosen[0]).backward()  # type: ignore[no-untyped-call]
    began = time.monotonic()
    for batch in chosen:
        loss_of(reader, batch).backward()  # type: ignore[no-untyped-call]
    taken = time.monotonic() - began
    reader.zero_grad()
    return taken / count_pieces(chosen)


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.1f} minutes"


def main() -> None:
    """Read the command line, make pairs, train, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("--evaluated", type=Path, help="folder of the corpora that are left out; DATA_DIR if not given")
    parser.add_argument("--wikipedia-pairs", type=int, default=_WIKIPEDIA_PAIRS)
    parser.add_argument("--skipped-pairs", type=int, default=0, help="of Wikipedia, before those that are taken")
    parser.add_argument("--fact-pairs", type=int, default=_FACT_PAIRS)
    parser.add_argument("--record-pairs", type=int, default=_RECORD_PAIRS)
    parser.add_argument("--epochs", type=int, default=_EPOCHS)
    parser.add_argument("--start", type=Path, help="file of a reader to go on from; the published encoder if not given")
    parser.add_argument("--checkpoint", type=Path, help="where to keep what is done; in DATA_DIR if not given")
    parser.add_argument("--output", type=Path, default=_OUTPUT, help="where to write; the file that ships if not given")
    given = parser.parse_args()

    precision, windows = fast_precision(), Windows(pgclarify_minilm.FOLDER)
    reader = Reader(seed=_SEED, precision=precision)
    pairs = wikipedia_pairs(given.data_dir, given.evaluated or given.data_dir, reader, windows)
    pairs = pairs[given.skipped_pairs : given.skipped_pairs + given.wikipedia_pairs]
    if given.start:
        reader = Reader(seed=_SEED, precision=precision, trained=unpack(given.start.read_bytes()))
    pairs += some_fact_pairs(given.fact_pairs) + record_pairs(given.record_pairs // 2)
    examples = [example for pair in pairs for example in examples_of(windows, pair)]
    print(f"{len(pairs):,} pairs, {len(examples):,} windows, activations in {reader.precision}")
    print(", ".join(f"{count:,} {kind}" for kind, count in Counter(pair.kind for pair in pairs).most_common()))
    train(reader, plan(examples, given.epochs), given.checkpoint or given.data_dir / "reader.checkpoint")
    given.output.write_bytes(pack(reader.weights()))
    print(f"{given.output}: {given.output.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
