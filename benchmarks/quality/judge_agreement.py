"""How well a judge of evaluations agrees with labels: does this passage give this answer to this reading?

python -m benchmarks.quality.judge_agreement DATA_DIR [--base-url URL --model NAME [--concurrency N] [--replies FILE]]
[--part development|held] [--publish FILE], where squad2.corpus, squad2.ambiguous and squad2.answerable are (.jsonl.gz).
The judges are: the lexical judge; with a model, also the model. benchmarks/quality/claim_labels.py says who made the
labels. The development claims choose rules; the held claims are only for reporting. The 95 % intervals are over
passages, because claims about one passage are similar.

--replies keeps the model's replies in a file, so that a second run calls no model.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, closing
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from benchmarks.figures import step
from benchmarks.quality.claim_labels import LabelledClaim, read_claims
from benchmarks.quality.kept_replies import KeptReplies
from pgclarify.algorithms.metrics import bootstrap_interval
from pgclarify.embedding import load_span_reader
from pgclarify.evaluation.judges import ModelJudge
from pgclarify.evaluation.lexical_judge import LexicalJudge
from pgclarify.evaluation.records import Judge
from pgclarify.providers.client import Address
from pgclarify.providers.endpoint import Endpoint
from tests.fakes import FakeLedger

Counts = NDArray[np.float64]
Judged = tuple[LabelledClaim, bool]

# A call of a small model takes minutes on a busy machine.
_TIMEOUT: Final = 600.0


def agreement(counts: Counts) -> Counts:
    """Share of claims for which label and judge agree: counts of shape (samples, passages, 4) in, (samples,) out.

    The columns count claims of a passage: both say yes; only the label; only the judge; neither.
    """
    both, label, judge, neither = _sums(counts)
    shared: Counts = (both + neither) / np.maximum(1, both + label + judge + neither)
    return shared


def kappa(counts: Counts) -> Counts:
    """Cohen's kappa: agreement beyond chance; 0 if chance explains all agreement.

    Source: Cohen, A coefficient of agreement for nominal scales (1960).
    """
    both, label, judge, neither = _sums(counts)
    total = np.maximum(1, both + label + judge + neither)
    expected = ((both + label) * (both + judge) + (judge + neither) * (label + neither)) / total**2
    beyond: Counts = np.divide(
        (both + neither) / total - expected, 1 - expected, out=np.zeros_like(expected), where=expected < 1
    )
    return beyond


def yes_of_right(counts: Counts) -> Counts:
    """Share of the claims labelled yes that the judge calls supported."""
    both, label, _, _ = _sums(counts)
    share: Counts = both / np.maximum(1, both + label)
    return share


def yes_of_wrong(counts: Counts) -> Counts:
    """Share of the claims labelled no that the judge calls supported."""
    _, _, judge, neither = _sums(counts)
    share: Counts = judge / np.maximum(1, judge + neither)
    return share


def _sums(counts: Counts) -> Counts:
    sums: Counts = counts.sum(axis=1).T
    return sums


def by_passage(judged: Iterable[Judged]) -> Counts:
    """Count judgements for each passage; one row is one passage."""
    rows: dict[str, list[int]] = {}
    for claim, is_supported in judged:
        row = rows.setdefault(claim.passage.document_id, [0, 0, 0, 0])
        row[2 * (not claim.is_supported) + (not is_supported)] += 1
    return np.array(list(rows.values()), dtype=np.float64)


def tables(judgements: Mapping[str, Sequence[Judged]]) -> list[Table]:
    """Agreement of each judge with the labels of both parts, and its share of yes for each kind of claim."""
    whole = Table(
        "judge", "claims", "number", "labelled yes", "agreement", "kappa", "yes to right ones", "yes to wrong ones"
    )
    kinds = Table("part", "label", "kind", "claims", *(f"{judge} says yes" for judge in judgements))
    for part in ("development", "held"):
        for judge, judged in judgements.items():
            of_part = _of_part(judged, part)
            sources = sorted({claim.source for claim, _ in of_part})
            groups: list[tuple[str, Callable[[LabelledClaim], bool]]] = [
                ("", lambda _: True),
                (", hard ones", lambda claim: claim.is_hard),
                (", not disputable", lambda claim: not claim.is_borderline),
                *((f", {source}", lambda claim, source=source: claim.source == source) for source in sources),
            ]
            for name, belongs in groups:
                chosen = [one for one in of_part if belongs(one[0])]
                if chosen:
                    labelled = sum(claim.is_supported for claim, _ in chosen)
                    whole.add_row(judge, part + name, str(len(chosen)), str(labelled), *_row(chosen))
        said: dict[tuple[bool, str], list[list[bool]]] = {}
        for same in zip(*(_of_part(judged, part) for judged in judgements.values()), strict=True):
            claim = same[0][0]
            said.setdefault((claim.is_supported, claim.kind), []).append([yes for _, yes in same])
        for (is_right, kind), rows in sorted(said.items()):
            shares = [f"{share:.2f}" for share in np.mean(rows, axis=0)]
            kinds.add_row(part, "yes" if is_right else "no", kind, str(len(rows)), *shares)
    return [whole, kinds]


def gains(judgements: Mapping[str, Sequence[Judged]]) -> Table:
    """The kappa of the last judge minus that of each other judge."""
    table = Table("claims", "judge", "its kappa beyond that of", "by")
    *others, last = judgements
    for part in ("development", "held"):
        for other in others:
            pair = [by_passage(_of_part(judgements[name], part)) for name in (last, other)]
            if len(pair[0]):
                low, high = bootstrap_interval(np.concatenate(pair, axis=1), _kappa_gained, samples=2_000)
                gained = kappa(pair[0][None])[0] - kappa(pair[1][None])[0]
                table.add_row(part, last, other, f"{gained:+.2f} ({low:+.2f} to {high:+.2f})")
    return table


def _of_part(judged: Sequence[Judged], part: str) -> list[Judged]:
    return [one for one in judged if _part(one[0]) == part]


def _part(claim: LabelledClaim) -> str:
    return "held" if claim.is_held else "development"


def _kappa_gained(counts: Counts) -> Counts:
    """The kappa of the judge in the first four columns minus that of the judge in the last four."""
    gained: Counts = kappa(counts[..., :4]) - kappa(counts[..., 4:])
    return gained


def _row(judged: Sequence[Judged]) -> list[str]:
    counts = by_passage(judged)
    cells = []
    for statistic in (agreement, kappa, yes_of_right, yes_of_wrong):
        low, high = bootstrap_interval(counts, statistic, samples=2_000)
        cells.append(f"{statistic(counts[None])[0]:.2f} ({low:.2f} to {high:.2f})")
    return cells


async def _judge(judge: Judge, claims: Sequence[LabelledClaim]) -> list[Judged]:
    with step(f"{len(claims)} claims judged by {judge.name}"):
        supported = await judge.supports([(claim.stated, [claim.passage]) for claim in claims])
    return list(zip(claims, supported, strict=True))


async def _main(given: argparse.Namespace) -> None:
    claims = [one for one in read_claims(given.data_dir) if given.part in (None, _part(one))]
    async with AsyncExitStack() as stack:
        judges: list[Judge] = [LexicalJudge(stack.enter_context(closing(load_span_reader())))]
        if given.model is not None:
            endpoint = Endpoint(Address(given.base_url), given.model, concurrency=given.concurrency, timeout=_TIMEOUT)
            chat = KeptReplies(await stack.enter_async_context(endpoint), given.replies)
            judges.append(ModelJudge(FakeLedger(), chat))
        judgements = {judge.name: await _judge(judge, claims) for judge in judges}
    console = Console(width=190)
    console.print(*tables(judgements))
    if len(judgements) > 1:
        console.print(gains(judgements))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("--base-url")
    parser.add_argument("--model", help="endpoint of a chat model; without it, only the lexical judge")
    parser.add_argument("--part", choices=("development", "held"), help="judge only the claims of this part")
    parser.add_argument("--concurrency", type=int, default=1, help="calls at the same time")
    parser.add_argument("--replies", type=Path, help="keep the model's replies in this file")
    asyncio.run(_main(parser.parse_args()))
