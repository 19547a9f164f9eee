"""The operation list_answers: the answers that passages give to a question, each one once.

Source: AmbigPrompt, §3, for the task. Its rounds, each of which sees the answers so far, are not ours:
docs/methods/list-answers.md has the figures.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from pgclarify.data.candidates import Candidate
from pgclarify.data.citations import Citation
from pgclarify.data.counting import counted
from pgclarify.data.dialogue import ListedAnswer
from pgclarify.data.verdicts import Verdict
from pgclarify.data.vocabulary import Outcome, RunStatus, StopCode
from pgclarify.language.catalog import language_of
from pgclarify.language.quotes import fold
from pgclarify.operations.clarification.interpretations import Grounded
from pgclarify.operations.clarify import judge_passages
from pgclarify.operations.context import Ending, RunContext
from pgclarify.operations.judging.copies import with_copies
from pgclarify.operations.judging.ending import ending_of, failure_of


async def list_answers(context: RunContext) -> Ending:
    """List the answers to a run's question: the verdicts are those of clarify, and answers in other spellings are one.

    The run ends as clarify does.

    Args:
        context: The run; settings: method, reranker (absent for none), top_k, and max_answers, which keeps the answers
            that most documents give.
    """
    judged = await with_copies(context, await judge_passages(context))
    verdicts = [verdict for _, verdict in judged]
    failure = failure_of(context, verdicts)
    if failure is not None:
        return failure
    with context.trace.stage("listing") as tally:
        answers = await asyncio.to_thread(merge_answers, judged)
        most: int = context.run.settings["max_answers"]
        tally.rows = min(len(answers), most)
        await context.store.record_results(context.run, answers[:most])
    ending = ending_of(context, verdicts)
    if len(answers) > most and ending.status is RunStatus.SUCCEEDED:
        context.trace.stop_reason = f"the limit of {counted(most, 'answer')} was reached"
        context.trace.stop_code = StopCode.LIMIT
    return ending


@dataclass(slots=True)
class _Entry:
    """An answer so far.

    Attributes:
        variants: Its spellings, by rank.
        citations: The passages that give it, by rank.
        document_ids: Their documents.
        is_doubted: Whether a check doubts all of them.
    """

    variants: list[str] = field(default_factory=list)
    citations: list[Citation] = field(default_factory=list)
    document_ids: set[str] = field(default_factory=set)
    is_doubted: bool = True


def merge_answers(judged: Sequence[tuple[Candidate, Verdict]]) -> list[ListedAnswer]:
    """Return the different answers of grounded verdicts.

    Args:
        judged: By rank.

    Returns:
        By falling number of documents that give them, then by best rank; those last that a check doubts.
    """
    entries: list[_Entry] = []
    for candidate, verdict in judged:
        if verdict.outcome is not Outcome.GROUNDED:
            continue
        found = Grounded.of(candidate.passage, verdict)
        language = language_of(candidate.passage.content, found.answer)
        known = language.find_variant(found.answer, [entry.variants for entry in entries])
        if known is None:
            entries.append(_Entry())
        entry = entries[-1 if known is None else known]
        if fold(found.answer) not in map(fold, entry.variants):
            entry.variants.append(found.answer)
        entry.citations.append(Citation(found.rank, found.quote, found.start_char, found.end_char))
        entry.document_ids.add(found.passage.document_id)
        entry.is_doubted &= found.doubt is not None
    # The sort is stable, so that the best rank stays first among equals.
    entries.sort(key=lambda entry: (entry.is_doubted, -len(entry.document_ids)))
    return [
        ListedAnswer(ordinal, entry.variants[0], tuple(entry.variants), tuple(entry.citations))
        for ordinal, entry in enumerate(entries, start=1)
    ]
