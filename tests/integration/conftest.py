"""Fixtures of tests that need a worker."""

from tests.workers import asker, model, own_model, private_server, run_worker, service, superuser

__all__ = ["asker", "model", "own_model", "private_server", "run_worker", "service", "superuser"]
