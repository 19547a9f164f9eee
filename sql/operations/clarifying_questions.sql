-- Clarifying questions, or reformulations to choose from, and the passages that show that the corpus answers them.

create or replace function pgclarify_private.check_asking_back(settings jsonb)
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_settings jsonb := check_asking_back.settings;
    v_idle text;
begin
    if v_settings ->> 'form' = 'split' then
        select name into v_idle
        from unnest(array['count', 'check', 'method', 'top_k', 'reply']) as name
        where v_settings ? name
        limit 1;
        if found then
            raise exception 'option "%" is not for form "split"', v_idle
                using errcode = 'invalid_parameter_value',
                    column = v_idle,
                    detail = 'Readings that clarify found are split in two, and no passage is read.',
                    hint = 'Omit it, or pass {"form": "select"}.';
        end if;
        return v_settings || '{"check": "none"}';
    end if;
    if v_settings ? 'count' or v_settings ? 'reply' then
        v_settings := '{"form": "respond"}'::jsonb || v_settings;
    end if;
    -- One question for each turn, or five reformulations to choose from: AT-CoT, §4.2.
    v_settings := case v_settings ->> 'form'
        when 'select' then '{"count": 5, "check": "drop"}'::jsonb
        else '{"count": 1, "check": "none"}'
    end || v_settings;
    if v_settings ->> 'check' <> 'none' then
        if coalesce(v_settings ->> 'form', 'respond') = 'respond' then
            raise exception 'option "check" is for form "select"'
                using errcode = 'invalid_parameter_value',
                    column = 'check',
                    detail = 'Only a reformulation can be answered by a document; a question to respond to cannot.',
                    hint = 'Omit it, or also pass {"form": "select"}.';
        end if;
        return '{"method": "hybrid", "top_k": 4}'::jsonb || v_settings;
    end if;
    select name into v_idle from unnest(array['method', 'top_k']) as name where v_settings ? name limit 1;
    if found then
        raise exception 'option "%" needs a check', v_idle
            using errcode = 'invalid_parameter_value',
                column = v_idle,
                detail = 'Option "check" is none, so no passage is read.',
                hint = 'Omit it, or pass {"form": "select"} with a check.';
    end if;
    return v_settings;
end
$$;

comment on function pgclarify_private.check_asking_back(jsonb) is
'As check_settings, for clarifying_questions. Without a form, it is known later: split or respond.';

create or replace function pgclarify_private.run_to_split(
    caller pgclarify_private.caller, run pgclarify_private.run
)
returns pgclarify_private.run
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_found pgclarify_private.run;
begin
    select recent.* into v_found
    from (
        select asked.*
        from pgclarify_private.run as asked
        where asked.requested_by_oid = pgclarify_private.role_oid((run_to_split.caller).name)
        order by asked.run_id desc
        -- A conversation comes soon after its question.
        limit 1000
    ) as recent
    where recent.operation = 'clarify'
        and recent.status in ('succeeded', 'partial')
        and recent.corpus_id = (run_to_split.run).corpus_id
        and recent.question = (run_to_split.run).question
        and recent.settings -> 'filter' is not distinct from (run_to_split.run).settings -> 'filter'
        and recent.settings -> 'document_set' is not distinct from (run_to_split.run).settings -> 'document_set'
        and recent.settings -> 'history' is not distinct from (run_to_split.run).settings -> 'history'
        and 1 < (
            select count(*)
            from pgclarify_private.clarification_rows(array[recent.run_id], (run_to_split.caller).name) as reading
        )
    order by recent.run_id desc
    limit 1;
    return v_found;
end
$$;

comment on function pgclarify_private.run_to_split(pgclarify_private.caller, pgclarify_private.run) is
'The newest of the caller''s last 1,000 runs that clarified this question in this part of this corpus, and found several '
'readings that the caller may still read; null if there is none.';

create or replace function pgclarify_private.prepare_clarifying_questions(
    caller pgclarify_private.caller, run pgclarify_private.run, parameters jsonb
)
returns pgclarify_private.run
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_question constant text := prepare_clarifying_questions.parameters ->> 'question';
    v_corpus constant text := prepare_clarifying_questions.parameters ->> 'corpus';
    v_run pgclarify_private.run := prepare_clarifying_questions.run;
    v_is_split constant boolean := v_run.settings ->> 'form' = 'split';
    v_clarified pgclarify_private.run;
begin
    if v_run.settings ? 'reply' then
        if num_nonnulls(v_question, v_corpus) > 0 or v_run.settings ? 'history' then
            raise exception 'the question of a conversation is known'
                using errcode = 'invalid_parameter_value',
                    column = 'reply',
                    detail = 'Its corpus and its history are known, too.',
                    hint = 'Omit question, corpus and history, or option "reply".';
        end if;
        return pgclarify_private.prepare_next_questions(prepare_clarifying_questions.caller, v_run);
    end if;
    if v_question is null then
        raise exception 'there is no question'
            using errcode = 'invalid_parameter_value',
                hint = 'Pass a question, or option "reply" to go on from a reply.';
    end if;
    if v_corpus is not null or v_is_split or v_run.settings ->> 'check' <> 'none' then
        v_run.corpus_id := (
            pgclarify_private.find_corpus(
                pgclarify_private.roles_of((prepare_clarifying_questions.caller).name), v_corpus
            )
        ).corpus_id;
    end if;
    v_run.question := (pgclarify_private.check_questions(array[v_question]))[1];
    if v_is_split or not v_run.settings ? 'form' then
        v_clarified := pgclarify_private.run_to_split(prepare_clarifying_questions.caller, v_run);
        if v_clarified.run_id is not null then
            v_run.parent_run_id := v_clarified.run_id;
            -- Its readings are those of that run, if they are grouped in the same way.
            v_run.settings := (
                select coalesce(jsonb_object_agg(setting.key, setting.value), '{}')
                from jsonb_each(v_clarified.settings) as setting
                where pgclarify_private.options_of('consolidate') ? setting.key
            )
            -- If nothing splits them and no form was passed, the model asks: this is why its count stays.
            || v_run.settings || '{"form": "split"}';
        elsif v_is_split then
            raise exception 'there are no readings to split'
                using errcode = 'object_not_in_prerequisite_state',
                    detail = 'None of your last 1000 runs clarified this question here and found several readings that you may read.',
                    hint = 'Ask pgclarify.clarify first, or omit {"form": "split"}.';
        end if;
    end if;
    v_run.settings := '{"form": "respond"}'::jsonb || v_run.settings;
    return v_run;
end
$$;

comment on function pgclarify_private.prepare_clarifying_questions(
    pgclarify_private.caller, pgclarify_private.run, jsonb
) is 'As prepare_run, for clarifying_questions.';
