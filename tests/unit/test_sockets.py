"""The folder of the embedded server's socket: which one is taken for our own."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgclarify.embedded import sockets


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    (cluster := tmp_path / "cluster").mkdir()
    return cluster


@pytest.mark.parametrize(("mode", "is_own"), [(0o700, True), (0o755, True), (0o770, False), (0o702, False)])
def test_a_folder_into_which_others_write_is_not_our_own(
    cluster: Path, tmp_path: Path, mode: int, is_own: bool
) -> None:
    (folder := tmp_path / "sockets").mkdir()
    folder.chmod(mode)
    assert sockets.is_own(folder, cluster) is is_own


def test_a_link_is_not_our_own_wherever_it_leads(cluster: Path, tmp_path: Path) -> None:
    (private := tmp_path / "private").mkdir(mode=0o700)
    (link := tmp_path / "sockets").symlink_to(private)
    assert not sockets.is_own(link, cluster)
    assert not sockets.is_own(tmp_path / "missing", cluster)
