"""The containers agree with the settings, the command line and each other."""

from __future__ import annotations

import fnmatch
import re
import tomllib
from typing import Any

import pytest

from pgclarify.cli.main import all_commands
from pgclarify.install.extensions import OLDEST_MAJOR
from tests.pages import CHECKOUT
from tests.unit.compose import COMPOSE, SERVICES, dockerfile, variables
from tests.unit.test_docs import VARIABLES

# The image of PostgreSQL reads these when it makes a cluster.
IMAGE_VARIABLES = {"POSTGRES_DB", "POSTGRES_PASSWORD", "POSTGRES_HOST_AUTH_METHOD", "POSTGRES_INITDB_ARGS"}
# libpq reads it if a connection string has no password.
LIBPQ_VARIABLES = {"PGPASSWORD"}
# The HTTP clients of the worker read them, as docs/endpoints.md says, and the library of the Hugging Face hub.
CLIENT_VARIABLES = {
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "OPENAI_CUSTOM_HEADERS",
    "OPENAI_ORG_ID",
    "OPENAI_PROJECT_ID",
    "HF_HUB_OFFLINE",
}
# The build of the image reads them, and so do pip and the shell.
BUILD_VARIABLES = {"EXTRAS", "PATH", "PIP_EXTRA_INDEX_URL"}
OURS = ["init", "worker"]
PROJECT: dict[str, Any] = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())


def command_names() -> set[str]:
    return set(all_commands().commands)


def test_variables_are_known() -> None:
    assert variables("database").keys() <= IMAGE_VARIABLES
    for service in OURS:
        assert variables(service).keys() <= VARIABLES.keys() | LIBPQ_VARIABLES | CLIENT_VARIABLES
    interpolated = set(re.findall(r"(?<!\$)\$\{?(\w+)", (CHECKOUT / "docker-compose.yml").read_text()))
    assert interpolated <= VARIABLES.keys() | IMAGE_VARIABLES
    set_there = [instruction.words[0] for instruction in dockerfile() if instruction.name in {"ARG", "ENV"}]
    arguments = {assignment.partition("=")[0] for assignment in set_there}
    assert arguments <= VARIABLES.keys() | BUILD_VARIABLES


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


def test_the_server_is_of_a_version_that_tests_run_on() -> None:
    tested = {"16", "18"}
    image, _, version = SERVICES["database"]["image"].partition(":pg")
    assert image == "pgvector/pgvector"
    assert version in tested
    assert str(OLDEST_MAJOR) == min(tested)
    # The image of 18 refuses to start with a volume at the folder of earlier versions.
    assert SERVICES["database"]["volumes"] == ["database:/var/lib/postgresql"]
    assert "all tests run on 18; on 16" in (CHECKOUT / "docs/limits.md").read_text()
    assert "tests run on 18, and some on 16" in (CHECKOUT / "docs/managed-services.md").read_text()


@pytest.mark.parametrize("service", SERVICES)
def test_ports_are_open_to_this_machine_only(service: str) -> None:
    assert all(port.startswith("127.0.0.1:") for port in SERVICES[service].get("ports", []))


def test_services_run_known_commands_and_wait_for_the_database() -> None:
    for service in OURS:
        assert SERVICES[service]["command"][0] in command_names()
        assert SERVICES[service]["build"] == "."
        assert SERVICES[service]["depends_on"]["database"] == {"condition": "service_healthy"}
    assert SERVICES["worker"]["depends_on"]["init"] == {"condition": "service_completed_successfully"}
    assert SERVICES["worker"]["restart"] == "unless-stopped"
    assert SERVICES["database"]["healthcheck"]["test"][1] == "pg_isready"
    mounted = {volume.partition(":")[0] for volume in SERVICES["database"]["volumes"]}
    assert mounted == COMPOSE["volumes"].keys()


def test_the_image_runs_the_command_line_as_an_ordinary_user() -> None:
    instructions = dockerfile()
    last = {instruction.name: instruction for instruction in instructions}
    assert [line.value for line in instructions if line.name == "FROM"] == [
        "python:3.11-slim AS build",
        "python:3.11-slim",
    ]
    assert last["ENTRYPOINT"].words == [*PROJECT["project"]["scripts"]]
    assert set(last["CMD"].words) <= command_names()
    user = last["USER"].value
    made = [instruction for instruction in instructions if "useradd" in instruction.value]
    assert len(made) == 1
    assert f"--uid {user} " in made[0].value
    assert int(user) > 0


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
