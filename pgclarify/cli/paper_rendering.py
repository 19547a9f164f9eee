"""The output of eval paper, as pure functions: tables of a paper, with our figures beside the paper's."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pgclarify.cli.evaluation_rendering import VERDICTS_ARE_CALLS, kinds_of_failures
from pgclarify.cli.rendering import counted, printable
from pgclarify.evaluation.configurations import EXTRACTIVE
from pgclarify.evaluation.judge_warnings import judge_warnings, unjudged_warnings
from pgclarify.evaluation.metric_names import JUDGED
from pgclarify.evaluation.strata import FEWEST_CASES

if TYPE_CHECKING:
    from pgclarify.errors import PgclarifyError
    from pgclarify.evaluated import EvaluationPlan, Summary
    from pgclarify.evaluation.papers.data import PaperData
    from pgclarify.evaluation.papers.planning import RowPlan, TablePlan
    from pgclarify.evaluation.papers.tables import Column, Paper, Style

_HERE = "here"
_MISSING = "-"
# In a narrow terminal, a wide table would otherwise lose the names of its rows.
_LEAST_WIDTH = 10
_DIGITS: Mapping[Style, int] = {"percent": 1, "share": 3, "number": 2}
_MOST_ERROR_CHARS = 300
# The judge of every paper that has judged columns is a language model.
_OTHER_JUDGES: Mapping[str, str] = {
    "lexical": "the paper's judge is a language model, and here rules about words judge",
    "both": "the paper's judge is a language model alone, and here rules about words judge, too",
}


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a table: a row with our figures, or with the paper's.

    Attributes:
        name: The row's name; empty if the line before has it.
        origin: The source of the figures.
        cells: One for each column.
    """

    name: str
    origin: str
    cells: Sequence[str]


def heading(paper: Paper) -> Text:
    """Name the paper."""
    return Text(paper.title, style="bold")


def data(found: PaperData) -> Text:
    """Describe in one line the data set that was read."""
    given = found.data_set
    documents = counted(found.document_count, "document") if found.document_count else "no documents"
    return Text(
        f"{printable(given.name)}: {counted(len(given.cases), 'question')} of {given.total:,}, {documents}, "
        f"corpus {printable(found.corpus)}",
        style="dim",
    )


def left_out(planned: Sequence[TablePlan]) -> Text | None:
    """Say which rows are left out, why, and what to do, each reason once; None if no row is left out."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for table in planned:
        obstacles = [one.obstacle for one in table.rows]
        for one, obstacle in zip(table.rows, obstacles, strict=True):
            if obstacle is None:
                continue
            is_whole = all(other is not None and _why(other) == _why(obstacle) for other in obstacles)
            name = table.table.source if is_whole else f"{table.table.source} {one.row.name}"
            names = reasons.setdefault((_why(obstacle), obstacle.hint or ""), [])
            if name not in names:
                names.append(name)
    if not reasons:
        return None
    text = Text("Left out:", style="yellow")
    for (why, hint), names in reasons.items():
        text.append(f"\n  {printable('; '.join(names))}: {printable(why)} {printable(hint)}".rstrip())
    return text


def tables(paper: Paper, planned: Sequence[TablePlan]) -> RenderableType:
    """Show all tables, each with its notes."""
    parts: list[RenderableType] = []
    for one in planned:
        if not any(row.finished for row in one.rows):
            continue
        parts += [Text(f"\n{one.table.source}. {one.table.title}", style="bold"), _table(one)]
        parts += [Padding(Text(note, style="dim"), (0, 0, 0, 2)) for note in _notes(one)]
    return Group(*parts, Text(f"\nNot made: {paper.left_out}", style="dim"))


def written(suffix: str, paper: Paper, planned: Sequence[TablePlan]) -> str:
    """Return the tables as the content of a file.

    Args:
        suffix: .md for Markdown, anything else for JSON.
        paper: The paper.
        planned: Its tables.
    """
    if suffix == ".md":
        return _markdown(paper, planned)
    return json.dumps(_as_json(paper, planned), ensure_ascii=False, indent=2, default=str) + "\n"


def _table(one: TablePlan) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold", show_edge=False)
    table.add_column("row", overflow="fold", min_width=_LEAST_WIDTH)
    table.add_column("figures", overflow="fold", min_width=_LEAST_WIDTH)
    for column in one.table.columns:
        table.add_column(column.title, justify="right", overflow="fold")
    for line in _lines(one):
        table.add_row(line.name, line.origin, *line.cells, style=None if line.origin == _HERE else "dim")
    return table


def _lines(one: TablePlan) -> Iterator[_Line]:
    columns = one.table.columns
    for row in one.rows:
        yield _Line(row.row.name, _HERE, [_cell(_summary(one, row, column), column.style) for column in columns])
        for origin, figures in row.row.figures.items():
            cells = [
                _figure(figure, column, compares=_why_incomparable(one, column) is None)
                for figure, column in zip(figures, columns, strict=True)
            ]
            yield _Line("", origin, cells)


def _why_incomparable(one: TablePlan, column: Column) -> str | None:
    """Say why the paper's figures in a column do not compare with those here; None if they do."""
    judges = {row.finished.plan.judges for row in one.rows if row.finished is not None}
    reasons = [column.note] if column.note is not None else []
    if column.metric in JUDGED:
        reasons += [reason for name, reason in _OTHER_JUDGES.items() if name in judges]
    return "; ".join(reasons) or None


