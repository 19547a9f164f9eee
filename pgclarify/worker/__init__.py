"""The worker: a process that carries out runs and makes documents searchable."""

from pgclarify.worker.serving import GRACE_SECONDS, run_worker

__all__ = ["GRACE_SECONDS", "run_worker"]
