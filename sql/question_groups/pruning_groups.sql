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
        where not exists (select from pgclarify.run where run.question_group_id = listed.question_group_id)
    );
    -- Who holds a corpus is the only one to put runs into its groups. What was put there before is seen by what follows.
    v_corpus_ids := array(
        select corpus.corpus_id
        from pgclarify.corpus
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
                select from pgclarify.run where run.question_group_id = question_group.question_group_id
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
'Delete groups that no run has any more, with their wordings: of the first so many after that number, or after none if it is '
'null. Returns how many, and the number to go on from; null at the end. Groups of a corpus that somebody holds stay.';
grant execute on function pgclarify_private.prune_question_groups(bigint, integer) to pgclarify_worker;
