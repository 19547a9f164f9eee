-- The documents that answer searches, weighted by the number of searches.
select cited.document_id, max(cited.title) as title, count(distinct asked.search_id) as searches, sum(log.times) as times
from (
    {{ pgclarify.citations(ref('search_interpretations')) }}
) as cited
inner join (
    select distinct search_id, run_id from {{ ref('search_interpretations') }}
) as asked using (run_id)
inner join {{ ref('search_log') }} as log using (search_id)
group by cited.document_id
