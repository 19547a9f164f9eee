"""The files that Superset imports are those that the description of the dashboard makes."""

from __future__ import annotations

from dashboards.bundle import FOLDER, files


def test_the_committed_files_are_up_to_date() -> None:
    committed = {
        path.relative_to(FOLDER).as_posix(): path.read_text("utf-8") for path in FOLDER.rglob("*") if path.is_file()
    }
    assert committed == files(), "make reference writes them"
