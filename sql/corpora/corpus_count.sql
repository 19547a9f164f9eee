-- Counts of a corpus: sums over corpus_tally, which has about one row for each corpus, and for each reader of its documents.

create or replace view pgclarify_private.corpus_count as
select
    corpus.corpus_id,
    coalesce(sum(corpus_tally.documents), 0)::bigint as documents,
    coalesce(sum(corpus_tally.passages), 0)::bigint as passages,
    coalesce(sum(corpus_tally.restricted_documents), 0)::bigint as restricted_documents,
    coalesce(sum(corpus_tally.restricted_passages), 0)::bigint as restricted_passages,
    coalesce(sum(corpus_tally.linked), 0)::bigint as linked,
    coalesce(sum(corpus_tally.lexemes), 0)::bigint as lexemes,
    coalesce(sum(corpus_tally.revision), 0)::bigint as revision,
    coalesce(sum(corpus_tally.restricted_lexemes), 0)::bigint as restricted_lexemes,
    coalesce(sum(corpus_tally.graph_revision), 0)::bigint as graph_revision
from pgclarify_private.living_corpus as corpus
left join pgclarify_private.corpus_tally on corpus.corpus_id = corpus_tally.corpus_id and corpus_tally.reader = ''
group by corpus.corpus_id;

comment on view pgclarify_private.corpus_count is
'Counts and revision of every corpus, as of the snapshot. No role has access.';
comment on column pgclarify_private.corpus_count.corpus_id is 'The corpus.';
comment on column pgclarify_private.corpus_count.documents is 'Documents.';
comment on column pgclarify_private.corpus_count.passages is 'Passages, each with a vector in the active space.';
comment on column pgclarify_private.corpus_count.restricted_documents is 'Documents that have their own readers.';
comment on column pgclarify_private.corpus_count.restricted_passages is 'Passages that have their own readers.';
comment on column pgclarify_private.corpus_count.linked is 'Passages with neighbors in the active space.';
comment on column pgclarify_private.corpus_count.lexemes is 'Lexemes of all passages, with repetitions.';
comment on column pgclarify_private.corpus_count.revision is
'How often the searchable content changed, without documents that have their own readers.';
comment on column pgclarify_private.corpus_count.restricted_lexemes is
'Lexemes of passages that have their own readers, with repetitions.';
comment on column pgclarify_private.corpus_count.graph_revision is
'How often passages without readers of their own got neighbors.';

create or replace function pgclarify_private.count_reader_changes(
    corpus_id bigint, readers name[], revision bigint, graph_revision bigint
)
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
begin atomic
    insert into pgclarify_private.corpus_tally (corpus_id, reader, revision, graph_revision)
    select
        count_reader_changes.corpus_id, given.reader, count_reader_changes.revision,
        count_reader_changes.graph_revision
    from unnest(count_reader_changes.readers) as given (reader)
    -- No role has an empty name, and the counts of the corpus have it.
    where given.reader <> ''
    group by given.reader;
end;

comment on function pgclarify_private.count_reader_changes(bigint, name[], bigint, bigint) is
'Add to the revisions of a corpus for the holders of each of these roles.';

create or replace function pgclarify_private.seen_revision(
    corpus_id bigint, roles name[], out revision bigint, out graph_revision bigint
)
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select
        (counted.revision + coalesce(sum(changed.revision), 0))::bigint,
        (counted.graph_revision + coalesce(sum(changed.graph_revision), 0))::bigint
    from pgclarify_private.corpus_count as counted
    left join pgclarify_private.corpus_tally as changed
        on changed.corpus_id = counted.corpus_id and changed.reader = any(seen_revision.roles)
    where counted.corpus_id = seen_revision.corpus_id
    group by counted.revision, counted.graph_revision;
end;

comment on function pgclarify_private.seen_revision(bigint, name[]) is
'How often the content that these roles can find in a corpus has changed, and how often passages that they can read got '
'neighbors. Changes of other content do not count. Null if there is no such corpus.';

