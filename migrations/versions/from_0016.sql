-- From revision 0016, the last one before the baseline, to the baseline, with all data.

-- Passages that a role cannot read no longer affect the revisions, counts and scores that it sees: restricted passages are
-- counted separately. Workers apply the term counts.
create table pgclarify.reader_revision (
    reader_revision_id bigint generated always as identity,
    corpus_id bigint not null
        constraint reader_revision_corpus_id_fk references pgclarify.corpus on delete cascade,
    reader name not null,
    revision bigint not null default 0,
    graph_revision bigint not null default 0,
    is_merged boolean not null default false,
    constraint reader_revision_pk primary key (reader_revision_id)
);
create index reader_revision_corpus_id_reader_idx on pgclarify.reader_revision (corpus_id, reader);
create index reader_revision_added_idx on pgclarify.reader_revision (corpus_id, reader) where not is_merged;
comment on table pgclarify.reader_revision is
    'Changes of restricted documents, for each role in their readers, as increments; their sum is the count. Writers only '
    'insert rows; workers merge the rows of a reader into one. Changes of documents without readers are in corpus_tally.';
comment on column pgclarify.reader_revision.reader_revision_id is 'Key.';
comment on column pgclarify.reader_revision.corpus_id is 'The corpus.';
comment on column pgclarify.reader_revision.reader is 'A role in readers of the changed documents.';
comment on column pgclarify.reader_revision.revision is 'Changes of the content that it can find.';
comment on column pgclarify.reader_revision.graph_revision is
    'How often passages that it can read got neighbors.';
comment on column pgclarify.reader_revision.is_merged is
    'Whether a worker has merged earlier rows into it. Rows that writers insert wait for that.';

alter table pgclarify.corpus_tally
    add column restricted_lexemes bigint not null default 0,
    add column graph_revision bigint not null default 0;
comment on column pgclarify.corpus_tally.restricted_lexemes is 'The same as lexemes, for passages that have their own readers.';
comment on column pgclarify.corpus_tally.revision is
    'Changes of the searchable content, without documents that have their own readers.';
comment on column pgclarify.corpus_tally.graph_revision is
    'How often passages without readers of their own got neighbors.';
comment on column pgclarify.corpus.revision is
    'How often its searchable content changed, without documents that have their own readers, and without changes that are '
    'still in corpus_tally.';

alter table pgclarify.term add column restricted_passages bigint not null default 0;
comment on column pgclarify.term.restricted_passages is 'The same as passages, for documents that have their own readers.';
alter table pgclarify.term_change add column restricted_passages bigint not null default 0;
comment on column pgclarify.term_change.restricted_passages is 'Number to add to term.restricted_passages.';

alter table pgclarify.run rename column linked_passages to graph_revision;
comment on column pgclarify.run.graph_revision is
    'Graph revision that the requesting role saw when the run was last started. A run that explores is only reused while '
    'this has not changed.';
comment on column pgclarify.run.corpus_revision is
    'Revision of the corpus, as the requesting role sees it, when the run was last started.';

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
-- So existing runs can still be reused.
insert into pgclarify.corpus_tally (corpus_id, graph_revision)
select corpus_tally.corpus_id, sum(corpus_tally.linked)
from pgclarify.corpus_tally
group by corpus_tally.corpus_id
having sum(corpus_tally.linked) <> 0;

-- A role is identified by its name and its oid.
create table pgclarify.named_role (
    named_role_id bigint generated always as identity,
    name name not null,
    role_oid oid not null,
    noted_at timestamptz not null default now(),
    constraint named_role_pk primary key (named_role_id)
);
create index named_role_name_idx on pgclarify.named_role (name);
comment on table pgclarify.named_role is
    'Which role a stored name means, where the name grants access: reader or analyst of a corpus, reader of a document, role '
    'of a budget. It is the role that had the name when it was first written. A later role of that name has no access until '
    'pgclarify init --adopt-roles. A name may have two rows, from two concurrent transactions: with a unique key, one would '
    'wait for the other.';
comment on column pgclarify.named_role.named_role_id is 'Key.';
comment on column pgclarify.named_role.name is 'The name.';
comment on column pgclarify.named_role.role_oid is 'Oid of the role.';
comment on column pgclarify.named_role.noted_at is 'When the row was written.';

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
comment on column pgclarify.corpus.owner_oid is 'Oid of the owner, so that another role of that name is not the owner.';
comment on column pgclarify.run.requested_by_oid is 'Oid of that role, so that another role of that name does not count.';
comment on column pgclarify.conversation.requested_by_oid is
    'Oid of that role, so that another role of that name does not count.';
comment on column pgclarify.eval_run.requested_by_oid is 'Oid of that role, so that another role of that name does not count.';
comment on column pgclarify.citation_tally.requested_by_oid is 'Oid of that role.';
comment on column pgclarify.source.attached_by_oid is 'Oid of that role, so that another role of that name does not count.';

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
-- Views read only this index, and policies now need the oid.
drop index pgclarify.run_question_group_id_idx;
create index run_question_group_id_idx on pgclarify.run (question_group_id, run_id) include (
    operation, corpus_id, corpus_name, requested_by, status, interpretations, served, is_counted, created_at,
    last_served_at, corpus_revision, requested_by_oid
) where question_group_id is not null;

-- A worker is alive by its heartbeat and lease, and runs count the workers that were lost with them.
alter table pgclarify.worker
    add column lease interval not null default '20 seconds'
        constraint worker_lease_is_positive check (lease > interval '0 seconds');
comment on table pgclarify.worker is
    'A worker process. It is alive while its session holds the advisory lock (1885823084, worker_id), and its last '
    'heartbeat, seen_at, is not older than its lease.';
comment on column pgclarify.worker.lease is 'How long after seen_at it counts as alive.';

alter table pgclarify.run
    add column crashes integer not null default 0
        constraint run_crashes_is_not_negative check (crashes >= 0);
comment on column pgclarify.run.crashes is
    'How many workers in a row were lost while executing it, since it last stored a reply. From 2 on it is executed alone, '
    'and at 10 it fails.';

-- Functions now write budgets, rules of ambiguity and evaluations.
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
    'Its name in the runs that it stops: 1 to 100 characters, unique among the budgets of its corpus, or among those of all '
    'corpora.';
comment on table pgclarify.budget is
    'Limits of spending on model calls. set_budget and remove_budget write it; budget_status shows what is left.';
comment on table pgclarify.ambiguity_rule is
    'A question that matches a rule is ambiguous; add_ambiguity_rule and remove_ambiguity_rule write it.';
comment on table pgclarify.eval_run is
    'An evaluation: one method with one configuration over one data set. Written by pgclarify eval run; '
    'remove_evaluation removes one, with its cases and metrics.';

-- Long documents are indexed in parts, and pending work is counted in passages.
alter table pgclarify.pending_document
    add column passages integer not null default 1
        constraint pending_document_has_passages check (passages >= 1),
    add column is_long boolean not null default false,
    add column batch_id uuid,
    add column staged_passages integer not null default 0,
    add column staged_chars integer not null default 0,
    add constraint pending_document_staged_is_long check (is_long or batch_id is null);
comment on column pgclarify.pending_document.passages is 'About how many of its passages wait to be embedded; at least 1.';
comment on column pgclarify.pending_document.is_long is
    'Whether a worker found that it takes several steps, each for its next part.';
comment on column pgclarify.pending_document.batch_id is
    'Its batch in staged_passage, with the passages that are embedded already; null if there are none.';
comment on column pgclarify.pending_document.staged_passages is 'How many there are.';
comment on column pgclarify.pending_document.staged_chars is
    'Where its next part starts; its length once all are staged.';
