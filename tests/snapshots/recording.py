"""What operations return and leave behind, written so that each recording of the same behavior is the same text.

Left out is what differs from run to run: times, durations, vectors, random keys, and which worker did it. Ids are
renumbered by first appearance. Floats have two digits, since further ones may differ from processor to processor.
Null is left out, so that a new column shows only where it says something.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import psycopg
from psycopg.rows import dict_row

from tests.openai_server import Behavior, Server, by_rules

Connection = psycopg.Connection[Any]

# What operations write, each table with what puts its rows in an order that does not depend on who came first.
TABLES = {
    "run": "run_id",
    "stage": "run_id, ordinal",
    "candidate": "run_id, rank",
    "verdict": "run_id, rank",
    "interpretation": "run_id, ordinal",
    "citation": "run_id, ordinal, rank",
    "step": "run_id, ordinal",
    "listed_answer": "run_id, ordinal",
    "clarifying_question": "run_id, ordinal",
    "detection": "run_id, ordinal",
    "rewriting": "run_id",
    "estimate": "run_id",
    "completion": "run_id, purpose, input_hash, sample",
}
LEFT_OUT = {
    # A worker that looks between the entry of a run and its caller's note lowers it for a moment.
    "priority",
    "attempt",
    "worker_id",
    "leased_by",
    "call_id",
    "requested_by_oid",
    "reuse_key",
    "vector",
    "question_vector",
    "duration_ms",
    "model_ms",
    "latency_ms",
    # They are found out after the run has ended.
    "question_group_id",
    "served",
    # They count what happened to the corpus before.
    "corpus_revision",
    "graph_revision",
}
# The script decides what the model says, and ledger_keys.txt shows the rest of the key.
LEFT_OUT_OF_COMPLETION = {"reply", "model", "parameters", "prompt_version"}
# Long texts that stand in many rows.
SHORTENED = {"interpretation", "quote"}
LONGEST = 40
PREFIX = re.compile(r"^(?:parent|via)_")


class Recorder:
    """Records operations, one after the other.

    Args:
        asker: Who calls them.
        superuser: Who reads the tables.
        model: What the worker asks.

    Attributes:
        text: What was recorded so far.
    """

    def __init__(self, asker: Connection, superuser: Connection, model: Server) -> None:
        self._asker = asker
        self._superuser = superuser
        self._model = model
        self._numbers: dict[str, dict[int, int]] = {}
        self._seen: set[tuple[str, str]] = set()
        self.text = ""

    def call(self, title: str, statement: str, *parameters: object) -> list[dict[str, Any]]:
        """Call an operation, and write down what it returns.

        Args:
            title: Heading of this part.
            statement: The call.
            parameters: Its parameters.

        Returns:
            The rows, as they are; none if the call raised an error.
        """
        self.text += f"\n# {title}\n"
        try:
            rows = _fetched(self._asker, statement, parameters)
        except psycopg.Error as error:
            self.text += f"  raised {error.sqlstate}\n"
            return []
        self._add("returned", rows)
        return rows

    def record(
        self, title: str, statement: str, *parameters: object, behavior: Behavior = by_rules
    ) -> list[dict[str, Any]]:
        """Call an operation to its end, and write down what rows of tables are new as well.

        Args:
            title: As in call.
            statement: As in call.
            parameters: As in call.
            behavior: What the model does meanwhile.

        Returns:
            As call.
        """
        self._model.behavior = behavior
        returned = self.call(title, statement, *parameters)
        of_none = _fetched(self._superuser, "select run_id from pgclarify_private.run where corpus_id is null")
        without_corpus = {row["run_id"] for row in of_none}
        for table, order in TABLES.items():
            rows = _fetched(self._superuser, f"select * from pgclarify_private.{table} order by {order}")  # noqa: S608 - constants
            if table == "completion":
                rows = [{name: row[name] for name in row if name not in LEFT_OUT_OF_COMPLETION} for row in rows]
                # Without a corpus, it depends on the oid of the role that asked.
                rows = [row | {"input_hash": None} if row["run_id"] in without_corpus else row for row in rows]
            self._add(table, [row for row in rows if self._is_new(table, row)])
        return returned

    def _is_new(self, table: str, row: Mapping[str, Any]) -> bool:
        shown = table, repr(_shown(row))
        is_new = shown not in self._seen
        self._seen.add(shown)
        return is_new

    def _add(self, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
        for row in rows:
            written = json.dumps(self._plain(row), ensure_ascii=False)
            # They differ from one test run to the next.
            for different, same in ((self._model.base_url, "http://model/v1"), (self._asker.info.user, "asker")):
                written = written.replace(different, same)
            self.text += f"  {name} {written}\n"

    def _plain(self, value: Any, name: str = "") -> Any:
        if isinstance(value, Mapping):
            return {key: self._plain(part, key) for key, part in _shown(value).items()}
        if isinstance(value, list):
            return [self._plain(part, name) for part in value]
        if isinstance(value, int) and name.endswith("_id"):
            numbers = self._numbers.setdefault(PREFIX.sub("", name), {})
            return numbers.setdefault(value, len(numbers) + 1)
        if isinstance(value, float):
            return float(f"{value:.2g}")
        if isinstance(value, bytes):
            return value.hex()[:16]
        if isinstance(value, str) and name in SHORTENED and len(value) > LONGEST:
            return f"{value[: LONGEST // 2]}… {hashlib.sha256(value.encode()).hexdigest()[:8]}"
        return value if isinstance(value, str | int) else str(value)


def _shown(row: Mapping[str, Any]) -> dict[str, Any]:
    # Sorted, since tables may come to have their columns in another order. Times in JSON are text, so they go by name.
    return {
        name: value
        for name, value in sorted(row.items())
        if value is not None and name not in LEFT_OUT and not name.endswith(("_at", "_until"))
    }


def _fetched(connection: Connection, statement: str, parameters: Sequence[object] = ()) -> list[dict[str, Any]]:
    with connection.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(statement.encode(), parameters).fetchall()
