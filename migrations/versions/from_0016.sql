-- From revision 0016, the last one before the baseline, to the baseline, with all data.

-- What one role cannot read no longer shows in the revisions, counts and scores of another: restricted passages are counted
-- apart. Workers apply the term counts.
create table pgclarify.reader_revision (
    reader_revision_id bigint generated always as identity,
    corpus_id bigint not null
        constraint reader_revision_corpus_id_fk references pgclarify.corpus on delete cascade,
    reader name not null,
    revision bigint not null default 0,
    graph_revision bigint not null default 0,
    constraint reader_revision_pk primary key (reader_revision_id)
);
create index reader_revision_corpus_id_reader_idx on pgclarify.reader_revision (corpus_id, reader);
comment on table pgclarify.reader_revision is
    'Changes of restricted documents, for each role in their readers, as increments: their sum is the count. '
    'Writers append; workers fold the rows of a reader into one. Changes of documents without readers are in '
    'corpus_tally.';
comment on column pgclarify.reader_revision.reader_revision_id is 'Key.';
comment on column pgclarify.reader_revision.corpus_id is 'The corpus.';
comment on column pgclarify.reader_revision.reader is 'A role in readers of the documents that changed.';
comment on column pgclarify.reader_revision.revision is 'Changes of the content that it can find.';
comment on column pgclarify.reader_revision.graph_revision is
    'How often passages that it can read got neighbors.';

alter table pgclarify.corpus_tally
    add column restricted_lexemes bigint not null default 0,
    add column graph_revision bigint not null default 0;
comment on column pgclarify.corpus_tally.restricted_lexemes is
    'The same as lexemes, of passages with readers of their own.';
comment on column pgclarify.corpus_tally.revision is
    'Changes of the searchable content without readers of its own.';
comment on column pgclarify.corpus_tally.graph_revision is
    'How often passages without readers of their own got neighbors.';
comment on column pgclarify.corpus.revision is
    'How often its searchable content without readers of its own changed, without what still stands in '
    'corpus_tally.';

alter table pgclarify.term add column restricted_passages bigint not null default 0;
comment on column pgclarify.term.restricted_passages is
    'The same as passages, of those with readers of their own.';
alter table pgclarify.term_change add column restricted_passages bigint not null default 0;
comment on column pgclarify.term_change.restricted_passages is
    'What to add to term.restricted_passages.';

alter table pgclarify.run rename column linked_passages to graph_revision;
comment on column pgclarify.run.graph_revision is
    'How often passages that its role can read had got neighbors when it was last started: a run that explores '
    'is served again only while that is so.';
comment on column pgclarify.run.corpus_revision is
    'Revision of the corpus when it was last started, as its role sees it.';

insert into pgclarify.term_change (corpus_id, lexeme, passages, restricted_passages)
select passage.corpus_id, occurrence.lexeme, 0, count(*)
from pgclarify.passage
cross join unnest(tsvector_to_array(passage.lexemes)) as occurrence (lexeme)
where passage.readers is not null and passage.corpus_id in (select corpus_id from pgclarify.corpus)
group by passage.corpus_id, occurrence.lexeme;
insert into pgclarify.corpus_tally (corpus_id, restricted_lexemes)
select passage.corpus_id, sum(passage.lexeme_count)
from pgclarify.passage
where passage.readers is not null and passage.corpus_id in (select corpus_id from pgclarify.corpus)
group by passage.corpus_id;
-- So that runs of before go on being served.
insert into pgclarify.corpus_tally (corpus_id, graph_revision)
select corpus_tally.corpus_id, sum(corpus_tally.linked)
from pgclarify.corpus_tally
group by corpus_tally.corpus_id
having sum(corpus_tally.linked) <> 0;

-- A role is its name and its oid.
create table pgclarify.named_role (
    named_role_id bigint generated always as identity,
    name name not null,
    role_oid oid not null,
    noted_at timestamptz not null default now(),
    constraint named_role_pk primary key (named_role_id)
);
create index named_role_name_idx on pgclarify.named_role (name);
comment on table pgclarify.named_role is
    'Which role a name means that admits: reader or analyst of a corpus, reader of a document, role of a '
    'budget. It is the role that had the name when it was first written. Another role of that name is not '
    'admitted until pgclarify init --adopt-roles. A name may stand twice, from two transactions at once: with '
    'a unique key, one would wait for the other.';
comment on column pgclarify.named_role.named_role_id is 'Key.';
comment on column pgclarify.named_role.name is 'The name.';
comment on column pgclarify.named_role.role_oid is 'Oid of the role that it means.';
comment on column pgclarify.named_role.noted_at is 'When that was noted.';

