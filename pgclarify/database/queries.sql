-- Statements of workers. Those of clients are in client_queries.sql and cli_queries.sql.

-- name: pin_search_path
-- Before any other statement: a database or a role may name a schema with functions of others, which this session would run.
set search_path = pg_catalog, pg_temp;

-- name: prepare_session
-- Override settings that a database has for people; limit statements and waiting; release locks if this worker dies.
select set_config(given.name, given.value, false)
from (
    values
    ('lock_timeout', '5s'),
    ('statement_timeout', '60s'),
    ('transaction_timeout', '0'),
    ('idle_session_timeout', '0'),
    ('idle_in_transaction_session_timeout', '20s'),
    ('default_transaction_isolation', 'read committed'),
    ('default_transaction_read_only', 'off'),
    ('tcp_keepalives_idle', '5'),
    ('tcp_keepalives_interval', '5'),
    ('tcp_keepalives_count', '3'),
    ('tcp_user_timeout', '20s')
) as given (name, value)
-- Some settings exist only in later versions of the server.
inner join pg_catalog.pg_settings on pg_settings.name = given.name;

-- name: lift_limit
-- Let statements of this session take any time: a person waits for the answer, and may end it.
select set_config('statement_timeout', '0', false);

-- name: find_vector_types
-- Find pgvector's types in any schema.
select set_config('search_path', 'pg_catalog, ' || quote_ident(pg_namespace.nspname) || ', pg_temp', false)
from pg_catalog.pg_extension
inner join pg_catalog.pg_namespace on pg_extension.extnamespace = pg_namespace.oid
where pg_extension.extname = 'vector';

-- name: get_session
-- The process id of this session.
select pg_catalog.pg_backend_pid() as process_id;

-- name: has_session_option
-- Whether the options of the connection are in effect.
select pg_catalog.current_setting('lock_timeout') operator (pg_catalog.=) '54321ms' as is_set;

-- name: register_worker
-- Register this worker.
select
    pgclarify_private.register_worker(
        %(host)s, %(process_id)s, %(version)s, %(provider)s, %(model)s, %(prompt_version)s, %(is_serving)s, %(lease)s
    ) as worker_id;

-- name: take_worker_lock
-- Hold the lock that shows this session's worker is alive; false if another session holds it.
select pg_try_advisory_lock(1885823084, %(worker_id)s::integer) as is_locked;

-- name: note_heartbeat
-- Send a heartbeat; false if this worker counts as dead.
select pgclarify_private.note_heartbeat(%(worker_id)s, %(embedding_models)s::text[]) as is_alive;

-- name: take_run
-- Start the first queued run that is due; with only_waited_for, the first one with a waiting caller.
select
    run_id, is_waited_for, is_of_batch, must_be_alone, attempt, operation, question, settings, corpus_id, embedding_model,
    dimensions, parent_run_id, error_code, refusal
from pgclarify_private.take_run(%(worker_id)s, %(only_waited_for)s);

-- name: put_back_run
-- Put a run back into the queue, if this worker still has it.
select pgclarify_private.put_back_run(%(run_id)s, %(attempt)s, %(pause)s::interval);

-- name: work_counts
-- How much work waits in the whole database.
select
    living_workers, jobs_waited_for, jobs_in_background, jobs_delayed, jobs_running, oldest_waited_for_seconds,
    oldest_in_background_seconds, documents_pending, passages_pending, documents_failed, ingest_lag_seconds,
    passages_unlinked, sources_failed
from pgclarify_private.work_counts();

-- name: due_work
-- What work there may be besides runs.
select pgclarify_private.due_work() as due;

-- name: requeue_lost_runs
-- Put runs of dead workers back into the queue.
select pgclarify_private.requeue_lost_runs(%(worker_id)s) as runs;

-- name: fold_tallies
-- Sum the counts of each corpus in one row.
select pgclarify_private.fold_tallies();

-- name: renew_statistics
-- Analyze one table whose statistics have the id of an erased document.
select pgclarify_private.renew_statistics() as relation;

-- name: apply_term_changes
-- Update document frequencies for documents that were removed or are long.
select pgclarify_private.apply_term_changes() as changes;

