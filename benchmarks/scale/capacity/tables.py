"""The computed tables of the pages, as text: examples, nodes of a cluster, and the comparison with measurements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from benchmarks.scale.capacity import costs, plan
from benchmarks.scale.capacity.plan import Setting
from benchmarks.scale.capacity.simulation import Hour, Simulation
from pgclarify.database.pool import MOST_CONNECTIONS

Rows: TypeAlias = list[list[str]]

EXAMPLES = {
    "handbook": Setting(passages=10_000, questions=500),
    "company": Setting(),
    "archive": Setting(passages=10_000_000, questions=100_000),
}
NODES, CORES_OF_A_NODE = 4, 8

# Enough for the 95 % not to depend much on the seed.
MOST_QUESTIONS = 2_000
_BEFORE_THE_BATCH = 12
_A_LONG_BATCH = 100_000


@dataclass(frozen=True)
class MeasuredWait:
    """Seconds that one person waits, alone and beside a batch: docs/benchmarks.md, part "Many workers"."""

    call_seconds: float
    at_once: int
    alone: float
    beside: float
    ratio: float


MEASURED = {1: 256, 2: 275, 4: 272}
"""Calls a second by the number of workers, from the same part. The machine had no other load."""

MEASURED_WAITS = (MeasuredWait(1, 8, 4.1, 7.0, 1.70), MeasuredWait(0.5, 16, 1.6, 2.0, 1.20))


def examples() -> Rows:
    """What each example needs, and how long a person waits there."""
    columns = [_example(setting) for setting in EXAMPLES.values()]
    return [[name, *(column[name] for column in columns)] for name in columns[0]]


def needs(setting: Setting) -> dict[str, str]:
    """What a setting with a number for each part needs, in words."""
    first, second = plan.limits(setting)[:2]
    return {
        "passages; new questions a day": f"{setting.passages:,}; {setting.questions:,}",
        "disk; with runs and ledger of 30 days": (
            f"{size(plan.corpus_bytes(setting))}; {size(plan.corpus_bytes(setting) + plan.run_bytes(setting))}"
        ),
        "memory for indexes": size(plan.index_bytes(setting)),
        "loading without the graph, core minutes: workers; server": (
            f"{digits(setting.passages * costs.LOAD_WORKER.value / 60)};"
            f" {digits(setting.passages * costs.LOAD_SERVER.value / 60)}"
        ),
        "model calls a second: the mean; at the peak": (
            f"{digits(setting.calls_a_second / plan.PEAK)}; {digits(setting.calls_a_second)}"
        ),
        "model calls at once, at the peak; that the endpoint takes": (
            f"{digits(setting.calls_at_once)}; {setting.at_once}"
        ),
        "workers: at the peak; with one for restarts": f"{setting.workers}; {setting.workers + 1}",
        "server" if setting.nodes == 1 else "each node": f"{setting.cores} cores, {setting.memory:g} GB",
        "dollars a day, as above": digits(plan.dollars(setting)),
        "first limit, and the next: reached at this multiple of the questions": f"{_at(first)}; {_at(second)}",
    }


def nodes(setting: Setting) -> Rows:
    """What a corpus in a cluster needs of each node."""
    shards = setting.nodes * setting.cores
    workers = plan.planned(setting).workers + 1
    on_node = shards // setting.nodes
    # Citus opens at most so many to each node for one session (citus.max_adaptive_executor_pool_size).
    opened = min(on_node, 16)
    return [
        ["memory of a node, for indexes", size(plan.index_bytes(setting) / setting.nodes)],
        [
            "disk of a node; of the coordinator",
            f"{size(plan.spread_bytes(setting) / setting.nodes)};"
            f" {size(setting.passages * costs.DOCUMENT.value + plan.run_bytes(setting))}",
        ],
        ["shards", str(shards)],
        ["hnsw.ef_search", str(plan.candidates(setting.passages / shards))],
        [
            "connections that a node takes",
            f"{workers} workers: {MOST_CONNECTIONS * workers * opened},"
            f" or {(MOST_CONNECTIONS + 1) * workers * opened} with attached tables",
        ],
    ]


def node_rows() -> Rows:
    """The archive on the nodes of the page."""
    return nodes(replace(EXAMPLES["archive"], nodes=NODES, cores=CORES_OF_A_NODE))


def comparison() -> Rows:
    """Simulated and measured: workers, server and endpoint on two cores, and 10,000 passages."""
    # The questions that were measured were relaxed.
    machine = Setting(passages=10_000, cores=2, is_one_machine=True, relaxes=True)
    simulated = [
        Simulation(replace(machine, workers=workers, at_once=64, call_seconds=0.02), batch=100).batch_alone()
        for workers in MEASURED
    ]
    rows = [
        [
            f"calls a second with {', '.join(map(str, MEASURED))} workers",
            ", ".join(f"{each.calls_a_second:.0f}" for each in simulated),
            ", ".join(map(str, MEASURED.values())),
        ]
    ]
    for wait in MEASURED_WAITS:
        setting = replace(machine, workers=1, at_once=wait.at_once, call_seconds=wait.call_seconds)
        alone = Simulation(setting).one_after_the_other(_BEFORE_THE_BATCH).median
        beside = Simulation(setting, batch=_A_LONG_BATCH).one_after_the_other(_BEFORE_THE_BATCH).median
        rows.append(
            [
                f"wait alone, beside a batch: {wait.at_once} calls of {wait.call_seconds:g} s at once",
                f"{alone:.1f} s, {beside:.1f} s: ratio {beside / alone:.2f}",
                f"{wait.alone} s, {wait.beside:.1f} s: ratio {wait.ratio:.2f}",
            ]
        )
    return rows


def waits(hour: Hour) -> str:
    """How long people wait."""
    return f"{hour.median:.1f} s; {hour.longest_but_5_percent:.1f} s"


def markdown(head: Sequence[str], rows: Rows) -> str:
    """A table as on the pages."""
    lines = [[*head], ["---"] * len(head), *rows]
    return (
        "\n".join(f"| {' | '.join(line)} |" for line in lines)
        .replace("|  |", "| |")
        .replace("| --- |", "|---|")
        .replace(" --- |", "---|")
    )


def size(number: float) -> str:
    """Bytes with two digits."""
    for unit, factor in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if number >= 0.995 * factor:
            return f"{digits(number / factor)} {unit}"
    return f"{digits(number / 1e3)} kB"


def digits(number: float) -> str:
    """A number with two digits, without an exponent."""
    rounded = float(f"{number:.2g}")
    return f"{rounded:.0f}" if rounded >= 10 else f"{rounded:g}"


def _example(setting: Setting) -> dict[str, str]:
    filled = plan.planned(setting)
    hour = Simulation(filled).hour(MOST_QUESTIONS)
    return {**needs(filled), "a person waits, simulated: median; 95 % wait no longer": waits(hour)}


def _at(limit: plan.Limit) -> str:
    return f"{limit.part} at {digits(1 / limit.load)}"
