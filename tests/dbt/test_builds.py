"""A real dbt builds models, with a real worker: which questions are asked and paid for, and what the tables contain."""

from __future__ import annotations

import re
from pathlib import Path

import psycopg
from psycopg import sql

from tests.dbt.project import Forks, Project
from tests.dbt.searching import MODEL, Connection, change, forget, log, rows
from tests.integration.held_replies import hold_replies
from tests.integration.manual_worker import MAKE_OPEN_CORPUS
from tests.openai_server import MODEL as MODEL_NAME
from tests.openai_server import Reply, Server, by_rules
from tests.pages import CHECKOUT, blocks
from tests.sessions import scalar
from tests.workers import Service, load, until, wait_until_searchable

# The calls of a question: one for each of four passages.
CALLS = 4
HOSTILE = """{{ 1 / 0 }} {% do %} {# it's "so" \\ $$ %s %(a)s ;\ndrop table search_log; -- ' rental"""


def test_a_second_build_asks_only_new_questions(
    project: Project, asker: Connection, superuser: Connection, model: Server
) -> None:
    log(asker, project, "fees", "hail", " fees ", HOSTILE, None, " \n", "x" * 10_001, "tolls ' \\")
    first = model.calls
    built = project.done("build", "--select", "+search_interpretations", "staged")
    assert set(built.statuses().values()) == {"success", "pass"}
    assert model.calls - first == 4 * CALLS
    assert "rows left out, since their question is null or blank: 2" in built.log
    assert "rows left out, since their question has more than 10,000 characters: 1" in built.log

    assert rows(asker, project, "search_id query") == [
        (1, "fees"), (2, "hail"), (3, " fees "), (4, HOSTILE), (8, "tolls ' \\"),
    ]  # fmt: skip
    found = sql.SQL(
        "select run_id, status, ordinal, interpretation, answer, support, cohesion, document_ids, citations,"
        " is_contested, dated, older_hidden, doubt, probability, level from {} where search_id = %s order by ordinal"
    ).format(sql.Identifier(project.schema, MODEL))
    of_first, of_third = (asker.execute(found, [search_id]).fetchall() for search_id in (1, 3))
    assert of_first == of_third != []
    assert of_first == asker.execute("select * from pgclarify.result(%s)", [of_first[0][0]]).fetchall()
    relation = f"{project.schema}.{MODEL}"
    assert scalar(asker, "select obj_description(%s::regclass)", relation) == "What each search can mean."
    assert scalar(asker, "select col_description(%s::regclass, 1)", relation) == "The search; it's ours."
    assert scalar(superuser, "select has_table_privilege('pgclarify_reader', %s, 'select')", relation)
    assert scalar(asker, "select count(*) from pg_index where indrelid = %s::regclass and indisunique", relation) == 1
    # The hook runs after the rows are written.
    count = sql.SQL("select count(*) from {}").format(sql.Identifier(project.schema, MODEL))
    assert rows(asker, project, "rows_seen", "hooked") == asker.execute(count).fetchall()

    # Otherwise the planner would compare every search with every reading: a build of 200,000 searches did not end.
    unknown = "select null_frac from pg_stats where schemaname = %s and tablename = %s and attname = 'built_run_id'"
    assert scalar(superuser, unknown, project.schema, f"{MODEL}__pgclarify_runs") == 0

    # Its questions are those of all tenants. Releases before 0.4.0 granted it like the model.
    beside = sql.Identifier(project.schema, f"{MODEL}__pgclarify_runs")
    asker.execute(sql.SQL("grant select on {} to pgclarify_reader").format(beside))

    # The second build asks nothing and pays for nothing, and dbt's output says so.
    again = project.done("build", "--select", MODEL)
    assert not scalar(
        superuser, "select has_table_privilege('pgclarify_reader', %s, 'select')", f"{relation}__pgclarify_runs"
    )
    assert "4 distinct questions, 0 to be asked" in again.log
    log(asker, project, "mileage")
    # As if the corpus had been dropped and created again, and another question withdrawn.
    superuser.execute(
        "update pgclarify_private.run set corpus_id = null, reuse_key = sha256('another') where run_id = %s",
        [of_first[0][0]],
    )
    change(asker, project, 8, None)
    before = scalar(asker, "select %s::regclass::oid", relation)
    added = project.done("build", "--select", MODEL, "--exclude", "unchanged")
    assert "4 distinct questions, 2 to be asked" in added.log
    assert f"model calls: {CALLS}" in added.log
    assert model.calls - first == 5 * CALLS
    assert rows(asker, project, "search_id") == [(1,), (2,), (3,), (4,), (9,)]
    assert of_first[0][0] not in {run_id for (run_id,) in rows(asker, project, "run_id")}
    noted = sql.SQL("select distinct xmin::text from {}").format(beside)
    assert scalar(asker, "select %s::regclass::oid", relation) == before, "the table is not replaced"

    # A build with --empty changes no rows.
    empty = project.done("build", "--empty", "--full-refresh", "--select", MODEL, "staged")
    assert set(empty.statuses().values()) == {"success", "pass"}
    assert len(rows(asker, project, "search_id")) == 5

    forget(asker, project, 1)
    full = project.done("build", "--full-refresh", "--select", MODEL)
    assert "model calls: 0" in full.log
    assert model.calls - first == 5 * CALLS
    assert scalar(asker, "select %s::regclass::oid", relation) != before
    assert rows(asker, project, "search_id")[0] == (2,)
    written = asker.execute(noted).fetchall()
    project.done("run", "--select", MODEL)
    assert asker.execute(noted).fetchall() == written, "unchanged rows are not written again"


