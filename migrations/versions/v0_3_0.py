"""What 0.3.0 changes in the tables of 0.2.0. The comments of tables and columns follow from `pgclarify.schema`.

Revision ID: v0_3_0
Revises: v0_2_0
"""

from alembic import op

revision = "v0_3_0"
down_revision = "v0_2_0"
branch_labels = None
depends_on = None

_STATEMENTS: tuple[str, ...] = (
    # A call that was sent counts, even if its reply never comes.
    """
    alter table pgclarify_private.completion
    add column sent_at timestamptz,
    drop constraint completion_reservation_is_whole,
    add constraint completion_reservation_is_whole check (
        num_nonnulls(budget_ids, reserved_at) in (0, 2) and (budget_ids is null or reserved_usd is not null)
    ),
    drop constraint completion_reservation_has_a_lease,
    add constraint completion_reservation_has_a_lease check (
        num_nonnulls(budget_ids, reserved_usd, sent_at) = 0 or leased_by is not null
    )
    """,
    """
    create table pgclarify_private.unanswered_call (
        unanswered_call_id bigint generated always as identity,
        completion_id bigint not null,
        run_id bigint,
        worker_id bigint,
        leased_until timestamptz,
        sent_at timestamptz not null,
        cost_usd numeric,
        budget_ids bigint[],
        counted_at timestamptz,
        constraint unanswered_call_pk primary key (unanswered_call_id),
        constraint unanswered_call_cost_usd_is_an_amount check (cost_usd >= 0 and cost_usd < 'infinity'),
        constraint unanswered_call_is_counted_whole check (
            num_nonnulls(budget_ids, counted_at) in (0, 2) and (budget_ids is null or cost_usd is not null)
        )
    )
    """,
    "create index unanswered_call_completion_id_idx on pgclarify_private.unanswered_call (completion_id)",
    "create index unanswered_call_run_id_idx on pgclarify_private.unanswered_call (run_id)",
    "alter table pgclarify_private.batch add column sent_at timestamptz",
    "update pgclarify_private.batch set sent_at = created_at where remote_id is not null",
    "alter table pgclarify_private.run"
    " add column unanswered_calls bigint, add column unanswered_usd numeric, add column mends jsonb",
    "alter table pgclarify_private.run alter column mends set statistics 0",
    "alter table pgclarify_private.stage add column mends jsonb, alter column mends set statistics 0",
    "alter table pgclarify_private.completion"
    " add column finish_reason text, alter column finish_reason set statistics 0",
    "drop index pgclarify_private.run_usage_idx",
    """
    create index run_usage_idx on pgclarify_private.run (((created_at at time zone 'UTC')::date)) include (
        created_at, corpus_id, corpus_name, requested_by, operation, model, finished_at, completions,
        reused_completions, prompt_tokens, completion_tokens, cost_usd, requested_by_oid, cached_tokens,
        batched_completions, reuse_saved_usd, batch_saved_usd, cache_saved_usd, unanswered_calls, unanswered_usd, mends
    )
    """,
    # A budget also binds the login.
    "alter table pgclarify_private.run add column login name",
    "alter table pgclarify_private.run add column traceparent text",
    # A model that was changed under its name is noticed.
    "alter table pgclarify_private.embedding_space add column changed_at timestamptz",
    # Transactions that attach or detach tables of one owner follow one another.
    "create table pgclarify_private.table_owner"
    " (owner_oid oid not null, constraint table_owner_pk primary key (owner_oid))",
    # Rules of ambiguity name their corpus by its key, because a name is free again once its corpus is dropped.
    "alter table pgclarify_private.ambiguity_rule add column corpus_id bigint"
    " constraint ambiguity_rule_corpus_id_fk references pgclarify_private.corpus on delete cascade",
    "update pgclarify_private.ambiguity_rule set corpus_id = corpus.corpus_id"
    " from pgclarify_private.corpus where corpus.name = ambiguity_rule.corpus",
    "alter table pgclarify_private.ambiguity_rule drop constraint ambiguity_rule_corpus_fk",
    "drop index pgclarify_private.ambiguity_rule_corpus_idx",
    "create index ambiguity_rule_corpus_id_idx on pgclarify_private.ambiguity_rule (corpus_id)",
    "alter table pgclarify_private.ambiguity_rule"
    " add constraint ambiguity_rule_corpus_has_a_name check ((corpus is null) = (corpus_id is null))",
    # Workers of another schema take no runs.
    "alter table pgclarify_private.worker add column schema_hash text",
    # Workers of 0.2.0 cannot carry on: functions that they call are gone or return other columns. Other workers take
    # their runs, and what they still write into them is refused.
    "update pgclarify_private.run set status = 'queued' where status = 'running'",
    # drop_corpus marks a corpus, and workers remove it.
    "alter table pgclarify_private.corpus add column dropped_at timestamptz",
    "alter table pgclarify_private.corpus drop constraint corpus_name_key",
    "create unique index corpus_name_key on pgclarify_private.corpus (name) where dropped_at is null",
)