-- name: link_passages
-- Find the neighbors of some passages of one space, or remove deleted passages from its graph.
select pgclarify_private.link_passages(%(max_passages)s) as passages;

-- name: claim_graph
-- Claim a space whose graph is to be built in memory; nulls if there is none.
select embedding_space_id, passages, dimensions, degree
from pgclarify_private.claim_graph(
    %(worker_id)s, %(min_passages)s, %(max_passages)s, %(max_bytes)s, %(skipped_space_ids)s
);

-- name: read_vectors
-- The next passages of a space by key, with their vectors in the binary form of halfvec.
select document_ids, passage_ids, vectors
from pgclarify_private.read_vectors(
    %(embedding_space_id)s, %(after_document_id)s, %(after_passage_id)s, %(max_passages)s
);

-- name: store_graph
-- Write neighbor lists of a claimed space; null means try again.
select pgclarify_private.store_graph(
    %(worker_id)s, %(embedding_space_id)s, %(document_ids)s::text[], %(passage_ids)s::bigint[],
    %(neighbor_document_ids)s::text[], %(neighbor_ids)s::bigint[], %(similarities)s::real[], %(is_last)s
) as is_ours;

-- name: drop_orphan_partition
-- Drop one partition of a dropped corpus.
select pgclarify_private.drop_orphan_partition() as dropped;

-- name: list_waiting_sources
-- Attached tables with pending changes, a pending load or a pending removal.
select source_id, work from pgclarify_private.waiting_sources();

-- name: follow_changes
-- Process changes of an attached table; null if another session has it locked.
select pgclarify_private.follow_changes(%(source_id)s, %(max_changes)s, %(max_bytes)s) as done;

-- name: load_source
-- Compare some rows of an attached table; null if another session has it locked.
select pgclarify_private.load_source(%(source_id)s, %(max_rows)s, %(max_bytes)s) as done;

-- name: remove_source
-- Remove some documents of a detached table; null if another session has it locked.
select pgclarify_private.remove_source(%(source_id)s, %(max_documents)s, %(max_bytes)s) as done;

-- name: inspect_sources
-- Check whether attached tables have changed their structure or rights.
select pgclarify_private.inspect_sources();

-- name: drop_orphan_capture
-- Drop one trigger function of a dropped corpus.
select pgclarify_private.drop_orphan_capture() as dropped;

-- name: drop_idle_table_reader
-- Drop one function, with its role, that reads tables of an owner without attached tables.
select pgclarify_private.drop_idle_table_reader() as dropped;

-- name: forget_session
-- Reset a session: settings, prepared statements, locks, temporary tables.
discard all;

-- name: end_session
-- Terminate a session of this role, with its statement.
select pg_catalog.pg_terminate_backend(%(process_id)s::integer);

-- name: list_building_spaces
-- Spaces that wait for a worker to load their model.
select embedding_space_id, model from pgclarify_private.building_spaces();

-- name: open_space
-- Create a space's tables, when its model is known.
select pgclarify_private.open_space(%(embedding_space_id)s, %(dimensions)s);

-- name: refuse_space
-- Store why a worker cannot open or fill a space.
select pgclarify_private.refuse_space(%(embedding_space_id)s, %(error)s);

-- name: delay_documents
-- Store why documents wait for the embedding model.
select pgclarify_private.delay_documents(%(embedding_space_id)s, %(error)s);

-- name: count_embeddings
-- Store the usage of embedding endpoints, and charge budgets.
select
    pgclarify_private.count_embeddings(
        %(run_ids)s::bigint[],
        %(embedding_space_ids)s::bigint[],
        %(models)s::text[],
        %(texts)s::bigint[],
        %(tokens)s::bigint[]
    );

-- name: list_due_spaces
-- Spaces that can take their next step.
select embedding_space_id from pgclarify_private.due_spaces();

-- name: advance_space
-- Start to fill a space, switch to it, clean up after it, or drop it.
select pgclarify_private.advance_space(%(embedding_space_id)s) as is_done;

-- name: claim_passages
-- Lease passages that need a vector in a space.
select
    embedding_space_id, document_id, passage_id, title, heading, content, content_hash, embedding_model, dimensions
