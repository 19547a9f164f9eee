-- Groups of questions with the same meaning, and counts of cited documents: computed by workers, after the runs have ended.

create or replace function pgclarify_private.wording_hash(question text)
returns bytea
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select
        sha256(
            convert_to(
                -- A question that has only punctuation is kept unchanged.
                coalesce(
                    nullif(
                        btrim(regexp_replace(lower(wording_hash.question), '[[:space:]?!.,;:"''()¿¡…]+', ' ', 'g')), ''
                    ),
                    wording_hash.question
                ),
                'UTF8'
            )
        );
end;

comment on function pgclarify_private.wording_hash(text) is
'SHA-256 of a question without case, white space and punctuation: questions with the same words have the same hash.';

create or replace function pgclarify_private.question_meant(run pgclarify_private.run)
returns text
language sql stable
set search_path = pg_catalog, pg_temp
begin atomic
    select coalesce(rewriting.rewritten, (question_meant.run).question)
    from (select) as always
    left join pgclarify_private.rewriting on rewriting.run_id = (question_meant.run).run_id;
end;

comment on function pgclarify_private.question_meant(pgclarify_private.run) is
'The question of a run as it stands alone: rewritten if it was asked with a history.';

create or replace function pgclarify_private.figures(question text)
returns text[]
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select coalesce(array_agg(distinct found.match[1] order by found.match[1]), '{}')
    from regexp_matches(figures.question, '[0-9]+', 'g') as found (match);
end;

comment on function pgclarify_private.figures(text) is
'Figures in a question, sorted: 2024 is not 2023, even if the rest is very similar.';

create or replace function pgclarify_private.question_word(question text)
returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select
        case found.word
            when 'whom' then 'who'
            when 'whose' then 'who'
            else found.word
        end
    from (
        select lower(substring(question_word.question from '(?i)\m(who|whom|whose|when|where|why)\M')) as word
    ) as found;
end;

comment on function pgclarify_private.question_word(text) is
'who, when, where or why, if a question has one of them; null otherwise: embeddings hardly distinguish "who" from "where".';

create or replace function pgclarify_private.near_question_group(
    corpus_id bigint, embedding_model text, question text, question_vector @extschema:vector@.halfvec
)
returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
-- They are in the header so that the function restores them at its end.
set hnsw.iterative_scan = 'strict_order'
set hnsw.ef_search = 200
set hnsw.max_scan_tuples = 2000
as $$
declare
    -- Chosen on pairs of questions: see docs/dashboards.md.
    v_most_distance constant double precision := 0.15;
    v_dimensions constant integer := @extschema:vector@.vector_dims(near_question_group.question_vector);
    v_near bigint;
begin
    execute format(
        $sql$
        select near.question_group_id
        from (
            select question_group.question_group_id, %1$s as distance
            from pgclarify_private.question_group
            where
                @extschema:vector@.vector_dims(leader) = %2$s
                -- Near ones may be of other corpora, or have other figures.
                and corpus_id = $3 and embedding_model = $4 and figures = $5 and (question_word = $6) is not false
            order by %1$s
            limit 1
        ) as near
        where near.distance <= $2
        $sql$,
        format(
            '(leader::@extschema:vector@.halfvec(%1$s))'
            ' operator(@extschema:vector@.<=>) ($1::@extschema:vector@.halfvec(%1$s))',
            v_dimensions
        ),
        v_dimensions
    ) into v_near
    using
        near_question_group.question_vector, v_most_distance, near_question_group.corpus_id,
        near_question_group.embedding_model, pgclarify_private.figures(near_question_group.question),
        pgclarify_private.question_word(near_question_group.question);
    return v_near;
end
$$;

comment on function pgclarify_private.near_question_group(bigint, text, text, @extschema:vector@.halfvec) is
'The group of a corpus whose leader is nearest to a question, if it is near enough, has the same figures and no other '
'question word; null if there is none. It uses the index over the leaders.';

create or replace function pgclarify_private.index_leaders(dimensions integer)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_index constant text := format('question_group_leader_%s_idx', index_leaders.dimensions);
begin
    if to_regclass('pgclarify_private.' || v_index) is null then
        -- Another worker may be creating it, for questions of another corpus.
        lock table pgclarify_private.question_group in share row exclusive mode;
        execute format(
            'create index if not exists %1$I on pgclarify_private.question_group using hnsw'
            ' ((leader::@extschema:vector@.halfvec(%2$s)) @extschema:vector@.halfvec_cosine_ops)'
            ' where @extschema:vector@.vector_dims(leader) = %2$s',
            v_index, index_leaders.dimensions
        );
    end if;
end
$$;

comment on function pgclarify_private.index_leaders(integer) is
'Create the index over leaders of this length, if it does not exist: without leaders, this takes no time.';