create or replace function pgclarify_private.fold_tallies()
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
begin atomic
    -- First the corpora, as everywhere. A corpus is skipped if another worker folds it, or if it was dropped.
    with locked as materialized (
        select corpus.corpus_id
        from pgclarify_private.living_corpus as corpus
        where corpus.corpus_id in (
            select added.corpus_id from pgclarify_private.corpus_tally as added where not added.is_merged
        )
        for no key update skip locked
    ),
    -- Only readers with new rows: a corpus may have very many others.
    due as materialized (
        select added.corpus_tally_id, added.corpus_id, added.reader
        from locked
        inner join pgclarify_private.corpus_tally as added on locked.corpus_id = added.corpus_id and not added.is_merged
        limit 10000
    ),
    folded as (
        delete from pgclarify_private.corpus_tally
        where corpus_tally.corpus_tally_id = any(array(
            select due.corpus_tally_id
            from due
            union all
            select merged.corpus_tally_id
            from (select distinct due.corpus_id, due.reader from due) as known
            inner join pgclarify_private.corpus_tally as merged
                on known.corpus_id = merged.corpus_id and known.reader = merged.reader and merged.is_merged
        ))
        returning corpus_tally.*
    )
    insert into pgclarify_private.corpus_tally (
        corpus_id, reader, documents, restricted_documents, passages, restricted_passages, linked, lexemes,
        restricted_lexemes, revision, graph_revision, is_merged
    )
    select
        folded.corpus_id, folded.reader, sum(folded.documents), sum(folded.restricted_documents), sum(folded.passages),
        sum(folded.restricted_passages), sum(folded.linked), sum(folded.lexemes), sum(folded.restricted_lexemes),
        sum(folded.revision), sum(folded.graph_revision), true
    from folded
    group by folded.corpus_id, folded.reader;
end;

comment on function pgclarify_private.fold_tallies() is
'Merge the rows of each corpus, and those of each of its readers, in corpus_tally into one. Sums do not change. One call '
'merges at most 10,000 new rows.';
grant execute on function pgclarify_private.fold_tallies() to pgclarify_worker;

