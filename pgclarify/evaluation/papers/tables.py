"""A table of a paper: its rows as our configurations, its columns as our metrics, and its figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, Literal, TypeAlias

from pgclarify.evaluation.dialogue_methods import DEPTH

SEARCH: Final[Mapping[str, Any]] = {"top_k": DEPTH}
"""The settings of rows that only search. --set does not change this depth, for metrics such as R@10 need it."""

Style: TypeAlias = Literal["percent", "share", "number"]
"""The format of figures: 56.0, 0.560, or a count such as 3.78."""


class Part(StrEnum):
    """A part of a case that a table needs, with its name for people."""

    ANSWERS = "answers"
    DOCUMENTS = "documents"
    LABEL = "is_ambiguous"
    HISTORY = "history"
    INTENT = "intent"
    QUESTIONS = "clarifying_questions"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        title: The title in the paper.
        metric: Our metric for this column.
        style: The format of figures, also of the paper's.
        stratum: The stratum of the column; None for all cases.
        note: Why the paper's figures are not comparable with ours, with any judge; None if the metric is the same.
    """

    title: str
    metric: str
    style: Style = "percent"
    stratum: str | None = None
    note: str | None = None


Figures: TypeAlias = Sequence[float | None]
"""The paper's figures of a row, one for each column; None where the paper has none."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table.

    Attributes:
        name: The name in the paper, or a description if the row is ours.
        method: The method of an evaluation.
        settings: The settings of this row. They take precedence over the settings of the paper and over --set.
        figures: The paper's figures, by the model or data set that they were measured with.
        note: The difference from the paper's experiment; None if there is none.
        takes_model: Whether the row is meaningless without a language model, although the method works without one.
        metrics: Replacements of metrics, if the method has a metric under another name.
    """

    name: str
    method: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    figures: Mapping[str, Figures] = field(default_factory=dict)
    note: str | None = None
    takes_model: bool = False
    metrics: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table of a paper.

    Attributes:
        source: Its number in the paper: "Table 2".
        title: The subject of the table.
        measured: The setup of the paper: questions, documents, models, judge.
        data_sets: Data sets for the table, the nearest to the paper's first.
        needs: Parts that at least some cases of a data set must have.
        columns: Its columns.
        rows: Its rows in the order of the paper; our own rows come last.
        searches: Whether its rows search, so that the data set needs documents.
        judge: The judge that the table requires; None for any.
    """

    source: str
    title: str
    measured: str
    data_sets: Sequence[str]
    needs: Sequence[Part]
    columns: Sequence[Column]
    rows: Sequence[Row]
    searches: bool = True
    judge: str | None = None


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper.

    Attributes:
        name: Its name on the command line.
        title: Its authors and title.
        tables: The tables that can be made.
        settings: By method, the options of all its rows, which --set may change.
        left_out: Results of the paper that are not made, and why.
    """

    name: str
    title: str
    tables: Sequence[PaperTable]
    settings: Mapping[str, Mapping[str, Any]]
    left_out: str
