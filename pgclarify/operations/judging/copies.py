"""Copies: of passages with the same text, one is judged, and all are cited.

A search finds one passage of each text. What proves something is looked up again at the end of judging, by a hash of
its text, so that only copies of the few passages that answer are read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from pgclarify.data.candidates import Candidate
from pgclarify.data.verdicts import Verdict
from pgclarify.data.vocabulary import Outcome
from pgclarify.operations.context import RunContext


async def with_copies(
    context: RunContext, judged: Sequence[tuple[Candidate, Verdict]]
) -> list[tuple[Candidate, Verdict]]:
    """Note the copies of the passages that answer.

    Args:
        context: The run.
        judged: All verdicts of the run.

    Returns:
        The same, in order. A passage has the newest date of its document and of those of its copies.

    Raises:
        RunLost: If the run is no longer this worker's.
    """
    dates = await note_copies(context, grounded(judged))
    return [
        (_dated(candidate, dates[candidate.rank]) if candidate.rank in dates else candidate, verdict)
        for candidate, verdict in judged
    ]


def grounded(judged: Sequence[tuple[Candidate, Verdict]]) -> list[Candidate]:
    """Return the candidates with a grounded verdict, each once."""
    return [*{candidate.rank: candidate for candidate, one in judged if one.outcome is Outcome.GROUNDED}.values()]


async def note_copies(context: RunContext, candidates: Sequence[Candidate]) -> Mapping[int, datetime | None]:
    """Store the copies of passages that are cited; the arguments and the result are those of `record_copies`."""
    return await context.passages.record_copies(context.run, candidates) if candidates else {}


def _dated(candidate: Candidate, of_copies: datetime | None) -> Candidate:
    known = [dated for dated in (candidate.passage.dated, of_copies) if dated is not None]
    return replace(candidate, passage=replace(candidate.passage, dated=max(known, default=None)))
