-- Statements of the page where people ask: pgclarify ui.

-- name: page_begin
-- First in each transaction. Names are looked for in no schema of a person or of the database's owner, because code there could
-- become each role that the login was granted; and no statement, also one that waits for a lock, takes longer than half a
-- minute, because people share connections.
select
    pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true),
    pg_catalog.set_config('statement_timeout', '30s', true);

-- name: page_begin_reading
-- Until this transaction ends, nothing can be stored.
select pg_catalog.set_config('transaction_read_only', 'on', true);

-- name: page_describe_login
-- The login of the page's connections, and whether it has rights that no person behind a proxy may have.
select
    session_user::text as login,
    current_setting('pgclarify.page_url', true) as page_url,
    exists(
        select from pg_catalog.pg_roles as powerful
        where
            (
                powerful.rolsuper
                or powerful.rolbypassrls
                or powerful.rolname ~ '^pgclarify_(owner|views|worker|loopback|capture|role_maker)$'
                or powerful.oid in (
                    select present.datdba from pg_catalog.pg_database as present
                    where present.datname = current_database()
                )
            )
            and pg_catalog.pg_has_role(session_user, powerful.oid, 'usage')
    ) as is_powerful;

-- name: page_act_as
-- Become a role until the end of this transaction, and return its name; no row if the login may not, or the role has more
-- rights than a person who asks. A membership in a role counts even if it is not inherited.
select pg_catalog.set_config('role', person.rolname, true) as role
from pg_catalog.pg_roles as person
inner join pg_catalog.pg_auth_members as granted on person.oid = granted.roleid
inner join pg_catalog.pg_roles as login on granted.member = login.oid
where
    -- As a name, a longer text would be cut, and could be the role of another person.
    person.rolname::text = %(role)s::text
    -- As a value of the setting, it would mean the login itself.
    and person.rolname <> 'none'
    and login.rolname = session_user
    and granted.set_option
    and not exists (
        select from pg_catalog.pg_auth_members as inherited
        where inherited.roleid = person.oid and inherited.member = login.oid and inherited.inherit_option
    )
    and not exists (
        select from pg_catalog.pg_roles as powerful
        where
            (
                powerful.rolsuper
                or powerful.rolbypassrls
                or powerful.rolname ~ '^pgclarify_(owner|views|worker|loopback|capture|role_maker)$'
                or powerful.oid in (
                    select present.datdba from pg_catalog.pg_database as present
                    where present.datname = current_database()
                )
            )
            and pg_catalog.pg_has_role(person.oid, powerful.oid, 'member')
    )
limit 1;

-- name: page_read_surroundings
-- What stands around each page: who asks, the corpora, budgets that bind, and whether a worker and a language model are there.
select
    current_user::text as seen_by,
    array(select corpus.corpus from pgclarify.corpus order by corpus.corpus) as corpora,
    array(
        select to_jsonb(budget) from pgclarify.budget where budget.role_exists
        order by budget.left_usd, budget.left_calls, budget.name
    ) as budgets,
    array(
        select distinct worker_status.model from pgclarify.worker_status
        where worker_status.is_alive and worker_status.provider <> 'extractive'
    ) as models,
    exists(select from pgclarify.worker_status where worker_status.is_alive) as has_worker;

-- name: page_list_questions
-- The latest questions of the role itself, newest first.
select
    run.run_id, run.operation, run.question, run.corpus, run.status, run.created_at, run.interpretations
from pgclarify.run
where run.requested_by = current_user and pgclarify_private.answers_questions(run.operation)
order by run.run_id desc
limit 20;

-- name: page_read_progress
-- How far a run is: passages that were found, and those that were judged.
select
    run.status, run.finished_at is not null as is_over, run.candidates, run.verdicts,
    run.requested_by = current_user as is_own,
    exists(select from pgclarify.worker_status where worker_status.is_alive) as has_worker
from pgclarify.run
where run.run_id = %(run_id)s;

