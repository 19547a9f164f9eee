-- Rewriting questions so that they stand alone.

create or replace view pgclarify.rewriting as
select
    rewriting.run_id,
    rewriting.rewritten || '' as rewritten,
    rewriting.was_ambiguous,
    rewriting.reason || '' as reason
from pgclarify_private.rewriting;

grant select on pgclarify.rewriting to pgclarify_reader;

create or replace function pgclarify_private.rows(row_type pgclarify.rewriting, run_ids bigint[], requester name)
returns setof pgclarify.rewriting
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select rewriting.run_id, rewriting.rewritten, rewriting.was_ambiguous, rewriting.reason
    from pgclarify_private.rewriting
    where rewriting.run_id = any(rows.run_ids)
    order by rewriting.run_id;
end;

comment on function pgclarify_private.rows(pgclarify.rewriting, bigint[], name) is
'Questions that runs of rewrite and reply produced. It does not check who may see them: the requester makes no difference.';

create or replace function pgclarify.rewrite(question text, history text[] default '{}', options jsonb default '{}')
returns setof pgclarify.rewriting
language sql volatile
set search_path = pg_catalog, pg_temp
rows 1
begin atomic
    select seen.*
    from pgclarify_private.caller
    cross join lateral jsonb_populate_recordset(
        null::pgclarify.rewriting,
        pgclarify_private.start_and_wait(
            caller,
            'rewrite',
            jsonb_build_object('question', rewrite.question, 'history', rewrite.history),
            rewrite.options
        )
    ) as seen;
end;

comment on function pgclarify.rewrite(text, text[], jsonb) is
'Rewrite a question of a conversation so that it stands alone: one row. The original question is returned unchanged, without '
'a model call, if it is clear, or if it depends on earlier turns but says enough itself; also if it cannot be rewritten '
'faithfully: reason says why. Without a language model every question is returned unchanged. question: 1 to 10,000 '
'characters. history: earlier turns, oldest first, one element for each turn; the last ten count. options: threshold (a '
'question is ambiguous if its probability is at least this, 0 to 1; the classifier''s own), corpus (uses its rules and its '
'classifier), timeout (60s).';
grant execute on function pgclarify.rewrite(text, text[], jsonb) to pgclarify_user;
