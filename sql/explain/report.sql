-- All that the HTML page of a run shows.

create or replace function pgclarify_private.run_report(caller pgclarify_private.caller, run_id bigint)
returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run constant pgclarify_private.run := pgclarify_private.visible_run(run_report.caller, run_report.run_id);
    v_roles constant name[] := pgclarify_private.roles_of((run_report.caller).name);
    v_withheld constant integer[] := pgclarify_private.withheld_ranks(v_run.run_id, v_roles);
begin
    return jsonb_build_object(
        'noun', pgclarify_private.noun_of_findings(v_run.operation),
        'stages', array(
            select to_jsonb(stage) from pgclarify_private.run_stages(v_run.run_id) as stage order by stage.ordinal
        ),
        'passages', array(
            with passage as materialized (
                select known.* from pgclarify_private.run_passages(v_run.run_id, v_roles, v_withheld) as known
            ),
            listed as (
                select array_agg(known.document_id) as document_ids, array_agg(known.passage_id) as passage_ids
                -- Two steps may find the same passage.
                from (select distinct passage.document_id, passage.passage_id from passage) as known
            ),
            readable as materialized (
                select found.*
                from listed
                cross join lateral pgclarify_private.readable_passages(
                    run_report.caller, v_run.corpus_id, listed.document_ids, listed.passage_ids
                ) as found
            )
            select to_jsonb(passage) || jsonb_build_object('content', readable.content, 'start_char', readable.start_char)
            from passage
            left join readable
                on passage.document_id = readable.document_id and passage.passage_id = readable.passage_id
            order by passage.rank
        ),
        'findings', array(
            select
                finding.own || to_jsonb(finding) - 'own' || jsonb_build_object(
                    'citations',
                    array(
                        select
                            jsonb_build_object('is_medoid', false) || citation.shown || jsonb_build_object(
                                'candidate_rank', finding.ranks[citation.place],
                                'title', pgclarify_private.title_of_passage(
                                    citation.shown ->> 'title', citation.shown ->> 'heading'
                                )
                            )
                        from jsonb_array_elements(cited.citations) with ordinality as citation (shown, place)
                        order by citation.place
                    )
                )
            from pgclarify_private.run_findings(v_run.run_id, v_withheld) as finding
            left join pgclarify_private.cited(array[v_run.run_id], v_roles) as cited on finding.ordinal = cited.ordinal
            order by finding.ordinal
        ),
        'lines', array(
            select to_jsonb(told)
            from pgclarify_private.explain_lines(v_run, v_roles, 'passages') with ordinality as told (part, label, body, line, place)
            order by told.place
        )
    );
end
$$;

comment on function pgclarify_private.run_report(pgclarify_private.caller, bigint) is
'All that the page of a run shows, if the caller may see it: its stages, passages, findings and the lines of explain. It has '
'contents of passages only if the caller may read them now.';
grant execute on function pgclarify_private.run_report(pgclarify_private.caller, bigint) to pgclarify_reader;
