"""The measured costs, each with its unit and its source, which is a part of docs/benchmarks.md or a command."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Cost:
    """A measured figure.

    Attributes:
        value: The figure.
        unit: Its unit.
        source: Where it was measured.
    """

    value: float
    unit: str
    source: str


_FAR = "One server, far"
_WORKERS = "Many workers"
_QUIET = "Where the time of a `clarify` goes"
_PROMPTS = "the prompts of relaxing and judging, four characters a token"

# Disk. A vector of d dimensions takes two bytes for each.
BYTES_A_DIMENSION = Cost(2, "bytes", "pgvector: the type halfvec")
VECTOR_ROW = Cost(210, "bytes a passage, and the vector", _FAR)
VECTOR_INDEX = Cost(400, "bytes a passage, and the vector", _FAR)
# A vector lies in one page as a whole.
INDEX_PAGE = Cost(8_192, "bytes", "PostgreSQL")
TEXT = Cost(1_330, "bytes a passage", _FAR)
WORD_INDEX = Cost(160, "bytes a passage, a part of the text", _FAR)
DOCUMENT = Cost(540, "bytes a passage", _FAR)
GRAPH = Cost(1_000, "bytes a passage, with 16 neighbors", _FAR)
# Questions were measured with `top_k` 20, and with one call that relaxed them.
CALLS_A_QUESTION = 21
RUN = Cost(62_000 / CALLS_A_QUESTION, "bytes a call, with all rows of its run", _WORKERS)
QUEUED = Cost(1_050, "bytes a question", _WORKERS)

# Memory.
INDEX_BUILD = Cost(1_500, "bytes a passage", _FAR)

# CPU.
LOAD_WORKER = Cost(0.025, "seconds a passage, with embedding by all-MiniLM-L6-v2", "What is reached")
LOAD_SERVER = Cost(0.0032, "seconds a passage, among 100,000; more in a larger corpus", _FAR)
CALL_WORKER = Cost(0.0050, "seconds a call", _WORKERS)
CALL_LOOP = Cost(0.0024, "seconds a call, a part of the worker's, in one thread", _WORKERS)
CALL_SERVER = Cost(0.0020, "seconds a call, with the search among 10,000 passages", _WORKERS)
CALL_ENDPOINT = Cost(0.00035, "seconds a call, of the benchmark's endpoint", _WORKERS)
# Hybrid, questions of eight words. By the number of passages.
SEARCH = {
    10_000: Cost(0.012, "seconds a question", _FAR),
    200_000: Cost(0.029, "seconds a question", _FAR),
    1_000_000: Cost(0.041, "seconds a question", _FAR),
}
# Time that is not CPU time of a call: until a worker takes the question; before the search; from the last reply until
# the person sees the result.
ENTER = Cost(0.010, "seconds", _QUIET)
EMBED_QUESTION = Cost(0.008, "seconds", _QUIET)
LEAVE = Cost(0.010 + 0.005, "seconds", _QUIET)

# Money.
TOKENS_IN = Cost(12_400 / CALLS_A_QUESTION, "tokens a call, with passages of 390 characters", _PROMPTS)
TOKENS_OUT = Cost(1_000 / CALLS_A_QUESTION, "tokens a call", _PROMPTS)

# What a worker does by its own rules.
CORES_OF_A_WORKER = 2
BACKGROUND_EVERY = 4
LEAST_RUNS = 8
