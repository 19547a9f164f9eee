-- Passages: what goes with the documents they are of.

create or replace function pgclarify._delete_passages(corpus_id bigint, document_ids text[])
returns pgclarify.corpus_tally
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_tally pgclarify.corpus_tally;
    v_space_id bigint;
begin
    -- Partitions by name: a prepared statement on the parent would lock those of every corpus.
    for v_space_id in
        select embedding_space.embedding_space_id from pgclarify.embedding_space
        where embedding_space.corpus_id = _delete_passages.corpus_id and embedding_space.dimensions is not null
    loop
        execute format(
            'delete from %s where embedding_space_id = $1 and document_id = any($2)',
            pgclarify._partition_name('passage_embedding', v_space_id)
        ) using v_space_id, _delete_passages.document_ids;
    end loop;
    execute format(
        $sql$
        with deleted as (
            delete from %s where corpus_id = $1 and document_id = any($2)
            returning lexemes, lexeme_count, readers
        ),
        lost_term as (
            insert into pgclarify.term_change (corpus_id, lexeme, passages)
            select $1, lexeme, -count(*)
            from deleted, unnest(tsvector_to_array(deleted.lexemes)) as lexeme
            group by lexeme
        )
        select -count(*), -count(readers), -coalesce(sum(lexeme_count), 0) from deleted
        $sql$,
        pgclarify._partition_name('passage', _delete_passages.corpus_id)
    ) into v_tally.passages, v_tally.restricted_passages, v_tally.lexemes
    using _delete_passages.corpus_id, _delete_passages.document_ids;
    v_tally.embedded := v_tally.passages;
    return v_tally;
end
$$;

comment on function pgclarify._delete_passages(bigint, text[]) is
'Delete the passages and vectors of documents; returns the counts to tally, as negative numbers. Term counts go to '
'term_change.';
