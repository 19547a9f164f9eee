"""Calls of an endpoint through the openai client: its address, key and limits, and retries."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal, Self, TypedDict, TypeVar
from urllib.parse import urlsplit

import httpx2
import openai
from pydantic import SecretStr

from pgclarify.config import Settings
from pgclarify.errors import ConfigurationError, PgclarifyError
from pgclarify.language.foreign_text import storable
from pgclarify.protocols import Rates, Sending
from pgclarify.providers.call_line import CallLine
from pgclarify.providers.faults import TOO_MANY, Fault, NoReply, Problem, fault_of, refused
from pgclarify.providers.key import Key
from pgclarify.providers.rate_limit import RateLimit
from pgclarify.providers.transport import MOST_BYTES, LimitedTransport

OPENAI_BASE_URL: Final = "https://api.openai.com/v1"
MAX_RETRIES: Final = 3
"""Default number of further tries of a call."""

# Some servers require a key; the others ignore it.
_NO_KEY: Final = "no-key-set"
_LONGEST_SERVER_TEXT: Final = 300

# Seconds before the second try. Each later pause is twice as long, up to a limit. A random part of up to a quarter is
# subtracted, so that calls that failed together do not retry together.
_FIRST_PAUSE = 0.5
_LONGEST_USUAL_PAUSE: Final = 8.0
# Longest pause that a server may ask for. If it asks for more, the call is given up, and the error quotes the server.
_LONGEST_PAUSE: Final = 60.0

T = TypeVar("T")
E = TypeVar("E", bound=PgclarifyError)


class Address:
    """The address of an endpoint, and its key.

    Args:
        base_url: http(s) address up to and including the version; None or blank means OpenAI's own. For Azure OpenAI
            the address of the resource.
        api_key: None if the server needs none.
        url_variable: The environment variable of the address, for errors.
        key_variable: The environment variable of the key, for errors.
        key_file: A file with the key, instead of api_key.
        azure_version: The version of Azure's API; None if the server is not Azure OpenAI.

    Attributes:
        base_url: The address.
        has_own: Whether an address was given.
        has_key: Whether a key was given.
        url_variable: The environment variable of the address.

    Raises:
        ConfigurationError: If a key and a file are given, or the file holds no key.
    """

    def __init__(
        self,
        base_url: str | None,
        api_key: SecretStr | None = None,
        *,
        url_variable: str = "OPENAI_BASE_URL",
        key_variable: str = "OPENAI_API_KEY",
        key_file: Path | None = None,
        azure_version: str | None = None,
    ) -> None:
        given = (base_url or "").strip()
        self.base_url = given or OPENAI_BASE_URL
        self.has_own = bool(given)
        self._key = Key(api_key, key_file, key_variable)
        self.has_key = bool(self._key.current())
        self.url_variable = url_variable
        self._azure_version = azure_version

    @classmethod
    def of_chat(cls, settings: Settings) -> Self:
        """Return the address of the language model: OpenAI, another server with its API, or Azure OpenAI.

        Raises:
            ConfigurationError: As the class, or if the settings of Azure are incomplete.
        """
        azure = settings.azure_openai_endpoint
        if azure is None:
            return cls(settings.openai_base_url, settings.openai_api_key, key_file=settings.openai_api_key_file)
        if settings.openai_base_url is not None:
            raise ConfigurationError(
                "the language model has two addresses",
                detail="OPENAI_BASE_URL and AZURE_OPENAI_ENDPOINT are both set.",
                hint="Unset one of them.",
            )
        if settings.openai_api_version is None or settings.azure_openai_api_key is None:
            raise ConfigurationError(
                "the settings of Azure OpenAI are incomplete",
                detail="AZURE_OPENAI_ENDPOINT needs OPENAI_API_VERSION and AZURE_OPENAI_API_KEY.",
                hint="Set both, or set OPENAI_BASE_URL and OPENAI_API_KEY for Azure's address that ends in /openai/v1.",
            )
        return cls(
            azure,
            settings.azure_openai_api_key,
            url_variable="AZURE_OPENAI_ENDPOINT",
            key_variable="AZURE_OPENAI_API_KEY",
            azure_version=settings.openai_api_version,
        )

    @classmethod
    def beside_chat(cls, settings: Settings, serves: Literal["embedding", "rerank"]) -> Self:
        """Return the address of an endpoint that serves no chat model: its own, else that of the language model.

        The language model's key is sent to the language model's address only.

        Args:
            settings: The settings of this process.
            serves: What it serves, which names its settings.

        Raises:
            ConfigurationError: As `of_chat`.
        """
        base_url, api_key, key_file = (
            getattr(settings, f"{serves}_{name}") for name in ("base_url", "api_key", "api_key_file")
        )
        if (base_url, api_key, key_file) == (None, None, None):
            return cls.of_chat(settings)
        variable = f"PGCLARIFY_{serves.upper()}"
        own = cls(
            base_url,
            api_key,
            url_variable=f"{variable}_BASE_URL",
            key_variable=f"{variable}_API_KEY",
            key_file=key_file,
        )
        if base_url is None:
            chat = cls.of_chat(settings)
            own.base_url, own.has_own, own.url_variable = chat.base_url, chat.has_own, chat.url_variable
            own._azure_version = chat._azure_version
        return own

    @property
    def is_azure(self) -> bool:
        """Tell whether it is Azure OpenAI."""
        return self._azure_version is not None

    @property
    def key_variable(self) -> str:
        """Name the variable of the key, or of the key's file."""
        return self._key.variable

    @property
    def host(self) -> str:
        """Return the endpoint's host. The address itself may have secrets, because it may not be checked yet."""
        return urlsplit(self.base_url).hostname or "The endpoint"

    def check(self) -> None:
        """Check that it is a plain web address.

        Raises:
            ConfigurationError: If it is not.
        """
        try:
            url = urlsplit(self.base_url)
            is_address = url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
        except ValueError:
            is_address = False
        if not is_address:
            raise ConfigurationError(
                f"{self.url_variable} is not a web address",
                detail="It must begin with http:// or https:// and a host; a port is a number from 1 to 65535.",
                hint="Set it to an address such as http://127.0.0.1:8000/v1.",
            )
        # The address appears in log lines and errors.
        if url.username or url.password or url.query:
            raise ConfigurationError(
                f"{self.url_variable} carries more than an address",
                detail="It contains a user name, a password or parameters.",
                hint=f"Keep only the address in it, and put the key into {self.key_variable}.",
            )

    def openai_client(self, *, silence: float, connections: int) -> openai.AsyncOpenAI:
        """Make an openai client for this address, without retries; arguments as of `LimitedTransport`."""
        is_of_openai = not self.key_variable.startswith("PGCLARIFY_")
        transport = LimitedTransport(
            self.base_url, self._auth, silence=silence, connections=connections, sends_all_headers=is_of_openai
        )
        shared: dict[str, Any] = {
            # The transport sends the key itself, because its file may change.
            "api_key": _NO_KEY,
            # The client's own retries would not be counted, and it does not retry unreadable replies.
            "max_retries": 0,
            "default_headers": {"Accept-Encoding": "identity"},
            "http_client": httpx2.AsyncClient(transport=transport, timeout=None),
        }
        if self.is_azure:
            return openai.AsyncAzureOpenAI(azure_endpoint=self.base_url, api_version=self._azure_version, **shared)
        return openai.AsyncOpenAI(base_url=self.base_url, **shared)

    def _auth(self) -> dict[str, str]:
        key = self._key.current() or _NO_KEY
        return {"api-key": key} if self.is_azure else {"authorization": f"Bearer {key}"}

    def scrubbed(self, text: str) -> str:
        """Return a server's message on one line, shortened, and without the key."""
        text = " ".join(storable(self._key.hide(text)).split())
        return text if len(text) <= _LONGEST_SERVER_TEXT else f"{text[:_LONGEST_SERVER_TEXT]}…"

    def explain(
        self,
        failure: NoReply,
        kind: type[E],
        *,
        endpoint: str,
        reply: str,
        model: str,
        model_hint: str,
        refused_hint: str,
    ) -> E:
        """Make the error that says why a call got no reply, and what to do.

        Args:
            failure: The call.
            kind: The class of the error.
            endpoint: What the endpoint is called.
            reply: What its answer should have been.
            model: The model's name.
            model_hint: What to check if the endpoint does not know the model.
            refused_hint: What to check if it refuses this request.
        """
        fault, url, key, status = failure.fault, self.base_url, self.key_variable, failure.fault.status
        said = self.scrubbed(fault.said)
        check_address = f"Check {self.url_variable}: it usually ends in /v1."
        tried = f"{url} was asked {'once' if failure.tries == 1 else f'{failure.tries} times'}."
        answered = f"{url} answered with {'an error within a success, like ' if fault.is_late else ''}status {status}"
        answered += f": {said}" if said else "."
        if fault.wait is not None and fault.wait > 0:
            answered += f" It asks to wait {fault.wait:.0f} seconds."
        match fault.problem:
            case Problem.SILENT:
                message, detail = f"{endpoint} did not answer in time", tried
                hint = (
                    "Check that the server runs. If it is overloaded, raise PGCLARIFY_LLM_TIMEOUT, or lower"
                    " PGCLARIFY_LLM_CONCURRENCY."
                )
            case Problem.BROKEN:
                message, detail = f"{endpoint} cannot be reached", f"{tried} A connection failed or broke."
                hint = f"Check that the server runs, and check {self.url_variable}."
            case Problem.TOO_LARGE:
                message, hint = f"the answer of {endpoint} is too large", check_address
                detail = f"{tried} It sent more bytes than {reply} can need."
            case Problem.UNREADABLE:
                message, hint = f"the answer of {endpoint} is not {reply}", check_address
                detail = f"{tried} What it sent could not be read{f' ({said})' if said else ''}."
            case _ if status in (401, 403):
                # The server's words are not shown, because servers like to repeat a part of the key in them.
                message, detail = f"{endpoint} refused the key", f"{url} answered with status {status}."
                missing = f"This endpoint wants a key: set {key}."
                hint = f"Check {key}, and that it may use this model." if self.has_key else missing
            case _ if status == 404:
                message = f'{endpoint} does not know the model "{model}", or the address is wrong'
                detail, hint = answered, f"{model_hint} {check_address}"
            case _ if status == 429:
                message, detail = f"the rate limit or quota of {endpoint} is used up", answered
                hint = (
                    "Set its requests or tokens a minute in PGCLARIFY_…_PER_MINUTE, or raise the limit with the"
                    " provider."
                )
            case _ if 300 <= status < 400:
                message, detail = f"{endpoint} is at another address", answered
                hint = f"Set {self.url_variable} to that address. Passages are sent nowhere else."
            case _ if status >= 500:
                message, detail = f"{endpoint} failed", answered
                hint = "See the server's own log; what is asked again pays only for what is missing."
            case _:
                message, detail, hint = f"{endpoint} refused the request", answered, refused_hint
        return kind(message, detail=detail, hint=hint)


