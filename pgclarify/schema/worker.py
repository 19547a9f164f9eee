"""Workers."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from pgclarify.declared.words import UNCHECKED, listed
from pgclarify.schema.base import Timestamp, column, metadata, prose

worker = sa.Table(
    "worker",
    metadata,
    column("worker_id", sa.BigInteger, "Key, and second key of the advisory lock.", sa.Identity(always=True)),
    column("host", sa.Text, "Machine it runs on."),
    column("process_id", sa.Integer, "Its process there."),
    column("version", sa.Text, "Version of pgclarify."),
    column("provider", sa.Text, f"{listed(UNCHECKED['worker.provider'])}."),
    column("model", sa.Text, "Model that judges passages."),
    column("prompt_version", sa.Text, "Version of its prompts."),
    column("embedding_models", ARRAY(sa.Text), "Embedding models that it has loaded.", default="'{}'"),
    column("started_at", Timestamp, "When it started.", default="now()"),
    column("seen_at", Timestamp, "When it last sent a heartbeat.", default="now()"),
    column(
        "is_serving",
        sa.Boolean,
        "True if it takes runs and documents; false for a process that only leases replies of the ledger, as an "
        "evaluation does.",
        default="true",
    ),
    column("lease", sa.Interval, "How long after seen_at it counts as alive.", default="'00:00:20'::interval"),
    column(
        "schema_hash",
        sa.Text,
        "Hash of the schema that it works with. It takes runs while that schema is installed. Null: it takes none.",
        null=True,
    ),
    sa.CheckConstraint("lease > '00:00:00'::interval", name="worker_lease_is_positive"),
    sa.PrimaryKeyConstraint("worker_id"),
    comment=(
        "A worker process. It is alive while its session holds the advisory lock (1885823084, worker_id), and its "
        "last heartbeat, seen_at, is not older than its lease."
    ),
)

endpoint_rate = sa.Table(
    "endpoint_rate",
    metadata,
    prose("endpoint", "The address, and the model or what the endpoint serves."),
    column("requests_free_at", Timestamp, "Until when its limit of requests is booked."),
    column("tokens_free_at", Timestamp, "Until when its limit of tokens is booked."),
    sa.PrimaryKeyConstraint("endpoint"),
    comment=(
        "The rates at which workers together call endpoints that have limits. A worker books time of a limit; see "
        "book_endpoint."
    ),
)
