"""The cost of starting: importing the client, and showing the list of commands."""

from __future__ import annotations

import resource
import subprocess
import sys

from benchmarks.figures import Figure, show, step

_ROUNDS = 10
_PROGRAMS = {
    "driver": "import psycopg, psycopg_pool",
    "client": "import pgclarify.client.blocking",
    "terminal": "import typer.rich_utils",
    "help": "import sys; sys.argv[1:] = ['--help']; from pgclarify.cli.main import main; main()",
}


def measure() -> list[Figure]:
    """CPU seconds of new interpreters, the minimum of some; in turns, so that other load affects all of them."""
    seconds = dict.fromkeys(_PROGRAMS, float("inf"))
    with step("starting interpreters"):
        for _ in range(_ROUNDS):
            for name, program in _PROGRAMS.items():
                seconds[name] = min(seconds[name], _cpu(program))
    return [
        Figure("importing the client, CPU", seconds["client"], "s", aim="<= 0.15"),
        Figure("the same, over the driver alone", seconds["client"] / seconds["driver"], aim="<= 1.5"),
        Figure("pgclarify --help, CPU", seconds["help"], "s", aim="<= 0.3"),
        Figure("the same, over importing what draws it", seconds["help"] / seconds["terminal"], aim="<= 1.5"),
    ]


def _cpu(program: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    show(measure())
