"""Batches of model calls that an endpoint answers within a day at a lower price."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from pgclarify.schema.base import Timestamp, column, metadata, prose

batch = sa.Table(
    "batch",
    metadata,
    column(
        "batch_id",
        sa.UUID,
        "Key. The batch carries it at the endpoint, too, so that a worker that takes it over finds it there.",
        default="gen_random_uuid()",
    ),
    column("model", sa.Text, "Model of its calls."),
    prose("endpoint", "Address of the endpoint."),
    prose("remote_id", "Its id at the endpoint; null until that is stored.", null=True),
    column("leased_by", sa.BigInteger, "Worker that sends, looks at or reads it now; null if none does.", null=True),
    column("leased_until", Timestamp, "When another worker may do that; null without a worker.", null=True),
    column("due_at", Timestamp, "When a worker looks at it next.", default="now()"),
    column("created_at", Timestamp, "When its calls were gathered.", default="now()"),
    column("sent_at", Timestamp, "When a worker was about to send it, the last time; null if none was.", null=True),
    sa.PrimaryKeyConstraint("batch_id"),
    sa.CheckConstraint("(leased_by is null) = (leased_until is null)", name="batch_lease_has_a_holder"),
    comment="A batch of model calls that was sent to an endpoint, or will be; its row is deleted when it was read.",
)

batch_request = sa.Table(
    "batch_request",
    metadata,
    column(
        "run_id", sa.BigInteger, "The run that waits for the call.", sa.ForeignKey("run.run_id", ondelete="CASCADE")
    ),
    column(
        "completion_id",
        sa.BigInteger,
        "The row of the ledger, which is the id of the call in its batch.",
        sa.ForeignKey("completion.completion_id", ondelete="CASCADE"),
    ),
    column("model", sa.Text, "Model of the call."),
    prose("request", "Body of the call, as JSON; null once it is not needed, or erased with a document.", null=True),
    column("input_bytes", sa.Integer, "Bytes of the rendered input, which determine what the call may cost."),
    column("max_output_tokens", sa.Integer, "Most output tokens that may be paid for."),
    column("ready_at", Timestamp, "It is put into no batch before this time.", default="now()"),
    column(
        "batch_id",
        sa.UUID,
        "The batch with the call; null if it is in none, or in one through another run.",
        sa.ForeignKey("batch.batch_id"),
        null=True,
    ),
    column(
        "is_over",
        sa.Boolean,
        "True if the run need not wait for it: the reply is in the ledger, or the run makes the call by itself.",
        default="false",
    ),
    column("budget_ids", ARRAY(sa.BigInteger), "Budgets in which the call is reserved; null if it is not.", null=True),
    column("reserved_usd", sa.Numeric, "Most that it is expected to cost; null unless it is reserved.", null=True),
    column("reserved_at", Timestamp, "When it was reserved; null unless it is.", null=True),
    sa.PrimaryKeyConstraint("run_id", "completion_id"),
    sa.CheckConstraint(
        "num_nonnulls(budget_ids, reserved_usd, reserved_at) in (0, 3)", name="batch_request_reservation_is_whole"
    ),
    sa.CheckConstraint(
        "not is_over or request is null and budget_ids is null", name="batch_request_over_keeps_nothing"
    ),
    sa.Index("batch_request_completion_id_idx", "completion_id"),
    sa.Index("batch_request_batch_id_idx", "batch_id", postgresql_where=sa.text("batch_id is not null")),
    sa.Index("batch_request_waiting_idx", "model", "completion_id", postgresql_where=sa.text("batch_id is null")),
    sa.Index("batch_request_reserved_idx", "reserved_at", postgresql_where=sa.text("budget_ids is not null")),
    comment="A call that a run leaves to a batch. The run waits in the queue until all its calls are over.",
)
