"""The wheel: migrations, SQL and the demo's documents travel inside."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.acceptance.conftest import House, write_files

pytestmark = pytest.mark.acceptance

CHECKOUT = Path(__file__).parents[2]


def test_the_wheel_works_away_from_the_checkout(empty_house: House, tmp_path: Path) -> None:
    build = [sys.executable, "-m", "pip", "wheel", str(CHECKOUT), "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*build, "--disable-pip-version-check", "-q", "-w", str(tmp_path)], check=True, timeout=120)
    (wheel,) = tmp_path.glob("*.whl")
    packages = empty_house.folder / "packages"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    house = House(empty_house.folder, {"PYTHONPATH": str(packages)})
    where = [sys.executable, "-c", "import pgclarify; print(pgclarify.__file__)"]
    found = subprocess.run(
        where, env={"PYTHONPATH": str(packages)}, cwd=packages, capture_output=True, text=True, check=True
    )
    assert Path(found.stdout.strip()).is_relative_to(packages)

    house.done("init")
    write_files(house.folder / "files")
    house.done("up", "--detach")
    house.done("load", "fees", "files/policies")
    lines = house.done("ask", "what is the refueling fee", "--json").splitlines()

    assert any("ninety dollars" in json.loads(line)["citations"][0]["quote"] for line in lines)
    house.done("down")
    assert house.run("status").returncode == 1
    assert {path.name for path in (CHECKOUT / "sql").glob("*.sql")} == {
        path.name for path in (packages / "pgclarify" / "_sql").glob("*.sql")
    }
    assert not list(packages.glob("tests*"))
