-- Retrieval: dense, lexical and hybrid, each with the requester's roles as an explicit predicate.
-- Partitions are named, never reached through their parent: that would lock those of every corpus.

create or replace function pgclarify_private.is_visible_sql(roles text)
returns text
language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select replace(
        -- The first line is for the index. The second line separates passages whose readers contain "" from those without
        -- readers.
        $sql$
            coalesce(passage.readers, '{""}'::name[]) && (:roles || ''::name)
            and (passage.readers is null or passage.readers && :roles)
        $sql$,
        ':roles',
        is_visible_sql.roles
    );
end;

comment on function pgclarify_private.is_visible_sql(text) is
'The condition that these roles may read a row of passage, in a form that the index over readers supports. roles: their name '
'in the statement, for example $3.';

create or replace function pgclarify_private.are_few_visible(counted pgclarify_private.corpus_count, roles name[], few bigint)
returns boolean
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_visible bigint;
begin
    -- Passages without readers are visible to all. If there are more than few of them, nothing needs to be counted.
    if (are_few_visible.counted).passages - (are_few_visible.counted).restricted_passages > are_few_visible.few then
        return false;
    end if;
    execute format(
        'select count(*) from (select 1 as one from %s as passage where %s limit $2 + 1) as seen',
        pgclarify_private.partition_name('passage', (are_few_visible.counted).corpus_id), pgclarify_private.is_visible_sql('$1')
    ) into v_visible using are_few_visible.roles, are_few_visible.few;
    return v_visible <= are_few_visible.few;
end
$$;

comment on function pgclarify_private.are_few_visible(pgclarify_private.corpus_count, name[], bigint) is
'Whether these roles may read at most few passages of a corpus.';

create or replace function pgclarify_private.ef_search(passages bigint, depth integer)
returns integer
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    -- It grows with the index: of the ten nearest, 40 find .91 among 100,000 passages, and .76 among 200,000.
    select least(
        1000, greatest(ef_search.depth, 40 * greatest(1, 2 * log(greatest(ef_search.passages, 1)::numeric / 4000)))
    )::integer;
end;

comment on function pgclarify_private.ef_search(bigint, integer) is
'The value of hnsw.ef_search with which the depth nearest of so many passages are found.';

