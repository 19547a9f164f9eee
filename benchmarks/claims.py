"""The time to claim and store calls: without a budget, with a budget, and with a budget and many claimants at once."""

from __future__ import annotations

import argparse
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from threading import Barrier

import psycopg

from tests.integration.by_hand import HandWorker
from tests.integration.spending import budget, claim, enter, price, store

_CALLS = 20


def measure(dsn: str, rounds: int = 200, claimants: int = 64) -> dict[str, float]:
    """Claim and store 20 calls a round.

    Args:
        dsn: A database with the schema, as superuser. The claims stay in it.
        rounds: Rounds of one claimant.
        claimants: Claimants at the same time.

    Returns:
        Median milliseconds of a claim and of a store, by case, and the calls a second of all claimants together.
    """
    with ExitStack() as stack:

        def connect() -> psycopg.Connection[tuple[object, ...]]:
            return stack.enter_context(closing(psycopg.connect(dsn, autocommit=True)))

        connection = connect()
        worker = HandWorker(connect())
        price(connection)
        figures: dict[str, float] = {}
        for case in ("no budget", "one budget", "three budgets"):
            for number in range({"no budget": 0, "one budget": 1, "three budgets": 2}[case]):
                budget(connection, f"{case} {number}", "day", max_cost_usd=1_000_000, max_calls=10**9)
            run_id = enter(connection)
            times: dict[str, list[float]] = {"claim": [], "store": []}
            for number in range(rounds):
                began = time.perf_counter()
                held = claim(worker, run_id, [f"{case} {number} {place}" for place in range(_CALLS)]).ours
                claimed = time.perf_counter()
                store(worker, list(held.values()))
                times["claim"].append(claimed - began)
                times["store"].append(time.perf_counter() - claimed)
            for step, taken in times.items():
                figures[f"{case}, {step}, ms"] = 1000 * statistics.median(taken)
        workers = [HandWorker(connect()) for _ in range(claimants)]
        run_ids = [enter(connection) for _ in workers]
        for case in ("three budgets", "no budget"):
            if case == "no budget":
                connection.execute("delete from pgclarify.budget")
            start = Barrier(claimants + 1)

            def spend(place: int, case: str = case, start: Barrier = start) -> None:
                start.wait()
                for number in range(10):
                    texts = [f"at once {case} {place} {number} {call}" for call in range(_CALLS)]
                    held = list(claim(workers[place], run_ids[place], texts).ours.values())
                    store(workers[place], held)

            with ThreadPoolExecutor(claimants) as pool:
                ended = [pool.submit(spend, place) for place in range(claimants)]
                start.wait()
                began = time.perf_counter()
                for one in ended:
                    one.result()
                figures[f"{claimants} at once, {case}, calls/s"] = (
                    claimants * 10 * _CALLS / (time.perf_counter() - began)
                )
        return figures


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dsn")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--claimants", type=int, default=64)
    arguments = parser.parse_args()
    for name, figure in measure(arguments.dsn, arguments.rounds, arguments.claimants).items():
        print(f"{name:40} {figure:10.2f}")


if __name__ == "__main__":
    main()
