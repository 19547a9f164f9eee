"""The address of an endpoint with its key, and the errors for calls that got no reply."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import urlsplit

from pydantic import SecretStr

from pgclarify.config import Settings
from pgclarify.errors import ConfigurationError
from pgclarify.providers.bounded_client import BoundedClient, Call, Fault, Problem
from pgclarify.providers.key import Key
from pgclarify.providers.reply import storable

OPENAI_BASE_URL: Final = "https://api.openai.com/v1"

# Some servers require a key; the others ignore it.
_NO_KEY: Final = "no-key-set"

_LONGEST_SERVER_TEXT: Final = 300

# Statuses for a bad request: malformed, too large, or not processable.
REFUSING: Final = frozenset({400, 413, 422})


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked of an endpoint, in words for error messages.

    Attributes:
        endpoint: What the endpoint is called.
        reply: What its answer should have been.
        model: The model's name.
        model_hint: What to check if the endpoint does not know the model.
        refused_hint: What to check if it refuses this request.
        timeout: Seconds that one try may take without a sign of life.
        longest_call: Seconds that all tries may take.
    """

    endpoint: str
    reply: str
    model: str
    model_hint: str
    refused_hint: str
    timeout: float
    longest_call: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """The parts of an error: why a call got no reply."""

    message: str
    detail: str
    hint: str


