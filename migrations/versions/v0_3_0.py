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
    "alter table pgclarify_private.run add column login name",
    "comment on column pgclarify_private.run.login is"
    " 'Login role of the session that asked, for budgets alone; null if the run was entered before 0.3.0.'",
)


def upgrade() -> None:
    for statement in _STATEMENTS:
        op.execute(statement)
