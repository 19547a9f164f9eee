"""`python -m benchmarks.faults`."""

from __future__ import annotations

import argparse
import os
import sys

from benchmarks import faults
from benchmarks.faults import kills, notifications, partition, soak, table

parser = argparse.ArgumentParser(description=faults.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--nice", type=int, default=10, help="niceness: other processes go first")
commands = parser.add_subparsers(dest="command", required=True)
one = commands.add_parser("table")
one.add_argument("--runs", type=int, default=200, help="how many runs each fault gets")
one.add_argument("--only", default="", help="faults whose names contain this")
one.add_argument("--bound", type=float, default=table.BOUND_SECONDS, help="seconds until an unfinished run is given up")
two = commands.add_parser("kills")
two.add_argument("--kills", type=int, default=kills.KILLS, help="how many kills")
two.add_argument("--life", type=float, default=kills.MOST_LIFE_SECONDS, help="longest life of a worker, in seconds")
three = commands.add_parser("partition")
three.add_argument("--bound", type=float, default=partition.BOUND_SECONDS, help="seconds to wait for the takeover")
four = commands.add_parser("soak")
four.add_argument("--hours", type=float, default=soak.HOURS, help="hours of load")
five = commands.add_parser("notifications")
five.add_argument("--runs", type=int, default=notifications.RUNS, help="how many runs are submitted")
given = parser.parse_args()
# Workers and the server inherit it.
os.nice(given.nice)
match given.command:
    case "table":
        table.measure(given.runs, given.only, given.bound)
    case "kills":
        sys.exit(not kills.measure(given.kills, given.life))
    case "partition":
        sys.exit(not partition.measure(given.bound))
    case "soak":
        sys.exit(not soak.measure(given.hours))
    case "notifications":
        sys.exit(not notifications.measure(given.runs))
