"""A log of searches in a project's schema, and the tables that a build makes from it."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg import sql

from tests.dbt.project import Project

Connection = psycopg.Connection[Any]

MODEL = "search_interpretations"


def log(connection: Connection, project: Project, *queries: str | None) -> None:
    """Add searches to the log, numbered from 1."""
    table = sql.Identifier(project.schema, "search_log")
    for query in queries:
        connection.execute(sql.SQL("insert into {0} select count(*) + 1, %s from {0}").format(table), [query])


def forget(connection: Connection, project: Project, search_id: int) -> None:
    """Remove a search from the log."""
    table = sql.Identifier(project.schema, "search_log")
    connection.execute(sql.SQL("delete from {} where search_id = %s").format(table), [search_id])


def change(connection: Connection, project: Project, search_id: int, query: str | None) -> None:
    """Change the text of a search."""
    table = sql.Identifier(project.schema, "search_log")
    connection.execute(sql.SQL("update {} set query = %s where search_id = %s").format(table), [query, search_id])


def rows(connection: Connection, project: Project, columns: str, table: str = MODEL) -> list[tuple[Any, ...]]:
    """Distinct rows of a table of the project, in order."""
    names = sql.SQL(", ").join(sql.Identifier(column) for column in columns.split())
    statement = sql.SQL("select distinct {0} from {1} order by {0}").format(
        names, sql.Identifier(project.schema, table)
    )
    return connection.execute(statement).fetchall()
