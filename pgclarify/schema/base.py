"""What the tables share: their MetaData, and types that SQLAlchemy lacks."""

from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import TIMESTAMP
from sqlalchemy.schema import SchemaItem
from sqlalchemy.types import UserDefinedType

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

# For a column with text of people, documents or models, or vectors of such text; and for an index over an expression of
# such a column. Otherwise pg_statistic would keep copies of what was erased.
NO_STATISTICS: Final = {"statistics": 0}


def column(
    name: str,
    type_: Any,  # noqa: ANN401 - SQLAlchemy takes classes and objects
    comment: str,
    *constraints: SchemaItem,
    null: bool = False,
    default: str | None = None,
    has_statistics: bool = True,
) -> sa.Column[Any]:
    """Return a column of a table. Without null, it is NOT NULL; its default is an expression in SQL.

    Without statistics, its statistics target is 0: see NO_STATISTICS.
    """
    return sa.Column(
        name,
        type_,
        *constraints,
        comment=comment,
        nullable=null,
        server_default=None if default is None else sa.text(default),
        info={} if has_statistics else NO_STATISTICS,
    )


class Name(UserDefinedType[str]):
    """PostgreSQL's type name: an identifier of at most 63 bytes, such as a role's."""

    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:  # noqa: ANN401 - SQLAlchemy's signature
        """Return the type's name in DDL."""
        return "name"
