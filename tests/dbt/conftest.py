"""Fixtures: a dbt project, and the service that it asks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest
from psycopg import sql

from tests.dbt.project import Forks, Project, install, loaded
from tests.workers import Service, asker, model, service, superuser

__all__ = ["asker", "model", "service", "superuser"]


@pytest.fixture(scope="session")
def forks() -> Iterator[Forks]:
    """A process that has loaded dbt."""
    with loaded() as forks:
        yield forks


@pytest.fixture(scope="session")
def integration_project(forks: Forks, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The integration project, with the package in it."""
    return install(forks, tmp_path_factory.mktemp("dbt"), "integration_tests")


@pytest.fixture
def project(service: Service, forks: Forks, integration_project: Path) -> Project:
    """The integration project in a schema of its own, with an empty log of searches that the asker owns."""
    schema = f"searches_{uuid4().hex[:8]}"
    with closing(service.connect()) as superuser:
        superuser.execute(
            sql.SQL("grant create on database {} to {}").format(
                sql.Identifier(superuser.info.dbname), sql.Identifier(service.asker)
            )
        )
    with closing(service.connect(service.asker)) as asker:
        asker.execute(sql.SQL("create schema {}").format(sql.Identifier(schema)))
        asker.execute(
            sql.SQL("create table {} (search_id bigint, query text)").format(sql.Identifier(schema, "search_log"))
        )
    return Project.create(forks, integration_project, service.dsn, service.asker, schema)
