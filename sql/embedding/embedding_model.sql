-- The embedding model of a corpus: its name, and changing it. Workers load it and do the rest (embedding/space.sql).

create or replace function pgclarify_private.check_embedding_model(model text)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on
as $$
begin
    if coalesce(check_embedding_model.model, '') = '' then
        raise exception 'a corpus needs an embedding model'
            using errcode = 'invalid_parameter_value',
                hint = 'Name one that the workers can load, such as all-MiniLM-L6-v2, or a path.';
    end if;
    if length(check_embedding_model.model) > 500
        -- A name as model hubs have them, or a path.
        or check_embedding_model.model !~ '^([A-Za-z0-9][A-Za-z0-9._/@:+-]*|[./~][^\u0001-\u001f\u007f-\u009f]*)$'
        or check_embedding_model.model ~ '^endpoint:(@|$)'
        or pgclarify_private.is_reserved_at_endpoint(check_embedding_model.model) then
        raise exception 'this cannot be the name of an embedding model'
            using errcode = 'invalid_parameter_value',
                detail = format('It is "%s".', pgclarify_private.shown(check_embedding_model.model)),
                hint = case
                    when check_embedding_model.model ~ '^\s*{' then 'This looks like options: pass options => ''{…}''.'
                    when pgclarify_private.is_reserved_at_endpoint(check_embedding_model.model) then
                        'This name belongs to the extractive provider: give the model another one at its endpoint.'
                    else 'Pass a sentence-transformers name, such as all-MiniLM-L6-v2, a model behind an endpoint, such as '
                        'endpoint:text-embedding-3-small, or a path that starts with / or ./, of 500 characters at most.'
                end;
    end if;
    -- The default is spelled correctly. Without a worker no warning is useful, because the next one may have any model.
    if check_embedding_model.model <> 'all-MiniLM-L6-v2'
        and exists (select from pgclarify_private.serving_workers())
        and not exists (
            select from pgclarify_private.living_workers() as living
            where check_embedding_model.model = any(living.embedding_models)
        ) then
        raise warning 'no running worker has loaded the embedding model "%" so far', check_embedding_model.model
            using hint = 'A worker tries to load it after this transaction. If it fails, column error of view corpus '
                'says why.';
    end if;
end
$$;

comment on function pgclarify_private.check_embedding_model(text) is
'Error 22023 for a text that cannot be the name or the path of an embedding model; a warning if workers run and none has '
'loaded it.';

create or replace function pgclarify_private.give_up_space(corpus_id bigint)
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
begin atomic
    -- Workers drop its rows and partitions, because there may be many, and workers may be using them.
    update pgclarify_private.embedding_space as space
    set
        state = 'retired',
        retired_at = clock_timestamp(),
        error = null,
        paused_until = null
    where space.corpus_id = give_up_space.corpus_id and space.state = 'building';
end;

comment on function pgclarify_private.give_up_space(bigint) is
'Give up the space that is being built for a corpus, if there is one. Called with the corpus locked.';

create or replace function pgclarify_private.set_embedding_model(caller pgclarify_private.caller, corpus text, model text)
returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_corpus pgclarify_private.corpus := pgclarify_private.owned_corpus(set_embedding_model.caller, set_embedding_model.corpus);
    v_space_id bigint;
begin
    if set_embedding_model.model is not null then
        perform pgclarify_private.check_embedding_model(set_embedding_model.model);
    end if;
    -- Two changes of the model wait for each other; adding documents is not blocked.
    perform from pgclarify_private.living_corpus as corpus where corpus.corpus_id = v_corpus.corpus_id for no key update;
    perform pgclarify_private.lock_corpus(v_corpus.corpus_id);
    if exists (
        select from pgclarify_private.embedding_space as space
        where space.corpus_id = v_corpus.corpus_id
            and space.state = 'active'
            and (
                set_embedding_model.model is null
                or space.model = set_embedding_model.model
                -- A model that was changed under its name embeds all passages again.
                and space.changed_at is null
                -- An empty space is replaced by one of the same model, because an endpoint may have given wrong dimensions.
                and exists (
                    select from pgclarify_private.corpus_count as counted
                    where counted.corpus_id = space.corpus_id and counted.passages > 0
                )
            )
    ) then
        perform pgclarify_private.give_up_space(v_corpus.corpus_id);
        return null;
    end if;
    if set_embedding_model.model is null then
        -- The first space of a corpus is not given up, because there would be none.
        return null;
    end if;
    -- After the lock, because distribute may have held it until now.
    perform pgclarify_private.refuse_distributed(v_corpus, 'another embedding model');
    -- Calling it again retries passages that could not be embedded.
    update pgclarify_private.embedding_space as space
    set error = null
    where space.corpus_id = v_corpus.corpus_id
        and space.state = 'building'
        and space.model = set_embedding_model.model
        and space.changed_at is null
    returning space.embedding_space_id into v_space_id;
    if found then
        update pgclarify_private.pending_passage as pending
        set attempts = 0, retry_at = null
        where pending.embedding_space_id = v_space_id and pending.attempts > 0;
        return v_space_id;
    end if;
    perform pgclarify_private.give_up_space(v_corpus.corpus_id);
    insert into pgclarify_private.embedding_space (corpus_id, model)
    values (v_corpus.corpus_id, set_embedding_model.model)
    returning embedding_space_id into v_space_id;
    return v_space_id;
end
$$;

comment on function pgclarify_private.set_embedding_model(pgclarify_private.caller, text, text) is
'Change the embedding model of a corpus: option embedding_model of alter_corpus. The corpus is searched with the present model '
'until workers have embedded all passages. Null if it has this model already, or if the model is null; both end a change to '
'another one. A model that was changed under its name embeds all passages again.';
grant execute on function pgclarify_private.set_embedding_model(pgclarify_private.caller, text, text) to pgclarify_user;
