"""The tables of the papers: their published methods beside ours. One module a paper, run by hand.

python -m benchmarks.papers.NAME DATA_DIR DATA_SET CORPUS [--cases N] [--part K/N] [--judge lexical|model]
    [--top-k K] [--only ROW ...] [--against ROW] [--again] [--keep]

DATA_DIR has DATA_SET.questions.jsonl (as `pgclarify eval run` reads it, gzipped or not), which
`python -m benchmarks.papers.convert` writes from published data; CORPUS has its documents (`pgclarify load CORPUS
FILE`). Each row is stored as an evaluation. So the commands `pgclarify eval list`, `compare` and `report` show it, an
interrupted row goes on, and a finished one is not carried out again, unless questions failed in it, or with --again. If
a row cannot be finished, the others go on, and the exit status is 1. With --against ROW, a second table has the
differences of the other rows from ROW, in pairs of the same questions. With --keep, what each question gave is added
to outcomes.jsonl.gz, from which `python -m benchmarks.papers` prints all tables without data, database or model.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from benchmarks.papers import outcomes
from benchmarks.papers.outcomes import NOT_KEPT, Outcomes, Values
from benchmarks.papers.replies import NO_REPLY
from benchmarks.prompts import VERSIONS
from pgclarify.algorithms.metrics import bootstrap_interval, mean, paired_bootstrap
from pgclarify.cli import connection
from pgclarify.data.documents import Passage
from pgclarify.database.evaluations import EvaluatedCase, Plan
from pgclarify.errors import PgclarifyError, describe
from pgclarify.evaluation.bench import Bench, open_bench
from pgclarify.evaluation.data_sets import DataSet, read_data_set, read_records
from pgclarify.evaluation.figures import Figure, compare, summarize
from pgclarify.evaluation.records import Case, Judge, Method, Output
from pgclarify.evaluation.runner import evaluate
from pgclarify.prompts.versions import combined

__all__ = [
    "Column",
    "Data",
    "Floats",
    "Given",
    "GoldEvidence",
    "Make",
    "Outcomes",
    "Row",
    "Scored",
    "Values",
    "cells_of",
    "differences_of",
    "each",
    "line_of",
    "main",
    "outcomes_of",
    "read_data",
    "show",
    "tables_of",
]


@dataclass(frozen=True)
class Data:
    """A data set.

    Attributes:
        folder: Where it was read from.
        cases: Its cases.
        lines: The lines that they were read from, by id, or by question without one.
        documents: Its documents as passages, by id.
    """

    folder: Path
    cases: DataSet
    lines: Mapping[str, Mapping[str, Any]]
    documents: Mapping[str, Passage]


@dataclass(frozen=True)
class Scored:
    """The judged cases of a row, for columns that are no figures of `pgclarify eval`.

    Attributes:
        bench: The connections.
        data: The data set.
        judge: The judge of the row.
        pairs: Each case, as it was given and as it is stored.
    """

    bench: Bench
    data: Data
    judge: Judge
    pairs: Sequence[tuple[Case, EvaluatedCase]]


# Characters of a table, of its first and last columns, and of each of the others.
_WIDTH, _FIRST, _CELL = 120, 36, 17

Floats = NDArray[np.float64]
Cells = Sequence[tuple[str, Sequence[str]]]
Make = Callable[[Bench, Data, Mapping[str, Any]], Awaitable[Method]]


@dataclass(frozen=True)
class Column:
    """A column that is computed from the stored cases.

    Attributes:
        name: Its head.
        of: Returns the value of each case, or its values if the statistic needs several; None where it has none.
        statistic: Takes the values of resampled cases, of shape (samples, cases) or (samples, cases, values), and
            returns shape (samples,).
    """

    name: str
    of: Callable[[Scored], Awaitable[Values]]
    statistic: Callable[[Floats], Floats] = mean


@dataclass(frozen=True)
class Row:
    """A row of a table: an operation or baseline with settings, or a method that is made from a bench and the data.

    Attributes:
        name: The name in the paper.
        method: The name of the method, as it is stored.
        settings: Its options.
        paper: The paper's figures, in words; empty if the row is ours.
        make: Makes the method from the settings; None for an operation or a baseline of `pgclarify eval run`.
        needs: A field that each line of the data set must have, or the row is left out; empty for none.
    """

    name: str
    method: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    paper: str = ""
    make: Make | None = None
    needs: str = ""


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


class Given:
    """Gives what a function makes of a question, and asks no model. Implements Method."""

    def __init__(self, output_of: Callable[[Case], Output]) -> None:
        self._output_of = output_of

    async def answer(self, case: Case) -> Output:
        """See Method."""
        return self._output_of(case)


def each(name: str, value: Callable[[Case, EvaluatedCase], float | None]) -> Column:
    """Make a column whose values need one case each, and no judge."""

    async def of(scored: Scored) -> Values:
        return [value(case, stored) for case, stored in scored.pairs]

    return Column(name, of)


def read_data(folder: Path, name: str, *, cases: int | None = None, part: str | None = None) -> Data:
    """Read a data set; only N cases if cases is N."""
    questions = _file(folder, f"{name}.questions", name)
    read = read_data_set(questions, cases=cases, part=part)
    lines = {str(line.get("id", line.get("question"))): line for _, line in read_records(questions)}
    corpus = _file(folder, f"{name}.corpus")
    documents = {
        str(one["id"]): Passage(str(one["id"]), place, one["text"], title=one.get("title"))
        for place, (_, one) in enumerate(read_records(corpus) if corpus.exists() else ())
    }
    return Data(folder, replace(read, name=name), lines, documents)


def _file(folder: Path, *stems: str) -> Path:
    paths = [folder / f"{stem}{suffix}" for stem in stems for suffix in (".jsonl.gz", ".jsonl")]
    return next((path for path in paths if path.exists()), paths[0])


def line_of(data: Data, case: Case) -> Mapping[str, Any]:
    """Return the line that a case was read from."""
    return data.lines[case.case_id if case.case_id in data.lines else case.question]


async def carry_out(bench: Bench, data: Data, row: Row, judge: Judge, *, again: bool) -> list[EvaluatedCase]:
    """Carry out one row, or the rest of it, and return its cases. A finished row is read, unless again is True."""
    plan = bench.plan(row.name[:200], row.method, row.settings, data.cases, judge)
    if row.make is not None:
        plan = replace(plan, conditions={**plan.conditions, "benchmark_prompts": combined(VERSIONS)})
    finished = None if again else await _finished(bench, plan)
    if finished is None:
        method = await (row.make(bench, data, row.settings) if row.make else bench.method(row.method, row.settings))
        finished = (await evaluate(bench, plan, data.cases, method, judge)).eval_run_id
    return await bench.tables.cases(finished)


async def _finished(bench: Bench, plan: Plan) -> int | None:
    """Return the latest finished evaluation of a plan in which no question failed."""
    names = ("name", "data_set_hash", "corpus_name", "method", "settings", "conditions")
    for one in await bench.tables.evaluations():
        is_same = all(getattr(one, name) == getattr(plan, name) for name in names)
        if is_same and one.is_own and one.finished_at and not (one.figures or {}).get("failed", {}).get("value"):
            return one.eval_run_id
    return None


async def outcomes_of(table: str, row: str, columns: Sequence[str | Column], scored: Scored) -> Outcomes:
    """Compute what each question gave in each column of a row."""
    values = {one.name: await one.of(scored) for one in columns if isinstance(one, Column)}
    figures = [
        {**stored.figures, NOT_KEPT: 1.0} if NO_REPLY in (stored.error or "") else stored.figures
        for _, stored in scored.pairs
    ]
    return Outcomes(table, row, figures, values)


def cells_of(columns: Sequence[str | Column], outcomes: Outcomes) -> list[str]:
    """Return a cell for each column: its value over all questions, with a 95 % interval."""
    figures = summarize(outcomes.figures)
    cells = []
    for column in columns:
        if isinstance(column, str):
            found = figures.get(column)
        else:
            given = outcomes.values.get(column.name, ())
            values = np.array([one for one in given if one is not None], dtype=np.float64)
            found = None
            if len(values):
                low, high = bootstrap_interval(values, column.statistic) if len(values) > 1 else (None, None)
                found = Figure(float(column.statistic(values[None])[0]), low, high, len(values))
        cells.append(_shown(found, len(outcomes.figures)))
    return cells


def differences_of(columns: Sequence[str | Column], first: Outcomes, second: Outcomes) -> list[str]:
    """Return how much more the second row has in each column, with paired 95 % intervals."""
    of_figures = compare(list(zip(first.figures, second.figures, strict=True)))
    known = {one.figure: Figure(one.difference, one.low, one.high, one.cases) for one in of_figures}
    cells = []
    for column in columns:
        if isinstance(column, str):
            found = known.get(column)
        else:
            values = zip(first.values.get(column.name, ()), second.values.get(column.name, ()), strict=False)
            both = [(one, other) for one, other in values if one is not None and other is not None]
            found = None
            if len(both) > 1:
                ones, others = (np.array(side, dtype=np.float64) for side in zip(*both, strict=True))
                drawn = paired_bootstrap(ones, others, column.statistic)
                found = Figure(drawn.difference, drawn.low, drawn.high, len(both))
        cells.append(_shown(found, len(second.figures)))
    return cells


def _shown(one: Figure | None, total: int) -> str:
    if one is None:
        return ""
    interval = "" if one.low is None or one.low == one.high else f" ({one.low:.2f} to {one.high:.2f})"
    return f"{one.value:.3f}{interval}" + ("" if one.cases == total else f", {one.cases} questions")


async def _make(
    rows: Sequence[Row], columns: Sequence[str | Column], data: Data, given: argparse.Namespace, table: str
) -> list[Outcomes]:
    """Return what each question gave in the rows that could be finished."""
    settings = connection.load_settings()
    made = list[Outcomes]()
    async with open_bench(connection.running_dsn(settings), settings, given.corpus, concurrency=8) as bench:
        judge = await bench.judge(given.judge)
        for row in rows:
            print(row.name, "…", file=sys.stderr, flush=True)
            try:
                cases = await carry_out(bench, data, row, judge, again=given.again)
            except PgclarifyError as error:
                print(f"{row.name} is not finished: {describe(error)}", file=sys.stderr, flush=True)
                continue
            pairs = [(data.cases.cases[one.ordinal - 1], one) for one in cases]
            made.append(await outcomes_of(table, row.name, columns, Scored(bench, data, judge, pairs)))
    return made


def tables_of(
    title: str,
    columns: Sequence[str | Column],
    made: Sequence[Outcomes],
    papers: Mapping[str, str],
    against: Sequence[str] = (),
) -> list[Table]:
    """Return the table of some rows, and one of differences from each of some rows.

    Args:
        title: Of the table.
        columns: Its columns; those without any value are left out.
        made: Its rows.
        papers: The paper's figures by row, in words.
        against: Names of rows.
    """
    tables = [_table(title, columns, [(one.row, cells_of(columns, one)) for one in made], papers)]
    for name in against:
        first = next((one for one in made if one.row == name), None)
        others = [one for one in made if one is not first]
        if first is not None and others:
            # The paper's figures are no differences.
            differences = [(one.row, differences_of(columns, first, one)) for one in others]
            tables.append(_table(f"{title}: more than {name}, in pairs", columns, differences, {}))
    return tables


def _table(title: str, columns: Sequence[str | Column], made: Cells, papers: Mapping[str, str]) -> Table:
    heads = [column if isinstance(column, str) else column.name for column in columns]
    shown = [place for place in range(len(heads)) if any(cells[place] for _, cells in made)]
    published = ["in the paper"] if any(papers.get(name) for name, _ in made) else []
    table = Table("row", *(heads[place] for place in shown), *published, title=title)
    for name, cells in made:
        table.add_row(name, *(cells[place] for place in shown), *([papers.get(name, "")] if published else []))
    return table


def show(tables: Sequence[Table]) -> None:
    """Print tables as wide as their columns, because a file of them is read, too."""
    widest = max(len(table.columns) for table in tables)
    Console(width=max(_WIDTH, 2 * _FIRST + _CELL * widest)).print(*tables)


def main(title: str, rows: Sequence[Row], columns: Sequence[str | Column]) -> None:
    """Make a table and print it; the command of each paper."""
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("data_set")
    parser.add_argument("corpus")
    parser.add_argument("--cases", type=int, help="most questions")
    parser.add_argument("--part", help="K/N: the K-th of N parts of the questions")
    parser.add_argument("--judge", default="lexical", help="lexical or model")
    parser.add_argument("--top-k", type=int, help="passages of the rows that read as many for each question")
    parser.add_argument("--only", nargs="*", help="names of rows")
    parser.add_argument("--against", help="name of a row: show the differences of the others from it, too")
    parser.add_argument("--again", action="store_true", help="carry out finished rows again")
    parser.add_argument("--keep", action="store_true", help="keep what each question gave, for benchmarks.papers")
    given = parser.parse_args()
    data = read_data(given.data_dir, given.data_set, cases=given.cases, part=given.part)
    known = frozenset.intersection(*(frozenset(line_of(data, case)) for case in data.cases.cases))
    possible = [row for row in rows if not row.needs or row.needs in known]
    if unknown := {*(given.only or ()), given.against} - {None, *(row.name for row in possible)}:
        raise SystemExit(
            f"no row is called {', '.join(sorted(unknown))}; the rows of {given.data_set} are "
            f"{', '.join(row.name for row in possible)}"
        )
    chosen = [
        replace(row, settings={**row.settings, "top_k": given.top_k})
        if given.top_k and "top_k" in row.settings
        else row
        for row in possible
        if not given.only or row.name in (*given.only, given.against)
    ]
    # The module of the command is that of a paper.
    name = f"{Path(sys.argv[0]).stem} {given.data_set}"
    try:
        made = asyncio.run(_make(chosen, columns, data, given, name))
    except PgclarifyError as error:
        raise SystemExit(describe(error)) from None
    papers = {row.name: row.paper for row in rows}
    against = [given.against] if given.against else []
    if made:
        show(tables_of(f"{title}; {len(data.cases.cases)} questions", columns, made, papers, against))
    if given.keep:
        outcomes.write(outcomes.OUTCOMES, made, [one for one in columns if isinstance(one, str)])
    if len(made) < len(chosen):
        raise SystemExit(1)
