"""What questions will cost, before they are asked.

Revision ID: 0016
Revises: 0015
"""

from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        alter table pgclarify.run
            drop constraint run_operation_is_known,
            add constraint run_operation_is_known check (
                operation in (
                    'clarify', 'consolidate', 'search', 'investigate', 'detect_ambiguity', 'detect_ambiguity_many',
                    'rewrite', 'clarifying_questions', 'reply', 'list_answers', 'estimate'
                )
            );
        comment on column pgclarify.run.operation is
            'clarify, consolidate, search, investigate, detect_ambiguity, detect_ambiguity_many, rewrite, '
            'clarifying_questions, reply, list_answers or estimate.';
        comment on column pgclarify.run.question is
            'The question as it was asked; for detect_ambiguity_many and estimate, a JSON array of questions.';

        create table pgclarify.estimate (
            run_id bigint not null constraint estimate_run_id_fk references pgclarify.run on delete cascade,
            questions bigint not null constraint estimate_questions_are_positive check (questions >= 1),
            distinct_questions bigint not null
                constraint estimate_distinct_questions_are_questions
                check (distinct_questions between 1 and questions),
            answered bigint not null
                constraint estimate_answered_are_distinct_questions
                check (answered between 0 and distinct_questions),
            sampled bigint not null
                constraint estimate_sampled_are_not_answered
                check (sampled between 0 and distinct_questions - answered),
            calls bigint not null constraint estimate_calls_are_not_negative check (calls >= 0),
            calls_at_most bigint not null
                constraint estimate_calls_at_most_are_no_less check (calls_at_most >= calls),
            reused_calls bigint not null
                constraint estimate_reused_calls_are_not_negative check (reused_calls >= 0),
            prompt_tokens bigint not null
                constraint estimate_prompt_tokens_are_not_negative check (prompt_tokens >= 0),
            completion_tokens bigint not null
                constraint estimate_completion_tokens_are_not_negative check (completion_tokens >= 0),
            cost_usd numeric constraint estimate_cost_usd_is_not_negative check (cost_usd >= 0),
            constraint estimate_pk primary key (run_id)
        );
        comment on table pgclarify.estimate is 'What a run of estimate came to: what questions would take.';
        comment on column pgclarify.estimate.run_id is 'The run.';
        comment on column pgclarify.estimate.questions is 'How many questions were given.';
        comment on column pgclarify.estimate.distinct_questions is 'How many different ones.';
        comment on column pgclarify.estimate.answered is
            'How many of these would be served from an earlier run, with no call.';
        comment on column pgclarify.estimate.sampled is
            'How many of the others were looked at; if not all of them, the figures are scaled up from these.';
        comment on column pgclarify.estimate.calls is
            'About how many calls of the language model would be made and paid for; equal ones once.';
        comment on column pgclarify.estimate.calls_at_most is
            'No more than that many, but for replies that do not fit and are asked for once more.';
        comment on column pgclarify.estimate.reused_calls is
            'About how many further calls need not be made: their replies are in the ledger.';
        comment on column pgclarify.estimate.prompt_tokens is 'About how many input tokens the calls have.';
        comment on column pgclarify.estimate.completion_tokens is 'About how many output tokens they have.';
        comment on column pgclarify.estimate.cost_usd is
            'About what the calls cost in US dollars, by the price that the model had when it was estimated; null if '
            'it had none.';

        create type pgclarify.estimation as (
            run_id bigint,
            questions bigint,
            distinct_questions bigint,
            answered bigint,
            sampled bigint,
            calls bigint,
            calls_at_most bigint,
            reused_calls bigint,
            prompt_tokens bigint,
            completion_tokens bigint,
            cost_usd numeric,
            model text
        );
        comment on type pgclarify.estimation is 'What questions would take: the row of estimate.';
        comment on column pgclarify.estimation.run_id is
            'The run that looked; null if all questions have been answered, and nobody had to.';
        comment on column pgclarify.estimation.questions is 'How many questions were given.';
        comment on column pgclarify.estimation.distinct_questions is 'How many different ones.';
        comment on column pgclarify.estimation.answered is
            'How many of these would be served from an earlier run, with no call.';
        comment on column pgclarify.estimation.sampled is
            'How many of the others were looked at; if not all of them, the figures are scaled up from these.';
        comment on column pgclarify.estimation.calls is
            'About how many calls of the language model would be made and paid for; equal ones once.';
        comment on column pgclarify.estimation.calls_at_most is
            'No more than that many, but for replies that do not fit and are asked for once more.';
        comment on column pgclarify.estimation.reused_calls is
            'About how many further calls need not be made: their replies are in the ledger.';
        comment on column pgclarify.estimation.prompt_tokens is 'About how many input tokens the calls have.';
        comment on column pgclarify.estimation.completion_tokens is 'About how many output tokens they have.';
        comment on column pgclarify.estimation.cost_usd is
            'About what the calls cost in US dollars; null if table model_price has no price of the model.';
        comment on column pgclarify.estimation.model is 'Model that would be asked; null if nobody had to look.';
    """)


def downgrade() -> None:
    """Lose estimates and their runs. What was paid for stays in the ledger."""
    op.execute("""
        drop type pgclarify.estimation;
        drop table pgclarify.estimate;

        -- Their jobs stay: a worker that finds no run is done with them.
        update pgclarify.completion
        set run_id = null
        from pgclarify.run
        where run.run_id = completion.run_id and run.operation = 'estimate';
        delete from pgclarify.run where operation = 'estimate';

        comment on column pgclarify.run.question is
            'The question as it was asked; for detect_ambiguity_many, a JSON array of questions.';
        comment on column pgclarify.run.operation is
            'clarify, consolidate, search, investigate, detect_ambiguity, detect_ambiguity_many, rewrite, '
            'clarifying_questions, reply or list_answers.';
        alter table pgclarify.run
            drop constraint run_operation_is_known,
            add constraint run_operation_is_known check (
                operation in (
                    'clarify', 'consolidate', 'search', 'investigate', 'detect_ambiguity', 'detect_ambiguity_many',
                    'rewrite', 'clarifying_questions', 'reply', 'list_answers'
                )
            );
    """)
