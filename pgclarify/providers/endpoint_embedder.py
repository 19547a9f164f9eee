"""Embedding models behind an endpoint: texts wait in queues, share requests, and get their vectors or errors."""

from __future__ import annotations

import asyncio
import logging
import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from pgclarify.errors import DimensionMismatch, EmbeddingError, EmbeddingUnavailable, ModelNotFound
from pgclarify.foreign_text import check_unicode
from pgclarify.protocols import PaidTexts, Payer, current_payer
from pgclarify.providers.embedding_endpoint import EmbeddingEndpoint, RequestFailed
from pgclarify.providers.embedding_tokens import MAX_TOKENS, cut_to_size, shared_tokens, tokenizer
from pgclarify.providers.reserved_names import is_reserved
from pgclarify.vocabulary import AT_ENDPOINT

_logger = logging.getLogger(__name__)

# Texts in one request: as many as text-embeddings-inference takes by default.
_MOST_TEXTS: Final = 32
# A text that is refused may be too long all the same: then a quarter of it is not.
_MOST_HALVINGS: Final = 2
# pgvector indexes no longer vectors of half precision.
_MOST_DIMENSIONS: Final = 4000
# What tells dimensions, and that an endpoint answers.
_PROBE: Final = "probe"

# A model's name, and the dimensions that are asked for. A name may have an @ of its own: text-gecko@003.
_NAME: Final = re.compile(rf"{AT_ENDPOINT}(?P<name>.+?)(?:@(?P<dimensions>[1-9][0-9]{{0,5}}))?")


@dataclass(eq=False, slots=True)
class _Waiting:
    """A text, who pays for it, where its vector goes, and how often the text was halved."""

    text: str
    payer: Payer
    vector: asyncio.Future[NDArray[np.float32]]
    halvings: int = 0


