-- Rewriting questions so that they stand on their own.

create or replace function pgclarify_private.rewritten_questions(run_ids bigint[], requester name)
returns setof pgclarify.rewritten_question
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select rewriting.run_id, rewriting.rewritten, rewriting.was_ambiguous, rewriting.reason
    from pgclarify.rewriting
    where rewriting.run_id = any(rewritten_questions.run_ids)
    order by rewriting.run_id;
end;

comment on function pgclarify_private.rewritten_questions(bigint[], name) is
'The questions that runs of rewrite and reply came to, without asking who may see them: nothing in it depends on who the '
'requester is.';

create or replace function pgclarify_private.current_rewritten_questions(run_ids bigint[], requester name)
returns setof pgclarify.rewritten_question
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if pgclarify_private.is_out_of_sight(current_rewritten_questions.run_ids) then
        return query
        select seen.*
        from jsonb_populate_recordset(
            null::pgclarify.rewritten_question,
            pgclarify_private.rows(
                'rewritten_question', current_rewritten_questions.run_ids, current_rewritten_questions.requester
            )
        ) as seen;
    else
        return query
        select seen.*
        from pgclarify_private.rewritten_questions(
            current_rewritten_questions.run_ids, current_rewritten_questions.requester
        ) as seen;
    end if;
end
$$;

comment on function pgclarify_private.current_rewritten_questions(bigint[], name) is
'The questions that runs of rewrite and reply that are over came to, also those that the snapshot of this transaction is too '
'old to see.';

create or replace function pgclarify_private.rewrite(
    caller pgclarify_private.caller, question text, history text[], options jsonb
)
returns setof pgclarify.rewritten_question
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_longest constant integer := 10000;
    v_history jsonb := pgclarify_private.check_history(rewrite.history);
    v_settings jsonb := pgclarify_private.check_options(
        rewrite.options,
        '{
            "threshold": {"type": "number", "least": 0, "most": 1},
            "timeout": {"type": "string", "default": "60s"}
        }'
    );
    v_run_ids bigint[];
begin
    perform pgclarify_private.check_questions(array[rewrite.question]);
    if length(rewrite.question) > v_longest then
        raise exception 'a question needs 1 to % characters', v_longest
            using errcode = 'invalid_parameter_value',
                detail = format('It has %s, with the white space around it.', length(rewrite.question)),
                hint = 'Leave white space before and after it out.';
    end if;
    v_run_ids := pgclarify_private.ask(
        rewrite.caller, 'rewrite', null,
        -- As it is, with surrounding white space: what is clear comes back to the byte.
        array[rewrite.question],
        pgclarify_private.with_history(v_settings - 'timeout', v_history),
        pgclarify_private.timeout(v_settings ->> 'timeout')
    );
    perform pgclarify_private.raise_unless_answered(seen, 'rewrite') from pgclarify_private.current_outcomes(v_run_ids) as seen;
    return query
    select seen.* from pgclarify_private.current_rewritten_questions(v_run_ids, (rewrite.caller).name) as seen;
end
$$;

comment on function pgclarify_private.rewrite(pgclarify_private.caller, text, text[], jsonb) is 'See rewrite.';
grant execute on function pgclarify_private.rewrite(pgclarify_private.caller, text, text[], jsonb) to pgclarify_user;

create or replace function pgclarify.rewrite(question text, history text[] default '{}', options jsonb default '{}')
returns setof pgclarify.rewritten_question
language plpgsql volatile
set search_path = pg_catalog, pg_temp
rows 1
as $$
begin
    return query
    select seen.*
    from pgclarify_private.caller
    cross join lateral pgclarify_private.rewrite(caller, rewrite.question, rewrite.history, rewrite.options) as seen;
end
$$;

comment on function pgclarify.rewrite(text, text[], jsonb) is
'A question of a conversation, said so that it stands on its own: one row. A clear question comes back to the byte, with no '
'model call, and so does one that cannot be rewritten faithfully: reason says why. Without a language model every '
'question comes back as it is. question: 1 to 10,000 characters. history: what was said before, oldest first, one '
'element for what each side said; the last ten count. options: threshold (from which probability it counts as ambiguous, 0 '
'to 1; the classifier''s own), timeout (60s).';
grant execute on function pgclarify.rewrite(text, text[], jsonb) to pgclarify_user;