create or replace function pgclarify_private.corpus_statuses(caller pgclarify_private.caller)
returns table (
    corpus_id bigint,
    corpus text,
    documents bigint,
    passages bigint,
    pending bigint,
    embedded bigint,
    linked bigint,
    failed bigint,
    lag interval,
    revision bigint,
    embedding_model text,
    error text,
    next_embedding_model text,
    next_embedded bigint,
    lag_seconds double precision,
    pending_passages bigint,
    search_config text,
    graph_degree integer,
    owner name,
    readers name[],
    analysts name[],
    created_at timestamptz
)
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    -- Materialized, because otherwise its functions would be called for each corpus.
    with asked as materialized (
        select pgclarify_private.roles_of(pgclarify_private.verify_caller(corpus_statuses.caller)) as roles
    ),
    -- Materialized, because otherwise the queue would be counted, or its counts be read, once for each corpus.
    counted as materialized (
        select
            known.*, coalesce(waiting.documents, 0) as pending, coalesce(waiting.passages, 0) as pending_passages,
            waiting.added_at as pending_since
        from pgclarify_private.corpus_count as known
        left join (
            select
                queued.corpus_id, count(*) as documents, sum(queued.passages)::bigint as passages,
                min(queued.added_at) as added_at
            from pgclarify_private.pending_document as queued
            group by queued.corpus_id
        ) as waiting on known.corpus_id = waiting.corpus_id
    )
    select
        visible.corpus_id,
        visible.name,
        counted.documents - hidden.documents,
        counted.passages - hidden.passages,
        case when not hidden.is_anything then counted.pending + attached.pending end,
        counted.passages - hidden.passages,
        case when not hidden.is_anything then counted.linked end,
        case
            when role.sees_all
                then (
                    select count(*) from pgclarify_private.document
                    where document.corpus_id = visible.corpus_id and document.has_failed
                )
        end,
        waited.lag,
        seen.revision,
        space.model,
        coalesce(
            case
                when visible.search_config not in (select pgclarify_private.search_configs()) then format(
                    'text search configuration %s does not exist: create it again, or rename it back', visible.search_config
                )
            end,
            -- The error of the active space explains why documents wait, or why no question is compared with it.
            case
                when not space.is_active or space.is_changed or not hidden.is_anything and counted.pending > 0 then space.error
            end,
            next_space.error
        ),
        next_space.model,
        case when not hidden.is_anything then next_space.embedded end,
        extract(epoch from waited.lag)::double precision,
        case when not hidden.is_anything then counted.pending_passages + attached.pending end,
        visible.search_config,
        visible.graph_degree,
        visible.owner,
        -- The roles of tenants are names of customers.
        case
            when role.is_fenced and not role.sees_all
                then array(
                    select reader.name from unnest(visible.readers) as reader (name) where reader.name = any(asked.roles)
                )
            else visible.readers
        end,
        visible.analysts,
        visible.created_at
    from asked
    -- As in visible_corpora, and the analysts, who see the corpus without searching it.
    inner join pgclarify_private.living_corpus as visible
        on pgclarify_private.may_search(visible.readers, visible.owner, visible.owner_oid, asked.roles)
        or visible.analysts && asked.roles
    inner join counted on visible.corpus_id = counted.corpus_id
    -- As in seen_revision. A call of it would take most of the time.
    cross join lateral (
        select (counted.revision + coalesce(sum(changed.revision), 0))::bigint as revision
        from pgclarify_private.corpus_tally as changed
        where changed.corpus_id = visible.corpus_id and changed.reader = any(asked.roles)
    ) as seen
    cross join lateral (
        select
            pgclarify_private.may_see_all(visible.owner, visible.owner_oid, visible.analysts, asked.roles) as sees_all,
            exists (
                select from pgclarify_private.fence
                where fence.corpus_id = visible.corpus_id and fence.role = any(asked.roles)
            )
            and pgclarify_private.fence_of(visible.corpus_id, asked.roles) is not null as is_fenced
    ) as role
    -- Other roles must not learn how many documents are not for everyone, or when one of them is added or changed.
    cross join lateral (
        select
            case when role.sees_all then 0 when not role.is_fenced then counted.restricted_documents end as documents,
            case when role.sees_all then 0 when not role.is_fenced then counted.restricted_passages end as passages,
            not role.sees_all and (role.is_fenced or counted.restricted_documents > 0) as is_anything
    ) as hidden
    left join lateral (
        select
            embedding_space.model, embedding_space.error, embedding_space.state = 'active' as is_active,
            embedding_space.changed_at is not null as is_changed
        from pgclarify_private.embedding_space
        where embedding_space.corpus_id = visible.corpus_id and embedding_space.state <> 'retired'
        order by embedding_space.state = 'active' desc, embedding_space.embedding_space_id desc
        limit 1
    ) as space on true
    left join lateral (
        select
            embedding_space.model,
            embedding_space.error,
            -- Exact after all passages have been queued.
            greatest(
                case
                    when embedding_space.queued_at is null then least(embedding_space.queued_passages, counted.passages)
                    else counted.passages
                end - (
                    select count(*) from pgclarify_private.pending_passage
                    where pending_passage.embedding_space_id = embedding_space.embedding_space_id
                ),
                0
            ) as embedded
        from pgclarify_private.embedding_space
        where embedding_space.corpus_id = visible.corpus_id
            and embedding_space.state = 'building'
            and visible.embedding_space_id is not null
    ) as next_space on true
    cross join lateral (
        select
            coalesce(sum((source.state = 'loading')::integer + changed.changes), 0)::bigint as pending,
            least(
                min(source.load_started_at) filter (where source.state = 'loading'), min(changed.changed_at)
            ) as pending_since
        from pgclarify_private.source
        cross join lateral (
            select
                least(coalesce(sum(coalesce(cardinality(change.keys), 1)), 0), 10000)::bigint as changes,
                min(change.changed_at) as changed_at
            -- A status must be cheap, so larger numbers are cut off.
            from (
                select change.keys, change.changed_at from pgclarify_private.change
                where change.source_id = source.source_id
                order by change.change_id
                limit 10000
            ) as change
        ) as changed
        where source.corpus_id = visible.corpus_id and source.state in ('loading', 'following')
    ) as attached
    cross join lateral (
        select
            case
                when not hidden.is_anything then clock_timestamp() - least(counted.pending_since, attached.pending_since)
            end as lag
    ) as waited;