class Limits(TypedDict, total=False):
    """The limits of a `Client`."""

    concurrency: int
    timeout: float
    max_retries: int
    rate: RateLimit | None


class Client:
    """Makes calls to one endpoint. Replies are read from their JSON; the client's own types take twice the CPU time.

    Args:
        address: Its address.
        concurrency: Most calls in flight at once. Others wait for their turn; CallLine says which call goes first.
        timeout: Most seconds of silence within one try of a call, and for an answer that has begun.
        max_retries: Further tries of a call after a lost connection, a timeout, an unreadable or too large answer, 408,
            409, 429 or 5xx. Retry-After is obeyed up to a minute; after a longer one there is no further try.
        rate: Its requests and tokens a minute, which it also learns from answers; None for no limit.

    Attributes:
        address: As given.
        line: Each call waits in it for its turn.
        timeout: As given.
        max_retries: As given.
        rate: As given.

    Raises:
        ConfigurationError: If the address is invalid.
    """

    def __init__(
        self,
        address: Address,
        *,
        concurrency: int = 16,
        timeout: float = 60.0,
        max_retries: int = MAX_RETRIES,
        rate: RateLimit | None = None,
    ) -> None:
        address.check()
        self.address = address
        self.line = CallLine(concurrency, rate)
        self.timeout = timeout
        self.max_retries = max_retries
        self.rate = rate
        self._client = address.openai_client(silence=timeout, connections=concurrency)

    @property
    def turns_free(self) -> int:
        """How many calls could be sent now, less those that wait for their turn."""
        return self.line.turns_free

    async def call(
        self,
        path: str,
        body: Mapping[str, Any] | None,
        read: Callable[[bytes], T],
        *,
        most_bytes: int,
        ends_at: float,
        sending: Sending | None = None,
    ) -> tuple[T, int]:
        """Make all tries of a call.

        Args:
            path: Path after the address.
            body: What is posted, as JSON; None for a GET.
            read: Reads the body of a success, or raises UnreadableReply.
            most_bytes: Most bytes that this body may have.
            ends_at: When the call is given up, by the clock of the event loop.
            sending: Notes each try; its errors are passed on. None for a call that is not in the ledger.

        Returns:
            The reply, and how many tries it took.

        Raises:
            NoReply: If all tries failed.
        """
        MOST_BYTES.set(most_bytes)
        tries, fault = 0, Fault(Problem.SILENT)
        with suppress(TimeoutError):
            async with asyncio.timeout_at(ends_at):
                while True:
                    if sending is not None:
                        await sending.begin()
                    tries += 1
                    fault = Fault(Problem.SILENT)
                    try:
                        return read(await self._send(path, body)), tries
                    except openai.APIStatusError as error:
                        fault = refused(error)
                        self._learn(error.response, fault.wait if fault.status == TOO_MANY else None)
                    # Several libraries below HTTP have their own errors, and a server may send anything.
                    except Exception as error:
                        fault = fault_of(error)
                    if sending is not None and not fault.may_be_charged:
                        sending.note_free()
                    pause = _pause(fault, tries)
                    has_time = pause <= min(_LONGEST_PAUSE, ends_at - asyncio.get_running_loop().time())
                    if fault.is_final or tries > self.max_retries or not has_time:
                        break
                    await asyncio.sleep(pause)
        raise NoReply(fault, tries)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _send(self, path: str, body: Mapping[str, Any] | None) -> bytes:
        if body is None:
            response = await self._client.get(path, cast_to=httpx2.Response)
        else:
            response = await self._client.post(path, cast_to=httpx2.Response, body=body)
        self._learn(response)
        return response.content

    def _learn(self, response: httpx2.Response, wait: float | None = None) -> None:
        if self.rate is not None:
            self.rate.learn(response.headers, wait)


def limits_of(settings: Settings, serves: str, endpoint: str, rates: Rates | None) -> Limits:
    """Return the limits of an endpoint by its settings.

    Args:
        settings: The settings of this process.
        serves: llm, embedding or rerank, which names its settings.
        endpoint: The name under which workers share its rate.
        rates: Through which they share it; None for no limits.
    """
    a_minute = (getattr(settings, f"{serves}_{unit}_per_minute") for unit in ("requests", "tokens"))
    rate = RateLimit(endpoint, rates, *a_minute)
    return {"concurrency": settings.llm_concurrency, "timeout": settings.llm_timeout, "rate": rate}


def _pause(fault: Fault, tries: int) -> float:
    """Return the seconds until the next try: as the server asks, else the usual pause."""
    if fault.wait is not None and fault.wait > 0:
        return fault.wait
    usual = min(_FIRST_PAUSE * 2.0 ** min(tries - 1, 10), _LONGEST_USUAL_PAUSE)
    return usual * (1 - secrets.randbelow(250) / 1000)
