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
    -- One question for each turn, or five reformulations to choose from: AT-CoT, §4.2.
    v_settings := case v_settings ->> 'form'
        when 'select' then '{"count": 5, "check": "drop"}'::jsonb
        else '{"count": 1, "check": "none"}'
    end || v_settings;
    if v_settings ->> 'check' <> 'none' then
        if v_settings ->> 'form' = 'respond' then
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

comment on function pgclarify_private.check_asking_back(jsonb) is 'As check_settings, for clarifying_questions.';

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
    if v_corpus is not null or v_run.settings ->> 'check' <> 'none' then
        v_run.corpus_id := (
            pgclarify_private.find_corpus(
                pgclarify_private.roles_of((prepare_clarifying_questions.caller).name), v_corpus
            )
        ).corpus_id;
    end if;
    v_run.question := (pgclarify_private.check_questions(array[v_question]))[1];
    return v_run;
end
$$;

comment on function pgclarify_private.prepare_clarifying_questions(
    pgclarify_private.caller, pgclarify_private.run, jsonb
) is 'As prepare_run, for clarifying_questions.';
