"""The tables of the papers, made with this product: one module a paper, run by hand.

python -m benchmarks.papers.NAME DATA_DIR DATA_SET CORPUS [--cases N] [--judge lexical|model] [--only ROW ...]

DATA_DIR has DATA_SET.questions.jsonl (as `pgclarify eval run` reads it, gzipped or not) and DATA_SET.corpus.jsonl (id,
title, text); CORPUS has its documents (`pgclarify load CORPUS FILE`). Each row is stored as an evaluation. So the
commands `pgclarify eval list`, `compare` and `report` show it, and an interrupted row goes on.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from pgclarify.cli import connection
from pgclarify.data.documents import Passage
from pgclarify.evaluation.bench import Bench, open_bench
from pgclarify.evaluation.data_sets import DataSet, read_case, read_data_set, read_records
from pgclarify.evaluation.figures import Figure
from pgclarify.evaluation.records import Case, Method
from pgclarify.evaluation.runner import evaluate

__all__ = ["Data", "GoldEvidence", "Row", "main"]


@dataclass(frozen=True)
class Data:
    """A data set: its cases, the lines that they were read from, and its documents as passages, by id."""

    cases: DataSet
    lines: Mapping[str, Mapping[str, Any]]
    documents: Mapping[str, Passage]


Make = Callable[[Bench, Data], Awaitable[Method]]


@dataclass(frozen=True)
class Row:
    """A row of a table: an operation or baseline with settings, or a method that is made from a bench and the data.

    Attributes:
        name: The name in the paper.
        method: The name of the method, as it is stored.
        settings: Its options.
        paper: The paper's figures, in words; empty if the row is ours.
        make: Makes the method; None for an operation or a baseline of `pgclarify eval run`.
    """

    name: str
    method: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    paper: str = ""
    make: Make | None = None


class GoldEvidence:
    """Finds the documents that are known to be relevant, instead of searching. Implements Retriever."""

    def __init__(self, data: Data) -> None:
        known = ((case.question, case.relevant_documents) for case in data.cases.cases)
        self._found = {
            question: [data.documents[one] for one in sorted(names) if one in data.documents]
            for question, names in known
        }

    async def search(self, question: str, top_k: int) -> list[Passage]:
        """See Retriever."""
        return self._found.get(question, [])[:top_k]


def read_data(folder: Path, name: str, *, cases: int | None, answers: str = "answers") -> Data:
    """Read a data set; only N cases if cases is N; answers: the field that has the answers."""
    questions = _file(folder, f"{name}.questions", name)
    read = read_data_set(questions, cases=cases)
    lines = {str(line.get("id", line.get("question"))): line for _, line in read_records(questions)}
    if answers != "answers":
        given = (lines.get(case.case_id) or lines[case.question] for case in read.cases)
        read = replace(read, cases=tuple(read_case({**line, "answers": line[answers]}) for line in given))
    corpus = folder / f"{name}.corpus.jsonl.gz"
    corpus = corpus if corpus.exists() else folder / f"{name}.corpus.jsonl"
    documents = {
        str(one["id"]): Passage(str(one["id"]), place, one["text"], title=one.get("title"))
        for place, (_, one) in enumerate(read_records(corpus) if corpus.exists() else ())
    }
    return Data(replace(read, name=name), lines, documents)


def _file(folder: Path, *stems: str) -> Path:
    paths = [folder / f"{stem}{suffix}" for stem in stems for suffix in (".jsonl.gz", ".jsonl")]
    return next((path for path in paths if path.exists()), paths[0])


def line_of(data: Data, case: Case) -> Mapping[str, Any]:
    """Return the line that a case was read from."""
    return data.lines.get(case.case_id) or data.lines[case.question]


async def carry_out(bench: Bench, data: Data, row: Row, judge: str) -> dict[str, Figure]:
    """Carry out one row, or the rest of it, and return its figures."""
    judging = await bench.judge(judge)
    method = await (row.make(bench, data) if row.make else bench.method(row.method, row.settings))
    plan = bench.plan(row.name[:200], row.method, row.settings, data.cases, judging)
    return (await evaluate(bench, plan, data.cases, method, judging)).figures


async def _make(rows: Sequence[Row], data: Data, corpus: str, judge: str) -> list[tuple[Row, dict[str, Figure]]]:
    settings = connection.load_settings()
    async with open_bench(connection.running_dsn(settings), settings, corpus, concurrency=8) as bench:
        return [(row, await carry_out(bench, data, row, judge)) for row in rows]


def main(title: str, rows: Sequence[Row], figures: Sequence[str], *, answers: str = "answers") -> None:
    """Make a table and print it; the command of each paper."""
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("data_set")
    parser.add_argument("corpus")
    parser.add_argument("--cases", type=int)
    parser.add_argument("--judge", default="lexical")
    parser.add_argument("--only", nargs="*", help="names of rows")
    given = parser.parse_args()
    chosen = [row for row in rows if not given.only or row.name in given.only]
    data = read_data(given.data_dir, given.data_set, cases=given.cases, answers=answers)
    table = Table("row", *figures, "in the paper", title=f"{title}; {len(data.cases.cases)} questions")
    for row, found in asyncio.run(_make(chosen, data, given.corpus, given.judge)):
        cells = [
            f"{one.value:.3f}" + ("" if one.low is None else f" ({one.low:.2f} to {one.high:.2f})")
            if (one := found.get(name))
            else ""
            for name in figures
        ]
        table.add_row(row.name, *cells, row.paper)
    Console(width=180).print(table)
