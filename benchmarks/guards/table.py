"""The guards, as listed in the TOML files in this folder."""

from __future__ import annotations

import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Guard:
    """One guard and how to break it.

    Attributes:
        id: Its name in results.
        protects: One sentence: what goes wrong without the guard.
        file: The file to break, from the root of the repository.
        text: The text that the break replaces. It occurs exactly once in the file.
        broken: The replacement.
        tests: Test files or tests. At least one must fail.
    """

    id: str
    protects: str
    file: str
    text: str
    broken: str
    tests: tuple[str, ...]

    def apply(self, tree: Path) -> str | None:
        """Break the guard in a copy of the repository. If this is impossible, return the reason."""
        path = tree / self.file
        if not path.exists():
            return f"{self.file} is not there"
        content = path.read_text(encoding="utf-8")
        if (occurrences := content.count(self.text)) != 1:
            return f"its text occurs {occurrences} times in {self.file}"
        if missing := [test for test in self.tests if not (tree / test.partition("::")[0]).exists()]:
            return f"{', '.join(missing)} is not there"
        path.write_text(content.replace(self.text, self.broken), encoding="utf-8")
        return None


def read(paths: list[Path], only: str) -> list[Guard]:
    """Read the guards that have a text in their ids.

    Raises:
        ValueError: If two guards have the same id.
    """
    rows = [row for path in paths for row in tomllib.loads(path.read_text(encoding="utf-8"))["guard"]]
    if repeated := [name for name, times in Counter(row["id"] for row in rows).items() if times > 1]:
        raise ValueError(f"two guards have the id {repeated[0]}")
    return [Guard(**row | {"tests": tuple(row["tests"])}) for row in rows if only in row["id"]]
