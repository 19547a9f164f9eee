"""Lists of records that notebooks show, and that pandas takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, fields
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar

from pgclarify.client.records import Answer, CitedPassage
from pgclarify.client.result_records import Interpretation
from pgclarify.client.rows import Row, record
from pgclarify.errors import ConfigurationError, PgclarifyError

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")


class Results(list[T]):
    """A list of records, or of lines. A notebook shows it as HTML; `to_pandas` makes a DataFrame.

    A notebook shows each quote in its passage. The passages are read when the list is shown, over the connection of the
    client that returned it. Without that connection, and from AsyncClient, the quotes stand alone.

    Args:
        kind: The class of the records, or str.
        rows: The records.
    """

    def __init__(self, kind: type[T], rows: Iterable[T] = ()) -> None:
        super().__init__(rows)
        self._kind = kind
        self._cited_passages: Callable[[int], list[CitedPassage]] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        # A connection cannot be pickled.
        return Results, (self._kind, list(self))

    def to_pandas(self) -> pd.DataFrame:
        """Return a DataFrame with a row for each record; the readings of clarify_many have a row each.

        Citations are lists of dictionaries, as in SQL.

        Raises:
            ConfigurationError: If pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError:
            raise ConfigurationError("pandas is not installed", hint="Run: pip install pandas") from None
        if self._kind is str:
            return pd.DataFrame({"line": list(self)}, dtype=object)
        if self._kind is Answer:
            columns = ["question", "key", "stop_code", *(field.name for field in fields(Interpretation))]
            rows = [row for answer in self for row in _flat(answer)]  # type: ignore[arg-type]
        else:
            columns = [field.name for field in fields(self._kind)]  # type: ignore[arg-type]
            rows = [asdict(record) for record in self]  # type: ignore[call-overload]
        return pd.DataFrame([{name: _plain(value) for name, value in row.items()} for row in rows], columns=columns)

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        from pgclarify.client.showing import show

        return show(self, self._passages())

    def _passages(self) -> list[CitedPassage]:
        runs = {run_id for record in self if (run_id := getattr(record, "run_id", None)) is not None}
        if self._cited_passages is None:
            return []
        try:
            return [passage for run_id in sorted(runs) for passage in self._cited_passages(run_id)]
        except PgclarifyError:
            # The connection is closed, or its transaction has failed.
            return []


def results(kind: type[T], rows: Iterable[Row]) -> Results[T]:
    """Make a list of records of rows."""
    return Results(kind, (record(kind, row) for row in rows))


def _flat(answer: Answer) -> list[dict[str, Any]]:
    """Return the rows that clarify_many has for a question in SQL."""
    asked = {"question": answer.question, "key": answer.key, "stop_code": answer.stop_code}
    readings = [asked | asdict(reading) for reading in answer.interpretations]
    return readings or [asked | {"run_id": answer.run_id, "status": answer.status}]


def _plain(value: object) -> object:
    """Return what a column holds: text for a code, a list for a tuple."""
    if isinstance(value, StrEnum):
        return str(value)
    return list(value) if isinstance(value, tuple) else value