def test_questions_are_asked_again_after_the_corpus_changed(
    project: Project, asker: Connection, superuser: Connection, model: Server
) -> None:
    # Both cite document 105, and only the first cites 108.
    log(asker, project, "fees of abroad", "driving to Mexico")
    project.done("build", "--select", "searches", MODEL)
    forget(asker, project, 1)
    replace = "select pgclarify.add_document('rental', %s, %s)"
    superuser.execute(replace, ["105", "Rental cars may now be driven into Mexico for a small fee."])
    wait_until_searchable(superuser)
    first = model.calls
    changed = project.run("build", "--select", MODEL)

    # A search that was removed from the log stays in the table, and its answers are updated.
    assert "2 distinct questions, 2 to be asked" in changed.log
    # Only the changed passage is paid for, once for each question.
    assert 0 < model.calls - first <= 2
    passed = dict.fromkeys(["cited", "current", "verbatim", "affordable", "answered"], "pass")
    assert changed.statuses() == passed | {MODEL: "success", "unchanged": "fail"}
    assert rows(asker, project, "search_id") == [(1,), (2,)]

    # Of answers that may stay, only the one is asked again whose quote is gone.
    superuser.execute(replace, ["108", "Smokers pay nothing for cleaning."])
    wait_until_searchable(superuser)
    stale = project.done("run", "--select", MODEL, max_staleness="7d")
    assert "2 distinct questions, 1 to be asked" in stale.log

    forgotten = project.run("build", "--select", MODEL, missing_ids="delete", max_staleness="7d")
    assert rows(asker, project, "search_id") == [(2,)]
    assert "1 distinct question, 0 to be asked" in forgotten.log
    assert forgotten.statuses()["unchanged"] == "pass", "an earlier build had the same answers"


def test_a_build_that_is_cut_off_and_repeated_pays_nothing_twice(
    project: Project, asker: Connection, superuser: Connection, model: Server, service: Service
) -> None:
    log(asker, project, *(f"deductible {number}" for number in range(12)))
    first = model.calls
    runs = sql.Identifier(project.schema, f"{MODEL}__pgclarify_runs")
    state = sql.SQL(
        "select count(*) from {} as asked join pgclarify.run using (run_id) where run.status = 'running'"
    ).format(runs)
    session = "from pg_stat_activity where usename = %s and application_name = 'dbt'"
    # No question is answered before dbt was killed, and has waited in vain.
    with hold_replies(model):
        process = project.start("run", "--select", "searches", MODEL, batch_size=6)
        until(lambda: scalar(superuser, "select to_regclass(%s)", f"{project.schema}.{MODEL}__pgclarify_runs"))
        until(lambda: superuser.execute(state).fetchone() != (0,))
        # While dbt waits for answers, its transactions are younger than the questions, and block nothing.
        submitted = superuser.execute(sql.SQL("select max(submitted_at) from {}").format(runs)).fetchone()
        assert submitted is not None
        until(lambda: scalar(superuser, f"select bool_or(xact_start > %s) {session}", submitted[0], service.asker))
        project.kill(process)
        late = project.run("run", "--select", MODEL, batch_size=6, timeout="1s")
    assert "of 12 questions were not answered in time" in late.results[MODEL][1]
    project.done("run", "--select", MODEL, batch_size=6)

    assert len(rows(asker, project, "search_id")) == 12
    assert model.calls - first == 12 * CALLS
    asked = "select count(*) from pgclarify.run where starts_with(question, %s)"
    assert scalar(asker, asked, "deductible ") == 12, "no question has two runs"


