"""Embedding models behind an OpenAI-compatible endpoint, `POST /embeddings`."""

from __future__ import annotations

import asyncio
import logging
import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import accumulate, pairwise
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray
from tokenizers import Regex, Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split

from pgclarify.config import Settings
from pgclarify.errors import (
    ConfigurationError,
    DimensionMismatch,
    EmbeddingError,
    EmbeddingUnavailable,
    ModelNotFound,
)
from pgclarify.foreign_text import check_unicode
from pgclarify.protocols import EmbeddingTally, PaidTexts, Payer, current_payer
from pgclarify.providers.address import REFUSING, Address, Asked
from pgclarify.providers.bounded_client import Call
from pgclarify.providers.embedding_reply import Embeddings, read_embeddings
from pgclarify.vocabulary import AT_ENDPOINT

_logger = logging.getLogger(__name__)

# Texts in one request: as many as text-embeddings-inference takes by default.
_MOST_TEXTS: Final = 32
# Nobody tells which tokenizer such a model has. Every model in common use reads so many tokens, by its own count and so
# by this one, which is higher.
_MAX_TOKENS: Final = 256
_COUNTED: Final = r"[A-Za-z]{1,4}|[0-9]{1,2}|\s{4}|\S"

# A text that is refused may be too long all the same: then a quarter of it is not.
_MOST_HALVINGS: Final = 2

# Statuses that may be about one of the texts. Some servers answer 500 to one that is too long.
_ABOUT_A_REQUEST: Final = REFUSING | {500}

# pgvector indexes no longer vectors of half precision.
_MOST_DIMENSIONS: Final = 4000
# Longer vectors than those of any model, for a server whose vectors have not been seen yet.
_LONGEST_VECTOR: Final = 65536
# A number in JSON has up to 25 characters and a comma; in base64 it takes less.
_BYTES_PER_NUMBER: Final = 32
_BYTES_AROUND: Final = 64 * 1024
# Few languages and tokenizers have more tokens, so that a budget reckons with no fewer.
_BYTES_PER_TOKEN: Final = 2
# What tells dimensions, and that an endpoint answers.
_PROBE: Final = "probe"

# A model's name, and the dimensions that are asked for. A name may have an @ of its own: text-gecko@003.
_NAME: Final = re.compile(rf"{AT_ENDPOINT}(?P<name>.+?)(?:@(?P<dimensions>[1-9][0-9]{{0,5}}))?")


