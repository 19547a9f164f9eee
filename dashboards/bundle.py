"""Writes the files that Superset imports: `python -m dashboards.bundle`."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

import yaml
from sqlalchemy import Boolean, Date, DateTime, Float, Numeric, Text
from sqlalchemy.types import Integer

from dashboards.stories import ADDED, HEADINGS, STORIES, Bars, Chart, Number, Rows, Story, Sums
from pgclarify.tables import metadata

FOLDER = Path(__file__).parent / "superset"
# Identifiers stay the same, so that another import replaces the charts.
NAMESPACE = UUID("6f6b2d4e-9d0c-4b7e-8d2a-51b1f1a6c0de")
DATABASE = "pgclarify"
SLUG = "pgclarify"
# What the file of the database says until the user sets the own one. Superset asks for the password.
ADDRESS = "postgresql+psycopg2://dashboard:XXXXXXXXXX@localhost:5433/pgclarify"
LAST_YEAR = "DATEADD(DATETIME('today'), -1, year) : "
MOST_ROWS = 200
# Colors of words that mean good or bad, wherever they appear.
COLORS = {"answered": "#2f6f9f", "not answered": "#c2553d", "not known": "#75818a"}


def main() -> None:
    """Write all files anew."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    for name, content in files().items():
        path = FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")


def files() -> dict[str, str]:
    """Return the files by their path."""
    described = {
        "metadata.yaml": {"version": "1.0.0", "type": "Dashboard", "timestamp": "2026-11-25T00:00:00+00:00"},
        f"databases/{DATABASE}.yaml": _database(),
        f"dashboards/{SLUG}.yaml": _dashboard(),
    }
    for view in sorted({chart.view for chart in charts()}):
        described[f"datasets/{DATABASE}/{view}.yaml"] = _dataset(view)
    for number, chart in enumerate(charts(), 1):
        name = re.sub(r"\W+", "_", chart.title).strip("_")
        described[f"charts/{number:02}_{name}.yaml"] = _chart(chart)
    return {
        name: yaml.safe_dump(content, sort_keys=False, width=120, default_flow_style=None)
        for name, content in described.items()
    }


def charts() -> Iterator[Chart]:
    """Yield all charts, in their order."""
    for story in STORIES:
        yield from story.charts


def _id(*names: str) -> str:
    return str(uuid5(NAMESPACE, "/".join(names)))


def _database() -> dict[str, Any]:
    return {
        "database_name": DATABASE,
        "sqlalchemy_uri": ADDRESS,
        "expose_in_sqllab": True,
        "allow_run_async": False,
        "allow_ctas": False,
        "allow_cvas": False,
        "allow_dml": False,
        "allow_file_upload": False,
        "extra": {"allows_virtual_table_explore": True},
        "uuid": _id("database"),
        "version": "1.0.0",
    }


def _dataset(view: str) -> dict[str, Any]:
    columns = [
        {
            "column_name": str(column.name),
            "verbose_name": _heading(str(column.name)),
            "type": str(column.type),
            "is_dttm": isinstance(column.type, DateTime | Date),
        }
        for column in metadata.tables[f"pgclarify.{view}"].columns
        # Superset has no use for arrays and JSON.
        if isinstance(column.type, Boolean | Date | DateTime | Float | Integer | Numeric | Text)
    ]
    columns += [
        {"column_name": name, "verbose_name": _heading(name), "type": "TEXT", "expression": expression}
        for name, expression in ADDED.get(view, {}).items()
    ]
    return {
        "table_name": view,
        "schema": "pgclarify",
        "main_dttm_col": next((chart.time for chart in charts() if chart.view == view and chart.time), None),
        "uuid": _id("dataset", view),
        "database_uuid": _id("database"),
        "columns": columns,
        "metrics": [{"metric_name": "count", "verbose_name": "rows", "expression": "count(*)"}],
        "version": "1.0.0",
    }


def _heading(column: str) -> str:
    return HEADINGS.get(column, column.replace("_", " "))


