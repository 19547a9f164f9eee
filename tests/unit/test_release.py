"""The files of a release."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from pgclarify import embedded
from pgclarify.install.create_extension.files import extension_files
from tests.pages import CHECKOUT
from website import release

CHANGELOG = (
    "# Changelog\n\n## 0.3.0 (1 March 2027)\n\nA function.\n\n### What breaks\n\n- Nothing.\n\n## 0.2.0\n\nThe first.\n"
)


@pytest.mark.parametrize("changelog", [CHANGELOG, "## 0.4.0 (unreleased)\n\nMore.\n"])
def test_a_version_that_the_changelog_does_not_release_is_refused(changelog: str) -> None:
    with pytest.raises(ValueError, match=r"0\.4\.0"):
        release.notes(changelog, "0.4.0")


def test_the_readme_has_the_date_of_the_latest_release() -> None:
    released = re.search(r"^## (\S+) \((\d+ \w+ \d+)\)$", (CHECKOUT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert released
    readme = " ".join((CHECKOUT / "README.md").read_text("utf-8").split())
    assert f"{released[1]}, {released[2]} ([changelog](CHANGELOG.md))" in readme


def test_the_archive_of_the_dbt_package_has_its_folder(tmp_path: Path) -> None:
    release.write(tmp_path, "0.3.0")
    with tarfile.open(tmp_path / "pgclarify-dbt-0.3.0.tar.gz") as archive:
        names = archive.getnames()
    assert "pgclarify/dbt_project.yml" in names
    assert names[0] == "pgclarify", "without an entry for the folder, dbt looks for a folder of another name"
    assert {name.partition("/")[0] for name in names} == {"pgclarify"}


def test_the_archive_for_pgxn_has_its_metadata_and_installs_where_a_server_looks(tmp_path: Path) -> None:
    release.write(tmp_path, "0.4.0")
    shutil.unpack_archive(tmp_path / "pgclarify-0.4.0.zip", tmp_path)
    folder = tmp_path / "pgclarify-0.4.0"
    metadata = json.loads((folder / "META.json").read_text())
    # What the specification demands.
    assert {"name", "version", "abstract", "maintainer", "license", "provides", "meta-spec"} <= metadata.keys()
    assert metadata["version"] == "0.4.0"
    for extension in metadata["provides"].values():
        assert (folder / extension["file"]).exists()
        assert (folder / extension["docfile"]).exists()

    pg_config = embedded.binary("pg_config")
    install = ["make", "-s", "-C", str(folder), "install", f"PG_CONFIG={pg_config}", f"DESTDIR={tmp_path / 'root'}"]
    subprocess.run(install, check=True)

    there = {path.name for path in (tmp_path / "root").rglob("*") if path.is_file()}
    assert there == extension_files().keys()


def test_checksums_are_those_of_the_packages(tmp_path: Path) -> None:
    for name in ("a.whl", "b.zip", "notes.md"):
        (tmp_path / name).write_text(name)
    release.write_checksums(tmp_path)

    done = subprocess.run(["sha256sum", "--check", "SHA256SUMS"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stdout.split() == ["a.whl:", "OK", "b.zip:", "OK"]
