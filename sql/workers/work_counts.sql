-- How much work waits: metrics of the whole database that a worker reports to Prometheus. A scrape is one call of this
-- function, so it reads counters and indexes, and of the tables only the runs and documents that wait: a million of them
-- take it some tenths of a second.

create or replace function pgclarify_private.work_counts()
returns table (
    living_workers bigint,
    jobs_waited_for bigint,
    jobs_in_background bigint,
    jobs_delayed bigint,
    jobs_running bigint,
    oldest_waited_for_seconds double precision,
    oldest_in_background_seconds double precision,
    documents_pending bigint,
    passages_pending bigint,
    documents_failed bigint,
    ingest_lag_seconds double precision,
    passages_unlinked bigint,
    sources_failed bigint
)
language sql volatile security definer
set search_path = pg_catalog, pg_temp
begin atomic
    with queued as materialized (
        select
            count(*) filter (where not due.is_delayed and due.is_waited_for) as waited_for,
            count(*) filter (where not due.is_delayed and not due.is_waited_for) as in_background,
            count(*) filter (where due.is_delayed) as delayed,
            -- With those that are put back again and again: they wait, too.
            min(run.created_at) filter (where due.is_waited_for and not due.is_in_batch) as oldest_waited_for,
            min(run.created_at) filter (where not due.is_waited_for and not due.is_in_batch) as oldest_in_background
        from pgclarify_private.run
        cross join lateral (
            select
                coalesce(run.due_at > now(), false) as is_delayed,
                -- It waits for the endpoint, and not for a worker.
                coalesce(run.due_at = 'infinity', false) as is_in_batch,
                run.priority >= pgclarify_private.waited_for_priority() as is_waited_for
        ) as due
        where run.status = 'queued'
    ),
    counted as materialized (
        select
            coalesce(
                sum(counts.passages - counts.linked) filter (
                    -- A distributed corpus has no graph.
                    where counts.passages > counts.linked and not pgclarify_private.is_distributed(counts.corpus_id)
                ),
                0
            )::bigint as unlinked
        from pgclarify_private.corpus_count as counts
    ),
    pending as materialized (
        select
            count(*) as documents,
            coalesce(sum(waiting.passages), 0)::bigint as passages,
            extract(
                epoch from clock_timestamp() - least(
                    min(waiting.added_at),
                    -- Changes of attached tables that have not become documents yet.
                    (
                        select min(changed.since)
                        from pgclarify_private.waiting_sources() as changed
                        where changed.work = 'changes'
                    )
                )
            ) as lag
        from pgclarify_private.pending_document as waiting
        inner join pgclarify_private.living_corpus as corpus on waiting.corpus_id = corpus.corpus_id
    )
    select
        (select count(*) from pgclarify_private.serving_workers()),
        queued.waited_for,
        queued.in_background,
        queued.delayed,
        (select count(*) from pgclarify_private.run where run.status = 'running'),
        coalesce(extract(epoch from clock_timestamp() - queued.oldest_waited_for), 0)::double precision,
        coalesce(extract(epoch from clock_timestamp() - queued.oldest_in_background), 0)::double precision,
        pending.documents,
        pending.passages,
        (
            select count(*)
            from pgclarify_private.document
            inner join pgclarify_private.living_corpus as corpus on document.corpus_id = corpus.corpus_id
            where document.has_failed
        ),
        coalesce(pending.lag, 0)::double precision,
        counted.unlinked,
        (select count(*) from pgclarify_private.source where source.state = 'failed')
    from queued
    cross join counted
    cross join pending;
end;

comment on function pgclarify_private.work_counts() is
'How much work waits in this database, for the metrics of a worker: one row of counts and ages in seconds, without names or '
'texts. An age is 0 if nothing waits.';
grant execute on function pgclarify_private.work_counts() to pgclarify_worker;
