"""Errors for a missing model or library: the worker's language model, a cross-encoder, or hdbscan."""

from __future__ import annotations

from typing import NoReturn

from pgclarify.errors import ConfigurationError, ModelNotFound


def no_language_model(what: str, otherwise: str) -> ConfigurationError:
    """Make the error for an operation that needs a language model.

    It includes the way out, because a run stores no hint.

    Args:
        what: What needs a language model.
        otherwise: What works without one.
    """
    return ConfigurationError(
        f"{what} needs a language model: set OPENAI_BASE_URL or OPENAI_API_KEY, and PGCLARIFY_LLM_MODEL, for the"
        f" worker, and start it again; or {otherwise}"
    )


def cannot_ask(option: str, usual: str) -> ConfigurationError:
    """Make the error for a run whose reranker or entailment is the language model, if there is none.

    Args:
        option: reranker or entailment.
        usual: The value of the option that needs no model.
    """
    return no_language_model(f'the {option} "model"', f'pass "{usual}" or the name of a cross-encoder, or leave it out')


def cannot_load(option: str, name: str, usual: str) -> ModelNotFound:
    """Make the error for a missing cross-encoder. Which paths exist is only in the log.

    Args:
        option: Its purpose: reranker or entailment.
        name: As it was given.
        usual: The value of the option that needs no model.
    """
    return ModelNotFound(
        f"no cross-encoder {name} could be loaded as the {option}",
        detail=f'Pass "{usual}" or "model", or leave {option} out; why it could not be loaded is in the worker\'s log.'
        " A name that its hub does not have is looked for again when the worker starts.",
    )


def no_endpoint(name: str) -> NoReturn:
    """Refuse a cross-encoder behind an endpoint if there is no endpoint.

    Raises:
        ConfigurationError: Always.
    """
    raise ConfigurationError(
        f"no endpoint can be asked for {name}",
        detail="The worker has no rerank endpoint.",
        hint="Set PGCLARIFY_RERANK_BASE_URL for the worker and restart it, or name another model.",
    )


def no_hdbscan() -> ConfigurationError:
    """Make the error for hdbscan, which only some workers have installed."""
    return ConfigurationError(
        'consolidation "hdbscan" needs the library hdbscan, which is not installed where the worker runs: run'
        " pip install 'pgclarify[torch]' there, or leave consolidation out"
    )