drop index pgclarify.pending_document_corpus_id_added_at_idx;
create index pending_document_corpus_id_is_long_added_at_idx
    on pgclarify.pending_document (corpus_id, is_long, added_at);
create index pending_document_added_at_idx on pgclarify.pending_document (added_at) where is_long;
alter table pgclarify.pending_document
    set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0);
comment on table pgclarify.staged_passage is
    'Staging table: a worker copies passages here, and one statement then moves them into place; those of a long document '
    'arrive in parts. Unlogged, because a crash only loses work.';

alter table pgclarify.corpus_tally add column pending_passages bigint not null default 0;
comment on column pgclarify.corpus_tally.pending_passages is
    'About how many passages pending documents have, minus those embedded.';
insert into pgclarify.corpus_tally (corpus_id, pending_passages)
select pending.corpus_id, count(*) from pgclarify.pending_document as pending group by pending.corpus_id;

-- Texts from a document in the ledger, in verdicts and in evaluations can be found and erased.
alter table pgclarify.completion add column erased_at timestamptz;
comment on column pgclarify.completion.erased_at is
    'When its text was erased with a document; null if it was not. Its input_hash is random since then, so that an equal '
    'input is asked again.';
comment on column pgclarify.completion.reply is 'The model''s reply; null while there is none, or once erased.';
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
    'The documents in the input of a reply; erase_document uses it to find replies.';
comment on column pgclarify.completion_document.completion_id is 'The row of the ledger.';
comment on column pgclarify.completion_document.corpus_id is 'The corpus, which may have been dropped.';
comment on column pgclarify.completion_document.document_id is 'The document, which may have been removed.';
-- A call that judges one passage has the document of this passage. Any other call counts as having all documents of its run.
insert into pgclarify.completion_document (completion_id, corpus_id, document_id)
select verdict.completion_id, candidate.corpus_id, candidate.document_id
from pgclarify.verdict
inner join pgclarify.completion on completion.completion_id = verdict.completion_id
inner join pgclarify.candidate on candidate.run_id = verdict.run_id and candidate.rank = verdict.rank
union
-- No verdict has these replies: they were requested again, or came after the end of their run.
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
    'grounded (the passage answers a reading), abstained (it does not), failed (it could not be judged) or erased (the '
    'verdict was erased with its document).';
create index eval_case_document_ids_idx on pgclarify.eval_case
    using gin (jsonb_path_query_array(output, '$.**.document_id'));
create index detection_document_ids_idx on pgclarify.detection
    using gin (jsonb_path_query_array(reasons, '$[*].document_ids[*]'));
create index detection_unattributed_idx on pgclarify.detection (run_id)
    where reasons @? '$[*] ? (@.source == "corpus" && !exists(@.document_ids))';
alter table pgclarify.detection alter column probability drop not null;
comment on column pgclarify.detection.probability is
    'Probability that it is ambiguous, from 0 to 1; 1 if a rule matched; null for a question in another language than English.';
comment on column pgclarify.detection.reasons is
    'The reasons: array of objects with source (classifier, feature, rule or corpus), name and text, and for a corpus '
    'document_ids.';

-- These texts quoted answers, without recording from which documents, so nothing hides them after a document is closed.
update pgclarify.detection
set reasons = (
    select
        jsonb_agg(
            case
                when reason.value ->> 'source' = 'corpus' then reason.value || jsonb_build_object(
                    'text', regexp_replace(reason.value ->> 'text', ', with the answer.*', '')
                )
                else reason.value
            end
            order by reason.ordinal
        )
    from jsonb_array_elements(detection.reasons) with ordinality as reason (value, ordinal)
)
where detection.reasons @? '$[*] ? (@.source == "corpus")';
update pgclarify.stage set note = null where stage.name in ('checking', 'answering', 'decomposition', 'listing', 'reasoning');

update pgclarify.run
set error = regexp_replace(run.error, ':? It replied: .*', '')
    || coalesce(substring(run.error from ' \([0-9]+ of [0-9]+ passages\)$'), '')
where run.error like '% It replied: %';

-- Runs have a stop code.
alter table pgclarify.run
    add column stop_code text,
    add constraint run_stop_code_is_known check (
        stop_code in ('not_answered', 'no_language_model', 'language', 'threshold', 'unproven', 'repeated',
        'no_passage', 'contradicted', 'limit', 'budget', 'failed_calls')
    ),
    add constraint run_stop_code_is_of_an_end check (stop_code is null or status in ('succeeded', 'partial'));
comment on column pgclarify.run.stop_code is
    'Why it has no result, or only a part of it, as a code; null if the result is complete, or if it has failed or is not '
    'over.';
-- Codes for existing runs, if their rows show the reason. The texts are messages of functions of that version.
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
    'Why it has no result, or only a part of it, as a code; null if the result is complete, or if it has failed or is not '
    'over.';
alter type pgclarify.question_clarification add attribute stop_code text;
comment on column pgclarify.search_result.score is 'As in the table candidate. Higher is better.';
comment on column pgclarify.search_result.origin is 'How it was found: dense, lexical or neighbor.';
comment on column pgclarify.question_clarification.status is
    'succeeded, partial, failed or cancelled. If there is no reading, the columns from ordinal to citations are null.';
comment on column pgclarify.question_clarification.stop_code is 'As in run_outcome.';
-- Views of questions read only this index.
drop index pgclarify.run_question_group_id_idx;
create index run_question_group_id_idx on pgclarify.run (question_group_id, run_id) include (
    operation, corpus_id, corpus_name, requested_by, status, interpretations, served, is_counted, created_at,
    last_served_at, corpus_revision, requested_by_oid, stop_code
) where question_group_id is not null;

-- Documents record the file that they come from.
alter table pgclarify.document
    add column origin text collate "C"
        constraint document_origin_is_short check (octet_length(origin) <= 2600);
create index document_corpus_id_origin_idx on pgclarify.document (corpus_id, origin) where origin <> '';
create index document_failed_idx on pgclarify.document (corpus_id, id) where error is not null;
comment on column pgclarify.document.origin is
    'The file that it was loaded from: machine:/path/file, or name/path/file if its source has a name; followed by #id if '
    'the file has several documents. Empty if a statement or a client added it. Null if it is a row of an attached table, or '
    'was added before this column existed.';

-- Objects that only pgclarify uses move to schema pgclarify_private, without an underscore.
do $$
declare
    v_object record;
    v_table text;
begin
    -- The install creates those of other owners again.
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

-- One row has all keys of a statement.
drop view if exists pgclarify_capture.change;
alter table pgclarify_private.change
    alter column key type text[] using case when key is not null then array[key] end;
alter table pgclarify_private.change rename column key to keys;
comment on table pgclarify_private.change is
    'Pending changes of an attached table. Triggers only insert rows; workers process them.';
comment on column pgclarify_private.change.keys is
    'Values of the id column, as text: of one row, or some of those of a statement. Null if any row may have changed: '
    'TRUNCATE, or a missing column.';

-- A constraint checks patterns, without a function.
alter table pgclarify.ambiguity_rule
    drop constraint ambiguity_rule_pattern_is_fit,
    add constraint ambiguity_rule_pattern_is_fit check (length(pattern) between 1 and 500 and not '' ~* pattern);

-- Runs and verdicts have codes for their failures and abstentions, and runs have the budget that stopped them.
alter table pgclarify.run
    add column error_code text,
    add column budget_id bigint;
comment on column pgclarify.run.error_code is
    'Why it failed, as a SQLSTATE that docs/errors.md lists; for a partial run, why calls failed; else null.';
