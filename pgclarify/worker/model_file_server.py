"""The process that serves a GGUF file: python -m pgclarify.worker.model_file_server FILE SOCKET. It prints its address.

SOCKET is the number of an inherited socket, with which the worker keeps the port.

It ends when its standard input ends, so it never outlives the worker.
"""

from __future__ import annotations

import os
import socket
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

    kept = socket.socket(fileno=int(sys.argv[2]))
    parameters = xllamacpp.CommonParams()
    parameters.model.path = sys.argv[1]
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = kept.getsockname()[1]
    parameters.api_keys = [os.environ[KEY_VARIABLE]]
    parameters.ui = False
    parameters.verbosity = 1
    parameters.n_parallel = SLOTS
    parameters.n_ctx = SLOTS * _TOKENS_A_SLOT
    parameters.cache_ram_mib = _CACHE_MEGABYTES
    # A container may have fewer cores than the machine.
    parameters.cpuparams.n_threads = len(os.sched_getaffinity(0))
    # The server takes the port too. Before and after that, no other process can take it, also if this one crashes.
    kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server = xllamacpp.Server(parameters)
    kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()
    # Without waiting for calls in flight, whose worker is gone.
    os._exit(0)


if __name__ == "__main__":
    main()
