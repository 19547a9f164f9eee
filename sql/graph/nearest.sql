-- The search for neighbors, with the index over vectors.

create or replace function pgclarify_private.nearest(
    embedding_space_id bigint, document_ids text[], passage_ids bigint[], depth integer
)
returns setof pgclarify_private.neighborhood
language plpgsql stable parallel safe security definer
set search_path = pg_catalog, pg_temp
-- Parallel workers share several calls of one query.
cost 1000000 rows 250
as $$
declare
    v_dimensions integer;
begin
    select space.dimensions into v_dimensions
    from pgclarify_private.embedding_space as space
    where space.embedding_space_id = nearest.embedding_space_id;
    return query execute format(
        $sql$
        select $1, own.document_id, own.passage_id, near.document_ids, near.passage_ids, near.similarities
        from unnest($2, $3) as given (document_id, passage_id)
        inner join %1$s as own
            on own.embedding_space_id = $1
            and own.document_id = given.document_id
            and own.passage_id = given.passage_id
        cross join lateral (
            select
                coalesce(array_agg(other.document_id order by other.distance, other.passage_id), '{}') as document_ids,
                coalesce(array_agg(other.passage_id order by other.distance, other.passage_id), '{}') as passage_ids,
                coalesce(
                    array_agg((1 - other.distance)::real order by other.distance, other.passage_id), '{}'
                ) as similarities
            from (
                -- The index has exactly this expression.
                select
                    embedding.document_id,
                    embedding.passage_id,
                    (embedding.vector::@extschema:vector@.halfvec(%2$s))
                    operator(@extschema:vector@.<=>) (own.vector::@extschema:vector@.halfvec(%2$s)) as distance
                from %1$s as embedding
                order by
                    (embedding.vector::@extschema:vector@.halfvec(%2$s))
                    operator(@extschema:vector@.<=>) (own.vector::@extschema:vector@.halfvec(%2$s))
                -- It also finds the passage itself.
                limit $4 + 1
            ) as other
            where other.passage_id <> own.passage_id
                -- A zero vector is near nothing.
                and other.distance < 'NaN'
        ) as near
        $sql$,
        pgclarify_private.partition_name('passage_embedding', nearest.embedding_space_id), v_dimensions
    ) using
        nearest.embedding_space_id, nearest.document_ids, nearest.passage_ids, nearest.depth;
end
$$;

comment on function pgclarify_private.nearest(bigint, text[], bigint[], integer) is
'The nearest passages of these by the index over their vectors, depth of them or one more. The caller sets hnsw.ef_search.';
