"""Workers, runs and everything a run leaves behind.

Revision ID: 0004
Revises: 0003
"""

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    vector_schema = (
        op.get_bind()
        .exec_driver_sql(
            "select quote_ident(n.nspname) from pg_extension e join pg_namespace n on n.oid = e.extnamespace"
            " where e.extname = 'vector'"
        )
        .scalar_one()
    )
    op.execute("""
        create table pgclarify.worker (
            worker_id bigint generated always as identity constraint worker_pk primary key,
            host text not null,
            process_id integer not null,
            version text not null,
            provider text not null,
            model text not null,
            prompt_version text not null,
            embedding_models text[] not null default '{}',
            queue_worker_id bigint,
            started_at timestamptz not null default now(),
            seen_at timestamptz not null default now()
        );
        create index worker_queue_worker_id_idx on pgclarify.worker (queue_worker_id);
        comment on table pgclarify.worker is
            'A worker process. It lives as long as its session holds the advisory lock (1885823084, worker_id).';
        comment on column pgclarify.worker.worker_id is 'Key, and second key of the advisory lock.';
        comment on column pgclarify.worker.host is 'Machine it runs on.';
        comment on column pgclarify.worker.process_id is 'Its process there.';
        comment on column pgclarify.worker.version is 'Version of pgclarify.';
        comment on column pgclarify.worker.provider is 'openai or extractive.';
        comment on column pgclarify.worker.model is 'Model that judges passages.';
        comment on column pgclarify.worker.prompt_version is 'Version of its prompts.';
        comment on column pgclarify.worker.embedding_models is 'Embedding models it has loaded.';
        comment on column pgclarify.worker.queue_worker_id is 'What the task queue calls it; null until it takes jobs.';
        comment on column pgclarify.worker.started_at is 'When it started.';
        comment on column pgclarify.worker.seen_at is 'When it last said that it is there.';

        create table pgclarify.completion (
            completion_id bigint generated always as identity constraint completion_pk primary key,
            purpose text not null,
            model text not null,
            parameters jsonb not null,
            prompt_version text not null,
            input_hash bytea not null constraint completion_input_hash_is_sha256 check (length(input_hash) = 32),
            sample integer not null default 0 constraint completion_sample_counts_from_zero check (sample >= 0),
            run_id bigint,
            reply text,
            prompt_tokens integer,
            completion_tokens integer,
            latency_ms real,
            leased_by bigint,
            leased_until timestamptz,
            created_at timestamptz not null default now(),
            finished_at timestamptz,
            constraint completion_purpose_model_parameters_prompt_version_input_ha_key
                unique (purpose, model, parameters, prompt_version, input_hash, sample),
            constraint completion_finished_has_a_reply check ((finished_at is null) = (reply is null)),
            constraint completion_lease_has_a_holder check ((leased_by is null) = (leased_until is null))
        );
        create index completion_run_id_idx on pgclarify.completion (run_id);
        comment on table pgclarify.completion is
            'The ledger: what one model said to one rendered input. Every paid call goes through it, so nothing is '
            'paid for twice.';
        comment on column pgclarify.completion.completion_id is 'Key.';
        comment on column pgclarify.completion.purpose is 'What the reply is for: relaxation or verdict.';
        comment on column pgclarify.completion.model is 'Model that was asked.';
        comment on column pgclarify.completion.parameters is 'Decoding parameters.';
        comment on column pgclarify.completion.prompt_version is 'Version of the prompt.';
        comment on column pgclarify.completion.input_hash is 'SHA-256 of the rendered input.';
        comment on column pgclarify.completion.sample is 'Which reply to this input, from 0.';
        comment on column pgclarify.completion.run_id is 'The run that paid for it; null if that run is gone.';
        comment on column pgclarify.completion.reply is 'What the model said; null while nobody knows.';
        comment on column pgclarify.completion.prompt_tokens is 'Tokens of the input.';
        comment on column pgclarify.completion.completion_tokens is 'Tokens of the reply.';
        comment on column pgclarify.completion.latency_ms is 'Milliseconds that the call took.';
        comment on column pgclarify.completion.leased_by is 'Worker that is making the call; null if none is.';
        comment on column pgclarify.completion.leased_until is 'When another worker may take the call over.';
        comment on column pgclarify.completion.created_at is 'When it was first claimed.';
        comment on column pgclarify.completion.finished_at is 'When the reply came; null while there is none.';
    """)
    op.execute(f"""
        create table pgclarify.run (
            run_id bigint generated always as identity constraint run_pk primary key,
            operation text not null
                constraint run_operation_is_known check (operation in ('clarify', 'consolidate', 'search')),
            corpus_id bigint constraint run_corpus_id_fk references pgclarify.corpus on delete set null,
            corpus_name text not null,
            question text not null,
            relaxed_question text,
            question_vector {vector_schema}.halfvec,
            history jsonb not null default '[]'
                constraint run_history_is_an_array check (jsonb_typeof(history) = 'array'),
            settings jsonb not null constraint run_settings_is_an_object check (jsonb_typeof(settings) = 'object'),
            parent_run_id bigint constraint run_parent_run_id_fk references pgclarify.run on delete set null,
            call_id uuid,
            requested_by name not null,
            reuse_key bytea not null,
            status text not null default 'queued' constraint run_status_is_known check (
                status in ('queued', 'running', 'succeeded', 'partial', 'failed', 'cancelled')
            ),
            error text,
            attempt integer not null default 0,
            worker_id bigint,
            corpus_revision bigint,
            model text,
            prompt_version text,
            completions integer,
            reused_completions integer,
            prompt_tokens bigint,
            completion_tokens bigint,
            cost_usd numeric,
            created_at timestamptz not null default now(),
            started_at timestamptz,
            finished_at timestamptz,
            constraint run_finished_has_an_end check (
                (finished_at is not null) = (status in ('succeeded', 'partial', 'failed', 'cancelled'))
            ),
            constraint run_failed_has_an_error check ((status = 'failed') = (error is not null)),
            constraint run_running_has_a_worker check (status <> 'running' or worker_id is not null)
        );
        create index run_corpus_id_idx on pgclarify.run (corpus_id);
        create index run_parent_run_id_idx on pgclarify.run (parent_run_id) where parent_run_id is not null;
        create index run_call_id_idx on pgclarify.run (call_id) where status in ('queued', 'running');
        create index run_requested_by_run_id_idx on pgclarify.run (requested_by, run_id);
        create index run_reuse_key_idx on pgclarify.run (reuse_key, run_id) where status = 'succeeded';
        create index run_unfinished_idx on pgclarify.run (status, created_at) where status in ('queued', 'running');
        comment on table pgclarify.run is 'One call.';
        comment on column pgclarify.run.run_id is 'Key.';
        comment on column pgclarify.run.operation is 'clarify, consolidate or search.';
        comment on column pgclarify.run.corpus_id is 'The corpus; null once it was dropped.';
        comment on column pgclarify.run.corpus_name is 'The corpus''s name when it was asked.';
        comment on column pgclarify.run.question is 'The question as it was asked.';
        comment on column pgclarify.run.relaxed_question is
            'The question as it was retrieved with; null before that, or if it was not relaxed.';
        comment on column pgclarify.run.question_vector is 'Embedding of the question; null until it is worked out.';
        comment on column pgclarify.run.history is 'Turns before the question, oldest first.';
        comment on column pgclarify.run.settings is 'All parameters as used.';
        comment on column pgclarify.run.call_id is
            'The waiting call that entered it, and cancels it if nobody waits any more; null if submitted.';
        comment on column pgclarify.run.parent_run_id is
            'The run whose verdicts this one consolidates again; null for others.';
        comment on column pgclarify.run.requested_by is 'Role that asked.';
        comment on column pgclarify.run.reuse_key is
            'SHA-256 of operation, corpus, question, settings, the role that asked and the roles whose usage it had '
            'when the run was last started: runs with equal keys may serve each other.';
        comment on column pgclarify.run.status is
            'queued, running, succeeded, partial (sound, but some passages could not be judged), failed or cancelled.';
        comment on column pgclarify.run.error is 'Why it failed; null unless it did.';
        comment on column pgclarify.run.attempt is
            'How often a worker has started it; writes of earlier attempts are refused.';
        comment on column pgclarify.run.worker_id is 'Worker that last started it.';
        comment on column pgclarify.run.corpus_revision is 'Revision of the corpus when it was last started.';
        comment on column pgclarify.run.model is 'Model that judged.';
        comment on column pgclarify.run.prompt_version is 'Version of the prompts.';
        comment on column pgclarify.run.completions is 'Calls it paid for; null until it has ended.';
        comment on column pgclarify.run.reused_completions is
            'Replies it took from the ledger; null until it has ended.';
        comment on column pgclarify.run.prompt_tokens is 'Input tokens it paid for.';
        comment on column pgclarify.run.completion_tokens is 'Output tokens it paid for.';
        comment on column pgclarify.run.cost_usd is 'What it cost, in US dollars; null if no price is known.';
        comment on column pgclarify.run.created_at is 'When it was asked.';
        comment on column pgclarify.run.started_at is 'When a worker last started it.';
        comment on column pgclarify.run.finished_at is 'When it ended; null while it goes on.';

        create table pgclarify.candidate (
            run_id bigint not null constraint candidate_run_id_fk references pgclarify.run on delete cascade,
            rank integer not null constraint candidate_rank_counts_from_one check (rank >= 1),
            corpus_id bigint not null,
            document_id text not null,
            passage_id bigint not null,
            heading text,
            score double precision not null,
            origin text not null
                constraint candidate_origin_is_known check (origin in ('dense', 'lexical', 'neighbor')),
            via_passage_id bigint,
            constraint candidate_pk primary key (run_id, rank)
        );
        comment on table pgclarify.candidate is 'A passage retrieved for a run.';
        comment on column pgclarify.candidate.run_id is 'The run.';
        comment on column pgclarify.candidate.rank is 'Place in the ranking, from 1.';
        comment on column pgclarify.candidate.corpus_id is 'The corpus.';
        comment on column pgclarify.candidate.document_id is 'The document.';
        comment on column pgclarify.candidate.passage_id is 'The passage, which may have changed or gone since.';
        comment on column pgclarify.candidate.heading is
            'Headings above the passage when it was retrieved; null if none.';
        comment on column pgclarify.candidate.score is
            'dense: cosine similarity; lexical: BM25; hybrid: reciprocal rank fusion. Higher is better.';
        comment on column pgclarify.candidate.origin is 'How it was found: dense, lexical or neighbor.';
        comment on column pgclarify.candidate.via_passage_id is 'The passage that led to it; null unless a neighbor.';

        create table pgclarify.verdict (
            run_id bigint not null,
            rank integer not null,
            outcome text not null
                constraint verdict_outcome_is_known check (outcome in ('grounded', 'abstained', 'failed')),
            interpretation text,
            answer text,
            quote text,
            start_char integer,
            end_char integer,
            vector {vector_schema}.halfvec,
            completion_id bigint,
            is_reused boolean not null,
            reason text,
            error text,
            created_at timestamptz not null default now(),
            constraint verdict_pk primary key (run_id, rank),
            constraint verdict_candidate_fk foreign key (run_id, rank) references pgclarify.candidate on delete cascade,
            constraint verdict_grounded_has_a_reading check (
                (outcome = 'grounded')
                = (num_nonnulls(interpretation, answer, quote, start_char, end_char, vector) = 6)
            ),
            constraint verdict_failed_has_an_error check ((outcome = 'failed') = (error is not null))
        );
        comment on table pgclarify.verdict is 'What was decided about one candidate.';
        comment on column pgclarify.verdict.run_id is 'The run.';
        comment on column pgclarify.verdict.rank is 'The candidate''s rank.';
        comment on column pgclarify.verdict.outcome is
            'grounded (the passage answers a reading), abstained (it does not) or failed (it could not be judged).';
        comment on column pgclarify.verdict.interpretation is 'The reading; null unless grounded.';
        comment on column pgclarify.verdict.answer is 'Its answer; null unless grounded.';
        comment on column pgclarify.verdict.quote is
            'The words of the passage that prove it, verbatim; null unless grounded.';
        comment on column pgclarify.verdict.start_char is 'Offset of the quote in the document, from 0.';
        comment on column pgclarify.verdict.end_char is 'Offset after the quote.';
        comment on column pgclarify.verdict.vector is 'f(interpretation; answer), unit length; null unless grounded.';
        comment on column pgclarify.verdict.completion_id is 'Ledger row that it was read from; null if no reply came.';
        comment on column pgclarify.verdict.is_reused is 'True if that row had been paid for before.';
        comment on column pgclarify.verdict.reason is 'Why it abstained; null unless it did.';
        comment on column pgclarify.verdict.error is 'What went wrong; null unless failed.';
        comment on column pgclarify.verdict.created_at is 'When it was decided.';

        create table pgclarify.interpretation (
            run_id bigint not null constraint interpretation_run_id_fk references pgclarify.run on delete cascade,
            ordinal integer not null constraint interpretation_ordinal_counts_from_one check (ordinal >= 1),
            interpretation text not null,
            answer text not null,
            support integer not null constraint interpretation_is_supported check (support >= 1),
            cohesion real not null,
            constraint interpretation_pk primary key (run_id, ordinal)
        );
        comment on table pgclarify.interpretation is 'A reading that survived consolidation.';
        comment on column pgclarify.interpretation.run_id is 'The run.';
        comment on column pgclarify.interpretation.ordinal is 'Place by falling support, from 1.';
        comment on column pgclarify.interpretation.interpretation is 'The reading: a question that stands on its own.';
        comment on column pgclarify.interpretation.answer is 'Its answer.';
        comment on column pgclarify.interpretation.support is 'Distinct documents that support it.';
        comment on column pgclarify.interpretation.cohesion is
            'Mean cosine similarity of the readings in its cluster to the one that speaks for them; 1 for a single '
            'one.';

        create table pgclarify.citation (
            run_id bigint not null,
            ordinal integer not null,
            rank integer not null constraint citation_rank_counts_from_one check (rank >= 1),
            candidate_rank integer not null,
            corpus_id bigint not null,
            document_id text not null,
            passage_id bigint not null,
            heading text,
            is_medoid boolean not null,
            quote text not null,
            start_char integer not null,
            end_char integer not null,
            constraint citation_pk primary key (run_id, ordinal, rank),
            constraint citation_interpretation_fk foreign key (run_id, ordinal)
                references pgclarify.interpretation on delete cascade
        );
        create index citation_corpus_id_document_id_idx on pgclarify.citation (corpus_id, document_id);
        comment on table pgclarify.citation is
            'From an interpretation to a passage that supports it. Quote and ids stay when the document goes.';
        comment on column pgclarify.citation.run_id is 'The run.';
        comment on column pgclarify.citation.ordinal is 'The interpretation''s ordinal.';
        comment on column pgclarify.citation.rank is 'Place among its citations, from 1; the first one speaks for it.';
        comment on column pgclarify.citation.candidate_rank is 'The candidate''s rank in the run.';
        comment on column pgclarify.citation.corpus_id is 'The corpus.';
        comment on column pgclarify.citation.document_id is 'The document.';
        comment on column pgclarify.citation.passage_id is 'The passage.';
        comment on column pgclarify.citation.heading is 'Headings above the passage when it was cited; null if none.';
        comment on column pgclarify.citation.is_medoid is 'True for the reading that speaks for the cluster.';
        comment on column pgclarify.citation.quote is 'The words that prove the answer, verbatim.';
        comment on column pgclarify.citation.start_char is 'Offset of the quote in the document, from 0.';
        comment on column pgclarify.citation.end_char is 'Offset after the quote.';

        -- Named, so that attributes can be added later without breaking a user's view.
        create type pgclarify.clarification as (
            run_id bigint,
            status text,
            ordinal integer,
            interpretation text,
            answer text,
            support integer,
            cohesion real,
            document_ids text[],
            citations jsonb
        );
        comment on type pgclarify.clarification is 'A reading with its answer and its proof: a row of clarify.';
        comment on column pgclarify.clarification.run_id is 'The run.';
        comment on column pgclarify.clarification.status is 'succeeded or partial.';
        comment on column pgclarify.clarification.ordinal is 'Place by falling support, from 1.';
        comment on column pgclarify.clarification.interpretation is 'The reading: a question that stands on its own.';
        comment on column pgclarify.clarification.answer is 'Its answer.';
        comment on column pgclarify.clarification.support is 'Distinct documents that support it.';
        comment on column pgclarify.clarification.cohesion is 'How much its evidence agrees, up to 1.';
        comment on column pgclarify.clarification.document_ids is 'Documents that prove it, best first.';
        comment on column pgclarify.clarification.citations is
            'Array of objects with the columns of view interpretation_citation.';

        create type pgclarify.question_clarification as (
            question_ordinal integer,
            question_key text,
            question text,
            run_id bigint,
            status text,
            ordinal integer,
            interpretation text,
            answer text,
            support integer,
            cohesion real,
            document_ids text[],
            citations jsonb
        );
        comment on type pgclarify.question_clarification is 'A row of clarify_many.';
        comment on column pgclarify.question_clarification.question_ordinal is 'Place of the question, from 1.';
        comment on column pgclarify.question_clarification.question_key is
            'The caller''s key of it; null without keys.';
        comment on column pgclarify.question_clarification.question is 'The question.';
        comment on column pgclarify.question_clarification.run_id is 'The run.';
        comment on column pgclarify.question_clarification.status is
            'succeeded, partial, or failed or cancelled, in which case all that follows is null.';
        comment on column pgclarify.question_clarification.ordinal is 'As in clarification.';
        comment on column pgclarify.question_clarification.interpretation is 'As in clarification.';
        comment on column pgclarify.question_clarification.answer is 'As in clarification.';
        comment on column pgclarify.question_clarification.support is 'As in clarification.';
        comment on column pgclarify.question_clarification.cohesion is 'As in clarification.';
        comment on column pgclarify.question_clarification.document_ids is 'As in clarification.';
        comment on column pgclarify.question_clarification.citations is 'As in clarification.';

        create type pgclarify.run_outcome as (
            run_id bigint,
            status text,
            error text,
            interpretations integer
        );
        comment on type pgclarify.run_outcome is 'A row of wait.';
        comment on column pgclarify.run_outcome.run_id is 'The run.';
        comment on column pgclarify.run_outcome.status is 'Its state; queued or running if the timeout came first.';
        comment on column pgclarify.run_outcome.error is 'Why it failed; null unless it did.';
        comment on column pgclarify.run_outcome.interpretations is
            'Readings found; 0 means that the corpus answers none; null unless succeeded or partial.';

        create type pgclarify.search_result as (
            rank integer,
            passage_id bigint,
            document_id text,
            title text,
            heading text,
            content text,
            score double precision,
            origin text
        );
        comment on type pgclarify.search_result is 'A row of search.';
        comment on column pgclarify.search_result.rank is 'Place, from 1.';
        comment on column pgclarify.search_result.passage_id is 'The passage.';
        comment on column pgclarify.search_result.document_id is 'The document.';
        comment on column pgclarify.search_result.title is 'The document''s title.';
        comment on column pgclarify.search_result.heading is 'Headings above the passage.';
        comment on column pgclarify.search_result.content is 'The passage.';
        comment on column pgclarify.search_result.score is 'As in candidate.';
        comment on column pgclarify.search_result.origin is 'As in candidate.';
    """)


def downgrade() -> None:
    op.execute("""
        drop type
            pgclarify.search_result,
            pgclarify.run_outcome,
            pgclarify.question_clarification,
            pgclarify.clarification;
        drop table
            pgclarify.citation,
            pgclarify.interpretation,
            pgclarify.verdict,
            pgclarify.candidate,
            pgclarify.run,
            pgclarify.completion,
            pgclarify.worker;
    """)
