"""Each name in tests/not_on_a_cluster.toml is the name of a test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cluster import SKIPPED

INTEGRATION = Path(__file__).parents[1] / "integration"


@pytest.mark.parametrize("pattern", SKIPPED)
def test_the_test_exists(pattern: str) -> None:
    file, *names = pattern.split("::")
    text = (INTEGRATION / file).read_text()
    for name in names:
        assert name == "*" or f"def {name}(" in text or f"class {name}" in text, name
