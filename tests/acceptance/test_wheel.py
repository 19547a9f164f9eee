"""The wheel has the migrations, the SQL, the demo's documents, the templates of reports and the trained models."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from pathlib import Path

from pgclarify.install.create_extension.files import extension_files
from tests.acceptance.conftest import House, write_files

CHECKOUT = Path(__file__).parents[2]
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "-q")


# Packages that `pip install pgclarify` without extras does not install.
OF_EXTRAS = (
    "aiohttp",
    "alembic",
    "hdbscan",
    "jinja2",
    "markupsafe",
    "numpy",
    "onnxruntime",
    "pgclarify_minilm",
    "pgvector",
    "semantic_text_splitter",
    "sentence_transformers",
    "sqlalchemy",
    "tokenizers",
    "torch",
)

# None in sys.modules would hide them too, but drivers ask sys.modules whether numpy is loaded.
WITHOUT_EXTRAS = f"""
import sys

class Absent:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name in {OF_EXTRAS!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent)
"""


def run(*command: str | Path) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=True, timeout=600)
    return done.stdout.strip()


def environment_with(wheel: Path, folder: Path) -> Path:
    """An environment with the wheel. It uses the dependencies of our environment, which are two gigabytes."""
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    packages = Path(run(folder / "bin" / "python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"))
    # Paths in a .pth file come last. Python does not read .pth files there, like that of our editable install.
    (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib"))
    run(*PIP, "--python", folder / "bin" / "python", "install", "--no-deps", "--no-index", wheel)
    assert Path(
        run(folder / "bin" / "python", "-I", "-c", "import pgclarify; print(pgclarify.__file__)")
    ).is_relative_to(packages)
    return packages


def test_the_wheel_works_away_from_the_checkout(empty_house: House, tmp_path: Path) -> None:
    run(*PIP, "wheel", CHECKOUT, "--no-deps", "--no-build-isolation", "--no-index", "-w", tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    packages = environment_with(wheel, empty_house.folder / "environment")
    house = House(empty_house.folder, program=(str(empty_house.folder / "environment" / "bin" / "pgclarify"),))

    house.done("init")
    write_files(house.folder / "files")
    house.done("up", "--detach")
    house.done("load", "fees", "files/policies")
    lines = house.done("ask", "what is the refueling fee", "--json").splitlines()

    assert any("ninety dollars" in json.loads(line)["citations"][0]["quote"] for line in lines)
    check_what_the_core_can_do(house)
    house.done("down")
    assert house.run("corpus", "list").returncode == 1
    sql, installed = CHECKOUT / "sql", packages / "pgclarify" / "_sql"
    assert {path.relative_to(sql) for path in sql.rglob("*.*")} == {
        path.relative_to(installed) for path in installed.rglob("*.*")
    }
    house.done("install-extension", "--directory", "extension")
    assert {path.name: path.read_text() for path in (house.folder / "extension").iterdir()} == extension_files()
    # The dbt package, as dbt deps installs it.
    shipped = Path(run(house.folder / "environment" / "bin" / "python", "-I", "-m", "pgclarify.install.shipped"))
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


def check_what_the_core_can_do(house: House) -> None:
    """Ask without the packages of the extras. Commands that need them name the extra."""
    core = house.folder / "core"
    core.mkdir()
    (core / "sitecustomize.py").write_text(WITHOUT_EXTRAS)
    # The command line may look for the server's package, so that one stays.
    without = {"PYTHONPATH": str(core)}
    assert "ninety dollars" in house.done("ask", "what is the refueling fee", **without)
    for command in (("explain", "1"), ("doctor",), ("corpus", "list"), ("estimate", "fee")):
        house.done(*command, **without)
    refused = house.run("worker", **without)
    assert refused.returncode == 1
    assert "pgclarify[worker]" in refused.stderr
    assert "Traceback" not in refused.stderr
