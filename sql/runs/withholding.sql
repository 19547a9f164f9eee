-- What a run read of a document that was later closed to its reader: it is no longer shown.

create or replace function pgclarify_private.withheld_ranks(run_id bigint, roles name[])
returns integer[]
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select coalesce(array_agg(candidate.rank), '{}')
    from pgclarify_private.candidate
    inner join pgclarify_private.document
        on document.corpus_id = candidate.corpus_id and document.id = candidate.document_id
    inner join pgclarify_private.corpus on corpus.corpus_id = candidate.corpus_id
    where candidate.run_id = withheld_ranks.run_id
        and document.readers is not null
        and not document.readers && withheld_ranks.roles
        -- An analyst sees all runs with all their quotes.
        and not corpus.analysts && withheld_ranks.roles;
end;

comment on function pgclarify_private.withheld_ranks(bigint, name[]) is
'Ranks of the candidates of a run whose document is closed to these roles. A document that was removed is closed to no role: '
'its quotes are kept until it is erased.';

create or replace view pgclarify_private.withheld_candidate with (security_barrier) as
select candidate.run_id, candidate.rank
from pgclarify_private.candidate
inner join pgclarify_private.document
    on candidate.corpus_id = document.corpus_id and candidate.document_id = document.id
inner join pgclarify_private.run on candidate.run_id = run.run_id
where
    document.readers is not null
    and not document.readers && (select pgclarify_private.my_roles())::name[]
    and candidate.corpus_id <> all(array(select analyzed.corpus_id from pgclarify_private.my_analyzed_corpus as analyzed))
    -- It shows nothing of other roles' runs.
    and pgclarify_private.is_among(run.requested_by, run.requested_by_oid, (select pgclarify_private.my_role_oids()));

comment on view pgclarify_private.withheld_candidate is
'The same for current_user, for the runs of its roles. It runs with the rights of its owner, because current_user cannot see '
'a closed document.';
grant select on pgclarify_private.withheld_candidate to pgclarify_views;

-- A view for each table: the planner plans all of a view for each policy that reads it.
create or replace view pgclarify_private.withheld_interpretation with (security_barrier) as
select citation.run_id, citation.ordinal
from pgclarify_private.citation
inner join pgclarify_private.withheld_candidate as withheld
    on citation.run_id = withheld.run_id and citation.candidate_rank = withheld.rank
where citation.is_medoid;

comment on view pgclarify_private.withheld_interpretation is
'Interpretations whose medoid is a passage of a withheld candidate.';
grant select on pgclarify_private.withheld_interpretation to pgclarify_views;

create or replace view pgclarify_private.withheld_step with (security_barrier) as
select step.run_id, step.ordinal
from pgclarify_private.step
-- A step's question may repeat the answer of an earlier step.
inner join pgclarify_private.citation on step.run_id = citation.run_id and citation.ordinal <= step.ordinal
inner join pgclarify_private.withheld_candidate as withheld
    on citation.run_id = withheld.run_id and citation.candidate_rank = withheld.rank;

comment on view pgclarify_private.withheld_step is
'Steps that cite a withheld candidate, or come after such a step.';
grant select on pgclarify_private.withheld_step to pgclarify_views;

create or replace view pgclarify_private.withheld_listed_answer with (security_barrier) as
select listed.run_id, listed.ordinal
from pgclarify_private.listed_answer as listed
inner join pgclarify_private.citation on listed.run_id = citation.run_id and listed.ordinal = citation.ordinal
inner join pgclarify_private.withheld_candidate as withheld
    on citation.run_id = withheld.run_id and citation.candidate_rank = withheld.rank
-- A policy cannot hide one spelling of several, and each may be from another citation.
where citation.rank = 1 or cardinality(listed.variants) > 1;

comment on view pgclarify_private.withheld_listed_answer is
'Answers of list_answers whose first citation is a withheld candidate, or any citation if the answer has several spellings.';
grant select on pgclarify_private.withheld_listed_answer to pgclarify_views;