def test_a_nightly_build_costs_half_and_is_not_asked_again_by_day(
    project: Project, asker: Connection, superuser: Connection, model: Server
) -> None:
    superuser.execute(
        "insert into pgclarify.model_price (model, input_usd, output_usd) values (%s, 2, 8) on conflict do nothing",
        [MODEL_NAME],
    )
    bill = (
        "select sum(completions), sum(batched_completions), sum(cost_usd), sum(batch_saved_usd) from pgclarify.run"
        " where question like %s"
    )
    # Questions by day and at night differ in a capital letter, so that they find the same passages, and cost the same.
    log(asker, project, *(f"surcharge {number}" for number in range(6)))
    project.done("run", "--select", "+search_interpretations")
    by_day = superuser.execute(bill.encode(), ["surcharge %"]).fetchone()
    assert by_day is not None

    log(asker, project, *(f"Surcharge {number}" for number in range(6)))
    project.done("run", "--select", MODEL, pgclarify_batch=True)

    at_night = superuser.execute(bill.encode(), ["Surcharge %"]).fetchone()
    # The costs of other tests are their own.
    superuser.execute("delete from pgclarify.model_price where model = %s", [MODEL_NAME])
    assert at_night is not None
    assert (by_day[:2], at_night[:2]) == ((6 * CALLS, 0), (6 * CALLS, 6 * CALLS))
    assert at_night[2] + at_night[3] == by_day[2]
    assert at_night[2] == at_night[3]
    before = model.calls + model.batches.calls
    again = project.done("run", "--select", MODEL)
    assert "12 distinct questions, 0 to be asked" in again.log
    assert model.calls + model.batches.calls == before


def test_completions_are_refreshed_only_if_they_shall_be(
    project: Project, asker: Connection, superuser: Connection, model: Server
) -> None:
    questions = [f"smoking {number}" for number in range(4)]
    log(asker, project, *questions)
    project.done("run", "--select", "searches", MODEL)
    # Another model has asked the same questions with a value of refresh that this model might also choose.
    asker.execute(
        "select from pgclarify.clarify_many(%s, corpus => 'rental', top_k => 4, options => '{\"refresh\": 1}')",
        [questions],
    )
    first = model.calls
    shown = rows(asker, project, "run_id")
    project.done("run", "--full-refresh", "--select", MODEL, refresh_completions=True)
    assert model.calls - first == 4 * CALLS
    assert not set(rows(asker, project, "run_id")) & set(shown)

    kept = project.done("run", "--select", MODEL)
    assert "4 distinct questions, 0 to be asked" in kept.log, "the newest answers are kept"


