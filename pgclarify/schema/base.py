"""What the tables share: their MetaData, and types that SQLAlchemy lacks."""

from collections.abc import Iterable
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import OID, TIMESTAMP
from sqlalchemy.schema import SchemaItem
from sqlalchemy.types import UserDefinedType

from pgclarify.declared.words import COLUMNS
from pgclarify.schema_names import PRIVATE_SCHEMA as PRIVATE_SCHEMA

metadata = sa.MetaData(
    schema=PRIVATE_SCHEMA,
    naming_convention={"pk": "%(table_name)s_pk", "fk": "%(table_name)s_%(column_0_name)s_fk"},
)

Timestamp = TIMESTAMP(timezone=True)

# For a table whose rows are soon deleted. A search for its first row reads the rows deleted since the last VACUUM.
QUEUE: Final = {
    "autovacuum_vacuum_scale_factor": 0,
    "autovacuum_vacuum_threshold": 10000,
    "autovacuum_vacuum_cost_delay": 0,
}

# Otherwise pg_statistic would keep copies of what was erased: for `prose`, and for an index over an expression of it.
NO_STATISTICS: Final = {"statistics": 0}


def column(
    name: str,
    type_: Any,  # noqa: ANN401 - SQLAlchemy takes classes and objects
    comment: str,
    *constraints: SchemaItem,
    null: bool = False,
    default: str | None = None,
) -> sa.Column[Any]:
    """Return a column of a table. Without null, it is NOT NULL; its default is an expression in SQL."""
    server_default = None if default is None else sa.text(default)
    return sa.Column(name, type_, *constraints, comment=comment, nullable=null, server_default=server_default)


def prose(
    name: str,
    comment: str,
    *constraints: SchemaItem,
    type_: Any = sa.Text,  # noqa: ANN401 - SQLAlchemy takes classes and objects
    null: bool = False,
    default: str | None = None,
) -> sa.Column[Any]:
    """Return a column with text of people, documents or models, or with vectors of such text: it has no statistics."""
    made = column(name, type_, comment, *constraints, null=null, default=default)
    made.info.update(NO_STATISTICS)
    return made


def count(name: str, comment: str) -> sa.Column[Any]:
    """Return a column that counts from 0."""
    return column(name, sa.BigInteger, comment, default="0")


def is_one_of(column: str, words: Iterable[str]) -> str:
    """Return the condition that a column has one of these words."""
    return f"{column} in ({', '.join(repr(str(word)) for word in words)})"


def word_is_known(name: str, words: Iterable[str] = ()) -> sa.CheckConstraint:
    """Return the CHECK of a column with words of a closed vocabulary.

    Args:
        name: The column with its table, such as run.status.
        words: The words, if `pgclarify.declared.words.COLUMNS` does not have them.
    """
    table, column = name.split(".")
    return sa.CheckConstraint(is_one_of(column, words or COLUMNS[name]), name=f"{table}_{column}_is_known")


def requester_oid() -> sa.Column[Any]:
    """Return the column that stands beside `requested_by`."""
    comment = "Oid of that role, so that another role of that name does not count."
    return column("requested_by_oid", OID, comment, default="quote_ident(current_user)::regrole")


class Name(UserDefinedType[str]):
    """PostgreSQL's type name: an identifier of at most 63 bytes, such as a role's."""

    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:  # noqa: ANN401 - SQLAlchemy's signature
        """Return the type's name in DDL."""
        return "name"
