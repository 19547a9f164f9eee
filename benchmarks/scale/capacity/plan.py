"""Formulas: what some passages and questions need, and which part of the machinery is at its limit first."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise

from benchmarks.scale.capacity import costs

# The busiest hour has so many times the questions of the mean hour.
PEAK = 3
KEPT_DAYS = 30
# A part that is planned has twice the places that the peak uses on average, because questions do not come evenly.
_SPARE = 2
_LEAST_CORES = 2
_LEAST_GIGABYTES = 4

WHAT_TO_DO = {
    "the endpoint": "a larger endpoint, a second one, or a smaller top_k; more workers do not help",
    "the workers": "another worker, on cores of its own",
    "the server's cores": "a larger server; dashboards on a standby",
    "memory": "more memory, or a model with fewer dimensions",
}
"""What helps, by the part that is the first limit."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A corpus, its questions, and the machinery.

    Attributes:
        passages: Passages of the corpus.
        dimensions: Of the embedding model.
        questions: New questions a day.
        top_k: Passages that are judged.
        relaxes: Whether each question is first relaxed, as option relax does it.
        hours: Hours of the day in which people ask.
        call_seconds: How long a model call takes.
        at_once: Calls that the endpoint takes at once.
        workers: How many; each has two cores.
        cores: Of the server.
        memory: Of the server, in GB.
        nodes: Servers that share the corpus; 1 without Citus.
        price_in: Dollars for a million tokens of input.
        price_out: Dollars for a million tokens of output.
        is_one_machine: Whether workers and endpoint share the server's cores, as in benchmarks.scale.many_workers.
    """

    passages: int = 1_000_000
    dimensions: int = 384
    questions: int = 10_000
    top_k: int = 20
    relaxes: bool = False
    hours: float = 8.0
    call_seconds: float = 2.0
    at_once: int = 0
    workers: int = 0
    cores: int = 0
    memory: float = 0.0
    nodes: int = 1
    price_in: float = 0.15
    price_out: float = 0.60
    is_one_machine: bool = False

    @property
    def calls(self) -> int:
        """Calls of a question: one judges each passage, and one may relax it."""
        return self.top_k + self.relaxes

    @property
    def questions_a_second(self) -> float:
        """At the peak."""
        return PEAK * self.questions / (3600 * self.hours)

    @property
    def calls_a_second(self) -> float:
        """At the peak."""
        return self.questions_a_second * self.calls

    @property
    def calls_at_once(self) -> float:
        """At the peak, on average."""
        return self.calls_a_second * self.call_seconds


@dataclass(frozen=True)
class Limit:
    """A part of the machinery.

    Attributes:
        part: Its name.
        load: The share of it that the peak uses; above 1 it is too small.
    """

    part: str
    load: float


def planned(setting: Setting) -> Setting:
    """Fill in each part that the setting leaves at 0."""
    return replace(
        setting,
        at_once=setting.at_once or math.ceil(max(setting.top_k, _SPARE * setting.calls_at_once)),
        workers=setting.workers or workers(setting),
        cores=setting.cores or max(_LEAST_CORES, _power_of_two(_SPARE * server_load(setting))),
        memory=setting.memory or max(_LEAST_GIGABYTES, _power_of_two(needed_memory(setting) / setting.nodes / 1e9)),
    )


def workers(setting: Setting) -> int:
    """Workers for the peak, without the one for restarts."""
    return math.ceil(_SPARE * setting.calls_a_second * worker_seconds())


def worker_seconds() -> float:
    """Seconds that a worker with its own cores is busy with a call, because its event loop has one core."""
    return max(costs.CALL_LOOP.value, costs.CALL_WORKER.value / costs.CORES_OF_A_WORKER)


def search_seconds(passages: int) -> float:
    """CPU time of a hybrid search. Between two measured sizes, and beyond them, it is a power of the size."""
    sizes = sorted(costs.SEARCH)
    low, high = next((pair for pair in pairwise(sizes) if passages <= pair[1]), (sizes[-2], sizes[-1]))
    seconds = costs.SEARCH[low].value, costs.SEARCH[high].value
    exponent = math.log(seconds[1] / seconds[0]) / math.log(high / low)
    return seconds[0] * math.pow(passages / low, exponent)


def call_seconds_of_server() -> float:
    """CPU time of the server for a call. The measured one includes the search among the fewest passages."""
    return costs.CALL_SERVER.value - costs.SEARCH[min(costs.SEARCH)].value / costs.CALLS_A_QUESTION


def question_seconds(setting: Setting) -> float:
    """CPU time of the server for a question."""
    return setting.calls * call_seconds_of_server() + search_seconds(setting.passages)


def server_load(setting: Setting) -> float:
    """Cores of the server that are busy at the peak."""
    return setting.questions_a_second * question_seconds(setting)


def limits(setting: Setting) -> list[Limit]:
    """Each part with its load at the peak, the first limit first.

    Memory is the first limit if the indexes do not fit into it, and none otherwise: questions do not need more of it.
    """
    memory = Limit("memory", index_bytes(setting) / setting.nodes / (setting.memory * 1e9))
    parts = [
        Limit("the endpoint", setting.calls_at_once / setting.at_once),
        Limit("the workers", setting.calls_a_second * worker_seconds() / setting.workers),
        Limit("the server's cores", server_load(setting) / setting.cores),
    ]
    return [memory] * (memory.load > 1) + sorted(parts, key=lambda limit: -limit.load)


def vector_index_bytes(setting: Setting) -> float:
    """Of the index over vectors. A page has whole vectors only."""
    size = costs.BYTES_A_DIMENSION.value * setting.dimensions + costs.VECTOR_INDEX.value
    in_a_page = max(1, costs.INDEX_PAGE.value // size)
    return setting.passages * costs.INDEX_PAGE.value / in_a_page


def index_bytes(setting: Setting) -> float:
    """Of the indexes over vectors and words."""
    return vector_index_bytes(setting) + setting.passages * costs.WORD_INDEX.value


def needed_memory(setting: Setting) -> float:
    """Bytes for the indexes, and to build the one over vectors fast."""
    return index_bytes(setting) + setting.passages * costs.INDEX_BUILD.value


def spread_bytes(setting: Setting) -> float:
    """Of the corpus on disk, without documents and graph: what the nodes of a cluster share."""
    row = costs.BYTES_A_DIMENSION.value * setting.dimensions + costs.VECTOR_ROW.value
    return setting.passages * (row + costs.TEXT.value) + vector_index_bytes(setting)


def corpus_bytes(setting: Setting) -> float:
    """On disk, with the graph."""
    return spread_bytes(setting) + setting.passages * (costs.DOCUMENT.value + costs.GRAPH.value)


def run_bytes(setting: Setting) -> float:
    """Of runs and ledger on disk, if they are pruned after 30 days."""
    return KEPT_DAYS * setting.questions * setting.calls * costs.RUN.value


def dollars(setting: Setting) -> float:
    """Dollars a day."""
    tokens = costs.TOKENS_IN.value * setting.price_in + costs.TOKENS_OUT.value * setting.price_out
    return setting.questions * setting.calls * tokens / 1e6


def candidates(passages: float) -> int:
    """`hnsw.ef_search` of a node for so many passages in a shard."""
    return max(100, round(80 * math.log10(passages / 4_000)))


def _power_of_two(number: float) -> int:
    """The least power of two that is not below a number."""
    return 1 << max(0, math.ceil(math.log2(number)))
