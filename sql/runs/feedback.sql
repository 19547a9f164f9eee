-- Feedback: what people say of the readings of a run. A rating has copies of what it is about, because it outlives its run, and
-- the next revision of the corpus answers in another one.

create or replace view pgclarify.feedback as
select
    feedback.feedback_id,
    feedback.run_id,
    living.corpus_id,
    feedback.corpus_name || '' as corpus,
    feedback.question || '' as question,
    feedback.history #> '{}' as history,
    feedback.is_of_part,
    nullif(feedback.ordinal, 0) as ordinal,
    feedback.interpretation || '' as interpretation,
    feedback.answer || '' as answer,
    trim_array(feedback.document_ids, 0) as document_ids,
    feedback.rating || '' as rating,
    feedback.comment || '' as comment,
    feedback.missing || '' as missing,
    nullif(feedback.person || '', '') as person,
    feedback.model || '' as model,
    feedback.prompt_version || '' as prompt_version,
    feedback.probability,
    (feedback.requested_by || '')::name as requested_by,
    (feedback.given_by || '')::name as given_by,
    feedback.created_at,
    feedback.updated_at
from pgclarify_private.feedback
-- As in view run.
left join pgclarify_private.living_corpus as living on feedback.corpus_id = living.corpus_id;

comment on view pgclarify.feedback is
'What people say of a reading of a run, or which right answer it misses. You see what your roles have given, and, as an '
'analyst of the corpus, all; nothing if a document of the run is closed to you.';
comment on column pgclarify.feedback.corpus is 'The corpus''s name at the time of the question.';
comment on column pgclarify.feedback.ordinal is
'Place of the reading in the run; null if the right answer is missing.';
comment on column pgclarify.feedback.person is
'Who said so, as the role named this person, which nothing proves; null for none.';
grant select on pgclarify.feedback to pgclarify_reader;

create or replace view pgclarify_private.withheld_feedback with (security_barrier) as
select feedback.feedback_id
from pgclarify_private.feedback
inner join pgclarify_private.document
    on feedback.corpus_id = document.corpus_id and document.id = any(feedback.read_ids)
left join pgclarify_private.my_fence as fence on feedback.corpus_id = fence.corpus_id
where
    not pgclarify_private.may_read(document, (select pgclarify_private.my_roles())::name[], fence.condition::jsonpath)
    -- It shows nothing of other roles.
    and pgclarify_private.is_among(feedback.given_by, feedback.given_by_oid, (select pgclarify_private.my_role_oids()));

comment on view pgclarify_private.withheld_feedback is
'Ratings that current_user has given to runs with a document that is closed to it, once for each such document. As in '
'withheld_candidate, it runs with the rights of its owner.';
grant select on pgclarify_private.withheld_feedback to pgclarify_views;

create or replace function pgclarify_private.check_feedback(
    ordinal integer, rating text, comment text, person text, missing text
)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_wrong text;
    v_detail text := 'A rating is of one reading. An answer that is missing is of the whole run.';
    v_hint text := 'Pass ordinal and rating, or missing without them. Both rating and missing null removes what was said.';
begin
    if check_feedback.rating not in ('right', 'wrong', 'useless') then
        v_wrong := format('there is no rating "%s"', pgclarify_private.shown(check_feedback.rating));
        v_detail := null;
        v_hint := 'Pass right, wrong or useless, or null to remove the rating.';
    elsif length(check_feedback.comment) > 10000 or length(check_feedback.person) > 200 then
        v_wrong := 'a comment has at most 10000 characters, and a person 200';
        v_detail := format(
            'They have %s and %s.', coalesce(length(check_feedback.comment), 0), coalesce(length(check_feedback.person), 0)
        );
        v_hint := 'Shorten it.';
    elsif length(btrim(check_feedback.missing, E' \t\r\n\f\x0b')) not between 1 and 10000 then
        v_wrong := 'a missing answer needs 1 to 10000 characters';
        v_detail := format('It has %s.', length(btrim(check_feedback.missing, E' \t\r\n\f\x0b')));
        v_hint := 'Write the answer, or pass null to remove what was said.';
    elsif check_feedback.ordinal < 1 then
        v_wrong := 'ordinals of readings count from 1';
        v_detail := format('It is %s.', check_feedback.ordinal);
    elsif check_feedback.ordinal is null and check_feedback.rating is not null then
        v_wrong := 'a rating needs the ordinal of a reading';
    elsif check_feedback.ordinal is not null and check_feedback.missing is not null then
        v_wrong := 'a missing answer has no ordinal';
    elsif check_feedback.comment is not null and num_nonnulls(check_feedback.rating, check_feedback.missing) = 0 then
        v_wrong := 'a comment needs a rating, or a missing answer';
    end if;
    if v_wrong is not null then
        raise exception '%', v_wrong
            using errcode = 'invalid_parameter_value', detail = coalesce(v_detail, ''), hint = v_hint;
    end if;
end
$$;

comment on function pgclarify_private.check_feedback(integer, text, text, text, text) is
'Error 22023 unless the arguments of give_feedback are those of a rating, of a missing answer, or remove one.';

