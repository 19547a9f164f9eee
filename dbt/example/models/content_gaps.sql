-- What people look for in vain: searches that no document answers, by how often they come.
select log.search_id, log.query, log.times, asked.status, found.is_ambiguous
from {{ ref('search_log') }} as log
inner join {{ ref('search_interpretations') }} as asked using (search_id)
inner join {{ ref('search_detections') }} as found using (search_id)
where asked.ordinal is null
