"""Embedding models behind an endpoint: texts wait in queues, share requests, and get vectors or errors."""

from __future__ import annotations

import asyncio
import logging
import re
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from pgclarify.algorithms.directions import lengths_of
from pgclarify.data.vocabulary import AT_ENDPOINT
from pgclarify.errors import DimensionMismatch, EmbeddingError, EmbeddingUnavailable, ModelNotFound
from pgclarify.language.foreign_text import check_unicode
from pgclarify.language.normalization import normalized
from pgclarify.protocols import PaidTexts, Payer, TextsFailed, current_payer, is_waited_for, waited_for
from pgclarify.providers.embedding_endpoint import EmbeddingEndpoint, FormRefused, RequestFailed, TextTooLong
from pgclarify.providers.embedding_tokens import MAX_TOKENS, cut_to_size, shared_tokens, tokenizer
from pgclarify.providers.reserved_names import check_name

_logger = logging.getLogger(__name__)

# Texts in one request: the default limit of text-embeddings-inference.
_MOST_TEXTS: Final = 32
# A text may have more tokens than we count. A quarter of it surely is not too long.
_MOST_HALVINGS: Final = 2
# pgvector cannot index longer half-precision vectors.
_MOST_DIMENSIONS: Final = 4000
# What the turns of an endpoint are for.
_PURPOSE: Final = "embedding"
# Texts to embed first, which show the dimensions, and that the endpoint answers each text with a vector of its own.
_PROBE: Final = "probe"
_PROBES: Final = (_PROBE, "another text")
# Cosines of two vectors of one text, which numerical noise may change a little, and of different texts.
_SAME_TEXT: Final = 0.98
_OTHER_TEXT: Final = 0.9999

# A model's name, and the requested dimensions. The name itself may contain an @: text-gecko@003.
_NAME: Final = re.compile(rf"{AT_ENDPOINT}(?P<name>.+?)(?:@(?P<dimensions>[1-9][0-9]{{0,5}}))?")

# What families of models expect before a question and before a passage, as their authors say.
_PREFIXES: Final = (
    (re.compile(r"\be5-(small|base|large)(-v2)?$", re.IGNORECASE), "query: ", "passage: "),
    (re.compile(r"\bnomic-embed-text", re.IGNORECASE), "search_query: ", "search_document: "),
)


@dataclass(eq=False, slots=True)
class _Waiting:
    """A text in the queue, with its payer and the future of its vector."""

    text: str
    payer: Payer
    vector: asyncio.Future[NDArray[np.float32]]