def _chart(chart: Chart) -> dict[str, Any]:
    kind, shape = _shape(chart)
    conditions = [{"expressionType": "SQL", "clause": "WHERE", "sqlExpression": chart.where}] if chart.where else []
    if chart.time:
        time = {"expressionType": "SIMPLE", "clause": "WHERE", "operator": "TEMPORAL_RANGE"}
        conditions.append(time | {"subject": chart.time, "comparator": "No filter"})
    return {
        "slice_name": chart.title,
        "viz_type": kind,
        "params": {"viz_type": kind, "adhoc_filters": conditions, **shape},
        "uuid": _id("chart", chart.title),
        "dataset_uuid": _id("dataset", chart.view),
        "version": "1.0.0",
    }


def _shape(chart: Chart) -> tuple[str, dict[str, Any]]:
    if isinstance(chart, Number):
        return "big_number_total", {"metric": _metric(chart.title, chart.value), "y_axis_format": ",d"}
    if isinstance(chart, Bars):
        return "echarts_timeseries_bar", _bars(chart)
    # Questions and quotes are foreign text: as HTML, a question could load a picture from elsewhere.
    table: dict[str, Any] = {
        "allow_render_html": False,
        "row_limit": MOST_ROWS,
        "table_timestamp_format": "%Y-%m-%d %H:%M",
    }
    table |= {"show_cell_bars": False, "page_length": 0, "include_search": False}
    if isinstance(chart, Sums):
        metrics = [_metric(name, value) for name, value in chart.values.items()]
        table |= {"query_mode": "aggregate", "groupby": list(chart.by), "metrics": metrics, "server_pagination": False}
        table["column_config"] = {name: {"d3NumberFormat": _format(name)} for name in chart.values}
        return "table", table | {"timeseries_limit_metric": dict(metrics[0]), "order_desc": True}
    order = [f'["{name.removeprefix("-")}", {str(name.startswith("-")).lower()}]' for name in chart.first]
    types = {str(column.name): column.type for column in metadata.tables[f"pgclarify.{chart.view}"].columns}
    formats: dict[str, Any] = {
        name: {"d3NumberFormat": _format(name)}
        for name in chart.columns
        if isinstance(types.get(name), Float | Integer | Numeric)
    }
    if "page" in chart.columns:
        # An address on one line, in pixels.
        formats["page"] = {"columnWidth": 220}
    return "table", table | {
        "query_mode": "raw",
        "all_columns": list(chart.columns),
        "order_by_cols": order,
        "column_config": formats,
    }


def _bars(chart: Bars) -> dict[str, Any]:
    metrics = [_metric(name, value) for name, value in chart.values.items()]
    bars: dict[str, Any] = {
        "x_axis": chart.by,
        "metrics": metrics,
        "groupby": [chart.series] if chart.series else [],
        "orientation": "horizontal" if chart.lies else "vertical",
        "stack": "Stack" if chart.series or len(metrics) > 1 else None,
        "show_legend": bool(chart.series) or len(metrics) > 1,
        "show_value": True,
        "only_total": True,
        "rich_tooltip": True,
        "y_axis_format": _format(chart.title, axis=True),
        "row_limit": MOST_ROWS,
        "truncate_metric": True,
    }
    if chart.monthly:
        # Superset 6.1 may leave out the last month if it writes months horizontally.
        return bars | {"time_grain_sqla": "P1M", "x_axis_time_format": "%b %Y", "xAxisLabelRotation": 45}
    return bars | {
        "xAxisForceCategorical": True,
        "x_axis_sort": next(iter(chart.values)) if chart.lies else chart.by,
        "x_axis_sort_asc": True,
    }


def _metric(name: str, value: str) -> dict[str, Any]:
    return {"expressionType": "SQL", "sqlExpression": value, "label": name, "hasCustomLabel": True}


def _format(name: str, *, axis: bool = False) -> str:
    if "US dollars" in name or name.endswith("_usd"):
        return ",.2f"
    # An axis of small counts has ticks at halves. Rounded, two ticks would have one number.
    return ",~f" if axis and "%" not in name else ",d"


