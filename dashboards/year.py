"""A made-up year of searches of the demo's documents: real runs without a language model, made-up times and costs."""

from __future__ import annotations

import csv
import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

SEARCHES = Path(__file__).parents[1] / "dbt" / "example" / "seeds" / "search_log.csv"
CORPUS = "insurance"
TEAMS = ("claims", "sales", "support")
# These searches are frequent enough that a second team also makes them.
SHARED = 15
# Letters and leaflets that change at the end of the year, so that answers are out of date.
REVISED = {"hail-dents-blog.md": ("$250", "$300"), "discounts-leaflet.md": ("35 percent", "30 percent")}
# Dates that these documents say in their texts.
DATES = {
    "agent-bulletin-2025-11.md": "2025-11-01",
    "agent-bulletin.md": "2026-03-01",
    "agent-bulletin-2026-05.md": "2026-05-01",
    "board-minutes-2026-04.md": "2026-04-21",
    "press-release-hail-centers.md": "2026-06-04",
    "rate-change-letter.md": "2026-05-18",
}

# The group of a question, and how often its answer was reused, are written some seconds after a run.
UNSETTLED = """
select
    exists (select from pgclarify.run where question_group_id is null)
    or exists (select from pgclarify_private.served_answer)
    or exists (select from pgclarify.corpus where pending > 0)
"""
AGE = """
update pgclarify_private.run
set
    created_at = now() - %(age)s::interval,
    started_at = now() - %(age)s::interval + interval '0.1 s',
    finished_at = now() - %(age)s::interval + interval '3 s',
    served = %(served)s,
    last_served_at = case when %(served)s > 0 then now() - %(age)s::interval * random() end,
    model = 'made-up-1',
    completions = 21,
    prompt_tokens = 21 * 900,
    completion_tokens = 21 * 60,
    cost_usd = 0.0152,
    stop_code = case
        -- Every sixth question without an answer stays unknown, as if a call had failed.
        when stop_code is not null and run_id %% 6 = 0 then 'failed_calls'
        when stop_code is not null then 'not_answered'
        when run_id %% 9 = 0 then 'budget'
    end,
    status = case when run_id %% 9 = 0 then 'partial' else status end
where run_id = %(run_id)s
"""
# Every fifth of the readings is rated, some days after it was given; and answers are missing.
RATINGS = """
select
    pgclarify.give_feedback(
        rated.run_id, rated.ordinal,
        (array['right', 'right', 'right', 'wrong', 'right', 'right', 'useless'])[1 + rated.number % 7],
        case when rated.number % 7 = 3 then 'It is out of date.' end
    )
from (
    select reading.run_id, reading.ordinal, row_number() over (order by reading.run_id, reading.ordinal) as number
    from pgclarify.interpretation as reading
    where (reading.run_id + reading.ordinal) % 5 = 0
) as rated
"""
MISSING = """
select pgclarify.give_feedback(run.run_id, missing => 'It is on the form.')
from pgclarify.run
where run.interpretations = 0 and run.run_id % 8 = 0
"""
RATED_THEN = """
update pgclarify_private.feedback
set
    created_at = least(run.created_at + interval '3 days', now()),
    updated_at = least(run.created_at + interval '3 days', now())
from pgclarify_private.run
where feedback.run_id = run.run_id
"""
BUDGETS = """
select
    pgclarify.set_budget('all teams', options => '{"period": "month", "max_cost_usd": 1.20}'),
    pgclarify.set_budget('insurance', corpus => 'insurance', options => '{"period": "day", "max_calls": 500}')
"""
SPEND = """
insert into pgclarify_private.budget_counter (budget_id, period_start, cost_usd, calls)
select budget.budget_id, date_trunc(budget.period, now(), 'UTC'), spent.cost_usd, spent.calls
from pgclarify_private.budget
inner join (values ('all teams', 0.86, 1190), ('insurance', 0.05, 69)) as spent (name, cost_usd, calls) using (name)
"""


def make_year(dsn: str, searches: Sequence[dict[str, str]]) -> None:
    """Ask the searches, spread the runs over the last year, and change documents.

    Args:
        dsn: A superuser's connection string of a database that has the demo's documents and a worker.
        searches: Rows of the search log: query and times.
    """
    with psycopg.connect(dsn, autocommit=True) as connection:
        for place, team in enumerate(TEAMS):
            _ask_as(connection, team, [row["query"] for row in _searches_of(place, searches)])
        settle(connection)
        _age(connection, {row["query"]: int(row["times"]) for row in searches})
        for statement in (RATINGS, MISSING, RATED_THEN, BUDGETS):
            connection.execute(statement)
        connection.execute(SPEND)
        _give_dates(connection)
        _revise(connection)
        settle(connection)


def read_searches() -> list[dict[str, str]]:
    """Return the search log, most frequent searches first."""
    with SEARCHES.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _searches_of(place: int, searches: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    return [
        row
        for number, row in enumerate(searches)
        if number % len(TEAMS) == place or (number < SHARED and number % len(TEAMS) == (place + 1) % len(TEAMS))
    ]


def _ask_as(connection: psycopg.Connection[Any], team: str, questions: list[str]) -> None:
    name = sql.Identifier(team)
    connection.execute(sql.SQL("create role {} in role pgclarify_user").format(name))
    connection.execute("select pgclarify.grant_access(%s, %s)", [CORPUS, team])
    connection.execute(sql.SQL("set role {}").format(name))
    connection.execute("select from pgclarify.clarify_many(%s, corpus => %s)", [questions, CORPUS])
    connection.execute("reset role")


def _age(connection: psycopg.Connection[Any], times: dict[str, int]) -> None:
    # The same year each time.
    chance = random.Random(7)  # noqa: S311 - nothing secret
    for run_id, question in connection.execute("select run_id, question from pgclarify.run order by run_id").fetchall():
        # More searches towards the end of the year.
        age = f"{365 * chance.random() ** 1.6:.3f} days"
        connection.execute(AGE, {"run_id": run_id, "age": age, "served": times[question] - 1})


def _give_dates(connection: psycopg.Connection[Any]) -> None:
    connection.execute(
        "update pgclarify_private.document set dated = said.dated::timestamp at time zone 'UTC'"
        " from unnest(%s::text[], %s::text[]) as said (id, dated) where document.id = said.id",
        [list(DATES), list(DATES.values())],
    )


def _revise(connection: psycopg.Connection[Any]) -> None:
    for document_id, (old, new) in REVISED.items():
        connection.execute(
            "select pgclarify.add_document(%(corpus)s, id, replace(content, %(old)s, %(new)s), title)"
            " from pgclarify.document where id = %(id)s",
            {"corpus": CORPUS, "id": document_id, "old": old, "new": new},
        )


def settle(connection: psycopg.Connection[Any]) -> None:
    """Wait until the worker has indexed and counted everything.

    Raises:
        TimeoutError: It has not within ten minutes.
    """
    deadline = time.monotonic() + 600
    while connection.execute(UNSETTLED).fetchone() != (False,):
        if time.monotonic() > deadline:
            raise TimeoutError("the worker has not indexed the documents within ten minutes")
        time.sleep(0.2)
