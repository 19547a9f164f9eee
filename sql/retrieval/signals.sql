-- Signals: how well given passages fit a question by words or vectors, independent of the search that found them.

create or replace function pgclarify_private.question_lexemes(
    counted pgclarify_private.corpus_count, roles name[], search_config text, question text
)
returns table (
    lexeme text,
    query tsquery,
    passages bigint,
    all_passages bigint,
    weight double precision,
    mean_lexemes double precision
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
-- It plans for longer than it executes.
set plan_cache_mode = 'force_generic_plan'
rows 10
as $$
declare
    -- The minimum number of open passages for statistics of lexemes. With fewer, this many visible passages are read instead.
    v_sample constant bigint := 2000;
    -- Maximum number of restricted passages with a lexeme that do not count for the choice of candidates. Equal to the number
    -- that lexical scores, so that they cost no more than the other candidates.
    v_uncounted constant bigint := 5000;
    v_open bigint := (question_lexemes.counted).passages - (question_lexemes.counted).restricted_passages;
    v_fence constant jsonpath := pgclarify_private.fence_of((question_lexemes.counted).corpus_id, question_lexemes.roles);
    v_inside text[];
begin
    if v_fence is not null then
        v_inside := array(
            select document.id
            from pgclarify_private.document
            where
                document.corpus_id = (question_lexemes.counted).corpus_id
                and (document.readers is null or document.readers && question_lexemes.roles)
                and document.metadata @@ v_fence
            limit v_sample
        );
    end if;
    if v_fence is not null or (question_lexemes.counted).restricted_passages > 0 and v_open < v_sample then
        -- Too few passages are open: the frequency of words comes from passages that these roles can read.
        return query execute format(
            $sql$
            with asked_for as materialized (
                select
                    term.lexeme, term.passages,
                    ('''' || replace(replace(term.lexeme, E'\\', E'\\\\'), '''', '''''') || '''')::tsquery as query
                from unnest(tsvector_to_array(pgclarify_private.to_lexemes($3, $4))) as given (lexeme)
                inner join pgclarify_private.term
                    on term.corpus_id = $2 and term.lexeme = given.lexeme and term.passages > 0
            ),
            seen as materialized (
                select passage.lexemes, passage.lexeme_count from %s as passage where %s limit $5
            ),
            size as materialized (
                select count(*) as passages, avg(seen.lexeme_count) as mean_lexemes from seen
            )
            select
                asked_for.lexeme, asked_for.query, asked_for.passages, asked_for.passages,
                ln(1 + greatest(size.passages - found.passages + 0.5, 0.5) / (found.passages + 0.5))::double precision,
                greatest(coalesce(size.mean_lexemes, 1), 1)::double precision
            from asked_for
            cross join size
            cross join lateral (
                select count(*) as passages from seen where seen.lexemes @@ asked_for.query
            ) as found
            $sql$,
            pgclarify_private.partition_name('passage', (question_lexemes.counted).corpus_id),
            pgclarify_private.is_visible_sql('$1')
            || case when v_fence is null then '' else ' and passage.document_id = any($6)' end
        ) using
            question_lexemes.roles, (question_lexemes.counted).corpus_id, question_lexemes.search_config::regconfig,
            question_lexemes.question, v_sample, v_inside;
        return;
    end if;
    return query
    select
        term.lexeme,
        ('''' || replace(replace(term.lexeme, E'\\', E'\\\\'), '''', '''''') || '''')::tsquery,
        case when term.restricted_passages <= v_uncounted then open.passages else term.passages end,
        term.passages,
        ln(1 + greatest(v_open - open.passages + 0.5, 0.5) / (open.passages + 0.5))::double precision,
        greatest((question_lexemes.counted).lexemes - (question_lexemes.counted).restricted_lexemes, 1)::double precision
        / greatest(v_open, 1)
    from unnest(
        tsvector_to_array(
            pgclarify_private.to_lexemes(question_lexemes.search_config::regconfig, question_lexemes.question)
        )
    ) as asked_for (lexeme)
    inner join pgclarify_private.term
        on term.corpus_id = (question_lexemes.counted).corpus_id
        and term.lexeme = asked_for.lexeme
        and term.passages > 0
    cross join lateral (
        select greatest(term.passages - term.restricted_passages, 0) as passages
    ) as open;
end
$$;

comment on function pgclarify_private.question_lexemes(pgclarify_private.corpus_count, name[], text, text) is
'The lexemes of a question that a corpus has, each as a query, with its weight in BM25, and the mean length of a passage. '
'Both are computed from open passages, or, if there are few of those or the roles have a fence, from up to 2,000 passages '
'that these roles can read: '
'passages that they cannot read never affect a score. passages: the number by which a lexeme is rare or common; 0 if only '
'restricted passages have it, and at most 5,000 of them. all_passages: number of all passages that have it.';

create or replace function pgclarify_private.bm25_sql(passage text, queries text, weights text, mean_lexemes text)
returns text
language sql stable strict parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    -- BM25 with the usual constants, k1 = 1.2 and b = 0.75, in Lucene's form. Robertson and Zaragoza, The Probabilistic
    -- Relevance Framework (2009).
    -- ts_rank of one lexeme of weight 1 that occurs n times is (1 + 1/4 + … + 1/n²) / 1.64493406685, which depends only on n.
    -- Its inverse counts occurrences without unpacking the tsvector; from 64 on, more occurrences make no difference.
    select format(
        $sql$
        select
            sum(
                asked.weight * seen.occurrences
                / (
                    seen.occurrences
                    + 1.2::double precision
                    * (0.25::double precision + 0.75::double precision * %1$s.lexeme_count / %4$s)
                )
            ) as score
        from unnest(%2$s, %3$s) as asked (query, weight)
        cross join lateral (
            select width_bucket(
                ts_rank('{1, 1, 1, 1}', %1$s.lexemes, asked.query)::double precision, %5$L::double precision[]
            ) as occurrences
        ) as seen
        where seen.occurrences > 0
        $sql$,
        bm25_sql.passage, bm25_sql.queries, bm25_sql.weights, bm25_sql.mean_lexemes,
        array(
            select (sum(1.0 / (n * n)) over (order by n) - 0.5 / (n * n)) / 1.64493406685
            from generate_series(1, 64) as n
        )::text
    );
end;

comment on function pgclarify_private.bm25_sql(text, text, text, text) is
'The query for the BM25 score of one passage; null if it has none of the lexemes. passage: name of its row in the statement; '
'queries, weights, mean_lexemes: names of the lexemes of the question, their weights, and the mean length of a passage.';

create or replace function pgclarify_private.signal_sql(
    corpus_id bigint,
    roles name[],
    signal text,
    question text,
    query_vector @extschema:vector@.halfvec,
    passage text,
    vector text
)
returns text
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
-- The expression has the weights of words with all their digits.
set extra_float_digits = 1
as $$
declare
    -- BM25 for each lexeme of the question at which a passage scores tanh(1). It is constant: a unit from weights in the corpus
    -- would reveal whether hidden passages have the lexemes.
    v_unit constant double precision := 4;
    v_corpus pgclarify_private.corpus;
    v_count pgclarify_private.corpus_count;
    v_lexemes integer;
    v_queries tsquery[];
    v_weights double precision[];
    v_mean_lexemes double precision;
    v_by_words text := '0::double precision';
    v_by_vector text := '0::double precision';
begin
    if signal_sql.signal is null then
        return 'null::double precision';
    end if;
    select corpus.* into v_corpus from pgclarify_private.living_corpus as corpus where corpus.corpus_id = signal_sql.corpus_id;
    if signal_sql.signal in ('lexical', 'both') then
        select counted.* into v_count
        from pgclarify_private.corpus_count as counted where counted.corpus_id = signal_sql.corpus_id;
        v_lexemes := length(
            pgclarify_private.to_lexemes(v_corpus.search_config::regconfig, signal_sql.question)
        );
        select array_agg(asked.query), array_agg(asked.weight), max(asked.mean_lexemes)
        into v_queries, v_weights, v_mean_lexemes
        from pgclarify_private.question_lexemes(
            v_count, signal_sql.roles, v_corpus.search_config, signal_sql.question
        ) as asked;
    end if;
    if v_queries is not null then
        v_by_words := format(
            'tanh(coalesce((%s) / %L::double precision, 0))',
            pgclarify_private.bm25_sql(
                signal_sql.passage,
                format('%L::tsquery[]', v_queries),
                format('%L::double precision[]', v_weights),
                format('%L::double precision', v_mean_lexemes)
            ),
            v_unit * v_lexemes
        );
    end if;
    if signal_sql.query_vector is not null and v_corpus.embedding_space_id is not null then
        -- The distance to a vector of zeros is NaN; greatest ignores null.
        v_by_vector := format(
            $sql$
            greatest(0, 1 - nullif(
                %1$s operator(@extschema:vector@.<=>) %2$L::@extschema:vector@.halfvec,
                'NaN'
            ))
            $sql$,
            signal_sql.vector,
            signal_sql.query_vector::text
        );
    end if;
    return format(
        -- Inside the open interval, so that dividing scores by a number never makes different ones equal.
        'greatest(1e-6::double precision, least(1 - 1e-6::double precision, %s))',
        case signal_sql.signal
            when 'lexical' then v_by_words
            when 'dense' then v_by_vector
            else format('(%s + %s) / 2', v_by_words, v_by_vector)
        end
    );
end
$$;

comment on function pgclarify_private.signal_sql(bigint, name[], text, text, @extschema:vector@.halfvec, text, text) is
'The expression for the signal of a passage: greater than 0 and less than 1. signal: dense (cosine similarity), lexical '
'(tanh of BM25 for each lexeme of the question, in units of 4), both (their mean) or null (then null). roles: roles of the '
'requester; the weights of words are from passages that these can read. passage: name of a row with lexemes and lexeme_count '
'in the statement. vector: the expression for its vector.';

create or replace function pgclarify_private.signal_scores(
    corpus_id bigint,
    roles name[],
    signal text,
    question text,
    query_vector @extschema:vector@.halfvec,
    document_ids text[],
    passage_ids bigint[]
)
returns double precision[]
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_space_id constant bigint := (
        select corpus.embedding_space_id
        from pgclarify_private.living_corpus as corpus
        where corpus.corpus_id = signal_scores.corpus_id
            and signal_scores.query_vector is not null
            and signal_scores.signal <> 'lexical'
    );
    v_scores double precision[];
begin
    if signal_scores.signal is not null then
        execute format(
            $sql$
            with given as materialized (
                select * from unnest($1, $2) with ordinality as given (document_id, passage_id, place)
            ),
            -- A separate step, without an outer join: for an outer join, Citus would read all shards completely.
            found as materialized (
                select given.place, passage.lexemes, passage.lexeme_count, %3$s
                from given
                inner join %2$s as passage
                    on passage.corpus_id = $3
                    and passage.document_id = given.document_id
                    and passage.id = given.passage_id
                %4$s
            )
            select array_agg(%1$s order by given.place)
            from given
            left join found on found.place = given.place
            $sql$,
            pgclarify_private.signal_sql(
                signal_scores.corpus_id, signal_scores.roles, signal_scores.signal, signal_scores.question,
                signal_scores.query_vector, 'found', 'found.vector'
            ),
            pgclarify_private.partition_name('passage', signal_scores.corpus_id),
            case when v_space_id is null then 'null::@extschema:vector@.halfvec as vector' else 'embedding.vector' end,
            -- Vectors are on the same shard as the passages.
            case when v_space_id is not null then format(
                'left join %s as embedding on embedding.embedding_space_id = %L'
                ' and embedding.document_id = passage.document_id and embedding.passage_id = passage.id',
                pgclarify_private.partition_name('passage_embedding', v_space_id), v_space_id
            ) end
        ) into v_scores using signal_scores.document_ids, signal_scores.passage_ids, signal_scores.corpus_id;
    end if;
    return v_scores;
end
$$;

comment on function pgclarify_private.signal_scores(bigint, name[], text, text, @extschema:vector@.halfvec, text[], bigint[]) is
'The signal of given passages, in their order; null if the signal is null. Parameters as for signal_sql. It does not check '
'who may read the passages.';
