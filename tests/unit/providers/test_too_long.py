"""What servers say about a text that is too long, and what they say about other failures."""

from __future__ import annotations

import pytest

from pgclarify.providers.faults import Fault, Problem
from pgclarify.providers.too_long import says_too_long

# As the servers' documentation, source code and reports of errors have them.
TOO_LONG = [
    # OpenAI and Azure OpenAI
    (400, "", "This model's maximum context length is 8192 tokens, however you requested 10000 tokens (10000 in your"
     " prompt; 0 for the completion). Please reduce your prompt; or completion length."),
    (400, "", "Invalid 'input[0]': maximum input length is 8192 tokens."),
    (400, "context_length_exceeded", "no"),
    (400, "string_above_max_length", "no"),
    # vLLM, SGLang
    (400, "", "This model's maximum context length is 512 tokens. However, you requested 600 tokens in the input for"
     " embedding generation. Please reduce the length of the input."),
    (400, "", "The decoder prompt (length 600) is longer than the maximum model length of 512."),
    (400, "", "The input (600 tokens) is longer than the model's context length (512 tokens)."),
    # llama.cpp
    (500, "500", "input is too large to process. increase the physical batch size"),
    (500, "500", "input (600 tokens) is too large to process. increase the physical batch size (current batch size:"
     " 512)"),
    (400, "400", "the request exceeds the available context size, try increasing it"),
    # text-embeddings-inference
    (413, "", "Input validation error: `inputs` must have less than 512 tokens. Given: 600"),
    (422, "", "Input validation error: `inputs` must have less than 512 tokens. Given: 600"),
    # Ollama
    (400, "", "the input length exceeds the context length"),
    (500, "", "input exceeds maximum context length"),
    # Cohere, Voyage, Jina, Mistral, Gemini, NVIDIA, Bedrock
    (400, "", "too many tokens: size limit exceeded by 11326 tokens. Try using shorter or fewer inputs, or setting"
     " truncate='START'/'END'."),
    (400, "", "The example at index 0 in your batch has too many tokens and does not fit into the model's context"
     " window of 32000 tokens."),
    (422, "", "Single text cannot exceed 8194 tokens. 10000 tokens given."),
    (400, "3210", "Input id 0 has 9000 tokens, exceeding max 8192 tokens."),
    (400, "", "The input token count (10000) exceeds the maximum number of tokens allowed (8192)."),
    (400, "", "Input length 600 exceeds maximum allowed token size 512"),
    (400, "", "Too many input tokens. Max input tokens: 8192, request input token count: 10000"),
    (400, "", "Request payload size exceeds the limit: 36000 bytes."),
    # A proxy
    (413, "", ""),
]  # fmt: skip

OF_ANOTHER_KIND = [
    (500, "", "failed to encode response: json: unsupported value: NaN"),
    (500, "", "NaN"),
    (500, "", "Out of range float values are not JSON compliant"),
    (500, "", "do embedding request: Post http://127.0.0.1:1/embedding: EOF"),
    (500, "", "CUDA error: an illegal memory access was encountered"),
    (500, "", "the model has crashed"),
    (500, "", "context deadline exceeded"),
    (500, "", "the input has the maximum value inf, which overflows"),
    (500, "", "maximum recursion depth exceeded while calling a Python object"),
    (400, "", "Invalid input: contains a forbidden word"),
    (400, "content_filter", "The response was filtered"),
    (400, "", "'$.input' is invalid. Please check the API reference."),
    (422, "", "unknown field encoding_format"),
    (403, "", "the request is too long"),
    (502, "", "input is too large"),
    (0, "", ""),
]


@pytest.mark.parametrize(("status", "code", "said"), TOO_LONG)
def test_a_server_that_says_that_a_text_is_too_long_is_understood(status: int, code: str, said: str) -> None:
    assert says_too_long(Fault(Problem.REFUSED, said, status, code=code))


@pytest.mark.parametrize(("status", "code", "said"), OF_ANOTHER_KIND)
def test_another_failure_says_nothing_about_the_length(status: int, code: str, said: str) -> None:
    assert not says_too_long(Fault(Problem.REFUSED, said, status, code=code))


@pytest.mark.parametrize("problem", [Problem.SILENT, Problem.BROKEN, Problem.UNREADABLE, Problem.TOO_LARGE])
def test_a_call_without_an_answer_says_nothing_about_the_length(problem: Problem) -> None:
    assert not says_too_long(Fault(problem, "too many tokens"))