from
    pgclarify_private.claim_passages(
        %(worker_id)s, %(max_passages)s, %(lease)s, %(skipped_models)s::text[], %(after_space_id)s
    );

-- name: release_passages
-- Release the passages that this worker has leased.
select pgclarify_private.release_passages(%(worker_id)s) as kept;

-- name: store_vectors
-- Fill a space with vectors.
select
    pgclarify_private.store_vectors(
        %(worker_id)s,
        %(embedding_space_id)s,
        %(document_ids)s::text[],
        %(passage_ids)s::bigint[],
        %(content_hashes)s::bytea[],
        %(are_cut_off)s::boolean[],
        %(vectors)s::halfvec[]
    ) as stored;

-- name: fail_passage
-- Store that a passage could not be embedded.
select
    pgclarify_private.fail_passage(
        %(worker_id)s, %(embedding_space_id)s, %(document_id)s, %(passage_id)s, %(error)s, %(pause)s
    );

-- name: claim_documents
-- Lease pending documents of one corpus.
select
    corpus_id, document_id, title, content, content_hash, embedding_space_id, embedding_model, dimensions
from
    pgclarify_private.claim_documents(
        %(worker_id)s,
        %(max_documents)s,
        %(max_chars)s,
        %(lease)s,
        %(skipped_models)s::text[],
        %(after_corpus_id)s
    );

-- name: leased_documents
-- Which claimed documents are still leased by this worker and unchanged; old leases begin again.
select document_id
from
    pgclarify_private.leased_documents(
        %(worker_id)s, %(corpus_id)s, %(document_ids)s::text[], %(content_hashes)s::bytea[], %(lease)s
    ) as document_id;

-- name: release_documents
-- Release the documents that this worker has leased.
select
    pgclarify_private.release_documents(
        %(worker_id)s, %(are_long)s, %(corpus_id)s, %(document_ids)s::text[], %(content_hashes)s::bytea[]
    ) as kept;

-- name: set_aside_document
-- Mark a document that needs several steps.
select pgclarify_private.set_aside_document(%(worker_id)s, %(corpus_id)s, %(document_id)s, %(passages)s);

-- name: claim_long_document
-- Lease a document that needs several steps, for its next step.
select
    corpus_id, document_id, title, content, content_hash, embedding_space_id, embedding_model, dimensions,
    batch_id, staged_passages, staged_chars
from
    pgclarify_private.claim_long_document(%(worker_id)s, %(lease)s, %(skipped_models)s::text[], %(after_corpus_id)s);

-- name: keep_part
-- Store that a part of a document has been staged.
select
    pgclarify_private.keep_part(
        %(worker_id)s,
        %(batch_id)s,
        %(corpus_id)s,
        %(document_id)s,
        %(content_hash)s,
        %(staged_before)s,
        %(staged_passages)s,
        %(staged_chars)s,
        %(passages_left)s
    ) as is_kept;

-- name: passage_hashes
-- The texts of claimed documents that have a vector already, except those that a batch has staged to stay.
select document_id, content_hashes
from pgclarify_private.passage_hashes(%(corpus_id)s, %(document_ids)s::text[], %(batch_id)s);

-- name: stage_passages
-- Copy passages of a batch to the staging table of store_documents.
copy pgclarify_private.staged_passage
(batch_id, document_id, ordinal, heading, content, start_char, end_char, content_hash, vector)
from stdin (format binary);

-- name: store_documents
-- Publish a staged batch.
select
    pgclarify_private.store_documents(
        %(worker_id)s,
        %(batch_id)s,
        %(corpus_id)s,
        %(embedding_space_id)s,
        %(document_ids)s::text[],
        %(content_hashes)s::bytea[]
    ) as stored;

-- name: fail_document
-- Mark a document as one that cannot be indexed.
select
    pgclarify_private.fail_document(%(worker_id)s, %(corpus_id)s, %(document_id)s, %(content_hash)s, %(error)s);

-- name: start_run
-- Start a run.
select
    must_be_alone, attempt, operation, question, settings, corpus_id, embedding_model, dimensions, parent_run_id,
    error_code
from pgclarify_private.start_run(%(run_id)s, %(worker_id)s, %(is_alone)s);