def _summary(one: TablePlan, row: RowPlan, column: Column) -> Summary | None:
    """Find the figure of a row in a column; None if the row has no such metric, or its stratum too few cases."""
    if row.finished is None:
        return None
    metric = row.row.metrics.get(column.metric, column.metric)
    if column.stratum is None or _has_all_cases(one, column.stratum):
        return row.finished.summaries.get(metric)
    found = row.finished.strata.get(column.stratum, {}).get(metric)
    return found if found is not None and found.cases >= FEWEST_CASES else None


def _has_all_cases(one: TablePlan, stratum: str) -> bool:
    """Return whether all cases are in a stratum. An evaluation has no figures for such a stratum alone."""
    return one.data is not None and all(stratum in case.strata for case in one.data.data_set.cases)


def _cell(summary: Summary | None, style: Style) -> str:
    if summary is None:
        return _MISSING
    scale, digits = (100, 1) if style == "percent" else (1, _DIGITS[style])
    value = f"{scale * summary.value:,.{digits}f}"
    if summary.low is None or summary.high is None or style == "number":
        return value
    digits -= 1
    return f"{value} [{scale * summary.low:.{digits}f}, {scale * summary.high:.{digits}f}]"


def _figure(figure: float | None, column: Column, *, compares: bool) -> str:
    """Write a figure of the paper with its digits, in brackets if it is not comparable with ours."""
    if figure is None:
        return ""
    digits = max(_DIGITS[column.style], len(str(figure).partition(".")[2]))
    value = f"{figure:.{digits}f}"
    return value if compares else f"({value})"


def _notes(one: TablePlan) -> list[str]:
    """Write the notes below a table: the setup, figures that are not comparable, rows that were left out or failed."""
    notes = [f"The paper: {one.table.measured}."]
    plans = [row.finished.plan for row in one.rows if row.finished is not None]
    if plans and one.data is not None:
        notes.append(_measured_here(one, one.data, plans[0]))
    if one.data is not None and one.data.note is not None:
        notes.append(f"{printable(one.data.data_set.name)}: {one.data.note}.")
    incomparable: dict[str, list[str]] = {}
    for column in one.table.columns:
        if why := _why_incomparable(one, column):
            incomparable.setdefault(why, []).append(column.title)
    if incomparable:
        notes.append("In brackets are figures of the paper that do not compare with those here:")
        notes += [f"- {'; '.join(titles)}: {why}." for why, titles in incomparable.items()]
    notes += [f"{row.row.name}: {row.row.note}." for row in one.rows if row.row.note is not None]
    reasons: dict[str, list[str]] = {}
    for row in one.rows:
        if row.obstacle is not None:
            reasons.setdefault(_why(row.obstacle), []).append(row.row.name)
    notes += [f"Left out: {'; '.join(names)}: {printable(why)}" for why, names in reasons.items()]
    # Rankings and labels need no judge.
    judged = [(row, row.finished) for row in one.rows if row.finished and not JUDGED.isdisjoint(_shown(one, row))]
    warnings = [
        *judge_warnings(finished.plan for _, finished in judged),
        *unjudged_warnings((row.row.name, finished.summaries) for row, finished in judged),
    ]
    return [*notes, *_failed(one), *_fewer(one), *map(printable, warnings)]


def _measured_here(one: TablePlan, given: PaperData, plan: EvaluationPlan) -> str:
    """Describe the questions, documents, model and judge of our measurement."""
    parts = [f"{plan.planned_cases:,} of {counted(given.data_set.total, 'question')} of {printable(plan.data_set)}"]
    if one.table.searches:
        parts.append(f"{counted(given.document_count, 'document')}, embedded by {printable(plan.embedding_model)}")
    is_extractive = plan.provider == EXTRACTIVE
    parts.append(
        "no language model (provider extractive)"
        if is_extractive
        else f"{printable(plan.model)} ({printable(plan.provider)})"
    )
    metrics = {column.metric for column in one.table.columns}
    if not JUDGED.isdisjoint(metrics):
        parts.append(f"judge {printable(plan.judge)}")
    has_calls = any(
        "calls" in _shown(one, row) and row.finished.summaries["calls"].value for row in one.rows if row.finished
    )
    verdicts = f" {VERDICTS_ARE_CALLS}" if is_extractive and has_calls else ""
    intervals = "In square brackets are 95 % bootstrap intervals over questions."
    return f"Here: {'; '.join(parts)}. {intervals}{verdicts}"


