-- Which rows a role sees when it reads views: those run with the rights of pgclarify_views, and current_user is the role that
-- asks. These policies do not apply to functions of the owner; those have the caller's roles as an explicit predicate.

-- Three rules hold for several tables.
do $do$
declare
    v_policy record;
begin
    for v_policy in
        select
            listed.relation,
            listed.relation || '_is_readable' as name,
            $condition$
                (
                    readers is null
                    or readers && (select pgclarify_private.my_roles())::name[]
                    or (select pgclarify_private.may_see_everything())
                )
                -- The same as visible_corpora: an analyst sees the corpus and its runs, but reads only documents that are
                -- open to it.
                and corpus_id in (
                    select corpus.corpus_id from pgclarify_private.corpus
                    where pgclarify_private.may_search(
                        corpus.readers, corpus.owner, corpus.owner_oid, (select pgclarify_private.my_roles())::name[]
                    )
                )
                -- Where the role has a fence.
                and (
                    corpus_id <> all(array(select fence.corpus_id from pgclarify_private.my_fence as fence))
                    or $condition$ || listed.is_inside || $condition$
                )
            $condition$ as condition,
            'Its readers, if they may search the corpus, and inside their fence.' as meaning
        from (
            values
            (
                'document',
                $condition$
                    metadata @@ (
                        (select jsonb_object_agg(fence.corpus_id, fence.condition) from pgclarify_private.my_fence as fence)
                        ->> corpus_id::text
                    )::jsonpath
                $condition$
            ),
            -- The policy above is applied to the document.
            (
                'passage',
                $condition$
                    exists (
                        select from pgclarify_private.document
                        where document.corpus_id = passage.corpus_id and document.id = passage.document_id
                    )
                $condition$
            )
        ) as listed (relation, is_inside)
        union all
        select
            listed.relation,
            listed.relation || '_is_visible',
            $condition$
                corpus_id = any(array(select analyzed.corpus_id from pgclarify_private.my_analyzed_corpus as analyzed))
                or pgclarify_private.is_among(requested_by, requested_by_oid, (select pgclarify_private.my_role_oids()))
            $condition$,
            'The role that asked, evaluated, or owns the corpus; members of that role; and the analyst of the corpus.'
        from (values ('run'), ('citation_tally'), ('eval_run'), ('embedding_usage')) as listed (relation)
        union all
        select
            listed.relation,
            listed.relation || '_of_visible_run',
            format('exists (select from pgclarify_private.run where run.run_id = %I.run_id)', listed.relation)
            || case
                when listed.withheld is not null then format(
                    ' and not exists (select from pgclarify_private.%2$I as withheld'
                    ' where withheld.run_id = %1$I.run_id and withheld.%3$I = %1$I.%3$I)',
                    listed.relation, listed.withheld, listed.key
                )
                else ''
            end,
            'Roles that see the run'
            || case when listed.withheld is null then '.' else ', except rows of documents that they may no longer read.' end
        from (
            values
            ('candidate', 'withheld_candidate', 'rank'),
            ('verdict', 'withheld_candidate', 'rank'),
            ('stage', null, null)
            union all
            select result.relation, result.withheld, 'ordinal'
            from pgclarify_private.result_tables() as result
        ) as listed (relation, withheld, key)
    loop
        execute format('alter table pgclarify_private.%I enable row level security', v_policy.relation);
        execute format('drop policy if exists %I on pgclarify_private.%I', v_policy.name, v_policy.relation);
        execute format(
            'create policy %I on pgclarify_private.%I for select to pgclarify_views using (%s)',
            v_policy.name, v_policy.relation, v_policy.condition
        );
        execute format('comment on policy %I on pgclarify_private.%I is %L', v_policy.name, v_policy.relation, v_policy.meaning);
        execute format('grant select on pgclarify_private.%I to pgclarify_views', v_policy.relation);
    end loop;
end
$do$;

alter table pgclarify_private.corpus enable row level security;
alter table pgclarify_private.embedding_space enable row level security;
alter table pgclarify_private.fence enable row level security;
alter table pgclarify_private.citation enable row level security;
alter table pgclarify_private.eval_case enable row level security;
alter table pgclarify_private.feedback enable row level security;
alter table pgclarify_private.ambiguity_rule enable row level security;
alter table pgclarify_private.trained_classifier enable row level security;