-- 0 is no role's oid: there was none of that name.
alter table pgclarify.corpus add column owner_oid oid not null default 0;
alter table pgclarify.run add column requested_by_oid oid not null default 0;
alter table pgclarify.conversation add column requested_by_oid oid not null default 0;
alter table pgclarify.eval_run add column requested_by_oid oid not null default 0;
alter table pgclarify.citation_tally add column requested_by_oid oid not null default 0;
alter table pgclarify.source add column attached_by_oid oid not null default 0;
update pgclarify.corpus set owner_oid = oid from pg_roles where rolname = owner;
update pgclarify.run set requested_by_oid = oid from pg_roles where rolname = requested_by;
update pgclarify.conversation set requested_by_oid = oid from pg_roles where rolname = requested_by;
update pgclarify.eval_run set requested_by_oid = oid from pg_roles where rolname = requested_by;
update pgclarify.citation_tally set requested_by_oid = oid from pg_roles where rolname = requested_by;
update pgclarify.source set attached_by_oid = oid from pg_roles where rolname = attached_by;
alter table pgclarify.corpus alter column owner_oid drop default;
alter table pgclarify.run alter column requested_by_oid set default quote_ident(current_user)::regrole;
alter table pgclarify.conversation alter column requested_by_oid set default quote_ident(current_user)::regrole;
alter table pgclarify.eval_run alter column requested_by_oid set default quote_ident(current_user)::regrole;
alter table pgclarify.citation_tally
    alter column requested_by_oid drop default,
    drop constraint citation_tally_pk,
    add constraint citation_tally_pk
        primary key (corpus_id, document_id, requested_by, requested_by_oid);
alter table pgclarify.source alter column attached_by_oid drop default;
comment on column pgclarify.corpus.owner_oid is 'Its oid: another role of that name is not the owner.';
comment on column pgclarify.run.requested_by_oid is 'Its oid: another role of that name did not ask.';
comment on column pgclarify.conversation.requested_by_oid is 'Its oid: another role of that name did not ask.';
comment on column pgclarify.eval_run.requested_by_oid is 'Its oid: another role of that name did not evaluate.';
comment on column pgclarify.citation_tally.requested_by_oid is 'Its oid.';
comment on column pgclarify.source.attached_by_oid is 'Its oid: another role of that name did not attach it.';

insert into pgclarify.named_role (name, role_oid)
select rolname, oid
from pg_roles
where
    rolname in (
        select reader from pgclarify.corpus
        union
        select analyst from pgclarify.corpus
        union
        select role_name from pgclarify.budget
        union
        select unnest(readers) from pgclarify.document
    )
    and rolname !~ '^pgclarify_(owner|table_reader|reader|user|worker|loopback)$'
order by rolname;

drop index pgclarify.run_requested_by_run_id_idx;
create index run_requested_by_oid_run_id_idx on pgclarify.run (requested_by_oid, run_id);
drop index pgclarify.conversation_requested_by_conversation_id_idx;
create index conversation_requested_by_oid_conversation_id_idx
    on pgclarify.conversation (requested_by_oid, conversation_id);
-- Views read this index alone, and policies now need the oid.
drop index pgclarify.run_question_group_id_idx;
create index run_question_group_id_idx on pgclarify.run (question_group_id, run_id) include (
    operation, corpus_id, corpus_name, requested_by, status, interpretations, served, is_counted, created_at,
    last_served_at, corpus_revision, requested_by_oid
) where question_group_id is not null;

-- Workers live by a heartbeat and a lease, and runs count the workers that were lost with them.
alter table pgclarify.worker
    add column lease interval not null default '20 seconds'
        constraint worker_lease_is_positive check (lease > interval '0 seconds');
comment on table pgclarify.worker is
    'A worker process. It is alive while its session holds the advisory lock (1885823084, worker_id) and its '
    'last heartbeat, seen_at, is not older than its lease.';
comment on column pgclarify.worker.lease is 'How long after seen_at it still counts as alive.';

alter table pgclarify.run
    add column crashes integer not null default 0
        constraint run_crashes_is_not_negative check (crashes >= 0);
comment on column pgclarify.run.crashes is
    'How many workers in a row were lost while they carried it out, since an attempt of it last stored a '
    'reply: from 2 on it is carried out alone, and at 10 it fails.';