def _shown(one: TablePlan, row: RowPlan) -> set[str]:
    return {column.metric for column in one.table.columns if _summary(one, row, column) is not None}


def _failed(one: TablePlan) -> list[str]:
    """Name the rows in which questions failed, and the most frequent reason."""
    notes = []
    for row in one.rows:
        failed = None if row.finished is None else row.finished.summaries.get("failed")
        if row.finished is None or failed is None or not failed.value:
            continue
        count = counted(round(failed.value * failed.cases), "question")
        reasons = kinds_of_failures(row.finished.failures)
        why = f": {printable(reasons[0][0][:_MOST_ERROR_CHARS])}" if reasons else "."
        notes.append(f"{row.row.name}: {count} failed, and counted as nothing{why}")
    return notes


def _fewer(one: TablePlan) -> list[str]:
    """Name the columns with figures over only some of the questions, and those without figures."""
    notes = []
    missing = []
    made = [row for row in one.rows if row.finished is not None]
    asked = max((row.finished.plan.planned_cases for row in made if row.finished is not None), default=0)
    for column in one.table.columns:
        counts = [found.cases for row in made if (found := _summary(one, row, column)) is not None]
        if counts and max(counts) < asked:
            notes.append(f"{column.title} is over {counted(max(counts), 'question')}.")
        elif not counts and made and column.stratum is not None:
            notes.append(f"No figures here: {column.title}: fewer than {FEWEST_CASES} questions are {column.stratum}.")
        elif not counts and made:
            missing.append(column.title)
    if missing:
        notes.append(
            f"No figures here: {'; '.join(missing)}: neither the data set nor the rows that were made give any."
        )
    return notes


def _why(obstacle: PgclarifyError) -> str:
    """Write why a row is left out, as a sentence or two."""
    message = obstacle.message.rstrip(".")
    return f"{message}.{f' {obstacle.detail}' if obstacle.detail else ''}"


def _markdown(paper: Paper, planned: Sequence[TablePlan]) -> str:
    parts = [f"# {paper.title}"]
    for one in planned:
        parts.append(f"## {one.table.source}. {one.table.title}")
        header = ["row", "figures", *(column.title for column in one.table.columns)]
        rows = [[line.name, line.origin, *line.cells] for line in _lines(one)]
        divider = ["---", "---", *("---:" for _ in one.table.columns)]
        parts.append("\n".join(_markdown_row(row) for row in (header, divider, *rows)))
        parts.append("\n".join(f"- {note.removeprefix('- ')}" for note in _notes(one)))
    parts.append(f"Not made: {paper.left_out}")
    return "\n\n".join(parts) + "\n"


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _as_json(paper: Paper, planned: Sequence[TablePlan]) -> Mapping[str, Any]:
    return {
        "paper": paper.name,
        "title": paper.title,
        "tables": [_table_as_json(one) for one in planned],
        "not_made": paper.left_out,
    }


def _table_as_json(one: TablePlan) -> Mapping[str, Any]:
    columns = one.table.columns
    given = one.data
    return {
        "source": one.table.source,
        "title": one.table.title,
        "measured_in_paper": one.table.measured,
        "data_set": None if given is None else given.data_set.name,
        "data_set_hash": None if given is None else given.data_set.hash.hex(),
        "questions": None if given is None else len(given.data_set.cases),
        "documents": None if given is None else given.document_count,
        "columns": [
            {
                "title": column.title,
                "metric": column.metric,
                "stratum": column.stratum,
                "style": column.style,
                "compares": why is None,
                "note": why,
            }
            for column in columns
            for why in (_why_incomparable(one, column),)
        ],
        "rows": [_row_as_json(one, row) for row in one.rows],
        "notes": _notes(one),
    }


def _row_as_json(one: TablePlan, row: RowPlan) -> Mapping[str, Any]:
    columns, finished, obstacle = one.table.columns, row.finished, row.obstacle
    here = {column.title: _summary(one, row, column) for column in columns}
    return {
        "name": row.row.name,
        "method": row.configuration.method,
        "settings": dict(row.configuration.settings),
        "note": row.row.note,
        "left_out": None
        if obstacle is None
        else {
            "message": obstacle.message,
            "detail": obstacle.detail,
            "hint": obstacle.hint,
            "sqlstate": obstacle.sqlstate,
        },
        "eval_run_id": None if finished is None else finished.eval_run_id,
        "provider": None if finished is None else finished.plan.provider,
        "model": None if finished is None else finished.plan.model,
        "judge": None if finished is None else finished.plan.judge,
        "here": {title: asdict(summary) for title, summary in here.items() if summary is not None},
        "paper": {
            origin: {
                column.title: _on_our_scale(figure, column)
                for column, figure in zip(columns, figures, strict=True)
                if figure is not None
            }
            for origin, figures in row.row.figures.items()
        },
    }


def _on_our_scale(figure: float, column: Column) -> float:
    """Return a figure of the paper as a share, if ours is a share."""
    return round(figure / 100, 6) if column.style == "percent" else figure
