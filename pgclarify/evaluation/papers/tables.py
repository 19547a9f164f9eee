"""What a table of a paper is: its rows as configurations of ours, its columns as metrics of ours, and its figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, TypeAlias

Style: TypeAlias = Literal["percent", "share", "number"]
"""How figures are written: 56.0, 0.560, or a count such as 3.78."""


class Part(StrEnum):
    """A part of a case that a table needs, with what it is called to people."""

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
        title: As the paper has it.
        metric: The metric of ours that stands there.
        style: How figures are written; the paper's are given in the same way.
        stratum: The stratum of which it is; None for all cases.
        note: Why the paper's figures do not compare with ours, with any judge; None if the metric is the same.
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
        name: As the paper has it, or what it is where the row is ours.
        method: The method of an evaluation.
        settings: What makes it this row. They win over the settings of the paper and over --set.
        figures: The paper's, by what they were measured with: a model, or a data set.
        note: Where it differs from what the paper measured; None if nothing has to be said.
        takes_model: Whether it shows nothing without a language model, although the method can be carried out then.
        metrics: The metric that stands in the place of another, where the method has it under another name.
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
        title: What it shows.
        measured: On what the paper measured it: questions, documents, models, judge.
        data_sets: On which data sets it can be made, the nearest to the paper's first.
        needs: Parts that the cases of a data set must have, some of them at least.
        columns: Its columns.
        rows: Its rows, in the order of the paper; those that are ours come last.
        searches: Whether its rows look anything up, so that the data set needs documents.
        judge: The judge that it takes; None for any.
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
        name: What it is called on the command line.
        title: Its authors and title.
        tables: Those that can be made.
        settings: By method, the options that all its rows have, and that --set may change.
        left_out: What the paper measured and is not made, and why.
    """

    name: str
    title: str
    tables: Sequence[PaperTable]
    settings: Mapping[str, Mapping[str, Any]]
    left_out: str
