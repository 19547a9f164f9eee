-- In how many passages lexemes occur. All transactions share the rows of common lexemes, so they are changed in a fixed
-- order, and locked briefly.

create or replace function pgclarify_private.count_terms(
    corpus_id bigint, lexemes text[], passages bigint[], restricted_passages bigint[]
)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
-- Lexemes have no statistics, so a plan for hundreds of them would read the words of all corpora.
set enable_seqscan = off
set jit = off
as $$
declare
    v_empty text[];
begin
    with counted as (
        insert into pgclarify_private.term as known (corpus_id, lexeme, passages, restricted_passages)
        select count_terms.corpus_id, changed.lexeme, changed.passages, changed.restricted_passages
        from unnest(count_terms.lexemes, count_terms.passages, count_terms.restricted_passages) as changed (
            lexeme, passages, restricted_passages
        )
        -- In a fixed order, because two workers with common lexemes would deadlock otherwise.
        order by changed.lexeme
        on conflict on constraint term_pk do update
        set
            passages = known.passages + excluded.passages,
            restricted_passages = known.restricted_passages + excluded.restricted_passages
        returning known.lexeme, known.passages
    )
    select coalesce(array_agg(counted.lexeme), '{}') into v_empty from counted where counted.passages = 0;
    -- These rows are locked by now, so there is no deadlock, and no count is lost. A count below zero stays, because its
    -- counterpart is still in term_change.
    delete from pgclarify_private.term
    where term.corpus_id = count_terms.corpus_id
        and term.lexeme = any(v_empty)
        and term.passages = 0
        and term.restricted_passages = 0;
end
$$;

comment on function pgclarify_private.count_terms(bigint, text[], bigint[], bigint[]) is
'Add to the passages that lexemes occur in, and delete lexemes that no passage has any more.';

create or replace function pgclarify_private.apply_term_changes()
returns integer
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_corpus_id bigint;
    v_lexemes text[];
    v_passages bigint[];
    v_restricted_passages bigint[];
    v_count integer;
    v_applied integer := 0;
    -- Takes some tenths of a second.
    v_most constant integer := 10000;
begin
    for v_corpus_id in
        select corpus.corpus_id
        from pgclarify_private.living_corpus as corpus
        where exists (select from pgclarify_private.term_change as change where change.corpus_id = corpus.corpus_id)
        order by corpus.corpus_id
    loop
        exit when v_applied >= v_most;
        -- First the corpus, as everywhere. If it was dropped, so are these. If a document is being erased, its words are locked,
        -- perhaps for long.
        perform from pgclarify_private.living_corpus as corpus where corpus.corpus_id = v_corpus_id for share skip locked;
        continue when not found;
        with taken as (
            delete from pgclarify_private.term_change
            where term_change.ctid = any(array(
                select change.ctid
                from pgclarify_private.term_change as change
                where change.corpus_id = v_corpus_id
                limit v_most - v_applied
                for update skip locked
            ))
            returning term_change.lexeme, term_change.passages, term_change.restricted_passages
        ),
        summed as (
            select
                taken.lexeme, sum(taken.passages)::bigint as passages,
                sum(taken.restricted_passages)::bigint as restricted_passages, count(*) as changes
            from taken
            group by taken.lexeme
        )
        select
            coalesce(sum(summed.changes), 0), array_agg(summed.lexeme), array_agg(summed.passages),
            array_agg(summed.restricted_passages)
        into v_count, v_lexemes, v_passages, v_restricted_passages
        from summed;
        perform pgclarify_private.count_terms(v_corpus_id, v_lexemes, v_passages, v_restricted_passages);
        v_applied := v_applied + v_count;
    end loop;
    return v_applied;
end
$$;

comment on function pgclarify_private.apply_term_changes() is
'Apply up to 10,000 rows of term_change to term, and return how many.';
grant execute on function pgclarify_private.apply_term_changes() to pgclarify_worker;
