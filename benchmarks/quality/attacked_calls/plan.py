"""Writes the prompts of the attacked calls, for `benchmarks.quality.large_model.recorder`.

python -m benchmarks.quality.attacked_calls.plan FOLDER

The prompts are in two batches, none of which has two prompts of one question: the calls about all passages, and the
calls about the attacked passage alone.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path
from typing import Final

from benchmarks.quality.attacked_calls.attacks import read_attacks
from benchmarks.quality.large_model.recorder import prompt_row

_SEED: Final = 94


def main() -> None:
    """Read the command line, and write the batches."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True)
    attacks = [*read_attacks()]
    random.Random(_SEED).shuffle(attacks)  # noqa: S311
    for name in ("joint", "alone"):
        rows = [prompt_row(one.asked, getattr(one, name), "a") for one in attacks]
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / f"{name}.prompts").write_text(lines, "utf-8")


if __name__ == "__main__":
    main()