-- Budgets, rules of ambiguity and evaluations are written through functions.
-- Functions write these now.
drop policy if exists budget_is_inserted_by_the_owner_of_the_corpus on pgclarify.budget;
drop policy if exists budget_is_updated_by_the_owner_of_the_corpus on pgclarify.budget;
drop policy if exists budget_is_deleted_by_the_owner_of_the_corpus on pgclarify.budget;
drop policy if exists ambiguity_rule_is_inserted_by_the_owner_of_the_corpus on pgclarify.ambiguity_rule;
drop policy if exists ambiguity_rule_is_updated_by_the_owner_of_the_corpus on pgclarify.ambiguity_rule;
drop policy if exists ambiguity_rule_is_deleted_by_the_owner_of_the_corpus on pgclarify.ambiguity_rule;
drop policy if exists eval_run_is_inserted_by_who_evaluates on pgclarify.eval_run;
drop policy if exists eval_run_is_updated_by_who_evaluates on pgclarify.eval_run;
drop policy if exists eval_run_is_deleted_by_who_evaluates on pgclarify.eval_run;
drop policy if exists eval_case_is_inserted_by_who_evaluates on pgclarify.eval_case;
drop policy if exists eval_case_is_deleted_by_who_evaluates on pgclarify.eval_case;
drop policy if exists eval_metric_is_inserted_by_who_evaluates on pgclarify.eval_metric;
drop policy if exists eval_metric_is_deleted_by_who_evaluates on pgclarify.eval_metric;

-- Unique among all budgets, a name would show that a hidden budget has it.
alter table pgclarify.budget
    drop constraint budget_name_key,
    add constraint budget_name_key unique nulls not distinct (corpus_id, name);
drop index pgclarify.budget_corpus_id_idx;
comment on column pgclarify.budget.name is
    'What runs that meet it call it: 1 to 100 characters, unique among the budgets of its corpus, or of all.';
comment on table pgclarify.budget is
    'What may be spent on calls of models; set_budget and remove_budget write it, budget_status has what is '
    'left.';
comment on table pgclarify.ambiguity_rule is
    'A question that matches a rule is ambiguous; add_ambiguity_rule and remove_ambiguity_rule write it.';
comment on table pgclarify.eval_run is
    'An evaluation: one method with one configuration over one data set. Written by pgclarify eval run; '
    'remove_evaluation removes one, with its cases and metrics.';

-- Long documents are indexed part by part, and what waits is counted in passages.
alter table pgclarify.pending_document
    add column passages integer not null default 1
        constraint pending_document_has_passages check (passages >= 1),
    add column is_long boolean not null default false,
    add column batch_id uuid,
    add column staged_passages integer not null default 0,
    add column staged_chars integer not null default 0,
    add constraint pending_document_staged_is_long check (is_long or batch_id is null);
comment on column pgclarify.pending_document.passages is
    'How many of its passages wait to be embedded, about; at least 1.';
comment on column pgclarify.pending_document.is_long is
    'Whether a worker has found that it takes several steps, each with its next part.';
comment on column pgclarify.pending_document.batch_id is
    'Where in staged_passage its passages are that have been embedded; null if none has been.';
comment on column pgclarify.pending_document.staged_passages is 'How many those are.';
comment on column pgclarify.pending_document.staged_chars is
    'Where its next part starts; its length once all are staged.';
drop index pgclarify.pending_document_corpus_id_added_at_idx;
create index pending_document_corpus_id_is_long_added_at_idx
    on pgclarify.pending_document (corpus_id, is_long, added_at);
comment on table pgclarify.staged_passage is
    'Where a worker copies passages before one statement moves them into place: of a long document, part by '
    'part. Unlogged: a crash loses nothing but work.';

alter table pgclarify.corpus_tally add column pending_passages bigint not null default 0;
comment on column pgclarify.corpus_tally.pending_passages is
    'Passages of pending documents, about, less those embedded.';
insert into pgclarify.corpus_tally (corpus_id, pending_passages)
select pending.corpus_id, count(*) from pgclarify.pending_document as pending group by pending.corpus_id;

-- What the ledger, verdicts and evaluations keep of a document can be found, and erased.
alter table pgclarify.completion add column erased_at timestamptz;
comment on column pgclarify.completion.erased_at is
    'When its text was erased with a document; null if it was not. Its input_hash is random since then, so '
    'that an equal input is asked anew.';
comment on column pgclarify.completion.reply is 'What the model said; null while nobody knows, or once erased.';
alter table pgclarify.completion
    drop constraint completion_finished_has_a_reply,
    add constraint completion_finished_has_a_reply check (
        case when erased_at is null then (finished_at is null) = (reply is null) else reply is null end
    ),
    drop constraint completion_cost_is_of_a_reply,
    add constraint completion_cost_is_of_a_reply check (cost_usd is null or finished_at is not null);

