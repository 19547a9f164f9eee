-- Passages, as people read them. Text is wrapped: see views/wrapping.sql.

create or replace view pgclarify.passage as
select
    passage.corpus_id,
    passage.document_id || '' as document_id,
    passage.id,
    passage.ordinal,
    passage.heading || '' as heading,
    passage.content || '' as content,
    passage.start_char,
    passage.end_char,
    trim_array(passage.readers, 0) as readers
from pgclarify_private.passage;

grant select on pgclarify.passage to pgclarify_reader;
