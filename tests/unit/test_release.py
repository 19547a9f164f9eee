"""The files of a release."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from website import release

CHANGELOG = (
    "# Changelog\n\n## 0.3.0 (1 March 2027)\n\nA function.\n\n### What breaks\n\n- Nothing.\n\n## 0.2.0\n\nThe first.\n"
)


@pytest.mark.parametrize("changelog", [CHANGELOG, "## 0.4.0 (unreleased)\n\nMore.\n"])
def test_a_version_that_the_changelog_does_not_release_is_refused(changelog: str) -> None:
    with pytest.raises(ValueError, match=r"0\.4\.0"):
        release.notes(changelog, "0.4.0")


def test_the_archives_have_the_dbt_package_and_the_extension(tmp_path: Path) -> None:
    release.write(tmp_path, "0.3.0")
    with tarfile.open(tmp_path / "pgclarify-dbt-0.3.0.tar.gz") as archive:
        names = archive.getnames()
    assert "pgclarify/dbt_project.yml" in names
    assert names[0] == "pgclarify", "without an entry for the folder, dbt looks for a folder of another name"
    assert {name.partition("/")[0] for name in names} == {"pgclarify"}
    with tarfile.open(tmp_path / "pgclarify-extension-0.3.0.tar.gz") as archive:
        assert "extension/pgclarify.control" in archive.getnames()
