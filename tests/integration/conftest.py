"""Fixtures of tests that need a worker, or play one by hand."""

from tests.integration.attaching import alice, bob
from tests.integration.by_hand import hire
from tests.workers import asker, model, own_model, run_worker, service, superuser

__all__ = [
    "alice",
    "asker",
    "bob",
    "hire",
    "model",
    "own_model",
    "run_worker",
    "service",
    "superuser",
]
