"""Evaluations: their cases and metrics; what reused calls of a stage had cost; workers that serve nobody."""

from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        alter table pgclarify.stage
            add column reused_prompt_tokens bigint not null default 0
                constraint stage_reused_prompt_tokens_are_not_negative check (reused_prompt_tokens >= 0),
            add column reused_completion_tokens bigint not null default 0
                constraint stage_reused_completion_tokens_are_not_negative check (reused_completion_tokens >= 0),
            add column model_ms double precision not null default 0
                constraint stage_model_ms_is_not_negative check (model_ms >= 0);
        comment on column pgclarify.stage.reused_prompt_tokens is
            'Input tokens of the replies that it took from the ledger.';
        comment on column pgclarify.stage.reused_completion_tokens is
            'Output tokens of the replies that it took from the ledger.';
        comment on column pgclarify.stage.model_ms is
            'Milliseconds that its calls took, those of replies from the ledger included, as if one came after the '
            'other.';

        -- Evaluations ask the same questions again and again. A hash: a question may be longer than a key of a tree.
        create index run_question_idx on pgclarify.run using hash (question);

        alter table pgclarify.worker add column is_serving boolean not null default true;
        comment on column pgclarify.worker.is_serving is
            'True if it takes runs and documents; false for a process that only leases replies of the ledger, as an '
            'evaluation does.';

        comment on column pgclarify.completion.purpose is
            'What the reply is for: relaxation, verdict, relevance, entailment, follow_up, sample, answer, '
            'conclusion, rewriting, questions, reformulation or listing; in evaluations also baseline_proposal, '
            'baseline_verification, baseline_answers, baseline_disambiguation, judge_support, judge_match, '
            'judge_distinct or judge_relevance.';

        create table pgclarify.eval_run (
            eval_run_id bigint generated always as identity,
            name text not null constraint eval_run_name_is_short check (length(name) between 1 and 200),
            data_set text not null,
            data_set_hash bytea not null
                constraint eval_run_data_set_hash_is_sha256 check (length(data_set_hash) = 32),
            corpus_id bigint constraint eval_run_corpus_id_fk references pgclarify.corpus on delete set null,
            corpus_name text not null,
            corpus_revision bigint not null,
            method text not null constraint eval_run_method_is_known check (
                method in (
                    'clarify', 'list_answers', 'investigate', 'search', 'detect_ambiguity', 'dtv', 'dtv_unverified',
                    'rac', 'human'
                )
            ),
            settings jsonb not null
                constraint eval_run_settings_is_an_object check (jsonb_typeof(settings) = 'object'),
            provider text not null,
            model text not null,
            prompt_version text not null,
            embedding_model text not null,
            judge text not null,
            judge_version text not null,
            version text not null,
            requested_by name not null default current_user,
            planned_cases integer not null
                constraint eval_run_planned_cases_are_positive check (planned_cases >= 1),
            created_at timestamptz not null default now(),
            finished_at timestamptz,
            constraint eval_run_pk primary key (eval_run_id)
        );
        create index eval_run_corpus_id_idx on pgclarify.eval_run (corpus_id);
        create index eval_run_name_idx on pgclarify.eval_run (name, eval_run_id);
        create index eval_run_unfinished_idx on pgclarify.eval_run (data_set_hash) where finished_at is null;
        comment on table pgclarify.eval_run is
            'An evaluation: one method with one configuration over one data set. Written by pgclarify eval run; '
            'delete rows as you like, cases and metrics go with them.';
        comment on column pgclarify.eval_run.eval_run_id is 'Key.';
        comment on column pgclarify.eval_run.name is
            'What people call it; several may have one name, and the latest is meant.';
        comment on column pgclarify.eval_run.data_set is 'Name of the data set: that of its file.';
        comment on column pgclarify.eval_run.data_set_hash is
            'SHA-256 of the cases, in order: evaluations of the same cases can be compared.';
        comment on column pgclarify.eval_run.corpus_id is 'The corpus; null once it was dropped.';
        comment on column pgclarify.eval_run.corpus_name is 'The corpus''s name when it was asked.';
        comment on column pgclarify.eval_run.corpus_revision is 'Revision of the corpus when the evaluation began.';
        comment on column pgclarify.eval_run.method is
            'clarify, list_answers, investigate, search, detect_ambiguity, a baseline (dtv, dtv_unverified, rac), or '
            'human (the readings of the data set itself).';
        comment on column pgclarify.eval_run.settings is 'All its parameters, as given.';
        comment on column pgclarify.eval_run.provider is 'Who judged passages or answered: openai or extractive.';
        comment on column pgclarify.eval_run.model is 'Model that was asked.';
        comment on column pgclarify.eval_run.prompt_version is 'Version of its prompts.';
        comment on column pgclarify.eval_run.embedding_model is 'Embedding model of the corpus when it began.';
        comment on column pgclarify.eval_run.judge is
            'Who judged what the method gave: lexical (no model), or the name of a model.';
        comment on column pgclarify.eval_run.judge_version is 'Version of the judge''s rules or prompts.';
        comment on column pgclarify.eval_run.version is 'Version of pgclarify.';
        comment on column pgclarify.eval_run.requested_by is 'Role that evaluated.';
        comment on column pgclarify.eval_run.planned_cases is 'How many cases it has when it is finished.';
        comment on column pgclarify.eval_run.created_at is 'When it began.';
        comment on column pgclarify.eval_run.finished_at is
            'When its last case was judged; null while it goes on, or if it was interrupted: the same command resumes '
            'it.';

        create table pgclarify.eval_case (
            eval_run_id bigint not null
                constraint eval_case_eval_run_id_fk references pgclarify.eval_run on delete cascade,
            ordinal integer not null constraint eval_case_ordinal_counts_from_one check (ordinal >= 1),
            case_id text not null,
            question text not null,
            gold jsonb not null constraint eval_case_gold_is_an_object check (jsonb_typeof(gold) = 'object'),
            output jsonb not null constraint eval_case_output_is_an_object check (jsonb_typeof(output) = 'object'),
            run_id bigint constraint eval_case_run_id_fk references pgclarify.run on delete set null,
            status text not null
                constraint eval_case_status_is_known check (status in ('succeeded', 'partial', 'failed')),
            error text,
            calls integer not null constraint eval_case_calls_are_not_negative check (calls >= 0),
            reused_calls integer not null
                constraint eval_case_reused_calls_are_calls check (reused_calls between 0 and calls),
            prompt_tokens bigint not null
                constraint eval_case_prompt_tokens_are_not_negative check (prompt_tokens >= 0),
            completion_tokens bigint not null
                constraint eval_case_completion_tokens_are_not_negative check (completion_tokens >= 0),
            model_seconds double precision not null
                constraint eval_case_model_seconds_are_not_negative check (model_seconds >= 0),
            seconds double precision not null
                constraint eval_case_seconds_are_not_negative check (seconds >= 0),
            created_at timestamptz not null default now(),
            constraint eval_case_pk primary key (eval_run_id, ordinal),
            constraint eval_case_failed_has_an_error check ((status = 'failed') = (error is not null))
        );
        create index eval_case_run_id_idx on pgclarify.eval_case (run_id) where run_id is not null;
        comment on table pgclarify.eval_case is 'One question of an evaluation, and what the method gave for it.';
        comment on column pgclarify.eval_case.eval_run_id is 'The evaluation.';
        comment on column pgclarify.eval_case.ordinal is 'Its place among the cases that were asked, from 1.';
        comment on column pgclarify.eval_case.case_id is 'Its id in the data set.';
        comment on column pgclarify.eval_case.question is 'What was asked.';
        comment on column pgclarify.eval_case.gold is
            'What is known of it: interpretations (interpretation, answers, document_ids), answer_sets, document_ids, '
            'is_ambiguous.';
        comment on column pgclarify.eval_case.output is
            'What the method gave: interpretations (interpretation, answer, support, is_grounded, citations with '
            'document_id, passage_id, title and quote), retrieved (document_id, passage_id), probability, notes.';
        comment on column pgclarify.eval_case.run_id is
            'The run behind it; null for baselines, or once it was deleted.';
        comment on column pgclarify.eval_case.status is
            'succeeded, partial (some passages could not be judged) or failed: that counts as having given nothing.';
        comment on column pgclarify.eval_case.error is 'Why it failed; null unless it did.';
        comment on column pgclarify.eval_case.calls is
            'Replies of the model that it used, whether paid for now or before. The judge''s are not among them.';
        comment on column pgclarify.eval_case.reused_calls is 'How many of them came from the ledger.';
        comment on column pgclarify.eval_case.prompt_tokens is 'Input tokens of all of them.';
        comment on column pgclarify.eval_case.completion_tokens is 'Output tokens of all of them.';
        comment on column pgclarify.eval_case.model_seconds is
            'Seconds that all of them took when they were made, as if one came after the other.';
        comment on column pgclarify.eval_case.seconds is
            'Seconds from the question to the last answer, as it went this time: next to nothing where all was paid '
            'for.';
        comment on column pgclarify.eval_case.created_at is 'When it was judged.';

        create table pgclarify.eval_metric (
            eval_run_id bigint not null
                constraint eval_metric_eval_run_id_fk references pgclarify.eval_run on delete cascade,
            metric text not null,
            ordinal integer,
            value double precision not null,
            low double precision,
            high double precision,
            cases integer constraint eval_metric_cases_are_positive check (cases >= 1),
            constraint eval_metric_key unique nulls not distinct (eval_run_id, metric, ordinal),
            constraint eval_metric_case_fk foreign key (eval_run_id, ordinal)
                references pgclarify.eval_case on delete cascade,
            constraint eval_metric_of_all_counts_cases check ((ordinal is null) = (cases is not null)),
            constraint eval_metric_interval_has_two_ends check ((low is null) = (high is null)),
            constraint eval_metric_interval_is_of_all check (low is null or ordinal is null)
        );
        create index eval_metric_case_idx on pgclarify.eval_metric (eval_run_id, ordinal);
        comment on table pgclarify.eval_metric is
            'How good a case was, or all cases together. docs/methods/evaluation.md says what each metric is.';
        comment on column pgclarify.eval_metric.eval_run_id is 'The evaluation.';
        comment on column pgclarify.eval_metric.metric is 'Its name, such as grounded_precision or recall@10.';
        comment on column pgclarify.eval_metric.ordinal is 'The case; null for all cases together.';
        comment on column pgclarify.eval_metric.value is 'Its value.';
        comment on column pgclarify.eval_metric.low is
            'Lower end of the bootstrap 95 % interval; null for a case, or where there is none.';
        comment on column pgclarify.eval_metric.high is 'Upper end of that interval; null likewise.';
        comment on column pgclarify.eval_metric.cases is 'Over how many cases it is; null for a case.';
    """)


def downgrade() -> None:
    """Lose all evaluations; what they paid for stays in the ledger, and so do their runs."""
    op.execute("""
        drop table pgclarify.eval_metric;
        drop table pgclarify.eval_case;
        drop table pgclarify.eval_run;

        comment on column pgclarify.completion.purpose is
            'What the reply is for: relaxation, verdict, relevance, entailment, follow_up, sample, answer, '
            'conclusion, rewriting, questions, reformulation or listing.';

        drop index pgclarify.run_question_idx;

        -- Nobody would know any more that they serve nobody.
        delete from pgclarify.worker where not worker.is_serving;
        alter table pgclarify.worker drop column is_serving;

        alter table pgclarify.stage
            drop column reused_prompt_tokens,
            drop column reused_completion_tokens,
            drop column model_ms;
    """)
