-- Changing a corpus: its embedding model, its graph and its classifier. Access to it is in roles/granting.sql.

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
