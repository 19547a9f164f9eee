"""The explanation of a run with many passages, among many runs."""

from __future__ import annotations

from tests.integration.explaining import Desk, desk, explained, explored
from tests.integration.test_plans import plans

__all__ = ["desk"]


def test_many_passages_are_read_by_index_and_at_once(desk: Desk) -> None:
    """Neither other runs nor the size of this run make it slow: one statement for each table, and no full scan."""
    small = explored(desk)
    large = desk.submit("how many")
    # One of a hundred runs of two hundred passages each, and of more runs. The tables are too large for a full scan to
    # be the right plan.
    desk.owner.execute("""
        insert into pgclarify_private.run
            (operation, corpus_id, corpus_name, question, settings, requested_by, reuse_key)
        select 'clarify', 1, 'insurance', 'cars', '{}', current_user, sha256(int4send(n))
        from generate_series(1, 500) as n;

        insert into pgclarify_private.completion
        (purpose, model, parameters, prompt_version, input_hash, run_id, reply, latency_ms, finished_at)
        select 'verdict', 'm', '{}', 'v', sha256(int8send(run.run_id * 1000 + n)), run.run_id, 'said', 1, now()
        from pgclarify_private.run, generate_series(1, 200) as n
        where run.question = 'how many' or run.question = 'cars' and run.run_id % 5 = 0;

        insert into pgclarify_private.candidate (run_id, rank, corpus_id, document_id, passage_id, score, origin)
        select run_id, row_number() over (partition by run_id), 1, '101', completion_id, 0.5, 'dense'
        from pgclarify_private.completion where model = 'm';

        insert into pgclarify_private.verdict (run_id, rank, outcome, completion_id, is_reused, reason, abstention_code)
        select run_id, rank, 'abstained', passage_id, false, 'no', 'not_answered'
        from pgclarify_private.candidate join pgclarify_private.completion using (run_id)
        where completion_id = passage_id and model = 'm'
    """)
    desk.owner.execute(
        "vacuum (analyze) pgclarify_private.completion, pgclarify.candidate, pgclarify.verdict, pgclarify.run"
    )

    with plans(desk.owner) as of_small:
        explained(desk.owner, small)
    with plans(desk.owner) as of_large:
        assert explained(desk.owner, large).count("abstained, no  (time=1.0 ms)") == 200

    # Not those of the function that shows a text, which reads no table.
    reading = [
        [plan for plan in seen if " Scan " in plan and "string_to_table" not in plan] for seen in (of_small, of_large)
    ]
    # The state of a run that waits takes a statement more.
    assert 10 < len(reading[1]) <= len(reading[0]) + 1
    for plan in of_large:
        for table in ("run", "candidate", "verdict", "completion"):
            assert f"Seq Scan on {table} " not in plan
