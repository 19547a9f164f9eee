"""Workers."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Identity,
    Index,
    Integer,
    Interval,
    PrimaryKeyConstraint,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY

from pgclarify.schema.base import Timestamp, metadata

worker = Table(
    "worker",
    metadata,
    Column(
        "worker_id",
        BigInteger,
        Identity(always=True),
        nullable=False,
        comment="Key, and second key of the advisory lock.",
    ),
    Column("host", Text, nullable=False, comment="Machine it runs on."),
    Column("process_id", Integer, nullable=False, comment="Its process there."),
    Column("version", Text, nullable=False, comment="Version of pgclarify."),
    Column("provider", Text, nullable=False, comment="openai or extractive."),
    Column("model", Text, nullable=False, comment="Model that judges passages."),
    Column("prompt_version", Text, nullable=False, comment="Version of its prompts."),
    Column(
        "embedding_models",
        ARRAY(Text),
        nullable=False,
        server_default=text("'{}'"),
        comment="Embedding models that it has loaded.",
    ),
    Column("queue_worker_id", BigInteger, comment="Its id in the task queue; null until it takes jobs."),
    Column("started_at", Timestamp, nullable=False, server_default=text("now()"), comment="When it started."),
    Column(
        "seen_at",
        Timestamp,
        nullable=False,
        server_default=text("now()"),
        comment="When it last sent a heartbeat.",
    ),
    Column(
        "is_serving",
        Boolean,
        nullable=False,
        server_default=text("true"),
        comment=(
            "True if it takes runs and documents; false for a process that only leases replies of the ledger, as an "
            "evaluation does."
        ),
    ),
    Column(
        "lease",
        Interval,
        nullable=False,
        server_default=text("'00:00:20'::interval"),
        comment="How long after seen_at it counts as alive.",
    ),
    CheckConstraint("lease > '00:00:00'::interval", name="worker_lease_is_positive"),
    PrimaryKeyConstraint("worker_id", name="worker_pk"),
    Index("worker_queue_worker_id_idx", "queue_worker_id"),
    comment=(
        "A worker process. It is alive while its session holds the advisory lock (1885823084, worker_id), and its "
        "last heartbeat, seen_at, is not older than its lease."
    ),
)
