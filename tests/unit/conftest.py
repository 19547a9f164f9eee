"""Random data are the same in each run, and a slow machine does not fail tests."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("no chance", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", settings.get_profile("no chance"), max_examples=10)
settings.load_profile("no chance")