create or replace function pgclarify_private.give_feedback(
    caller pgclarify_private.caller, run_id bigint, ordinal integer, rating text, comment text, person text, missing text
)
returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_giver constant name := pgclarify_private.verify_asker(give_feedback.caller);
    v_run pgclarify_private.run;
    v_comment constant text := nullif(btrim(give_feedback.comment, E' \t\r\n\f\x0b'), '');
    v_person constant text := coalesce(btrim(give_feedback.person, E' \t\r\n\f\x0b'), '');
    v_rated record;
begin
    perform pgclarify_private.check_feedback(
        give_feedback.ordinal, give_feedback.rating, v_comment, v_person, give_feedback.missing
    );
    v_run := pgclarify_private.visible_run(give_feedback.caller, give_feedback.run_id);
    if num_nonnulls(give_feedback.rating, give_feedback.missing) = 0 then
        delete from pgclarify_private.feedback as given
        where given.run_id = v_run.run_id
            and given.given_by = v_giver
            and given.person = v_person
            and given.ordinal = coalesce(give_feedback.ordinal, 0);
        return found;
    end if;
    if not pgclarify_private.finds_readings(v_run.operation) or v_run.status not in ('succeeded', 'partial') then
        raise exception 'run % has no readings that can be rated', v_run.run_id
            using errcode = 'object_not_in_prerequisite_state',
                detail = format('It is a run of %s, and %s.', v_run.operation, v_run.status),
                hint = 'Rate a run of clarify that has succeeded, or is partial.';
    end if;
    -- Erasing a document locks its candidates against this. What it leaves of the run is visible to the next statement.
    perform
    from pgclarify_private.candidate
    where candidate.run_id = v_run.run_id
    order by candidate.rank
    for share;
    select
        reading.interpretation,
        reading.answer,
        judged.score,
        array(
            select citation.document_id
            from pgclarify_private.citation
            where citation.run_id = reading.run_id and citation.ordinal = reading.ordinal
            group by citation.document_id
            order by min(citation.rank)
        ) as document_ids
    into v_rated
    from pgclarify_private.interpretation as reading
    inner join pgclarify_private.cited(
        array[v_run.run_id], pgclarify_private.roles_of((give_feedback.caller).name)
    ) as cited
        on cited.run_id = reading.run_id and cited.ordinal = reading.ordinal and not cited.is_withheld
    inner join pgclarify_private.citation as medoid
        on medoid.run_id = reading.run_id and medoid.ordinal = reading.ordinal and medoid.is_medoid
    inner join pgclarify_private.candidate as proof
        on proof.run_id = medoid.run_id and proof.rank = medoid.candidate_rank
    left join pgclarify_private.verdict as judged
        on judged.run_id = proof.run_id and judged.rank = coalesce(proof.copy_of, proof.rank)
    where reading.run_id = v_run.run_id and reading.ordinal = give_feedback.ordinal;
    if not found and give_feedback.ordinal is not null then
        raise exception 'run % has no reading %', v_run.run_id, give_feedback.ordinal
            using errcode = 'invalid_parameter_value',
                detail = 'No reading of this ordinal is visible to you.',
                hint = format('See them with: select * from pgclarify.result(%s).', v_run.run_id);
    end if;
    insert into pgclarify_private.feedback as given (
        run_id, corpus_id, corpus_name, question, history, is_of_part, ordinal, interpretation, answer, document_ids, read_ids,
        rating, comment, missing, person, model, prompt_version, probability, requested_by, requested_by_oid, given_by, given_by_oid
    )
    values (
        v_run.run_id, v_run.corpus_id, v_run.corpus_name, v_run.question,
        coalesce(v_run.settings -> 'history', '[]'), v_run.settings ?| '{filter,document_set}',
        coalesce(give_feedback.ordinal, 0), v_rated.interpretation, v_rated.answer,
        coalesce(v_rated.document_ids, '{}'),
        array(
            select candidate.document_id from pgclarify_private.candidate where candidate.run_id = v_run.run_id
            union
            select unnest(judged.leans_on) from pgclarify_private.verdict as judged where judged.run_id = v_run.run_id
        ),
        give_feedback.rating, v_comment, btrim(give_feedback.missing, E' \t\r\n\f\x0b'), v_person, v_run.model,
        v_run.prompt_version, v_rated.score, v_run.requested_by, v_run.requested_by_oid, v_giver,
        pgclarify_private.role_oid(v_giver)
    )
    on conflict on constraint feedback_key do update
    set
        rating = excluded.rating, comment = excluded.comment, missing = excluded.missing, given_by_oid = excluded.given_by_oid,
        updated_at = clock_timestamp()
    where (given.rating, given.comment, given.missing, given.given_by_oid)
        is distinct from (excluded.rating, excluded.comment, excluded.missing, excluded.given_by_oid);
    return found;
end
$$;

comment on function pgclarify_private.give_feedback(
    pgclarify_private.caller, bigint, integer, text, text, text, text
) is 'See give_feedback.';
grant execute on function pgclarify_private.give_feedback(
    pgclarify_private.caller, bigint, integer, text, text, text, text
) to pgclarify_user;
