-- Searches without an answer, the most frequent first. If is_gap is true, a language model has judged that no document
-- answers. Otherwise stop_code says why that is unknown, and the closest document may have the answer.
select
    log.search_id, log.query, log.times, asked.status, ran.stop_code, ran.stop_code = 'not_answered' as is_gap,
    closest.document_id as closest_document_id, found.is_ambiguous
from {{ ref('search_log') }} as log
inner join {{ ref('search_interpretations') }} as asked using (search_id)
inner join {{ ref('search_detections') }} as found using (search_id)
left join (
    {{ pgclarify.runs(ref('search_interpretations')) }}
) as ran on ran.run_id = asked.run_id
left join (
    {{ pgclarify.candidates(ref('search_interpretations')) }}
) as closest on closest.run_id = asked.run_id and closest.rank = 1
where asked.ordinal is null
