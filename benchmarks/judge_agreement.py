"""How far a judge of evaluations agrees with labels: does this passage give this answer to this reading?

python -m benchmarks.judge_agreement DATA_DIR [--base-url URL --model NAME [--concurrency N]] [--claims N]
[--publish FILE], where squad2.corpus, squad2.ambiguous and squad2.answerable are (.jsonl.gz). Without a model the
judge is the lexical one. benchmarks/claim_labels.py says who made the labels. Rules are chosen by the development
claims; the held ones are for reporting. Intervals of 95 % are over passages, since claims about one passage are alike.

--publish writes what evaluations warn by: pgclarify/evaluation/judge_figures.json, for the held claims.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from benchmarks.claim_labels import LabelledClaim, read_claims
from benchmarks.figures import step
from pgclarify.algorithms.metrics import bootstrap_interval
from pgclarify.evaluation.lexical_judge import LexicalJudge
from pgclarify.evaluation.model_judge import ModelJudge
from pgclarify.protocols import Judge
from pgclarify.providers.chat_model import ChatModel
from pgclarify.providers.endpoint import Endpoint
from tests.fakes import FakeLedger

Counts = NDArray[np.float64]
Judged = tuple[LabelledClaim, bool]


def agreement(counts: Counts) -> Counts:
    """Share of claims with one judgement: shape (samples, passages, 4) in, (samples,) out, as those below.

    The columns count claims of a passage: both say yes; the label alone; the judge alone; neither.
    """
    both, label, judge, neither = _sums(counts)
    shared: Counts = (both + neither) / np.maximum(1, both + label + judge + neither)
    return shared


def kappa(counts: Counts) -> Counts:
    """Cohen's kappa: agreement beyond that of two who say yes as often by chance; 0 where chance explains all.

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
    """Count judgements by passage, a row for each."""
    rows: dict[str, list[int]] = {}
    for claim, is_supported in judged:
        row = rows.setdefault(claim.passage.document_id, [0, 0, 0, 0])
        row[2 * (not claim.is_supported) + (not is_supported)] += 1
    return np.array(list(rows.values()), dtype=np.float64)


def tables(judged: Sequence[Judged]) -> list[Table]:
    """Agreement of both parts, and how often the judge says yes to each kind of claim."""
    whole = Table("claims", "number", "labelled yes", "agreement", "kappa", "yes to right ones", "yes to wrong ones")
    kinds = Table("part", "label", "kind", "claims", "judge says yes")
    for part in ("development", "held"):
        of_part = [one for one in judged if one[0].is_held == (part == "held")]
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
                whole.add_row(part + name, str(len(chosen)), str(sum(c.is_supported for c, _ in chosen)), *_row(chosen))
        for is_right, kind in sorted({(claim.is_supported, claim.kind) for claim, _ in of_part}):
            said = [yes for claim, yes in of_part if (claim.is_supported, claim.kind) == (is_right, kind)]
            kinds.add_row(part, "yes" if is_right else "no", kind, str(len(said)), f"{sum(said) / len(said):.2f}")
    return [whole, kinds]


def _row(judged: Sequence[Judged]) -> list[str]:
    counts = by_passage(judged)
    cells = []
    for statistic in (agreement, kappa, yes_of_right, yes_of_wrong):
        low, high = bootstrap_interval(counts, statistic, samples=2_000)
        cells.append(f"{statistic(counts[None])[0]:.2f} ({low:.2f} to {high:.2f})")
    return cells


def figures(judge: Judge, judged: Sequence[Judged]) -> dict[str, object]:
    """What is published of a judge: its figures for the held claims."""
    held = [one for one in judged if one[0].is_held]
    counts = by_passage(held)[None]
    return {
        "judge": judge.name,
        "version": judge.version,
        "claims": len(held),
        "kappa": round(float(kappa(counts)[0]), 2),
        "yes_to_right": round(float(yes_of_right(counts)[0]), 2),
        "yes_to_wrong": round(float(yes_of_wrong(counts)[0]), 2),
    }


async def _judge(judge: Judge, claims: Sequence[LabelledClaim]) -> list[Judged]:
    with step(f"{len(claims)} claims judged by {judge.name}"):
        supported = await judge.supports([(claim.stated, [claim.passage]) for claim in claims])
    return list(zip(claims, supported, strict=True))


def _drawn(claims: Sequence[LabelledClaim], most: int) -> list[LabelledClaim]:
    """At most so many claims, held ones first."""
    shuffled = random.Random(7).sample(claims, len(claims))  # noqa: S311 - no secret
    return sorted(shuffled, key=lambda claim: not claim.is_held)[:most]


async def _main(given: argparse.Namespace) -> None:
    claims = _drawn(read_claims(given.data_dir), given.claims)
    if given.model is None:
        judge: Judge = LexicalJudge()
        judged = await _judge(judge, claims)
    else:
        async with Endpoint(model=given.model, base_url=given.base_url, concurrency=given.concurrency) as endpoint:
            judge = ModelJudge(FakeLedger(), ChatModel(endpoint))
            judged = await _judge(judge, claims)
            print(f"{judge.unjudged} of {len(judged)} were not judged, and count as not supported")
    Console(width=160).print(*tables(judged))
    if given.publish:
        published = json.loads(given.publish.read_text(encoding="utf-8")) if given.publish.exists() else []
        kept = [one for one in published if one["judge"] != judge.name]
        kept = sorted([*kept, figures(judge, judged)], key=lambda one: str(one["judge"]))
        given.publish.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("--base-url")
    parser.add_argument("--model", help="a chat model; without one, the judge is the lexical one")
    parser.add_argument("--claims", type=int, default=10_000, help="most claims that are judged, held ones first")
    parser.add_argument("--concurrency", type=int, default=1, help="calls in flight at once")
    parser.add_argument("--publish", type=Path, help="write the figures for the held claims to this file")
    asyncio.run(_main(parser.parse_args()))
