"""Budgets, rules of ambiguity and evaluations are written through functions; a budget's name is unique in its corpus.

Revision ID: 0020
Revises: 0019
"""

from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        -- Functions write these now.
        drop policy if exists budget_is_inserted_by_the_owner_of_the_corpus on pgclarify.budget;
        drop policy if exists budget_is_updated_by_the_owner_of_the_corpus on pgclarify.budget;
        drop policy if exists budget_is_deleted_by_the_owner_of_the_corpus on pgclarify.budget;
        drop policy if exists ambiguity_rule_is_inserted_by_the_owner_of_the_corpus on pgclarify.ambiguity_rule;
        drop policy if exists ambiguity_rule_is_updated_by_the_owner_of_the_corpus on pgclarify.ambiguity_rule;
        drop policy if exists ambiguity_rule_is_deleted_by_the_owner_of_the_corpus on pgclarify.ambiguity_rule;
        drop policy if exists eval_run_is_inserted_by_who_evaluates on pgclarify.eval_run;
        drop policy if exists eval_run_is_updated_by_who_evaluates on pgclarify.eval_run;
        drop policy if exists eval_run_is_deleted_by_who_evaluates on pgclarify.eval_run;
        drop policy if exists eval_case_is_inserted_by_who_evaluates on pgclarify.eval_case;
        drop policy if exists eval_case_is_deleted_by_who_evaluates on pgclarify.eval_case;
        drop policy if exists eval_metric_is_inserted_by_who_evaluates on pgclarify.eval_metric;
        drop policy if exists eval_metric_is_deleted_by_who_evaluates on pgclarify.eval_metric;

        -- Unique among all budgets, a name would show that a hidden budget has it.
        alter table pgclarify.budget
            drop constraint budget_name_key,
            add constraint budget_name_key unique nulls not distinct (corpus_id, name);
        drop index pgclarify.budget_corpus_id_idx;
        comment on column pgclarify.budget.name is
            'What runs that meet it call it: 1 to 100 characters, unique among the budgets of its corpus, or of all.';
        comment on table pgclarify.budget is
            'What may be spent on calls of models; set_budget and remove_budget write it, budget_status has what is '
            'left.';
        comment on table pgclarify.ambiguity_rule is
            'A question that matches a rule is ambiguous; add_ambiguity_rule and remove_ambiguity_rule write it.';
        comment on table pgclarify.eval_run is
            'An evaluation: one method with one configuration over one data set. Written by pgclarify eval run; '
            'remove_evaluation removes one, with its cases and metrics.';
    """)


def downgrade() -> None:
    """Make names of budgets unique among all: a name that is taken gets the number of its budget."""
    op.execute("""
        update pgclarify.budget
        set name = left(budget.name, 80) || ' ' || budget.budget_id
        where exists (
            select from pgclarify.budget as older
            where older.name = budget.name and older.budget_id < budget.budget_id
        );
        create index budget_corpus_id_idx on pgclarify.budget (corpus_id);
        alter table pgclarify.budget
            drop constraint budget_name_key,
            add constraint budget_name_key unique (name);
        comment on column pgclarify.budget.name is 'What runs that meet it call it: 1 to 100 characters.';
        comment on table pgclarify.budget is
            'What may be spent on calls of models. Insert, update and delete rows as you like; budget_status has what '
            'is left.';
        comment on table pgclarify.ambiguity_rule is
            'A question that matches a rule is ambiguous. Insert, update and delete rows as you like.';
        comment on table pgclarify.eval_run is
            'An evaluation: one method with one configuration over one data set. Written by pgclarify eval run; delete '
            'rows as you like, cases and metrics go with them.';
    """)
