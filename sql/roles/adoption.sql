-- Rows and names of roles that were dropped, and their transfer to the roles that have these names now.

create or replace function pgclarify_private.orphaned_roles()
returns table (name name, role_oid oid, present_oid oid, kind text, count bigint)
language sql stable
set search_path = pg_catalog, pg_temp
begin atomic
    with held as (
        select corpus.owner as name, corpus.owner_oid as role_oid, 'corpus' as kind, count(*) as count
        from pgclarify_private.corpus
        group by corpus.owner, corpus.owner_oid
        union all
        select run.requested_by, run.requested_by_oid, 'run', count(*)
        from pgclarify_private.run
        group by run.requested_by, run.requested_by_oid
        union all
        select conversation.requested_by, conversation.requested_by_oid, 'conversation', count(*)
        from pgclarify_private.conversation
        group by conversation.requested_by, conversation.requested_by_oid
        union all
        select eval_run.requested_by, eval_run.requested_by_oid, 'evaluation', count(*)
        from pgclarify_private.eval_run
        group by eval_run.requested_by, eval_run.requested_by_oid
        union all
        select spent.requested_by, spent.requested_by_oid, 'sum of embeddings', count(*)
        from pgclarify_private.embedding_usage as spent
        group by spent.requested_by, spent.requested_by_oid
        union all
        select source.attached_by, source.attached_by_oid, 'attached table', count(*)
        from pgclarify_private.source
        group by source.attached_by, source.attached_by_oid
        union all
        select named.name, named.role_oid, 'name of a reader, an analyst or a budget', 1
        from pgclarify_private.named_role as named
        group by named.name, named.role_oid
    )
    select held.name, held.role_oid, pgclarify_private.role_oid(held.name), held.kind, held.count
    from held
    where held.role_oid <> pgclarify_private.role_oid(held.name)
    order by held.name, held.role_oid, held.kind;
end;

comment on function pgclarify_private.orphaned_roles() is
'Rows that belong to dropped roles, and names that mean such roles: a row for each role and kind of object. role_oid: 0 if '
'the role is unknown. present_oid: the role that has the name now; 0 if there is none. For members of pgclarify_owner.';

create or replace function pgclarify_private.adopt_roles()
returns table (name name, role_oid oid, present_oid oid, kind text, count bigint)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
    return query
    select orphan.*
    from pgclarify_private.orphaned_roles() as orphan
    where orphan.present_oid <> 0;
    update pgclarify_private.corpus
    set owner_oid = present.oid
    from pg_roles as present
    where present.rolname = corpus.owner and present.oid <> corpus.owner_oid;
    update pgclarify_private.run
    set requested_by_oid = present.oid
    from pg_roles as present
    where present.rolname = run.requested_by and present.oid <> run.requested_by_oid;
    update pgclarify_private.conversation
    set requested_by_oid = present.oid
    from pg_roles as present
    where present.rolname = conversation.requested_by and present.oid <> conversation.requested_by_oid;
    update pgclarify_private.eval_run
    set requested_by_oid = present.oid
    from pg_roles as present
    where present.rolname = eval_run.requested_by and present.oid <> eval_run.requested_by_oid;
    update pgclarify_private.source
    set attached_by_oid = present.oid
    from pg_roles as present
    where present.rolname = source.attached_by and present.oid <> source.attached_by_oid;
    update pgclarify_private.named_role
    set role_oid = present.oid
    from pg_roles as present
    where present.rolname = named_role.name and present.oid <> named_role.role_oid;
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
'Give everything that orphaned_roles lists to the roles that have these names now, and return that list. For pgclarify init '
'--adopt-roles, after a restore on another server.';