comment on column pgclarify.run.budget_id is
    'The first budget that refused a call, which may have been removed; null if none did.';

-- Input that an endpoint has cached is counted, and may have its own price.
alter table pgclarify.completion add column cached_tokens integer;
comment on column pgclarify.completion.cached_tokens is
    'How many of prompt_tokens the endpoint had in its cache; null if it did not say.';
alter table pgclarify.run add column cached_tokens bigint;
comment on column pgclarify.run.cached_tokens is 'How many of prompt_tokens the endpoint had in its cache.';
alter table pgclarify.model_price
    add column cached_input_usd numeric,
    add constraint model_price_cached_input_usd_is_no_higher check (cached_input_usd between 0 and input_usd);
comment on column pgclarify.model_price.cached_input_usd is
    'US dollars for a million tokens of input that the endpoint has cached; null if they cost input_usd.';
-- A view reads only this index, and policies now need the oid.
drop index pgclarify.run_usage_idx;
create index run_usage_idx on pgclarify.run (((created_at at time zone 'UTC')::date)) include (
    created_at, corpus_id, corpus_name, requested_by, operation, model, finished_at, completions,
    reused_completions, prompt_tokens, completion_tokens, cost_usd, requested_by_oid, cached_tokens
);

alter table pgclarify.verdict
    add column abstention_code text,
    add column error_code text;
comment on column pgclarify.verdict.abstention_code is 'Why it abstained, as a code; null unless it did.';
comment on column pgclarify.verdict.error_code is 'What went wrong, as a SQLSTATE; null unless failed.';

-- Codes for existing rows. The texts are messages of that version.
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
        -- A message that quotes an endpoint may have any text.
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
    'Number of results: passages, verdicts, interpretations, answers; null if nothing is counted.';
alter type pgclarify.run_outcome add attribute error_code text;
comment on column pgclarify.run_outcome.error_code is
    'Why it failed, as a SQLSTATE that docs/errors.md lists; for a partial run, why calls failed; else null.';
alter table pgclarify.step
    add column abstention_code text,
    add constraint step_abstention_code_is_known check (
        abstention_code in ('not_answered', 'no_passage', 'unproven', 'limit', 'budget', 'failed_calls')
    ),
    add constraint step_abstention_has_no_evidence check (abstention_code is null or outcome = 'not_in_corpus');
comment on column pgclarify.step.abstention_code is
    'Why there is no evidence, as a code; null unless that is the outcome, and for older steps.';
comment on column pgclarify.step.kind is
    'direct (the question itself, without a follow-up), follow_up (a question that it depends on) or conclusion (the answer '
    'to the whole question).';
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
            'simulated_user', 'dtv', 'dtv_unverified', 'rac', 'one_pass', 'self_ask', 'list_at_once',
            'rewrite_ambiguous', 'always_rewrite', 'few_shot', 'logistic_regression', 'human'
        )
    );
comment on column pgclarify.eval_run.method is
    'clarify, list_answers, investigate, search, detect_ambiguity, rewrite, clarifying_questions, simulated_user, a baseline '
    '(dtv, dtv_unverified, rac, one_pass, self_ask, list_at_once, rewrite_ambiguous, always_rewrite, few_shot, '
    'logistic_regression), or human (the readings of the data set itself).';

-- A clear question may depend on its history.
comment on column pgclarify.rewriting.was_ambiguous is
    'True if it was ambiguous even with its history; null for replies. False if it was clear. A question that was clear only '
    'with its history has a reason.';
comment on column pgclarify.rewritten_question.was_ambiguous is
    'True if it was ambiguous even with its history. False if it was clear. A question that was clear only with its history '
    'has a reason.';

-- Evaluations have strata.
alter table pgclarify.eval_metric
    add column stratum text,
    add constraint eval_metric_stratum_is_of_several check (stratum is null or ordinal is null),
    drop constraint eval_metric_key,
    add constraint eval_metric_key unique nulls not distinct (eval_run_id, metric, ordinal, stratum);
comment on table pgclarify.eval_metric is
    'The metrics of a case, of all cases together, or of those of a stratum. docs/methods/evaluation.md explains each metric.';
comment on column pgclarify.eval_run.judge is
    'Judge of the method''s output: lexical (no model), the name of a model, or lexical+ and this name.';
comment on column pgclarify.eval_metric.ordinal is 'The case; null for several cases together.';
comment on column pgclarify.eval_metric.low is
    'Lower end of the bootstrap 95 % interval; null for a case, or without an interval, as for a stratum of fewer than five '
    'cases.';
comment on column pgclarify.eval_metric.stratum is
    'The stratum whose cases are taken together, NAME=VALUE, such as answers=several, kind=polysemy or hops=3; null for a '
    'case, and for all cases together.';
comment on column pgclarify.eval_case.gold is
    'What is known about it: interpretations (interpretation, answers, document_ids), answer_sets, document_ids, '
    'is_ambiguous, rewrites, clarifying_questions, intent, strata (each NAME=VALUE).';
comment on column pgclarify.eval_case.output is
    'The method''s output: interpretations (interpretation, answer, support, is_grounded, citations with document_id, '
    'passage_id, title and quote), retrieved (document_id, passage_id), probability, questions (rewritten, asked back, or '
    'after each turn), notes.';

-- An embedding model may be behind an endpoint, which may be unavailable.
comment on column pgclarify.embedding_space.error is
    'Why no worker could open or fill it, or why documents wait for its model; null if nothing failed.';

-- A worker builds the lists of a whole space in its memory.
alter table pgclarify.embedding_space
    add column linking_worker_id bigint,
    add constraint embedding_space_linking_worker_walks
        check (linking_worker_id is null or linking_document_id is not null);
comment on column pgclarify.embedding_space.linking_worker_id is
    'Worker that builds all lists in memory. While it is alive no other worker links the space; null if none does.';

-- The usage of embedding endpoints is counted.
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
    'Usage of embedding endpoints, with a row for each day, corpus, role and model.';
comment on column pgclarify_private.embedding_usage.embedding_usage_id is 'Key.';
comment on column pgclarify_private.embedding_usage.day is 'The day in UTC.';
comment on column pgclarify_private.embedding_usage.corpus_id is
    'The corpus, which may have been dropped; null if there was none.';
comment on column pgclarify_private.embedding_usage.corpus_name is
    'Its name when the first of these texts was embedded; null without a corpus.';
comment on column pgclarify_private.embedding_usage.requested_by is 'Role that asked, or that owns the corpus.';
comment on column pgclarify_private.embedding_usage.requested_by_oid is 'Oid of that role.';
comment on column pgclarify_private.embedding_usage.operation is
    'embed_passages (of a corpus), or embed_questions (also readings and answers of runs).';
comment on column pgclarify_private.embedding_usage.model is 'The embedding model, as in embedding_space.';
comment on column pgclarify_private.embedding_usage.texts is 'How many texts.';
comment on column pgclarify_private.embedding_usage.tokens is
    'Their tokens; half a token for each byte if the endpoint did not say.';
comment on column pgclarify_private.embedding_usage.unpriced_tokens is
    'Tokens that were embedded while the model had no price.';
comment on column pgclarify_private.embedding_usage.cost_usd is 'Cost of the other tokens, in US dollars.';

-- The rows of a batch go into the index together, with much less WAL.
drop index pgclarify.passage_lexemes_idx;
create index passage_lexemes_idx on pgclarify.passage using gin (lexemes) with (gin_pending_list_limit = 256);

