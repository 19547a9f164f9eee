-- Dropping corpora: drop_corpus marks a corpus, so that it waits for no reader, and workers remove it.

create or replace function pgclarify_private.drop_corpus(
    caller pgclarify_private.caller, name text, out dropped_id bigint, out relations oid[], out statements text[]
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_corpus pgclarify_private.corpus := pgclarify_private.owned_corpus(drop_corpus.caller, coalesce(drop_corpus.name, ''));
    v_sources pgclarify_private.source[];
    v_budgets text;
begin
    -- It would go with the corpus, and the owner could make a corpus of the same name without it.
    if not 'pgclarify_owner'::name = any(
        pgclarify_private.roles_of(pgclarify_private.verify_caller(drop_corpus.caller))
    ) then
        select string_agg(pgclarify_private.shown(budget.name), ', ' order by budget.name) into v_budgets
        from pgclarify_private.budget
        where budget.corpus_id = v_corpus.corpus_id and budget.binds_owner;
    end if;
    if v_budgets is not null then
        raise exception 'corpus "%" has a budget that binds its owner', v_corpus.name
            using errcode = 'insufficient_privilege',
                detail = format('A member of pgclarify_owner made it, and it would vanish with the corpus: %s.', v_budgets),
                hint = 'Ask a member of pgclarify_owner to drop the corpus, to remove the budget, or to set its option '
                    'binds_owner to false. You may remove all documents now.';
    end if;
    -- The column is in no key, so this does not conflict with the key share locks of transactions that ask the corpus, or add
    -- documents to it. Those transactions may stay open for long.
    update pgclarify_private.corpus
    set dropped_at = clock_timestamp()
    where corpus.corpus_id = v_corpus.corpus_id and corpus.dropped_at is null;
    if not found then
        -- Another transaction has dropped it meanwhile: error 42704.
        perform pgclarify_private.lock_corpus(v_corpus.corpus_id);
    end if;
    v_sources := array(select source from pgclarify_private.source where corpus_id = v_corpus.corpus_id order by source_id);
    perform pgclarify_private.lock_sources(array(select gone.relation from unnest(v_sources) as gone));
    -- From now on, they are no reason for a grant on a table or its schema.
    update pgclarify_private.source
    set state = 'removing', error = null, load_cursor = null
    where source.corpus_id = v_corpus.corpus_id;
    dropped_id := v_corpus.corpus_id;
    select array_agg(gone.relation), array_agg(spare.statement) into relations, statements
    from unnest(v_sources) as gone
    cross join lateral pgclarify_private.spare_grants(gone) as spare (statement);
end
$$;

comment on function pgclarify_private.drop_corpus(pgclarify_private.caller, text) is
'The part of drop_corpus that needs the owner''s rights: the corpus''s id, and tables that were attached to it, each with a '
'statement for the caller to execute.';
grant execute on function pgclarify_private.drop_corpus(pgclarify_private.caller, text) to pgclarify_user;

create or replace function pgclarify_private.drop_corpus_as_caller(caller pgclarify_private.caller, name text)
returns bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_dropped record;
begin
    select dropped.* into v_dropped
    from pgclarify_private.drop_corpus(drop_corpus_as_caller.caller, drop_corpus_as_caller.name) as dropped;
    -- With the caller's rights, because only the caller can revoke these grants.
    perform pgclarify_private.take_back(drop_corpus_as_caller.caller, spare.relation, spare.statement)
    from unnest(v_dropped.relations, v_dropped.statements) as spare (relation, statement);
    return v_dropped.dropped_id;
end
$$;

comment on function pgclarify_private.drop_corpus_as_caller(pgclarify_private.caller, text) is
'See drop_corpus. It runs with the rights of the caller.';
grant execute on function pgclarify_private.drop_corpus_as_caller(pgclarify_private.caller, text) to pgclarify_user;

create or replace function pgclarify_private.remove_dropped_corpora(most integer)
returns integer
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
-- Another transaction may lock a row that a foreign key reaches.
set lock_timeout = '500ms'
as $$
declare
    -- Rows go before the rows that they refer to. Partitions are not among them: to drop one locks its parent against
    -- everyone, and workers do it separately (drop_orphan_partition).
    v_of_corpus constant text := 'corpus_id = $1';
    v_of_space constant text := 'embedding_space_id in ('
        'select space.embedding_space_id from pgclarify_private.embedding_space as space where space.corpus_id = $1)';
    v_tables constant text[] := array[
        array['pending_document', v_of_corpus],
        array['document', v_of_corpus],
        array[
            'change',
            'source_id in (select source.source_id from pgclarify_private.source where source.corpus_id = $1)'
        ],
        -- A document may be left because it is locked.
        array['source', 'corpus_id = $1 and not exists (select from pgclarify_private.document where source_id = source.source_id)'],
        array['term_change', v_of_corpus],
        array['term', v_of_corpus],
        array['corpus_tally', v_of_corpus],
        array['question_wording', v_of_corpus],
        array['question_group', v_of_corpus],
        array['citation_tally', v_of_corpus],
        array['ambiguity_rule', v_of_corpus],
        array['fence', v_of_corpus],
        array['pending_passage', v_of_space],
        array['pending_cut', v_of_space],
        array['pending_link', v_of_space],
        array['pending_unlink', v_of_space]
    ];
    v_corpus_id bigint;
    v_table text[];
    v_removed integer;
    v_is_left boolean;
begin
    for v_corpus_id in
        select corpus.corpus_id
        from pgclarify_private.corpus
        where corpus.dropped_at is not null
        order by corpus.dropped_at, corpus.corpus_id
    loop
        -- One worker at a time.
        perform from pgclarify_private.corpus where corpus.corpus_id = v_corpus_id for no key update skip locked;
        continue when not found;
        -- Runs on it stay.
        update pgclarify_private.run
        set corpus_id = null
        where run.run_id = any(array(
            select asked.run_id
            from pgclarify_private.run as asked
            where asked.corpus_id = v_corpus_id
            limit remove_dropped_corpora.most
            for no key update skip locked
        ));
        get diagnostics v_removed = row_count;
        if v_removed > 0 then
            return v_removed;
        end if;
        foreach v_table slice 1 in array v_tables loop
            execute format(
                'delete from pgclarify_private.%1$I where ctid = any(array('
                'select ctid from pgclarify_private.%1$I where %2$s limit $2 for update skip locked))',
                v_table[1], v_table[2]
            ) using v_corpus_id, remove_dropped_corpora.most;
            get diagnostics v_removed = row_count;
            if v_removed > 0 then
                return v_removed;
            end if;
        end loop;
        -- A transaction that began to ask the corpus, or to change it, before it was dropped has a key share lock on it. When
        -- there is none, the next statement sees all rows.
        perform from pgclarify_private.corpus where corpus.corpus_id = v_corpus_id for update skip locked;
        continue when not found;
        foreach v_table slice 1 in array v_tables || array['run', v_of_corpus] loop
            execute format('select exists (select from pgclarify_private.%I where %s)', v_table[1], v_table[2])
            into v_is_left using v_corpus_id;
            exit when v_is_left;
        end loop;
        continue when v_is_left;
        -- With its spaces, budgets and classifiers, which are few.
        delete from pgclarify_private.corpus where corpus.corpus_id = v_corpus_id;
        return 1;
    end loop;
    return 0;
end
$$;

comment on function pgclarify_private.remove_dropped_corpora(integer) is
'Remove up to so many rows of a dropped corpus, and at last the corpus itself; returns how many rows, 0 if there is nothing to '
'remove now. Rows that other transactions lock are left for a later call. The corpus itself stays as long as a transaction is '
'open that asked it, or added to it, before it was dropped.';
grant execute on function pgclarify_private.remove_dropped_corpora(integer) to pgclarify_worker;
