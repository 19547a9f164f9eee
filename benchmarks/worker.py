"""`python -m benchmarks.worker`: `pgclarify worker` without a trial of its model, whose calls would be counted, too."""

from __future__ import annotations

from pgclarify.cli.main import main
from pgclarify.worker import serving

if __name__ == "__main__":
    serving._TRIES_MODELS = False  # as in tests/servers/command.py
    main(["worker"])