create table pgclarify.completion_document (
    completion_id bigint not null
        constraint completion_document_completion_id_fk
        references pgclarify.completion (completion_id) on delete cascade,
    corpus_id bigint not null,
    document_id text not null,
    constraint completion_document_pk primary key (completion_id, corpus_id, document_id)
);
create index completion_document_corpus_id_document_id_idx
    on pgclarify.completion_document (corpus_id, document_id);
comment on table pgclarify.completion_document is
    'Which documents stood in the input of a reply: erase_document finds replies by it.';
comment on column pgclarify.completion_document.completion_id is 'The row of the ledger.';
comment on column pgclarify.completion_document.corpus_id is 'The corpus, which may have been dropped since.';
comment on column pgclarify.completion_document.document_id is 'The document, which may have gone since.';
-- Of the calls that judge one passage. Of others, all of a run that had the document are taken to have it.
insert into pgclarify.completion_document (completion_id, corpus_id, document_id)
select verdict.completion_id, candidate.corpus_id, candidate.document_id
from pgclarify.verdict
inner join pgclarify.completion on completion.completion_id = verdict.completion_id
inner join pgclarify.candidate on candidate.run_id = verdict.run_id and candidate.rank = verdict.rank
union
-- No verdict names them: replies that were asked for again, or that came after the end of their run.
select completion.completion_id, candidate.corpus_id, candidate.document_id
from pgclarify.completion
inner join pgclarify.candidate on candidate.run_id = completion.run_id
where completion.purpose = 'verdict'
    and not exists (
        select from pgclarify.verdict
        where verdict.run_id = completion.run_id and verdict.completion_id = completion.completion_id
    );

create index candidate_corpus_id_document_id_idx on pgclarify.candidate (corpus_id, document_id);
alter table pgclarify.verdict
    drop constraint verdict_outcome_is_known,
    add constraint verdict_outcome_is_known
    check (outcome in ('grounded', 'abstained', 'failed', 'erased'));
comment on column pgclarify.verdict.outcome is
    'grounded (the passage answers a reading), abstained (it does not), failed (it could not be judged) or '
    'erased (what was decided is gone with its document).';
create index eval_case_document_ids_idx on pgclarify.eval_case
    using gin (jsonb_path_query_array(output, '$.**.document_id'));
create index detection_document_ids_idx on pgclarify.detection
    using gin (jsonb_path_query_array(reasons, '$[*].document_ids[*]'));
create index detection_unattributed_idx on pgclarify.detection (run_id)
    where reasons @? '$[*] ? (@.source == "corpus" && !exists(@.document_ids))';
alter table pgclarify.detection alter column probability drop not null;
comment on column pgclarify.detection.probability is
    'Of being ambiguous, from 0 to 1; 1 if a rule matched; null for a question in another language than English.';
comment on column pgclarify.detection.reasons is
    'What spoke: array of objects with source (classifier, feature, rule or corpus), name and text, and of a '
    'corpus document_ids.';

-- Runs have a stop code.
alter table pgclarify.run
    add column stop_code text,
    add constraint run_stop_code_is_known check (
        stop_code in ('not_answered', 'no_language_model', 'language', 'threshold', 'unproven', 'repeated',
        'no_passage', 'contradicted', 'limit', 'budget', 'failed_calls')
    ),
    add constraint run_stop_code_is_of_an_end check (stop_code is null or status in ('succeeded', 'partial'));
comment on column pgclarify.run.stop_code is
    'Why it has no result, or not all of it, in one word; null if it has its whole result, has failed, or goes '
    'on.';
-- Runs of before, as far as their rows tell; the words are those of the functions of that version.
update pgclarify.run
set stop_code = case
    when
        run.stop_reason like 'budget "%" is spent'
        or run.stop_reason like 'budget "%" has no room for a call that may cost % US dollars'
        or run.stop_reason like 'model "%" has no price, which budget "%" goes by'
        then 'budget'
    when run.status = 'partial' then 'failed_calls'
    when run.candidates = 0 then 'no_passage'
    when run.model ~ '^extractive-[0-9]+$' then 'no_language_model'
    else 'not_answered'
end
where
    run.status = 'partial'
    or run.status = 'succeeded' and run.operation in ('clarify', 'consolidate') and run.interpretations = 0;
