"""Shared by tests of access: an evaluation of one case, and what a role sees of evaluations."""

from __future__ import annotations

import json
from typing import Any

from tests.sessions import Connection


def evaluate(user: Connection, corpus_id: int | None = 1, planned_cases: int = 2) -> int:
    """Begin an evaluation as the role of the connection, and store its one case; return its key."""
    plan: dict[str, Any] = {
        "name": "night", "data_set": "questions", "data_set_hash": f"\\x{'00' * 32}", "corpus_id": corpus_id,
        "corpus_name": "insurance", "method": "clarify", "settings": {}, "conditions": {},
        "planned_cases": planned_cases,
    }  # fmt: skip
    case = {
        "ordinal": 1, "case_id": "first", "question": "cars", "gold": {}, "output": {}, "status": "succeeded",
        "figures": {"coverage": 1.0},
    }  # fmt: skip
    begin = "select (pgclarify_private.begin_evaluation(c, %s)).eval_run_id from pgclarify_private.caller as c"
    ((eval_run_id,),) = user.execute(begin.encode(), [json.dumps(plan)]).fetchall()
    record = "select pgclarify_private.record_eval_case(caller, %s, %s) from pgclarify_private.caller as caller"
    user.execute(record.encode(), [eval_run_id, json.dumps(case)])
    return int(eval_run_id)


def seen(connection: Connection) -> list[set[int]]:
    """The evaluations that a role sees: in the view, by the function, and those of which it sees cases."""
    listed = "from pgclarify_private.caller as caller cross join lateral pgclarify_private.evaluations(caller) as one"
    of_one = "pgclarify_private.evaluation_cases(caller, (one.evaluation).eval_run_id)"
    cases = f"{listed} cross join lateral {of_one} as judged"
    statements = (
        "select eval_run_id from pgclarify.evaluation",
        f"select (one.evaluation).eval_run_id {listed}",
        f"select judged.eval_run_id {cases}",
    )
    return [{key for (key,) in connection.execute(one.encode()).fetchall()} for one in statements]
