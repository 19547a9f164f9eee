"""Random data are the same in each run, a slow machine does not fail tests, and none waits long for a reply."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

from pgclarify.ledger import completions

settings.register_profile(
    "no chance", deadline=None, derandomize=True, max_examples=40, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("quick", settings.get_profile("no chance"), max_examples=10)
settings.load_profile("no chance")


@pytest.fixture(autouse=True)
def quick_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look often for replies that other runs are paying for."""
    monkeypatch.setattr(completions, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(completions, "LONGEST_PAUSE", 0.002)
