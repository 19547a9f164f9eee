-- The rate at which all workers together call an endpoint. Each worker books some time of a limit, about a second, and
-- then sends the calls of that time. So there is about one short statement a second for any number of calls.

create or replace function pgclarify_private.book_endpoint(
    endpoint text,
    requests_time interval,
    requests_accepted interval,
    requests_spare interval,
    tokens_time interval,
    tokens_accepted interval,
    tokens_spare interval
)
returns interval
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now constant timestamptz := clock_timestamp();
    -- The time that passed unused makes up for no more than this. Otherwise a minute could have more than the limit. Only an
    -- endpoint that says so can be sent more.
    v_earliest constant timestamptz := v_now - interval '0.5 seconds';
    v_starts_at timestamptz;
begin
    -- A worker waits for this statement, and other workers for its lock. A booking that a crash of the server loses does no
    -- harm.
    perform set_config('synchronous_commit', 'off', true);
    insert into pgclarify_private.endpoint_rate (endpoint, requests_free_at, tokens_free_at)
    values (book_endpoint.endpoint, '-infinity', '-infinity')
    on conflict on constraint endpoint_rate_pk do nothing;
    -- greatest and least ignore null.
    update pgclarify_private.endpoint_rate
    set
        requests_free_at = book_endpoint.requests_time + greatest(
            endpoint_rate.requests_free_at, least(v_earliest, v_now - book_endpoint.requests_spare),
            v_now - book_endpoint.requests_accepted
        ),
        tokens_free_at = book_endpoint.tokens_time + greatest(
            endpoint_rate.tokens_free_at, least(v_earliest, v_now - book_endpoint.tokens_spare),
            v_now - book_endpoint.tokens_accepted
        )
    where endpoint_rate.endpoint = book_endpoint.endpoint
    returning
        greatest(
            endpoint_rate.requests_free_at - book_endpoint.requests_time,
            endpoint_rate.tokens_free_at - book_endpoint.tokens_time
        )
    into v_starts_at;
    return v_starts_at - clock_timestamp();
end
$$;

comment on function pgclarify_private.book_endpoint(text, interval, interval, interval, interval, interval, interval) is
'Book requests and tokens of an endpoint, in time: of a limit of 60 calls a minute, a call is a second. Returns the time after '
'which the worker may send them; what was booked before comes first. accepted: what the endpoint reported that it still '
'accepts; negative if it accepts nothing for that time. spare: what may be sent at once if nothing was for that time, because '
'the endpoint says so. Both may be null.';
grant execute on function pgclarify_private.book_endpoint(
    text, interval, interval, interval, interval, interval, interval
) to pgclarify_worker;