alter type pgclarify.run_outcome add attribute stop_code text;
comment on column pgclarify.run_outcome.stop_code is
    'Why it has no result, or not all of it, in one word; null if it has its whole result, has failed, or goes '
    'on.';
alter type pgclarify.question_clarification add attribute stop_code text;
comment on column pgclarify.question_clarification.stop_code is 'As in run_outcome.';
-- Views of questions read this index alone.
drop index pgclarify.run_question_group_id_idx;
create index run_question_group_id_idx on pgclarify.run (question_group_id, run_id) include (
    operation, corpus_id, corpus_name, requested_by, status, interpretations, served, is_counted, created_at,
    last_served_at, corpus_revision, requested_by_oid, stop_code
) where question_group_id is not null;

-- Documents say which files they are from.
alter table pgclarify.document
    add column origin text collate "C"
        constraint document_origin_is_short check (octet_length(origin) <= 2600);
create index document_corpus_id_origin_idx on pgclarify.document (corpus_id, origin) where origin <> '';
comment on column pgclarify.document.origin is
    'The file that it was loaded from: machine:/path/file, or name/path/file if its source was given a name; '
    'and #id for one of several documents in a file. Empty if a statement or a client added it. Null if it is '
    'a row of an attached table, or was added before this column was.';

-- What only pgclarify itself uses moves to schema pgclarify_private, without an underscore.
do $$
declare
    v_object record;
    v_table text;
begin
    -- Those of other owners are made anew by the install.
    for v_object in
        select pg_proc.oid::regprocedure as signature
        from pg_proc
        where
            pg_proc.pronamespace = 'pgclarify'::regnamespace
            and pg_proc.proname ~ '^_(read_[0-9]+_[0-9a-f]{8}|make_reader_role|drop_reader_role)$'
    loop
        execute format('drop function %s', v_object.signature);
    end loop;
    for v_object in
        select pg_proc.oid, pg_proc.oid::regprocedure as signature, substr(pg_proc.proname, 2) as name
        from pg_proc
        where pg_proc.pronamespace = 'pgclarify'::regnamespace and starts_with(pg_proc.proname, '_')
    loop
        execute format('alter routine %s set schema pgclarify_private', v_object.signature);
        execute format('alter routine %s rename to %I', v_object.oid::regprocedure, v_object.name);
    end loop;
    for v_object in
        select pg_class.relname as name
        from pg_class
        where
            pg_class.relnamespace = 'pgclarify'::regnamespace
            and pg_class.relkind = 'v'
            and starts_with(pg_class.relname, '_')
    loop
        execute format('alter view pgclarify.%I set schema pgclarify_private', v_object.name);
        execute format('alter view pgclarify_private.%I rename to %I', v_object.name, substr(v_object.name, 2));
    end loop;
    foreach v_table in array array[
        'applied_sql', 'budget_counter', 'caller_key', 'change', 'citation_tally', 'completion_document',
        'corpus_tally', 'loopback', 'named_role', 'neighborhood', 'passage_embedding', 'pending_cut',
        'pending_document', 'pending_link', 'pending_passage', 'pending_unlink', 'question_group', 'question_wording',
        'reader_revision', 'served_answer', 'staged_passage', 'term', 'term_change', 'source', 'worker'
    ]
    loop
        execute format('alter table pgclarify.%I set schema pgclarify_private', v_table);
    end loop;
    for v_object in
        select pg_class.relname as name
        from pg_class
        where
            pg_class.relnamespace = 'pgclarify'::regnamespace
            and pg_class.relkind = 'r'
            and pg_class.relispartition
    loop
        execute format('alter table pgclarify.%I set schema pgclarify_private', v_object.name);
    end loop;
end
$$;
alter sequence pgclarify.passage_id_seq set schema pgclarify_private;
comment on column pgclarify.corpus.corpus_id is
    'Key; also names the partition pgclarify_private.passage_<corpus_id>.';
comment on column pgclarify.embedding_space.embedding_space_id is
    'Key; also names the partition pgclarify_private.passage_embedding_<embedding_space_id>.';
comment on column pgclarify_private.source.source_id is
    'Key; also names the function pgclarify_private.capture_<source_id>.';

-- One row notes the keys of a statement, not one for each.
drop view if exists pgclarify_capture.change;
alter table pgclarify_private.change
    alter column key type text[] using case when key is not null then array[key] end;
alter table pgclarify_private.change rename column key to keys;
comment on table pgclarify_private.change is
    'Pending changes of an attached table. Triggers append rows and do nothing else; workers take them.';
comment on column pgclarify_private.change.keys is
    'Values of the id column, as text: of one row, or some of those of a statement; null if any row may have changed: TRUNCATE, '
    'or a column that is gone.';