-- name: page_find_quote
-- A citation of a run.
select
    citation.corpus_id, citation.document_id, citation.title, citation.heading, citation.quote, citation.start_char,
    citation.candidate_rank, null as outcome, null as reason, null::integer as passage_start, null::integer as passage_end
from pgclarify.citation
where citation.run_id = %(run_id)s and citation.ordinal = %(ordinal)s and citation.rank = %(rank)s;

-- name: page_find_passage
-- A passage that a run found, with what was decided about it.
select
    candidate.corpus_id, candidate.document_id, null as title, candidate.heading, verdict.quote, verdict.start_char,
    candidate.rank as candidate_rank, verdict.outcome, verdict.reason,
    passage.start_char as passage_start, passage.start_char + length(passage.content) as passage_end
from pgclarify_private.caller as caller
cross join pgclarify.candidate
left join pgclarify.verdict on candidate.run_id = verdict.run_id and candidate.rank = verdict.rank
left join lateral pgclarify_private.readable_passages(
    caller, candidate.corpus_id, array[candidate.document_id], array[candidate.passage_id]
) as passage on true
where candidate.run_id = %(run_id)s and candidate.rank = %(rank)s;

-- name: page_list_copies
-- Passages of a run with the same text as one of them, which stand elsewhere; and the citation of each, if there is one.
with this as (
    select coalesce(nullif(candidate.copy_of, 0), candidate.rank) as original
    from pgclarify.candidate
    where candidate.run_id = %(run_id)s and candidate.rank = %(rank)s
)

select
    candidate.rank, candidate.document_id, document.title, document.dated,
    min(citation.ordinal) as ordinal, min(citation.rank) as citation_rank
from this
cross join pgclarify.candidate
left join pgclarify.document on candidate.corpus_id = document.corpus_id and candidate.document_id = document.id
left join pgclarify.citation
    on candidate.run_id = citation.run_id and candidate.rank = citation.candidate_rank and citation.ordinal = %(ordinal)s
where
    candidate.run_id = %(run_id)s
    and candidate.rank <> %(rank)s
    and coalesce(nullif(candidate.copy_of, 0), candidate.rank) = this.original
group by candidate.rank, candidate.document_id, document.title, document.dated
order by candidate.rank;

-- name: page_read_document
-- A part of a document as it is stored: around a quote, around a passage, or from an offset; with where the quote is now.
with found as materialized (
    select
        document.*,
        pgclarify_private.quote_position(document.content, %(quote)s::text, %(start_char)s::integer) as quote_start
    from pgclarify_private.caller as caller
    cross join pgclarify.corpus
    cross join lateral pgclarify_private.get_document(caller, corpus.corpus, %(document_id)s) as document
    where corpus.corpus_id = %(corpus_id)s
),

placed as (
    select
        found.*,
        length(found.content) as length,
        greatest(
            0,
            coalesce(
                %(from_char)s::integer,
                coalesce(found.quote_start, %(passage_start)s::integer, 0) - %(most)s::integer / 2
            )
        ) as start_char
    from found
)

select
    placed.id as document_id, placed.title, placed.uri, placed.dated, placed.updated_at, placed.origin, placed.places,
    placed.length, placed.quote_start, placed.start_char,
    pgclarify_private.place_at(placed.places, coalesce(placed.quote_start, %(passage_start)s::integer)) as place,
    substr(placed.content, placed.start_char + 1, %(most)s::integer) as content
from placed;

-- name: page_read_ratings
-- What the role itself has said about a run.
select ordinal, rating, comment, missing
from pgclarify.feedback
where run_id = %(run_id)s and given_by = current_user and person is null;

-- name: page_give_feedback
-- Keep what the role says of a run, or take it back.
select
    pgclarify.give_feedback(
        run_id => %(run_id)s, ordinal => %(ordinal)s, rating => %(rating)s, comment => %(comment)s, missing => %(missing)s
    ) as has_changed;
