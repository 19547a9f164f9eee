-- What a run read of a document that was later closed to its reader: it is no longer shown.

create or replace function pgclarify_private.withheld_ranks(run_id bigint, roles name[])
returns integer[]
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    -- Materialized, because otherwise it would be computed for each candidate.
    with fence as materialized (
        select pgclarify_private.fence_of(run.corpus_id, withheld_ranks.roles) as condition
        from pgclarify_private.run
        where run.run_id = withheld_ranks.run_id
    )
    select coalesce(array_agg(distinct candidate.rank), '{}')
    from pgclarify_private.candidate
    cross join lateral (
        select candidate.document_id
        union all
        -- Words of other documents that a reply about several passages has put into its readings.
        select unnest(verdict.leans_on)
        from pgclarify_private.verdict
        where verdict.run_id = candidate.run_id and verdict.rank = candidate.rank and verdict.leans_on is not null
    ) as read (document_id)
    inner join pgclarify_private.document
        on document.corpus_id = candidate.corpus_id and document.id = read.document_id
    inner join pgclarify_private.corpus on corpus.corpus_id = candidate.corpus_id
    cross join fence
    where candidate.run_id = withheld_ranks.run_id
        and not pgclarify_private.may_read(document, withheld_ranks.roles, fence.condition)
        -- An analyst sees all runs with all their quotes.
        and not corpus.analysts && withheld_ranks.roles;
end;

comment on function pgclarify_private.withheld_ranks(bigint, name[]) is
'Ranks of the candidates of a run whose document is closed to these roles. A document that was removed is closed to no role: '
'its quotes are kept until it is erased.';

create or replace view pgclarify_private.withheld_candidate with (security_barrier) as
select candidate.run_id, candidate.rank
from pgclarify_private.candidate
cross join lateral (
    select candidate.document_id
    union all
    -- Words of other documents that a reply about several passages has put into its readings.
    select unnest(verdict.leans_on)
    from pgclarify_private.verdict
    where verdict.run_id = candidate.run_id and verdict.rank = candidate.rank and verdict.leans_on is not null
) as read (document_id)
inner join pgclarify_private.document
    on candidate.corpus_id = document.corpus_id and read.document_id = document.id
inner join pgclarify_private.run on candidate.run_id = run.run_id
left join pgclarify_private.my_fence as fence on candidate.corpus_id = fence.corpus_id
where
    not pgclarify_private.may_read(document, (select pgclarify_private.my_roles())::name[], fence.condition::jsonpath)
    and candidate.corpus_id <> all(array(select analyzed.corpus_id from pgclarify_private.my_analyzed_corpus as analyzed))
    -- It shows nothing of other roles' runs.
    and pgclarify_private.is_among(run.requested_by, run.requested_by_oid, (select pgclarify_private.my_role_oids()));

comment on view pgclarify_private.withheld_candidate is
'The same for current_user, for the runs of its roles. It runs with the rights of its owner, because current_user cannot see '
'a closed document.';
grant select on pgclarify_private.withheld_candidate to pgclarify_views;
