"""What models cost, what may be spent, and what a run cost.

Revision ID: 0014
Revises: 0013
"""

from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        create table pgclarify.model_price (
            model text not null constraint model_price_model_is_named check (length(model) between 1 and 500),
            -- NaN is above infinity.
            input_usd numeric not null
                constraint model_price_input_usd_is_a_price check (input_usd >= 0 and input_usd < 'infinity'),
            output_usd numeric not null
                constraint model_price_output_usd_is_a_price check (output_usd >= 0 and output_usd < 'infinity'),
            created_at timestamptz not null default now(),
            constraint model_price_pk primary key (model)
        );
        comment on table pgclarify.model_price is
            'What models cost. Insert, update and delete rows as you like: a call costs what the row says when its '
            'reply comes.';
        comment on column pgclarify.model_price.model is 'The model, as workers name it.';
        comment on column pgclarify.model_price.input_usd is 'US dollars for a million tokens of input.';
        comment on column pgclarify.model_price.output_usd is 'US dollars for a million tokens of output.';
        comment on column pgclarify.model_price.created_at is 'When the row was made.';
        insert into pgclarify.model_price (model, input_usd, output_usd) values ('extractive', 0, 0);

        create table pgclarify.budget (
            budget_id bigint generated always as identity,
            name text not null constraint budget_name_is_short check (length(name) between 1 and 100),
            role_name name,
            corpus_id bigint constraint budget_corpus_id_fk references pgclarify.corpus on delete cascade,
            period text not null constraint budget_period_is_known check (period in ('day', 'month', 'total')),
            max_cost_usd numeric
                constraint budget_max_cost_usd_is_an_amount check (max_cost_usd >= 0 and max_cost_usd < 'infinity'),
            max_calls bigint constraint budget_max_calls_are_not_negative check (max_calls >= 0),
            binds_owner boolean not null default pg_has_role('pgclarify_owner', 'usage'),
            created_at timestamptz not null default now(),
            constraint budget_pk primary key (budget_id),
            constraint budget_name_key unique (name),
            constraint budget_has_a_limit check (num_nonnulls(max_cost_usd, max_calls) >= 1)
        );
        create index budget_corpus_id_idx on pgclarify.budget (corpus_id);
        comment on table pgclarify.budget is
            'What may be spent on calls of models. Insert, update and delete rows as you like; budget_status has what '
            'is left.';
        comment on column pgclarify.budget.budget_id is 'Key.';
        comment on column pgclarify.budget.name is 'What runs that meet it call it: 1 to 100 characters.';
        comment on column pgclarify.budget.role_name is
            'It is for runs that this role, or a member of it, asks for; null for those of everyone.';
        comment on column pgclarify.budget.corpus_id is
            'It is for runs on this corpus; null for those on all, and of none.';
        comment on column pgclarify.budget.period is
            'What its limits are for: a day or month of UTC, or all time from its creation (total).';
        comment on column pgclarify.budget.max_cost_usd is 'US dollars; null for no limit.';
        comment on column pgclarify.budget.max_calls is 'Calls; null for no limit.';
        comment on column pgclarify.budget.binds_owner is
            'True if the owner of the corpus may not change or delete it: a member of pgclarify_owner has made it.';
        comment on column pgclarify.budget.created_at is 'When it was made. What was spent before does not count.';

        create table pgclarify.budget_counter (
            -- No foreign key: who deletes a budget, in a transaction that stays open, must not hold up replies.
            budget_id bigint not null,
            period_start timestamptz not null,
            cost_usd numeric not null default 0
                constraint budget_counter_cost_usd_is_an_amount check (cost_usd >= 0 and cost_usd < 'infinity'),
            calls bigint not null default 0
                constraint budget_counter_calls_are_not_negative check (calls >= 0),
            constraint budget_counter_pk primary key (budget_id, period_start)
        );
        comment on table pgclarify.budget_counter is 'What was spent of a budget in a period.';
        comment on column pgclarify.budget_counter.budget_id is 'The budget, which may be gone.';
        comment on column pgclarify.budget_counter.period_start is
            'When the period began; for total, when the budget was made.';
        comment on column pgclarify.budget_counter.cost_usd is
            'US dollars that calls have cost which were begun in it, and are answered.';
        comment on column pgclarify.budget_counter.calls is 'How many those are.';

        alter table pgclarify.completion
            add column cost_usd numeric,
            add column budget_ids bigint[],
            add column reserved_usd numeric,
            add column reserved_at timestamptz,
            add constraint completion_cost_is_of_a_reply check (cost_usd is null or reply is not null),
            add constraint completion_reservation_has_a_lease
                check (budget_ids is null or leased_by is not null),
            add constraint completion_reservation_is_whole
                check (num_nonnulls(budget_ids, reserved_usd, reserved_at) in (0, 3));
        create index completion_reserved_idx on pgclarify.completion (reserved_at) where budget_ids is not null;
        comment on column pgclarify.completion.sample is
            'Which reply to this input, from 0; a thousand more for each refresh of the runs that asked.';
        comment on column pgclarify.completion.prompt_tokens is
            'Tokens of the input; null if the endpoint did not say.';
        comment on column pgclarify.completion.completion_tokens is
            'Tokens of the reply; null if the endpoint did not say.';
        comment on column pgclarify.completion.cost_usd is
            'What it cost, in US dollars; null while there is no reply, or if price or tokens are not known.';
        comment on column pgclarify.completion.budget_ids is
            'Budgets that the call is reserved of while it is made; null if it is of none, or not being made.';
        comment on column pgclarify.completion.reserved_usd is
            'The most it is taken to cost; null unless it is reserved.';
        comment on column pgclarify.completion.reserved_at is
            'When it was reserved, and so of which period; null unless it is.';

        comment on column pgclarify.run.status is
            'queued, running, succeeded, partial (sound, but some passages could not be judged, or a budget ended '
            'it), failed or cancelled.';
        comment on column pgclarify.run.cost_usd is
            'What it cost, in US dollars: 0 if it paid for no call; null if the cost of one is not known, or until it '
            'has ended.';
        alter type pgclarify.run_outcome add attribute stop_reason text, add attribute cost_usd numeric;
        comment on column pgclarify.run_outcome.stop_reason is
            'Why it went no further where it might have; null if there was nothing to decide, or it has not ended.';
        comment on column pgclarify.run_outcome.cost_usd is
            'What it cost, in US dollars: 0 if it paid for no call; null if the cost of one is not known, or until it '
            'has ended.';
        -- Runs of before: what they paid for is in the ledger, and those that paid for nothing cost nothing.
        update pgclarify.run
        set
            completions = ended.completions,
            prompt_tokens = ended.prompt_tokens,
            completion_tokens = ended.completion_tokens,
            cost_usd = case when ended.completions = 0 then 0 end
        from (
            select
                run.run_id,
                coalesce(run.completions, paid.completions, 0) as completions,
                coalesce(run.prompt_tokens, paid.prompt_tokens, 0) as prompt_tokens,
                coalesce(run.completion_tokens, paid.completion_tokens, 0) as completion_tokens
            from pgclarify.run
            left join (
                select
                    completion.run_id, count(*) as completions, sum(completion.prompt_tokens) as prompt_tokens,
                    sum(completion.completion_tokens) as completion_tokens
                from pgclarify.completion
                where completion.reply is not null
                group by completion.run_id
            ) as paid on run.run_id = paid.run_id
            where run.finished_at is not null and run.cost_usd is null
        ) as ended
        where run.run_id = ended.run_id and (run.completions is null or ended.completions = 0);
        create index run_unpriced_idx on pgclarify.run (model, finished_at)
            include (run_id, completions, prompt_tokens)
            where cost_usd is null and finished_at is not null;
        -- All that view usage reads, so that it does not read the rows, which are wide.
        create index run_usage_idx on pgclarify.run (((created_at at time zone 'UTC')::date)) include (
            created_at, corpus_id, corpus_name, requested_by, operation, model, finished_at, completions,
            reused_completions, prompt_tokens, completion_tokens, cost_usd
        );
    """)


def downgrade() -> None:
    """Lose prices, budgets and what calls cost; what runs cost stays.

    Runs that wait to be asked anew are cancelled, and replies to such runs are lost.
    """
    op.execute("""
        alter type pgclarify.run_outcome drop attribute stop_reason, drop attribute cost_usd;
        drop index pgclarify.run_usage_idx;
        drop index pgclarify.run_unpriced_idx;
        comment on column pgclarify.run.cost_usd is 'What it cost, in US dollars; null if no price is known.';
        comment on column pgclarify.run.status is
            'queued, running, succeeded, partial (sound, but some passages could not be judged), failed or cancelled.';

        update pgclarify.run
        set status = 'cancelled', finished_at = clock_timestamp()
        where status in ('queued', 'running') and settings ? 'refresh';
        delete from pgclarify.completion where sample >= 1000;
        comment on column pgclarify.completion.prompt_tokens is 'Tokens of the input.';
        comment on column pgclarify.completion.completion_tokens is 'Tokens of the reply.';
        alter table pgclarify.completion
            drop column cost_usd,
            drop column budget_ids,
            drop column reserved_usd,
            drop column reserved_at;
        comment on column pgclarify.completion.sample is 'Which reply to this input, from 0.';

        drop table pgclarify.budget_counter;
        drop table pgclarify.budget;
        drop table pgclarify.model_price;
    """)
