"""What the nodes do for a statement: the plans of its tasks, from auto_explain on the nodes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql

_SETTINGS = {
    "session_preload_libraries": "auto_explain",
    "auto_explain.log_analyze": "on",
    "auto_explain.log_format": "json",
    "auto_explain.log_level": "notice",
    "auto_explain.log_min_duration": "0",
    # So that an index is used for few passages, if the statement and its settings allow that.
    "enable_seqscan": "off",
}
_OF_SHARD = re.compile(r"pgclarify_private\.((?:passage|passage_embedding)_\d+)_(\d{6,})\b")


@dataclass(frozen=True)
class Task:
    """The statement of one shard, as a node executed it.

    Attributes:
        table: The distributed table that the statement names first.
        shard: The id of its shard.
        statement: The text, without the ids of shards.
        rows: How many rows the node sent.
        kinds: The nodes of its plan, the top one first.
        indexes: The indexes of the plan, without ids in their names.
    """

    table: str
    shard: int
    statement: str
    rows: float
    kinds: list[str]
    indexes: list[str]

    @property
    def limit(self) -> int | None:
        """The largest number of rows that the statement may return; None if it has no limit."""
        found = re.search(r" LIMIT '?(\d+)'?(::bigint)?$", self.statement)
        return int(found[1]) if found else None


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from _nodes(child)


def _task(notice: str) -> Task | None:
    explained = json.loads(notice[notice.index("{") :])
    found = _OF_SHARD.search(explained["Query Text"])
    if found is None:
        return None
    nodes = list(_nodes(explained["Plan"]))
    return Task(
        table=found[1],
        shard=int(found[2]),
        statement=_OF_SHARD.sub(r"pgclarify_private.\1", explained["Query Text"].strip()),
        rows=nodes[0]["Actual Rows"],
        kinds=[node["Node Type"] for node in nodes],
        indexes=[re.sub(r"_\d+", "", node["Index Name"]) for node in nodes if "Index Name" in node],
    )


@contextmanager
def explaining(dsn: str) -> Iterator[Callable[..., list[Task]]]:
    """Let the nodes explain what they do for the functions of the product.

    Args:
        dsn: The coordinator, as a superuser.

    Yields:
        A function that executes a statement with parameters, and returns its tasks.
    """
    _change_each_node(dsn, [f"set {name} = '{value}'" for name, value in _SETTINGS.items()])
    try:
        with closing(psycopg.connect(dsn, autocommit=True)) as session:
            seen: list[str] = []
            session.add_notice_handler(lambda notice: seen.append(str(notice.message_primary)))
            # One connection to each node. Citus reads a plan, which comes after the rows, with the next statement.
            session.execute("set citus.max_adaptive_executor_pool_size = 1")
            (table,) = session.execute("select table_name::text from citus_tables").fetchall()[0]
            last = sql.SQL("select 'last' from {} limit 1").format(sql.Identifier(*table.split(".")))

            def tasks(statement: str, *parameters: Any) -> list[Task]:
                seen.clear()
                with session.transaction():
                    session.execute(statement.encode(), parameters)
                    session.execute("set local role pgclarify_owner")
                    session.execute(last)
                found = [_task(notice) for notice in seen]
                return [task for task in found if task is not None and "'last'" not in task.statement]

            yield tasks
    finally:
        _change_each_node(dsn, [f"reset {name}" for name in _SETTINGS])


def _change_each_node(dsn: str, changes: Iterable[str]) -> None:
    """Change settings of our functions in this database, on each node alone."""
    with closing(psycopg.connect(dsn, autocommit=True)) as coordinator:
        nodes = coordinator.execute("select nodename, nodeport from pg_dist_node where groupid > 0").fetchall()
    for host, port in nodes:
        with closing(psycopg.connect(dsn, host=host, port=port, autocommit=True)) as node:
            node.execute("set citus.enable_ddl_propagation = off")
            for change in changes:
                node.execute(f"alter role pgclarify_owner in database {node.info.dbname} {change}".encode())
