"""Exploration: how each passage of a run was reached, what the run did stage by stage, and why it went no further.

Revision ID: 0008
Revises: 0007
"""

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        alter table pgclarify.run
            add column stop_reason text,
            add column linked_passages bigint,
            drop constraint run_operation_is_known,
            add constraint run_operation_is_known
                check (operation in ('clarify', 'consolidate', 'search', 'investigate'));
        comment on column pgclarify.run.operation is 'clarify, consolidate, search or investigate.';
        comment on column pgclarify.run.stop_reason is
            'Why it went no further where it might have; null if there was nothing to decide.';
        comment on column pgclarify.run.linked_passages is
            'Passages with neighbors when it was last started: a run that explores is served again only while there '
            'are as many.';

        alter table pgclarify.candidate
            add column batch integer not null default 1,
            add column step_ordinal integer,
            add constraint candidate_batch_counts_from_one check (batch >= 1),
            add constraint candidate_step_ordinal_counts_from_one check (step_ordinal >= 1);
        comment on column pgclarify.candidate.rank is
            'From 1: its place in the ranking or, where passages are explored by their verdicts, in the order in which '
            'they were chosen.';
        comment on column pgclarify.candidate.score is
            'dense: cosine similarity; lexical: BM25; hybrid: reciprocal rank fusion; a neighbor: its similarity to '
            'the passage that led to it; where passages were scored again, that score. Higher is better.';
        comment on column pgclarify.candidate.batch is
            'The batch in which it was chosen, from 1; 1 without exploration.';
        comment on column pgclarify.candidate.step_ordinal is
            'The step of the investigation that it was retrieved for; null for other operations.';

        comment on column pgclarify.completion.purpose is
            'What the reply is for: relaxation, verdict, relevance, entailment, follow_up, sample, answer or '
            'conclusion.';

        create table pgclarify.stage (
            run_id bigint not null constraint stage_run_id_fk references pgclarify.run on delete cascade,
            ordinal integer not null constraint stage_ordinal_counts_from_one check (ordinal >= 1),
            name text not null constraint stage_name_is_known check (
                name in (
                    'relaxation', 'retrieval', 'neighbors', 'reranking', 'judgement', 'consolidation', 'decomposition',
                    'sampling', 'answering', 'reasoning'
                )
            ),
            batch integer constraint stage_batch_counts_from_one check (batch >= 1),
            step_ordinal integer constraint stage_step_ordinal_counts_from_one check (step_ordinal >= 1),
            started_at timestamptz not null,
            duration_ms real not null constraint stage_duration_ms_is_not_negative check (duration_ms >= 0),
            rows integer constraint stage_rows_are_not_negative check (rows >= 0),
            calls integer not null constraint stage_calls_are_not_negative check (calls >= 0),
            reused_calls integer not null constraint stage_reused_calls_are_not_negative check (reused_calls >= 0),
            prompt_tokens bigint not null constraint stage_prompt_tokens_are_not_negative check (prompt_tokens >= 0),
            completion_tokens bigint not null
                constraint stage_completion_tokens_are_not_negative check (completion_tokens >= 0),
            note text,
            constraint stage_pk primary key (run_id, ordinal)
        );
        comment on table pgclarify.stage is 'What a run did, stage by stage. Written when it ends; see explain.';
        comment on column pgclarify.stage.run_id is 'The run.';
        comment on column pgclarify.stage.ordinal is 'Place by the time it began, from 1.';
        comment on column pgclarify.stage.name is
            'relaxation, retrieval, neighbors, reranking, judgement, consolidation, decomposition, sampling, '
            'answering or reasoning.';
        comment on column pgclarify.stage.batch is 'The batch of passages, from 1; null where there are none.';
        comment on column pgclarify.stage.step_ordinal is 'The step of an investigation; null for other operations.';
        comment on column pgclarify.stage.started_at is 'When it began.';
        comment on column pgclarify.stage.duration_ms is 'Milliseconds that it took. Stages may overlap.';
        comment on column pgclarify.stage.rows is
            'What it came to: passages, verdicts, interpretations; null where nothing is counted.';
        comment on column pgclarify.stage.calls is 'Calls that it paid for.';
        comment on column pgclarify.stage.reused_calls is 'Replies that it took from the ledger.';
        comment on column pgclarify.stage.prompt_tokens is 'Input tokens that it paid for.';
        comment on column pgclarify.stage.completion_tokens is 'Output tokens that it paid for.';
        comment on column pgclarify.stage.note is 'What else is worth a line; null if nothing.';
    """)


def downgrade() -> None:
    """Lose what runs did stage by stage, why they stopped, their batches, and all investigations.

    What was paid for stays in the ledger. Runs that wait for what the version before cannot do are cancelled.
    """
    op.execute("""
        drop table pgclarify.stage;

        update pgclarify.run
        set status = 'cancelled', finished_at = clock_timestamp()
        where
            status in ('queued', 'running')
            and (settings ->> 'retrieval' = 'adaptive' or settings ? 'reranker' or settings ? 'budget');

        comment on column pgclarify.completion.purpose is 'What the reply is for: relaxation or verdict.';

        alter table pgclarify.candidate drop column batch, drop column step_ordinal;
        comment on column pgclarify.candidate.rank is 'Place in the ranking, from 1.';
        comment on column pgclarify.candidate.score is
            'dense: cosine similarity; lexical: BM25; hybrid: reciprocal rank fusion. Higher is better.';

        -- Their jobs stay: a worker that finds no run is done with them.
        update pgclarify.completion
        set run_id = null
        from pgclarify.run
        where run.run_id = completion.run_id and run.operation = 'investigate';
        delete from pgclarify.run where operation = 'investigate';
        alter table pgclarify.run
            drop column stop_reason,
            drop column linked_passages,
            drop constraint run_operation_is_known,
            add constraint run_operation_is_known check (operation in ('clarify', 'consolidate', 'search'));
        comment on column pgclarify.run.operation is 'clarify, consolidate or search.';
    """)
