"""Builds that continue from an existing table or from another build: which rows stay, and which build continues."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

from psycopg import sql

from tests.dbt.project import Project
from tests.dbt.searching import Connection, log, rows
from tests.openai_server import Reply, Server, by_rules
from tests.sessions import scalar
from tests.workers import Service, until

NEW = "new_searches"
NOTHING = '{"interpretation": null, "answer": null, "quote": null}'


def test_new_answers_are_added_and_unanswered_questions_still_count(
    project: Project, asker: Connection, superuser: Connection, model: Server
) -> None:
    model.behavior = lambda chat: (
        by_rules(chat) if "nonsense" not in chat.outside or not chat.passage else Reply(NOTHING)
    )
    log(asker, project, "nonsense", "bonnet", "bumper")
    built = project.run("build", "--select", "searches", NEW)
    assert "columns that the table does not have: gate. Join them by search_id." in built.log
    assert built.statuses()["mostly_answered"] == "fail", "two of three have an answer"

    log(asker, project, "boot")
    added = project.run("build", "--select", NEW)
    assert "4 distinct questions, 1 to be asked" in added.log
    assert rows(asker, project, "search_id", NEW) == [(2,), (3,), (4,)]
    assert added.statuses() == {NEW: "success", "mostly_answered": "fail"}, "three of four"


def test_answers_of_a_dropped_corpus_do_not_stand_for_another_one_of_its_name(
    project: Project, asker: Connection, superuser: Connection, model: Server
) -> None:
    log(asker, project, "fender of a dropped corpus")
    project.done("run", "--select", "searches", NEW)
    # As if the corpus had been dropped, and made again with the same documents.
    superuser.execute("update pgclarify_private.run set corpus_id = null where question ~ 'a dropped corpus'")
    again = project.done("run", "--select", NEW)
    assert "1 distinct question, 1 to be asked" in again.log


def test_a_role_that_owns_nothing_builds_with_grants_alone(
    project: Project, asker: Connection, superuser: Connection, model: Server
) -> None:
    log(asker, project, "bodywork")
    project.done("run", "--select", "searches", NEW)
    role = f"other_{uuid4().hex[:8]}"
    named, schema = sql.Identifier(role), sql.Identifier(project.schema)
    superuser.execute(sql.SQL("create role {} login in role pgclarify_user").format(named))
    try:
        asker.execute(sql.SQL("grant usage, create on schema {} to {}").format(schema, named))
        asker.execute(sql.SQL("grant select on all tables in schema {} to {}").format(schema, named))
        other = replace(project, variables={**project.variables, "PGCLARIFY_DBT_USER": role})
        refused = other.run("run", "--select", NEW)
        assert f"{role} may not write the table that is there" in refused.results[NEW][1]
        for table in (NEW, f"{NEW}__pgclarify_runs"):
            asker.execute(
                sql.SQL("grant insert, update, delete on {} to {}").format(sql.Identifier(project.schema, table), named)
            )
        log(asker, project, "fender")
        other.done("run", "--select", NEW)
        assert rows(asker, project, "search_id", NEW) == [(1,), (2,)]
    finally:
        superuser.execute(sql.SQL("drop owned by {}; drop role {}").format(named, named))


def test_a_build_whose_hook_fails_changes_nothing_that_readers_see(
    project: Project, asker: Connection, model: Server
) -> None:
    log(asker, project, "headlight")
    project.done("run", "--select", "searches", NEW)
    relation = f"{project.schema}.{NEW}"
    shown = scalar(asker, "select %s::regclass::oid", relation), rows(asker, project, "search_id run_id", NEW)
    log(asker, project, "tail light")

    for options in ([], ["--full-refresh"]):
        failed = project.run("run", "--select", NEW, *options, divisor=0)
        assert failed.statuses() == {NEW: "error"}
        found = scalar(asker, "select %s::regclass::oid", relation), rows(asker, project, "search_id run_id", NEW)
        assert found == shown
        assert scalar(asker, "select to_regclass(%s)", f"{relation}__dbt_backup") is None

    project.done("run", "--select", NEW)
    assert rows(asker, project, "search_id", NEW) == [(1,), (2,)]


def test_the_later_of_two_builds_succeeds(
    project: Project, asker: Connection, superuser: Connection, model: Server, service: Service, tmp_path: Path
) -> None:
    log(asker, project, "windscreen", "mirror")
    project.done("run", "--select", "searches")
    shutil.copytree(project.folder.parent, tmp_path / "dbt", symlinks=True)
    later = replace(project, folder=tmp_path / "dbt" / project.folder.name)
    waiting = (
        "select count(*) = %s from pg_stat_activity where usename = %s and application_name = 'dbt'"
        " and wait_event_type = 'Lock' and wait_event = 'advisory'"
    )
    # Both builds wait for this lock while they evaluate the SQL of the model. The other connection looks for them,
    # because all looks of one transaction see the same sessions.
    with superuser.transaction():
        superuser.execute("select pg_advisory_xact_lock(17)")
        first = project.start("run", "--select", NEW, gate=17)
        until(lambda: scalar(asker, waiting, 1, service.asker))
        second = later.start("run", "--select", NEW, gate=17)
        until(lambda: scalar(asker, waiting, 2, service.asker))

    assert "another build of this model began" in project.ended(first).results[NEW][1]
    done = later.ended(second)
    assert done.code == 0, done.log
    assert rows(asker, project, "search_id", NEW) == [(1,), (2,)]


def test_a_verdict_stays_if_judging_again_fails(
    project: Project, asker: Connection, superuser: Connection, model: Server
) -> None:
    log(asker, project, "How long does it last, and for whom?")
    table = "search_detections"
    project.done("run", "--select", "searches", table)
    judged = rows(asker, project, "search_id run_id is_ambiguous probability kind reasons judged_at", table)

    log(asker, project, "How long does it take, and for whom?")
    going_on = "select run_id from pgclarify.run where operation = 'detect_ambiguity' and status = 'running'"
    # Rules cannot be read, so no run can end.
    with superuser.transaction():
        superuser.execute("lock table pgclarify_private.ambiguity_rule in access exclusive mode")
        process = project.start("run", "--full-refresh", "--select", table)
        run_id = until(lambda: scalar(asker, going_on))
        asker.execute("select pgclarify.cancel(array[%s]::bigint[])", [run_id])
        failed = project.ended(process)
    assert failed.code == 1
    message = " ".join(failed.results[table][1].split())
    assert "2 of 2 questions could not be judged, and 1 of these keep their earlier verdict" in message
    assert rows(asker, project, "search_id status is_ambiguous", table) == [
        (1, "earlier", judged[0][2]), (2, "cancelled", None),
    ]  # fmt: skip
    columns = "search_id run_id is_ambiguous probability kind reasons judged_at"
    assert rows(asker, project, columns, table)[0] == judged[0]

    again = project.done("run", "--select", table)
    assert "2 distinct questions, 2 to be judged" in again.log
    assert rows(asker, project, "status", table) == [("succeeded",)]


def test_a_statement_timeout_does_not_end_a_build_that_waits(
    project: Project, asker: Connection, superuser: Connection, model: Server, service: Service
) -> None:
    log(asker, project, "How long does it last?")
    project.done("run", "--select", "searches")
    role = sql.Identifier(service.asker)
    superuser.execute(sql.SQL("alter role {} set statement_timeout = '2s'").format(role))
    try:
        # Rules cannot be read, so no run can end.
        with superuser.transaction():
            superuser.execute("lock table pgclarify_private.ambiguity_rule in access exclusive mode")
            process = project.start("run", "--select", "search_detections")
            until(lambda: scalar(asker, "select count(*) from pgclarify.run where status = 'running'"))
            superuser.execute("select pg_sleep(3)")
        assert project.ended(process).code == 0
    finally:
        superuser.execute(sql.SQL("alter role {} reset statement_timeout").format(role))
    assert rows(asker, project, "status", "search_detections") == [("succeeded",)]


def test_detections_of_a_stopped_build_are_repeated_with_the_options_of_this_build(
    project: Project, asker: Connection, superuser: Connection, model: Server
) -> None:
    # One more than the model's batch_size.
    log(asker, project, "How long does it last?", "Is a rental car insured in Canada?", "Where is the bank?")
    project.done("run", "--select", "searches", "search_detections")
    judged = rows(asker, project, "search_id is_ambiguous", "search_detections")

    # As if a build with another threshold had been stopped while its runs were queued.
    stopped = sql.SQL(
        "update {} set is_due = true, pending_run_id = pgclarify.submit("
        "'detect_ambiguity', question, options => jsonb_build_object('threshold', %s::real))"
    ).format(sql.Identifier(project.schema, "search_detections__pgclarify_judged"))
    for threshold in (0, 1):
        asker.execute(stopped, [threshold])
        project.done("run", "--select", "search_detections")
        assert rows(asker, project, "search_id is_ambiguous", "search_detections") == judged