-- Versions of the classifier of ambiguity that are trained on users' own questions.
create table pgclarify_private.trained_classifier (
    trained_classifier_id bigint generated always as identity,
    corpus_id bigint not null,
    version integer not null,
    trained_by name not null,
    trained_at timestamptz default now() not null,
    shipped_version text not null,
    examples integer not null,
    threshold real not null,
    judges_questions boolean not null,
    judges_conversations boolean not null,
    figures jsonb not null,
    is_better boolean not null,
    is_used boolean default false not null,
    weights real[] not null,
    constraint trained_classifier_pk primary key (trained_classifier_id),
    constraint trained_classifier_version_key unique (corpus_id, version),
    constraint trained_classifier_version_is_positive check (version >= 1),
    constraint trained_classifier_examples_are_positive check (examples >= 1),
    constraint trained_classifier_threshold_is_a_share check (threshold between 0 and 1),
    constraint trained_classifier_judges_something check (judges_questions or judges_conversations),
    constraint trained_classifier_figures_are_an_object
        check (jsonb_typeof(figures) = 'object' and length(figures::text) <= 10000),
    constraint trained_classifier_figures_are_in_range check (
        (figures ->> 'questions') ~ '^[0-9]{1,9}$'
        and figures #> '{f1,trained,0}' between '0' and '1'
        and figures #> '{f1,before,0}' between '0' and '1'
        and figures #> '{auc,trained,0}' between '0' and '1'
        and figures #> '{auc,before,0}' between '0' and '1'
        and figures #> '{calibration_error,trained,0}' between '0' and '1'
        and figures #> '{calibration_error,before,0}' between '0' and '1'
        and figures #> '{f1,difference,0}' between '-1' and '1'
        and figures #> '{f1,difference,1}' between '-1' and '1'
        and figures #> '{f1,difference,2}' between '-1' and '1'
        and figures::text !~ '[0-9]{41}'
    ),
    constraint trained_classifier_shipped_version_is_short check (length(shipped_version) between 1 and 100),
    constraint trained_classifier_weights_are_finite check (
        array_ndims(weights) = 1 and cardinality(weights) between 1 and 100000
        and array_position(weights, null) is null and not weights && array['NaN', 'Infinity', '-Infinity']::real[]
    ),
    constraint trained_classifier_corpus_id_fk
        foreign key (corpus_id) references pgclarify.corpus (corpus_id) on delete cascade
);
create unique index trained_classifier_is_used_idx on pgclarify_private.trained_classifier (corpus_id) where is_used;
comment on table pgclarify_private.trained_classifier is
    'A version of the classifier of ambiguity that was trained on labelled questions of a corpus; view ambiguity_classifier'
    ' shows it.';
comment on column pgclarify_private.trained_classifier.trained_classifier_id is 'Key.';
comment on column pgclarify_private.trained_classifier.corpus_id is 'The corpus.';
comment on column pgclarify_private.trained_classifier.version is 'Its number in its corpus, from 1.';
comment on column pgclarify_private.trained_classifier.trained_by is 'Role that trained it.';
comment on column pgclarify_private.trained_classifier.trained_at is 'When it was stored.';
comment on column pgclarify_private.trained_classifier.shipped_version is
    'Version of the classifier that ships which it corrects.';
comment on column pgclarify_private.trained_classifier.examples is
    'Different labelled questions that it was trained on.';
comment on column pgclarify_private.trained_classifier.threshold is
    'The probability from which a question counts as ambiguous, unless a caller passes another one.';
comment on column pgclarify_private.trained_classifier.judges_questions is
    'Whether it judges questions before which nothing was said.';
comment on column pgclarify_private.trained_classifier.judges_conversations is
    'Whether it judges questions with a history.';
comment on column pgclarify_private.trained_classifier.figures is
    'How well it tells ambiguous questions from clear ones, beside the classifier that ships: as in view '
    'ambiguity_classifier.';
comment on column pgclarify_private.trained_classifier.is_better is
    'Whether its F1 was higher than that of the classifier that ships, by the whole 95 % interval of the difference.';
comment on column pgclarify_private.trained_classifier.is_used is
    'Whether it judges the questions of the corpus; at most one does.';
comment on column pgclarify_private.trained_classifier.weights is
    'What it learned: single-precision numbers, in the order that pgclarify/algorithms/ambiguity/correction.py gives.';

-- The comments of the baseline.
comment on table pgclarify.completion is
    'The ledger: what one model replied to one rendered input. Every paid call goes through it, so nothing is paid for twice.';
comment on column pgclarify.completion.model is 'Model of the call.';
comment on column pgclarify.completion.sample is
    'Which reply to this input, from 0; plus a thousand times the option refresh of the run.';
comment on column pgclarify.completion.leased_until is 'When another worker may take over the call.';
comment on column pgclarify.completion.budget_ids is
    'Budgets in which the call is reserved while it is made; null if there are none, or it is not being made.';
comment on column pgclarify.completion.reserved_usd is 'Most that it is expected to cost; null unless it is reserved.';
comment on column pgclarify.completion.reserved_at is
    'When it was reserved, which determines the period; null unless it is reserved.';
comment on table pgclarify.corpus is 'Documents that are searched together.';
comment on column pgclarify.corpus.name is 'The name that callers use.';
comment on column pgclarify.corpus.analyst is 'Role whose members see everyone''s runs on it; null means no role.';
comment on table pgclarify.passage is 'A chunk of a document. One partition for each corpus that is not distributed.';
comment on column pgclarify.passage.id is 'Unique over all corpora, but never used alone to look up a passage.';
comment on column pgclarify.passage.content_hash is 'SHA-256 of title, heading and content, which are embedded.';
comment on column pgclarify.passage.readers is
    'Readers of the document. While its current content is not indexed, only those that could also read the earlier content.';
comment on column pgclarify.passage.lexeme_count is 'Number of its lexemes, with repetitions: the passage''s length in BM25.';
comment on table pgclarify_private.passage_embedding is
    'A passage''s vector in a space. One partition for each space, with an HNSW index over vector::halfvec(dimensions).';
comment on column pgclarify_private.passage_embedding.vector is 'Unit length, with the space''s dimensions.';
comment on table pgclarify_private.staged_passage is
    'Staging table: a worker copies passages here, and one statement then moves them into place; those of a long document '
    'arrive in parts. Unlogged, because a crash only loses work.';
comment on column pgclarify_private.staged_passage.vector is
    'As in passage_embedding; null if the document has a passage of this content_hash, whose vector is kept.';
comment on table pgclarify_private.term is
    'In how many passages of a corpus a lexeme occurs. BM25 needs it, and PostgreSQL''s own ranking does not have it.';
comment on column pgclarify_private.term.passages is
    'How many passages have it, without the changes that are still in term_change.';
comment on column pgclarify_private.term.restricted_passages is
    'The same as passages, for documents that have their own readers.';
comment on table pgclarify_private.term_change is
    'Changes of term by users'' transactions; workers apply them. So a user who removes a document locks no row of term '
    'until the commit.';
comment on column pgclarify_private.term_change.passages is 'Number to add to term.passages; negative for removed passages.';
comment on column pgclarify_private.term_change.restricted_passages is 'Number to add to term.restricted_passages.';
comment on table pgclarify_private.neighborhood is
    'A passage''s nearest passages in a space, nearest first. One partition for each space; view edge has one row for each '
    'edge.';
comment on column pgclarify_private.neighborhood.neighbor_ids is
    'The nearest passages, at most corpus.graph_degree. Indexed together with passage_id: when a passage is removed, the '
    'index finds its own list and those that contain it.';
comment on column pgclarify_private.neighborhood.similarities is
    'How near each neighbor is, falling: cosine similarity, or lexical similarity from 0 to 1.';
