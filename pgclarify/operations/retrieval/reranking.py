"""Scores passages with the reranker that a run's settings name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain

from pgclarify.data.documents import Passage
from pgclarify.data.model_calls import ModelCall
from pgclarify.data.runs import Tally
from pgclarify.data.vocabulary import AT_ENDPOINT
from pgclarify.database.ledger import LedgerTables
from pgclarify.errors import ModelNotFound
from pgclarify.ledger.ask_each import ask_each
from pgclarify.ledger.calls import Calls
from pgclarify.ledger.completions import ask_all
from pgclarify.operations.missing_models import cannot_ask, cannot_load, no_endpoint
from pgclarify.operations.retrieval.evidence import passage_text
from pgclarify.prompts.cross_encoding import reranking
from pgclarify.prompts.relevance import relevance
from pgclarify.protocols import Completer, CrossEncoder, Reranker

PASSAGES_AT_ONCE = 100
"""Most passages in one call of a reranker behind an endpoint: as many as a first stage reranks."""

UNREAD = 0.05
"""The score of a passage whose grade cannot be read: less than that of any grade."""


@dataclass(frozen=True, slots=True)
class Rerankers:
    """The rerankers that a worker has.

    Attributes:
        chat: The language model; None if there is none.
        cross_encoders: Returns the cross-encoder of a name; raises EmbeddingError.
        at_endpoint: Returns the model of a name that begins with `endpoint:`, which answers the prompt `reranking`;
            raises ConfigurationError or ModelNotFound.
    """

    chat: Completer | None
    cross_encoders: Callable[[str], Awaitable[CrossEncoder]]
    at_endpoint: Callable[[str], Completer] = no_endpoint

    async def get(self, name: str, ledger: LedgerTables, *, calls: Calls | None = None) -> Reranker | None:
        """Make the reranker of a run.

        Args:
            name: "signal": the passages' other retrieval signal. "model": the language model. `endpoint:` and a name: a
                reranker behind the rerank endpoint. Any other: the name or path of a cross-encoder.
            ledger: The run's.
            calls: The run's remaining calls, for the language model; None if there is no limit.

        Returns:
            None for "signal": passages already have those scores.

        Raises:
            ConfigurationError: If a language model or an endpoint is required and missing.
            EmbeddingError: If the cross-encoder cannot be loaded, or does not score relevance.
        """
        if name == "signal":
            return None
        if name == "model":
            if self.chat is None:
                raise cannot_ask("reranker", "signal")
            return partial(_by_language_model, ledger, self.chat, calls)
        if name.startswith(AT_ENDPOINT):
            return partial(_by_endpoint, ledger, self.at_endpoint(name))
        try:
            encoder = await self.cross_encoders(name)
        except ModelNotFound as error:
            raise cannot_load("reranker", name, "signal") from error
        # A wrong model is found out here, before anything is paid for.
        await encoder.relevance([])
        return partial(_by_cross_encoder, encoder)


async def _by_language_model(
    ledger: LedgerTables,
    chat: Completer,
    calls: Calls | None,
    question: str,
    passages: Sequence[Passage],
    *,
    tally: Tally | None = None,
) -> Sequence[float]:
    """Grade passages, one call each, all at once. Passages whose reply cannot be read come last.

    If too few calls are left, only the first passages are graded, and the others come last, too.

    Raises:
        CompletionError: If a call failed, or no reply could be read. NotAllowed if a budget refused one, because
            grades of some passages say nothing about the others. Replies that were paid for are kept.
        RunLost: If the run is no longer this worker's.
    """
    most = len(passages) if calls is None else calls.at_most(len(passages))
    asked = [relevance(question, passage) for passage in passages[:most]]
    scores = await ask_each(ledger, chat, asked, UNREAD, tally=tally, calls=calls, may_be_refused=False)
    return [*scores, *[UNREAD] * (len(passages) - most)]


def reranking_calls(question: str, passages: Sequence[Passage]) -> list[ModelCall[list[float]]]:
    """Render the calls of a reranker behind an endpoint, each passage with its title and headings."""
    groups = [passages[start : start + PASSAGES_AT_ONCE] for start in range(0, len(passages), PASSAGES_AT_ONCE)]
    return [
        reranking(question, [passage_text(one) for one in group], [one.document_id for one in group])
        for group in groups
    ]


async def _by_endpoint(
    ledger: LedgerTables,
    model: Completer,
    question: str,
    passages: Sequence[Passage],
    *,
    tally: Tally | None = None,
) -> Sequence[float]:
    """Score passages, a hundred a call.

    Raises:
        CompletionError: If a call failed; NotAllowed if a budget refused one.
        RunLost: If the run is no longer this worker's.
    """
    results = await ask_all(ledger, model, reranking_calls(question, passages), tally=tally)
    return [*chain.from_iterable(result.require() for result in results)]


async def _by_cross_encoder(
    encoder: CrossEncoder, question: str, passages: Sequence[Passage], *, tally: Tally | None = None
) -> Sequence[float]:
    """Score passages with a model on this machine, each with its title and headings.

    Raises:
        EmbeddingError: If the model fails.
    """
    return await encoder.relevance([(question, passage_text(passage)) for passage in passages])
