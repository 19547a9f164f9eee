"""The tables of the papers from what the repository has: kept numbers, and recorded replies of a large model."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from benchmarks.figures import LINES, newest
from benchmarks.papers import Column, Outcomes, cells_of, large_model, outcomes, tables_of
from benchmarks.papers.__main__ import KINDS, tables
from pgclarify.algorithms import metrics
from tests.fakes import FakeEmbedder
from tests.unit.evaluation.test_lexical_judge import JUDGE


def test_kept_rows_give_the_same_cells_and_replace_older_ones(tmp_path: Path) -> None:
    path = tmp_path / "outcomes.jsonl.gz"
    columns: list[str | Column] = ["coverage", "grounded_f1", Column("exact", none)]
    first = {"coverage": 1.0, "grounded_precision": 0.5, "grounded_recall": 1 / 3, "seconds": 3.0}
    figures = [first, {"coverage": 0.0}]
    row = Outcomes("verdict ramdocs", "clarify", figures, {"exact": [1.0, None]})
    names = [one for one in columns if isinstance(one, str)]
    outcomes.write(path, [Outcomes("verdict ramdocs", "clarify", [{"coverage": 0.25}], {"exact": [0.0]})], names)
    outcomes.write(path, [row], names)
    (read,) = outcomes.read(path)["verdict ramdocs"]
    assert cells_of(columns, read) == cells_of(columns, row)
    assert "seconds" not in read.figures[0]


async def none(_: object) -> list[float | None]:
    return []


def test_the_command_prints_all_tables_as_they_were_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    # Intervals take a minute. Values do not depend on how many samples are drawn.
    draws = metrics._draws
    monkeypatch.setattr(metrics, "_draws", lambda rows, _: draws(rows, 1))
    lines = [json.loads(line) for line in LINES.read_text(encoding="utf-8").splitlines()]
    printed = [(one["table"], value_of(one["cells"])) for one in newest(lines)["python -m benchmarks.papers"]]

    made = [
        (str(table.title), value_of(dict(zip((str(one.header) for one in table.columns), map(str, row), strict=True))))
        for table in tables()
        for row in zip(*(column.cells for column in table.columns), strict=True)
    ]
    assert made == printed, "run python -m benchmarks.papers, then python -m benchmarks.figures"
    assert [kind.title for kind in KINDS.values() if not any(title.startswith(kind.title) for title, _ in made)] == []


def value_of(cells: Mapping[str, str]) -> dict[str, str]:
    """The cells without their intervals."""
    return {name: re.sub(r" \(.*?\)", "", text) for name, text in cells.items()}


def test_a_question_without_a_kept_reply_is_left_out_of_all_rows() -> None:
    first = Outcomes("verdict ramdocs", "VERDICT", [{"coverage": 0.0, outcomes.NOT_KEPT: 1.0}, {"coverage": 1.0}], {})
    second = Outcomes("verdict ramdocs", "RAC", [{"coverage": 1.0}, {"coverage": 0.5}], {"exact": [1.0, None]})
    left = outcomes.that_were_asked([first, second])
    assert [one.figures for one in left] == [[{"coverage": 1.0}], [{"coverage": 0.5}]]
    assert left[1].values == {"exact": [None]}


def test_a_row_without_the_one_it_is_compared_with_has_no_table_of_differences() -> None:
    row = Outcomes("verdict ramdocs", "clarify", [{"coverage": 1.0}], {})
    assert len(tables_of("VERDICT", ["coverage"], [row], {}, ["VERDICT", "clarify"])) == 1


@pytest.mark.parametrize(
    ("table", "name", "columns"),
    [
        ("large_model ramdocs", "VERDICT, nothing consolidated", ("right", "exact match")),
        ("large_model ramdocs", "RAC", ("right", "exact match")),
        ("large_model ramdocs", "one prompt", ("right", "exact match")),
        ("large_rounds ramdocs", "AmbigPrompt, found answers forbidden", ("precision", "recall")),
    ],
)
def test_recorded_replies_give_again_what_was_kept(table: str, name: str, columns: Sequence[str]) -> None:
    (row,) = (one for one in large_model.TABLES[table].rows if one.name == name)
    (kept,) = (one for one in outcomes.read(outcomes.OUTCOMES)[table] if one.row == name)

    # These rows embed nothing; whether a reading is grounded takes the trained reader, and is not compared.
    made = asyncio.run(large_model.carry_out(table, row, large_model.replies(), FakeEmbedder(), JUDGE))
    for figure in ("readings", "coverage", "misled", "calls"):
        if any(figure in one for one in kept.figures):
            assert [one.get(figure) for one in made.figures] == pytest.approx(
                [one.get(figure) for one in kept.figures], abs=1e-6
            )
    for column in columns:
        assert list(made.values[column]) == pytest.approx(list(kept.values[column]), abs=1e-6)
