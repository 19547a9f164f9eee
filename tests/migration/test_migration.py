"""Migrations go up and down and up again, and end where pgclarify.schema says they do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import psycopg
import pytest
import sqlalchemy
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from pgclarify import install, schema
from tests.migration import catalog

REVISIONS = [f"{number:04}" for number in range(1, 26)]


def look(dsn: str, read: Callable[[psycopg.Connection[Any]], set[str]]) -> set[str]:
    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        return read(connection)


@contextmanager
def sqlalchemy_connection(dsn: str) -> Iterator[sqlalchemy.Connection]:
    engine = sqlalchemy.create_engine(
        "postgresql+psycopg://", creator=lambda: psycopg.connect(dsn), poolclass=sqlalchemy.NullPool
    )
    with engine.connect() as connection:
        yield connection
    engine.dispose()


def drift(dsn: str) -> list[Any]:
    """What alembic would put into a new revision."""
    with sqlalchemy_connection(dsn) as connection:
        # Reflection knows this name only as plain text.
        assert connection.dialect.ischema_names is not None  # type: ignore[attr-defined]
        connection.dialect.ischema_names = connection.dialect.ischema_names | {"name": schema.Name}  # type: ignore[attr-defined]
        context = MigrationContext.configure(
            connection,
            opts={
                "compare_type": True,
                "compare_server_default": True,
                "include_schemas": True,
                "include_name": lambda name, kind, _: (
                    kind != "schema" or name in (schema.SCHEMA, schema.PRIVATE_SCHEMA)
                ),
                "version_table": "schema_version",
                "version_table_schema": schema.SCHEMA,
            },
        )
        return list(compare_metadata(context, schema.metadata))


def test_up_down_up(make_database: Callable[..., str]) -> None:
    dsn = make_database()
    install.migrate(dsn, "head")
    first = look(dsn, catalog.everything)

    install.migrate(dsn, "base")

    assert look(dsn, catalog.tables) == set()
    install.migrate(dsn, "head")
    assert look(dsn, catalog.everything) == first


def test_every_revision_can_be_undone(make_database: Callable[..., str]) -> None:
    dsn = make_database()
    seen: list[set[str]] = []
    for _ in REVISIONS:
        before = look(dsn, catalog.everything) if seen else None
        install.migrate(dsn, "+1")
        after = look(dsn, catalog.everything)
        seen.append(after)

        install.migrate(dsn, "-1")
        if before is not None:
            assert look(dsn, catalog.everything) == before
        install.migrate(dsn, "+1")
        assert look(dsn, catalog.everything) == after

    assert len({frozenset(state) for state in seen}) == len(REVISIONS), "each revision changes something"
    for before in reversed(seen[:-1]):
        install.migrate(dsn, "-1")
        assert look(dsn, catalog.everything) == before


def test_uninstall_and_install_again(make_database: Callable[..., str]) -> None:
    dsn = make_database()
    install.install(dsn)
    first = look(dsn, catalog.everything)
    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        connection.execute("select pgclarify.create_corpus('kept')")

    install.uninstall(dsn)

    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        assert connection.execute(
            "select count(*) from pg_namespace where nspname in ('pgclarify', 'pgclarify_private', 'pgclarify_queue')"
        ).fetchone() == (0,)
        assert connection.execute("select count(*) from pg_default_acl").fetchone() == (0,)
    install.uninstall(dsn)
    assert install.install(dsn).previous is None
    assert look(dsn, catalog.everything) == first


def test_downgrade_with_functions_data_and_partitions(make_database: Callable[..., str]) -> None:
    dsn = make_database()
    install.install(dsn)
    first = look(dsn, catalog.everything)
    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        connection.execute("select pgclarify.create_corpus('insurance')")
        connection.execute("select pgclarify_private.open_space(1, 4)")
        connection.execute("select pgclarify.add_document('insurance', '1', 'Cars are insured.')")
        connection.execute("select pgclarify.submit('cars', 'insurance')")

    install.migrate(dsn, "base")
    install.install(dsn)

    assert look(dsn, catalog.everything) == first


def test_a_downgrade_cancels_what_the_version_before_cannot_do(make_database: Callable[..., str]) -> None:
    dsn = make_database()
    install.install(dsn)
    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        connection.execute("select pgclarify.create_corpus('insurance')")
        for options in ("{}", '{"retrieval": "adaptive"}', '{"reranker": "signal"}', '{"budget": 5}'):
            connection.execute("select pgclarify.submit('cars', 'insurance', options => %s)", [options])
        connection.execute("select pgclarify.submit_investigation('cars', 'insurance')")
        connection.execute("""
            insert into pgclarify.completion (purpose, model, parameters, prompt_version, input_hash, run_id)
            select 'answer', 'm', '{}', 'v', sha256(run_id::text::bytea), run_id from pgclarify.run
        """)

    install.migrate(dsn, "0007")

    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        rows = connection.execute("""
            select run.status, run.finished_at is not null
            from pgclarify.completion left join pgclarify.run using (run_id)
            order by completion_id
        """).fetchall()
        paid_by = connection.execute("select count(run_id) from pgclarify.completion").fetchone()
    assert rows == [("queued", False), *[("cancelled", True)] * 3, (None, False)]
    assert paid_by == (4,)


def enter_runs(connection: psycopg.Connection[Any]) -> None:
    """One queued run of each operation since revision 0010, with a call that it paid for, and two runs of clarify."""
    connection.execute("select pgclarify.create_corpus('insurance')")
    connection.execute("""
        insert into pgclarify.run (operation, corpus_id, corpus_name, question, settings, requested_by, reuse_key)
        select operation, corpus_id, case when corpus_id is not null then 'insurance' end, 'cars', settings, 'r', ''
        from (
            values
                ('clarify', 1, jsonb '{}'),
                ('clarify', 1, '{"ask_back": "auto"}'),
                ('list_answers', 1, '{}'),
                ('clarifying_questions', 1, '{}'),
                ('clarifying_questions', null, '{}'),
                ('detect_ambiguity', null, '{}'),
                ('detect_ambiguity_many', null, '{}'),
                ('rewrite', null, '{}'),
                ('reply', null, '{}'),
                ('estimate', 1, '{}')
        ) as entered (operation, corpus_id, settings)
    """)
    connection.execute("""
        insert into pgclarify.completion (purpose, model, parameters, prompt_version, input_hash, run_id)
        select operation, 'm', '{}', 'v', sha256(run_id::text::bytea), run_id from pgclarify.run
    """)


def test_a_downgrade_forgets_what_asked_back(make_database: Callable[..., str]) -> None:
    dsn = make_database()
    install.install(dsn)
    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        enter_runs(connection)
        connection.execute("update pgclarify.run set route = 'answered', saved_completions = 9 where run_id = 1")
        connection.execute("""
            insert into pgclarify.stage
                (run_id, ordinal, name, started_at, duration_ms, calls, reused_calls, prompt_tokens, completion_tokens)
            select 1, ordinal, name, now(), 0, 0, 0, 0, 0
            from unnest(
                array['detection', 'retrieval', 'judgement', 'rewriting', 'questioning', 'checking', 'listing']
            ) with ordinality as stage (name, ordinal)
        """)

    install.migrate(dsn, "0009")
    install.install(dsn)

    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        runs = connection.execute("""
            select operation, status, finished_at is not null, route, saved_completions
            from pgclarify.run order by run_id
        """).fetchall()
        stages = connection.execute("select run_id, name from pgclarify.stage order by ordinal").fetchall()
        paid = connection.execute("select count(*), count(run_id) from pgclarify.completion").fetchone()
    assert runs == [("clarify", "queued", False, None, None), ("clarify", "cancelled", True, None, None)]
    assert stages == [(1, "retrieval"), (1, "judgement")]
    assert paid == (10, 2)


def test_a_downgrade_keeps_what_the_version_before_knows(make_database: Callable[..., str]) -> None:
    dsn = make_database()
    install.install(dsn)
    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        enter_runs(connection)
        connection.execute(r"""
            insert into pgclarify.ambiguity_rule (pattern, kind, corpus, note)
            values ('\mbank\M', 'lexical', 'insurance', 'A bench or an institute?')
        """)
        connection.execute("insert into pgclarify.rewriting (run_id, rewritten) values (8, 'cars')")
        connection.execute("""
            insert into pgclarify.detection
                (run_id, ordinal, question, is_ambiguous, probability, kind, reasons, classifier_version)
            values (6, 1, 'cars', true, 1, 'lexical', '[]', '1')
        """)
        connection.execute("""
            insert into pgclarify.conversation (question, corpus_id, corpus_name, requested_by)
            values ('cars', 1, 'insurance', 'r');
            insert into pgclarify.turn (conversation_id, ordinal, run_id, form, asked, reply, question)
            values (1, 1, 4, 'respond', 'Which ones?', 'red ones', 'red cars')
        """)
        connection.execute("""
            insert into pgclarify.listed_answer (run_id, ordinal, answer, variants) values (3, 1, 'red', array['red']);
            insert into pgclarify.estimate values (10, 1, 1, 0, 1, 21, 21, 0, 8000, 1200, null)
        """)
    counts = b"""
        select
            (select count(*) from pgclarify.run),
            (select count(*) from pgclarify.ambiguity_rule),
            (select count(*) from pgclarify.rewriting),
            (select count(*) from pgclarify.detection),
            (select count(*) from pgclarify.conversation),
            (select count(*) from pgclarify.turn),
            (select count(*) from pgclarify.listed_answer)
    """
    kept: dict[str, Any] = {}

    for revision in ("0013", "0012", "0011", "0010", "0009"):
        install.migrate(dsn, revision)
        install.install(dsn)
        with closing(psycopg.connect(dsn, autocommit=True)) as connection:
            kept[revision] = connection.execute(counts).fetchone()
            # The constraint is there again, or still, and what it rests on does what sql/ says.
            with pytest.raises(psycopg.errors.InvalidRegularExpression):
                connection.execute("insert into pgclarify.ambiguity_rule (pattern, kind) values ('(', 'lexical')")

    assert kept == {
        "0013": (9, 1, 1, 1, 1, 1, 1),
        "0012": (9, 1, 1, 1, 1, 1, 1),
        "0011": (9, 1, 1, 1, 1, 1, 0),
        "0010": (9, 1, 1, 1, 0, 0, 0),
        "0009": (2, 0, 0, 0, 0, 0, 0),
    }


def test_a_downgrade_loses_evaluations_and_nothing_that_was_paid_for(make_database: Callable[..., str]) -> None:
    dsn = make_database()
    install.install(dsn)
    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        enter_runs(connection)
        connection.execute("""
            insert into pgclarify.eval_run (
                name, data_set, data_set_hash, corpus_id, corpus_name, corpus_revision, method, settings, provider,
                model, prompt_version, embedding_model, judge, judge_version, version, planned_cases
            )
            values (
                'night', 'questions', sha256('q'), 1, 'insurance', 0, 'clarify', '{}', 'openai', 'm', 'v', 'm',
                'lexical', '1', '0.7', 1
            );
            insert into pgclarify.eval_case (
                eval_run_id, ordinal, case_id, question, gold, output, run_id, status, calls, reused_calls,
                prompt_tokens, completion_tokens, model_seconds, seconds
            )
            values (1, 1, 'a', 'cars', '{}', '{}', 1, 'succeeded', 1, 1, 100, 10, 1, 1);
            insert into pgclarify.eval_metric (eval_run_id, metric, ordinal, value) values (1, 'recall', 1, 0.5);
            insert into pgclarify.eval_metric (eval_run_id, metric, value, cases) values (1, 'recall', 0.5, 1);
            insert into pgclarify.completion (purpose, model, parameters, prompt_version, input_hash, run_id)
            values ('judge_support', 'm', '{}', 'v', sha256('j'), null);
            insert into pgclarify.stage (
                run_id, ordinal, name, started_at, duration_ms, calls, reused_calls, prompt_tokens, completion_tokens,
                reused_prompt_tokens, reused_completion_tokens, model_ms
            )
            values (1, 1, 'judgement', now(), 5, 1, 1, 100, 10, 100, 10, 250);
            insert into pgclarify_private.worker (host, process_id, version, provider, model, prompt_version,
            is_serving)
            values ('h', 1, '0.7', 'openai', 'evaluates', 'v', false), ('h', 2, '0.7', 'openai', 'serves', 'v', true)
        """)

    install.migrate(dsn, "0012")
    install.migrate(dsn, "head")

    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        counts = connection.execute("""
            select
                (select count(*) from pgclarify.eval_run),
                (select count(*) from pgclarify.run),
                (select count(*) from pgclarify.completion)
        """).fetchone()
        stage = connection.execute("""
            select calls, reused_calls, prompt_tokens, completion_tokens, reused_prompt_tokens, model_ms
            from pgclarify.stage
        """).fetchall()
        workers = connection.execute("select model, is_serving from pgclarify_private.worker").fetchall()
    assert counts == (0, 9, 11)
    # The version before would take the other one for a worker.
    assert workers == [("serves", True)]
    assert stage == [(1, 1, 100, 10, 0, 0)]


def test_alembic_finds_no_drift(database: str) -> None:
    assert drift(database) == []


def test_metadata_makes_the_very_same_tables(database: str, make_database: Callable[..., str]) -> None:
    dsn = make_database()
    with sqlalchemy_connection(dsn) as connection, connection.begin():
        connection.exec_driver_sql("create extension vector")
        connection.exec_driver_sql("create schema pgclarify")
        connection.exec_driver_sql("create schema pgclarify_private")
        # A constraint rests on this one.
        connection.exec_driver_sql(
            "create function pgclarify_private.is_fit_pattern(pattern text) returns boolean return pattern <> ''"
        )
        schema.metadata.create_all(connection)

    made, migrated = look(dsn, catalog.tables), look(database, catalog.tables)

    assert made - migrated == set()
    assert migrated - made == set()


@pytest.mark.parametrize(
    "change",
    [
        "alter table pgclarify.run add column mood text",
        "alter table pgclarify_private.term alter column passages type integer",
        "alter table pgclarify.run alter column attempt set default 1",
        "alter table pgclarify.run alter column operation drop not null",
        "drop index pgclarify.run_corpus_id_idx",
        "comment on column pgclarify.run.question is 'Something else.'",
        "alter table pgclarify.verdict drop constraint verdict_candidate_fk",
        "alter table pgclarify.run alter column corpus_name set not null",
    ],
)
def test_alembic_would_find_drift(connection: psycopg.Connection[Any], database: str, change: str) -> None:
    connection.execute(change.encode())

    assert len(drift(database)) == 1


@pytest.mark.parametrize(
    "change",
    [
        "alter table pgclarify.run drop constraint run_failed_has_an_error",
        "drop function pgclarify_private.is_fit_pattern(text) cascade",
        "alter table pgclarify_private.staged_passage set logged",
        "alter table pgclarify_private.term reset (fillfactor)",
        "alter table pgclarify.run alter column run_id set generated by default",
        "alter table pgclarify.corpus rename constraint corpus_name_key to corpus_name_uq",
        "comment on table pgclarify.run is 'Something else.'",
    ],
)
def test_the_catalogs_show_what_alembic_cannot_see(connection: psycopg.Connection[Any], change: str) -> None:
    before = catalog.tables(connection)

    connection.execute(change.encode())

    assert catalog.tables(connection) != before


def test_an_upgrade_knows_what_earlier_runs_paid_for(make_database: Callable[..., str]) -> None:
    dsn = make_database()
    install.migrate(dsn, "0013")
    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        connection.execute("""
            insert into pgclarify.run (
                operation, question, settings, requested_by, reuse_key, status, started_at, finished_at, completions
            )
            select
                'rewrite', 'what?', '{}', 'r', '', status, case when status = 'succeeded' then now() end,
                case when status <> 'queued' then now() end, completions
            from (
                values ('succeeded', 2), ('succeeded', 0), ('cancelled', null), ('cancelled', null), ('queued', null)
            ) as entered (status, completions)
        """)
        connection.execute("""
            insert into pgclarify.completion (
                purpose, model, parameters, prompt_version, input_hash, run_id, reply, prompt_tokens,
                completion_tokens, finished_at
            )
            select 'rewriting', 'm', '{}', 'v', sha256(place::text::bytea), run_id, 'x', 10, 2, now()
            from unnest(array[1, 1, 3, 5]) with ordinality as paid (run_id, place)
        """)

    install.migrate(dsn, "0014")

    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        rows = connection.execute(
            "select completions, prompt_tokens, cost_usd from pgclarify.run order by run_id"
        ).fetchall()
    assert rows == [(2, None, None), (0, 0, 0), (1, 10, None), (0, 0, 0), (None, None, None)]


def test_a_downgrade_forgets_what_was_asked_anew(make_database: Callable[..., str]) -> None:
    dsn = make_database()
    install.migrate(dsn, "0014")
    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        connection.execute("""
            insert into pgclarify.completion (purpose, model, parameters, prompt_version, input_hash, sample)
            select 'verdict', 'm', '{}', 'v', sha256('asked'), sample from unnest(array[0, 1, 7000, 7001]) as sample
        """)

    install.migrate(dsn, "0013")

    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        assert connection.execute("select sample from pgclarify.completion order by 1").fetchall() == [(0,), (1,)]


def test_an_upgrade_counts_restricted_words_apart(make_database: Callable[..., str]) -> None:
    dsn = make_database()
    install.migrate(dsn, "0016")
    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        connection.execute(
            "insert into pgclarify.corpus (name, search_config, owner, revision) values ('c', 'x', 'o', 3)"
        )
        connection.execute("create table pgclarify.passage_1 partition of pgclarify.passage for values in (1)")
        connection.execute("""
            insert into pgclarify.passage (
                corpus_id, document_id, ordinal, content, start_char, end_char, content_hash, readers, lexemes,
                lexeme_count
            )
            values
                (1, 'open', 1, 'Cars.', 0, 5, '', null, 'car:1', 1),
                (1, 'hidden', 1, 'Cars, vans.', 0, 11, '', '{board}', 'car:1 van:2', 2)
        """)
        connection.execute("insert into pgclarify.term values (1, 'car', 2), (1, 'van', 1)")
        connection.execute("insert into pgclarify.corpus_tally (corpus_id, linked) values (1, 1), (1, 1)")
        connection.execute("""
            insert into pgclarify.run (
                operation, corpus_id, corpus_name, question, settings, requested_by, reuse_key, corpus_revision,
                linked_passages
            )
            values ('search', 1, 'c', 'cars', '{}', 'r', '', 3, 2)
        """)

    install.migrate(dsn, "0017")

    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        words = "select lexeme, passages, restricted_passages from pgclarify.term_change order by lexeme"
        assert connection.execute(words.encode()).fetchall() == [("car", 0, 1), ("van", 0, 1)]
        tally = "select sum(restricted_lexemes), sum(linked), sum(graph_revision) from pgclarify.corpus_tally"
        assert connection.execute(tally.encode()).fetchone() == (2, 2, 2)
        # As before for everybody, so that it goes on being served.
        revisions = "select run.corpus_revision, graph_revision, revision from pgclarify.run, pgclarify.corpus"
        assert connection.execute(revisions.encode()).fetchone() == (3, 2, 3)
        connection.execute("insert into pgclarify.reader_revision (corpus_id, reader, revision) values (1, 'board', 2)")

    install.migrate(dsn, "0016")

    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        assert connection.execute("select revision from pgclarify.corpus").fetchone() == (5,)
        assert connection.execute("select count(*) from pgclarify.term_change").fetchone() == (0,)