-- A constraint says what a pattern is, without a function.
alter table pgclarify.ambiguity_rule
    drop constraint ambiguity_rule_pattern_is_fit,
    add constraint ambiguity_rule_pattern_is_fit check (length(pattern) between 1 and 500 and not '' ~* pattern);

-- Runs and verdicts say in codes why they failed or abstained, and runs which budget stopped them.
alter table pgclarify.run
    add column error_code text,
    add column budget_id bigint;
comment on column pgclarify.run.error_code is
    'Why it failed, as a SQLSTATE that docs/errors.md lists; of a partial rewrite, why its call failed; null otherwise.';
comment on column pgclarify.run.budget_id is
    'The first budget that let no further call through, which may have been dropped; null if none did.';

-- Input that an endpoint has read before is counted, and may have a price of its own.
alter table pgclarify.completion add column cached_tokens integer;
comment on column pgclarify.completion.cached_tokens is
    'Those of prompt_tokens that the endpoint had read before; null if it did not say.';
alter table pgclarify.run add column cached_tokens bigint;
comment on column pgclarify.run.cached_tokens is 'Those of prompt_tokens that the endpoint had read before.';
alter table pgclarify.model_price
    add column cached_input_usd numeric,
    add constraint model_price_cached_input_usd_is_no_higher check (cached_input_usd between 0 and input_usd);
comment on column pgclarify.model_price.cached_input_usd is
    'US dollars for a million tokens of input that the endpoint has read before; null if they cost input_usd.';
-- A view reads this index alone, and policies now need the oid.
drop index pgclarify.run_usage_idx;
create index run_usage_idx on pgclarify.run (((created_at at time zone 'UTC')::date)) include (
    created_at, corpus_id, corpus_name, requested_by, operation, model, finished_at, completions,
    reused_completions, prompt_tokens, completion_tokens, cost_usd, requested_by_oid, cached_tokens
);

alter table pgclarify.verdict
    add column abstention_code text,
    add column error_code text;
comment on column pgclarify.verdict.abstention_code is 'Why it abstained, in one word; null unless it did.';
comment on column pgclarify.verdict.error_code is 'What went wrong, as a SQLSTATE; null unless failed.';

-- What rows of before say in words; the words are those of that version.
create function pgclarify_private.code_of(error text) returns text language sql immutable return case
    when error like 'budget "%' then 'PC007'
    when error like 'model "%" has no price, which budget "%' then 'PC008'
    when error like '%takes a language model:%' then 'PC009'
    when error ~ '^(the corpus cannot be searched: )?no (embedding model|cross-encoder) '
        or error like 'the corpus cannot be searched: %' then 'PC011'
    when error like 'the endpoint refused the request%' then 'PC014'
    when error ~ '^the endpoint(''s answer is too large| did not answer in time| failed)' then 'PC017'
    when error like 'the endpoint%' then 'PC013'
    when error ~ '^the (model''s )?reply ' or error ~ '^the model (gave|named|proposed) ' then 'PC015'
    else 'XX000'
end;
update pgclarify.run
set error_code = case
    when run.error like 'the corpus was dropped%' then '42704'
    when run.error like 'the role that asked may not search%' then '42501'
    when run.error like '% workers in a row were lost%' then 'PC016'
    else pgclarify_private.code_of(run.error)
end
where run.error is not null;
update pgclarify.run
set budget_id = budget.budget_id
from pgclarify.budget
where starts_with(run.stop_reason, format('budget "%s" ', budget.name))
    or starts_with(run.stop_reason, 'model "')
    and right(run.stop_reason, 23 + length(budget.name)) = format('which budget "%s" goes by', budget.name);
update pgclarify.verdict
set
    abstention_code = case
        when verdict.outcome = 'abstained' then case verdict.reason
            when 'the rules read no answer to the question in the passage' then 'no_language_model'
            when 'the answer that the rules read in the passage is too improbable' then 'threshold'
            when 'the quote does not occur in the passage' then 'unproven'
            else 'not_answered'
        end
    end,
    error_code = case
        -- What quotes an endpoint may say anything.
        when verdict.outcome = 'failed' then coalesce(nullif(pgclarify_private.code_of(verdict.error), 'PC009'), 'XX000')
    end
where verdict.outcome in ('abstained', 'failed');
drop function pgclarify_private.code_of(text);