end;

comment on function pgclarify_private.corpus_statuses(pgclarify_private.caller) is 'Rows of view corpus for a caller.';
grant execute on function pgclarify_private.corpus_statuses(pgclarify_private.caller) to pgclarify_reader;

create or replace view pgclarify.corpus as
select
    status.*,
    (
        select jsonb_object_agg(fence.role, fence.filter) from pgclarify_private.fence where fence.corpus_id = status.corpus_id
    ) as reader_filters
from pgclarify_private.caller
cross join lateral pgclarify_private.corpus_statuses(caller) as status;

comment on view pgclarify.corpus is
'Corpora that you may search, or are an analyst of, with their settings and state. If pending is 0, everything that was added '
'is searchable.';
comment on column pgclarify.corpus.corpus_id is 'Key; other views have it, too.';
comment on column pgclarify.corpus.corpus is 'Name of the corpus.';
comment on column pgclarify.corpus.documents is
'Documents in it. If you are neither its owner nor an analyst, this and the following columns count only documents without '
'readers of their own; and if there are others, pending, pending_passages, linked, lag and next_embedded are null. If a filter '
'limits you, all these counts are null.';
comment on column pgclarify.corpus.passages is 'Passages in it.';
comment on column pgclarify.corpus.readers is
'Roles that may search it, besides the owner; if a filter limits you, only those that you belong to.';
comment on column pgclarify.corpus.reader_filters is
'The filters of grants, by reader: all for its owner and analysts, else your own. Null if there are none.';
comment on column pgclarify.corpus.pending is
'Documents whose current content is not searchable yet, plus changes of attached tables that no worker has processed (up to '
'10,000 for each table), plus attached tables that are still being loaded (one each).';
comment on column pgclarify.corpus.embedded is 'Passages with a vector.';
comment on column pgclarify.corpus.linked is 'Passages with neighbors in the graph.';
comment on column pgclarify.corpus.failed is
'Documents that cannot be indexed; document.error says why. Null if you are neither its owner nor an analyst.';
comment on column pgclarify.corpus.lag is 'How long the oldest pending document has waited; null if nothing is pending.';
comment on column pgclarify.corpus.revision is
'How often the content that you can find in it has changed. Other roles can find other documents, and have other revisions.';
comment on column pgclarify.corpus.embedding_model is 'Embedding model.';
comment on column pgclarify.corpus.error is
'Why it cannot be searched (such as a model that could not be loaded), or why pending documents wait; with a '
'next_embedding_model, why the change does not proceed. Null if nothing is wrong.';
comment on column pgclarify.corpus.next_embedding_model is
'The model that it changes to (option embedding_model of alter_corpus); null if it does not change.';
comment on column pgclarify.corpus.next_embedded is 'Passages with a vector of that model; null if there is none.';
comment on column pgclarify.corpus.lag_seconds is 'The same as lag, in seconds.';
comment on column pgclarify.corpus.pending_passages is
'About how many passages wait to be embedded. A document that has not been cut yet counts by its length, a pending row of an '
'attached table as one passage. A long document becomes searchable as a whole, with its last passage.';
grant select on pgclarify.corpus to pgclarify_reader;
