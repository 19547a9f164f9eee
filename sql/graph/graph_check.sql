-- Rebuilding the neighborhood graph, and checking it.

create or replace function pgclarify_private.build_graph(caller pgclarify_private.caller, corpus text)
returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_corpus pgclarify_private.corpus := pgclarify_private.owned_corpus(build_graph.caller, build_graph.corpus);
begin
    perform pgclarify_private.lock_corpus(v_corpus.corpus_id);
    -- After the lock, because distribute may have held it until now.
    perform pgclarify_private.refuse_distributed(v_corpus, 'the neighborhood graph');
    return coalesce(
        (
            select pgclarify_private.queue_all_links(searched.embedding_space_id)
            from pgclarify_private.corpus as searched
            where searched.corpus_id = v_corpus.corpus_id
        ),
        0
    );
end
$$;

comment on function pgclarify_private.build_graph(pgclarify_private.caller, text) is
'Have workers find the neighbors of every passage of a corpus again, and return the number of passages: option graph of '
'alter_corpus. The present lists are used until they are replaced.';
grant execute on function pgclarify_private.build_graph(pgclarify_private.caller, text) to pgclarify_user;

create or replace function pgclarify_private.pending_links(embedding_space_id bigint)
returns bigint
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select
        coalesce(space.linking_passages, 0)
        + (
            select count(*) from pgclarify_private.pending_link as pending
            where pending.embedding_space_id = space.embedding_space_id
        )
        + (
            select count(*) from pgclarify_private.pending_unlink as pending
            where pending.embedding_space_id = space.embedding_space_id
        )
    from pgclarify_private.embedding_space as space
    where space.embedding_space_id = pending_links.embedding_space_id;
end;

comment on function pgclarify_private.pending_links(bigint) is 'How many passages of a space wait to be linked or unlinked.';

