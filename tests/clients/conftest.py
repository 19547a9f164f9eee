"""Fixtures of tests of clients."""

from tests.clients.serving import service
from tests.workers import asker, model, superuser

__all__ = ["asker", "model", "service", "superuser"]
