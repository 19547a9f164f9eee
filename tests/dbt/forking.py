"""dbt, loaded once and forked for each invocation: its imports take longer than most of what tests do with it.

Run by the Python of dbt's own environment, so it imports nothing of ours. It reads a request a line from its input: an
invocation, which it answers with the process id, or the id of such a process, which it answers with its exit code.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from typing import Any


def main() -> None:
    """Serve requests until the input ends."""
    # Its environment has it, ours has not.
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
    """Be an invocation of dbt, to the end of this process."""
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