class EmbeddingEndpoint:
    """One OpenAI-compatible endpoint of embeddings, shared by all models and runs of a worker.

    Args:
        address: Where it is.
        query_prefix: What its models want before a question.
        passage_prefix: What they want before a passage.
        concurrency: Most requests in flight at once.
        timeout: Seconds that all tries of a request may take. The indexing of other corpora waits as long.
        max_retries: Further tries after a lost connection, a time-out, an answer that cannot be read, 408, 409, 429 or
            5xx. Retry-After is obeyed up to a minute.
        tally: Where what was embedded is added up; None for nowhere.

    Attributes:
        limit: Held by each request.
        tally: As given.
        query_prefix: As given.
        passage_prefix: As given.

    Raises:
        ConfigurationError: If the address is none.
    """

    def __init__(
        self,
        address: Address,
        *,
        query_prefix: str = "",
        passage_prefix: str = "",
        concurrency: int = 16,
        timeout: float = 60.0,
        max_retries: int = 3,
        tally: EmbeddingTally | None = None,
    ) -> None:
        if not address.has_own and not address.has_key:
            raise ConfigurationError(
                "no embedding endpoint is set",
                detail="None of PGCLARIFY_EMBEDDING_BASE_URL, PGCLARIFY_EMBEDDING_API_KEY, OPENAI_BASE_URL and"
                " OPENAI_API_KEY is set where the worker runs.",
                hint="Set PGCLARIFY_EMBEDDING_BASE_URL for a server of your own, or OPENAI_API_KEY for OpenAI.",
            )
        address.check()
        self.query_prefix = query_prefix
        self.passage_prefix = passage_prefix
        self._address = address
        self.limit = asyncio.Semaphore(concurrency)
        self.tally = EmbeddingTally() if tally is None else tally
        self._timeout = timeout
        self._client = address.client(silence=timeout, connections=concurrency, max_retries=max_retries)

    @classmethod
    def from_settings(
        cls,
        settings: Settings,
        *,
        timeout: float | None = None,
        max_retries: int = 3,
        tally: EmbeddingTally | None = None,
    ) -> Self:
        """Make the endpoint that the settings describe: that of embeddings, or else that of the language model.

        The language model's key is sent to the language model's address only.

        Args:
            settings: Of this process.
            timeout: As of the class; None for that of the settings.
            max_retries: As of the class.
            tally: As of the class.

        Raises:
            ConfigurationError: If they do not make an endpoint.
        """
        address = Address.beside_chat(
            settings,
            "PGCLARIFY_EMBEDDING",
            settings.embedding_base_url,
            settings.embedding_api_key,
            settings.embedding_api_key_file,
        )
        return cls(
            address,
            query_prefix=settings.embedding_query_prefix,
            passage_prefix=settings.embedding_passage_prefix,
            concurrency=settings.llm_concurrency,
            timeout=settings.llm_timeout if timeout is None else timeout,
            max_retries=max_retries,
            tally=tally,
        )

    @property
    def base_url(self) -> str:
        """Its address."""
        return self._address.base_url

    async def open(self, model: str) -> EndpointEmbedder:
        """Ask for one embedding, which tells the dimensions of a model and in which form the server sends numbers.

        Args:
            model: `endpoint:` and its name there; with `@` and a number, so many dimensions are asked for.

        Raises:
            ModelNotFound: If that is no name.
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
        asked_dimensions = None if parts["dimensions"] is None else int(parts["dimensions"])
        request: dict[str, Any] = {"model": parts["name"]}
        if asked_dimensions is not None:
            request["dimensions"] = asked_dimensions
        # A fifth of the bytes, and exact. A server that does not know the parameter may refuse it.
        compact = {**request, "encoding_format": "base64"}
        async with self.limit:
            try:
                probed = await self.ask(compact, [_PROBE])
                request = compact
            except RequestFailed:
                probed = await self.ask(request, [_PROBE])
        dimensions = probed.vectors.shape[1]
        if asked_dimensions not in (None, dimensions):
            raise DimensionMismatch(
                f"the embedding model {parts['name']} does not give as many dimensions as are asked for",
                detail=f"Asked for were {asked_dimensions}; {self.base_url} gives {dimensions}.",
                hint="Only some models can shorten their vectors. Leave out the @ and the number.",
            )
        if dimensions > _MOST_DIMENSIONS:
            raise DimensionMismatch(
                f"the vectors of the embedding model {parts['name']} are too long for an index",
                detail=f"They have {dimensions} dimensions; an index takes {_MOST_DIMENSIONS}. If the model can shorten"
                f" them, ask for fewer: {AT_ENDPOINT}{parts['name']}@1024",
                hint="Ask for fewer dimensions, or take another model.",
            )
        return EndpointEmbedder(self, model, request, dimensions)

    async def ask(self, request: dict[str, Any], texts: Sequence[str], dimensions: int = _LONGEST_VECTOR) -> Embeddings:
        """Make one request. The caller holds the limit.

        Args:
            request: Its body without the texts.
            texts: At least one.
            dimensions: The most that a vector may have.

        Raises:
            EmbeddingUnavailable: If no embeddings came back, after all retries; RequestFailed if the endpoint answers.
        """
        most_bytes = len(texts) * dimensions * _BYTES_PER_NUMBER + _BYTES_AROUND
        ends_at = asyncio.get_running_loop().time() + self._timeout
        call = Call(partial(read_embeddings, count=len(texts)), most_bytes, ends_at)
        await self._client.post("/embeddings", {**request, "input": list(texts)}, call)
        if call.reply is not None:
            return call.reply
        asked = Asked(
            endpoint="the embedding endpoint",
            reply="a list of embeddings, one for each text",
            model=request["model"],
            model_hint="Check the name of the model that the corpus has.",
            refused_hint="The model may not have room for this text, or may not be an embedding model.",
            timeout=self._timeout,
            longest_call=self._timeout,
        )
        if len(texts) > 1 and call.fault is not None and call.fault.said:
            # The server may repeat a text, and the error reaches callers that sent another one.
            said = self._address.scrubbed(call.fault.said)
            _logger.warning("the embedding endpoint says of a request of %d texts: %s", len(texts), said)
            call.fault = replace(call.fault, said="")
        why = self._address.explain(call, asked)
        status = 0 if call.fault is None else call.fault.status
        kind = RequestFailed if status in _ABOUT_A_REQUEST else EmbeddingUnavailable
        raise kind(why.message, detail=why.detail, hint=why.hint)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()


class RequestFailed(EmbeddingUnavailable):
    """The endpoint answered, and refused or failed. That may be for one of the texts, or for any."""


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
        return _MAX_TOKENS

    @property
    def tokenizer(self) -> Tokenizer:
        """Counts more tokens than a model does."""
        return _counting()

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
        if all(len(text) <= _MAX_TOKENS for text in texts):
            return list(texts)
        return await asyncio.to_thread(_cut, texts)

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
            for payer, tokens in zip(payers, _tokens(texts, embedded.tokens), strict=False)
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


@cache
def _counting() -> Tokenizer:
    tokenizer = Tokenizer(WordLevel({"[UNK]": 0}, unk_token="[UNK]"))  # noqa: S106 - no password
    tokenizer.pre_tokenizer = Split(Regex(_COUNTED), behavior="removed", invert=True)
    return tokenizer


def _tokens(texts: Sequence[str], together: int | None) -> list[int]:
    """How many tokens each text of a request has, by its share of the bytes.

    Args:
        texts: At least one.
        together: How many all of them have; None if the server did not say: then half a token for each byte.
    """
    sizes = [len(text.encode()) for text in texts]
    if together is None:
        return [-(-size // _BYTES_PER_TOKEN) for size in sizes]
    # Differences of rounded sums, so that none is lost.
    ends = [0, *(together * size // max(1, sum(sizes)) for size in accumulate(sizes))]
    return [end - start for start, end in pairwise(ends)]


def _cut(texts: Sequence[str]) -> list[str]:
    """Cut texts to _MAX_TOKENS tokens."""
    # A token has at most four characters, and at most three blanks before it.
    starts = [text[: 7 * _MAX_TOKENS] for text in texts]
    return [
        start if len(encoding) <= _MAX_TOKENS else start[: encoding.offsets[_MAX_TOKENS - 1][1]]
        for start, encoding in zip(starts, _counting().encode_batch(starts), strict=True)
    ]
