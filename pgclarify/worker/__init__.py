"""The worker: a process that carries out runs and makes documents searchable."""

from pgclarify.worker.serving import open_verifier, run_worker

__all__ = ["open_verifier", "run_worker"]
