"""The methods of dialogue that are operations of the SQL API: rewriting a question, and asking clarifying questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from pgclarify.client import ProposedQuestion, RewrittenQuestion
from pgclarify.errors import RunFailed, code_of, describe
from pgclarify.evaluated import Case, Output
from pgclarify.evaluation.asking import Asking, Waiting
from pgclarify.evaluation.judging import relevant_documents
from pgclarify.evaluation.retrieving import CorpusSearch
from pgclarify.model import Passage
from pgclarify.protocols import Retriever
from pgclarify.vocabulary import RunStatus

DEPTH: Final = 20
"""Number of passages that a search with a rewritten question returns."""


class Rewrite(Waiting):
    """`rewrite`, and a search with the rewritten question if the case knows relevant documents or answers."""

    async def answer(self, case: Case) -> Output:
        """See Method."""
        return await searched_with(case, await super().answer(case), CorpusSearch(self._asking))

    async def _call(self, case: Case) -> RewrittenQuestion:
        asking = self._asking
        return await asking.client.rewrite(
            case.question, case.history, corpus=asking.corpus.name, timeout=None, **self._settings
        )

    async def _run_of(self, question: str, found: RewrittenQuestion, asked_at: datetime) -> int | None:
        return found.run_id

    def _read(self, case: Case, found: RewrittenQuestion, retrieved: Sequence[Passage]) -> Output:
        return Output(
            questions=(found.rewritten,),
            # `rewrite` reports a yes or no, and no probability.
            probability=float(found.was_ambiguous),
            notes={"reason": found.reason},
        )


class ClarifyingQuestions(Waiting):
    """`clarifying_questions`: questions to answer, or reformulations to choose from."""

    async def _call(self, case: Case) -> list[ProposedQuestion]:
        asking, corpus = self._asking, corpus_to_check(self._asking, self._settings)
        return await asking.client.clarifying_questions(
            case.question, case.history, corpus=corpus, timeout=None, **self._settings
        )

    async def _run_of(self, question: str, found: list[ProposedQuestion], asked_at: datetime) -> int | None:
        return (
            found[0].run_id if found else await run_that_asked_nothing(self._asking, question, self._settings, asked_at)
        )

    def _read(self, case: Case, found: list[ProposedQuestion], retrieved: Sequence[Passage]) -> Output:
        return Output(
            questions=tuple(said(one) for one in found),
            notes={"types": [one.ambiguity_type for one in found]},
        )


def said(one: ProposedQuestion) -> str:
    """Return the clarifying question, or the reformulation to choose."""
    return one.clarifying_question or one.reformulation or ""


def corpus_to_check(asking: Asking, settings: Mapping[str, Any]) -> str | None:
    """Return the corpus that clarifying questions are checked against; None if they are not checked."""
    return None if settings.get("check") == "none" else asking.corpus.name


async def run_that_asked_nothing(
    asking: Asking, question: str, settings: Mapping[str, Any], asked_at: datetime
) -> int | None:
    """Find the run of a call of `clarifying_questions` that asked nothing, and so returned no row with the run's id.

    Args:
        asking: The connections that called it.
        question: The question.
        settings: The options of the call.
        asked_at: The time of the call, by the server's clock.
    """
    operation, corpus_id = "clarifying_questions", asking.corpus.corpus_id
    return await asking.runs.find(operation, question, corpus_id, settings, since=asked_at)


async def searched_with(case: Case, output: Output, retriever: Retriever) -> Output:
    """Search with the first question of an output, if the case knows documents or answers that a search may find.

    Args:
        case: The case.
        output: The output for the case.
        retriever: Searches the corpus.

    Returns:
        The output with the passages found. If the search failed: a failed output that keeps the usage of the question.

    Raises:
        PgclarifyError: If the server could not be asked.
    """
    if not output.questions or not (relevant_documents(case) or case.known_answers):
        return output
    output = replace(output, retrievals=output.retrievals + 1)
    try:
        passages = await retriever.search(output.questions[0], DEPTH)
    except RunFailed as error:
        return replace(output, questions=(), status=RunStatus.FAILED, error=describe(error), error_code=code_of(error))
    return replace(output, retrieved=tuple(passages))
