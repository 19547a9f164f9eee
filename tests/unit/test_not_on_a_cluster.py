"""Each name in tests/servers/not_on_a_cluster.toml is the name of a test."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.servers.cluster import SKIPPED

INTEGRATION = Path(__file__).parents[1] / "integration"


@pytest.mark.parametrize("pattern", SKIPPED)
def test_the_test_exists(pattern: str) -> None:
    file, *names = pattern.split("::")
    text = (INTEGRATION / file).read_text()
    for name in names:
        if name != "*":
            found = re.search(rf"^ *(class|(async )?def) {name}\b", text, re.M)
            assert found, name
            # The test is below its class.
            text = text[found.end() :]
