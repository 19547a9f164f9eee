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
    "alter table pgclarify_private.run add column unanswered_calls bigint, add column unanswered_usd numeric",
    "drop index pgclarify_private.run_usage_idx",
    """
    create index run_usage_idx on pgclarify_private.run (((created_at at time zone 'UTC')::date)) include (
        created_at, corpus_id, corpus_name, requested_by, operation, model, finished_at, completions,
        reused_completions, prompt_tokens, completion_tokens, cost_usd, requested_by_oid, cached_tokens,
        batched_completions, reuse_saved_usd, batch_saved_usd, cache_saved_usd, unanswered_calls, unanswered_usd
    )
    """,
    # A budget also binds the login.
    "alter table pgclarify_private.run add column login name",
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
    # drop_corpus marks a corpus, and workers remove it.
    "alter table pgclarify_private.corpus add column dropped_at timestamptz",
    "alter table pgclarify_private.corpus drop constraint corpus_name_key",
    "create unique index corpus_name_key on pgclarify_private.corpus (name) where dropped_at is null",
)


def upgrade() -> None:
    for statement in _STATEMENTS:
        op.execute(statement)
