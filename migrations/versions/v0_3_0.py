"""What 0.3.0 changes in the tables of 0.2.0.

Revision ID: v0_3_0
Revises: v0_2_0
"""

from alembic import op

revision = "v0_3_0"
down_revision = "v0_2_0"
branch_labels = None
depends_on = None

_STATEMENTS: tuple[str, ...] = (
    "create table pgclarify_private.table_owner"
    " (owner_oid oid not null, constraint table_owner_pk primary key (owner_oid))",
    "comment on table pgclarify_private.table_owner is"
    " 'Owners of tables that are or were attached. A transaction that attaches or detaches one locks its owner.'",
    "comment on column pgclarify_private.table_owner.owner_oid is 'Oid of the role.'",
)


def upgrade() -> None:
    for statement in _STATEMENTS:
        op.execute(statement)