create or replace function pgclarify_private.graph_recall(
    corpus pgclarify_private.corpus, sample integer, out sampled integer, out recall double precision
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
    v_space pgclarify_private.embedding_space;
    v_embedding text := pgclarify_private.partition_name('passage_embedding', (graph_recall.corpus).embedding_space_id);
    v_distance text;
    v_exact text;
begin
    select space.* into strict v_space
    from pgclarify_private.embedding_space as space
    where space.embedding_space_id = (graph_recall.corpus).embedding_space_id;
    if (graph_recall.corpus).graph_similarity = 'dense' then
        v_distance := format(
            '((embedding.vector::@extschema:vector@.halfvec(%1$s))'
            ' operator(@extschema:vector@.<=>) (linked.vector::@extschema:vector@.halfvec(%1$s)))',
            v_space.dimensions
        );
        v_exact := format(
            $sql$
            select linked.passage_id as id, other.passage_id as neighbor_id, other.distance
            from linked
            cross join lateral (
                select embedding.passage_id, %2$s as distance
                from %1$s as embedding
                where embedding.passage_id <> linked.passage_id and %2$s < 'NaN'
                -- Not by the index, which cannot order by a sum: all vectors are compared.
                order by %2$s + 0
                limit $2
            ) as other
            $sql$,
            v_embedding, v_distance
        );
    else
        v_exact := $sql$
            select found.passage_id as id, near.passage_id as neighbor_id, 1 - near.similarity as distance
            from (select array_agg(linked.document_id) as document_ids, array_agg(linked.passage_id) as ids from linked) as given
            cross join lateral pgclarify_private.nearest_by_words(
                $1, given.document_ids, given.ids, $2, 9223372036854775807
            ) as found
            cross join lateral unnest(found.neighbor_ids, found.similarities) as near (passage_id, similarity)
            $sql$;
    end if;
    execute format(
        $sql$
        with linked as materialized (
            select kept.document_id, kept.passage_id, kept.neighbor_document_ids, kept.neighbor_ids, linked.vector
            from %1$s as kept
            inner join %2$s as linked
                on linked.embedding_space_id = $1
                and linked.document_id = kept.document_id
                and linked.passage_id = kept.passage_id
            where kept.embedding_space_id = $1
            order by random()
            limit $3
        ),
        exact as materialized (%3$s),
        wanted as materialized (
            select exact.id, count(*) as neighbors, max(exact.distance) as distance, array_agg(exact.neighbor_id) as neighbor_ids
            from exact
            group by exact.id
        ),
        compared as (
            select
                wanted.neighbors,
                (
                    select count(distinct near.passage_id)
                    from unnest(linked.neighbor_document_ids, linked.neighbor_ids) as near (document_id, passage_id)
                    left join %2$s as embedding
                        on embedding.embedding_space_id = $1
                        and embedding.document_id = near.document_id
                        and embedding.passage_id = near.passage_id
                    where near.passage_id = any(wanted.neighbor_ids)
                        -- Among equally near passages, any may be in the list.
                        or near.passage_id <> linked.passage_id and %4$s <= wanted.distance + 0.00001
                ) as found
            from linked
            inner join wanted on wanted.id = linked.passage_id
        )
        select (select count(*) from linked), sum(least(found, neighbors))::double precision / sum(neighbors)
        from compared
        $sql$,
        pgclarify_private.partition_name('neighborhood', v_space.embedding_space_id), v_embedding, v_exact,
        coalesce(v_distance, 'null')
    ) into sampled, recall
    using v_space.embedding_space_id, (graph_recall.corpus).graph_degree, graph_recall.sample;
end
$$;

comment on function pgclarify_private.graph_recall(pgclarify_private.corpus, integer) is
'Compare the lists of randomly chosen passages with an exact search: the share of true neighbors that they contain.';

create or replace function pgclarify_private.check_graph(caller pgclarify_private.caller, corpus text, sample integer)
returns pgclarify_private.graph_check
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_corpus pgclarify_private.corpus := pgclarify_private.owned_corpus(check_graph.caller, check_graph.corpus);
    v_check pgclarify_private.graph_check;
begin
    perform pgclarify_private.refuse_distributed(v_corpus, 'the neighborhood graph');
    if coalesce(check_graph.sample, -1) not between 0 and 10000 then
        raise exception 'sample must be between 0 and 10000'
            using errcode = 'invalid_parameter_value',
                column = 'sample',
                detail = format('sample is %s.', coalesce(check_graph.sample::text, 'null')),
                hint = 'Pass sample => 200 for the default size.';
    end if;
    if v_corpus.embedding_space_id is null then
        v_check := (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, null)::pgclarify_private.graph_check;
        return v_check;
    end if;
    -- In one statement, so that all of it is from one snapshot.
    execute format(
        $sql$
        with size as materialized (
            select count(*) as passages from %2$s as embedding where embedding.embedding_space_id = $1
        ),
        orphan as materialized (
            select count(*) as vectors
            from %2$s as embedding
            where embedding.embedding_space_id = $1
                and not exists (
                    select from %3$s as passage
                    where passage.corpus_id = $3
                        and passage.document_id = embedding.document_id
                        and passage.id = embedding.passage_id
                )
        ),
        list as materialized (
            select
                kept.document_id, kept.passage_id, kept.neighbor_document_ids, kept.neighbor_ids, kept.similarities,
                embedding.passage_id is not null as is_there
            from %1$s as kept
            left join %2$s as embedding
                on embedding.embedding_space_id = $1
                and embedding.document_id = kept.document_id
                and embedding.passage_id = kept.passage_id
            where kept.embedding_space_id = $1
        ),
        waiting as materialized (
            select pending.passage_id from pgclarify_private.pending_unlink as pending where pending.embedding_space_id = $1
        ),
        looked_at as (
            select
                count(*) filter (where list.is_there) as linked,
                count(*) filter (where list.passage_id = any(list.neighbor_ids)) as self_edges,
                count(*) filter (where list.is_there and cardinality(list.neighbor_ids) < least($2, size.passages - 1)) as gaps,
                count(*) filter (
                    where cardinality(list.neighbor_ids) > $2
                        or (
                            select count(*) <> count(distinct near.id) from unnest(list.neighbor_ids) as near (id)
                        )
                        or list.similarities <> array(
                            select near.similarity from unnest(list.similarities) as near (similarity)
                            order by near.similarity desc
                        )
                ) as unordered,
                coalesce(sum(cardinality(list.neighbor_ids)) filter (
                    where not list.is_there
                        and list.passage_id not in (select waiting.passage_id from waiting)
                ), 0) as of_gone
            from list
            cross join size
        ),
        to_gone as (
            select count(*) as edges
            from list
            cross join lateral unnest(list.neighbor_document_ids, list.neighbor_ids) as near (document_id, passage_id)
            left join %2$s as embedding
                on embedding.embedding_space_id = $1
                and embedding.document_id = near.document_id
                and embedding.passage_id = near.passage_id
            where embedding.passage_id is null
                and near.passage_id not in (select waiting.passage_id from waiting)
        )
        select
            size.passages, looked_at.linked, size.passages - looked_at.linked, pgclarify_private.pending_links($1),
            looked_at.self_edges, to_gone.edges + looked_at.of_gone, orphan.vectors, looked_at.gaps, looked_at.unordered, 0,
            null
        from size, orphan, looked_at, to_gone
        $sql$,
        pgclarify_private.partition_name('neighborhood', v_corpus.embedding_space_id),
        pgclarify_private.partition_name('passage_embedding', v_corpus.embedding_space_id),
        pgclarify_private.partition_name('passage', v_corpus.corpus_id)
    ) into v_check using v_corpus.embedding_space_id, v_corpus.graph_degree, v_corpus.corpus_id;
    if v_corpus.graph_similarity <> 'dense' then
        v_check.gaps := null;
    end if;
    select compared.sampled, compared.recall into v_check.sampled, v_check.recall
    from pgclarify_private.graph_recall(v_corpus, check_graph.sample) as compared;
    return v_check;
end
$$;

comment on function pgclarify_private.check_graph(pgclarify_private.caller, text, integer) is
'Check the neighborhood graph of a corpus that the caller owns for errors, and compare so many lists with an exact search, '
'each with every vector of the corpus.';
grant execute on function pgclarify_private.check_graph(pgclarify_private.caller, text, integer) to pgclarify_user;
