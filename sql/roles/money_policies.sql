-- Which roles see which prices and budgets.

alter table pgclarify.model_price enable row level security;
alter table pgclarify.budget enable row level security;
alter table pgclarify_private.budget_counter enable row level security;
alter table pgclarify_private.embedding_usage enable row level security;

-- Prices are public. Only members of pgclarify_owner write them, and policies do not apply to these.
drop policy if exists model_price_is_readable on pgclarify.model_price;
create policy model_price_is_readable on pgclarify.model_price for select to pgclarify_reader using (true);
comment on policy model_price_is_readable on pgclarify.model_price is 'Everybody.';
grant select on pgclarify.model_price to pgclarify_reader;

drop policy if exists budget_is_visible on pgclarify.budget;
create policy budget_is_visible on pgclarify.budget for select to pgclarify_reader using (
    (role_name is null or role_name = any((select pgclarify_private.my_roles())::name[]))
    and (corpus_id is null or corpus_id in (select corpus.corpus_id from pgclarify.corpus))
    or corpus_id in (
        select corpus.corpus_id from pgclarify.corpus
        where
            pgclarify_private.is_among(corpus.owner, corpus.owner_oid, (select pgclarify_private.my_role_oids()))
            or corpus.analyst = any((select pgclarify_private.my_roles())::name[])
    )
);
comment on policy budget_is_visible on pgclarify.budget is
'Holders of the role that see the corpus of the budget; and the owner and the analyst of the corpus.';
grant select on pgclarify.budget to pgclarify_reader;

drop policy if exists budget_counter_of_visible_budget on pgclarify_private.budget_counter;
create policy budget_counter_of_visible_budget on pgclarify_private.budget_counter for select to pgclarify_reader using (
    budget_id in (select budget.budget_id from pgclarify.budget)
);
comment on policy budget_counter_of_visible_budget on pgclarify_private.budget_counter is 'Roles that see the budget.';
grant select on pgclarify_private.budget_counter to pgclarify_reader;

drop policy if exists embedding_usage_is_visible on pgclarify_private.embedding_usage;
create policy embedding_usage_is_visible on pgclarify_private.embedding_usage for select to pgclarify_reader using (
    corpus_id = any((select pgclarify_private.my_analyzed_corpora())::bigint[])
    or pgclarify_private.is_among(requested_by, requested_by_oid, (select pgclarify_private.my_role_oids()))
);
comment on policy embedding_usage_is_visible on pgclarify_private.embedding_usage is
'The role that asked, or that owns the corpus, members of that role, and the analyst of the corpus.';
grant select on pgclarify_private.embedding_usage to pgclarify_reader;

-- Only functions write budgets, for the reason in roles/policies.sql.
revoke insert, update, delete on pgclarify.budget from pgclarify_user;
