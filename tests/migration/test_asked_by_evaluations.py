"""What evaluations asked before there was a mark for it does not count as asked."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

import psycopg

from pgclarify import install


def test_an_upgrade_marks_what_evaluations_asked(make_database: Callable[..., str]) -> None:
    dsn = make_database()
    install.migrate(dsn, "0014")
    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        connection.execute("""
            insert into pgclarify.run (operation, question, settings, requested_by, reuse_key, created_at)
            select 'rewrite', 'what?', '{}', 'r', '', now() + place * interval '1 minute'
            from unnest(array[-1, 1, 1]) as place
        """)
        connection.execute("""
            insert into pgclarify.eval_run (
                name, data_set, data_set_hash, corpus_name, corpus_revision, method, settings, provider, model,
                prompt_version, embedding_model, judge, judge_version, version, planned_cases
            )
            values (
                'night', 'questions', sha256('q'), 'insurance', 0, 'clarify', '{}', 'openai', 'm', 'v', 'm', 'lexical',
                '1', '0.7', 2
            )
        """)
        # The first one was there when the evaluation asked, the third one is of somebody else.
        connection.execute("""
            insert into pgclarify.eval_case (
                eval_run_id, ordinal, case_id, question, gold, output, run_id, status, calls, reused_calls,
                prompt_tokens, completion_tokens, model_seconds, seconds
            )
            select 1, place, place, 'cars', '{}', '{}', place, 'succeeded', 1, 1, 100, 10, 1, 1
            from generate_series(1, 2) as place
        """)

    install.migrate(dsn, "0015")

    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        rows = connection.execute("select run_id from pgclarify.run where is_counted order by run_id").fetchall()
    assert rows == [(1,), (3,)]
