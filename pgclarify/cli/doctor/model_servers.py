"""Model servers on this machine that no setting names. They are found and named, and never used by themselves."""

from __future__ import annotations

import http.client
import json
import shlex
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pgclarify.config import Provider

if TYPE_CHECKING:
    from pgclarify.config import Settings

# The usual ports on loopback.
_PORTS = {"Ollama": 11434, "llama.cpp": 8080, "LM Studio": 1234, "vLLM": 8000}
SENT = "the questions, the passages that are read for them, and the titles of their documents"
"""What a language model gets."""
_SECONDS = 0.5
_MOST_BYTES = 64 * 1024
_MOST_MODELS = 5


@dataclass(frozen=True, slots=True)
class ModelServer:
    """A server that lists models as OpenAI's API does.

    Attributes:
        product: The product that usually listens on its port.
        base_url: Its address, for OPENAI_BASE_URL.
        models: Names of its models, at most five; those that only embed come last.
    """

    product: str
    base_url: str
    models: tuple[str, ...]

    @property
    def finding(self) -> str:
        """What was found, as a part of a sentence."""
        from pgclarify.cli.rendering import printable

        return f"{self.base_url} has {', '.join(map(printable, self.models))}; its port is that of {self.product}"

    @property
    def remedy(self) -> str:
        """How to use it, and what it then gets."""
        from pgclarify.cli.rendering import printable

        model = shlex.quote(printable(self.models[0]))
        return f"Nothing is sent there unless you run: pgclarify use {self.base_url} {model}   Then it gets {SENT}."


def find_model_servers(settings: Settings, ports: Mapping[str, int] = _PORTS) -> list[ModelServer]:
    """Look for model servers on loopback, unless the settings choose what reads passages.

    The only request asks for the list of models.

    Args:
        settings: Settings in use.
        ports: Where to look: a port for each product.
    """
    if settings.llm_provider is not Provider.AUTO or settings.has_model:
        return []
    found = []
    for product, port in ports.items():
        if models := _models(port):
            found.append(ModelServer(product, f"http://127.0.0.1:{port}/v1", tuple(models[:_MOST_MODELS])))
    return found


def _models(port: int) -> list[str]:
    """Return the names of the models of the server on a port; none if it does not list any."""
    try:
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=_SECONDS)) as connection:
            connection.request("GET", "/v1/models")
            response = connection.getresponse()
            listed = json.loads(response.read(_MOST_BYTES)) if response.status == http.HTTPStatus.OK else {}
        names = [model["id"] for model in listed["data"] if model["id"]]
    except (OSError, http.client.HTTPException, ValueError, TypeError, KeyError, RecursionError):
        # Something else listens there, or nothing.
        return []
    return sorted((name for name in names if isinstance(name, str)), key=lambda name: "embed" in name.lower())
