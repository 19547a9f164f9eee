-- What waits. The view only reads, and starts nothing.

create or replace function pgclarify_private.queue_counts()
returns table (queued bigint, running bigint, oldest_queued_at timestamptz)
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select
        count(*) filter (where run.status = 'queued'),
        count(*) filter (where run.status = 'running'),
        -- Those that wait for a batch do not wait for a worker.
        min(run.created_at) filter (where run.status = 'queued' and run.due_at is distinct from 'infinity')
    from pgclarify_private.run
    where run.status in ('queued', 'running');
end;

comment on function pgclarify_private.queue_counts() is 'The row of view queue_status.';
grant execute on function pgclarify_private.queue_counts() to pgclarify_reader;

create or replace view pgclarify.queue_status as
select
    counted.queued,
    counted.running,
    counted.oldest_queued_at,
    coalesce(extract(epoch from clock_timestamp() - counted.oldest_queued_at), 0)::double precision
    as oldest_queued_seconds,
    indexing.pending_documents,
    indexing.pending_passages
from pgclarify_private.queue_counts() as counted
cross join lateral (
    select
        coalesce(sum(corpus.pending), 0)::bigint as pending_documents,
        coalesce(sum(corpus.pending_passages), 0)::bigint as pending_passages
    from pgclarify.corpus
) as indexing;

comment on view pgclarify.queue_status is
'How much is waiting: runs of all roles, and documents of the corpora that you may search. One row.';
comment on column pgclarify.queue_status.queued is 'Runs that no worker has started, and those that wait for a batch.';
comment on column pgclarify.queue_status.running is 'Runs that workers are executing.';
comment on column pgclarify.queue_status.oldest_queued_at is
'When the oldest queued run was asked that does not wait for a batch; null if there is none.';
comment on column pgclarify.queue_status.oldest_queued_seconds is 'How long ago that is, in seconds; 0 if none is queued.';
comment on column pgclarify.queue_status.pending_documents is 'The sum of corpus.pending, as you see it.';
comment on column pgclarify.queue_status.pending_passages is 'The sum of corpus.pending_passages, as you see it.';
grant select on pgclarify.queue_status to pgclarify_reader;
