"""Loads dbt once, and forks for each invocation, because its imports take longer than most invocations.

The Python of dbt's own environment runs this, so it imports nothing of ours. Each line of its input is a request: an
invocation, which it answers with the process id; or such a process id, which it answers with the exit code.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from typing import Any


def main() -> None:
    """Serve requests until the input ends."""
    # Only dbt's own environment has this module.
    cli = import_module("dbt.cli.main").cli

    for line in sys.stdin:
        request = json.loads(line)
        if "process_id" in request:
            _, status = os.waitpid(request["process_id"], 0)
            print(os.waitstatus_to_exitcode(status), flush=True)
            continue
        child = os.fork()
        if not child:
            invoke(cli, request)
        print(child, flush=True)


def invoke(cli: Any, request: dict[str, Any]) -> None:
    """Invoke dbt in this process, and end the process."""
    os.chdir(request["folder"])
    os.environ.update(request["variables"])
    with open(os.devnull) as nothing, open(request["log"], "w") as log:  # noqa: PTH123
        os.dup2(nothing.fileno(), 0)
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    code = 1
    try:
        cli(request["arguments"], prog_name="dbt")
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
