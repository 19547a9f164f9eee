"""Writes the files of a release beside the wheels: the dbt package, the extension for PGXN, notes, and checksums.

`make release TAG=v0.2.0` runs it. The version is that of pyproject.toml.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

from pgclarify.install.create_extension.files import extension_files

CHECKOUT = Path(__file__).parents[1]
_DBT_FILES = ("dbt_project.yml", "README.md", "macros", "models")
# PGXN runs `make install`, with the makefiles that a server has for extensions.
_MAKEFILE = """\
EXTENSION = pgclarify
DATA = $(wildcard pgclarify--*.sql)
PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)
"""


def check_tag(tag: str) -> str:
    """Return the version of a tag.

    Raises:
        ValueError: If it is not the version of pyproject.toml.
    """
    version: str = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]["version"]
    if tag != f"v{version}":
        raise ValueError(f"the tag is {tag}, and pyproject.toml has version {version}")
    return version


def notes(changelog: str, version: str) -> str:
    """Return the section of a version.

    Args:
        changelog: The text of CHANGELOG.md.
        version: Such as 0.2.0.

    Raises:
        ValueError: If the version has no section, or one that says unreleased.
    """
    section = re.search(rf"^## {re.escape(version)}( .*)?\n((?:(?!## ).*\n?)*)", changelog, re.M)
    if section is None:
        raise ValueError(f"CHANGELOG.md has no section {version}")
    if "unreleased" in (section[1] or ""):
        raise ValueError(f"CHANGELOG.md calls {version} unreleased")
    return section[2].strip() + "\n"


def with_links(text: str, repository: str | None, tag: str) -> str:
    """Make links to pages absolute: on the page of a release, relative ones lead nowhere.

    Args:
        text: The notes.
        repository: Owner and name on GitHub; None leaves the links as they are.
        tag: The version of the pages.
    """
    return (
        text if repository is None else text.replace("](docs/", f"](https://github.com/{repository}/blob/{tag}/docs/")
    )


def pgxn_metadata(version: str) -> dict[str, object]:
    """Return META.json of the extension, as https://pgxn.org/spec/ demands."""
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
    return {
        "name": "pgclarify",
        "version": version,
        "abstract": project["description"],
        "description": "Its workers are a Python program: pip install 'pgclarify[worker]'.",
        "maintainer": "The pgclarify authors",
        "license": "apache_2_0",
        "prereqs": {"runtime": {"requires": {"PostgreSQL": "16.0.0", "vector": "0.8.0", "dblink": 0}}},
        "provides": {
            "pgclarify": {"file": f"pgclarify--{version}.sql", "docfile": "README.md", "version": version},
        },
        "tags": ["question answering", "retrieval", "ambiguity", "rag", "llm"],
        "meta-spec": {"version": "1.0.0", "url": "https://pgxn.org/meta/spec.txt"},
    }


def write(folder: Path, version: str) -> None:
    """Write the archives of the dbt package and of the extension."""
    with tarfile.open(folder / f"pgclarify-dbt-{version}.tar.gz", "w:gz") as archive:
        # dbt takes what the names in the archive have in common for the folder's name, so the folder is an entry, too.
        archive.add(CHECKOUT / "dbt", "pgclarify", recursive=False)
        for name in _DBT_FILES:
            archive.add(CHECKOUT / "dbt" / name, f"pgclarify/{name}")
    files = extension_files() | {
        "META.json": json.dumps(pgxn_metadata(version), indent=2) + "\n",
        "Makefile": _MAKEFILE,
        "README.md": (CHECKOUT / "docs" / "extension.md").read_text(),
        "LICENSE": (CHECKOUT / "LICENSE").read_text(),
    }
    with zipfile.ZipFile(folder / f"pgclarify-{version}.zip", "w", zipfile.ZIP_DEFLATED) as distribution:
        for name, text in files.items():
            distribution.writestr(f"pgclarify-{version}/{name}", text)


def write_checksums(folder: Path) -> None:
    """Write SHA256SUMS, which `sha256sum --check` reads, of all packages in a folder."""
    packages = sorted(path for path in folder.iterdir() if path.suffix in {".whl", ".gz", ".zip"})
    sums = (f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in packages)
    (folder / "SHA256SUMS").write_text("".join(sums))


def main() -> None:
    """Write all of them into a folder: FOLDER TAG.

    In a workflow of GitHub, links of the notes lead to its repository.
    """
    folder, tag = Path(sys.argv[1]), sys.argv[2]
    try:
        version = check_tag(tag)
        text = notes((CHECKOUT / "CHANGELOG.md").read_text(), version)
    except ValueError as error:
        sys.exit(f"error: {error}")
    (folder / "notes.md").write_text(with_links(text, os.environ.get("GITHUB_REPOSITORY"), tag))
    write(folder, version)
    write_checksums(folder)


if __name__ == "__main__":
    main()