create or replace function pgclarify_private.group_questions(most integer)
returns integer
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
-- Only the first vector of a length has to wait, because it needs an index.
set lock_timeout = '2s'
as $$
declare
    -- Locked rows are skipped until later. As everywhere, the corpus is locked before its runs; so only one worker at a time
    -- groups its questions. It is not an advisory lock, because any role could take that, and then nothing would be grouped and
    -- no error would say why.
    v_batch constant bigint[] := array(
        select run.run_id
        from pgclarify_private.run
        inner join pgclarify_private.living_corpus as corpus on run.corpus_id = corpus.corpus_id
        where run.question_group_id is null
            and run.finished_at is not null
            and pgclarify_private.answers_questions(run.operation)
        order by run.run_id
        limit group_questions.most
        for no key update of corpus skip locked
        for no key update of run skip locked
    );
    v_asked record;
    v_group_id bigint;
    v_grouped integer;
begin
    perform pgclarify_private.index_leaders(known.dimensions)
    from (
        select distinct @extschema:vector@.vector_dims(run.question_vector) as dimensions
        from pgclarify_private.run
        where run.run_id = any(v_batch) and run.question_vector is not null
    ) as known;
    -- New wordings, and wordings of groups without a leader for which a vector is available.
    for v_asked in
        select distinct on (run.corpus_id, folded.wording_hash)
            run.corpus_id, meant.question, run.embedding_model, run.question_vector, folded.wording_hash,
            known.question_group_id
        from pgclarify_private.run
        cross join lateral (select pgclarify_private.question_meant(run) as question offset 0) as meant
        cross join lateral (select pgclarify_private.wording_hash(meant.question) as wording_hash offset 0) as folded
        left join pgclarify_private.question_wording as wording
            on run.corpus_id = wording.corpus_id and folded.wording_hash = wording.wording_hash
        left join pgclarify_private.question_group as known on wording.question_group_id = known.question_group_id
        where run.run_id = any(v_batch)
            and (wording.question_group_id is null or known.leader is null and run.question_vector is not null)
        order by run.corpus_id, folded.wording_hash, run.question_vector is null, run.run_id
    loop
        if v_asked.question_group_id is not null then
            update pgclarify_private.question_group
            set leader = v_asked.question_vector, embedding_model = v_asked.embedding_model
            where question_group.question_group_id = v_asked.question_group_id;
            continue;
        end if;
        v_group_id := case
            when v_asked.question_vector is not null then
                pgclarify_private.near_question_group(
                    v_asked.corpus_id, v_asked.embedding_model, v_asked.question, v_asked.question_vector
                )
        end;
        if v_group_id is null then
            -- Without a vector, the group only takes questions with the same words.
            insert into pgclarify_private.question_group (corpus_id, embedding_model, leader, figures, question_word)
            values (
                v_asked.corpus_id, v_asked.embedding_model, v_asked.question_vector,
                pgclarify_private.figures(v_asked.question), pgclarify_private.question_word(v_asked.question)
            )
            returning question_group.question_group_id into v_group_id;
        end if;
        insert into pgclarify_private.question_wording (corpus_id, wording_hash, question_group_id)
        values (v_asked.corpus_id, v_asked.wording_hash, v_group_id);
    end loop;
    with joined as (
        update pgclarify_private.run
        set question_group_id = wording.question_group_id
        from pgclarify_private.question_wording as wording
        where run.run_id = any(v_batch)
            and wording.corpus_id = run.corpus_id
            and wording.wording_hash = pgclarify_private.wording_hash(pgclarify_private.question_meant(run))
        returning
            run.run_id, run.operation, run.requested_by, run.requested_by_oid, run.finished_at, run.is_counted
    ),
    counted as (
        insert into pgclarify_private.citation_tally
            (corpus_id, document_id, requested_by, requested_by_oid, citations, runs, last_cited_at)
        select
            cited.corpus_id, cited.document_id, joined.requested_by, joined.requested_by_oid, count(*),
            count(distinct joined.run_id), max(joined.finished_at)
        from joined
        inner join pgclarify_private.citation as cited on joined.run_id = cited.run_id and cited.is_shown
        -- These citations are those of another run.
        where not pgclarify_private.copies_verdicts(joined.operation) and joined.is_counted
        group by cited.corpus_id, cited.document_id, joined.requested_by, joined.requested_by_oid
        on conflict on constraint citation_tally_pk do update
        set
            citations = citation_tally.citations + excluded.citations,
            runs = citation_tally.runs + excluded.runs,
            last_cited_at = greatest(citation_tally.last_cited_at, excluded.last_cited_at)
    )
    select count(*) into v_grouped from joined;
    return v_grouped;
end
$$;

comment on function pgclarify_private.group_questions(integer) is
'Put a limited number of runs that have ended into groups of questions with the same meaning, and count their citations; '
'returns how many.';
grant execute on function pgclarify_private.group_questions(integer) to pgclarify_worker;
