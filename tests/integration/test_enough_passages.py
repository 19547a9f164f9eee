"""Option recall: which top_k keeps the answers of earlier runs, with a bounded risk."""

from __future__ import annotations

import json
from math import comb
from typing import Any

import pytest

from tests.integration.stored_answers import rows
from tests.openai_server import Chat, Reply, Server, by_rules
from tests.sessions import Connection, scalar, sqlstate_of
from tests.workers import CORPUS, DOCUMENTS

pytestmark = pytest.mark.rolled_back

ABSTENTION = Reply('{"interpretation": null, "answer": null, "quote": null}')
QUESTIONS = [
    "How many days does rental reimbursement pay for while your car is repaired?",
    "Which deductible applies to a rental car that is damaged by hail?",
    "Which surcharge do drivers under twenty-five pay for each day?",
    "Which refueling fee is due for a rental car without a full tank?",
    "Which administrative fee is charged with tolls for each day?",
    "Which cleaning fee is charged when somebody has smoked in the rental car?",
]


def enough(connection: Connection, *ranks: int, recall: float = 0.95) -> int | None:
    found = scalar(connection, "select pgclarify_private.enough_passages(%s::integer[], %s, 20)", list(ranks), recall)
    return None if found is None else int(found)


def test_58_questions_are_too_few_for_a_recall_of_95_percent(connection: Connection) -> None:
    assert enough(connection, *[1] * 58) is None


def test_59_questions_keep_the_worst_rank_of_all(connection: Connection) -> None:
    assert enough(connection, *[1] * 58, 7) == 7


@pytest.mark.parametrize(("questions", "left_out"), [(200, 0), (200, 4), (200, 5), (1000, 38), (1000, 39)])
def test_top_k_leaves_out_as_many_answers_as_the_binomial_tail_allows(
    connection: Connection, questions: int, left_out: int
) -> None:
    tail = sum(comb(questions, many) * 0.05**many * 0.95 ** (questions - many) for many in range(left_out + 1))
    assert enough(connection, *[4] * (questions - left_out), *[15] * left_out) == (4 if tail <= 0.05 else 15)


def clarify(asker: Connection, question: str, **options: object) -> dict[str, Any]:
    """Clarify, and return the settings of the run."""
    asker.execute(
        "select from pgclarify.clarify(%s, %s, top_k => 5, options => %s)",
        [question, CORPUS, json.dumps(options)],
    )
    (run,) = rows(asker, "select run_id, settings from pgclarify.run order by run_id desc limit 1")
    verdicts = scalar(asker, "select count(*) from pgclarify.verdict where run_id = %s", run["run_id"])
    return {**run["settings"], "verdicts": verdicts}


def own_passage(chat: Chat) -> Reply:
    """Answer from the passage that shares most words with the question, and no other."""
    if chat.purpose != "verdict" or chat.passage is None:
        return by_rules(chat)
    asked = set(chat.outside.lower().split())
    shared = {content: len(asked & set(content.lower().split())) for _, content in DOCUMENTS.values()}
    best = max(shared, key=lambda content: shared[content])
    return by_rules(chat) if best in chat.passage else ABSTENTION


def test_recall_reads_as_few_passages_as_ones_own_runs_allow(asker: Connection, model: Server) -> None:
    model.behavior = own_passage
    notices: list[str] = []
    asker.add_notice_handler(lambda notice: notices.append(notice.message_primary or ""))
    first = clarify(asker, QUESTIONS[0], recall=0.5)
    # No run says how many are enough.
    assert (first["top_k"], first["asked_top_k"], first["verdicts"]) == (5, 5, 5)
    assert len(notices) == 1
    for question in QUESTIONS[1:]:
        clarify(asker, question)
    # Six answers, all of the first passages: .5 to the power of 5 is below .05.
    later = clarify(asker, "Which fee is charged for smoking?", recall=0.5)
    assert later["top_k"] < later["asked_top_k"] == 5
    assert later["verdicts"] == later["top_k"]
    assert len(notices) == 1
    lines = asker.execute("select pgclarify.explain(max(run_id)) from pgclarify.run").fetchall()
    assert any("asked_top_k=5" in line and "recall=0.5" in line for (line,) in lines)
    # Runs with other settings say nothing about this one.
    assert clarify(asker, "Which fee is due for fuel?", recall=0.5, method="lexical")["top_k"] == 5
    assert clarify(asker, "Which fee is due for fuel?", recall=0.5, relax=True)["top_k"] == 5
    assert clarify(asker, "Which fee is due for fuel?", recall=0.99)["top_k"] == 5
    assert len(notices) == 4


def test_recall_is_for_fixed_retrieval(asker: Connection) -> None:
    call = 'select pgclarify.clarify(\'q\', %s, options => \'{"recall": 0.9, "retrieval": "adaptive"}\')'
    assert sqlstate_of(asker, call, [CORPUS]) == "22023"