-- name: find_passages
-- Search for a run, with its requester's rights; with are_chosen, store what is found as its candidates.
select
    document_id, passage_id, title, heading, content, start_char, score, origin, signal_score
from pgclarify_private.find_passages(
    %(run_id)s,
    %(attempt)s,
    %(question)s,
    %(vector)s::halfvec,
    %(embedding_model)s,
    %(method)s,
    %(depth)s,
    %(signal)s,
    %(are_chosen)s,
    %(asked_vector)s::halfvec
);

-- name: find_neighbors
-- The neighbors of a batch that the run's requester may read.
select
    via_passage_id, document_id, passage_id, similarity, title, heading, content, start_char, signal_score
from pgclarify_private.find_neighbors(
    %(run_id)s,
    %(attempt)s,
    %(document_ids)s::text[],
    %(passage_ids)s::bigint[],
    %(k)s,
    %(known)s::bigint[],
    %(question)s,
    %(vector)s::halfvec,
    %(embedding_model)s,
    %(signal)s
);

-- name: record_candidates
-- Store candidates; return the ranks of the stored ones.
select
    pgclarify_private.record_candidates(%(run_id)s, %(attempt)s, %(candidates)s::jsonb) as kept;

-- name: record_verdicts
-- Store verdicts of several runs; return the runs that this worker still has.
select
    pgclarify_private.record_verdicts(%(verdicts)s::jsonb) as running;

-- name: copy_verdicts
-- Copy the verdicts of the parent run.
select
    rank, document_id, passage_id, title, heading, content, interpretation, answer, quote, start_char, end_char,
    vector, completion_id
from pgclarify_private.copy_verdicts(%(run_id)s, %(attempt)s);

-- name: record_step
-- Store a step of an investigation.
select pgclarify_private.record_step(%(run_id)s, %(attempt)s, %(step)s::jsonb);

-- name: find_for_each
-- Search for several questions of a run, with its requester's rights.
select
    question_ordinal, document_id, passage_id, title, heading, content, start_char, score, origin, signal_score
from pgclarify_private.find_for_estimate(
    %(run_id)s,
    %(attempt)s,
    %(questions)s::text[],
    %(vectors)s::halfvec[],
    %(embedding_model)s,
    %(method)s,
    %(depth)s
);

-- name: known_completions
-- Look up inputs in the ledger, for a run that pays for nothing.
select
    ordinal, reply, prompt_tokens, completion_tokens, latency_ms
from pgclarify_private.known_completions(%(run_id)s, %(attempt)s, %(calls)s::jsonb);

-- name: record_estimate
-- Store an estimate.
select pgclarify_private.record_estimate(%(run_id)s, %(attempt)s, %(seen)s::jsonb);

-- name: limit_statements
-- Limit the time of statements for the rest of this transaction.
select set_config('statement_timeout', %(limit)s, true);

-- name: match_ambiguity_rules
-- Rules of ambiguity that questions match.
select
    ordinal, ambiguity_rule_id, kind, note, matched
from pgclarify_private.match_ambiguity_rules(%(run_id)s, %(attempt)s, %(questions)s::text[])
order by ordinal, ambiguity_rule_id;

-- name: classifier_of_run
-- The trained version of the classifier that judges the questions of a run; its weights unless they are known.
select
    trained_classifier_id, version, shipped_version, threshold, judges_questions, judges_conversations, weights
from pgclarify_private.classifier_of_run(%(run_id)s, %(attempt)s, %(known_ids)s::bigint[]);

-- name: record_detections
-- Store whether the questions of a run are ambiguous.
select pgclarify_private.record_detections(%(run_id)s, %(attempt)s, %(detections)s::jsonb);

-- name: record_route
-- Store the route of a run.
select pgclarify_private.record_route(%(run_id)s, %(attempt)s, %(route)s, %(saved_completions)s);

-- name: record_rewriting
-- Store the rewritten question of a run.
select pgclarify_private.record_rewriting(%(run_id)s, %(attempt)s, %(rewriting)s::jsonb);

-- name: record_clarifying_questions
-- Store clarifying questions.
select pgclarify_private.record_clarifying_questions(%(run_id)s, %(attempt)s, %(questions)s::jsonb);

