"""Checks of the endpoint of the language model in the settings of this environment."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pgclarify.cli.doctor.check import Check, Level, ok, problem, warning
from pgclarify.cli.doctor.model_servers import find_model_servers
from pgclarify.config import Provider, Settings
from pgclarify.errors import ConfigurationError, PgclarifyError, describe

if TYPE_CHECKING:
    from pgclarify.providers.client import Address
    from pgclarify.providers.faults import NoReply

# Enough for a list of names from a running server.
_SECONDS = 5.0
_MOST_BYTES = 4 * 1024 * 1024
_MOST_NAMES = 10
_TOO_MANY = 429
_NAME = "language model"


@dataclass(frozen=True, slots=True)
class UnlistedModel(Check):
    """An endpoint lists models, but not the configured one.

    Attributes:
        nearest: Those of its models whose names are most like that of the configured one, the nearest first.
    """

    nearest: tuple[str, ...] = ()


def expected_worker(settings: Settings) -> tuple[str, str | None] | None:
    """Return provider and model of a worker with these settings; None if it would not start."""
    provider = settings.chosen_provider
    if provider is None:
        return None
    model = settings.model_file.stem if settings.model_file else settings.llm_model
    return provider.value, model if provider is Provider.OPENAI else None


def check_endpoints(settings: Settings, *, has_workers: bool) -> list[Check]:
    """Check whether the endpoint answers a free request for its list of models, and how fast. Keys are never shown.

    Args:
        settings: The settings of this environment.
        has_workers: Whether workers are alive; they may have other settings.
    """
    return [_check_language_model(settings, has_workers), *find_model_servers(settings)]


def _check_language_model(settings: Settings, has_workers: bool) -> Check:
    provider = settings.chosen_provider
    if provider is Provider.EXTRACTIVE:
        return ok(
            _NAME,
            "none: the extractive method judges passages; clarify and search work, but investigate and the"
            ' reranker, entailment or verify "model" need a language model',
        )
    if provider is None and has_workers:
        return warning(
            _NAME,
            "none is set here; the living workers have settings of their own",
            "To run a worker from here set OPENAI_API_KEY or OPENAI_BASE_URL, and PGCLARIFY_LLM_MODEL.",
        )
    if provider is None:
        return problem(
            _NAME,
            "neither OPENAI_API_KEY nor OPENAI_BASE_URL is set, so a worker would not start",
            "Set them and PGCLARIFY_LLM_MODEL, or PGCLARIFY_LLM_PROVIDER=extractive to do without a model.",
        )
    if settings.model_file is not None:
        return _check_model_file(settings.model_file)
    return asyncio.run(_ask_chat_endpoint(settings))


def _check_model_file(path: Path) -> Check:
    from pgclarify.worker.model_file import check_model_file

    try:
        check_model_file(path)
    except ConfigurationError as error:
        return problem(_NAME, f"{error.message} ({error.detail})", error.hint)
    return ok(_NAME, f"a worker serves {path} for itself: nothing leaves this machine")


async def _ask_chat_endpoint(settings: Settings) -> Check:
    from pgclarify.providers.client import Client
    from pgclarify.providers.endpoint import Endpoint
    from pgclarify.providers.faults import NoReply
    from pgclarify.providers.reply import read_models

    try:
        endpoint = Endpoint.from_settings(settings)
    except ConfigurationError as error:
        return problem(_NAME, error.message, f"{error.detail} {error.hint}")
    address = endpoint.address
    began = time.perf_counter()
    ends_at = asyncio.get_running_loop().time() + _SECONDS
    async with endpoint, Client(address, concurrency=1, timeout=_SECONDS, max_retries=0) as client:
        try:
            names, _ = await client.call("/models", None, read_models, most_bytes=_MOST_BYTES, ends_at=ends_at)
        except NoReply as failure:
            return _failure_check(failure, address)
    return _models_check(endpoint.model, names, address.base_url, time.perf_counter() - began)


def _failure_check(failure: NoReply, address: Address) -> Check:
    """Say what it means that no list of models was received."""
    status = failure.fault.status
    if status in (404, 405):
        # A few servers only have completions. That can only be found out with a call, which costs money.
        finding = f"{address.base_url} answers, but lists no models (status {status})"
        if not urlsplit(address.base_url).path.strip("/"):
            below = f"{address.base_url.rstrip('/')}/v1"
            return problem(_NAME, finding, f"Most servers answer below /v1: use {below} as {address.url_variable}.")
        remedy = f"Check {address.url_variable}, which usually ends in /v1. Some servers work without such a list."
        return warning(_NAME, finding, remedy)
    error = address.explain(
        failure,
        PgclarifyError,
        endpoint="the endpoint",
        reply="a list of models",
        model="",
        model_hint="",
        refused_hint=f"Check {address.url_variable}.",
    )
    return Check(_NAME, Level.WARNING if status == _TOO_MANY else Level.PROBLEM, describe(error), error.hint)


def _models_check(model: str, names: Sequence[str], base_url: str, seconds: float) -> Check:
    """Check whether the endpoint lists the configured model, and how long the list took."""
    if names and model not in names:
        nearest = get_close_matches(model, names, _MOST_NAMES, cutoff=0)
        return UnlistedModel(
            _NAME,
            Level.WARNING,
            f"{base_url} answers, but does not list the model {model}",
            f"Set PGCLARIFY_LLM_MODEL to one of: {', '.join(nearest)}{', …' if len(names) > _MOST_NAMES else ''}",
            tuple(nearest),
        )
    return ok(_NAME, f"{model} at {base_url}, which answers in {1000 * seconds:,.0f} ms")
