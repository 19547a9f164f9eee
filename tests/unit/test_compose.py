"""The containers agree with the settings, the command line and each other."""

from __future__ import annotations

import fnmatch
import re
import tomllib
from typing import Any

import pytest

from tests.pages import CHECKOUT
from tests.unit.compose import SERVICES, dockerfile, variables
from tests.unit.test_docs import VARIABLES

# The HTTP clients of the worker read them, as docs/endpoints.md says, and the libraries of the Hugging Face hub and of
# OpenTelemetry.
CLIENT_VARIABLES = {
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "OPENAI_CUSTOM_HEADERS",
    "OPENAI_ORG_ID",
    "OPENAI_PROJECT_ID",
    "HF_HUB_OFFLINE",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_HEADERS",
    "OTEL_RESOURCE_ATTRIBUTES",
}


OURS = ["init", "worker"]
PROJECT: dict[str, Any] = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())


def test_every_setting_is_handed_on() -> None:
    handed_on = {name for service in ("init", "worker") for name, value in variables(service).items() if value is None}
    # init and worker start no server, so they need no data directory, and they create no login.
    no_need = {"PGCLARIFY_DATABASE_URL", "PGCLARIFY_DATA_DIR"}
    assert handed_on == (VARIABLES.keys() | CLIENT_VARIABLES) - no_need


def test_nobody_gets_in_without_a_password() -> None:
    environment = variables("database")
    assert environment["POSTGRES_HOST_AUTH_METHOD"] == "scram-sha-256"
    assert environment["POSTGRES_INITDB_ARGS"] == "--auth=scram-sha-256"
    secrets = [environment["POSTGRES_PASSWORD"], *(variables(service)["PGPASSWORD"] for service in OURS)]
    for secret in secrets:
        # Compose refuses to start without it.
        assert secret is not None
        assert re.fullmatch(r"\$\{POSTGRES_PASSWORD:\?[^}]+\}", secret)
    for service in OURS:
        url = variables(service)["PGCLARIFY_DATABASE_URL"]
        assert url == f"postgresql://postgres@database/{environment['POSTGRES_DB']}"


@pytest.mark.parametrize("service", SERVICES)
def test_ports_are_open_to_this_machine_only(service: str) -> None:
    assert all(port.startswith("127.0.0.1:") for port in SERVICES[service].get("ports", []))


def test_the_image_has_all_that_the_package_is_built_from() -> None:
    instructions = dockerfile()
    install = [place for place, instruction in enumerate(instructions) if instruction.value.endswith("--no-deps .")]
    assert len(install) == 1
    copied = {
        source
        for instruction in instructions[: install[0]]
        if instruction.name == "COPY"
        for source in instruction.words[:-1]
    }
    wheel = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = {
        "pyproject.toml",
        PROJECT["project"]["readme"],
        *PROJECT["project"]["license-files"],
        *wheel["packages"],
        *(source.partition("/")[0] for source in wheel["force-include"]),
    }
    assert needed <= copied
    assert all((CHECKOUT / source).exists() for source in copied)
    assert copied == sent_to_the_builder()


def sent_to_the_builder() -> set[str]:
    """Whether .dockerignore lets a file through: the last line that matches decides."""
    rules = [line for line in (CHECKOUT / ".dockerignore").read_text().splitlines() if line and line[0] != "#"]
    sent = set()
    for path in [*CHECKOUT.iterdir(), CHECKOUT / ".env"]:
        fitting = [rule for rule in rules if fnmatch.fnmatch(path.name, rule.lstrip("!"))]
        if not fitting or fitting[-1].startswith("!"):
            sent.add(path.name)
    return sent
