-- The queue of documents whose current content is not searchable yet.

create or replace function pgclarify_private.expected_passages(content text)
returns integer
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    -- The length in bytes is known without reading the text. An English passage has about 700.
    select 1 + octet_length(expected_passages.content) / 700;
end;

comment on function pgclarify_private.expected_passages(text) is
'About how many passages a document will have, before it is cut.';

create or replace function pgclarify_private.waiting_corpora(
    are_long boolean, skipped_models text[], after_corpus_id bigint, living bigint[], delayed_space_ids bigint[]
)
returns table (corpus_id bigint)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    return query
    select corpus.corpus_id
    from pgclarify_private.living_corpus as corpus
    -- A space that is not open yet has to wait.
    inner join pgclarify_private.embedding_space as space on space.embedding_space_id = corpus.embedding_space_id
    where space.model <> all(waiting_corpora.skipped_models)
        and space.embedding_space_id <> all(waiting_corpora.delayed_space_ids)
        and space.changed_at is null
        and exists (
            select
            from pgclarify_private.pending_document as pending
            where pending.corpus_id = corpus.corpus_id
                and pending.is_long = waiting_corpora.are_long
                and (
                    pending.leased_until is null
                    or pending.leased_until < now()
                    or pending.leased_by <> all(waiting_corpora.living)
                )
        )
        and not pgclarify_private.is_paused(corpus.corpus_id)
        -- Otherwise the embeddings are paid for and cannot be stored.
        and corpus.search_config in (select pgclarify_private.search_configs())
    order by corpus.corpus_id <= waiting_corpora.after_corpus_id, corpus.corpus_id
    -- So many are rarely all locked, and the call is short if they are.
    limit 100;
end
$$;

comment on function pgclarify_private.waiting_corpora(boolean, text[], bigint, bigint[], bigint[]) is
'Corpora with documents to lease, in turns: those after the corpus of the last turn, then from the first one on. So a corpus '
'waits for one claim of each of the others, however much those have. are_long: long documents, or the others. living: keys of '
'the live workers. delayed_space_ids: spaces whose corpora are skipped.';
