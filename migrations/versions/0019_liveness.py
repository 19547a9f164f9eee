"""Workers live by a heartbeat and a lease, and runs count the workers that were lost with them.

Revision ID: 0019
Revises: 0018
"""

from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        alter table pgclarify.worker
            add column lease interval not null default '20 seconds'
                constraint worker_lease_is_positive check (lease > interval '0 seconds');
        comment on table pgclarify.worker is
            'A worker process. It is alive while its session holds the advisory lock (1885823084, worker_id) and its '
            'last heartbeat, seen_at, is not older than its lease.';
        comment on column pgclarify.worker.lease is 'How long after seen_at it still counts as alive.';

        alter table pgclarify.run
            add column crashes integer not null default 0
                constraint run_crashes_is_not_negative check (crashes >= 0);
        comment on column pgclarify.run.crashes is
            'How many workers in a row were lost while they carried it out, since an attempt of it last stored a '
            'reply: from 2 on it is carried out alone, and at 5 it fails.';
    """)


def downgrade() -> None:
    op.execute("""
        alter table pgclarify.run drop column crashes;
        alter table pgclarify.worker drop column lease;
        comment on table pgclarify.worker is
            'A worker process. It lives as long as its session holds the advisory lock (1885823084, worker_id).';
    """)
