"""The methods of an evaluation: every operation of the SQL API, called as an application does, and the baselines."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final

from pgclarify import Ambiguity, ProposedQuestion, RewrittenQuestion, SearchResult
from pgclarify.client.awaiting import AsyncClient
from pgclarify.data.documents import Passage
from pgclarify.data.vocabulary import RunStatus, StopCode
from pgclarify.database.evaluations import Corpus, EvaluationTables, RunUsage
from pgclarify.declared.operations import OPERATIONS, names_of
from pgclarify.errors import BudgetSpent, InputError, NotFound, PgclarifyError, RunFailed
from pgclarify.evaluation.baselines import BASELINES
from pgclarify.evaluation.records import Case, CitedPassage, Output, PredictedInterpretation, Usage

METHODS: Final = (*names_of("has_question"), *BASELINES)
_DEPTH: Final = 20
_WORD: Final = "rental cars"


@dataclass(frozen=True, slots=True)
class Asking:
    """The connections and tables that methods use.

    Attributes:
        client: Calls the operations, over a pool, so that several calls may wait.
        tables: Reads facts about runs.
        corpus: The corpus that is asked.
    """

    client: AsyncClient
    tables: EvaluationTables
    corpus: Corpus

    async def search(self, question: str, top_k: int) -> list[Passage]:
        """Search the corpus through the SQL API. See Retriever; a search that failed has the code of its run."""
        try:
            found = await self.client.search(question, corpus=self.corpus.name, top_k=top_k, timeout=None)
        except RunFailed as error:
            for run_id in error.run_ids:
                error.sqlstate = (await self.tables.usage(run_id)).error_code or error.sqlstate
            raise
        return [
            Passage(one.document_id, one.passage_id, one.content, title=one.title, heading=one.heading) for one in found
        ]


class Operation:
    """An operation of the SQL API: submitted, waited for, and its rows read. Implements Method.

    Args:
        asking: The connections that it uses.
        name: The operation.
        settings: The given options.
    """

    def __init__(self, asking: Asking, name: str, settings: Mapping[str, Any]) -> None:
        self._asking = asking
        self._name = name
        self._settings = settings

    async def answer(self, case: Case) -> Output:
        """See Method."""
        client, tables = self._asking.client, self._asking.tables
        continues = case.history and "history" in OPERATIONS[self._name].parameters
        history = {"history": list(case.history)} if continues else {}
        started = time.perf_counter()
        run_id = await client.submit(
            self._name, case.question, corpus=self._asking.corpus.name, **history, **self._settings
        )
        try:
            await client.wait([run_id], timeout=None)
        except BaseException:
            with suppress(PgclarifyError):
                await asyncio.shield(client.cancel([run_id]))
            raise
        seconds = time.perf_counter() - started
        ended = await tables.usage(run_id)
        output = Output(
            retrieved=tuple(await tables.retrieved(run_id)),
            status=RunStatus(ended.status),
            error_code=_code(ended),
            run_id=run_id,
            usage=Usage(ended.calls, ended.tokens, ended.cost_usd),
            seconds=seconds,
            notes={} if ended.stop_reason is None else {"stop_reason": ended.stop_reason},
        )
        if output.status not in (RunStatus.SUCCEEDED, RunStatus.PARTIAL):
            error = ended.error or f"the run is {ended.status}"
            return replace(output, status=RunStatus.FAILED, error=error)
        return await self._read(case, output, await client.result(run_id))

    async def _read(self, case: Case, output: Output, rows: list[Any]) -> Output:
        """Add the rows of the operation to an output."""
        match rows:
            case [SearchResult(), *_]:
                retrieved = (Passage(one.document_id, one.passage_id, one.content, title=one.title) for one in rows)
                return replace(output, retrieved=tuple(retrieved))
            case [Ambiguity() as found]:
                return replace(output, is_ambiguous=found.is_ambiguous)
            case [RewrittenQuestion(rewritten=rewritten) as found]:
                # Rewriting is for searching: the search with the result says what it is worth.
                passages = await self._asking.search(rewritten, _DEPTH) if case.relevant_documents else []
                output = replace(output, questions=(rewritten,), is_ambiguous=found.was_ambiguous)
                return replace(output, retrieved=tuple(passages))
            case [ProposedQuestion(), *_]:
                asked = (one.clarifying_question or one.reformulation or "" for one in rows)
                return replace(output, questions=tuple(asked))
        cited = {(one.document_id, one.passage_id): one for one in output.retrieved}
        given = [
            PredictedInterpretation(
                getattr(one, "interpretation", case.question),
                one.answer,
                tuple(
                    CitedPassage(
                        cited.get((cite.document_id, cite.passage_id))
                        or Passage(cite.document_id, cite.passage_id, cite.quote, title=cite.title),
                        cite.quote,
                    )
                    for cite in one.citations
                ),
                getattr(one, "is_contested", False),
            )
            for one in rows
            if one.answer is not None
        ]
        return replace(output, interpretations=tuple(given))


def _code(ended: RunUsage) -> str | None:
    """Return why calls of a run failed. A budget that refused calls comes first; only the stop code shows it."""
    return BudgetSpent.sqlstate if ended.stop_code == StopCode.BUDGET else ended.error_code


async def check_settings(asking: Asking, method: str, settings: Mapping[str, Any]) -> None:
    """Check the options of a method; those of an operation on the server, with a timeout of 0, so that it does nothing.

    Raises:
        InputError: If an option cannot be used, or there is no such method.
        PgclarifyError: If the server refuses for another reason.
    """
    if method not in METHODS:
        raise InputError(f"there is no method {method!r}", hint=f"The methods are {', '.join(METHODS)}.")
    for name, value in settings.items():
        # Python would refuse these, and the server checks top_k after a timeout.
        if name in ("question", "history", "corpus", "timeout") or (name == "top_k" and type(value) is not int):
            raise InputError(
                f"the method {method} has no option {name}={value!r}",
                hint="Questions, history, corpus and timeout are not options here, and top_k is a whole number.",
            )
    if method in BASELINES:
        known = BASELINES[method].options
        for name, value in settings.items():
            if name not in known or not isinstance(value, int) or not 1 <= value <= 1000:
                raise InputError(
                    f"the method {method} has no option {name}={value!r}",
                    hint=f"Its options are {', '.join(known)}: whole numbers from 1 to 1000.",
                )
        return
    call = getattr(asking.client, method)
    try:
        await call(_WORD, corpus=asking.corpus.name, **{**settings, "timeout": 0.0})
    except InputError as error:
        # The last option that an operation checks before it starts is its timeout.
        if error.parameter != "timeout":
            raise
    except NotFound:
        if asking.corpus.corpus_id:
            raise