def test_questions_that_fail_or_end_in_part_are_told_and_asked_again(
    project: Project, asker: Connection, superuser: Connection, model: Server
) -> None:
    log(asker, project, "loyalty", "birthday")
    model.behavior = lambda chat: Reply.error(403) if "birthday" in chat.outside else by_rules(chat)
    failed = project.run("build", "--select", "searches", MODEL)
    assert failed.code == 1
    status, message = failed.results[MODEL]
    assert status == "error"
    assert "1 of 2 questions failed" in message
    assert "403" in message
    assert message.startswith("Database Error"), "no error of compiling"
    assert sorted(set(rows(asker, project, "status"))) == [("failed",), ("succeeded",)], (
        "the table is built in spite of the failure"
    )

    model.behavior = by_rules
    superuser.execute(
        "insert into pgclarify_private.budget (name, period, max_calls) values ('all', 'total', %s)", [CALLS - 1]
    )
    cut_short = project.done("run", "--select", MODEL)
    superuser.execute("delete from pgclarify_private.budget")
    assert "2 distinct questions, 1 to be asked" in cut_short.log
    assert "1 of 1 ended, " in cut_short.log
    assert f"model calls: {CALLS - 1}" in cut_short.log
    assert '1 question partial: budget "all" is spent' in cut_short.log
    assert rows(asker, project, "status") == [("partial",), ("succeeded",)]

    answered = rows(asker, project, "search_id run_id ordinal answer")
    model.behavior = lambda chat: Reply.error(403)
    out = project.done("run", "--full-refresh", "--select", MODEL, refresh_completions=True, on_failed="warn")
    assert "2 of 2 questions failed, and 2 of these keep their earlier answer" in " ".join(out.log.split())
    assert rows(asker, project, "search_id run_id ordinal answer") == answered
    assert rows(asker, project, "status") == [("earlier",)]
    model.behavior = by_rules
    back = project.done("run", "--select", MODEL)
    assert "2 distinct questions, 2 to be asked" in back.log
    assert rows(asker, project, "status") == [("succeeded",)]

    answered = rows(asker, project, "search_id run_id ordinal answer")
    superuser.execute("insert into pgclarify_private.budget (name, period, max_calls) values ('one', 'total', 1)")
    spent = project.done("run", "--full-refresh", "--select", MODEL, refresh_completions=True)
    superuser.execute("delete from pgclarify_private.budget")
    told = '2 questions partial, one of them since: budget "one" is spent; 2 of these keep their earlier answer'
    assert told in " ".join(spent.log.split())
    assert rows(asker, project, "search_id run_id ordinal answer") == answered
    assert rows(asker, project, "status") == [("earlier",)]
    first = model.calls
    project.done("run", "--select", MODEL)
    assert rows(asker, project, "search_id run_id ordinal answer") == answered, "good answers are not asked for again"
    assert model.calls == first


def test_a_variable_that_is_neither_true_nor_false_ends_the_build(project: Project, asker: Connection) -> None:
    log(asker, project, "coverage")
    done = project.run("run", "--select", "searches", MODEL, pgclarify_batch="yes")
    assert "Write true or false." in " ".join(done.results["search_interpretations"][1].split())


def test_a_wrong_config_says_what_to_write(
    project: Project, asker: Connection, superuser: Connection, model: Server
) -> None:
    log(asker, project, "coverage", "waiver")
    first = model.calls
    columns = (
        "search_id {}, query text, run_id bigint, status text, ordinal integer, interpretation text, answer text,"
        " support integer, cohesion real, document_ids text[], citations jsonb, is_contested boolean,"
        " dated timestamptz, older_hidden integer, doubt text, probability real, level text,"
        " answered_at timestamptz"
    )
    for name, kind in (("other_ids", "text"), ("other_scale", "numeric(10,2)")):
        table = sql.SQL("create table {} ({})").format(
            sql.Identifier(project.schema, name), sql.SQL(columns).format(sql.SQL(kind))
        )
        asker.execute(table)
    superuser.execute(
        sql.SQL("create table {} (search_id bigint)").format(sql.Identifier(project.schema, "unseen_table"))
    )
    done = project.run("run", "--select", "searches", "wrong", wrong=True)

    said = {
        "misspelled_config": "config corpis has no effect. Is corpus meant? The configs are: id, question, corpus, ",
        "transposed_config": "config fliter has no effect. Is filter meant?",
        "no_corpus": "config corpus has a wrong value: None. Write, for example, corpus='insurance'",
        "unknown_id": "The SQL of the model has these columns: search_id, query",
        "textual_top_k": "config top_k has a wrong value: 20. Write a whole number from 1 to 1000",
        "listed_options": "Write a mapping, such as options={'method': 'hybrid'}",
        "endless_timeout": "Write a number with s, min, h or d, such as timeout='2h'",
        "unknown_choice": "Write one of: error, warn",
        "reserved_name": "The table has a column of that name already",
        "repeated_ids": "rows that repeat the id of another row, such as search_id = 7: 1",
        "missing_ids": "questions without an id, where search_id is null: 2",
        "unknown_option": "The options are: ",
        "textual_filter": "a filter must be a JSON object",
        "two_refreshes": "leave one of them out",
        "other_ids": "column search_id is bigint in the SQL of the model, and text in the table",
        "other_scale": "column search_id is numeric(10,3) in the SQL of the model, and numeric(10,2) in the table",
        "new_ids_alone": "config missing_ids has a wrong value: delete",
        "unseen_table": "may not see the table that is there",
    }
    messages = {name: message for name, (status, message) in done.results.items() if status == "error"}
    assert messages.keys() == said.keys()
    for name, part in said.items():
        assert part in " ".join(messages[name].split()), messages[name]
    assert "config unique_key is that of incremental models" in done.log
    assert model.calls == first


