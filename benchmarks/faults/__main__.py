"""`python -m benchmarks.faults`."""

from __future__ import annotations

import argparse
import os
import sys

from benchmarks import faults
from benchmarks.faults import kills, machines, soak, table

parser = argparse.ArgumentParser(description=faults.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--nice", type=int, default=10, help="niceness: other processes go first")
commands = parser.add_subparsers(dest="command", required=True)
one = commands.add_parser("table")
one.add_argument("--runs", type=int, default=200, help="how many runs each fault gets")
one.add_argument("--only", default="", help="faults whose names contain this")
one.add_argument("--bound", type=float, default=table.BOUND_SECONDS, help="seconds until an unfinished run is given up")
two = commands.add_parser("kills")
two.add_argument("--kills", type=int, default=kills.KILLS, help="how many kills")
two.add_argument("--passages-per-call", type=int, default=1, help="passages that a call reads")
commands.add_parser("machines")
three = commands.add_parser("soak")
three.add_argument("--hours", type=float, default=soak.HOURS, help="hours of load")
given = parser.parse_args()
# Workers and the server inherit it.
os.nice(given.nice)
match given.command:
    case "table":
        table.measure(given.runs, given.only, given.bound)
    case "kills":
        sys.exit(not kills.measure(given.kills, given.passages_per_call))
    case "machines":
        sys.exit(not machines.measure())
    case "soak":
        sys.exit(not soak.measure(given.hours))
