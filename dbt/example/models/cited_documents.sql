-- The documents that answer searches, weighted by the number of searches.
select cited.document_id, max(cited.title) as title, count(distinct asked.search_id) as searches, sum(log.times) as times
from (
    -- Once for each run, in which several readings may cite it.
    select run_id, document_id, max(title) as title
    from (
        {{ pgclarify.citations(ref('search_interpretations')) }}
    ) as citations
    group by run_id, document_id
) as cited
inner join (
    select distinct search_id, run_id from {{ ref('search_interpretations') }}
) as asked using (run_id)
inner join {{ ref('search_log') }} as log using (search_id)
group by cited.document_id
