"""A role is its name and its oid: a new role of an old name has nothing of what the old one had, and can work itself."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest
from psycopg import sql

from pgclarify import embedded, install
from pgclarify.cli.doctor.service import check_identities
from tests.integration.by_hand import Connect, Connection, Hire, MakeRole, scalar, state_of
from tests.integration.conversing import ask_back
from tests.integration.test_evaluation_policies import BEGIN
from tests.integration.test_nothing_leaks import TABLES, add, answered, seen

SECRET = "Zebra cars are insured."
OF_RUN = (
    "select * from pgclarify.result({})",
    "select * from pgclarify.wait(array[{}]::bigint[])",
    "select pgclarify.cancel({})",
    "select * from pgclarify.consolidate({})",
    "select pgclarify.explain({})",
    "select * from pgclarify.choose({}, 1)",
    "select * from pgclarify.reply({}, 'the first')",
)


def recreate(admin: Connection, role: str, *, membership: str = "pgclarify_user") -> None:
    """Another role under this name, with the same rights."""
    admin.execute(sql.SQL("drop role {}").format(sql.Identifier(role)))
    admin.execute(sql.SQL("create role {} login").format(sql.Identifier(role)))
    admin.execute(sql.SQL("grant {} to {}").format(sql.Identifier(membership), sql.Identifier(role)))


def runs_of(connection: Connection) -> list[int]:
    return [row[0] for row in connection.execute("select run_id from pgclarify.run_summary order by 1")]