-- name: conversation_turns
-- The conversation that a reply continues.
select
    question, asked, reply
from pgclarify_private.conversation_turns(%(run_id)s, %(attempt)s)
order by ordinal;

-- name: record_answers
-- Store the listed answers of a run.
select pgclarify_private.record_answers(%(run_id)s, %(attempt)s, %(answers)s::jsonb);

-- name: finish_run
-- End a run; its stop code.
select
    pgclarify_private.finish_run(
        %(run_id)s,
        %(attempt)s,
        %(status)s,
        %(error)s,
        %(error_code)s,
        %(interpretations)s::jsonb,
        %(stages)s::jsonb,
        %(stop_reason)s,
        %(stop_code)s,
        %(budget_id)s::bigint
    ) as stop_code;

-- name: watch_runs
-- Which runs were cancelled or taken over, and for which a caller waits. Queued runs that a caller waits for go first.
select
    pgclarify_private.lost_runs(%(run_ids)s::bigint[], %(attempts)s::integer[]) as lost,
    pgclarify_private.follow_watchers(%(run_ids)s::bigint[]) as waited_for;

-- name: claim_completions
-- Look up inputs in the ledger, and lease those without a reply that are not leased.
select
    ordinal, completion_id, is_ours, is_taken_over, leased_until, reply, prompt_tokens, completion_tokens, latency_ms,
    refusal, is_own
from pgclarify_private.claim_completions(
    %(worker_id)s,
    %(run_id)s,
    %(lease)s,
    %(calls)s::jsonb,
    %(attempt)s::integer,
    %(corpus_id)s::bigint
)
order by ordinal;

-- name: store_completions
-- Store the replies of a model.
select pgclarify_private.store_completions(%(worker_id)s, %(completions)s::jsonb);

-- name: release_completions
-- Release leases.
select pgclarify_private.release_completions(%(worker_id)s, %(completion_ids)s::bigint[], %(leases)s::timestamptz[]);

-- name: wait_for_batch
-- Leave calls of a run to a batch, and put the run back until they are over; false if it must go on.
select
    pgclarify_private.wait_for_batch(%(run_id)s, %(attempt)s, %(calls)s::jsonb) as has_left;

-- name: tidy_batches
-- Wake runs whose batch no worker serves any more.
select pgclarify_private.tidy_batches();

-- name: gather_batch
-- Put waiting calls into a new batch; how many.
select
    pgclarify_private.gather_batch(
        %(worker_id)s, %(model)s, %(endpoint)s, %(max_requests)s, %(max_bytes)s, %(quiet)s::interval
    ) as calls;

-- name: claim_batch
-- Lease a batch that must be sent, or looked at.
select batch_id, remote_id, age, is_wanted
from pgclarify_private.claim_batch(%(worker_id)s, %(model)s, %(endpoint)s, %(lease)s);

-- name: batch_requests
-- The calls of a batch.
select completion_id, request from pgclarify_private.batch_requests(%(worker_id)s, %(batch_id)s);

-- name: put_back_batch
-- Release a batch until the next look.
select pgclarify_private.put_back_batch(%(worker_id)s, %(batch_id)s, %(remote_id)s, %(pause)s);

-- name: store_batch
-- Store replies of a batch.
select pgclarify_private.store_batch(%(worker_id)s, %(batch_id)s, %(completions)s::jsonb);

-- name: end_batch
-- End a batch that was read, and wake its runs.
select pgclarify_private.end_batch(%(worker_id)s, %(batch_id)s, %(again_after)s::interval);

-- name: book_endpoint
-- Book requests and tokens of an endpoint.
select pgclarify_private.book_endpoint(
    %(endpoint)s,
    %(requests_time)s::interval,
    %(requests_accepted)s::interval,
    %(requests_spare)s::interval,
    %(tokens_time)s::interval,
    %(tokens_accepted)s::interval,
    %(tokens_spare)s::interval
) as wait;

-- name: settle_run
-- Store the cost of a run that was ended from outside, when all its calls are over.
select pgclarify_private.settle_runs(array[%(run_id)s::bigint]);
