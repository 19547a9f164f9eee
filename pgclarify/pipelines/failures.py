"""Errors as one line of text, as they are kept beside a run, a verdict or a document; and numbers in such lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pgclarify.errors import ConfigurationError, ModelNotFound, PgclarifyError

# A library's message may quote its whole input; what is kept is to be read by a person.
_LONGEST = 500


def describe(error: Exception) -> str:
    """Say on one line what went wrong: message and detail of our own errors, type and text of others'."""
    if isinstance(error, PgclarifyError):
        text = f"{error.message}: {error.detail}" if error.detail else error.message
    else:
        text = f"{type(error).__name__}: {error}"
    # Neither PostgreSQL's text nor a terminal takes everything that a library may put into a message.
    text = text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "")
    return " ".join(text.split())[:_LONGEST]


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


def counted(number: int, noun: str) -> str:
    """Give `1 call`, `2 calls`."""
    return f"{number} {noun if number == 1 else noun + 's'}"


def summarize(errors: Sequence[str]) -> str:
    """Speak for many errors by the most frequent one; of equally frequent ones, the first."""
    error, count = Counter(errors).most_common(1)[0]
    return error if len(errors) == 1 else f"{error} ({count} of {len(errors)} passages)"
