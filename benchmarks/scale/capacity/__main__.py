"""`python -m benchmarks.scale.capacity`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import fields
from statistics import median

from rich.console import Console
from rich.table import Table

from benchmarks.scale import capacity
from benchmarks.scale.capacity import costs, plan, tables
from benchmarks.scale.capacity.plan import Setting
from benchmarks.scale.capacity.simulation import Hour, Simulation

_HELP = {
    "passages": "of the corpus",
    "dimensions": "of the embedding model",
    "questions": "new questions a day; the busiest hour has three times the mean",
    "top_k": "passages that are judged",
    "hours": "of the day in which people ask",
    "call_seconds": "how long the endpoint takes",
    "at_once": "calls that the endpoint takes at once",
    "workers": "each with two cores",
    "cores": "of the server, or of a node",
    "memory": "of the server, or of a node, in GB",
    "nodes": "of a Citus cluster",
    "price_in": "dollars for a million tokens of input",
    "price_out": "dollars for a million tokens of output",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(capacity.__doc__ or "").splitlines()[0])
    for field in fields(Setting):
        if field.name in _HELP:
            default = field.default or None
            parser.add_argument(
                f"--{field.name.replace('_', '-')}",
                type=type(field.default),
                default=field.default,
                help=f"{_HELP[field.name]} ({'as many as the formulas say' if default is None else default})",
            )
    parser.add_argument("--batch", type=int, default=0, help="questions that wait in the queue beside the people")
    parser.add_argument("--seed", type=int, default=0, help="of the moments at which people ask")
    parser.add_argument("--tables", action="store_true", help="print the computed tables of the pages, and end")
    given = vars(parser.parse_args())
    batch, seed, is_tables = given.pop("batch"), given.pop("seed"), given.pop("tables")
    if is_tables:
        _print_tables()
        return
    if min(given["passages"], given["questions"], given["top_k"], given["hours"], given["nodes"]) <= 0:
        parser.error("passages, questions, top-k, hours and nodes must be positive")
    setting = plan.planned(Setting(**given))
    console = Console(width=120)
    console.print(_table("computed", tables.needs(setting)))
    if setting.nodes > 1:
        console.print(_table("of each node", dict(tables.nodes(setting))))
        console.print("Not simulated: the CPU time of a search on coordinator and nodes was not measured.")
        return
    hour = Simulation(setting, batch=batch, seed=seed).hour(tables.MOST_QUESTIONS)
    console.print(_table("simulated, at the peak", _seen(hour, batch)))
    console.print(_advice(setting))


def _seen(hour: Hour, batch: int) -> dict[str, str]:
    seen = {"a person waits: median; 95 % wait no longer": tables.waits(hour)}
    if hour.batch_waits:
        seen["the queue on disk"] = tables.size(batch * costs.QUEUED.value)
        seen["a question of the batch, since a worker took it: median"] = f"{median(hour.batch_waits):.1f} s"
        seen["questions of the batch that were answered"] = (
            f"{len(hour.batch_waits):,} in {hour.batch_seconds / 60:.0f} minutes"
        )
    return seen | {f"load of {part}": f"{load:.0%}" for part, load in hour.loads.items()}


def _advice(setting: Setting) -> str:
    limit = plan.limits(setting)[0]
    used = f"people at the peak use {limit.load:.0%} of it"
    if limit.part == "memory":
        used = f"indexes take {limit.load:.0%} of it, so searches read from disk"
    elif limit.load >= 1:
        used += ", so they wait longer and longer"
    return f"First limit: {limit.part}; {used}. What to do: {plan.WHAT_TO_DO[limit.part]}."


def _table(title: str, rows: Mapping[str, str]) -> Table:
    table = Table(title, "")
    for row in rows.items():
        table.add_row(*row)
    return table


def _print_tables() -> None:
    print(tables.markdown(["", *tables.EXAMPLES], tables.examples()))
    print(
        tables.markdown(
            ["what", f"the archive on {tables.NODES} nodes of {tables.CORES_OF_A_NODE} cores"], tables.node_rows()
        )
    )
    print(tables.markdown(["", "simulated", "measured"], tables.comparison()))


if __name__ == "__main__":
    main()