class EndpointEmbedder:
    """An embedding model behind an endpoint. Implements protocols.Embedder.

    Texts that wait at the same time share requests, even if different tasks sent them. Texts of runs with a waiting
    caller come first. Passages come last, so that a run does not wait for the indexing of a corpus. Within each
    priority, the oldest text comes first. Only the endpoint knows how many tokens a text has, so our count is an upper
    estimate: four Latin letters, two digits, four blanks or one other character are a token. A text that is longer than
    max_tokens by that count is cut. If the endpoint still says that it is too long, it is cut in half, at most twice. A
    text with which requests fail for any other reason, while others succeed, is tried twice, and then fails alone: the
    vector of a part of it would look like its own.

    Args:
        endpoint: The endpoint.
        model: Its name, as in `embedding_space.model`.
        request: The body of an embedding request, without the texts.
        dimensions: Length of a vector.
        on_change: Called when the endpoint returns vectors of another length.

    Attributes:
        model: As given.
        dimensions: As given.
        max_tokens: Longest input in tokens of `tokenizer`; longer texts are cut.
        tokenizer: Counts more tokens than a model does.
    """

    def __init__(
        self,
        endpoint: EmbeddingEndpoint,
        model: str,
        request: dict[str, Any],
        dimensions: int,
        on_change: Callable[[], object] = lambda: None,
    ) -> None:
        self._endpoint = endpoint
        self.model = model
        self._request = request
        self.dimensions = dimensions
        self.max_tokens = MAX_TOKENS
        self.tokenizer = tokenizer()
        self._prefixes = prefixes_of(request["model"])
        self._on_change = on_change
        self._urgent: deque[_Waiting] = deque()
        self._questions: deque[_Waiting] = deque()
        self._passages: deque[_Waiting] = deque()
        self._requests: set[asyncio.Task[None]] = set()

    @classmethod
    async def open(
        cls, endpoint: EmbeddingEndpoint, model: str, on_change: Callable[[], object] = lambda: None
    ) -> Self:
        """Embed two texts twice, to learn the model's dimensions and the form in which the server sends numbers.

        The dimensions of a corpus are fixed by them, so one wrong answer must not be enough.

        Args:
            endpoint: The endpoint.
            model: `endpoint:` and the model's name; `@` and a number at the end request that many dimensions.
            on_change: As in the class.

        Raises:
            ModelNotFound: If the name is missing, or is reserved for the extractive provider.
            DimensionMismatch: If the dimensions are not those that were requested, or more than an index supports.
            EmbeddingUnavailable: If the endpoint cannot be reached, does not know the model, refuses the request, or
                gives two answers that do not agree.
            EmbeddingError: If a vector is zero or not finite.
        """
        parts = _NAME.fullmatch(model)
        if parts is None:
            raise ModelNotFound(
                "the name of the embedding model is missing",
                detail=f"Nothing follows {AT_ENDPOINT}.",
                hint="Use the endpoint's name of the model: endpoint:text-embedding-3-small",
            )
        check_name(parts["name"], ModelNotFound)
        asked_dimensions = None if parts["dimensions"] is None else int(parts["dimensions"])
        request: dict[str, Any] = {"model": parts["name"]}
        if asked_dimensions is not None:
            request["dimensions"] = asked_dimensions
        # Base64 is exact and needs a fifth of the bytes. A server that does not know the parameter may refuse it.
        compact = {**request, "encoding_format": "base64"}
        async with endpoint.line.turn(_PURPOSE):
            try:
                probed = await endpoint.ask(compact, _PROBES)
            except FormRefused:
                compact = request
                probed = await endpoint.ask(request, _PROBES)
            # As numbers, and in the other order: so base64 that means something else, or vectors of other texts, are
            # noticed.
            again = await endpoint.ask(request, _PROBES[::-1])
        dimensions = _agreed(probed.vectors, again.vectors[::-1])
        if asked_dimensions not in (None, dimensions):
            raise DimensionMismatch(
                f"the embedding model {parts['name']} does not return the requested number of dimensions",
                detail=f"Requested: {asked_dimensions}; {endpoint.address.base_url} returns {dimensions}.",
                hint="Only some models can shorten their vectors. Omit the @ and the number.",
            )
        if dimensions > _MOST_DIMENSIONS:
            raise DimensionMismatch(
                f"the vectors of the embedding model {parts['name']} are too long for an index",
                detail=f"They have {dimensions} dimensions; an index takes {_MOST_DIMENSIONS}. If the model can shorten"
                f" them, ask for fewer: {AT_ENDPOINT}{parts['name']}@1024",
                hint="Ask for fewer dimensions, or use another model.",
            )
        return cls(endpoint, model, compact, dimensions, on_change)

    async def encode(self, texts: Sequence[str], *, are_passages: bool = False) -> NDArray[np.float32]:
        """Embed texts.

        Args:
            texts: Any number, also none.
            are_passages: Whether they are passages; see protocols.Embedder.

        Returns:
            float32, shape (len(texts), dimensions), rows of unit length, in the order of texts.

        Raises:
            EmbeddingUnavailable: If the endpoint does not answer, or returns vectors of another length.
            EmbeddingError: If a text is not valid Unicode.
            TextsFailed: If the endpoint refuses a text, or if its vector is zero or not finite.
        """
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        check_unicode(texts)
        loop = asyncio.get_running_loop()
        prefix = self._prefixes[are_passages]
        payer = current_payer()
        waiting = [
            _Waiting(prefix + text, payer, loop.create_future()) for text in await self._cut([*map(normalized, texts)])
        ]
        if are_passages:
            self._passages.extend(waiting)
        elif is_waited_for():
            self._urgent.extend(waiting)
        else:
            self._questions.extend(waiting)
        # Let other tasks queue their texts first.
        await asyncio.sleep(0)
        for _ in range(-(-len(waiting) // _MOST_TEXTS)):
            task = asyncio.create_task(self._empty_queues(), name="embedding")
            self._requests.add(task)
            task.add_done_callback(self._requests.discard)
        try:
            vectors, failed = await _received(waiting)
        finally:
            # If the endpoint has failed or the caller was cancelled, the others are not needed.
            for each in waiting:
                if not each.vector.cancel() and not each.vector.cancelled():
                    # An error that no one has asked for would be logged.
                    each.vector.exception()
        if failed:
            raise TextsFailed(failed, vectors)
        return np.stack([*vectors.values()])

    def close(self) -> None:
        """Make no further requests; waiting texts are cancelled. Can be called twice."""
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
        queue = self._urgent or self._questions or self._passages
        return queue.popleft() if queue else None

    async def _empty_queues(self) -> None:
        while self._urgent or self._questions or self._passages:
            # The task of a person's text may go on with the texts of a batch, which must not pass other calls.
            with waited_for(bool(self._urgent)):
                await self._send_next()

    async def _send_next(self) -> None:
        async with self._endpoint.line.turn(_PURPOSE):
            # Choose the texts only now, so that new ones join the request and cancelled ones are left out.
            batch: list[_Waiting] = []
            while len(batch) < _MOST_TEXTS and (each := self._next()) is not None:
                if not each.vector.done():
                    batch.append(each)
            if batch:
                await self._settle(batch)

    async def _settle(self, batch: list[_Waiting]) -> None:
        """Set the vectors or errors of texts, in every case."""
        try:
            await self._answer(batch)
        except Exception as error:  # any: to a caller, a cancelled vector would look like its own cancellation
            _logger.exception("cannot use the answer of the embedding endpoint")
            failure = EmbeddingError(
                "the answer of the embedding endpoint could not be used",
                detail=f"{type(error).__name__}; the log of the worker says where it happened.",
            )
            for each in batch:
                if not each.vector.done():
                    each.vector.set_exception(failure)
        finally:
            # Texts that are still waiting when this task is cancelled.
            for each in batch:
                each.vector.cancel()

    async def _answer(self, batch: list[_Waiting], tries: int = 1) -> None:
        """Set the vectors or errors of texts. A text that causes a failure fails alone, after so many tries."""
        try:
            vectors = await self._vectors([each.text for each in batch], [each.payer for each in batch])
        except EmbeddingError as error:
            are_to_blame = await self._are_to_blame(error)
            if are_to_blame and len(batch) > 1:
                middle = len(batch) // 2
                await self._answer(batch[:middle])
                await self._answer(batch[middle:])
                return
            is_too_long = isinstance(error, TextTooLong)
            if are_to_blame and isinstance(error, RequestFailed) and tries <= (_MOST_HALVINGS if is_too_long else 1):
                if is_too_long:
                    # Text that is no language, such as a key or an encoded image, may have more tokens than we count.
                    chars = len(batch[0].text)
                    _logger.warning(
                        "the embedding endpoint says that a text of %d characters is too long: trying half", chars
                    )
                    batch[0].text = batch[0].text[: chars // 2]
                # Else the server may have failed for a moment.
                await self._answer(batch, tries + 1)
                return
            if are_to_blame and isinstance(error, RequestFailed) and not is_too_long:
                error = EmbeddingError(
                    "the embedding endpoint embeds other texts, but not this one",
                    detail=error.detail,
                    hint="See the logs of the server, and of any proxy or firewall before it.",
                )
            elif are_to_blame:
                error = EmbeddingError(error.message, detail=error.detail, hint=error.hint)
            for each in batch:
                if not each.vector.done():
                    each.vector.set_exception(error)
            return
        for each, vector in zip(batch, vectors, strict=True):
            if not each.vector.done():
                each.vector.set_result(vector)

    async def _vectors(self, texts: list[str], payers: Sequence[Payer] = ()) -> NDArray[np.float32]:
        """Return the unit-length vectors of one request. The payers of the texts are charged; a probe has none."""
        embedded = await self._endpoint.ask(self._request, texts, self.dimensions)
        self._endpoint.tally.add(
            PaidTexts(payer, self.model, 1, tokens)
            for payer, tokens in zip(payers, shared_tokens(texts, embedded.tokens), strict=False)
        )
        sent = embedded.vectors
        dimensions = sent.shape[1]
        if dimensions != self.dimensions:
            self._on_change()
            raise EmbeddingUnavailable(
                "the embedding endpoint changed the length of its vectors",
                detail=f"They had {self.dimensions} dimensions, and now have {dimensions}.",
                hint="Serve the model that the corpus was embedded with.",
            )
        return _unit_length(sent)

    async def _are_to_blame(self, error: EmbeddingError) -> bool:
        """Whether the texts of a request caused a failure: then the endpoint can still embed another text."""
        if isinstance(error, EmbeddingUnavailable) and not isinstance(error, RequestFailed):
            return False
        try:
            await self._vectors([_PROBE])
        except EmbeddingError:
            return False
        return True


def prefixes_of(model: str) -> tuple[str, str]:
    """Return the prefixes of questions and passages by the name of a model, which may have a tag, as in Ollama."""
    name = model.partition(":")[0]
    return next(((question, passage) for names, question, passage in _PREFIXES if names.search(name)), ("", ""))


def _agreed(probed: NDArray[np.float32], again: NDArray[np.float32]) -> int:
    """Return the dimensions of a model, if two answers to the same texts agree.

    Raises:
        EmbeddingUnavailable: If they do not agree, or different texts have the same vector.
        EmbeddingError: If a vector is zero or not finite.
    """
    found: str | None = None
    if probed.shape != again.shape:
        found = f"A text got vectors of {probed.shape[1]} and {again.shape[1]} dimensions."
    else:
        first, second = _unit_length(probed), _unit_length(again)
        if (np.sum(first * second, axis=1) < _SAME_TEXT).any():
            found = "A text got two vectors that are not similar to each other."
        elif first[0] @ first[1] > _OTHER_TEXT:
            found = "Two different texts got the same vector."
    if found is not None:
        raise EmbeddingUnavailable(
            "the embedding endpoint returns wrong vectors",
            detail=found,
            hint="Check that all servers behind this address serve the same model, and what a cache or proxy changes.",
        )
    return int(probed.shape[1])


def _unit_length(sent: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return vectors as float32 of unit length.

    Raises:
        EmbeddingError: If one is zero or not finite.
    """
    unit: NDArray[np.float32] = (sent / lengths_of(sent, "the embedding endpoint")).astype(np.float32)
    return unit


async def _received(waiting: Sequence[_Waiting]) -> tuple[dict[int, NDArray[np.float32]], dict[int, EmbeddingError]]:
    """Return vectors and errors of texts, by their places.

    Raises:
        EmbeddingUnavailable: If the endpoint failed.
    """
    vectors: dict[int, NDArray[np.float32]] = {}
    failed: dict[int, EmbeddingError] = {}
    for place, each in enumerate(waiting):
        try:
            vectors[place] = await each.vector
        except EmbeddingUnavailable:
            raise
        except EmbeddingError as error:
            failed[place] = error
    return vectors, failed
