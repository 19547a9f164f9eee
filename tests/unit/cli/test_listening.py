"""Addresses that cannot be opened, and those that others can reach."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer

from pgclarify.cli import listening
from pgclarify.cli.doctor.check import Level
from pgclarify.cli.doctor.server import check_listening
from pgclarify.config import Settings
from pgclarify.embedded import Address


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
