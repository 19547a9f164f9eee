-- Stop codes: why a run that ended by itself has no result, or only a part of it. Other functions read their meanings from
-- here.

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
            'the question, or what was found, is in a language that is not read without a language model or in this search',
            'Give the worker a language model (OPENAI_BASE_URL or OPENAI_API_KEY, and PGCLARIFY_LLM_MODEL): without one, only '
            'English is read. A search by words reads the language of the corpus''s search_config.'
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
            'repeated',
            'the language model gave answers again instead of saying that there is no further one, so that a list ended early',
            'See with explain what each round brought. Take another language model, or a smaller top_k.'
        ),
        (
            'no_passage',
            'the search found no passage that could be judged',
            'Ask in other words, and see in view corpus whether documents of the corpus are searchable.'
        ),
        (
            'contradicted',
            'the evidence contradicts itself, and does not decide',
            'See the steps and their quotes.'
        ),
        (
            'limit',
            'a limit that the options set was reached',
            'See with explain what it came to. Raise the limit: max_calls of investigate, max_answers of list_answers.'
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

create or replace function pgclarify_private.language_of(content text)
returns text
language sql stable strict
set search_path = pg_catalog, pg_temp
begin atomic
    with read as (
        select lower(left(language_of.content, 4000)) as content
    ),
    word as materialized (
        select token.word, count(*) as occurrences
        from read
        cross join lateral regexp_split_to_table(read.content, '[^[:alpha:]]+') as token (word)
        where token.word <> ''
        group by token.word
    ),
    hit as materialized (
        select left(dictionary.dictname, -5) as language, sum(word.occurrences) as hits
        from pg_ts_dict as dictionary
        cross join word
        where
            dictionary.dictnamespace = 'pg_catalog'::regnamespace
            and dictionary.dictname like '%\_stem'
            and dictionary.dictinitoption like '%stopwords%'
            -- The dictionary returns an empty array for its stop words.
            and ts_lexize(dictionary.oid::regdictionary, word.word) = '{}'
        group by dictionary.dictname
        union all
        -- PostgreSQL has no dictionary of Polish.
        select 'polish', sum(word.occurrences)
        from word
        where
            word.word = any(
                string_to_array(
                    'w z na do nie się jest są to że o jak po za od czy ile kiedy gdzie dla lub oraz przez przy który która '
                    || 'które może można mogę musi trzeba tylko już albo ale pod ze we przed jaki jaka jakie co kto ma ten ta',
                    ' '
                )
            )
        having
            bool_or(
                -- At least one of them must not be an English word, name or letter: "pod vs pod memory", "w and z bosons".
                length(word.word) > 1
                and word.word <> all(string_to_array('na do jest to po za ale pod ma co ten ta', ' '))
            )
    )
    select
        coalesce(
            (
                select hit.language
                from hit
                where hit.hits >= 2
                -- English wins a tie: "in", "was" and "a" are words of many languages.
                order by hit.hits desc, hit.language = 'english' desc, hit.language
                limit 1
            ),
            (
                -- Letters of scripts that English is not written in.
                select 'another'
                from read
                where
                    regexp_count(read.content, '[\u0370-\u1FFF\u3040-\uD7FF]') > regexp_count(read.content, '[a-z]')
            )
        );
end;

comment on function pgclarify_private.language_of(text) is
'The language of a text, by the stop words of PostgreSQL''s own dictionaries, and some of Polish: a name such as english; '
'"another" if it is not in Latin letters and has none of these words; null if unknown. Reads the first 4,000 characters.';

create or replace function pgclarify_private.is_foreign(run pgclarify_private.run)
returns boolean
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run alias for $1;
    -- A configuration that is not named after a language, such as simple, gives no language.
    v_searched constant text := (
        select corpus.search_config
        from pgclarify_private.corpus
        inner join pg_ts_dict as dictionary
            on dictionary.dictname = corpus.search_config || '_stem'
                and dictionary.dictnamespace = 'pg_catalog'::regnamespace
        where corpus.corpus_id = v_run.corpus_id
    );
    v_asked constant text := pgclarify_private.language_of(v_run.question);
    v_near text;
    v_found text;
begin
    if v_run.corpus_id is not null then
        execute format(
            $sql$
            with near as materialized (
                select candidate.document_id, candidate.passage_id
                from pgclarify_private.candidate
                where candidate.run_id = $1
                order by candidate.rank
                limit 4
            )
            select string_agg(left(passage.content, 1000), ' ')
            from near
            inner join %s as passage
                on passage.corpus_id = $2
                and passage.document_id = near.document_id
                and passage.id = near.passage_id
            $sql$,
            pgclarify_private.passages_of(v_run.corpus_id)
        ) into v_near using v_run.run_id, v_run.corpus_id;
    end if;
    v_found := pgclarify_private.language_of(v_near);
    if pgclarify_private.is_extractive(v_run.model)
        and (v_asked <> 'english' or coalesce(v_found, v_searched) <> 'english') then
        return true;
    end if;
    return v_run.settings ->> 'method' = 'lexical' and v_asked <> v_searched;
end
$$;

comment on function pgclarify_private.is_foreign(pgclarify_private.run) is
'Whether a run may have found nothing because of a language: the rules of the extractive provider read only English, and a '
'search by words reads only the language of the corpus''s search_config.';

create or replace function pgclarify_private.has_result(run pgclarify_private.run)
returns boolean
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select
        case ($1).operation
            when 'search' then exists (select from pgclarify_private.candidate where candidate.run_id = ($1).run_id)
            when 'investigate' then exists (
                select from pgclarify_private.step
                where step.run_id = ($1).run_id and step.kind = 'conclusion' and step.outcome = 'answered'
            )
            when 'list_answers' then exists (
                select from pgclarify_private.listed_answer where listed_answer.run_id = ($1).run_id
            )
            when 'clarifying_questions' then exists (
                select from pgclarify_private.clarifying_question where clarifying_question.run_id = ($1).run_id
            )
            when 'clarify' then exists (select from pgclarify_private.interpretation where interpretation.run_id = ($1).run_id)
            when 'consolidate' then exists (
                select from pgclarify_private.interpretation where interpretation.run_id = ($1).run_id
            )
            else true
        end;
end;

comment on function pgclarify_private.has_result(pgclarify_private.run) is
'Whether a run found what its operation looks for; true for operations that do not look for answers in documents.';

create or replace function pgclarify_private.stop_code(run pgclarify_private.run, status text, known text)
returns text
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run alias for $1;
    v_status alias for $2;
    v_known alias for $3;
begin
    if v_status not in ('succeeded', 'partial') then
        -- The error gives the reason.
        return null;
    elsif v_known in ('budget', 'limit', 'failed_calls') then
        return v_known;
    elsif v_known in ('unproven', 'repeated') and v_run.operation = 'list_answers' and v_status = 'partial' then
        -- No call failed: the list ended before the model said that there is no further answer.
        return v_known;
    elsif v_status = 'partial' then
        return 'failed_calls';
    elsif pgclarify_private.has_result(v_run) then
        return null;
    elsif v_run.operation = 'consolidate' then
        -- It copies the grounded verdicts of another run, so it cannot know why there are none.
        return (select parent.stop_code from pgclarify_private.run as parent where parent.run_id = v_run.parent_run_id);
    elsif exists (
        select from pgclarify_private.step
        where step.run_id = v_run.run_id and step.kind = 'conclusion' and step.outcome = 'contradicted'
    ) then
        return 'contradicted';
    elsif pgclarify_private.is_foreign(v_run) then
        return 'language';
    elsif not exists (select from pgclarify_private.candidate where candidate.run_id = v_run.run_id) then
        return 'no_passage';
    end if;
    return coalesce(
        v_known, case when pgclarify_private.is_extractive(v_run.model) then 'no_language_model' else 'not_answered' end
    );
end
$$;

comment on function pgclarify_private.stop_code(pgclarify_private.run, text, text) is
'The stop code of a run that ends with a status: null if its result is complete, or if it failed. known: the code that only '
'the worker can know, for example that a budget refused a call; null if the tables say enough.';
