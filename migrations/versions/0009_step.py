"""Investigations: the steps of a run, and what proves their answers.

Revision ID: 0009
Revises: 0008
"""

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        create table pgclarify.step (
            run_id bigint not null constraint step_run_id_fk references pgclarify.run on delete cascade,
            ordinal integer not null constraint step_ordinal_counts_from_one check (ordinal >= 1),
            kind text not null
                constraint step_kind_is_known check (kind in ('direct', 'follow_up', 'conclusion')),
            question text not null,
            answer text constraint step_answer_is_not_blank check (answer ~ '\\S'),
            outcome text not null constraint step_outcome_is_known check (
                outcome in ('answered', 'not_in_corpus', 'repeated', 'contradicted', 'cut_off', 'failed')
            ),
            confidence real constraint step_confidence_is_a_share check (confidence > 0 and confidence <= 1),
            reason text,
            semantic_sets integer constraint step_semantic_sets_count_from_one check (semantic_sets >= 1),
            created_at timestamptz not null default now(),
            constraint step_pk primary key (run_id, ordinal),
            constraint step_answered_has_an_answer check ((outcome = 'answered') = (answer is not null)),
            constraint step_answer_has_a_confidence check ((answer is not null) = (confidence is not null))
        );
        create unique index step_conclusion_key on pgclarify.step (run_id) where kind = 'conclusion';
        comment on table pgclarify.step is
            'What an investigation asked on its way, and what became of it. Written as it goes on.';
        comment on column pgclarify.step.run_id is 'The run.';
        comment on column pgclarify.step.ordinal is 'Place in the chain, from 1; the conclusion is the last one.';
        comment on column pgclarify.step.kind is
            'direct (the question itself, which needed no follow-up), follow_up (a question that it rests on) or '
            'conclusion (the answer to the whole question).';
        comment on column pgclarify.step.question is 'What was asked.';
        comment on column pgclarify.step.answer is 'Its answer; null unless answered.';
        comment on column pgclarify.step.outcome is
            'answered, not_in_corpus (there is no evidence), repeated (it was asked before), contradicted (steps '
            'contradict each other, and the evidence does not decide), cut_off (the limit on calls was reached) or '
            'failed (the model could not be reached or understood).';
        comment on column pgclarify.step.confidence is
            'How sure the answer is, above 0 and up to 1; null unless answered.';
        comment on column pgclarify.step.reason is
            'Why there is no answer, or what else is worth saying of it; null if nothing is.';
        comment on column pgclarify.step.semantic_sets is
            'Into how many groups of one meaning the sampled answers fell; null where none were sampled.';
        comment on column pgclarify.step.created_at is 'When it was decided.';

        create table pgclarify.step_citation (
            run_id bigint not null,
            step_ordinal integer not null,
            rank integer not null constraint step_citation_rank_counts_from_one check (rank >= 1),
            candidate_rank integer not null,
            corpus_id bigint not null,
            document_id text not null,
            passage_id bigint not null,
            heading text,
            quote text not null,
            start_char integer not null,
            end_char integer not null,
            constraint step_citation_pk primary key (run_id, step_ordinal, rank),
            constraint step_citation_step_fk foreign key (run_id, step_ordinal)
                references pgclarify.step on delete cascade
        );
        comment on table pgclarify.step_citation is
            'From a step to a passage that proves its answer. Quote and ids stay when the document goes.';
        comment on column pgclarify.step_citation.run_id is 'The run.';
        comment on column pgclarify.step_citation.step_ordinal is 'The step.';
        comment on column pgclarify.step_citation.rank is 'Place among its citations, from 1.';
        comment on column pgclarify.step_citation.candidate_rank is
            'The candidate''s rank in the run; a conclusion cites candidates of other steps.';
        comment on column pgclarify.step_citation.corpus_id is 'The corpus.';
        comment on column pgclarify.step_citation.document_id is 'The document.';
        comment on column pgclarify.step_citation.passage_id is 'The passage.';
        comment on column pgclarify.step_citation.heading is
            'Headings above the passage when it was cited; null if none.';
        comment on column pgclarify.step_citation.quote is 'The words that prove the answer, verbatim.';
        comment on column pgclarify.step_citation.start_char is 'Offset of the quote in the document, from 0.';
        comment on column pgclarify.step_citation.end_char is 'Offset after the quote.';

        create type pgclarify.investigation as (
            run_id bigint,
            status text,
            outcome text,
            answer text,
            confidence real,
            steps jsonb,
            document_ids text[],
            citations jsonb
        );
        comment on type pgclarify.investigation is 'What an investigation came to: the row of investigate.';
        comment on column pgclarify.investigation.run_id is 'The run.';
        comment on column pgclarify.investigation.status is 'succeeded or partial.';
        comment on column pgclarify.investigation.outcome is
            'How its conclusion ended: answered, not_in_corpus, contradicted, cut_off or failed.';
        comment on column pgclarify.investigation.answer is 'The answer; null unless answered.';
        comment on column pgclarify.investigation.confidence is
            'How sure it is, above 0 and up to 1; null unless answered.';
        comment on column pgclarify.investigation.steps is
            'Array of objects with the columns of view investigation_step, in order, and citations, an array of '
            'objects with the columns of view investigation_citation.';
        comment on column pgclarify.investigation.document_ids is
            'Documents that the conclusion cites, best first; empty if there are none.';
        comment on column pgclarify.investigation.citations is
            'What proves the conclusion: array of objects with the columns of view investigation_citation.';

        comment on column pgclarify.run_outcome.interpretations is
            'Readings found; 0 means that the corpus answers none; null unless succeeded or partial, and for runs '
            'that look for none, such as investigations.';
    """)


def downgrade() -> None:
    """Lose the steps of investigations and what proves them. The runs stay until revision 0008 is undone."""
    op.execute("""
        comment on column pgclarify.run_outcome.interpretations is
            'Readings found; 0 means that the corpus answers none; null unless succeeded or partial.';
        drop type pgclarify.investigation;
        drop table pgclarify.step_citation, pgclarify.step;
    """)
