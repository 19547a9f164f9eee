-- What replies about several passages say of each of them, so that a run asks only about passages of which nothing is known.

create or replace function pgclarify_private.known_joint_verdicts(
    run_id bigint, attempt integer, call jsonb, passage_hashes text[]
)
returns table (
    ordinal integer,
    said jsonb,
    completion_id bigint,
    prompt_tokens integer,
    completion_tokens integer,
    latency_ms real,
    is_own boolean
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
-- It plans for longer than it executes. The first plan may be made for an empty table, and is kept.
set plan_cache_mode = 'force_generic_plan'
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
    v_run constant pgclarify_private.run := pgclarify_private.running_attempt(
        known_joint_verdicts.run_id, known_joint_verdicts.attempt
    );
    v_roles constant name[] := pgclarify_private.roles_of(v_run.requested_by, v_run.requested_by_oid);
    v_fence constant jsonpath := pgclarify_private.fence_of(v_run.corpus_id, v_roles);
    v_refresh constant integer := coalesce((v_run.settings -> 'refresh')::integer, 0);
begin
    return query
    -- Each step by the key of the one before. Without statistics of these tables, other indexes look as good: all replies to
    -- this prompt would be read.
    with found as materialized (
        select asked.ordinal::integer as ordinal, known.completion_id, known.said
        from unnest(known_joint_verdicts.passage_hashes) with ordinality as asked (hash, ordinal)
        inner join pgclarify_private.joint_verdict as known on known.passage_hash = decode(asked.hash, 'hex')
    ),
    paid as materialized (
        select found.ordinal, found.said, found.completion_id, bought.*
        from found
        cross join lateral (
            select
                known.purpose, known.model, known.parameters, known.prompt_version, known.sample, known.run_id,
                known.prompt_tokens, known.completion_tokens, known.latency_ms, known.finished_at
            from pgclarify_private.completion as known
            where known.completion_id = found.completion_id
            offset 0
        ) as bought
    )
    select distinct on (paid.ordinal)
        paid.ordinal, paid.said, paid.completion_id, paid.prompt_tokens, paid.completion_tokens, paid.latency_ms,
        coalesce(paid.run_id = v_run.run_id and paid.finished_at < v_run.started_at, false)
    from paid
    left join pgclarify_private.run as payer on payer.run_id = paid.run_id
    where
        paid.purpose = known_joint_verdicts.call ->> 'purpose'
        and paid.model = known_joint_verdicts.call ->> 'model'
        and paid.parameters = known_joint_verdicts.call -> 'parameters'
        and paid.prompt_version = known_joint_verdicts.call ->> 'prompt_version'
        and paid.sample / 1000 = v_refresh
        -- The role may read every passage of the call. A document that is gone may have been hidden from it.
        and not exists (
            select
            from pgclarify_private.completion_document as noted
            where
                noted.completion_id = paid.completion_id
                and not exists (
                    select
                    from pgclarify_private.document
                    where
                        document.corpus_id = noted.corpus_id
                        and document.id = noted.document_id
                        and document.corpus_id = v_run.corpus_id
                        and pgclarify_private.may_read(document, v_roles, v_fence)
                )
        )
        -- Words of a text that was replaced are for the role that has read it then: the text may have been hidden from others.
        and (
            (payer.requested_by = v_run.requested_by and payer.requested_by_oid = v_run.requested_by_oid) is true
            or not exists (
                select
                from jsonb_path_query(paid.said, '$[*].leans_on[*]') as named (document_id)
                inner join pgclarify_private.document
                    on document.corpus_id = v_run.corpus_id and document.id = named.document_id #>> '{}'
                where document.updated_at >= paid.finished_at
            )
        )
    order by paid.ordinal, paid.completion_id desc;
end
$$;

comment on function pgclarify_private.known_joint_verdicts(bigint, integer, jsonb, text[]) is
'What is known of passages from replies to one question about several, for a run that is executed in this attempt: a row for '
'each of them of which something is known. Only replies to calls whose documents the run''s role may all read; and no words of '
'another document that has changed since, unless the same role has made the call. call: purpose, '
'model, parameters and prompt_version of such a call. passage_hashes: as in table joint_verdict, in hex. ordinal: from 1. '
'is_own: this run has paid for the reply before this attempt.';
grant execute on function pgclarify_private.known_joint_verdicts(bigint, integer, jsonb, text[]) to pgclarify_worker;

create or replace function pgclarify_private.note_joint_verdicts(
    run_id bigint, attempt integer, completion_id bigint, verdicts jsonb
)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    -- Do not wait for the disk: what is lost is read from the reply again.
    perform set_config('synchronous_commit', 'off', true);
    perform pgclarify_private.lock_against_erasing(
        note_joint_verdicts.run_id, note_joint_verdicts.attempt, null, '{}'
    );
    insert into pgclarify_private.joint_verdict (completion_id, passage_hash, said)
    select bought.completion_id, decode(given.passage_hash, 'hex'), coalesce(given.said, 'null')
    from pgclarify_private.completion as bought
    cross join jsonb_to_recordset(note_joint_verdicts.verdicts) as given (passage_hash text, said jsonb)
    where bought.completion_id = note_joint_verdicts.completion_id and bought.erased_at is null
    order by given.passage_hash
    on conflict on constraint joint_verdict_pk do nothing;
end
$$;

comment on function pgclarify_private.note_joint_verdicts(bigint, integer, bigint, jsonb) is
'Note what a reply says of passages. verdicts: array of objects with passage_hash, in hex, and said, as in table '
'joint_verdict. Error PC006 if the run is executed in another attempt.';
grant execute on function pgclarify_private.note_joint_verdicts(bigint, integer, bigint, jsonb) to pgclarify_worker;
