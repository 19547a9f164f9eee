"""Plans the rows of a paper: which rows can be carried out as configurations, and why the others cannot."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from pgclarify.errors import (
    ConfigurationError,
    EmbeddingError,
    InputError,
    NotFound,
    PermissionDenied,
    PgclarifyError,
)
from pgclarify.evaluation.configurations import EXTRACTIVE, OF_A_LANGUAGE_MODEL, Configuration, checked, detail_of
from pgclarify.evaluation.data_sets import Selection
from pgclarify.evaluation.opening import Bench
from pgclarify.evaluation.papers.data import PaperData, check_parts, find_data
from pgclarify.evaluation.papers.tables import Paper, PaperTable, Row
from pgclarify.evaluation.runner import Finished

Key: TypeAlias = tuple[str, str, str]
"""The data set, the method and its settings. Rows with the same key share one evaluation."""


@dataclass(slots=True)
class RowPlan:
    """A row with its state.

    Attributes:
        row: The row.
        configuration: The configuration for the row.
        obstacle: Why the row is left out; None if it is not left out.
        finished: The finished evaluation; None until it is finished.
    """

    row: Row
    configuration: Configuration
    obstacle: PgclarifyError | None = None
    finished: Finished | None = None


@dataclass(slots=True)
class TablePlan:
    """A table with its rows and data.

    Attributes:
        table: The table.
        data: The data set of the table; None if it is missing.
        rows: Its rows, in order.
    """

    table: PaperTable
    data: PaperData | None
    rows: Sequence[RowPlan] = field(default_factory=list)

    def key(self, one: RowPlan) -> Key | None:
        """Return the key of a row; None if the row is left out."""
        if self.data is None or one.obstacle is not None:
            return None
        configuration = one.configuration
        settings = json.dumps(configuration.settings, sort_keys=True)
        return self.data.data_set.name, configuration.method, settings

    def leave_out(self, obstacle: PgclarifyError) -> None:
        """Leave out all rows that are not left out yet."""
        for one in self.rows:
            one.obstacle = one.obstacle or obstacle


def plan_tables(
    paper: Paper,
    folder: Path,
    *,
    data_set: str | None = None,
    selection: Selection,
    settings: Mapping[str, Any],
    judge: str,
) -> list[TablePlan]:
    """Find the data set of each table, and make the configurations of its rows.

    Args:
        paper: The paper.
        folder: The folder of data sets.
        data_set: The data set for all tables; None for the available one that is nearest to the paper's.
        selection: The cases to ask.
        settings: Options that replace those of the paper in all rows whose method has them. The row's own settings take
            precedence.
        judge: The judge.

    Raises:
        InputError: If no row has an option of `settings`, its value cannot be used, or a file is wrong.
        UnreadableFile: If a file cannot be read.
    """
    _check_settings(paper, settings)
    found: dict[tuple[str, ...], PaperData | NotFound] = {}
    planned = []
    for table in paper.tables:
        rows = [RowPlan(row, _configuration(paper, row, settings)) for row in table.rows]
        names = (data_set,) if data_set is not None else tuple(table.data_sets)
        if names not in found:
            try:
                found[names] = find_data(folder, names, selection=selection)
            except NotFound as error:
                found[names] = error
        data = found[names]
        if isinstance(data, NotFound):
            one = TablePlan(table, None, rows)
            one.leave_out(data)
        else:
            one = TablePlan(table, data, rows)
            _check_table(one, data, judge)
        planned.append(one)
    return planned


def _check_settings(paper: Paper, settings: Mapping[str, Any]) -> None:
    known = sorted({name for one in paper.settings.values() for name in one})
    for name in settings:
        if name not in known:
            raise InputError(
                f"no row of {paper.name} has an option {name!r} that can be set",
                detail=f"The options are: {', '.join(known) or 'none'}.",
                hint="An option that is fixed, or distinguishes a row from other rows, cannot be set; "
                "pgclarify eval run takes all.",
            )


def _configuration(paper: Paper, row: Row, settings: Mapping[str, Any]) -> Configuration:
    shared = paper.settings.get(row.method, {})
    given = {**shared, **{name: value for name, value in settings.items() if name in shared}, **row.settings}
    known = {name: value for name, value in given.items() if value is not None}
    return checked(Configuration(f"{paper.name}: {row.name}", row.method, None, known))


def _check_table(one: TablePlan, data: PaperData, judge: str) -> None:
    try:
        check_parts(data, one.table.needs, searches=one.table.searches)
        if one.table.judge is not None and judge != one.table.judge:
            raise ConfigurationError(
                f"it takes the judge {one.table.judge!r}",
                detail=f"The judge is {judge!r}.",
                hint=f"Add --judge {one.table.judge}.",
            )
    except (InputError, ConfigurationError) as error:
        one.leave_out(error)


async def check_rows(bench: Bench, planned: Sequence[TablePlan]) -> None:
    """Leave out the rows that cannot be carried out with this data set, model and installation.

    Args:
        bench: The bench of their data set.
        planned: Tables of that data set.

    Raises:
        PgclarifyError: If the server refuses for a reason that is unrelated to a row.
    """
    refused: dict[Key, PgclarifyError | None] = {}
    for table in planned:
        for one in table.rows:
            if table.key(one) is not None and bench.living.provider == EXTRACTIVE and _takes_model(bench, one):
                one.obstacle = ConfigurationError(
                    "it needs a language model, and the worker has none",
                    detail=f"Its provider is {EXTRACTIVE}.",
                    hint="Set OPENAI_BASE_URL or OPENAI_API_KEY, and PGCLARIFY_LLM_MODEL, here and for the worker, and "
                    "start it again.",
                )
            key = table.key(one)
            if key is None or table.data is None:
                continue
            if key not in refused:
                refused[key] = await _refusal(bench, one.configuration, table.data)
            one.obstacle = refused[key]


def _takes_model(bench: Bench, one: RowPlan) -> bool:
    method = one.configuration.method
    return one.row.takes_model or method in OF_A_LANGUAGE_MODEL or bench.asks_here(method)


async def _refusal(bench: Bench, configuration: Configuration, data: PaperData) -> PgclarifyError | None:
    """Return why a configuration cannot be carried out; None if it can be."""
    try:
        await bench.check(configuration, data.data_set.cases)
    except InputError as error:
        return InputError(error.message, detail=detail_of(error), hint=error.hint, sqlstate=error.sqlstate)
    except (ConfigurationError, EmbeddingError, PermissionDenied) as error:
        return error
    return None
