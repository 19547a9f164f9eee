"""The operation summarize: a throw-away exercise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pgclarify.data.citations import Citation, Result
from pgclarify.ledger.completions import ask_all
from pgclarify.operations.context import Ending, RunContext
from pgclarify.operations.retrieval.first_stage import FirstStage
from pgclarify.prompts.summary import summary


@dataclass(frozen=True, slots=True)
class Summary(Result):
    """What a passage says about the question of its run."""

    relation: ClassVar = "summary"

    ordinal: int
    summary: str
    citations: tuple[Citation, ...]


async def summarize(context: RunContext) -> Ending:
    """Ask once for each of the best passages what it says about the question."""
    run = context.run
    with context.trace.stage("retrieval") as tally:
        candidates = await FirstStage(context, await context.embedder(), None).choose(run.question)
        tally.rows = len(candidates)
    calls = [summary(run.question, one.passage) for one in candidates]
    with context.trace.stage("summary") as tally:
        replies = await ask_all(context.store, context.models.chat, calls, tally=tally)
    summaries = [
        Summary(place, reply.value, (Citation(one.rank, one.passage.content, 0, len(one.passage.content), None),))
        for place, (one, reply) in enumerate(zip(candidates, replies, strict=True), start=1)
        if isinstance(reply.value, str)
    ]
    await context.store.record_results(run, summaries)
    return Ending()
