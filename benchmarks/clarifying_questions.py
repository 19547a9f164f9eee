"""Clarifying questions of a real model against those that people wrote, the four prompt schemes side by side.

python -m benchmarks.clarifying_questions DATA_DIR --base-url URL --model NAME [--queries 30] [--replies FILE]

DATA_DIR has qulac.jsonl.gz. Each scheme gives five questions (form respond) for each query. Similarity is by sentence
embeddings of all-MiniLM-L6-v2: precision is the mean over the model's questions of the cosine to the nearest of the
people's, recall the mean over the people's of the cosine to the nearest of the model's, F1 their harmonic mean (the
greedy matching of BERTScore, over sentences instead of tokens; AT-CoT, §4.3, uses BERTScore over a model that cannot be
had here). Diversity is one minus the mean cosine between the questions for one query.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import SecretStr
from rich.console import Console
from rich.table import Table

from benchmarks.figures import mean_of
from benchmarks.ingest import MODEL
from benchmarks.kept_replies import KeptReplies
from benchmarks.lexical_quality import read
from pgclarify.dialogue import Form, PromptScheme, ProposedQuestion
from pgclarify.embedding import load_embedder
from pgclarify.prompts.clarifying_questions import clarifying_questions
from pgclarify.protocols import Embedder
from pgclarify.providers.chat_model import ChatModel
from pgclarify.providers.endpoint import Endpoint
from pgclarify.vocabulary import AmbiguityType

_COUNT = 5


@dataclass(frozen=True)
class Scored:
    """How one scheme did on one query; None where nothing could be read."""

    query: str
    proposed: list[ProposedQuestion]
    precision: float
    recall: float
    f1: float
    diversity: float
    seconds: float
    tokens: int


async def measure(
    data_dir: Path, endpoint: Endpoint, queries: int, replies: Path | None, *, verbose: bool
) -> dict[PromptScheme, tuple[list[Scored], KeptReplies]]:
    """Ask each scheme about each query, one call at a time."""
    rows = sample(list(read(data_dir / "qulac.jsonl.gz")), queries)
    embedder = await asyncio.to_thread(load_embedder, MODEL)
    results = {}
    for scheme in PromptScheme:
        kept = KeptReplies(ChatModel(endpoint), replies)
        results[scheme] = ([await _ask(row, scheme, kept, embedder) for row in rows], kept)
        if verbose:
            for scored in results[scheme][0]:
                print(scheme, "|", scored.query, "|", [one.clarifying_question for one in scored.proposed], flush=True)
    return results


def sample(rows: Sequence[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    """Choose topics by the hash of their id, so that it is the same ones every time."""
    return sorted(rows, key=lambda row: hashlib.sha256(row["topic_id"].encode()).hexdigest())[:count]


async def _ask(row: dict[str, Any], scheme: PromptScheme, kept: KeptReplies, embedder: Embedder) -> Scored:
    proposed, completions = await kept.ask(
        clarifying_questions(row["query"], [], scheme=scheme, form=Form.RESPOND, count=_COUNT)
    )
    theirs = [text for text in row["clarifying_questions"] if text.strip()]
    ours = [one.clarifying_question or "" for one in proposed or []]
    # Nothing is skipped: a reply that could not be read is worth nothing.
    precision = recall = f1 = diversity = 0.0
    if ours:
        # People's questions have neither capitals nor marks, so the model's lose them, too.
        vectors = await embedder.encode([text.lower().rstrip("?. ") for text in ours])
        cosines = vectors @ (await embedder.encode(theirs)).T
        precision, recall = float(cosines.max(axis=1).mean()), float(cosines.max(axis=0).mean())
        f1 = 2 * precision * recall / (precision + recall)
        diversity = _diversity(vectors)
    return Scored(
        row["query"],
        proposed or [],
        precision,
        recall,
        f1,
        diversity,
        sum(completion.latency_ms for completion in completions) / 1000,
        sum(completion.completion_tokens or 0 for completion in completions),
    )


def _diversity(vectors: NDArray[np.float32]) -> float:
    if len(vectors) < 2:
        return 0.0
    cosines = vectors @ vectors.T
    return 1 - float(cosines[np.triu_indices(len(vectors), k=1)].mean())


def show(results: dict[PromptScheme, tuple[list[Scored], KeptReplies]]) -> None:
    """Print the table; differences are to at_cot, paired by query, with 95 % of a bootstrap."""
    table = Table(
        "scheme",
        "F1",
        "precision",
        "recall",
        "F1 less at_cot's",
        "diversity",
        "distinct",
        "failed, lost",
        "s",
        "tokens",
    )
    ours = results[PromptScheme.AT_COT][0]
    for scheme, (scored, kept) in results.items():
        table.add_row(
            str(scheme),
            f"{statistics.fmean(one.f1 for one in scored):.3f}",
            f"{statistics.fmean(one.precision for one in scored):.3f}",
            f"{statistics.fmean(one.recall for one in scored):.3f}",
            mean_of([one.f1 - other.f1 for one, other in zip(scored, ours, strict=True)], "+.3f"),
            f"{statistics.fmean(one.diversity for one in scored):.3f}",
            f"{statistics.fmean(len(one.proposed) for one in scored):.1f}",
            f"{kept.failures}, {kept.lost}",
            f"{statistics.fmean(one.seconds for one in scored):.1f}",
            f"{statistics.fmean(one.tokens for one in scored):.0f}",
        )
    console = Console(width=160)
    console.print(table)
    for scheme in (PromptScheme.AT_STANDARD, PromptScheme.AT_COT):
        proposed = [one.ambiguity_type for scored in results[scheme][0] for one in scored.proposed]
        shares = ", ".join(f"{kind} {proposed.count(kind) / max(1, len(proposed)):.2f}" for kind in AmbiguityType)
        console.print(f"{scheme}: {shares}")


async def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--queries", type=int, default=30)
    parser.add_argument("--replies", type=Path, help="file of JSON lines that replies are kept in")
    parser.add_argument("--verbose", action="store_true")
    given = parser.parse_args()
    async with Endpoint(
        model=given.model, base_url=given.base_url, api_key=SecretStr("none"), concurrency=1, timeout=600
    ) as endpoint:
        show(await measure(given.data_dir, endpoint, given.queries, given.replies, verbose=given.verbose))


if __name__ == "__main__":
    asyncio.run(_main())
