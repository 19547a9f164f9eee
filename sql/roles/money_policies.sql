-- Which roles see which prices and budgets.

alter table pgclarify_private.model_price enable row level security;
alter table pgclarify_private.budget enable row level security;
alter table pgclarify_private.budget_counter enable row level security;

-- Prices are public. Members of pgclarify_owner write them through the view; other roles may only read it.
drop policy if exists model_price_is_public on pgclarify_private.model_price;
create policy model_price_is_public on pgclarify_private.model_price to pgclarify_views using (true);
comment on policy model_price_is_public on pgclarify_private.model_price is
'Everybody who may use view model_price: to read it, or as a member of pgclarify_owner to write it.';
grant select, insert, update, delete on pgclarify_private.model_price to pgclarify_views;

drop policy if exists budget_is_visible on pgclarify_private.budget;
create policy budget_is_visible on pgclarify_private.budget for select to pgclarify_views using (
    (role_name is null or role_name = any((select pgclarify_private.my_roles())::name[]))
    and (corpus_id is null or corpus_id in (select corpus.corpus_id from pgclarify_private.corpus))
    or corpus_id in (
        select corpus.corpus_id from pgclarify_private.corpus
        where
            pgclarify_private.is_among(corpus.owner, corpus.owner_oid, (select pgclarify_private.my_role_oids()))
            or corpus.analysts && (select pgclarify_private.my_roles())::name[]
    )
    or (select pgclarify_private.may_see_everything())
    and (corpus_id is null or corpus_id in (select corpus.corpus_id from pgclarify_private.corpus))
);
comment on policy budget_is_visible on pgclarify_private.budget is
'Holders of the role that see the corpus of the budget; and the owner and the analyst of the corpus.';
grant select on pgclarify_private.budget to pgclarify_views;

drop policy if exists budget_counter_of_visible_budget on pgclarify_private.budget_counter;
create policy budget_counter_of_visible_budget on pgclarify_private.budget_counter for select to pgclarify_views using (
    budget_id in (select budget.budget_id from pgclarify_private.budget)
);
comment on policy budget_counter_of_visible_budget on pgclarify_private.budget_counter is 'Roles that see the budget.';
grant select on pgclarify_private.budget_counter to pgclarify_views;