alter table pgclarify.run
    add constraint run_error_has_a_code check (error is null or error_code is not null),
    add constraint run_error_code_is_of_a_failure check (error_code is null or status in ('partial', 'failed')),
    add constraint run_error_code_is_a_sqlstate check (error_code ~ '^[0-9A-Z]{5}$');
alter table pgclarify.verdict
    add constraint verdict_abstained_has_a_code
    check ((outcome = 'abstained') = (abstention_code is not null)),
    add constraint verdict_abstention_code_is_known
    check (
        abstention_code in (
            'not_answered', 'no_language_model', 'threshold', 'unproven', 'fragment', 'answer_not_quoted', 'beside_the_point',
            'about_another', 'not_confirmed'
        )
    ),
    add constraint verdict_failed_has_a_code check ((outcome = 'failed') = (error_code is not null)),
    add constraint verdict_error_code_is_known check (
        error_code in
        ('PC007', 'PC008', 'PC010', 'PC011', 'PC012', 'PC013', 'PC014', 'PC015', 'PC017', 'XX000')
    );
alter table pgclarify.stage
    drop constraint stage_name_is_known,
    add constraint stage_name_is_known
    check (
        name in (
            'detection', 'relaxation', 'retrieval', 'neighbors', 'reranking', 'judgement', 'confirmation', 'consolidation',
            'decomposition', 'sampling', 'answering', 'reasoning', 'rewriting', 'questioning', 'checking', 'listing'
        )
    );
comment on column pgclarify.stage.name is
    'detection, relaxation, retrieval, neighbors, reranking, judgement, confirmation, consolidation, decomposition, sampling, '
    'answering, reasoning, rewriting, questioning, checking or listing.';
comment on column pgclarify.stage.rows is
    'What it came to: passages, verdicts, interpretations, answers; null where nothing is counted.';
alter type pgclarify.run_outcome add attribute error_code text;
comment on column pgclarify.run_outcome.error_code is
    'Why it failed, as a SQLSTATE that docs/errors.md lists; of a partial rewrite, why its call failed; null otherwise.';
alter table pgclarify.step
    add column abstention_code text,
    add constraint step_abstention_code_is_known check (
        abstention_code in ('not_answered', 'no_passage', 'unproven', 'limit', 'budget', 'failed_calls')
    ),
    add constraint step_abstention_has_no_evidence check (abstention_code is null or outcome = 'not_in_corpus');
comment on column pgclarify.step.abstention_code is
    'Why there is no evidence, in one word; null unless that is the outcome, and for older steps.';
comment on column pgclarify.step.kind is
    'direct (the question itself, without a follow-up), follow_up (a question that it rests on) or conclusion (the '
    'answer to the whole question).';
update pgclarify.step
set abstention_code = case step.reason when 'the search found nothing' then 'no_passage' else 'not_answered' end
where
    step.outcome = 'not_in_corpus'
    and step.reason in (
        'the search found nothing', 'the passages do not answer it', 'the evidence does not answer the question',
        'the steps do not answer the question'
    );

-- Baselines for questions of several hops, and methods of dialogue.
alter table pgclarify.eval_run
    drop constraint eval_run_method_is_known,
    add constraint eval_run_method_is_known
    check (
        method in (
            'clarify', 'list_answers', 'investigate', 'search', 'detect_ambiguity', 'rewrite', 'clarifying_questions',
            'simulated_user', 'dtv', 'dtv_unverified', 'rac', 'one_pass', 'self_ask', 'list_at_once', 'always_rewrite',
            'few_shot', 'logistic_regression', 'human'
        )
    );
comment on column pgclarify.eval_run.method is
    'clarify, list_answers, investigate, search, detect_ambiguity, rewrite, clarifying_questions, simulated_user, a baseline '
    '(dtv, dtv_unverified, rac, one_pass, self_ask, list_at_once, always_rewrite, few_shot, logistic_regression), or human (the '
    'readings of the data set itself).';

-- A question may be clear, and lean on what was said before.
comment on column pgclarify.rewriting.was_ambiguous is
    'Whether it was ambiguous with what was said before; null for replies. False, with a reason: it is clear with that, '
    'and not alone.';
comment on column pgclarify.rewritten_question.was_ambiguous is
    'Whether it was ambiguous with what was said before. False, with a reason: it is clear with that, and not alone.';

-- Evaluations have strata.
alter table pgclarify.eval_metric
    add column stratum text,
    add constraint eval_metric_stratum_is_of_several check (stratum is null or ordinal is null),
    drop constraint eval_metric_key,
    add constraint eval_metric_key unique nulls not distinct (eval_run_id, metric, ordinal, stratum);