def test_each_generic_test_fails_when_it_should(
    project: Project, asker: Connection, superuser: Connection, model: Server
) -> None:
    log(asker, project, "surcharge", "waiver", "towing")
    built = project.done("build", "--select", "searches", MODEL)
    assert set(built.statuses().values()) == {"success", "pass"}

    run_ids = [run_id for (run_id,) in rows(asker, project, "run_id")]
    cited = "select document_id from pgclarify.citation where run_id = %s order by ordinal limit 1"
    document_id = scalar(superuser, cited, run_ids[2])
    content = scalar(superuser, "select content from pgclarify.document where id = %s", document_id)
    superuser.execute("delete from pgclarify_private.citation where run_id = any(%s)", [run_ids[:2]])
    superuser.execute("delete from pgclarify_private.interpretation where run_id = any(%s)", [run_ids[:2]])
    superuser.execute(
        "update pgclarify_private.run set cost_usd = 1, unanswered_usd = 1 where run_id = %s", [run_ids[2]]
    )
    superuser.execute("update pgclarify_private.document set content = 'Other words.' where id = %s", [document_id])
    asker.execute(
        sql.SQL("update {} set previous_run_id = %s where built_run_id = %s").format(
            sql.Identifier(project.schema, f"{MODEL}__pgclarify_runs")
        ),
        run_ids[1:],
    )
    try:
        tested = project.run("test", "--select", MODEL)
    finally:
        superuser.execute("update pgclarify_private.document set content = %s where id = %s", [content, document_id])
    names = ["cited", "current", "verbatim", "affordable", "answered", "unchanged"]
    assert tested.statuses() == dict.fromkeys(names, "fail")
    assert "affordable: it has cost 2 US dollars, and budget_usd is 1;" in tested.log
    assert "answered: 0.333 of the distinct questions, 1 of 3, have an answer, and share is 0.5;" in tested.log

    # The tests must not pass for a role that may see the tables, but none of the runs.
    schema = sql.Identifier(project.schema)
    superuser.execute(sql.SQL("grant usage on schema {} to pgclarify_reader").format(schema))
    superuser.execute(sql.SQL("grant select on all tables in schema {} to pgclarify_reader").format(schema))
    with superuser.transaction():
        superuser.execute("set local role pgclarify_reader")
        for name in names:
            assert superuser.execute(project.compiled(name).encode()).fetchall(), name


def test_detections_are_made_once_and_sources_are_fresh(project: Project, asker: Connection, model: Server) -> None:
    first = model.calls
    log(asker, project, "How long does it last?", "How long is it?", None, "it's {{ 1 / 0 }}")
    built = project.done("build", "--select", "searches", "search_detections")
    assert "3 distinct questions, 3 to be judged" in built.log
    expected = asker.execute("select question, is_ambiguous, kind from pgclarify.detection order by 1").fetchall()
    assert rows(asker, project, "query is_ambiguous kind", "search_detections") == expected

    log(asker, project, "Is it?")
    forget(asker, project, 1)
    again = project.done("build", "--select", "search_detections", missing_ids="delete")
    assert "3 distinct questions, 1 to be judged" in again.log
    assert rows(asker, project, "search_id", "search_detections") == [(2,), (4,), (5,)]
    assert model.calls == first

    fresh = project.done("source", "freshness")
    assert "PASS freshness of pgclarify.corpus" in fresh.log
    assert "PASS freshness of pgclarify.queue_status" in fresh.log


