-- Groups of questions whose runs were all deleted.

create or replace function pgclarify_private.prune_question_groups(
    after bigint, most integer, out pruned integer, out seen bigint
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_group_ids bigint[] := array(
        select question_group.question_group_id
        from pgclarify_private.question_group
        where question_group.question_group_id > coalesce(prune_question_groups.after, -1)
        order by question_group.question_group_id
        limit prune_question_groups.most
    );
    v_corpus_ids bigint[];
begin
    seen := v_group_ids[prune_question_groups.most];
    v_group_ids := array(
        select listed.question_group_id
        from unnest(v_group_ids) as listed (question_group_id)
        where not exists (select from pgclarify_private.run where run.question_group_id = listed.question_group_id)
    );
    -- Only a transaction that has locked a corpus adds runs to its groups. The next statement sees the runs that were added
    -- before.
    v_corpus_ids := array(
        select corpus.corpus_id
        from pgclarify_private.corpus
        where corpus.corpus_id in (
            select question_group.corpus_id
            from pgclarify_private.question_group
            where question_group.question_group_id = any(v_group_ids)
        )
        for no key update skip locked
    );
    with gone as (
        delete from pgclarify_private.question_group
        where question_group.question_group_id = any(v_group_ids)
            and question_group.corpus_id = any(v_corpus_ids)
            and not exists (
                select from pgclarify_private.run where run.question_group_id = question_group.question_group_id
            )
        returning question_group.question_group_id
    ),
    forgotten as (
        delete from pgclarify_private.question_wording
        where question_wording.question_group_id in (select gone.question_group_id from gone)
    )
    select count(*) into pruned from gone;
end
$$;

comment on function pgclarify_private.prune_question_groups(bigint, integer) is
'Delete groups without runs, with their wordings. It checks a limited number of groups after the given id; null starts at '
'the first. Returns how many were deleted, and the id to continue from; null at the end. Groups of a locked corpus are '
'skipped.';
grant execute on function pgclarify_private.prune_question_groups(bigint, integer) to pgclarify_worker;
