"""docker-compose.yml and the Dockerfile, parsed for tests, because there is no engine to run them."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

import yaml

from tests.pages import CHECKOUT

COMPOSE: dict[str, Any] = yaml.safe_load((CHECKOUT / "docker-compose.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]


class Instruction(NamedTuple):
    """One instruction of the Dockerfile."""

    name: str
    value: str

    @property
    def words(self) -> list[str]:
        """Its value as a list: parsed as JSON, or else split at white space."""
        if self.value.startswith("["):
            words: list[str] = json.loads(self.value)
            return words
        return self.value.split()


def dockerfile() -> list[Instruction]:
    """The Dockerfile's instructions, in order."""
    text = re.sub(r"^#.*\n", "", (CHECKOUT / "Dockerfile").read_text(), flags=re.M)
    lines = [line for line in text.replace("\\\n", "").splitlines() if line.strip()]
    return [Instruction(*line.split(maxsplit=1)) for line in lines]


def variables(service: str) -> dict[str, str | None]:
    """The environment of a service. None means that the value comes from the shell."""
    found: dict[str, str | None] = SERVICES[service].get("environment", {})
    return found
