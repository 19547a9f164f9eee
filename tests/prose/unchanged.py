"""Shows that commits changed prose alone: `python -m tests.prose.unchanged BASE`.

For each commit after BASE, and for the working tree, each file of Python or SQL is compared with the one before.
Comments, docstrings, messages, help, log lines and COMMENT ON are left out of the comparison; of pgclarify/prompts,
only comments and docstrings are. Other files that changed are named, and not compared. The exit status is 1 if
anything else changed.
"""

from __future__ import annotations

import argparse
import difflib
import itertools
import subprocess
import sys
from pathlib import Path, PurePath

from tests.prose.texts import texts

ROOT = Path(__file__).parents[2]


def difference(path: str, before: str, after: str) -> list[str]:
    """What changed in a file besides its prose, as lines of a unified diff; empty if nothing did."""
    old, new = (texts(path, content).rest.splitlines() for content in (before, after))
    return list(difflib.unified_diff(old, new, path, path, lineterm="", n=1))


def main() -> int:
    """Compare commits, and write what else changed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base", help="the commit before the first one that is compared")
    base = parser.parse_args().base
    # None: the working tree.
    commits = [base, *_git("rev-list", "--reverse", f"{base}..HEAD").split(), None]
    is_prose = True
    for old, new in itertools.pairwise(commits):
        title = _git("log", "-1", "--format=%h %s", new).strip() if new else "the working tree"
        changes = [
            line.split("\t")
            for line in _git("diff", "--name-status", "--no-renames", *filter(None, (old, new))).splitlines()
        ]
        compared = [path for kind, path in changes if kind == "M" and PurePath(path).suffix in (".py", ".sql")]
        others = [path for _, path in changes if path not in compared]
        lines = [line for path in compared for line in difference(path, _content(old, path), _content(new, path))]
        print(f"{title}: {len(compared)} files, {'MORE THAN PROSE' if lines else 'prose alone'}", *lines, sep="\n")
        print(*(f"  not compared: {path}" for path in others), sep="\n")
        is_prose = is_prose and not lines
    return 0 if is_prose else 1


def _content(commit: str | None, path: str) -> str:
    return _git("show", f"{commit}:{path}") if commit else (ROOT / path).read_text(encoding="utf-8")


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    sys.exit(main())