def _dashboard() -> dict[str, Any]:
    tabs = [_tab(story, place) for place, story in enumerate(STORIES, 1)]
    position: dict[str, Any] = {
        "DASHBOARD_VERSION_KEY": "v2",
        "ROOT_ID": {"type": "ROOT", "id": "ROOT_ID", "children": ["GRID_ID"]},
        "GRID_ID": {"type": "GRID", "id": "GRID_ID", "children": ["TABS"], "parents": ["ROOT_ID"]},
        "HEADER_ID": {"type": "HEADER", "id": "HEADER_ID", "meta": {"text": "pgclarify"}},
        "TABS": {
            "type": "TABS",
            "id": "TABS",
            "meta": {},
            "children": [tab_id(story) for story in STORIES],
            "parents": ["ROOT_ID", "GRID_ID"],
        },
    }
    for tab in tabs:
        position |= tab
    return {
        "dashboard_title": "pgclarify",
        "description": "What people ask, what the documents answer, and what it costs.",
        "slug": SLUG,
        "published": True,
        "uuid": _id("dashboard"),
        "position": position,
        "metadata": {
            "cross_filters_enabled": True,
            # A click on a run chooses its readings. Without a bound, it would filter the charts of all tabs.
            "global_chart_configuration": {
                "scope": {
                    "rootPath": [tab_id(story) for story in STORIES if story.name == "Readings"],
                    "excluded": [
                        number for number, chart in enumerate(charts(), 1) if isinstance(chart, Bars) and chart.is_fixed
                    ],
                }
            },
            "filter_bar_orientation": "HORIZONTAL",
            "label_colors": COLORS,
            "native_filter_configuration": [_corpus_filter(), _time_filter()],
        },
        "version": "1.0.0",
    }


def tab_id(story: Story) -> str:
    """Return the id of a tab, which the address of the page can end with."""
    return f"TAB-{story.name.replace(' ', '-').lower()}"


def _tab(story: Story, place: int) -> dict[str, Any]:
    places = {chart.title: number for number, chart in enumerate(charts(), 1)}
    contents = [("MARKDOWN", f"MARKDOWN-{place}", {"code": story.text, "height": 12})]
    for chart in story.charts:
        name = f"CHART-{places[chart.title]}"
        meta = {"chartId": places[chart.title], "uuid": _id("chart", chart.title), "sliceName": chart.title}
        contents.append(("CHART", name, meta | {"height": _height(chart)}))
    tab = tab_id(story)
    above = ["ROOT_ID", "GRID_ID", "TABS"]
    rows = [f"ROW-{name}" for _, name, _ in contents]
    parts = {tab: {"type": "TAB", "id": tab, "meta": {"text": story.name}, "children": rows, "parents": above}}
    # A row has one chart, because Superset keeps the charts of a row beside each other on a phone, too.
    for row, (kind, name, meta) in zip(rows, contents, strict=True):
        look = {"background": "BACKGROUND_TRANSPARENT"}
        parts[row] = {"type": "ROW", "id": row, "meta": look, "children": [name], "parents": [*above, tab]}
        size = meta | {"width": 12}
        parts[name] = {"type": kind, "id": name, "meta": size, "children": [], "parents": [*above, tab, row]}
    return parts


def _height(chart: Chart) -> int:
    if isinstance(chart, Rows | Sums):
        return chart.height
    return 18 if isinstance(chart, Number) else 32


def _corpus_filter() -> dict[str, Any]:
    return {
        "id": "NATIVE_FILTER-corpus",
        "type": "NATIVE_FILTER",
        "name": "Corpus",
        "filterType": "filter_select",
        "targets": [{"datasetUuid": _id("dataset", "corpus"), "column": {"name": "corpus"}}],
        "controlValues": {"multiSelect": True, "enableEmptyFilter": False, "defaultToFirstItem": False},
        "defaultDataMask": {"extraFormData": {}, "filterState": {}},
        "cascadeParentIds": [],
        "scope": {"rootPath": [tab_id(story) for story in STORIES if story.by_corpus], "excluded": []},
    }


def _time_filter() -> dict[str, Any]:
    return {
        "id": "NATIVE_FILTER-time",
        "type": "NATIVE_FILTER",
        "name": "Time",
        "filterType": "filter_time",
        "targets": [{}],
        "controlValues": {"enableEmptyFilter": False},
        "defaultDataMask": {"extraFormData": {"time_range": LAST_YEAR}, "filterState": {"value": LAST_YEAR}},
        "cascadeParentIds": [],
        "scope": {"rootPath": ["ROOT_ID"], "excluded": []},
    }


if __name__ == "__main__":
    main()
