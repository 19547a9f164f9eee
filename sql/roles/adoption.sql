-- Rows and names of roles that were dropped, and their transfer to the roles that have these names now.

create or replace function pgclarify_private.role_columns()
returns table (relation text, name_column text, oid_column text, kind text)
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    values
    ('living_corpus', 'owner', 'owner_oid', 'corpus'),
    ('run', 'requested_by', 'requested_by_oid', 'run'),
    ('eval_run', 'requested_by', 'requested_by_oid', 'evaluation'),
    ('feedback', 'given_by', 'given_by_oid', 'rating'),
    ('feedback', 'requested_by', 'requested_by_oid', 'rated run'),
    ('source', 'attached_by', 'attached_by_oid', 'attached table'),
    ('named_role', 'name', 'role_oid', 'name of a reader, an analyst or a budget'),
    ('embedding_usage', 'requested_by', 'requested_by_oid', 'sum of embeddings');
end;

comment on function pgclarify_private.role_columns() is
'The tables, or a view of one, whose rows belong to a role, or name one, each with its columns for the name and the oid of the role.';

create or replace function pgclarify_private.orphaned_roles()
returns table (name name, role_oid oid, present_oid oid, kind text, count bigint)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_held record;
begin
    for v_held in select known.* from pgclarify_private.role_columns() as known loop
        return query execute format(
            'select held.%1$I, held.%2$I, pgclarify_private.role_oid(held.%1$I), %3$L, count(*) from pgclarify_private.%4$I as held'
            ' group by held.%1$I, held.%2$I having held.%2$I <> pgclarify_private.role_oid(held.%1$I)',
            v_held.name_column, v_held.oid_column, v_held.kind, v_held.relation
        );
    end loop;
end
$$;

comment on function pgclarify_private.orphaned_roles() is
'Rows that belong to dropped roles, and names that mean such roles: a row for each role and kind of object. role_oid: 0 if '
'the role is unknown. present_oid: the role that has the name now; 0 if there is none. For members of pgclarify_owner.';

create or replace function pgclarify_private.adopt_roles()
returns table (name name, role_oid oid, present_oid oid, kind text, count bigint)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_held record;
begin
    return query
    select orphan.*
    from pgclarify_private.orphaned_roles() as orphan
    where orphan.present_oid <> 0;
    for v_held in
        select known.* from pgclarify_private.role_columns() as known where known.relation <> 'embedding_usage'
    loop
        execute format(
            'update pgclarify_private.%1$I as held set %2$I = present.oid'
            ' from pg_roles as present where present.rolname = held.%3$I and present.oid <> held.%2$I',
            v_held.relation, v_held.oid_column, v_held.name_column
        );
    end loop;
    -- The present role may already have counts.
    with taken as (
        delete from pgclarify_private.citation_tally as tally
        using pg_roles as present
        where present.rolname = tally.requested_by and present.oid <> tally.requested_by_oid
        returning tally.*, present.oid as present_oid
    )
    insert into pgclarify_private.citation_tally
        (corpus_id, document_id, requested_by, requested_by_oid, citations, runs, last_cited_at)
    select
        taken.corpus_id, taken.document_id, taken.requested_by, taken.present_oid, sum(taken.citations), sum(taken.runs),
        max(taken.last_cited_at)
    from taken
    group by taken.corpus_id, taken.document_id, taken.requested_by, taken.present_oid
    on conflict on constraint citation_tally_pk do update
    set
        citations = citation_tally.citations + excluded.citations,
        runs = citation_tally.runs + excluded.runs,
        last_cited_at = greatest(citation_tally.last_cited_at, excluded.last_cited_at);
    with taken as (
        delete from pgclarify_private.embedding_usage as spent
        using pg_roles as present
        where present.rolname = spent.requested_by and present.oid <> spent.requested_by_oid
        returning spent.*, present.oid as present_oid
    )
    insert into pgclarify_private.embedding_usage as known (
        day, corpus_id, corpus_name, requested_by, requested_by_oid, operation, model, texts, tokens, unpriced_tokens,
        cost_usd
    )
    select
        taken.day, taken.corpus_id, min(taken.corpus_name), taken.requested_by, taken.present_oid, taken.operation,
        taken.model, sum(taken.texts), sum(taken.tokens), sum(taken.unpriced_tokens), sum(taken.cost_usd)
    from taken
    group by taken.day, taken.corpus_id, taken.requested_by, taken.present_oid, taken.operation, taken.model
    on conflict on constraint embedding_usage_key do update
    set
        texts = known.texts + excluded.texts,
        tokens = known.tokens + excluded.tokens,
        unpriced_tokens = known.unpriced_tokens + excluded.unpriced_tokens,
        cost_usd = known.cost_usd + excluded.cost_usd;
end
$$;

comment on function pgclarify_private.adopt_roles() is
'Give everything that orphaned_roles lists to the roles that have these names now, and return that list: after a restore '
'on another server. For members of pgclarify_owner.';
