"""Model servers on this machine that no setting names. They are found and named, and never used by themselves."""

from __future__ import annotations

import http.client
import json
import shlex
from collections.abc import Mapping, Sequence
from contextlib import closing

from pgclarify.cli.doctor.check import Check, ok
from pgclarify.cli.rendering import printable
from pgclarify.config import Provider, Settings

# The usual ports on loopback.
_PORTS = {"Ollama": 11434, "llama.cpp": 8080, "LM Studio": 1234, "vLLM": 8000}
SENT = "the questions, the passages that are read for them, and the titles of their documents"
"""What a language model gets."""
_SECONDS = 0.5
_MOST_BYTES = 64 * 1024
_MOST_MODELS = 5


def find_model_servers(settings: Settings, ports: Mapping[str, int] = _PORTS) -> list[Check]:
    """Look for model servers on loopback, unless the settings choose what reads passages.

    The only request asks for the list of models.

    Args:
        settings: Settings in use.
        ports: Where to look: a port for each product.

    Returns:
        For each server its models, those that only embed last, and how to use it.
    """
    if settings.llm_provider is not Provider.AUTO or settings.has_model:
        return []
    return [
        found(product, f"http://127.0.0.1:{port}/v1", models)
        for product, port in ports.items()
        if (models := _models(port))
    ]


def found(product: str, base_url: str, models: Sequence[str]) -> Check:
    """Name a model server, and how to use it."""
    named = ", ".join(map(printable, models[:_MOST_MODELS]))
    command = f"pgclarify use {base_url} {shlex.quote(printable(models[0]))}"
    return ok(
        "model server",
        f"{base_url} has {named}; its port is that of {product}",
        f"Nothing is sent there unless you run: {command}   Then it gets {SENT}.",
    )


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
