"""Answers one by one: what a run of list_answers came to.

Revision ID: 0012
Revises: 0011
"""

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        create table pgclarify.listed_answer (
            run_id bigint not null constraint listed_answer_run_id_fk references pgclarify.run on delete cascade,
            ordinal integer not null constraint listed_answer_ordinal_counts_from_one check (ordinal >= 1),
            answer text not null constraint listed_answer_answer_is_not_blank check (answer ~ '\\S'),
            variants text[] not null,
            created_at timestamptz not null default now(),
            constraint listed_answer_pk primary key (run_id, ordinal),
            constraint listed_answer_variants_have_the_answer check (variants[1] = answer)
        );
        comment on table pgclarify.listed_answer is
            'One answer of several, each found knowing those before it. Written as it is found.';
        comment on column pgclarify.listed_answer.run_id is 'The run.';
        comment on column pgclarify.listed_answer.ordinal is 'The order in which they were found, from 1.';
        comment on column pgclarify.listed_answer.answer is 'The answer, as it was first found.';
        comment on column pgclarify.listed_answer.variants is
            'Spellings in which it was found, the answer itself first.';
        comment on column pgclarify.listed_answer.created_at is 'When it was found.';

        create type pgclarify.answer as (
            run_id bigint,
            ordinal integer,
            answer text,
            variants text[],
            document_ids text[],
            citations jsonb
        );
        comment on type pgclarify.answer is 'One answer of several: the row of list_answers.';
        comment on column pgclarify.answer.run_id is 'The run.';
        comment on column pgclarify.answer.ordinal is 'The order in which they were found, from 1.';
        comment on column pgclarify.answer.answer is 'The answer, as it was first found.';
        comment on column pgclarify.answer.variants is 'Spellings in which it was found, the answer itself first.';
        comment on column pgclarify.answer.document_ids is 'Documents that it was found in, best first.';
        comment on column pgclarify.answer.citations is
            'What proves it: array of objects with the columns of view evidence_citation.';
    """)


def downgrade() -> None:
    """Lose listed answers. Their runs go when revision 0010 is undone."""
    op.execute("""
        drop type pgclarify.answer;
        drop table pgclarify.listed_answer;
    """)
