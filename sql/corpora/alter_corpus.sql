-- Changing a corpus: its embedding model, its graph, its classifier and the dates of its documents. roles/granting.sql has the
-- access to it.

create or replace function pgclarify_private.set_date_key(corpus pgclarify_private.corpus, date_key text)
returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if (set_date_key.corpus).date_key is not distinct from set_date_key.date_key then
        return false;
    end if;
    perform from pgclarify_private.living_corpus as altered
    where altered.corpus_id = (set_date_key.corpus).corpus_id
    for no key update;
    perform pgclarify_private.lock_corpus((set_date_key.corpus).corpus_id);
    update pgclarify_private.corpus as altered
    set date_key = set_date_key.date_key
    where altered.corpus_id = (set_date_key.corpus).corpus_id;
    -- Another date was given with its document, and stays. A document that another transaction is adding now may have the date
    -- of the former key.
    update pgclarify_private.document
    set dated = pgclarify_private.own_date(document.id, document.metadata, set_date_key.date_key)
    where
        document.corpus_id = (set_date_key.corpus).corpus_id
        and document.dated is not distinct from pgclarify_private.own_date(
            document.id, document.metadata, (set_date_key.corpus).date_key
        )
        and document.dated is distinct from pgclarify_private.own_date(
            document.id, document.metadata, set_date_key.date_key
        );
    return true;
end
$$;

comment on function pgclarify_private.set_date_key(pgclarify_private.corpus, text) is
'Take the dates of documents from another key of their metadata, unless they were given with the document. False if it is the '
'key already.';

create or replace function pgclarify_private.alter_corpus(caller pgclarify_private.caller, name text, options jsonb)
returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_corpus pgclarify_private.corpus := pgclarify_private.owned_corpus(alter_corpus.caller, coalesce(alter_corpus.name, ''));
    -- Options that are null here are missing from the result if omitted.
    v_settings jsonb := pgclarify_private.check_options(alter_corpus.options, pgclarify_private.options_of('alter_corpus'));
    v_is_changed boolean := false;
    v_was_building boolean;
    v_passages bigint;
begin
    if alter_corpus.options ? 'ambiguity_classifier' then
        v_is_changed := pgclarify_private.use_ambiguity_classifier(
            alter_corpus.caller, v_corpus.name, (v_settings ->> 'ambiguity_classifier')::integer
        );
    end if;
    if alter_corpus.options ? 'embedding_model' then
        v_was_building := v_corpus.embedding_space_id is not null and exists (
            select from pgclarify_private.embedding_space as space
            where space.corpus_id = v_corpus.corpus_id and space.state = 'building'
        );
        v_is_changed := pgclarify_private.set_embedding_model(
            alter_corpus.caller, v_corpus.name, v_settings ->> 'embedding_model'
        ) is not null or v_was_building or v_is_changed;
    end if;
    if alter_corpus.options ? 'date_key' then
        v_is_changed := pgclarify_private.set_date_key(v_corpus, v_settings ->> 'date_key') or v_is_changed;
    end if;
    if alter_corpus.options ? 'folders' then
        update pgclarify_private.corpus as altered
        set folders = pgclarify_private.folder_rules(v_settings -> 'folders')
        where
            altered.corpus_id = v_corpus.corpus_id
            and altered.folders is distinct from pgclarify_private.folder_rules(v_settings -> 'folders');
        v_is_changed := found or v_is_changed;
    end if;
    if alter_corpus.options ? 'passages_per_call' then
        update pgclarify_private.corpus as altered
        set passages_per_call = (v_settings -> 'passages_per_call')::integer
        where
            altered.corpus_id = v_corpus.corpus_id
            and altered.passages_per_call is distinct from (v_settings -> 'passages_per_call')::integer;
        v_is_changed := found or v_is_changed;
    end if;
    if v_settings ? 'graph' then
        perform pgclarify_private.lock_corpus(v_corpus.corpus_id);
        -- After the lock, because distribute may have held it until now.
        perform pgclarify_private.refuse_distributed(v_corpus, 'the neighborhood graph');
        select pgclarify_private.queue_all_links(searched.embedding_space_id) into v_passages
        from pgclarify_private.living_corpus as searched
        where searched.corpus_id = v_corpus.corpus_id;
        v_is_changed := coalesce(v_passages > 0, false) or v_is_changed;
    end if;
    return v_is_changed;
end
$$;

comment on function pgclarify_private.alter_corpus(pgclarify_private.caller, text, jsonb) is 'See alter_corpus.';
grant execute on function pgclarify_private.alter_corpus(pgclarify_private.caller, text, jsonb) to pgclarify_user;
