"""The operation clarify: verdicts on a fixed number of passages, or guided by verdicts; then consolidation.

Source: VERDICT, §4 and Algorithm 1.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from pgclarify.data.candidates import Candidate
from pgclarify.data.documents import Passage
from pgclarify.data.verdicts import Verdict
from pgclarify.errors import BudgetSpent
from pgclarify.ledger.tasks import cause_of
from pgclarify.operations.clarification.guided import GuidedExploration
from pgclarify.operations.clarification.interpretations import conclude
from pgclarify.operations.clarification.one_pass import OnePass
from pgclarify.operations.clarification.relaxation import relax
from pgclarify.operations.context import Ending, RunContext
from pgclarify.operations.judging.asking import calls_for
from pgclarify.operations.judging.confirmation import Confirmation, ModelConfirmation, ReaderConfirmation
from pgclarify.operations.judging.copies import grounded, with_copies
from pgclarify.operations.judging.verdicts import PassageJudge
from pgclarify.operations.retrieval.first_stage import FirstStage
from pgclarify.operations.rewrite import follow_up, unless_failed


async def clarify(context: RunContext) -> Ending:
    """Clarify a run's question: find its interpretations.

    The run succeeds if every passage was judged, is partial if some could not be, and fails if none could be. It also
    fails if the question could not be relaxed or embedded, or the reranker failed. If a budget is spent, it is partial
    with the results so far.

    Args:
        context: The run. With settings["retrieval"] adaptive, the verdicts decide which passages are judged and how
            many, at most settings["max_passages"]. With fixed (the default), the first settings["top_k"] are judged, or
            settings["max_passages"] if that is less. With settings["reranker"], passages are first ranked again. With
            settings["verify"] model, the language model must confirm each answer; with reader, the trained reader. With
            settings["ask_back"] when_vague, all this is only for questions that a single pass does not answer. With
            settings["history"], the question is first made to stand alone. With settings["relax"], a relaxed question
            is searched for.

    Source: VERDICT, Algorithm 1.
    """
    context, failure = await follow_up(context)
    judged = await judge_passages(context)

    async def dated() -> list[tuple[Passage, Verdict]]:
        return _passages(await with_copies(context, judged))

    # Copies are stored together with the end, so that no caller waits for two statements.
    context.store.note_copies(grounded(judged))
    ending = await conclude(context, _passages(judged), dated)
    return unless_failed(context, failure, ending)


def _passages(judged: Sequence[tuple[Candidate, Verdict]]) -> list[tuple[Passage, Verdict]]:
    return [(candidate.passage, verdict) for candidate, verdict in judged]


async def judge_passages(context: RunContext) -> list[tuple[Candidate, Verdict]]:
    """Judge passages as the settings say; return the verdicts by rank, an empty list if a budget allowed none.

    Of passages with the same text, one is judged; the copies of those that answer have to be recorded.
    """
    try:
        return await _judged(context)
    except BudgetSpent:
        # Before any verdict: the run ends without results, and gives the reason.
        return []


async def _judged(context: RunContext) -> list[tuple[Candidate, Verdict]]:
    embedder = await context.embedder()
    settings = context.run.settings
    name = settings.get("reranker")
    reranker = None if name is None else await context.models.rerankers.get(name, context.store)
    first_stage = FirstStage(context, embedder, reranker)
    judge = PassageJudge(context, await context.reading_embedder(), await _confirmation(context))
    if settings.get("ask_back") == "when_vague":
        answered = await OnePass(context, first_stage, judge).carry_out()
        if answered is not None:
            return [answered]
    if settings.get("retrieval") == "adaptive":
        return await GuidedExploration(context, first_stage, judge).carry_out()
    text = await _relaxed(context, first_stage) if settings.get("relax") else context.search_text
    await first_stage.prepare(text)
    most = calls_for(context, settings["top_k"])
    async with context.models.room.take(most) as note_call_over:
        candidates = await first_stage.choose(text)
        for _ in range(most - calls_for(context, len(candidates))):
            note_call_over()
        return await judge.judge(candidates, note_call_over=note_call_over)


async def _relaxed(context: RunContext, first_stage: FirstStage) -> str:
    """Relax the question, which the search needs as it was asked, too, and embeds meanwhile."""
    try:
        async with asyncio.TaskGroup() as tasks:
            relaxing = tasks.create_task(relax(context))
            await first_stage.prepare(context.run.question)
    except BaseExceptionGroup as group_of_errors:
        raise cause_of(group_of_errors) from group_of_errors
    return relaxing.result()


async def _confirmation(context: RunContext) -> Confirmation | None:
    verify, models = context.run.settings.get("verify"), context.models
    if verify == "model":
        return ModelConfirmation(context)
    if verify == "reader" and models.reader is not None:
        return ReaderConfirmation(context.run.question, await models.reader())
    return None
