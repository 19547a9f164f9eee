"""What 0.4.0 changes in the tables of 0.3.0. The comments of tables and columns follow from `pgclarify.schema`.

Revision ID: v0_4_0
Revises: v0_3_0
"""

from alembic import op

revision = "v0_4_0"
down_revision = "v0_3_0"
branch_labels = None
depends_on = None

_STATEMENTS: tuple[str, ...] = ()


def upgrade() -> None:
    for statement in _STATEMENTS:
        op.execute(statement)
