"""`python -m benchmarks.guards`."""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import os
import queue
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from pathlib import Path

from benchmarks import guards
from benchmarks.guards import table, trial
from benchmarks.guards.table import Guard
from benchmarks.guards.trial import Result

_ROOT = Path(__file__).parents[2]


def main() -> bool:
    """Break the requested guards; return whether tests noticed each break."""
    parser = argparse.ArgumentParser(description=guards.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="only guards with this in their ids")
    parser.add_argument("--again", action="store_true", help="also guards that have a result")
    parser.add_argument("--list", action="store_true", help="list the guards, and break nothing")
    parser.add_argument("--jobs", type=int, default=2, help="how many guards at once")
    parser.add_argument("--nice", type=int, default=5, help="niceness: other processes go first")
    parser.add_argument("--table", type=Path, nargs="+", default=sorted(table.HERE.glob("*.toml")), help="TOML files")
    parser.add_argument("--tree", type=Path, default=_ROOT, help="the checkout to copy")
    parser.add_argument(
        "--results", type=Path, default=table.HERE / "results.jsonl", help="JSON lines of results, read and written"
    )
    given = parser.parse_args()
    os.nice(given.nice)
    chosen = table.read(given.table, given.only)
    if given.list:
        for guard in chosen:
            print(f"{guard.id}: {guard.protects}")
        return True
    results = _read(given.results)
    due = [guard for guard in chosen if given.again or not _is_done(guard, results.get(guard.id))]
    with ExitStack() as stack:
        trees: queue.SimpleQueue[Path] = queue.SimpleQueue()
        for _ in range(min(given.jobs, len(due))):
            trees.put(stack.enter_context(trial.copied(given.tree)))

        def attempt(guard: Guard) -> Result:
            tree = trees.get()
            try:
                before = results.get(guard.id)
                hint = before.noticed_by if before and before.outcome == "noticed" else ""
                return dataclasses.replace(trial.try_guard(guard, given.tree, tree, hint), row=_fingerprint(guard))
            finally:
                trees.put(tree)

        with ThreadPoolExecutor(max(given.jobs, 1)) as pool:
            for done in as_completed([pool.submit(attempt, guard) for guard in due]):
                result = done.result()
                print(f"{result.outcome}: {result.id} ({result.seconds:.0f} s) {result.noticed_by} {result.detail}")
                results[result.id] = result
                _write(given.results, results)
        fresh = [results[guard.id] for guard in due if results[guard.id].outcome == "noticed"]
        if fresh:
            # A test that fails without a break shows nothing.
            failing = trial.failing_without(trees.get(), sorted({result.noticed_by for result in fresh}))
            for result in fresh:
                if result.noticed_by in failing:
                    results[result.id] = dataclasses.replace(result, outcome="fails without the break")
                    print(f"fails without the break: {result.noticed_by}")
            _write(given.results, results)
    outcomes = [results[guard.id].outcome for guard in chosen]
    print(f"{len(chosen)} guards, " + ", ".join(f"{count} {outcome}" for outcome, count in Counter(outcomes).items()))
    for guard in chosen:
        if results[guard.id].outcome != "noticed":
            print(f"{results[guard.id].outcome}: {guard.id} {results[guard.id].detail}")
    return set(outcomes) <= {"noticed"}


def _is_done(guard: Guard, result: Result | None) -> bool:
    return result is not None and result.outcome == "noticed" and result.row == _fingerprint(guard)


def _fingerprint(guard: Guard) -> str:
    return hashlib.sha256(repr((guard.file, guard.text, guard.broken, guard.tests)).encode()).hexdigest()[:12]


def _read(path: Path) -> dict[str, Result]:
    if not path.exists():
        return {}
    return {row["id"]: Result(**row) for row in map(json.loads, path.read_text(encoding="utf-8").splitlines())}


def _write(path: Path, results: dict[str, Result]) -> None:
    lines = [json.dumps(dataclasses.asdict(results[name]), ensure_ascii=False) for name in sorted(results)]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(not main())
