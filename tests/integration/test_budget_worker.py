"""Budgets in a worker: each run ends properly, says why, and is completed when there is budget again."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.integration.spending import budget, price
from tests.openai_server import MODEL, Server
from tests.sessions import scalar
from tests.workers import Service, run_command

QUESTION = "rental cars"
RUN_FAILED = "PC003"
BUDGET_SPENT = "PC007"


@pytest.fixture(autouse=True)
def no_budgets_before(superuser: psycopg.Connection[Any]) -> Iterator[None]:
    yield
    superuser.execute("delete from pgclarify_private.budget")


def last_run(superuser: psycopg.Connection[Any]) -> tuple[Any, ...]:
    row = superuser.execute(
        "select status, stop_reason, error, completions from pgclarify.run order by run_id desc limit 1"
    ).fetchone()
    assert row is not None
    return tuple(row)


def last_run_id(superuser: psycopg.Connection[Any]) -> int:
    return int(scalar(superuser, "select max(run_id) from pgclarify.run"))


def test_a_run_ends_with_what_it_has_and_is_finished_later(
    service: Service, superuser: psycopg.Connection[Any], asker: psycopg.Connection[Any], model: Server
) -> None:
    price(superuser, MODEL)
    budget(superuser, "support", "month", role_name=service.asker, max_calls=3)
    warnings: list[str] = []
    asker.add_notice_handler(lambda said: warnings.append(said.message_primary or ""))
    before = model.calls

    first = asker.execute("select status from pgclarify.clarify(%s)", [QUESTION]).fetchall()

    assert model.calls - before == 3
    assert set(first) <= {("partial",)}
    assert last_run(superuser) == ("partial", 'budget "support" is spent', None, 3)
    assert any('budget "support" is spent' in warning for warning in warnings)
    # The budget does not apply to another role's runs, and paid replies serve all roles.
    assert scalar(superuser, "select count(*) from pgclarify.clarify(%s, top_k => 2)", QUESTION) > 0
    superuser.execute("update pgclarify_private.budget set max_calls = 1000")
    again = asker.execute("select status from pgclarify.clarify(%s)", [QUESTION]).fetchall()
    assert set(again) == {("succeeded",)}
    assert len(again) > len(first)
    # Nothing was paid for twice.
    assert model.stats["repeated_inputs"] == 0
    spent, reserved = superuser.execute("select spent_usd, reserved_usd from pgclarify.budget").fetchall()[0]
    assert spent > 0
    assert reserved == 0
    assert scalar(superuser, "select cost_usd > 0 from pgclarify.run order by run_id desc limit 1")


@pytest.mark.parametrize(
    ("call", "is_partial"),
    [
        ("clarify('deductible')", True),
        ("clarify('deductible', options => '{\"retrieval\": \"adaptive\"}')", True),
        ("clarify('deductible', options => '{\"reranker\": \"model\"}')", True),
        ("clarify('deductible', options => '{\"ask_back\": \"when_vague\"}')", True),
        ("investigate('Who pays the deductible of a rental car?')", True),
        ("rewrite('What about that?', array['Do you rent cars?', 'Yes.'])", True),
        ("search('deductible', options => '{\"reranker\": \"model\"}')", True),
        ("list_answers('deductible')", True),
        ("clarifying_questions('deductible')", False),
    ],
)
def test_whatever_asks_a_model_ends_and_names_the_budget(
    superuser: psycopg.Connection[Any], model: Server, call: str, is_partial: bool
) -> None:
    budget(superuser, "nothing", "month", max_calls=0)
    codes: list[str | None] = []
    superuser.add_notice_handler(lambda notice: codes.append(notice.sqlstate))
    statement = f"select * from pgclarify.{call}".encode()  # noqa: S608 - one of those above
    before = model.calls

    if is_partial:
        superuser.execute(statement)
    else:
        with pytest.raises(psycopg.Error) as failed:
            superuser.execute(statement)
        assert failed.value.sqlstate == RUN_FAILED
        assert failed.value.diag.message_detail is not None
        assert 'budget "nothing" is spent' in failed.value.diag.message_detail
        assert "raise its limit" in failed.value.diag.message_detail

    assert model.calls == before
    assert last_run(superuser)[:2] == ("partial" if is_partial else "failed", 'budget "nothing" is spent')
    assert superuser.execute(
        "select stop_code, error_code from pgclarify.run order by run_id desc limit 1"
    ).fetchone() == (("budget", None) if is_partial else (None, "PC007"))
    assert codes == ([BUDGET_SPENT] if is_partial else [])


def test_many_questions_at_once_end_with_one_warning(superuser: psycopg.Connection[Any]) -> None:
    budget(superuser, "support", max_calls=0)
    warnings: list[tuple[str | None, str | None]] = []

    def hear(said: psycopg.errors.Diagnostic) -> None:
        warnings.append((said.sqlstate, said.message_primary))

    superuser.add_notice_handler(hear)
    try:
        told = superuser.execute(
            "select ordinal, status from pgclarify.clarify_many(array['towing', 'keys', 'towing'])"
        ).fetchall()
    finally:
        superuser.remove_notice_handler(hear)
    assert {status for _, status in told} == {"partial"}
    assert warnings == [(BUDGET_SPENT, '3 of 3 questions are partial: budget "support" is spent')]


def test_the_command_line_says_so(service: Service, superuser: psycopg.Connection[Any], tmp_path: Path) -> None:
    budget(superuser, "support", max_calls=0)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        done = run_command(*arguments, variables=os.environ | {"PGCLARIFY_DATABASE_URL": service.dsn}, folder=tmp_path)
        done.check_returncode()
        return done

    asked = run("ask", "glass breakage")
    assert "0 of 12 passages judged" in asked.stdout
    assert '(budget): budget "support" is spent.' in " ".join(asked.stdout.split())
    explained = run("explain", str(last_run_id(superuser))).stdout
    assert explained.count('budget "support" is spent') == 1
    assert "12 not judged" in explained
    taken_apart = run("investigate", "Who repairs broken glass?").stdout
    assert "There is no answer to" in taken_apart
    assert "(budget)" in taken_apart
    assert "support: 0 of 0 calls left (total)" in run("doctor").stdout
