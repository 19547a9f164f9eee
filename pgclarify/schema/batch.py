"""Batches of model calls that an endpoint answers within a day at a lower price."""

from sqlalchemy import (
    UUID,
    BigInteger,
    Boolean,
    CheckConstraint,
    ForeignKey,
    Index,
    Integer,
    Numeric,
    PrimaryKeyConstraint,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY

from pgclarify.schema.base import Timestamp, column, metadata

batch = Table(
    "batch",
    metadata,
    column(
        "batch_id",
        UUID,
        "Key. The batch carries it at the endpoint, too, so that a worker that takes it over finds it there.",
        default="gen_random_uuid()",
    ),
    column("model", Text, "Model of its calls."),
    column("endpoint", Text, "Address of the endpoint.", has_statistics=False),
    column("remote_id", Text, "Its id at the endpoint; null until that is stored.", null=True, has_statistics=False),
    column("leased_by", BigInteger, "Worker that sends, looks at or reads it now; null if none does.", null=True),
    column("leased_until", Timestamp, "When another worker may do that; null without a worker.", null=True),
    column("due_at", Timestamp, "When a worker looks at it next.", default="now()"),
    column("created_at", Timestamp, "When its calls were gathered.", default="now()"),
    PrimaryKeyConstraint("batch_id"),
    CheckConstraint("(leased_by is null) = (leased_until is null)", name="batch_lease_has_a_holder"),
    comment="A batch of model calls that was sent to an endpoint, or will be; its row is deleted when it was read.",
)

batch_request = Table(
    "batch_request",
    metadata,
    column("run_id", BigInteger, "The run that waits for the call.", ForeignKey("run.run_id", ondelete="CASCADE")),
    column(
        "completion_id",
        BigInteger,
        "The row of the ledger, which is the id of the call in its batch.",
        ForeignKey("completion.completion_id", ondelete="CASCADE"),
    ),
    column("model", Text, "Model of the call."),
    column(
        "request",
        Text,
        "Body of the call, as JSON; null once it is not needed, or erased with a document.",
        null=True,
        has_statistics=False,
    ),
    column("input_bytes", Integer, "Bytes of the rendered input, which determine what the call may cost."),
    column("max_output_tokens", Integer, "Most output tokens that may be paid for."),
    column("ready_at", Timestamp, "It is put into no batch before this time.", default="now()"),
    column(
        "batch_id",
        UUID,
        "The batch with the call; null if it is in none, or in one through another run.",
        ForeignKey("batch.batch_id"),
        null=True,
    ),
    column(
        "is_over",
        Boolean,
        "True if the run need not wait for it: the reply is in the ledger, or the run makes the call by itself.",
        default="false",
    ),
    column("budget_ids", ARRAY(BigInteger), "Budgets in which the call is reserved; null if it is not.", null=True),
    column("reserved_usd", Numeric, "Most that it is expected to cost; null unless it is reserved.", null=True),
    column("reserved_at", Timestamp, "When it was reserved; null unless it is.", null=True),
    PrimaryKeyConstraint("run_id", "completion_id"),
    CheckConstraint(
        "num_nonnulls(budget_ids, reserved_usd, reserved_at) in (0, 3)", name="batch_request_reservation_is_whole"
    ),
    CheckConstraint("not is_over or request is null and budget_ids is null", name="batch_request_over_keeps_nothing"),
    Index("batch_request_completion_id_idx", "completion_id"),
    Index("batch_request_batch_id_idx", "batch_id", postgresql_where=text("batch_id is not null")),
    Index("batch_request_waiting_idx", "model", "completion_id", postgresql_where=text("batch_id is null")),
    Index("batch_request_reserved_idx", "reserved_at", postgresql_where=text("budget_ids is not null")),
    comment="A call that a run leaves to a batch. The run waits in the queue until all its calls are over.",
)
