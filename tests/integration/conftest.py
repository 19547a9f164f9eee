"""Fixtures of tests that need a worker, or play one."""

from tests.integration.by_hand import hire
from tests.workers import asker, model, own_model, private_service, run_worker, service, superuser

__all__ = ["asker", "hire", "model", "own_model", "private_service", "run_worker", "service", "superuser"]