comment on table pgclarify_private.named_role is
    'Which role a stored name means, where the name grants access: reader or analyst of a corpus, reader of a document, role '
    'of a budget. It is the role that had the name when it was first written. A later role of that name has no access until '
    'pgclarify init --adopt-roles. A name may have two rows, from two concurrent transactions: with a unique key, one would '
    'wait for the other.';
comment on column pgclarify_private.named_role.role_oid is 'Oid of the role.';
comment on column pgclarify_private.named_role.noted_at is 'When the row was written.';
comment on table pgclarify_private.caller_key is
    'The key that signs callers'' names (HMAC-SHA-256, RFC 2104), as its two padded blocks. One row.';
comment on table pgclarify_private.loopback is
    'How a waiting call opens a second connection to this database. One row, written by pgclarify init.';
comment on column pgclarify_private.loopback.host is
    'Socket directory or host name of the primary, as passed to init; null means this server.';
comment on column pgclarify_private.loopback.password is
    'Password of pgclarify_loopback; null if the server does not ask for one.';
comment on table pgclarify_private.applied_sql is
    'Which functions, views and policies are installed. If they are complete, an install does not change them. One row.';
comment on column pgclarify_private.applied_sql.shipped_hash is
    'SHA-256 of the installed files. A worker of another version refuses to start.';
comment on column pgclarify_private.applied_sql.state_hash is 'SHA-256 of the files as applied and of the catalogs afterwards.';
comment on table pgclarify.model_price is
    'Prices of models. You may insert, update and delete rows: a call costs what its row says when the reply arrives.';
comment on column pgclarify.model_price.model is 'The model''s name, as workers use it.';
comment on column pgclarify.model_price.created_at is 'When the row was inserted.';
comment on column pgclarify_private.budget_counter.budget_id is 'The budget, which may have been removed.';
comment on column pgclarify_private.budget_counter.cost_usd is 'US dollars that answered calls of this period have cost.';
comment on column pgclarify_private.budget_counter.calls is 'How many there are.';
comment on table pgclarify_private.served_answer is
    'A question that an earlier run answered, until a worker has counted it. Callers only insert rows, so that no caller '
    'waits for another.';
comment on column pgclarify_private.served_answer.run_id is 'The run that answered.';
comment on column pgclarify_private.change.source_id is
    'The source. There is no foreign key, because it would lock the source''s row in every user''s transaction.';
comment on column pgclarify_private.change.changed_at is 'When it changed.';
comment on table pgclarify_private.worker is
    'A worker process. It is alive while its session holds the advisory lock (1885823084, worker_id), and its last '
    'heartbeat, seen_at, is not older than its lease.';
comment on column pgclarify_private.worker.embedding_models is 'Embedding models that it has loaded.';
comment on column pgclarify_private.worker.queue_worker_id is 'Its id in the task queue; null until it takes jobs.';
comment on column pgclarify_private.worker.seen_at is 'When it last sent a heartbeat.';
comment on column pgclarify_private.worker.lease is 'How long after seen_at it counts as alive.';
comment on column pgclarify.ambiguity_rule.pattern is
    'Regular expression of 1 to 500 characters, found anywhere in a question (advanced syntax, as for operator ~*: letters '
    'match in any case; \m and \M are the begin and end of a word).';
comment on column pgclarify.ambiguity_rule.corpus is
    'Corpus whose questions it applies to; null for all questions, also those without a corpus.';
comment on column pgclarify.ambiguity_rule.note is
    'Why such a question is ambiguous, shown to the user among the reasons; null for no note.';
comment on table pgclarify_private.completion_document is
    'The documents in the input of a reply; erase_document uses it to find replies.';
comment on column pgclarify_private.completion_document.corpus_id is 'The corpus, which may have been dropped.';
comment on column pgclarify_private.completion_document.document_id is 'The document, which may have been removed.';
comment on table pgclarify.conversation is
    'A question with clarifying questions about it. It begins with the first choose or reply, and has up to three turns.';
comment on column pgclarify.conversation.question is 'The original question.';
comment on column pgclarify.conversation.corpus_id is
    'The corpus; null once it was dropped, or if there was none (then corpus_name is null, too).';
comment on column pgclarify.conversation.corpus_name is
    'The corpus''s name at the time of the question; null without a corpus.';
comment on column pgclarify.conversation.history is 'Turns before the question, oldest first.';
comment on column pgclarify.conversation.requested_by is 'Role that asked; its members may continue.';
comment on table pgclarify.embedding_space is 'A corpus with one embedding model.';
comment on column pgclarify.embedding_space.linking_document_id is
    'While a worker links all passages by key: the document of the last linked passage; null if none does.';
comment on column pgclarify.embedding_space.linking_passage_id is
    'The last linked passage; null if no worker links all passages.';
comment on column pgclarify.embedding_space.linking_passages is
    'About how many passages it still has to link; null if no worker links all passages.';
comment on column pgclarify.embedding_space.queued_document_id is
    'Progress of filling: passages up to this one, by document_id and id, were put into pending_passage. Empty if none was '
    'yet; null until filling begins, and for the first space of a corpus.';
comment on column pgclarify.embedding_space.queued_passage_id is 'The passage, together with queued_document_id.';
comment on column pgclarify.embedding_space.queued_passages is 'How many passages were put there.';
comment on column pgclarify.embedding_space.queued_at is
    'When all passages had been queued; null before, and once nothing is left to do after the switch.';
comment on column pgclarify.embedding_space.ingestion_held_until is
    'Until then, documents of the corpus are not claimed, so that the space can be completed; null if they are.';
comment on column pgclarify.embedding_space.paused_until is
    'Until then, workers start nothing new on the corpus, so that filling can begin or searches can switch to the space; '
    'null if they do.';
comment on table pgclarify_private.corpus_tally is
    'Counts of a corpus as increments; their sum is the count. Writers only insert rows, so that they do not wait for each '
    'other; workers merge the rows of a corpus into one.';
comment on column pgclarify_private.corpus_tally.documents is 'Documents added, minus those removed.';
comment on column pgclarify_private.corpus_tally.pending is 'Documents that became pending, minus those indexed.';
comment on column pgclarify_private.corpus_tally.failed is 'Documents that cannot be indexed, minus those repaired.';
comment on column pgclarify_private.corpus_tally.passages is 'Passages added, minus those removed.';
comment on column pgclarify_private.corpus_tally.restricted_documents is
    'The same as documents, for those that have their own readers.';
comment on column pgclarify_private.corpus_tally.restricted_passages is
    'The same as passages, for documents that have their own readers.';
comment on column pgclarify_private.corpus_tally.embedded is 'Vectors added to the active space, minus those removed.';
comment on column pgclarify_private.corpus_tally.lexemes is
    'Lexemes added, with repetitions, minus those removed. Divided by passages, this is the average length for BM25.';
comment on column pgclarify_private.corpus_tally.revision is
    'Changes of the searchable content, without documents that have their own readers.';
comment on column pgclarify_private.corpus_tally.linked is 'Neighborhoods added to the active space, minus those removed.';
comment on column pgclarify_private.corpus_tally.restricted_lexemes is
    'The same as lexemes, for passages that have their own readers.';
comment on column pgclarify_private.corpus_tally.pending_passages is
    'About how many passages pending documents have, minus those embedded.';
comment on table pgclarify_private.reader_revision is
    'Changes of restricted documents, for each role in their readers, as increments; their sum is the count. Writers only '
    'insert rows; workers merge the rows of a reader into one. Changes of documents without readers are in corpus_tally.';
