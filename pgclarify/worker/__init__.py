"""The worker: a process that carries out runs and makes documents searchable."""

from pgclarify.worker.serving import run_worker

__all__ = ["run_worker"]
