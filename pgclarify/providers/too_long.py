"""Whether a server refuses a text because it is too long, in its own words: only then may the text be cut."""

from __future__ import annotations

import re
from typing import Final

from pgclarify.providers.failures import REFUSING
from pgclarify.providers.faults import Fault, Problem

_TOO_LARGE: Final = 413
# llama.cpp answers 500 to a text that is longer than its batch, and says so.
_SPEAKING: Final = REFUSING | {500}

# Not "context" alone: Go programs say "context deadline exceeded".
_MEASURED: Final = r"(?:tokens?|characters?|chars|bytes|length|context (?:size|window|limit)|(?:payload|request) size)"
_EXCEEDED: Final = (
    r"(?:exceed(?:s|ed|ing)?|over(?:flows?|s)?|longer than|larger than|greater than|more than|less than|fewer than"
    r"|at most|up to|maximum|max|limit|does not fit|cannot fit)"
)
# OpenAI, Azure: "maximum context length is 8192 tokens, however you requested 9000", context_length_exceeded,
#     string_above_max_length. vLLM, SGLang: the same, or "longer than the model's context length".
# llama.cpp: "input is too large to process", "the request exceeds the available context size".
# text-embeddings-inference: "`inputs` must have less than 512 tokens. Given: 600".
# Ollama: "the input length exceeds the context length". Cohere: "too many tokens".
# Jina: "Single text cannot exceed 8194 tokens". Mistral: "has 9000 tokens, exceeding max 8192 tokens".
# Voyage: "has too many tokens and does not fit into the model's context window".
_WORDS: Final = re.compile(
    rf"\btoo (?:long|large|big|many (?:input )?(?:tokens|characters))\b|context_length_exceeded|string_above_max_length"
    rf"|exceed_context_size|\b{_EXCEEDED}\b.{{0,60}}\b{_MEASURED}\b|\b{_MEASURED}\b.{{0,60}}\b{_EXCEEDED}\b",
    re.IGNORECASE | re.DOTALL,
)


def says_too_long(fault: Fault) -> bool:
    """Whether a server says, by its status, code or message, that the request is too long.

    Other failures, as of a model that computes NaN, may go away with a shorter text too, but its vector or score would
    be that of other words.
    """
    if fault.problem is not Problem.REFUSED or fault.status not in _SPEAKING:
        return False
    return fault.status == _TOO_LARGE or _WORDS.search(f"{fault.code} {fault.said}") is not None