comment on column pgclarify_private.reader_revision.reader is 'A role in readers of the changed documents.';
comment on table pgclarify_private.pending_document is
    'A document whose current content is not searchable yet. Workers lease rows with SKIP LOCKED.';
comment on column pgclarify_private.pending_document.added_at is 'Since when it is waiting.';
comment on column pgclarify_private.pending_document.passages is
    'About how many of its passages wait to be embedded; at least 1.';
comment on column pgclarify_private.pending_document.is_long is
    'Whether a worker found that it takes several steps, each for its next part.';
comment on column pgclarify_private.pending_document.batch_id is
    'Its batch in staged_passage, with the passages that are embedded already; null if there are none.';
comment on column pgclarify_private.pending_document.staged_passages is 'How many there are.';
comment on column pgclarify.eval_run.name is 'Its name. Several may have the same name; then the latest is meant.';
comment on column pgclarify.eval_run.data_set is 'Name of the data set''s file.';
comment on column pgclarify.eval_run.data_set_hash is
    'SHA-256 of the cases, in order. Evaluations of the same cases can be compared.';
comment on column pgclarify.eval_run.corpus_name is 'The corpus''s name when the evaluation began.';
comment on column pgclarify.eval_run.provider is 'Provider that judged passages or answered: openai or extractive.';
comment on column pgclarify.eval_run.model is 'Model of the call.';
comment on column pgclarify.eval_run.finished_at is
    'When its last case was judged; null while it is running, or if it was interrupted: the same command resumes it.';
comment on column pgclarify.budget.role_name is
    'The budget applies to runs of this role and its members; null for everyone''s.';
comment on column pgclarify.budget.corpus_id is
    'The budget applies to runs on this corpus; null for runs on all corpora, and without one.';
comment on column pgclarify.budget.period is
    'Period of its limits: a day or month in UTC, or all time since its creation (total).';
comment on column pgclarify.budget.binds_owner is
    'True if the owner of the corpus may not change or delete it, because a member of pgclarify_owner created it.';
comment on column pgclarify.budget.created_at is 'When it was created. Earlier spending does not count.';
comment on table pgclarify_private.question_group is
    'Questions of a corpus with the same meaning. Workers put finished runs into groups. For each length of vectors there is '
    'an HNSW index, created with the first vector.';
comment on column pgclarify_private.question_group.question_group_id is
    'Key, chosen at random, so that it shows neither when the group began nor how many there are.';
comment on column pgclarify_private.question_group.embedding_model is 'The model of leader; null if the group has none.';
comment on column pgclarify_private.question_group.leader is
    'Embedding of the first question of the group. A question belongs to the group if it is near. Null if only equal '
    'wordings belong.';
comment on column pgclarify_private.question_group.figures is
    'Figures in that question, sorted. A question with other figures belongs to another group.';
comment on column pgclarify_private.question_group.question_word is
    'who, when, where or why, if that question has one of them; else null. A question with another one belongs to another '
    'group.';
comment on table pgclarify_private.question_wording is
    'Wordings of grouped questions, so that equal wordings need not be compared by meaning.';
comment on column pgclarify_private.question_wording.question_group_id is 'Its group.';
comment on table pgclarify_private.citation_tally is
    'How often a document was cited, for each role. Counted when a run gets its group; deleted runs still count.';
comment on column pgclarify_private.citation_tally.document_id is 'The document, which may have been removed.';
comment on column pgclarify_private.citation_tally.runs is 'Runs with such citations.';
comment on column pgclarify_private.citation_tally.requested_by_oid is 'Oid of that role.';
comment on table pgclarify.run is 'A run of an operation.';
comment on column pgclarify.run.corpus_id is
    'The corpus; null once it was dropped, or if there was none (then corpus_name is null, too).';
comment on column pgclarify.run.corpus_name is 'The corpus''s name at the time of the question; null without a corpus.';
comment on column pgclarify.run.question is
    'The original question; for detect_ambiguity_many and estimate, a JSON array of questions.';
comment on column pgclarify.run.relaxed_question is
    'The relaxed question, used for retrieval; null before relaxation, or if it was not relaxed.';
comment on column pgclarify.run.question_vector is 'Embedding of the question used for retrieval; null before it is computed.';
comment on column pgclarify.run.settings is 'All parameters, with defaults filled in.';
comment on column pgclarify.run.parent_run_id is
    'The run whose verdicts this one consolidates again, or whose question it replies to; else null.';
comment on column pgclarify.run.call_id is
    'The waiting call that started it. If the call ends early, the run is cancelled. Null if it was submitted.';
comment on column pgclarify.run.reuse_key is
    'SHA-256 of operation, corpus, question, settings, the requesting role, and the roles whose rights it had when the run '
    'was last started. Runs with equal keys may be reused for each other.';
comment on column pgclarify.run.status is
    'queued, running, succeeded, partial (valid, but some passages could not be judged, or a budget ended it), failed or '
    'cancelled.';
comment on column pgclarify.run.attempt is 'How often a worker has started it. Writes of earlier attempts are refused.';
comment on column pgclarify.run.cost_usd is
    'What it cost, in US dollars: 0 if it paid for no call; null if the cost of a call is unknown, or before its end.';
comment on column pgclarify.run.finished_at is 'When it ended; null before.';
comment on column pgclarify.run.stop_reason is 'Why it stopped early; null if it did not.';
comment on column pgclarify.run.route is
    'For ask_back auto: answered (the question was clear, and one pass answered it) or clarified. Null for others, and '
    'before the decision.';
comment on column pgclarify.run.saved_completions is 'Calls that the route saved; null without a route.';
comment on column pgclarify.run.embedding_model is
    'The model of question_vector; null without a vector, and in runs of earlier versions.';
comment on column pgclarify.run.interpretations is
    'Number of readings found; null unless it is a run of clarify or consolidate that succeeded or is partial.';
comment on column pgclarify.run.candidates is 'Number of passages retrieved; null before its end.';
comment on column pgclarify.run.verdicts is 'Number of passages judged; null before its end.';
comment on column pgclarify.run.served is 'How often it was reused to answer an equal question; counted within seconds.';
comment on column pgclarify.run.last_served_at is 'When it was last reused; null if it never was.';
comment on column pgclarify.run.question_group_id is
    'Runs on questions of the same meaning, on the same corpus, have the same group; null until a worker has assigned it, '
    'after the run''s end.';
comment on column pgclarify.run.is_counted is
    'False if it does not count as a question: it belongs to an evaluation, or to a session with pgclarify.count_questions '
    'off.';
comment on table pgclarify_private.source is 'A user''s table that is attached to a corpus; its rows are documents.';
comment on column pgclarify_private.source.relation is 'The table; only a number once it was dropped.';
comment on column pgclarify_private.source.attached_by is
    'Role that attached it. The table is read only while that role may read it.';
comment on column pgclarify_private.source.id_prefix is 'Prefix of the id in document.id; usually empty.';
comment on column pgclarify_private.source.state is
    'loading (compared row by row), following, failed (see error), detached (its documents stay) or removing (its documents '
    'are removed).';
comment on column pgclarify_private.source.error is
    'Why it failed, or which rows cannot be documents; it stays until resync. Null if nothing is wrong.';
comment on column pgclarify_private.source.layout is
    'Structure of the table at the last check. Partitions and files that changed without firing a trigger are compared '
    'again. Null before the first check.';
comment on column pgclarify_private.source.load_phase is
    'While loading: rows (rows become documents), then documents (those without a row are removed).';
comment on column pgclarify_private.source.attached_by_oid is
    'Oid of that role, so that another role of that name does not count.';