def test_each_question_is_asked_of_the_part_that_its_filter_leaves(
    project: Project, asker: Connection, superuser: Connection, model: Server
) -> None:
    # 1,000 take a minute.
    tenants = 40
    superuser.execute(MAKE_OPEN_CORPUS, ["tenants"])
    superuser.execute(
        "select pgclarify.add_document('tenants', 't' || n, 'The fee of a rental car is nine dollars.',"
        " metadata => jsonb_build_object('tenant', n)) from generate_series(1, %s) as n",
        [tenants],
    )
    wait_until_searchable(superuser, "tenants")
    log(asker, project, *["rental car fee"] * tenants)

    built = project.done("build", "--select", "searches", "tenant_interpretations")

    assert f"{tenants} distinct questions, {tenants} to be asked" in built.log
    found = rows(asker, project, "search_id part document_ids", "tenant_interpretations")
    assert found == [(n, {"tenant": n}, [f"t{n}"]) for n in range(1, tenants + 1)]

    # Rows that the SQL no longer has keep their filter.
    forget(asker, project, 1)
    again = project.done("build", "--select", "tenant_interpretations")
    assert f"{tenants} distinct questions, 0 to be asked" in again.log

    # A document goes to another tenant.
    superuser.execute(
        "select pgclarify.add_document('tenants', 't2', content, metadata => jsonb_build_object('tenant', 3))"
        " from pgclarify.document where id = 't2'"
    )
    project.done("build", "--select", "tenant_interpretations")
    found = rows(asker, project, "search_id document_ids", "tenant_interpretations")
    assert [found[1], (3, sorted(found[2][1]))] == [(2, None), (3, ["t2", "t3"])]


def test_the_project_of_the_pages_is_built(
    service: Service, superuser: Connection, forks: Forks, tmp_path: Path, project: Project
) -> None:
    load(superuser, "insurance")
    superuser.execute(MAKE_OPEN_CORPUS, ["tickets"])
    wait_until_searchable(superuser, "insurance")
    pages = [CHECKOUT / "docs" / "tutorials" / "dbt.md", CHECKOUT / "docs" / "dbt.md"]
    for block in [block for page in pages for block in (*blocks(page, "yaml"), *blocks(page, "jinja"))]:
        named = re.match(r"(?:# |\{# )(\S+)(?: #\})?\n", block.code)
        assert named, block.code
        written = tmp_path / named[1]
        written.parent.mkdir(exist_ok=True)
        written.write_text(block.code)
    with service.connect(service.asker) as owner:
        owner.execute("select pgclarify.create_corpus('articles')")
    superuser.execute("create schema shop")
    superuser.execute("create table shop.search_log as select 7 as search_id, 'hail'::text as query")
    superuser.execute(f"grant usage on schema shop to {service.asker}".encode())
    superuser.execute(f"grant select on shop.search_log to {service.asker}".encode())
    parameters = psycopg.conninfo.conninfo_to_dict(service.dsn)
    variables = {
        "PGHOST": str(parameters["host"]),
        "PGPORT": str(parameters.get("port", 5432)),
        "PGUSER": service.asker,
        "PGDATABASE": str(parameters["dbname"]),
        "PGCLARIFY_DBT_PACKAGE": str(project.folder.parent),
    }
    shown = Project(forks, tmp_path, "searches", variables)
    shown.done("deps")
    built = shown.done("build")

    assert built.statuses().keys() >= {
        "search_interpretations",
        "search_detections",
        "new_searches",
        "shop_interpretations",
        "stg_verdicts",
        "tenant_searches",
    }
    assert set(built.statuses().values()) <= {"success", "pass", "no-op"}
    assert "2 distinct questions, 2 to be asked" in built.log

    # The model is replaced, and the hook goes on with its documents.
    source = "select source_id, relation_oid, state from pgclarify.source_status where corpus = 'articles'"
    until(lambda: superuser.execute(source.encode()).fetchall()[0][2] == "following")
    ((source_id, former, _),) = superuser.execute(source.encode()).fetchall()
    shown.done("build", "--select", "articles")
    until(lambda: superuser.execute(source.encode()).fetchall()[0][2] == "following")
    ((present_id, present, _),) = superuser.execute(source.encode()).fetchall()
    assert (present_id, present != former) == (source_id, True)
