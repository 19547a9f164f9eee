"""Shared by tests of costs and budgets: runs that spend."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

from tests.integration.manual_worker import ManualWorker
from tests.sessions import Connection, scalar

MODEL = "a-model"
# Bytes and tokens of a call. At a dollar and ten dollars for a million tokens in and out, 0.00105 are reserved.
INPUT_BYTES = 100
MAX_OUTPUT_TOKENS = 100
BOUND = Decimal("0.00105")


@dataclass(frozen=True)
class Claims:
    """The result of a claim: calls to make, stored replies, refused calls, calls that wait, and calls noted as sent."""

    ours: dict[str, int]
    answered: dict[str, str]
    refused: dict[str, Mapping[str, str]]
    waiting: set[str]
    sent: set[str]


def price(
    connection: Connection,
    model: str = MODEL,
    input_usd: str = "1",
    output_usd: str = "10",
    cached_input_usd: str | None = None,
) -> None:
    connection.execute(
        """
        insert into pgclarify.model_price (model, input_usd, output_usd, cached_input_usd) values (%s, %s, %s, %s)
        on conflict (model) do update
        set
            input_usd = excluded.input_usd,
            output_usd = excluded.output_usd,
            cached_input_usd = excluded.cached_input_usd
        """,
        [model, input_usd, output_usd, cached_input_usd],
    )


def budget(connection: Connection, name: str = "all", period: str = "total", **limits: Any) -> int:
    """Create a budget. limits: columns of the table."""
    return int(
        scalar(
            connection,
            """
            insert into pgclarify_private.budget (name, period, role_name, corpus_id, max_cost_usd, max_calls)
            values (%s, %s, %s, %s, %s, %s) returning budget_id
            """,
            name,
            period,
            *(limits.get(column) for column in ("role_name", "corpus_id", "max_cost_usd", "max_calls")),
        )
    )


def enter(
    connection: Connection,
    requested_by: str = "postgres",
    corpus: str | None = None,
    settings: Mapping[str, Any] | None = None,
) -> int:
    """Enter a run, of a corpus or of none."""
    return int(
        scalar(
            connection,
            """
            insert into pgclarify_private.run (
                operation, corpus_id, corpus_name, question, settings, requested_by, requested_by_oid, reuse_key
            )
            select
                case when asked.corpus is null then 'rewrite' else 'clarify' end, corpus.corpus_id, corpus.name,
                'a question', %s, asked.name, pgclarify_private.role_oid(asked.name), ''
            from (values (%s::name, %s::text)) as asked (name, corpus)
            left join pgclarify_private.corpus on corpus.name = asked.corpus
            returning run_id
            """,
            json.dumps(settings or {}),
            requested_by,
            corpus,
        )
    )


def claim(
    worker: ManualWorker,
    run_id: int | None,
    inputs: Sequence[str],
    *,
    model: str = MODEL,
    lease: float = 60,
    sample: int = 0,
    sent_at_once: int = 0,
) -> Claims:
    """Claim one call for each input."""
    rows = worker.claim_calls(
        run_id,
        inputs,
        model=model,
        lease=timedelta(seconds=lease),
        sample=sample,
        sent_at_once=sent_at_once,
        input_bytes=INPUT_BYTES,
        max_output_tokens=MAX_OUTPUT_TOKENS,
    )
    by_input = dict(zip(inputs, rows, strict=True))
    return Claims(
        {text: row["completion_id"] for text, row in by_input.items() if row["is_ours"]},
        {text: row["reply"] for text, row in by_input.items() if row["reply"] is not None},
        {text: row["refusal"] for text, row in by_input.items() if row["refusal"] is not None},
        {
            text
            for text, row in by_input.items()
            if not row["is_ours"] and row["reply"] is None and row["refusal"] is None
        },
        {text for text, row in by_input.items() if row["is_sent"]},
    )


def store(
    worker: ManualWorker,
    completion_ids: Sequence[int],
    tokens: tuple[int | None, int | None] = (40, 10),
    *,
    said: str = "said",
    cached: int | None = None,
    run_id: int | None = None,
    leases: Mapping[int, Any] | None = None,
) -> None:
    """Store replies with these input and output tokens: by default they cost 0.00014 dollars each."""
    count = len(completion_ids)
    worker.store_replies(
        run_id,
        completion_ids,
        replies=[said] * count,
        tokens=[tokens] * count,
        latencies_ms=[1.0] * count,
        cached_tokens=[cached] * count,
        leases=leases,
    )


def status(connection: Connection, name: str = "all") -> tuple[Any, ...]:
    """Spent dollars and calls of a budget, and reserved dollars and calls."""
    row = connection.execute(
        "select spent_usd, calls, reserved_usd, reserved_calls from pgclarify.budget where name = %s", [name]
    ).fetchone()
    assert row is not None
    return tuple(row)