comment on table pgclarify.rewriting is 'The result of rewrite or reply: a question that stands alone.';
comment on column pgclarify.rewriting.rewritten is
    'The rewritten question; exactly the original one if it was clear or could not be rewritten.';
comment on column pgclarify.rewriting.reason is
    'Why it was rewritten in this way, or not at all; null if there is nothing to say.';
comment on table pgclarify.evidence is
    'A passage that proves an item of a run''s list (clarifying questions, answers). Quote and ids stay when the document is '
    'removed.';
comment on column pgclarify.evidence.ordinal is 'The item that it proves: place in the run''s list, from 1.';
comment on column pgclarify.evidence.end_char is 'Offset of the end of the quote.';
comment on table pgclarify.clarifying_question is
    'A result of clarifying_questions: a question to answer, or a reformulation to choose.';
comment on column pgclarify.clarifying_question.ambiguity_type is
    'semantic (it can mean several things), generalize (something broader may be meant) or specify (something narrower may '
    'be meant); null for schemes without types.';
comment on column pgclarify.clarifying_question.reasoning is 'The model''s reasoning; null for schemes without reasoning.';
comment on column pgclarify.clarifying_question.clarifying_question is
    'A question to the user; null if there are reformulations to choose from.';
comment on column pgclarify.clarifying_question.reformulation is
    'What a user who means this would ask; null if the model gave none.';
comment on column pgclarify.clarifying_question.is_answerable is
    'Whether a document of the corpus answers the reformulation; null if it was not checked, or could not be checked.';
comment on table pgclarify.turn is
    'One turn of a conversation: the clarifying questions, the reply, and the question afterwards.';
comment on column pgclarify.turn.run_id is 'The run of clarifying_questions; null once it was deleted.';
comment on column pgclarify.turn.form is 'respond (the reply is in the user''s words) or select (a reformulation was chosen).';
comment on column pgclarify.turn.asked is 'The clarifying questions, or the reformulations to choose from, one line each.';
comment on column pgclarify.turn.question is 'The question after this turn, reformulated.';
comment on column pgclarify.turn.created_at is 'When the user replied.';
comment on table pgclarify.document is 'A document that can be cited.';
comment on column pgclarify.document.id is
    'The user''s own id, as text: citations can be joined directly; cast bigint ids with document_ids::bigint[].';
comment on column pgclarify.document.content is 'Plain text or Markdown. Offsets of passages and citations refer to it.';
comment on column pgclarify.document.uri is 'Address of the original, for people; null if there is none.';
comment on column pgclarify.document.readers is
    'Roles that may read it; null means every reader of the corpus. A name without a role grants access to no one.';
comment on column pgclarify.document.content_hash is 'SHA-256 of title and content, which searches use.';
comment on column pgclarify.document.indexed_at is 'When its content last became searchable; null if it never was.';
comment on column pgclarify.document.source_id is
    'The attached table of which it is a row; null if it was added in another way.';
comment on table pgclarify.estimate is 'The result of a run of estimate: what questions would cost.';
comment on column pgclarify.estimate.distinct_questions is 'How many of them are different.';
comment on column pgclarify.estimate.answered is 'How many of these an earlier run has answered, so that they need no call.';
comment on column pgclarify.estimate.sampled is
    'How many of the others were examined. If not all were, the figures are scaled up from these.';
comment on column pgclarify.estimate.calls is
    'About how many calls of the language model would be made and paid for; equal calls count once.';
comment on column pgclarify.estimate.calls_at_most is
    'At most so many calls, except for calls that are repeated because their reply was invalid.';
comment on column pgclarify.estimate.reused_calls is 'About how many further calls are needed whose replies are in the ledger.';
comment on column pgclarify.estimate.cost_usd is
    'About what the calls cost in US dollars, by the model''s price at the time of the estimate; null if it had none.';
comment on table pgclarify.eval_case is 'One question of an evaluation, with the method''s output.';
comment on column pgclarify.eval_case.ordinal is 'Place among the evaluated cases, from 1.';
comment on column pgclarify.eval_case.question is 'The question.';
comment on column pgclarify.eval_case.run_id is 'The run that answered; null for baselines, or once it was deleted.';
comment on column pgclarify.eval_case.status is
    'succeeded, partial (some passages could not be judged) or failed, which counts as an empty output.';
comment on column pgclarify.eval_case.calls is
    'Replies of the model that it used, paid for now or before, without those of the judge.';
comment on column pgclarify.eval_case.prompt_tokens is 'Input tokens of all these replies.';
comment on column pgclarify.eval_case.completion_tokens is 'Output tokens of all these replies.';
comment on column pgclarify.eval_case.model_seconds is 'Seconds that all these calls took when they were made, added up.';
comment on column pgclarify.eval_case.seconds is
    'Seconds from the question to the last answer, this time: almost 0 if everything was paid for before.';
comment on table pgclarify_private.pending_link is
    'A passage whose neighbors must be found, or found again. Workers take rows with SKIP LOCKED.';
comment on column pgclarify_private.pending_link.added_at is 'Since when it is waiting.';
comment on table pgclarify_private.pending_unlink is
    'A passage that was removed, or has a new vector, while neighborhoods may still contain it.';
comment on column pgclarify_private.pending_unlink.added_at is 'Since when it is waiting.';
create index pending_passage_failed_idx on pgclarify_private.pending_passage (embedding_space_id) where attempts >= 3;
comment on table pgclarify_private.pending_passage is
    'A passage without a vector in a space that is being built beside the active one. Workers lease rows with SKIP LOCKED. '
    'Passages of a large corpus are put here a thousand at a time.';
comment on column pgclarify_private.pending_passage.attempts is
    'How often it could not be embedded. After three times it is skipped, and searches do not switch to the space.';
comment on column pgclarify_private.pending_passage.retry_at is
    'When embedding it is tried again after a failure; null if it did not fail.';
comment on table pgclarify_private.pending_cut is
    'A document with a passage that is too long for the space''s model. Once the space is active, the document is indexed '
    'again, and cut into shorter passages.';
comment on table pgclarify.listed_answer is
    'One answer of a list, found with knowledge of those before it. Written when it is found.';
comment on column pgclarify.listed_answer.ordinal is 'Place in the order in which answers were found, from 1.';
comment on column pgclarify.listed_answer.answer is 'The answer, in its first spelling.';
comment on column pgclarify.listed_answer.variants is 'All spellings that were found, the first one first.';
comment on column pgclarify.candidate.rank is
    'From 1: its place in the ranking or, in guided exploration, in the order in which passages were chosen.';
comment on column pgclarify.candidate.passage_id is 'The passage, which may have changed or been removed.';
comment on column pgclarify.candidate.score is
    'dense: cosine similarity; lexical: BM25; hybrid: reciprocal rank fusion; a neighbor: its similarity to the passage that '
    'led to it; with a reranker: its score. Higher is better.';
comment on column pgclarify.candidate.step_ordinal is
    'The step of the investigation that retrieved it; null for other operations.';
comment on table pgclarify.interpretation is 'A reading after consolidation.';
comment on column pgclarify.interpretation.interpretation is 'The reading: a question that stands alone.';
comment on column pgclarify.interpretation.support is 'How many documents support it.';
comment on column pgclarify.interpretation.cohesion is
    'Mean cosine similarity of the readings in its cluster to their medoid; 1 for a single one.';
comment on table pgclarify.stage is 'The stages of a run. Written at its end; see explain.';
comment on column pgclarify.stage.ordinal is 'Place in the order of beginning, from 1.';
comment on column pgclarify.stage.batch is 'The batch of passages, from 1; null without batches.';
comment on column pgclarify.stage.note is 'A note; null if there is none.';
comment on column pgclarify.stage.model_ms is
    'Milliseconds that its calls took, with those whose replies are from the ledger, added up.';