create or replace function pgclarify_private.dense(
    corpus_id bigint,
    roles name[],
    query_vector @extschema:vector@.halfvec,
    depth integer,
    part pgclarify_private.part default null,
    out document_ids text[],
    out passage_ids bigint[],
    out scores double precision[]
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
-- These are in its header so that the function restores them at its end. In a strict order, a scan drops what it finds
-- nearer than what it has returned: a role whose passages are far from the question then gets few of the nearest.
set hnsw.iterative_scan = 'relaxed_order'
set hnsw.max_scan_tuples = 60000
set hnsw.scan_mem_multiplier = 4
set hnsw.ef_search = 40
as $$
declare
    -- In a larger corpus, not all of a part are compared when the index finds too few of it: that takes 0.3 us a passage.
    v_most_compared constant bigint := 2000000;
    v_space pgclarify_private.embedding_space;
    v_count pgclarify_private.corpus_count;
    v_passage constant text := pgclarify_private.partition_name('passage', dense.corpus_id);
    v_embedding text;
    v_distance text;
    v_is_readable text := 'true';
    v_is_in_part text;
    v_are_any_restricted boolean;
    -- Not "is not null", which asks this of every field.
    v_is_partial constant boolean := not (dense.part is null);
    v_is_narrowed boolean;
    v_is_distributed constant boolean := pgclarify_private.is_distributed(dense.corpus_id);
    v_ef_search integer;
    -- If fewer than are wanted of so many nearest are of the part, its nearest are farther away, where the index misses more.
    v_most_near constant integer := 5 * dense.depth;
    -- Of the whole corpus, and of those of a part.
    v_most_found integer;
    v_most_found_of_part constant integer := greatest(2000, 2 * dense.depth);
    v_ways text[];
    v_way text;
begin
    select space.* into v_space
    from pgclarify_private.living_corpus as corpus
    inner join pgclarify_private.embedding_space as space on corpus.embedding_space_id = space.embedding_space_id
    where corpus.corpus_id = dense.corpus_id;
    if not found then
        return;
    end if;
    select counted.* into v_count
    from pgclarify_private.corpus_count as counted where counted.corpus_id = dense.corpus_id;
    v_are_any_restricted := v_count.restricted_passages <> 0;
    v_embedding := pgclarify_private.partition_name('passage_embedding', v_space.embedding_space_id);
    -- The index is over exactly this expression.
    v_distance := format(
        '((embedding.vector::@extschema:vector@.halfvec(%1$s))'
        ' operator(@extschema:vector@.<=>) ($1::@extschema:vector@.halfvec(%1$s)))',
        v_space.dimensions
    );
    if v_are_any_restricted then
        v_is_readable := format(
            -- The scalar subquery stays a filter of the index scan; a join would need a sort.
            '(select passage.readers is null or passage.readers && $3 from %s as passage'
            ' where passage.corpus_id = $4'
            ' and passage.document_id = embedding.document_id and passage.id = embedding.passage_id)',
            v_passage
        );
    end if;
    v_is_in_part := pgclarify_private.in_part_sql(dense.part, dense.corpus_id, 'embedding', '$5');
    v_is_narrowed := v_are_any_restricted or v_is_partial;
    v_ef_search := pgclarify_private.ef_search(v_count.passages, dense.depth);
    perform set_config('hnsw.ef_search', v_ef_search::text, true);
    -- The index is approximate: more are found than are wanted, and the nearest of these are taken. Each shard would send them.
    v_most_found := case
        when v_is_narrowed then greatest(2000, 40 * dense.depth)
        when v_is_distributed then dense.depth
        else least(5 * v_ef_search, greatest(v_ef_search, v_count.passages / 1000))
    end;
    -- Tried until one finds enough. nearest: by the index, and what is not of the part is dropped. nearest of part: the index is
    -- read until it has found enough of the part. documents: all passages of the part's documents are compared. readable: all
    -- that these roles may read of the part.
    v_ways := case
        when not v_is_narrowed then array['nearest']
        when (dense.part).passages is not null and not v_is_distributed then array['documents', 'readable']
        when
            v_are_any_restricted
            and pgclarify_private.are_few_visible(
                v_count, dense.roles,
                -- Looking for passages by their readers takes longer than by their documents, which no shard has.
                least(case when v_is_distributed then 20000 else 2000 end, v_count.passages / 2)
            )
            then array['readable']
        when v_is_distributed or v_count.passages > v_most_compared then array['nearest of part', 'readable']
        else array['nearest', 'documents', 'readable']
    end;
    foreach v_way in array v_ways loop
        execute format(
            $sql$
            select array_agg(document_id), array_agg(passage_id), array_agg(1 - distance)
            from (
                select embedding.document_id, embedding.passage_id, embedding.distance
                from (%s) as embedding
                where %s
                order by embedding.distance + 0
                limit $2
            ) as nearest
            $sql$,
            case v_way
                when 'nearest' then format(
                    'select found.* from ('
                    'select document_id, passage_id, %2$s as distance from %1$s as embedding order by %2$s limit $6'
                    ') as found order by found.distance + 0 limit $9',
                    v_embedding, v_distance
                )
                when 'nearest of part' then format(
                    'select document_id, passage_id, %2$s as distance from %1$s as embedding'
                    ' where %3$s and %4$s order by %2$s limit $7',
                    v_embedding, v_distance, v_is_in_part, v_is_readable
                )
                -- The index does not have the distances of these two, so the planner cannot use it.
                when 'documents' then format(
                    'select document_id, passage_id, %2$s + 0 as distance from %1$s as embedding'
                    ' where %3$s order by distance limit $7',
                    v_embedding, v_distance,
                    pgclarify_private.of_part_sql(dense.part, dense.corpus_id, 'embedding', '$5', '$3')
                )
                when 'readable' then format(
                    'select embedding.document_id, embedding.passage_id, %3$s + 0 as distance'
                    ' from %2$s as passage inner join %1$s as embedding'
                    ' on embedding.embedding_space_id = $8 and embedding.document_id = passage.document_id'
                    ' and embedding.passage_id = passage.id where %4$s and %5$s order by distance limit $2',
                    v_embedding, v_passage, v_distance,
                    case when v_are_any_restricted then pgclarify_private.is_visible_sql('$3') else 'true' end, v_is_in_part
                )
            end,
            case v_way
                when 'nearest' then v_is_readable || ' and ' || v_is_in_part
                when 'documents' then v_is_readable
                else 'true'
            end
        ) into document_ids, passage_ids, scores
        using
            dense.query_vector, dense.depth, dense.roles, dense.corpus_id, (dense.part).document_ids, v_most_found,
            v_most_found_of_part, v_space.embedding_space_id, v_most_near;
        exit when cardinality(passage_ids) >= dense.depth;
    end loop;
end
$$;

comment on function pgclarify_private.dense(
    bigint, name[], @extschema:vector@.halfvec, integer, pgclarify_private.part
) is
'The depth passages of a corpus, or of a part of it, nearest to a vector that these roles may read, by cosine similarity, as '
'arrays, null for none. Where the index would miss some, all are compared; depth passages are returned if there are so many.';

create or replace function pgclarify_private.search(
    corpus_id bigint,
    roles name[],
    method text,
    question text,
    query_vector @extschema:vector@.halfvec,
    top_k integer,
    part pgclarify_private.part default null
)
returns table (
    rank integer,
    passage_id bigint,
    document_id text,
    title text,
    heading text,
    content text,
    start_char integer,
    score double precision,
    origin text,
    dated timestamptz
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
-- A search by words in the session of a user finds all passages that have them.
set gin_fuzzy_search_limit = 0
as $$
declare
    -- Each list is longer than top_k. Otherwise a passage that is late in both lists would never be found.
    v_depth integer := case when search.method = 'hybrid' then greatest(2 * search.top_k, 100) else search.top_k end;
    -- First of all: both lists and their passages are read from the same tables.
    v_passage text := pgclarify_private.passages_of(search.corpus_id);
    v_dense_documents text[];
    v_dense_ids bigint[];
    v_dense_scores double precision[];
    v_lexical_documents text[];
    v_lexical_ids bigint[];
    v_lexical_scores double precision[];
begin
    if search.method in ('dense', 'hybrid') and search.query_vector is not null then
        select seen.document_ids, seen.passage_ids, seen.scores into v_dense_documents, v_dense_ids, v_dense_scores
        from pgclarify_private.dense(search.corpus_id, search.roles, search.query_vector, v_depth, search.part) as seen;
    end if;
    if search.method in ('lexical', 'hybrid') then
        select seen.document_ids, seen.passage_ids, seen.scores into v_lexical_documents, v_lexical_ids, v_lexical_scores
        from pgclarify_private.lexical(search.corpus_id, search.roles, search.question, v_depth, search.part) as seen;
    end if;
    return query execute format(
        $sql$
        with listed as (
            -- The cosine of a vector without a direction is NaN.
            select document_id, passage_id, score, nullif(score, 'NaN') as known, place, 'dense' as origin
            from unnest($2, $3, $4) with ordinality as dense (document_id, passage_id, score, place)
            union all
            select document_id, passage_id, score, score as known, place, 'lexical' as origin
            from unnest($5, $6, $7) with ordinality as lexical (document_id, passage_id, score, place)
        ),
        -- 0 for the least score of a list, and 1 for the most.
        scaled as (
            select
                listed.*,
                case
                    when max(listed.known) over own > min(listed.known) over own
                        then coalesce(
                            (listed.known - min(listed.known) over own)
                            / (max(listed.known) over own - min(listed.known) over own),
                            0
                        )
                    else 1
                end as share
            from listed
            window own as (partition by listed.origin)
        ),
        fused as (
            select
                scaled.document_id,
                scaled.passage_id,
                -- The convex combination of both, with equal weights: Bruch, Gai and Ingber (TOIS 2023), Equation 3.
                case when $8 = 'hybrid' then sum(scaled.share) / 2 else max(scaled.score) end as score,
                (array_agg(scaled.origin order by scaled.place, scaled.origin))[1] as origin
            from scaled
            group by scaled.document_id, scaled.passage_id
            order by score desc, scaled.document_id, scaled.passage_id
            limit $9
        ),
        -- A separate step: Citus does not join the shards of passages with tables of the coordinator.
        found as materialized (
            select
                fused.passage_id, fused.document_id, passage.heading, passage.content, passage.start_char,
                fused.score, fused.origin
            from fused
            inner join %s as passage
                on passage.corpus_id = $1 and passage.document_id = fused.document_id and passage.id = fused.passage_id
            -- Both lists contain only visible passages. This checks again, so that a wrong count or plan never shows a passage.
            where (passage.readers is null or passage.readers && $10) and %s
        )
        select
            (row_number() over (order by found.score desc, found.document_id, found.passage_id))::integer,
            found.passage_id, found.document_id, document.title, found.heading, found.content,
            found.start_char, found.score::double precision, found.origin, document.dated
        from found
        inner join pgclarify_private.document on document.corpus_id = $1 and document.id = found.document_id
        order by 1
        $sql$,
        v_passage, pgclarify_private.in_part_sql(search.part, search.corpus_id, 'passage', '$11')
    ) using
        search.corpus_id, v_dense_documents, v_dense_ids, v_dense_scores, v_lexical_documents, v_lexical_ids,
        v_lexical_scores, search.method, search.top_k, search.roles, (search.part).document_ids;
end
$$;

comment on function pgclarify_private.search(
    bigint, name[], text, text, @extschema:vector@.halfvec, integer, pgclarify_private.part
) is
'The top_k best passages of a corpus, or of a part of it, that these roles may read; method is dense, lexical or hybrid. part: '
'null for all.';

create or replace function pgclarify_private.search_texts(
    corpus_id bigint,
    roles name[],
    method text,
    question text,
    query_vector @extschema:vector@.halfvec,
    top_k integer,
    part pgclarify_private.part,
    depth integer
)
returns table (
    rank integer,
    passage_id bigint,
    document_id text,
    title text,
    heading text,
    content text,
    start_char integer,
    score double precision,
    origin text,
    dated timestamptz
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_most constant integer := 10000;
begin
    return query execute format(
        $sql$
        with tried as materialized (
            select found.*, row_number() over (partition by %1$s order by found.rank) as copy
            from pgclarify_private.search($1, $2, $3, $4, $5, $8, $7) as found
        ),
        -- How deep to search instead; null if there are enough texts, or no more passages.
        wanted as materialized (
            select
                case
                    when count(*) filter (where tried.copy = 1) < $6 and count(*) >= $8 and $8 < %2$s
                        then least(%2$s, 8 * $8)
                end as depth
            from tried
        )
        (
            select
                (row_number() over (order by tried.rank))::integer, tried.passage_id, tried.document_id, tried.title,
                tried.heading, tried.content, tried.start_char, tried.score, tried.origin, tried.dated
            from tried
            cross join wanted
            where tried.copy = 1 and wanted.depth is null
            order by tried.rank
            limit $6
        )
        union all
        select deeper.*
        from wanted
        cross join lateral pgclarify_private.search_texts($1, $2, $3, $4, $5, $6, $7, wanted.depth) as deeper
        where wanted.depth is not null
        $sql$,
        pgclarify_private.bare_text_sql('found.content'), v_most
    ) using
        search_texts.corpus_id, search_texts.roles, search_texts.method, search_texts.question, search_texts.query_vector,
        search_texts.top_k, search_texts.part, search_texts.depth;
end
$$;

comment on function pgclarify_private.search_texts(
    bigint, name[], text, text, @extschema:vector@.halfvec, integer, pgclarify_private.part, integer
) is
'As search, but of passages with the same text (bare_text_sql) only the best one, so that copies do not take the places of '
'other texts. depth: how many passages are searched for first, at least top_k. If too many of them are copies, more are '
'searched for, up to 10,000.';
