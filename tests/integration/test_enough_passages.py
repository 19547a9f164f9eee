"""The query on the page about tuning: which top_k keeps the grounded verdicts, with a bounded risk."""

from __future__ import annotations

from math import comb
from typing import Any

import psycopg
import pytest

from tests.pages import CHECKOUT, blocks

pytestmark = pytest.mark.rolled_back

(QUERY,) = (block.code for block in blocks(CHECKOUT / "docs" / "tuning.md", "sql"))


def judge(
    connection: psycopg.Connection[Any], *ranks: int, settings: str = '{"retrieval": "fixed", "top_k": 20}'
) -> None:
    """Store a question for each rank, with a grounded verdict on the passage of that rank."""
    connection.execute(
        """
        with asked as (
            insert into pgclarify_private.run (
                operation, corpus_id, corpus_name, question, settings, requested_by, reuse_key, status, model,
                finished_at, worker_id
            )
            select
                'clarify', corpus.corpus_id, corpus.name, given.rank || ' ' || given.ordinal, %(settings)s::jsonb,
                current_user, sha256(''), 'succeeded', 'your-model', now(), 1
            from pgclarify_private.corpus
            cross join unnest(%(ranks)s::integer[]) with ordinality as given (rank, ordinal)
            returning run_id, corpus_id, split_part(question, ' ', 1)::integer as rank
        ),
        found as (
            insert into pgclarify_private.candidate (run_id, rank, corpus_id, document_id, passage_id, score, origin)
            select run_id, rank, corpus_id, '1', 1, 0.5, 'dense' from asked
            returning run_id, rank
        )
        insert into pgclarify_private.verdict (
            run_id, rank, outcome, interpretation, answer, quote, start_char, end_char, vector, is_reused
        )
        select run_id, rank, 'grounded', 'r', 'a', 'q', 0, 1, '[1]', false from found
        """,
        {"ranks": list(ranks), "settings": settings},
    )


@pytest.fixture
def judged(connection: psycopg.Connection[Any]) -> psycopg.Connection[Any]:
    connection.execute("select pgclarify.create_corpus('handbook')")
    return connection


def enough(connection: psycopg.Connection[Any]) -> tuple[int, int | None]:
    row = connection.execute(QUERY.encode()).fetchone()
    assert row is not None
    return row[0], row[1]


def test_58_questions_are_too_few_for_a_promise(judged: psycopg.Connection[Any]) -> None:
    judge(judged, *[1] * 58)

    assert enough(judged) == (58, None)


def test_59_questions_keep_the_worst_rank_of_all(judged: psycopg.Connection[Any]) -> None:
    judge(judged, *[1] * 58, 7)

    assert enough(judged) == (59, 7)


@pytest.mark.parametrize(("questions", "left_out"), [(200, 0), (200, 4), (200, 5), (1000, 38), (1000, 39)])
def test_top_k_leaves_out_as_many_labels_as_the_binomial_tail_allows(
    judged: psycopg.Connection[Any], questions: int, left_out: int
) -> None:
    judge(judged, *[4] * (questions - left_out), *[15] * left_out)

    tail = sum(comb(questions, many) * 0.05**many * 0.95 ** (questions - many) for many in range(left_out + 1))
    assert enough(judged) == (questions, 4 if tail <= 0.05 else 15)


def test_a_question_counts_once_and_other_settings_do_not_count(judged: psycopg.Connection[Any]) -> None:
    judge(judged, *[2] * 59)
    judge(judged, *[2] * 59)
    judge(judged, *[20] * 59, settings='{"retrieval": "adaptive", "top_k": 20}')

    assert enough(judged) == (59, 2)