# Readings lose their column confidence. Objects of users that do not read it must keep working.
_DROP_CONFIDENCE: tuple[str, ...] = (
    # Refuse before anything is changed.
    """
    do $$
    declare
        v_view constant oid := to_regclass('pgclarify.interpretation');
        v_types constant oid[] := array['pgclarify.clarification', 'pgclarify.question_clarification']::regclass[];
        v_found text;
    begin
        with found as (
            select
                case
                    when pg_rewrite.oid is null then pg_describe_object(pg_depend.classid, pg_depend.objid, 0)
                    else pg_describe_object('pg_class'::regclass, pg_rewrite.ev_class, 0)
                end as name
            from pg_attribute
            inner join pg_depend
                on pg_depend.refclassid = 'pg_class'::regclass
                and pg_depend.refobjid = pg_attribute.attrelid
                and pg_depend.refobjsubid = pg_attribute.attnum
            left join pg_rewrite on pg_depend.classid = 'pg_rewrite'::regclass and pg_rewrite.oid = pg_depend.objid
            left join pg_proc
                on pg_depend.classid = 'pg_proc'::regclass and pg_proc.oid = pg_depend.objid
                and pg_proc.pronamespace in ('pgclarify'::regnamespace, 'pgclarify_private'::regnamespace)
            where pg_attribute.attrelid = any(v_view || v_types)
                and pg_attribute.attname = 'confidence'
                and pg_rewrite.ev_class is distinct from v_view
                and pg_proc.oid is null
            union
            -- A type of which a table has a column keeps its attributes.
            select pg_describe_object('pg_class'::regclass, pg_class.oid, pg_attribute.attnum)
            from pg_type
            inner join pg_attribute on pg_attribute.atttypid in (pg_type.oid, pg_type.typarray)
            inner join pg_class on pg_class.oid = pg_attribute.attrelid
            where pg_class.relkind in ('r', 'p', 'm', 'f') and pg_type.typrelid = any(v_types)
        )
        select string_agg(found.name, ', ' order by found.name collate "C") into v_found from found;
        if v_found is not null then
            raise exception 'objects of this database need column confidence of readings, which 0.3.0 removes'
                using errcode = 'dependent_objects_still_exist',
                    detail = 'They are: ' || v_found || '.',
                    hint = 'Keep the definition of each (pg_get_viewdef shows that of a view), and drop it. Then '
                        || 'upgrade, and create it again without confidence.';
        end if;
    end
    $$
    """,
    # A body in BEGIN ATOMIC depends on all columns of its rows. The files of sql/ write these bodies anew.
    """
    do $$
    declare
        v_statement text;
    begin
        set local check_function_bodies = off;
        for v_statement in
            select distinct
                'create or replace function ' || pg_proc.oid::regproc || '(' || pg_get_function_arguments(pg_proc.oid)
                || ') returns ' || pg_get_function_result(pg_proc.oid) || ' language sql as '''''
            from pg_attribute
            inner join pg_depend
                on pg_depend.refclassid = 'pg_class'::regclass
                and pg_depend.refobjid = pg_attribute.attrelid
                and pg_depend.refobjsubid = pg_attribute.attnum
            inner join pg_proc on pg_depend.classid = 'pg_proc'::regclass and pg_proc.oid = pg_depend.objid
            where pg_attribute.attname = 'confidence'
                and pg_attribute.attrelid = any(array[
                    'pgclarify.clarification', 'pgclarify.question_clarification', 'pgclarify_private.interpretation'
                ]::regclass[])
        loop
            execute v_statement;
        end loop;
    end
    $$
    """,
    # A view cannot lose a column, so another one takes its place and its grants. The old one stays if objects of users
    # read it: to create those anew would run their code with the rights of the role that upgrades.
    """
    create or replace view pgclarify.interpretation as
    select
        interpretation.run_id,
        interpretation.ordinal,
        interpretation.interpretation || '' as interpretation,
        interpretation.answer || '' as answer,
        interpretation.support,
        interpretation.cohesion,
        interpretation.is_contested,
        null::real as confidence
    from pgclarify_private.interpretation
    """,
    "alter view pgclarify.interpretation rename to interpretation_0_2_0",
    "alter view pgclarify.interpretation_0_2_0 set schema pgclarify_private",
    """
    create view pgclarify.interpretation as
    select
        interpretation.run_id,
        interpretation.ordinal,
        interpretation.interpretation || '' as interpretation,
        interpretation.answer || '' as answer,
        interpretation.support,
        interpretation.cohesion,
        interpretation.is_contested
    from pgclarify_private.interpretation
    """,
    """
    do $$
    declare
        v_before constant oid := 'pgclarify_private.interpretation_0_2_0'::regclass;
        v_statement text;
    begin
        for v_statement in
            select
                'grant ' || entry.privilege_type || ' on pgclarify.interpretation to '
                || case entry.grantee when 0 then 'public' else entry.grantee::regrole::text end
            from pg_class
            cross join lateral aclexplode(pg_class.relacl) as entry
            where pg_class.oid = v_before and entry.grantee <> pg_class.relowner
        loop
            execute v_statement;
        end loop;
        begin
            drop view pgclarify_private.interpretation_0_2_0;
        exception
            when dependent_objects_still_exist then
                comment on view pgclarify_private.interpretation_0_2_0 is
                    'View interpretation as it was in 0.2.0, for objects of users. It can be dropped after them.';
        end;
    end
    $$
    """,
    "alter table pgclarify_private.interpretation drop column confidence",
    "alter type pgclarify.clarification drop attribute confidence",
    "alter type pgclarify.question_clarification drop attribute confidence",
    # An upgrade comments on a view's columns only where there is no comment.
    "comment on column pgclarify_private.withheld_interpretation.ordinal is null",
)
# What functions had before they got more parameters. Views of users keep them, by their oid.
_EARLIER_FUNCTIONS: tuple[tuple[str, str], ...] = (
    ("grant_access", "text, name, text"),
    ("clarify", "text, text, integer, interval, jsonb"),
    ("clarify_many", "text[], text[], text, integer, interval, jsonb"),
    ("search", "text, text, integer, jsonb"),
    ("neighbors", "text, text, bigint, integer"),
    ("investigate", "text, text, jsonb"),
    ("list_answers", "text, text, jsonb"),
    ("clarifying_questions", "text, text, text[], jsonb"),
    ("estimate", "text[], text, integer, jsonb"),
    ("add_document", "text, text, text, text, text, jsonb, name[]"),
)
_PARTS_OF_CORPORA: tuple[str, ...] = (
    *(
        statement
        for name, parameters in _EARLIER_FUNCTIONS
        for statement in (
            f"alter function pgclarify.{name}({parameters}) rename to {name}_0_2_0",
            f"alter function pgclarify.{name}_0_2_0({parameters}) set schema pgclarify_private",
        )
    ),
    """
    create type pgclarify_private.part as (
        document_ids text[],
        passages bigint,
        of_metadata jsonpath,
        of_facts jsonpath,
        fence jsonpath
    )
    """,
    "comment on type pgclarify_private.part is 'A part of a corpus, which a question is limited to.'",
    """
    comment on column pgclarify_private.part.document_ids is
        'Its documents; null if they are too many to be listed.'
    """,
    """
    comment on column pgclarify_private.part.passages is
        'About how many passages it has; null if they are too many to be counted.'
    """,
    """
    comment on column pgclarify_private.part.of_metadata is
        'What the metadata of its documents fit; null if the filter asks for other facts, or without one.'
    """,
    "comment on column pgclarify_private.part.of_facts is 'What their document_facts fit; null likewise.'",
    """
    comment on column pgclarify_private.part.fence is
        'What their metadata fit besides: the filter of the roles that ask; null without one.'
    """,
    """
    create table pgclarify_private.document_set (
        hash bytea not null,
        document_ids text[] not null,
        used_at timestamp with time zone default now() not null,
        constraint document_set_pk primary key (hash)
    )
    """,
    "alter table pgclarify_private.document_set alter column document_ids set statistics 0",
    """
    create table pgclarify_private.fence (
        corpus_id bigint not null,
        role name not null,
        filter jsonb not null,
        condition text not null,
        keys text[] not null,
        constraint fence_pk primary key (corpus_id, role),
        constraint fence_corpus_id_fk foreign key (corpus_id) references pgclarify_private.corpus (corpus_id)
    )
    """,
    "alter table pgclarify_private.fence alter column filter set statistics 0, alter column condition set statistics 0,"
    " alter column keys set statistics 0",
    "create index document_metadata_idx on pgclarify_private.document using gin (metadata jsonb_path_ops)",
)
# Documents have a date, and readings say how many older ones are hidden.
_DATES: tuple[str, ...] = (
    "alter table pgclarify_private.corpus add column date_key text, alter column date_key set statistics 0",
    "alter table pgclarify_private.source add column dated_column name",
    "alter table pgclarify_private.interpretation add column older_hidden integer",
    # No document has a date yet, so the check needs no scan of them.
    "alter table pgclarify_private.document add column dated timestamptz constraint document_dated_is_writable"
    " check (dated between '0002-01-01 00:00:00+00' and '9999-01-01 00:00:00+00')",
)
# Copies of a passage are judged once. A hash of the text finds them.
_COPIES: tuple[str, ...] = (
    "alter table pgclarify_private.candidate add column copy_of integer, add column copy_shift integer,"
    " add constraint candidate_copy_is_whole check (num_nonnulls(copy_of, copy_shift) in (0, 2))",
    """
    do $$
    declare
        v_passage text;
    begin
        -- Without those of distributed corpora, whose copies are not looked up.
        for v_passage in
            select pg_class.relname from pg_class
            where pg_class.relnamespace = 'pgclarify_private'::regnamespace
                and pg_class.relispartition
                and pg_class.relname ~ '^passage_[0-9]+$'
            order by pg_class.relname
        loop
            execute format(
                'create index %1$I on pgclarify_private.%2$I (hashtextextended(coalesce(nullif(btrim(regexp_replace('
                'content, %3$L, ''''), %4$L), ''''), content), 0))',
                v_passage || '_hashtextextended_idx', v_passage,
                '^(?:[ \\t\\r\\n]*(?:#{1,6} [^\\n]*|[^\\n]+\\n(?:={3,}|-{3,})[ \\t\\r]*)(?:\\n|$))+', e' \\t\\r\\n'
            );
            -- As for other indexes over texts: an old row of pg_statistic would keep parts of erased ones.
            execute format(
                'alter index pgclarify_private.%I alter column 1 set statistics 0', v_passage || '_hashtextextended_idx'
            );
        end loop;
    end
    $$
    """,
)
# What a reader of files knows of a document. No document has it yet, so the checks need no scan of them.
_FILES: tuple[str, ...] = (
    "alter table pgclarify_private.document add column places jsonb constraint document_places_is_an_array"
    " check (jsonb_typeof(places) = 'array')",
    "alter table pgclarify_private.document add column unread jsonb constraint document_unread_is_an_object"
    " check (jsonb_typeof(unread) = 'object')",
    "alter table pgclarify_private.document alter column places set statistics 0",
    "alter table pgclarify_private.document alter column unread set statistics 0",
    "create index document_unread_idx on pgclarify_private.document (corpus_id) where unread is not null",
)


def upgrade() -> None:
    for statement in (*_STATEMENTS, *_DROP_CONFIDENCE, *_PARTS_OF_CORPORA, *_DATES, *_COPIES, *_FILES):
        op.execute(statement)
