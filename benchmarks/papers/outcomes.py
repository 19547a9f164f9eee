"""What each question gave in each row of the papers' tables, as numbers: tables are computed from them.

OUTCOMES has a line for each row. It holds no text of a data set, so that it may be published, and the tables can be
computed again in seconds, without the data, a database or a model.
"""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from pgclarify.evaluation.figures import Row as Figures

Values = Sequence[float | Sequence[float] | None]

OUTCOMES: Final = Path(__file__).with_name("outcomes.jsonl.gz")
# These figures are computed from others, of all questions together.
_INPUTS: Final[Mapping[str, Sequence[str]]] = {"grounded_f1": ("grounded_precision", "grounded_recall")}
_DIGITS: Final = 6
NOT_KEPT: Final = "not_kept"
"""A figure that is 1 if the reply to a question was not kept, so that the question was not asked."""


@dataclass(frozen=True)
class Outcomes:
    """The cases of one row.

    Attributes:
        table: The module of the table and the data set, such as verdict ramdocs.
        row: The name of the row.
        figures: For each question, its figures of `pgclarify eval`.
        values: For each other column, the value of each question that it is about; None where it has none.
    """

    table: str
    row: str
    figures: Sequence[Figures]
    values: Mapping[str, Values]


def write(path: Path, several: Iterable[Outcomes], columns: Sequence[str]) -> None:
    """Keep rows in a file, in the place of rows of the same table and name.

    Args:
        path: A gzipped file of JSON lines; it is made if it is missing.
        several: The rows.
        columns: The figures of `pgclarify eval` that their table shows; others are left out.
    """
    kept = {(one["table"], one["row"]): one for one in _lines(path)} if path.exists() else {}
    names = [*(name for column in columns for name in _INPUTS.get(column, (column,))), NOT_KEPT]
    for one in several:
        figures = {name: [row.get(name) for row in one.figures] for name in names}
        known = {name: _rounded(given) for name, given in figures.items() if any(each is not None for each in given)}
        kept[one.table, one.row] = {
            "table": one.table,
            "row": one.row,
            "questions": len(one.figures),
            "figures": known,
            "values": {name: _rounded(values) for name, values in one.values.items()},
        }
    text = "".join(json.dumps(line) + "\n" for line in kept.values())
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def read(path: Path) -> dict[str, list[Outcomes]]:
    """Read the rows of each table, in the order in which they were kept."""
    tables: dict[str, list[Outcomes]] = {}
    for line in _lines(path):
        figures: list[dict[str, float]] = [
            {name: values[place] for name, values in line["figures"].items() if values[place] is not None}
            for place in range(line["questions"])
        ]
        tables.setdefault(line["table"], []).append(Outcomes(line["table"], line["row"], figures, line["values"]))
    return tables


def that_were_asked(rows: Sequence[Outcomes]) -> list[Outcomes]:
    """Leave out the questions that one of the rows could not ask, because a reply was not kept."""
    total = len(rows[0].figures)
    left = [place for place in range(total) if not any(NOT_KEPT in row.figures[place] for row in rows)]
    return [
        replace(
            row,
            figures=[row.figures[place] for place in left],
            values={
                name: [values[place] for place in left] if len(values) == total else values
                for name, values in row.values.items()
            },
        )
        for row in rows
    ]


def _lines(path: Path) -> list[Mapping[str, Any]]:
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).decode().splitlines()]


def _rounded(values: Iterable[Any]) -> list[Any]:
    return [_round(one) for one in values]


def _round(value: Any) -> Any:
    if isinstance(value, float | int):
        rounded = round(float(value), _DIGITS)
        return int(rounded) if math.isfinite(rounded) and rounded == int(rounded) else rounded
    return None if value is None else _rounded(value)
