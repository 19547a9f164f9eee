"""Runs have a stop code, which says why there is no result, or not all of it.

Revision ID: 0023
Revises: 0022
"""

from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        alter table pgclarify.run
            add column stop_code text,
            add constraint run_stop_code_is_known check (
                stop_code in ('not_answered', 'no_language_model', 'language', 'threshold', 'unproven', 'no_passage',
                'contradicted', 'limit', 'budget', 'failed_calls')
            ),
            add constraint run_stop_code_is_of_an_end check (stop_code is null or status in ('succeeded', 'partial'));
        comment on column pgclarify.run.stop_code is
            'Why it has no result, or not all of it, in one word; null if it has its whole result, has failed, or goes '
            'on.';
        -- Runs of before, as far as their rows tell; the words are those of the functions of that version.
        update pgclarify.run
        set stop_code = case
            when
                run.stop_reason like 'budget "%" is spent'
                or run.stop_reason like 'budget "%" has no room for a call that may cost % US dollars'
                or run.stop_reason like 'model "%" has no price, which budget "%" goes by'
                then 'budget'
            when run.status = 'partial' then 'failed_calls'
            when run.candidates = 0 then 'no_passage'
            when run.model ~ '^extractive-[0-9]+$' then 'no_language_model'
            else 'not_answered'
        end
        where
            run.status = 'partial'
            or run.status = 'succeeded' and run.operation in ('clarify', 'consolidate') and run.interpretations = 0;
        alter type pgclarify.run_outcome add attribute stop_code text;
        comment on column pgclarify.run_outcome.stop_code is
            'Why it has no result, or not all of it, in one word; null if it has its whole result, has failed, or goes '
            'on.';
        alter type pgclarify.question_clarification add attribute stop_code text;
        comment on column pgclarify.question_clarification.stop_code is 'As in run_outcome.';
        -- Views of questions read this index alone.
        drop index pgclarify.run_question_group_id_idx;
        create index run_question_group_id_idx on pgclarify.run (question_group_id, run_id) include (
            operation, corpus_id, corpus_name, requested_by, status, interpretations, served, is_counted, created_at,
            last_served_at, corpus_revision, requested_by_oid, stop_code
        ) where question_group_id is not null;
    """)


def downgrade() -> None:
    """Lose stop codes; reasons in words stay."""
    op.execute("""
        drop index pgclarify.run_question_group_id_idx;
        create index run_question_group_id_idx on pgclarify.run (question_group_id, run_id) include (
            operation, corpus_id, corpus_name, requested_by, status, interpretations, served, is_counted, created_at,
            last_served_at, corpus_revision, requested_by_oid
        ) where question_group_id is not null;
        alter type pgclarify.question_clarification drop attribute stop_code;
        alter type pgclarify.run_outcome drop attribute stop_code;
        alter table pgclarify.run drop column stop_code;
    """)