class Address:
    """The address of an endpoint, and its key.

    Args:
        base_url: http(s) address up to and including the version; None or blank means OpenAI's own.
        api_key: None if the server needs none.
        url_variable: The environment variable of the address, for errors.
        key_variable: The environment variable of the key, for errors.
        key_file: A file with the key, instead of api_key.

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
        api_key: SecretStr | None,
        *,
        url_variable: str = "OPENAI_BASE_URL",
        key_variable: str = "OPENAI_API_KEY",
        key_file: Path | None = None,
    ) -> None:
        given = (base_url or "").strip()
        self.base_url = given or OPENAI_BASE_URL
        self.has_own = bool(given)
        self._key = Key(api_key, key_file, key_variable)
        self.has_key = bool(self._key.current())
        self.url_variable = url_variable

    @classmethod
    def beside_chat(
        cls, settings: Settings, prefix: str, base_url: str | None, api_key: SecretStr | None, key_file: Path | None
    ) -> Self:
        """Return the address of an endpoint that serves no chat model: its own, else that of the language model.

        The language model's key is sent to the language model's address only.

        Args:
            settings: The settings of this process.
            prefix: Prefix of its own variables: PGCLARIFY_EMBEDDING or PGCLARIFY_RERANK.
            base_url: Its own address; None if none is set.
            api_key: Its own key; None if none is set.
            key_file: A file with its own key; None if none is set.

        Raises:
            ConfigurationError: As the class.
        """
        has_own_key = (base_url, api_key, key_file) != (None, None, None)
        if base_url is not None:
            url_variable = f"{prefix}_BASE_URL"
        else:
            base_url, url_variable = settings.openai_base_url, "OPENAI_BASE_URL"
        return cls(
            base_url,
            api_key if has_own_key else settings.openai_api_key,
            url_variable=url_variable,
            key_variable=f"{prefix}_API_KEY" if has_own_key else "OPENAI_API_KEY",
            key_file=key_file if has_own_key else settings.openai_api_key_file,
        )

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
        url = urlsplit(self.base_url)
        if url.scheme not in ("http", "https") or not url.hostname:
            raise ConfigurationError(
                f"{self.url_variable} is not a web address",
                detail="It must begin with http:// or https:// and a host.",
                hint="Set it to an address such as http://127.0.0.1:8000/v1.",
            )
        # The address appears in log lines and errors.
        if url.username or url.password or url.query:
            raise ConfigurationError(
                f"{self.url_variable} carries more than an address",
                detail="It contains a user name, a password or parameters.",
                hint=f"Keep only the address in it, and put the key into {self.key_variable}.",
            )

    def client(self, *, silence: float, connections: int, max_retries: int) -> BoundedClient:
        """Make an HTTP client for this address; arguments as of `BoundedClient`."""
        return BoundedClient(
            self.base_url,
            lambda: self._key.current() or _NO_KEY,
            silence=silence,
            connections=connections,
            max_retries=max_retries,
            is_openai_key=self.key_variable.startswith("OPENAI_"),
        )

    def explain(self, call: Call[Any], asked: Asked) -> Explanation:
        """Explain why a call got no reply, and what to do."""
        fault = call.fault or Fault(Problem.SILENT)
        tries = "once" if call.tries == 1 else f"{call.tries} times"
        match fault.problem:
            case Problem.REFUSED:
                return self._refused(fault, asked)
            case Problem.SILENT:
                return Explanation(
                    f"{asked.endpoint} did not answer in time",
                    f"{self.base_url} was asked {tries}. A try may take {asked.timeout:g} seconds without a sign of"
                    f" life, all tries together {asked.longest_call:g} seconds.",
                    "Raise PGCLARIFY_LLM_TIMEOUT, or lower PGCLARIFY_LLM_CONCURRENCY if the server is overloaded.",
                )
            case Problem.BROKEN:
                return Explanation(
                    f"{asked.endpoint} cannot be reached",
                    f"{self.base_url} was asked {tries}: there was no connection, or it broke.",
                    f"Check that the server runs and that {self.url_variable} is its address.",
                )
            case Problem.TOO_LARGE:
                return Explanation(
                    f"the answer of {asked.endpoint} is too large",
                    f"{self.base_url} was asked {tries}. It sent more than {call.most_bytes} bytes, which is more than"
                    f" {asked.reply} can need.",
                    f"Check that {self.url_variable} is the right address, and that its server obeys the request.",
                )
            case Problem.UNREADABLE:
                said = f" ({self.scrubbed(fault.said)})" if fault.said else ""
                return Explanation(
                    f"the answer of {asked.endpoint} is not {asked.reply}",
                    f"{self.base_url} was asked {tries}. What it sent could not be read{said}.",
                    f"Check {self.url_variable}: it usually ends in /v1.",
                )

    def scrubbed(self, text: str) -> str:
        """Return a server's message on one line, shortened, and without the key."""
        text = " ".join(storable(self._key.hide(text)).split())
        return text if len(text) <= _LONGEST_SERVER_TEXT else f"{text[:_LONGEST_SERVER_TEXT]}…"

    def _refused(self, fault: Fault, asked: Asked) -> Explanation:
        status = fault.status
        answered = f"{self.base_url} answered with status {status}"
        said = f"{answered}: {self.scrubbed(fault.said)}" if fault.said else f"{answered}."
        if fault.wait is not None and fault.wait > 0:
            said += f" It asks to wait {fault.wait:.0f} seconds."
        if status in (401, 403):
            # The message is not shown, because servers like to repeat a part of the key in it.
            return Explanation(
                f"{asked.endpoint} refused the key",
                f"{answered}.",
                f"Check {self.key_variable}, and that it may use this model."
                if self.has_key
                else f"This endpoint wants a key: set {self.key_variable}.",
            )
        if 300 <= status < 400:
            return Explanation(
                f"{asked.endpoint} is at another address",
                said,
                f"Set {self.url_variable} to that address. Passages are sent nowhere else.",
            )
        if status == 404:
            return Explanation(
                f'{asked.endpoint} does not know the model "{asked.model}", or the address is wrong',
                said,
                f"{asked.model_hint} Check {self.url_variable}, too: it usually ends in /v1.",
            )
        if status == 429:
            return Explanation(
                f"the rate limit or quota of {asked.endpoint} is used up",
                said,
                "Lower PGCLARIFY_LLM_CONCURRENCY, or raise the limit with the provider.",
            )
        if status >= 500:
            return Explanation(
                f"{asked.endpoint} failed",
                said,
                "See the server's own log; what is asked again pays only for what is missing.",
            )
        return Explanation(f"{asked.endpoint} refused the request", said, asked.refused_hint)
