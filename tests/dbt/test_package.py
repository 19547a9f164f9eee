"""Tests that need no worker: a build without one, and the sources of the package."""

from __future__ import annotations

import datetime
from pathlib import Path

import psycopg

from tests.dbt.project import Forks, Project
from tests.dbt.searching import MODEL, Connection, log, rows
from tests.integration.valid_rows import insert_valid_row
from tests.sessions import scalar
from website import dbt_sources


def test_without_a_worker_it_ends_at_once(database: str, forks: Forks, integration_project: Path) -> None:
    project = Project.create(forks, integration_project, database, "postgres", "alone")
    with psycopg.connect(database, autocommit=True) as superuser:
        superuser.execute("select pgclarify.create_corpus('rental')")
        superuser.execute("create schema alone; create table alone.search_log (search_id bigint, query text)")
        log(superuser, project, "anything")
        project.done("run", "--empty", "--select", "searches", MODEL, "search_detections")
        for table in (MODEL, "search_detections"):
            assert rows(superuser, project, "search_id", table) == [], "the table is created, and nothing is asked"
        done = project.run("run", "--select", "searches", MODEL, "search_detections")
        assert done.code == 1
        for table, what in ((MODEL, "asked"), ("search_detections", "judged")):
            told = f"{table}: no worker is running, so nothing was {what}. Start one with: pgclarify worker."
            # The first line of the message is dbt's own, with the name of the model.
            assert [line.strip() for line in done.results[table][1].splitlines()[1:]] == [told]
        assert scalar(superuser, "select count(*) from pgclarify.run") == 0

        # As if the worker and this build had ended right after the question was asked.
        superuser.execute(
            """
            update alone.search_interpretations__pgclarify_runs
            set is_due = false,
                run_id = pgclarify.submit('clarify', question, corpus => 'rental', options => jsonb_build_object('top_k', 4)),
                asked_with = '{"corpus": "rental", "top_k": 4, "options": {}}'
            """  # noqa: E501
        )
        log(superuser, project, "something")
        left = project.run("run", "--select", MODEL)
        assert "no worker is running, so 1 question under way not answered, and 1 not asked" in left.results[MODEL][1]


def test_feedback_is_counted_by_week_corpus_and_model(database: str, forks: Forks, integration_project: Path) -> None:
    project = Project.create(forks, integration_project, database, "postgres", "alone")
    sunday, monday = "'2026-11-29 23:30+00'", "'2026-11-30 00:30+00'"
    named = {"corpus_name": "'rental'", "model": "'m'", "given_by_oid": "quote_ident(current_user)::regrole"}
    rated = named | {"interpretation": "'a'", "answer": "'b'", "missing": "null"}
    with psycopg.connect(database, autocommit=True) as superuser:
        given = [("right", sunday), ("wrong", monday), ("right", monday), ("useless", monday), ("right", monday)]
        for number, (rating, time) in enumerate(given, start=1):
            row = rated | {"ordinal": str(number), "rating": f"'{rating}'", "created_at": time}
            insert_valid_row(superuser, "feedback", number, row)
        insert_valid_row(superuser, "feedback", 9, named | {"created_at": monday})
        insert_valid_row(superuser, "feedback", 10, named | {"created_at": monday, "model": "null"})
        project.done("run", "--select", "staged_feedback")
        found = superuser.execute("select * from alone.staged_feedback order by week, model").fetchall()
    weeks = datetime.date(2026, 11, 23), datetime.date(2026, 11, 30)
    assert found == [
        (weeks[0], "rental", "m", 1, 1, 0, 0, 0, 1.0),
        (weeks[1], "rental", "m", 4, 2, 1, 1, 1, 0.5),
        (weeks[1], "rental", None, 0, 0, 0, 0, 1, None),
    ]


def test_sources_are_what_the_comments_say(connection: Connection) -> None:
    assert dbt_sources.FILE.read_text() == dbt_sources.render(connection), "run make reference to write them again"


def test_a_duration_in_a_config_is_that_many_seconds(database: str, forks: Forks, integration_project: Path) -> None:
    project = Project.create(forks, integration_project, database, "postgres", "alone")
    durations = {"90s": "90", "2 min": "120", "25h": "90000", "2d": "172800"}
    asked = " ".join(f"{{{{ pgclarify.seconds_setting('unset', '{one}') if execute }}}}" for one in durations)
    compiled = project.done("compile", "--inline", asked)
    assert " ".join(durations.values()) in compiled.log.splitlines()