drop policy if exists corpus_is_readable on pgclarify_private.corpus;
create policy corpus_is_readable on pgclarify_private.corpus for select to pgclarify_views using (
    -- As in view living_corpus. Other policies read the table through this one.
    dropped_at is null
    and (
        pgclarify_private.may_search(readers, owner, owner_oid, (select pgclarify_private.my_roles())::name[])
        or analysts && (select pgclarify_private.my_roles())::name[]
    )
);
comment on policy corpus_is_readable on pgclarify_private.corpus is
'Roles that may search it, and its analysts, until it is dropped.';
grant select on pgclarify_private.corpus to pgclarify_views;

drop policy if exists fence_is_readable on pgclarify_private.fence;
create policy fence_is_readable on pgclarify_private.fence for select to pgclarify_views using (
    role = any((select pgclarify_private.my_roles())::name[])
    or corpus_id = any(array(select analyzed.corpus_id from pgclarify_private.my_analyzed_corpus as analyzed))
    or exists (
        select from pgclarify_private.corpus
        where
            corpus.corpus_id = fence.corpus_id
            and pgclarify_private.is_among(corpus.owner, corpus.owner_oid, (select pgclarify_private.my_role_oids()))
    )
);
comment on policy fence_is_readable on pgclarify_private.fence is
'The owner and the analysts of its corpus, and the role that it limits.';
grant select on pgclarify_private.fence to pgclarify_views;

drop policy if exists citation_of_visible_run on pgclarify_private.citation;
create policy citation_of_visible_run on pgclarify_private.citation for select to pgclarify_views using (
    -- For an analyst, this avoids a check of each run.
    corpus_id = any(array(select analyzed.corpus_id from pgclarify_private.my_analyzed_corpus as analyzed))
    or exists (select from pgclarify_private.run where run.run_id = citation.run_id)
    and not exists (
        select from pgclarify_private.withheld_candidate as withheld
        where withheld.run_id = citation.run_id and withheld.rank = citation.candidate_rank
    )
);
comment on policy citation_of_visible_run on pgclarify_private.citation is
'Roles that see the run, except rows of documents that they may no longer read.';
grant select on pgclarify_private.citation to pgclarify_views;

drop policy if exists ambiguity_rule_is_readable on pgclarify_private.ambiguity_rule;
create policy ambiguity_rule_is_readable on pgclarify_private.ambiguity_rule for select to pgclarify_views using (
    corpus_id is null or corpus_id in (select corpus.corpus_id from pgclarify_private.corpus)
);
comment on policy ambiguity_rule_is_readable on pgclarify_private.ambiguity_rule is
'Rules for all corpora: everyone. Rules of a corpus: roles that see it.';
grant select on pgclarify_private.ambiguity_rule to pgclarify_views;

drop policy if exists eval_case_of_visible_evaluation on pgclarify_private.eval_case;
create policy eval_case_of_visible_evaluation on pgclarify_private.eval_case for select to pgclarify_views using (
    eval_run_id in (select eval_run.eval_run_id from pgclarify_private.eval_run)
);
comment on policy eval_case_of_visible_evaluation on pgclarify_private.eval_case is 'Roles that see the evaluation.';
grant select on pgclarify_private.eval_case to pgclarify_views;

drop policy if exists feedback_is_visible on pgclarify_private.feedback;
create policy feedback_is_visible on pgclarify_private.feedback for select to pgclarify_views using (
    corpus_id = any(array(select analyzed.corpus_id from pgclarify_private.my_analyzed_corpus as analyzed))
    -- An analyst may rate what the asking role may not read, and a role may lose the rights of the one that asked.
    or pgclarify_private.is_among(given_by, given_by_oid, (select pgclarify_private.my_role_oids()))
    and pgclarify_private.is_among(requested_by, requested_by_oid, (select pgclarify_private.my_role_oids()))
    and not exists (
        select from pgclarify_private.withheld_feedback as withheld where withheld.feedback_id = feedback.feedback_id
    )
);
comment on policy feedback_is_visible on pgclarify_private.feedback is
'The role that rated, and members of it, if they have the rights of the role that asked, except ratings of runs with a '
'document that they may no longer read; and the analyst of the corpus.';
grant select on pgclarify_private.feedback to pgclarify_views;
