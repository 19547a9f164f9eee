-- Erasing a document: all text that comes from it.

create or replace function pgclarify_private.erase_terms(corpus_id bigint, lexemes text[])
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
-- Lexemes have no statistics, so a plan for hundreds of them would read the words of all corpora.
set enable_seqscan = off
set jit = off
as $$
declare
    v_only text[];
begin
    with counted as (
        select term.lexeme, term.passages
        from pgclarify_private.term
        where term.corpus_id = erase_terms.corpus_id and term.lexeme = any(erase_terms.lexemes)
        union all
        select change.lexeme, change.passages
        from pgclarify_private.term_change as change
        where change.corpus_id = erase_terms.corpus_id and change.lexeme = any(erase_terms.lexemes)
    )
    select array_agg(word.lexeme order by word.lexeme) into v_only
    from (
        select counted.lexeme from counted group by counted.lexeme having sum(counted.passages) = 0
    ) as word;
    -- In a fixed order, to avoid deadlocks. Rows that another transaction is counting are skipped; that transaction
    -- drops them.
    with locked as (
        select term.lexeme
        from pgclarify_private.term
        where term.corpus_id = erase_terms.corpus_id and term.lexeme = any(v_only)
        order by term.lexeme
        for update skip locked
    )
    select array_agg(locked.lexeme) into v_only from locked;
    delete from pgclarify_private.term where term.corpus_id = erase_terms.corpus_id and term.lexeme = any(v_only);
    delete from pgclarify_private.term_change as change
    where change.corpus_id = erase_terms.corpus_id and change.lexeme = any(v_only);
end
$$;

comment on function pgclarify_private.erase_terms(bigint, text[]) is
'Drop those of these lexemes that no passage of the corpus has any more, without waiting for a worker that counts.';

create or replace function pgclarify_private.wait_until(deadline timestamptz)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
    -- Zero would mean: without an end.
    perform set_config(
        'lock_timeout',
        greatest(1, extract(epoch from wait_until.deadline - clock_timestamp()) * 1000)::integer::text,
        true
    );
end
$$;

comment on function pgclarify_private.wait_until(timestamptz) is
'Let later statements wait for locks until then at most. Called by a function that sets lock_timeout in its header, and so '
'restores it.';

create or replace function pgclarify_private.lock_for_erasing(corpus_id bigint, document_id text)
returns bigint[]
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
    v_deadline constant timestamptz := clock_timestamp() + current_setting('lock_timeout')::interval;
begin
    -- No run may start before this is committed, because it would read the erased text: start_run locks the row for share.
    -- This is not FOR UPDATE, because open transactions that have asked the corpus lock its key.
    perform from pgclarify_private.living_corpus as corpus where corpus.corpus_id = lock_for_erasing.corpus_id for no key update;
    perform pgclarify_private.lock_corpus(lock_for_erasing.corpus_id);
    perform pgclarify_private.wait_until(v_deadline);
    -- A worker that indexes the document has locked it. Its passages are visible to the next statement.
    perform from pgclarify_private.document
    where document.corpus_id = lock_for_erasing.corpus_id and document.id = lock_for_erasing.document_id
    for update;
    perform pgclarify_private.wait_until(v_deadline);
    -- What an attempt has begun to write is visible to the next statement; later writes wait.
    return array(
        select run.run_id
        from pgclarify_private.run
        where run.status = 'running' and run.corpus_id = lock_for_erasing.corpus_id
        order by run.run_id
        for update
    );
end
$$;

comment on function pgclarify_private.lock_for_erasing(bigint, text) is
'Lock a corpus against starting runs, a document if it still exists, and the running runs; returns these. Together, it waits '
'for at most lock_timeout, and then leaves less of it for later statements; error 55P03 after that.';

create or replace function pgclarify_private.erase_document(caller pgclarify_private.caller, corpus text, document_id text)
returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '1900ms'
as $$
declare
    v_corpus pgclarify_private.corpus := pgclarify_private.owned_corpus(erase_document.caller, erase_document.corpus);
    -- Runs may still show a document that was removed.
    v_document_id constant text := coalesce(
        pgclarify_private.existing_id(v_corpus.corpus_id, erase_document.document_id), erase_document.document_id
    );
    v_lexemes text[];
    v_merged record;
    v_running bigint[];
    v_holders text[];
begin
    v_running := pgclarify_private.lock_for_erasing(v_corpus.corpus_id, v_document_id);
    execute format(
        $sql$
        select array(
            select distinct unnest(tsvector_to_array(passage.lexemes))
            from %s as passage
            where passage.corpus_id = $1 and passage.document_id = $2
        )
        $sql$,
        pgclarify_private.partition_name('passage', v_corpus.corpus_id)
    ) into v_lexemes using v_corpus.corpus_id, v_document_id;
    v_merged := pgclarify_private.merge_documents(v_corpus.corpus_id, null, '{}', array[v_document_id]);
    if exists (
        select from pgclarify_private.document
        where document.corpus_id = v_corpus.corpus_id and document.id = v_document_id
    ) then
        perform pgclarify_private.refuse_by_hand(v_corpus.corpus_id, v_document_id);
    end if;
    perform pgclarify_private.erase_terms(v_corpus.corpus_id, v_lexemes);
    perform pgclarify_private.erase_from_runs(v_corpus.corpus_id, v_document_id);
    -- Their attempts may have read the document without a trace yet. Their writes are refused from now on. They start
    -- again, and pay again only for what is erased.
    update pgclarify_private.run set status = 'queued'
    where run.run_id = any(v_running) and run.status = 'running';
    return v_merged.removed > 0;
exception
    when lock_not_available then
        -- The longest transaction first.
        select array_agg(format('process %s (role %s)', holding.pid, holding.usename) order by holding.xact_start)
        into v_holders
        from pg_stat_activity as holding
        where holding.pid <> pg_backend_pid()
            and holding.datname = current_database()
            and holding.pid in (
                select pg_locks.pid
                from pg_locks
                inner join pg_class on pg_class.oid = pg_locks.relation
                where pg_class.relnamespace = 'pgclarify_private'::regnamespace
                    and pg_locks.granted
                    -- Of statements that lock rows or write them, or lock a table against that.
                    and pg_locks.mode not in ('AccessShareLock', 'ShareUpdateExclusiveLock', 'SIReadLock')
            );
        raise exception 'another transaction locks what would be erased'
            using errcode = 'lock_not_available',
                detail = coalesce(
                    'This would wait for one of these: ' || array_to_string(v_holders[:5], '; ') || '.',
                    'The lock was released meanwhile.'
                ),
                hint = 'Try again when that transaction has ended, or end it with pg_terminate_backend.';
end
$$;

comment on function pgclarify_private.erase_document(pgclarify_private.caller, text, text) is 'See erase_document.';
grant execute on function pgclarify_private.erase_document(pgclarify_private.caller, text, text) to pgclarify_user;
