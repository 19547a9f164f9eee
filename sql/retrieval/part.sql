-- A part of a corpus: the documents that a filter or a list of ids leaves for a question. It narrows what roles may read, and
-- never widens it.

create or replace function pgclarify_private.check_document_ids(document_ids jsonb)
returns jsonb
language plpgsql immutable strict
set search_path = pg_catalog, pg_temp
as $$
declare
    v_most constant integer := 100000;
    v_ids constant text[] := array(
        select distinct given.id collate "C" as id
        from jsonb_array_elements(check_document_ids.document_ids) as element
        cross join lateral (select element.value #>> '{}') as given (id)
        -- No document has another id.
        where length(given.id) between 1 and 1000
        order by id
    );
begin
    if exists (
        select from jsonb_array_elements(check_document_ids.document_ids) as element
        where jsonb_typeof(element.value) not in ('string', 'number', 'null')
    ) then
        raise exception 'document_ids must be an array of ids'
            using errcode = 'invalid_parameter_value',
                column = 'document_ids',
                detail = 'An element is an array, an object or a boolean.',
                hint = 'For example, pass document_ids => array[''d1'', ''d2''].';
    end if;
    if cardinality(v_ids) > v_most then
        raise exception 'there are too many document_ids'
            using errcode = 'invalid_parameter_value',
                column = 'document_ids',
                detail = format('There are %s.', cardinality(v_ids)),
                hint = format('Pass %s at most, or a filter.', v_most);
    end if;
    return jsonb_build_object(
        'document_set', encode(sha256(convert_to(array_to_json(v_ids)::text, 'UTF8')), 'hex'), 'document_ids', to_jsonb(v_ids)
    );
end
$$;

comment on function pgclarify_private.check_document_ids(jsonb) is
'Settings of a run for a list of documents: document_set, their SHA-256, and document_ids, which enter_runs stores once in '
'table document_set; or error 22023.';

create or replace function pgclarify_private.without_ids(settings jsonb)
returns jsonb
language sql immutable parallel safe
begin atomic
    select without_ids.settings - '{timeout,document_ids,filters}'::text[];
end;

comment on function pgclarify_private.without_ids(jsonb) is
'The settings that a run has: without timeout, without document_ids, of which document_set is the key, and without the filters '
'of other questions.';

create or replace function pgclarify_private.part_of(
    corpus_id bigint, roles name[], settings jsonb, few integer default 120000
)
returns pgclarify_private.part
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
-- A plan for any condition could not use the index over metadata.
set plan_cache_mode = 'force_custom_plan'
as $$
declare
    v_filter constant jsonb := part_of.settings -> 'filter';
    v_fence constant jsonpath := pgclarify_private.fence_of(part_of.corpus_id, part_of.roles);
    v_part pgclarify_private.part;
    v_listed text[];
    -- Statements on shards join no table of documents.
    v_are_all_listed constant boolean := part_of.settings ? 'document_set' or pgclarify_private.is_distributed(part_of.corpus_id);
    v_mean double precision;
    v_most bigint;
begin
    if v_filter is null and v_fence is null and not part_of.settings ? 'document_set' then
        return null;
    end if;
    v_part.fence := v_fence;
    if v_filter is not null then
        if pgclarify_private.is_about_metadata(v_filter) then
            v_part.of_metadata := pgclarify_private.filter_condition(v_filter, true);
        else
            v_part.of_facts := pgclarify_private.filter_condition(v_filter, false);
        end if;
    end if;
    if part_of.settings ? 'document_set' then
        if part_of.settings ? 'document_ids' then
            v_listed := array(select jsonb_array_elements_text(part_of.settings -> 'document_ids'));
        else
            select listed.document_ids into v_listed
            from pgclarify_private.document_set as listed
            where listed.hash = decode(part_of.settings ->> 'document_set', 'hex');
        end if;
        v_listed := coalesce(v_listed, '{}');
    end if;
    -- The mean number of passages of a document.
    select counted.passages / greatest(counted.documents, 1)::double precision into v_mean
    from pgclarify_private.corpus_count as counted
    where counted.corpus_id = part_of.corpus_id;
    v_most := part_of.few / greatest(v_mean, 1);
    v_part.document_ids := array(
        select document.id
        from pgclarify_private.document
        where
            document.corpus_id = part_of.corpus_id
            and (document.readers is null or document.readers && part_of.roles)
            and (v_listed is null or document.id = any(v_listed))
            and (v_fence is null or document.metadata @@ v_fence)
            and (v_part.of_metadata is null or document.metadata @@ v_part.of_metadata)
            and (v_part.of_facts is null or pgclarify_private.document_facts(document) @@ v_part.of_facts)
        limit case when not v_are_all_listed then v_most + 1 end
    );
    if cardinality(v_part.document_ids) <= v_most then
        v_part.passages := ceil(cardinality(v_part.document_ids) * v_mean);
    elsif not v_are_all_listed then
        v_part.document_ids := null;
    end if;
    return v_part;
end
$$;

comment on function pgclarify_private.part_of(bigint, name[], jsonb, integer) is
'The part of a corpus that the settings of a run and the fence of these roles leave; null for all of it. few: its documents '
'are listed if they have so many passages at most.';

create or replace function pgclarify_private.part_condition_sql(part pgclarify_private.part)
returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select concat_ws(
        ' and ',
        'true',
        'document.metadata @@ ' || quote_literal((part_condition_sql.part).fence) || '::jsonpath',
        'document.metadata @@ ' || quote_literal((part_condition_sql.part).of_metadata) || '::jsonpath',
        'pgclarify_private.document_facts(document) @@ '
        || quote_literal((part_condition_sql.part).of_facts) || '::jsonpath'
    );
end;

comment on function pgclarify_private.part_condition_sql(pgclarify_private.part) is
'The condition that a row of document is in a part of a corpus whose documents are not listed.';

create or replace function pgclarify_private.in_part_sql(
    part pgclarify_private.part, corpus_id bigint, passage text, document_ids text
)
returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select
        case
            when in_part_sql.part is null then 'true'
            when (in_part_sql.part).document_ids is not null
                then format('%s.document_id = any(%s)', in_part_sql.passage, in_part_sql.document_ids)
            else
                format(
                    -- A scalar subquery stays a filter of an index scan; a join would need a sort.
                    '(select %s from pgclarify_private.document'
                    ' where document.corpus_id = %s and document.id = %s.document_id)',
                    pgclarify_private.part_condition_sql(in_part_sql.part), in_part_sql.corpus_id, in_part_sql.passage
                )
        end;
end;

comment on function pgclarify_private.in_part_sql(pgclarify_private.part, bigint, text, text) is
'The condition that a row is in a part of a corpus. passage: name of the row in the statement, which has a document_id. '
'document_ids: name of the array of the part there, for example $3.';

create or replace function pgclarify_private.of_part_sql(
    part pgclarify_private.part, corpus_id bigint, passage text, document_ids text, roles text
)
returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select
        case
            when (of_part_sql.part).document_ids is not null
                then pgclarify_private.in_part_sql(
                    of_part_sql.part, of_part_sql.corpus_id, of_part_sql.passage, of_part_sql.document_ids
                )
            else
                format(
                    '%s.document_id in (select document.id from pgclarify_private.document where document.corpus_id = %s'
                    ' and (document.readers is null or document.readers && %s) and %s)',
                    of_part_sql.passage, of_part_sql.corpus_id, of_part_sql.roles,
                    pgclarify_private.part_condition_sql(of_part_sql.part)
                )
        end;
end;

comment on function pgclarify_private.of_part_sql(pgclarify_private.part, bigint, text, text, text) is
'As in_part_sql, for a statement that reads all passages of a part: the documents are found first, and only those that these '
'roles may read. roles: their name in the statement. A passage of such a document may still have other readers.';

create or replace function pgclarify_private.count_part(
    corpus_id bigint, roles name[], part pgclarify_private.part, most bigint
)
returns bigint
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_count bigint;
begin
    execute format(
        'select count(*) from (select 1 as one from %s as passage where %s and %s limit $3) as counted',
        pgclarify_private.passages_of(count_part.corpus_id), pgclarify_private.is_visible_sql('$1'),
        pgclarify_private.in_part_sql(count_part.part, count_part.corpus_id, 'passage', '$2')
    ) into v_count using count_part.roles, (count_part.part).document_ids, count_part.most;
    return v_count;
end
$$;

comment on function pgclarify_private.count_part(bigint, name[], pgclarify_private.part, bigint) is
'How many passages of a part of a corpus these roles may read, most at most.';

create or replace function pgclarify_private.told_part(corpus_id bigint, roles name[], settings jsonb)
returns text
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    -- More would be read for longer than anyone waits.
    v_most constant bigint := 100000;
    v_told text[];
    v_settings jsonb;
    v_count bigint;
begin
    foreach v_settings in array array[told_part.settings, '{}'] loop
        v_count := pgclarify_private.count_part(
            told_part.corpus_id, told_part.roles,
            pgclarify_private.part_of(told_part.corpus_id, told_part.roles, v_settings), v_most + 1
        );
        v_told := v_told || case
            when v_count > v_most then format('more than %s', to_char(v_most, 'FM999,999,990'))
            else to_char(v_count, 'FM999,999,990')
        end;
    end loop;
    return format('%s of %s passages that you may read', v_told[1], v_told[2]);
end
$$;

comment on function pgclarify_private.told_part(bigint, name[], jsonb) is
'How large the part of a corpus is now that the settings of a run leave, in words. Only passages count that these roles may '
'read.';
