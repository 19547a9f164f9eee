"""A role is its name and its oid: rows of a role that was dropped do not pass to the next one of that name.

Revision ID: 0018
Revises: 0017
"""

from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        create table pgclarify.named_role (
            named_role_id bigint generated always as identity,
            name name not null,
            role_oid oid not null,
            noted_at timestamptz not null default now(),
            constraint named_role_pk primary key (named_role_id)
        );
        create index named_role_name_idx on pgclarify.named_role (name);
        comment on table pgclarify.named_role is
            'Which role a name means that admits: reader or analyst of a corpus, reader of a document, role of a '
            'budget. It is the role that had the name when it was first written. Another role of that name is not '
            'admitted until pgclarify init --adopt-roles. A name may stand twice, from two transactions at once: with '
            'a unique key, one would wait for the other.';
        comment on column pgclarify.named_role.named_role_id is 'Key.';
        comment on column pgclarify.named_role.name is 'The name.';
        comment on column pgclarify.named_role.role_oid is 'Oid of the role that it means.';
        comment on column pgclarify.named_role.noted_at is 'When that was noted.';

        -- 0 is no role's oid: there was none of that name.
        alter table pgclarify.corpus add column owner_oid oid not null default 0;
        alter table pgclarify.run add column requested_by_oid oid not null default 0;
        alter table pgclarify.conversation add column requested_by_oid oid not null default 0;
        alter table pgclarify.eval_run add column requested_by_oid oid not null default 0;
        alter table pgclarify.citation_tally add column requested_by_oid oid not null default 0;
        alter table pgclarify.source add column attached_by_oid oid not null default 0;
        update pgclarify.corpus set owner_oid = oid from pg_roles where rolname = owner;
        update pgclarify.run set requested_by_oid = oid from pg_roles where rolname = requested_by;
        update pgclarify.conversation set requested_by_oid = oid from pg_roles where rolname = requested_by;
        update pgclarify.eval_run set requested_by_oid = oid from pg_roles where rolname = requested_by;
        update pgclarify.citation_tally set requested_by_oid = oid from pg_roles where rolname = requested_by;
        update pgclarify.source set attached_by_oid = oid from pg_roles where rolname = attached_by;
        alter table pgclarify.corpus alter column owner_oid drop default;
        alter table pgclarify.run alter column requested_by_oid set default quote_ident(current_user)::regrole;
        alter table pgclarify.conversation alter column requested_by_oid set default quote_ident(current_user)::regrole;
        alter table pgclarify.eval_run alter column requested_by_oid set default quote_ident(current_user)::regrole;
        alter table pgclarify.citation_tally
            alter column requested_by_oid drop default,
            drop constraint citation_tally_pk,
            add constraint citation_tally_pk
                primary key (corpus_id, document_id, requested_by, requested_by_oid);
        alter table pgclarify.source alter column attached_by_oid drop default;
        comment on column pgclarify.corpus.owner_oid is 'Its oid: another role of that name is not the owner.';
        comment on column pgclarify.run.requested_by_oid is 'Its oid: another role of that name did not ask.';
        comment on column pgclarify.conversation.requested_by_oid is 'Its oid: another role of that name did not ask.';
        comment on column pgclarify.eval_run.requested_by_oid is 'Its oid: another role of that name did not evaluate.';
        comment on column pgclarify.citation_tally.requested_by_oid is 'Its oid.';
        comment on column pgclarify.source.attached_by_oid is 'Its oid: another role of that name did not attach it.';

        insert into pgclarify.named_role (name, role_oid)
        select rolname, oid
        from pg_roles
        where
            rolname in (
                select reader from pgclarify.corpus
                union
                select analyst from pgclarify.corpus
                union
                select role_name from pgclarify.budget
                union
                select unnest(readers) from pgclarify.document
            )
            and rolname !~ '^pgclarify_(owner|table_reader|reader|user|worker|loopback)$'
        order by rolname;

        drop index pgclarify.run_requested_by_run_id_idx;
        create index run_requested_by_oid_run_id_idx on pgclarify.run (requested_by_oid, run_id);
        drop index pgclarify.conversation_requested_by_conversation_id_idx;
        create index conversation_requested_by_oid_conversation_id_idx
            on pgclarify.conversation (requested_by_oid, conversation_id);
        -- Views read these indexes alone, and policies now need the oid.
        drop index pgclarify.run_usage_idx;
        create index run_usage_idx on pgclarify.run (((created_at at time zone 'UTC')::date)) include (
            created_at, corpus_id, corpus_name, requested_by, operation, model, finished_at, completions,
            reused_completions, prompt_tokens, completion_tokens, cost_usd, requested_by_oid
        );
        drop index pgclarify.run_question_group_id_idx;
        create index run_question_group_id_idx on pgclarify.run (question_group_id, run_id) include (
            operation, corpus_id, corpus_name, requested_by, status, interpretations, served, is_counted, created_at,
            last_served_at, corpus_revision, requested_by_oid
        ) where question_group_id is not null;
    """)


def downgrade() -> None:
    """Let names alone say again whose a row is. Citations that two roles of one name caused are counted as of one."""
    op.execute("""
        drop index pgclarify.run_question_group_id_idx;
        create index run_question_group_id_idx on pgclarify.run (question_group_id, run_id) include (
            operation, corpus_id, corpus_name, requested_by, status, interpretations, served, is_counted, created_at,
            last_served_at, corpus_revision
        ) where question_group_id is not null;
        drop index pgclarify.run_usage_idx;
        create index run_usage_idx on pgclarify.run (((created_at at time zone 'UTC')::date)) include (
            created_at, corpus_id, corpus_name, requested_by, operation, model, finished_at, completions,
            reused_completions, prompt_tokens, completion_tokens, cost_usd
        );
        drop index pgclarify.conversation_requested_by_oid_conversation_id_idx;
        create index conversation_requested_by_conversation_id_idx
            on pgclarify.conversation (requested_by, conversation_id);
        drop index pgclarify.run_requested_by_oid_run_id_idx;
        create index run_requested_by_run_id_idx on pgclarify.run (requested_by, run_id);

        alter table pgclarify.citation_tally drop constraint citation_tally_pk;
        with taken as (
            delete from pgclarify.citation_tally returning *
        )
        insert into pgclarify.citation_tally
            (corpus_id, document_id, requested_by, citations, runs, last_cited_at, requested_by_oid)
        select corpus_id, document_id, requested_by, sum(citations), sum(runs), max(last_cited_at), 0
        from taken
        group by corpus_id, document_id, requested_by;
        alter table pgclarify.citation_tally
            drop column requested_by_oid,
            add constraint citation_tally_pk primary key (corpus_id, document_id, requested_by);
        alter table pgclarify.corpus drop column owner_oid;
        alter table pgclarify.run drop column requested_by_oid;
        alter table pgclarify.conversation drop column requested_by_oid;
        alter table pgclarify.eval_run drop column requested_by_oid;
        alter table pgclarify.source drop column attached_by_oid;
        drop table pgclarify.named_role;
    """)
