"""The process that serves a GGUF file: python -m pgclarify.worker.model_file_server FILE PORT. It prints its address.

It ends when its standard input ends, so it never outlives the worker.
"""

from __future__ import annotations

import os
import sys

KEY_VARIABLE = "PGCLARIFY_MODEL_FILE_KEY"
"""The environment variable with the key that callers must send."""

SLOTS = 2
"""Calls that the server answers at once."""

# Enough for the longest prompts. It bounds the memory of a call: 28 kB a token for a model of 1.5 billion parameters.
_TOKENS_A_SLOT = 8192
# What all passages of a question share stands first in a prompt. Prompts of earlier questions are kept in this memory.
_CACHE_MEGABYTES = 256


def main() -> None:
    """Serve until standard input ends."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = sys.argv[1]
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = int(sys.argv[2])
    parameters.api_keys = [os.environ[KEY_VARIABLE]]
    parameters.ui = False
    parameters.verbosity = 1
    parameters.n_parallel = SLOTS
    parameters.n_ctx = SLOTS * _TOKENS_A_SLOT
    parameters.cache_ram_mib = _CACHE_MEGABYTES
    # A container may have fewer cores than the machine.
    parameters.cpuparams.n_threads = len(os.sched_getaffinity(0))
    server = xllamacpp.Server(parameters)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()
    # Without waiting for calls in flight, whose worker is gone.
    os._exit(0)


if __name__ == "__main__":
    main()