class EndpointEmbedder:
    """An embedding model behind an endpoint. Implements protocols.Embedder.

    Texts that wait at the same time share requests, whoever asked for them. Passages come last: a run waits for all
    other texts, and must not wait for a corpus. Among either, the text that has waited longest comes first. Only the
    endpoint's own count would tell how many tokens a text has, so they are counted as more than they are: four Latin
    letters, two digits, four blanks or one other character to a token. What is longer than max_tokens by that count is
    cut. A text that the endpoint refuses all the same is cut in half, twice at most.

    Args:
        endpoint: Where the model is.
        model: Its name, as in `embedding_space.model`.
        request: The body of a request for its embeddings, without the texts.
        dimensions: Length of a vector.
    """

    def __init__(self, endpoint: EmbeddingEndpoint, model: str, request: dict[str, Any], dimensions: int) -> None:
        self._endpoint = endpoint
        self._model = model
        self._request = request
        self._dimensions = dimensions
        self._questions: deque[_Waiting] = deque()
        self._passages: deque[_Waiting] = deque()
        self._requests: set[asyncio.Task[None]] = set()

    @classmethod
    async def open(cls, endpoint: EmbeddingEndpoint, model: str) -> Self:
        """Ask for one embedding, which tells the dimensions of a model and in which form the server sends numbers.

        Args:
            endpoint: Where the model is.
            model: `endpoint:` and its name there; with `@` and a number, so many dimensions are asked for.

        Raises:
            ModelNotFound: If that is no name, or one of the extractive provider.
            DimensionMismatch: If the vectors have other dimensions than were asked for, or more than an index takes.
            EmbeddingUnavailable: If the endpoint cannot be reached, does not know the model, or refuses the request.
        """
        parts = _NAME.fullmatch(model)
        if parts is None:
            raise ModelNotFound(
                "no model of the embedding endpoint is named",
                detail=f"Nothing comes after {AT_ENDPOINT} in its name.",
                hint="Name one as the endpoint does: endpoint:text-embedding-3-small",
            )
        if is_reserved(parts["name"]):
            raise ModelNotFound(
                f"no model behind an endpoint may be called {parts['name']}",
                detail="This name belongs to the extractive provider, which costs nothing.",
                hint="Give the model another name at its endpoint.",
            )
        asked_dimensions = None if parts["dimensions"] is None else int(parts["dimensions"])
        request: dict[str, Any] = {"model": parts["name"]}
        if asked_dimensions is not None:
            request["dimensions"] = asked_dimensions
        # A fifth of the bytes, and exact. A server that does not know the parameter may refuse it.
        compact = {**request, "encoding_format": "base64"}
        async with endpoint.limit:
            try:
                probed = await endpoint.ask(compact, [_PROBE])
                request = compact
            except RequestFailed:
                probed = await endpoint.ask(request, [_PROBE])
        dimensions = probed.vectors.shape[1]
        if asked_dimensions not in (None, dimensions):
            raise DimensionMismatch(
                f"the embedding model {parts['name']} does not give as many dimensions as are asked for",
                detail=f"Asked for were {asked_dimensions}; {endpoint.base_url} gives {dimensions}.",
                hint="Only some models can shorten their vectors. Leave out the @ and the number.",
            )
        if dimensions > _MOST_DIMENSIONS:
            raise DimensionMismatch(
                f"the vectors of the embedding model {parts['name']} are too long for an index",
                detail=f"They have {dimensions} dimensions; an index takes {_MOST_DIMENSIONS}. If the model can shorten"
                f" them, ask for fewer: {AT_ENDPOINT}{parts['name']}@1024",
                hint="Ask for fewer dimensions, or take another model.",
            )
        return cls(endpoint, model, request, dimensions)

    @property
    def model(self) -> str:
        """The model's name, with what says that it is behind the endpoint."""
        return self._model

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return self._dimensions

    @property
    def max_tokens(self) -> int:
        """Longest input in tokens of `tokenizer`; what is longer is cut."""
        return MAX_TOKENS

    @property
    def tokenizer(self) -> Tokenizer:
        """Counts more tokens than a model does."""
        return tokenizer()

    async def encode(self, texts: Sequence[str], *, are_passages: bool = False) -> NDArray[np.float32]:
        """Embed texts.

        Args:
            texts: Any number, also none.
            are_passages: Whether they are passages; see protocols.Embedder.

        Returns:
            float32, shape (len(texts), dimensions), rows of unit length, in the order of texts.

        Raises:
            EmbeddingUnavailable: If the endpoint does not answer, or with vectors of another length.
            EmbeddingError: If a text is not valid Unicode, if the endpoint refuses one, or if the vector of one is
                no direction.
        """
        if not texts:
            return np.zeros((0, self._dimensions), dtype=np.float32)
        check_unicode(texts)
        loop = asyncio.get_running_loop()
        prefix = self._endpoint.passage_prefix if are_passages else self._endpoint.query_prefix
        payer = current_payer()
        waiting = [_Waiting(prefix + text, payer, loop.create_future()) for text in await self._cut(texts)]
        (self._passages if are_passages else self._questions).extend(waiting)
        # Other tasks that have texts to embed add them first.
        await asyncio.sleep(0)
        for _ in range(-(-len(waiting) // _MOST_TEXTS)):
            task = asyncio.create_task(self._empty_queues(), name="embedding")
            self._requests.add(task)
            task.add_done_callback(self._requests.discard)
        try:
            return np.stack(await asyncio.gather(*(each.vector for each in waiting)))
        finally:
            # Nobody wants them any more, if one has failed or the caller was cancelled.
            for each in waiting:
                each.vector.cancel()

    def close(self) -> None:
        """Make no further requests: what still waits is cancelled. Closing twice is fine."""
        for task in self._requests:
            task.cancel()
        while (each := self._next()) is not None:
            each.vector.cancel()

    async def _cut(self, texts: Sequence[str]) -> list[str]:
        # A token has at least one character.
        if all(len(text) <= MAX_TOKENS for text in texts):
            return list(texts)
        return await asyncio.to_thread(cut_to_size, texts)

    def _next(self) -> _Waiting | None:
        queue = self._questions or self._passages
        return queue.popleft() if queue else None

    async def _empty_queues(self) -> None:
        while self._questions or self._passages:
            async with self._endpoint.limit:
                # Not before: what comes meanwhile goes along, and what was cancelled is left out.
                batch: list[_Waiting] = []
                while len(batch) < _MOST_TEXTS and (each := self._next()) is not None:
                    if not each.vector.done():
                        batch.append(each)
                if batch:
                    await self._settle(batch)

    async def _settle(self, batch: list[_Waiting]) -> None:
        """Give texts their vectors, or errors, whatever happens."""
        try:
            await self._answer(batch)
        except Exception as error:  # whatever it is: a caller would take a cancelled vector for its own cancellation
            _logger.exception("the answer of the embedding endpoint could not be used")
            failure = EmbeddingError(
                "the answer of the embedding endpoint could not be used",
                detail=f"{type(error).__name__}; the log of the worker says where it happened.",
            )
            for each in batch:
                if not each.vector.done():
                    each.vector.set_exception(failure)
        finally:
            # Those that are left when this is cancelled.
            for each in batch:
                each.vector.cancel()

    async def _answer(self, batch: list[_Waiting]) -> None:
        """Give texts their vectors, or errors. A text that is to blame for a failure fails alone."""
        try:
            vectors = await self._vectors([each.text for each in batch], [each.payer for each in batch])
            for each, vector in zip(batch, vectors, strict=True):
                if not each.vector.done():
                    each.vector.set_result(vector)
        except EmbeddingError as error:
            are_to_blame = await self._are_to_blame(error)
            if are_to_blame and len(batch) > 1:
                middle = len(batch) // 2
                await self._answer(batch[:middle])
                await self._answer(batch[middle:])
                return
            if isinstance(error, RequestFailed) and are_to_blame and batch[0].halvings < _MOST_HALVINGS:
                # What is no language, such as a key or an image in letters, has more tokens than are counted.
                chars = len(batch[0].text)
                _logger.warning("the embedding endpoint refused a text of %d characters: it is cut in half", chars)
                batch[0].text = batch[0].text[: chars // 2]
                batch[0].halvings += 1
                await self._answer(batch)
                return
            if are_to_blame:
                error = EmbeddingError(error.message, detail=error.detail, hint=error.hint)
            for each in batch:
                if not each.vector.done():
                    each.vector.set_exception(error)

    async def _vectors(self, texts: list[str], payers: Sequence[Payer] = ()) -> NDArray[np.float32]:
        """Vectors of unit length, as one request gives them. The payers of the texts are charged; a probe has none."""
        embedded = await self._endpoint.ask(self._request, texts, self._dimensions)
        self._endpoint.tally.add(
            PaidTexts(payer, self._model, 1, tokens)
            for payer, tokens in zip(payers, shared_tokens(texts, embedded.tokens), strict=False)
        )
        sent = embedded.vectors
        dimensions = sent.shape[1]
        if dimensions != self._dimensions:
            raise EmbeddingUnavailable(
                "the embedding endpoint gives vectors of another length than before",
                detail=f"They had {self._dimensions} dimensions and have {dimensions} now.",
                hint="Have it serve the model that the corpus was embedded with.",
            )
        vectors = sent.astype(np.float64)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(vectors).all() or not lengths.all():
            raise EmbeddingError(
                "the embedding endpoint gives no direction for a text",
                detail="A vector has numbers that are not finite, or is zero.",
                hint="See whether the server computes with too few bits for this model.",
            )
        unit: NDArray[np.float32] = (vectors / lengths).astype(np.float32)
        return unit

    async def _are_to_blame(self, error: EmbeddingError) -> bool:
        """Whether the texts of a request are to blame for a failure: then the endpoint still embeds another text."""
        if isinstance(error, EmbeddingUnavailable) and not isinstance(error, RequestFailed):
            return False
        try:
            await self._vectors([_PROBE])
        except EmbeddingError:
            return False
        return True
