-- What estimates may know of the ledger: how many tokens calls needed, but neither inputs nor replies.

create or replace function pgclarify_private.tokens_by_purpose(model text)
returns table (
    purpose text,
    prompt_tokens double precision,
    completion_tokens double precision,
    calls bigint,
    documents double precision
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    -- For a model that was never called, or not for a long time, the whole ledger must not be read.
    v_looked_at constant bigint := 50000;
    v_last bigint;
begin
    select max(completion.completion_id) into v_last from pgclarify_private.completion;
    return query
    select
        latest.purpose, round(avg(latest.prompt_tokens))::double precision,
        round(avg(latest.completion_tokens))::double precision, count(*), avg(latest.documents)::double precision
    from (
        select
            completion.purpose, completion.prompt_tokens, completion.completion_tokens,
            case
                when completion.purpose = 'joint_verdicts'
                    then (
                        select count(*)
                        from pgclarify_private.completion_document as noted
                        where noted.completion_id = completion.completion_id
                    )
            end as documents
        from pgclarify_private.completion
        where completion.completion_id > v_last - v_looked_at
            and completion.model = tokens_by_purpose.model
            and completion.prompt_tokens is not null
            and completion.completion_tokens is not null
        order by completion.completion_id desc
        -- Enough for a mean.
        limit 10000
    ) as latest
    -- The calls of a model's trial show no documents.
    where latest.documents is distinct from 0
    group by latest.purpose;
end
$$;

comment on function pgclarify_private.tokens_by_purpose(text) is
'Mean tokens of the latest 10,000 calls of a model, by purpose, in whole tokens, for all payers; only among the last 50,000 '
'rows of the ledger. Calls with earlier versions of a prompt count, too, because a new version changes few tokens. documents: '
'mean number of documents in a joint call; null for other purposes.';
