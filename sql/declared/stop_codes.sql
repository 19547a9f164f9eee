-- Written by `make generated` from pgclarify/data/vocabulary.py. Do not edit.
-- Stop codes: why a run that ended by itself has no result, or only a part of it.

create or replace function pgclarify_private.stop_codes()
returns table (stop_code text, meaning text, help text)
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
rows 10
begin atomic
    select known.stop_code, known.meaning, known.help
    from (
        values
        (
            'not_answered',
            'a language model judged the passages that were found, and none of them answers the question',
            'Ask in other words, or look further down the ranking with a larger top_k.'
        ),
        (
            'no_language_model',
            'rules judged the passages without a language model and found no answer in them',
            'Give the worker a language model (OPENAI_BASE_URL or OPENAI_API_KEY, and PGCLARIFY_LLM_MODEL): it reads more than '
            'the rules do. Without one, ask in English, in other words.'
        ),
        (
            'language',
            'the question, or what was found, is in a language that is not read without a language model',
            'Give the worker a language model (OPENAI_BASE_URL or OPENAI_API_KEY, and PGCLARIFY_LLM_MODEL): without one, only '
            'English is read.'
        ),
        (
            'threshold',
            'rules judged the passages without a language model, and what they found is too improbable to be shown',
            'Give the worker a language model (OPENAI_BASE_URL or OPENAI_API_KEY, and PGCLARIFY_LLM_MODEL): it reads more than '
            'the rules do. Without one, ask in English, in other words.'
        ),
        (
            'unproven',
            'answers were given that the documents do not prove',
            'See with explain why each was left out. Ask in other words, or take another language model.'
        ),
        (
            'no_passage',
            'the search found no passage that could be judged',
            'Ask in other words. Explain says how many passages a filter or a list of documents leaves, and view corpus '
            'whether documents are searchable.'
        ),
        (
            'limit',
            'a limit that the options set was reached',
            'See with explain what it came to. Raise the limit, which is an option such as max_calls or max_answers.'
        ),
        (
            'budget',
            'a budget let no further call through',
            'See what is left in view budget. If you ask again, only the missing calls are paid.'
        ),
        (
            'failed_calls',
            'calls failed, so that not all was judged',
            'See why with explain. If you ask again, only the missing calls are paid.'
        )
    ) as known (stop_code, meaning, help);
end;

comment on function pgclarify_private.stop_codes() is
'All stop codes of runs: the meaning of each, as part of a sentence, and advice.';
grant execute on function pgclarify_private.stop_codes() to pgclarify_reader;