comment on table pgclarify.step is 'A question of an investigation, and its answer. Written while the run is not over.';
comment on column pgclarify.step.question is 'The question.';
comment on column pgclarify.step.confidence is 'Confidence in the answer, above 0 and up to 1; null unless answered.';
comment on column pgclarify.step.reason is
    'Why there is no answer, or a remark on the answer; null if there is nothing to say.';
comment on column pgclarify.step.semantic_sets is
    'How many groups of equal meaning the sampled answers form; null if no answers were sampled.';
comment on column pgclarify.eval_metric.high is 'Upper end of that interval; null if there is none.';
comment on column pgclarify.eval_metric.cases is 'The number of cases; null for a single case.';
comment on table pgclarify.verdict is 'The verdict on a candidate.';
comment on column pgclarify.verdict.end_char is 'Offset of the end of the quote.';
comment on column pgclarify.verdict.completion_id is 'Ledger row that it was read from; null if there was no reply.';
comment on table pgclarify.citation is
    'A passage that supports an interpretation. Quote and ids stay when the document is removed.';
comment on column pgclarify.citation.rank is 'Place among its citations, from 1; the first one is the medoid.';
comment on column pgclarify.citation.is_medoid is 'True for the medoid of the cluster.';
comment on column pgclarify.citation.end_char is 'Offset of the end of the quote.';
comment on table pgclarify.step_citation is
    'A passage that proves the answer of a step. Quote and ids stay when the document is removed.';
comment on column pgclarify.step_citation.end_char is 'Offset of the end of the quote.';
comment on type pgclarify.clarification is 'A reading with its answer and its evidence: a row of clarify.';
comment on column pgclarify.clarification.interpretation is 'The reading: a question that stands alone.';
comment on column pgclarify.clarification.support is 'How many documents support it.';
comment on column pgclarify.run_outcome.interpretations is
    'Number of readings found; 0 means that none was found, and stop_code says why. Null unless succeeded or partial, and '
    'for operations without readings, such as investigations.';
comment on column pgclarify.run_outcome.stop_reason is 'Why it stopped early; null if it did not, or is not over.';
comment on column pgclarify.run_outcome.cost_usd is
    'What it cost, in US dollars: 0 if it paid for no call; null if the cost of a call is unknown, or before its end.';
comment on type pgclarify.graph_check is 'The result of check_graph. One row.';
comment on column pgclarify.graph_check.linked is 'Passages with a list of neighbors.';
comment on column pgclarify.graph_check.unlinked is 'Passages without a list.';
comment on column pgclarify.graph_check.pending is 'Pending work: passages to link, and to unlink.';
comment on column pgclarify.graph_check.dangling is 'Edges from or to removed passages that no worker will remove.';
comment on column pgclarify.graph_check.orphans is 'Vectors of removed passages.';
comment on column pgclarify.graph_check.gaps is
    'Lists that are shorter than they could be; null in a graph of lexical similarity, where that is normal.';
comment on column pgclarify.graph_check.unordered is
    'Lists that are longer than corpus.graph_degree, repeat a passage, or are not nearest first.';
comment on column pgclarify.graph_check.recall is
    'Share of their true neighbors that they contain, 0 to 1; null if none were compared.';
comment on type pgclarify.investigation is 'The result of investigate, in one row.';
comment on column pgclarify.investigation.outcome is
    'The outcome of its conclusion: answered, not_in_corpus, contradicted, cut_off or failed.';
comment on column pgclarify.investigation.confidence is 'Confidence in the answer, above 0 and up to 1; null unless answered.';
comment on column pgclarify.investigation.citations is
    'The evidence of the conclusion: array of objects with the columns of view investigation_citation.';
comment on column pgclarify.ambiguity.probability is
    'Probability that it is ambiguous, from 0 to 1; 1 if a rule matched; null for a question in another language than English.';
comment on column pgclarify.ambiguity.reasons is
    'The reasons: array of objects with source (classifier, feature, rule or corpus), name and text.';
comment on column pgclarify.question_ambiguity.is_ambiguous is
    'True if the probability reaches the threshold, or a rule says so. Null unless the run succeeded, as are all further '
    'columns except status.';
comment on column pgclarify.question_ambiguity.probability is
    'Probability that it is ambiguous, from 0 to 1; 1 if a rule matched; null for a question in another language than English.';
comment on column pgclarify.question_ambiguity.reasons is
    'The reasons: array of objects with source (classifier, feature or rule), name and text.';
comment on type pgclarify.rewritten_question is 'A question that stands alone: the row of rewrite.';
comment on column pgclarify.rewritten_question.rewritten is
    'The rewritten question; exactly the original one if it was clear or could not be rewritten.';
comment on column pgclarify.rewritten_question.reason is
    'Why it was rewritten in this way, or not at all; null if there is nothing to say.';
comment on type pgclarify.proposed_question is
    'A clarifying question, or a reformulation to choose: the row of clarifying_questions.';
comment on column pgclarify.proposed_question.ambiguity_type is
    'semantic, generalize or specify; null for schemes without types.';
comment on column pgclarify.proposed_question.clarifying_question is
    'A question to the user; null if there are reformulations to choose from.';
comment on column pgclarify.proposed_question.reformulation is
    'What a user who means this would ask; null if the model gave none.';
comment on column pgclarify.proposed_question.reasoning is 'The model''s reasoning; null for schemes without reasoning.';
comment on column pgclarify.proposed_question.is_answerable is
    'Whether a document of the corpus answers the reformulation; null if it was not checked, or could not be checked.';
comment on column pgclarify.proposed_question.citations is
    'The evidence of the reformulation: array of objects with the columns of view evidence_citation.';
comment on type pgclarify.reformulated_question is 'The state of a conversation after a turn: the row of choose and reply.';
comment on column pgclarify.reformulated_question.turn is 'The number of this turn, from 1 to 3.';
comment on column pgclarify.reformulated_question.question is 'The question after this turn, reformulated.';
comment on column pgclarify.reformulated_question.turns_left is 'How many more turns are possible: 2 to 0.';
comment on type pgclarify.answer is 'One answer of a list: the row of list_answers.';
comment on column pgclarify.answer.ordinal is 'Place in the order in which answers were found, from 1.';
comment on column pgclarify.answer.answer is 'The answer, in its first spelling.';
comment on column pgclarify.answer.variants is 'All spellings that were found, the first one first.';
comment on column pgclarify.answer.document_ids is 'Documents that have the answer, best first.';
comment on column pgclarify.answer.citations is
    'The evidence of the answer: array of objects with the columns of view evidence_citation.';
comment on type pgclarify.estimation is 'What questions would cost: the row of estimate.';
comment on column pgclarify.estimation.run_id is
    'The run that made the estimate; null if all questions have been answered, so that no run was needed.';
comment on column pgclarify.estimation.distinct_questions is 'How many of them are different.';
comment on column pgclarify.estimation.answered is 'How many of these an earlier run has answered, so that they need no call.';
comment on column pgclarify.estimation.sampled is
    'How many of the others were examined. If not all were, the figures are scaled up from these.';
comment on column pgclarify.estimation.calls is
    'About how many calls of the language model would be made and paid for; equal calls count once.';
comment on column pgclarify.estimation.calls_at_most is
    'At most so many calls, except for calls that are repeated because their reply was invalid.';
comment on column pgclarify.estimation.reused_calls is
    'About how many further calls are needed whose replies are in the ledger.';
comment on column pgclarify.estimation.model is 'The model that would be called; null if no run was needed.';
