-- Corpora, their documents and passages, as people read them. Text is wrapped: see views/wrapping.sql.

create or replace view pgclarify.corpus as
select
    corpus.corpus_id,
    corpus.name || '' as name,
    corpus.search_config || '' as search_config,
    corpus.graph_degree,
    corpus.revision,
    (corpus.owner || '')::name as owner,
    (corpus.reader || '')::name as reader,
    (corpus.analyst || '')::name as analyst,
    corpus.embedding_space_id,
    corpus.created_at,
    corpus.graph_similarity
from pgclarify_private.corpus;

grant select on pgclarify.corpus to pgclarify_reader;

create or replace view pgclarify.embedding_space as
select
    embedding_space.embedding_space_id,
    embedding_space.corpus_id,
    embedding_space.model || '' as model,
    embedding_space.dimensions,
    embedding_space.state,
    embedding_space.error || '' as error,
    embedding_space.created_at,
    embedding_space.retired_at
from pgclarify_private.embedding_space;

grant select on pgclarify.embedding_space to pgclarify_reader;

create or replace view pgclarify.document as
select
    document.corpus_id,
    document.id || '' as id,
    document.content || '' as content,
    document.title || '' as title,
    document.uri || '' as uri,
    document.metadata #> '{}' as metadata,
    trim_array(document.readers, 0) as readers,
    document.error || '' as error,
    document.has_failed,
    document.created_at,
    document.updated_at,
    document.indexed_at,
    document.source_id,
    document.origin || '' as origin
from pgclarify_private.document;

grant select on pgclarify.document to pgclarify_reader;

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
