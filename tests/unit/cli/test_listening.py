"""URLs for other roles, and addresses that cannot be opened."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from psycopg.conninfo import conninfo_to_dict

from pgclarify.cli import listening
from pgclarify.cli.doctor.check import Level
from pgclarify.cli.doctor.server import check_listening
from pgclarify.config import Settings
from pgclarify.embedded import Address


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (
            "postgresql://me:open%20sesame@db.example:6432/app?sslmode=require",
            "postgresql://ann@db.example:6432/app?sslmode=require",
        ),
        ("host=db.example user=me password=sesame dbname=app", "postgresql://ann@db.example/app"),
        ("postgresql://me@[::1]:6432/app", "postgresql://ann@[::1]:6432/app"),
        ("postgresql://me@/app?host=/run/sockets", "postgresql://ann@/app?host=%2Frun%2Fsockets"),
        ("postgresql://me@one:1,two:2/app", "postgresql://ann@/app?host=one%2Ctwo&port=1%2C2"),
        (
            "hostaddr=192.0.2.7 port=6432 dbname=app connect_timeout=5 target_session_attrs=primary",
            "postgresql://ann@/app?connect_timeout=5&hostaddr=192.0.2.7&port=6432&target_session_attrs=primary",
        ),
    ],
)
def test_another_roles_url_leads_to_the_same_place(url: str, expected: str) -> None:
    assert listening.url_for(Settings(database_url=url), "ann") == expected
    elsewhere = {name: value for name, value in conninfo_to_dict(url).items() if name != "password"}
    assert conninfo_to_dict(expected) == elsewhere | {"user": "ann"}


def test_another_roles_url_has_nothing_of_ours() -> None:
    ours = ("password", "passfile", "sslpassword", "sslkey", "sslcert", "service", "options", "krbsrvname")
    url = "host=db.example dbname=app sslmode=verify-full sslrootcert=ca.pem " + " ".join(f"{name}=x" for name in ours)
    assert conninfo_to_dict(listening.url_for(Settings(database_url=url), "ann")) == {
        "user": "ann",
        "host": "db.example",
        "dbname": "app",
        "sslmode": "verify-full",
        "sslrootcert": "ca.pem",
    }


@pytest.mark.parametrize("role", ["Ann O'Neil", "a@b:c/d?e", "zoë", "100%"])
def test_a_role_of_any_name_is_what_libpq_reads(role: str) -> None:
    url = listening.url_for(Settings(database_url="postgresql://me:sesame@db.example/some%20app"), role)
    assert conninfo_to_dict(url) == {"user": role, "host": "db.example", "dbname": "some app"}


def test_another_server_is_not_ours_to_open(tmp_path: Path) -> None:
    settings = Settings(database_url="postgresql://db.example/app", data_dir=tmp_path / "data")
    with pytest.raises(typer.BadParameter):
        listening.change(settings, "127.0.0.1:5433")
    assert listening.address_of(settings) is None
    assert not settings.data_dir.exists()


@pytest.mark.parametrize(
    ("address", "level"),
    [(None, Level.OK), ("127.0.0.1:5433", Level.OK), ("[::1]:5433", Level.OK), ("0.0.0.0:5433", Level.WARNING)],
)
def test_an_address_that_others_can_reach_is_a_warning(address: str | None, level: Level) -> None:
    assert check_listening(Address.parse(address) if address else None).level is level
