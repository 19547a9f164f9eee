"""How many rows price_runs reads for the runs that it prices."""

from __future__ import annotations

import pytest

from tests.integration.by_hand import Connection, scalar
from tests.integration.spending import price

pytestmark = pytest.mark.rolled_back

RUNS = 500


@pytest.fixture
def unpriced(connection: Connection) -> Connection:
    """Runs of one call each, by three models. One model has no price, and the call of one has no token counts."""
    connection.execute(
        """
        with entered as (
            insert into pgclarify_private.run (
                operation, question, settings, requested_by, reuse_key, status, model, started_at, finished_at,
                completions, prompt_tokens, completion_tokens
            )
            select
                'rewrite', 'a question', '{}', 'postgres', '', 'succeeded', named.model, now(), now(), 1,
                coalesce(named.tokens, 0), coalesce(named.tokens, 0)
            from generate_series(1, %s), (values ('unheard-of', 10), ('uncounted', null), ('known', 10))
                as named (model, tokens)
            returning run_id, model, prompt_tokens
        )
        insert into pgclarify_private.completion (
            purpose, model, parameters, prompt_version, input_hash, sample, run_id, reply, prompt_tokens,
            completion_tokens, latency_ms, finished_at
        )
        select
            'verdict', model, '{}', 'v1', sha256(int8send(run_id)), 0, run_id, 'said', nullif(prompt_tokens, 0),
            nullif(prompt_tokens, 0), 1, now()
        from entered
        """,
        [RUNS],
    )
    connection.execute("analyze pgclarify_private.run, pgclarify_private.completion")
    price(connection, "uncounted")
    price(connection, "known")
    return connection


def test_price_runs_reads_only_the_calls_that_it_prices(unpriced: Connection) -> None:
    # Without this, the planner would not use indexes on such small tables.
    unpriced.execute("set enable_seqscan = off")
    with unpriced.transaction():
        assert scalar(unpriced, "select pgclarify_private.price_runs(max_runs => 10)") == 10
        read = "select seq_tup_read + idx_tup_fetch from pg_stat_xact_user_tables where relname = 'completion'"
        assert scalar(unpriced, read) < RUNS / 2


def test_price_runs_prices_each_run_once(unpriced: Connection) -> None:
    priced = [scalar(unpriced, "select pgclarify_private.price_runs(max_runs => 300)") for _ in range(3)]
    assert priced == [300, 200, 0]
    costs = "select model, count(*), count(cost_usd) from pgclarify.run group by 1 order by 1"
    assert unpriced.execute(costs).fetchall() == [
        ("known", RUNS, RUNS),
        ("uncounted", RUNS, 0),
        ("unheard-of", RUNS, 0),
    ]