comment on table pgclarify.eval_metric is
    'How good a case was, or all cases together, or those of a stratum. docs/methods/evaluation.md says what each metric '
    'is.';
comment on column pgclarify.eval_run.judge is
    'Who judged what the method gave: lexical (no model), the name of a model, or lexical+ and this name.';
comment on column pgclarify.eval_metric.ordinal is 'The case; null for several cases together.';
comment on column pgclarify.eval_metric.low is
    'Lower end of the bootstrap 95 % interval; null for a case, or where there is none, as for a stratum of fewer than five '
    'cases.';
comment on column pgclarify.eval_metric.stratum is
    'The stratum whose cases are taken together, NAME=VALUE, such as answers=several, kind=polysemy or hops=3; null for a '
    'case, and for all cases together.';
comment on column pgclarify.eval_case.gold is
    'What is known of it: interpretations (interpretation, answers, document_ids), answer_sets, document_ids, is_ambiguous, '
    'rewrites, clarifying_questions, intent, strata (each NAME=VALUE).';
comment on column pgclarify.eval_case.output is
    'What the method gave: interpretations (interpretation, answer, support, is_grounded, citations with document_id, '
    'passage_id, title and quote), retrieved (document_id, passage_id), probability, questions (rewritten, asked back, or '
    'since each turn), notes.';

-- An embedding model may be behind an endpoint, which does not always answer.
comment on column pgclarify.embedding_space.error is
    'Why no worker could open or fill it, or documents wait for its model; null if none has failed.';

-- A worker makes the lists of a whole space in its memory.
alter table pgclarify.embedding_space
    add column linking_worker_id bigint,
    add constraint embedding_space_linking_worker_walks
        check (linking_worker_id is null or linking_document_id is not null);
comment on column pgclarify.embedding_space.linking_worker_id is
    'Worker that makes all lists in its memory. While it is alive no other links the space; null if none does.';

-- What embedding endpoints cost is counted.
create table pgclarify_private.embedding_usage (
    embedding_usage_id bigint generated always as identity,
    day date not null,
    corpus_id bigint,
    corpus_name text,
    requested_by name not null,
    requested_by_oid oid not null,
    operation text not null,
    model text not null,
    texts bigint not null,
    tokens bigint not null,
    unpriced_tokens bigint not null,
    cost_usd numeric not null,
    constraint embedding_usage_pk primary key (embedding_usage_id),
    constraint embedding_usage_key
        unique nulls not distinct (day, corpus_id, requested_by, requested_by_oid, operation, model),
    constraint embedding_usage_operation_is_known check (operation in ('embed_passages', 'embed_questions')),
    constraint embedding_usage_counts_are_not_negative check (texts >= 0 and tokens >= 0),
    constraint embedding_usage_unpriced_tokens_are_among_tokens check (unpriced_tokens between 0 and tokens),
    constraint embedding_usage_cost_usd_is_an_amount check (cost_usd >= 0 and cost_usd < 'infinity')
);
comment on table pgclarify_private.embedding_usage is
    'What embedding endpoints were used for, a row for each day, corpus, role and model.';
comment on column pgclarify_private.embedding_usage.embedding_usage_id is 'Key.';
comment on column pgclarify_private.embedding_usage.day is 'The day of UTC.';
comment on column pgclarify_private.embedding_usage.corpus_id is
    'The corpus, which may be gone; null for what was of none.';
comment on column pgclarify_private.embedding_usage.corpus_name is
    'Its name when the first of these texts were embedded; null if of none.';
comment on column pgclarify_private.embedding_usage.requested_by is 'Role that asked, or owns the corpus.';
comment on column pgclarify_private.embedding_usage.requested_by_oid is 'Its oid.';
comment on column pgclarify_private.embedding_usage.operation is
    'embed_passages (of a corpus), or embed_questions (also readings and answers of runs).';
comment on column pgclarify_private.embedding_usage.model is 'The embedding model, as in embedding_space.';
comment on column pgclarify_private.embedding_usage.texts is 'How many texts.';
comment on column pgclarify_private.embedding_usage.tokens is
    'Their tokens; half a token for each byte where the endpoint did not say.';
comment on column pgclarify_private.embedding_usage.unpriced_tokens is
    'Those that were embedded while the model had no price.';
comment on column pgclarify_private.embedding_usage.cost_usd is 'US dollars that the others cost.';

-- What a worker stores goes into the index together, with much less WAL.
drop index pgclarify.passage_lexemes_idx;
create index passage_lexemes_idx on pgclarify.passage using gin (lexemes) with (gin_pending_list_limit = 256);
