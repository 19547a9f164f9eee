"""The steps of the Dockerfile, in a root of Debian, so that no container engine is needed."""

from __future__ import annotations

import fnmatch
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.pages import CHECKOUT
from tests.unit.compose import Instruction, dockerfile

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.geteuid() != 0, reason="only root can change its root")]

# Debian 12 has the Python of the image. No script of a package is run, so files that those would make are made here.
# Every image of Debian has apt, and so the library of C++.
PACKAGES = "apt,base-files,base-passwd,bash,coreutils,dash,grep,hostname,login,passwd,python3-venv"
# What pip needs to reach the index of this machine.
OF_THIS_MACHINE = ("/etc/resolv.conf", "/etc/hosts", "/etc/pip.conf", "/etc/xdg/pip", "/etc/ssl/certs")


class Image:
    """A folder that becomes the root of each step, as a container engine does it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.environment = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"}
        self.environment |= {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
        self.folder, self.user = "/", "0"
        (root / "usr/local/bin").mkdir(parents=True, exist_ok=True)
        (root / "usr/local/bin/python").symlink_to("/usr/bin/python3")
        for name in ("passwd", "group"):
            shutil.copy(root / f"usr/share/base-passwd/{name}.master", root / f"etc/{name}")
        for path in filter(os.path.exists, OF_THIS_MACHINE):
            copy(Path(path), root / path[1:])

    def run(self, command: str) -> str:
        """Run a command line as the user of the image, in its folder."""
        ids = f"--userspec={self.user}:{self.user}"
        there = f'cd {self.folder} && exec /bin/sh -c "$1"'
        done = subprocess.run(
            ["chroot", ids, self.root, "/bin/sh", "-c", there, "sh", command],
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def take(self, step: Instruction, other: Image | None) -> None:
        """Carry out an instruction; files come from another image, or from the checkout as the engine sees it."""
        words = step.words
        match step.name:
            case "RUN":
                self.run(step.value)
            case "ENV":
                name, _, value = step.value.partition("=")
                self.environment[name] = value.replace("$PATH", self.environment["PATH"])
            case "ARG":
                name, _, value = step.value.partition("=")
                self.environment |= {name: value} if value else {}
            case "WORKDIR":
                self.folder = step.value
                (self.root / self.folder[1:]).mkdir(parents=True, exist_ok=True)
            case "USER":
                self.user = step.value
            case "COPY" if other is not None:
                copy(other.root / words[1][1:], self.root / words[2][1:])
            case "COPY":
                for source in words[:-1]:
                    target = self.root / self.folder[1:] / words[-1]
                    copy(CHECKOUT / source, target / source if words[-1].endswith("/") else target)


def copy(source: Path, target: Path) -> None:
    """Copy a file or a folder, without what .dockerignore leaves out."""
    if source.is_dir():
        shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)


@pytest.fixture(scope="module")
def image() -> Iterator[Image]:
    """The last stage of the Dockerfile."""
    with tempfile.TemporaryDirectory(prefix="pgclarify-image-") as folder:
        base = Path(folder, "base")
        make = ("mmdebstrap", "--quiet", "--variant=extract", f"--include={PACKAGES}", "bookworm", base)
        subprocess.run(make, check=True)
        stages: list[Image] = []
        for step in dockerfile():
            if step.name == "FROM":
                assert fnmatch.fnmatch(step.words[0], "python:3.11-slim*")
                root = Path(folder, str(len(stages)))
                # Device files cannot be made everywhere.
                shutil.copytree(
                    base, root, symlinks=True, ignore=lambda place, _: ["dev"] if place == str(base) else []
                )
                for name in ("null", "urandom"):
                    (root / "dev").mkdir(exist_ok=True)
                    (root / "dev" / name).touch(mode=0o666)
                stages.append(Image(root))
                continue
            is_copied = step.words[0].startswith("--from=")
            stages[-1].take(step, stages[0] if is_copied else None)
        yield stages[-1]


def test_the_image_runs_its_command_as_its_user_with_its_model(image: Image) -> None:
    start = [
        word for name in ("ENTRYPOINT", "CMD") for step in dockerfile() if step.name == name for word in step.words
    ]

    assert image.run("id -un").strip() == "pgclarify"
    assert "worker" in image.run(" ".join([*start, "--help"]))
    # The model itself reads /proc, which such a root lacks. This compares its files with the published ones.
    look = 'from pgclarify.embedding.packaged import packaged_model; print(packaged_model("all-MiniLM-L6-v2"))'
    assert image.run(f"python -c '{look}'").startswith("/opt/pgclarify/")
