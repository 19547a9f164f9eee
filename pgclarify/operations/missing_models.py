"""Refusals where a model or library is missing: the language model of the worker, a cross-encoder, or hdbscan."""

from __future__ import annotations

from typing import NoReturn

from pgclarify.errors import ConfigurationError, ModelNotFound


def no_language_model(what: str, otherwise: str) -> ConfigurationError:
    """Refuse what a worker without a language model cannot do; the way out is said with it, since a run keeps no hint.

    Args:
        what: What takes one.
        otherwise: What can be done without.
    """
    return ConfigurationError(
        f"{what} takes a language model: set OPENAI_BASE_URL or OPENAI_API_KEY, and PGCLARIFY_LLM_MODEL, for the"
        f" worker, and start it again; or {otherwise}"
    )


def cannot_load(option: str, name: str, usual: str) -> ModelNotFound:
    """Refuse a cross-encoder that there is not; which paths exist is told to the log alone.

    Args:
        option: What it is for: reranker or entailment.
        name: As it was given.
        usual: The value of the option that takes no model.
    """
    return ModelNotFound(
        f"no cross-encoder {name} could be loaded as the {option}",
        detail=f'Pass "{usual}" or "model", or leave {option} out; why it could not be loaded is in the worker\'s log.',
    )


def no_endpoint(name: str) -> NoReturn:
    """Refuse a cross-encoder behind an endpoint where there is none.

    Raises:
        ConfigurationError: Always.
    """
    raise ConfigurationError(
        f"no endpoint can be asked for {name}",
        detail="What carries this out was given no rerank endpoint.",
        hint="Set PGCLARIFY_RERANK_BASE_URL for the worker and start it again, or name another model.",
    )


def no_hdbscan() -> ConfigurationError:
    """Refuse to group readings with a library that only some workers have."""
    return ConfigurationError(
        'consolidation "hdbscan" takes the library hdbscan, which is not installed where the worker runs: run'
        " pip install 'pgclarify[worker]' there, or leave consolidation out"
    )
