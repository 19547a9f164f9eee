"""Documents are erased: what the ledger, verdicts and evaluations keep of a document is found, and may go.

Revision ID: 0022
Revises: 0021
"""

from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
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
        comment on column pgclarify.detection.reasons is
            'What spoke: array of objects with source (classifier, feature, rule or corpus), name and text, and of a '
            'corpus document_ids.';
    """)


def downgrade() -> None:
    """Forget erased rows of the ledger and erased verdicts: the earlier version has no word for them."""
    op.execute("""
        drop index pgclarify.eval_case_document_ids_idx, pgclarify.detection_document_ids_idx,
            pgclarify.detection_unattributed_idx;
        comment on column pgclarify.detection.reasons is
            'What spoke: array of objects with source (classifier, feature, rule or corpus), name and text.';
        delete from pgclarify.verdict where verdict.outcome = 'erased';
        alter table pgclarify.verdict
            drop constraint verdict_outcome_is_known,
            add constraint verdict_outcome_is_known check (outcome in ('grounded', 'abstained', 'failed'));
        comment on column pgclarify.verdict.outcome is
            'grounded (the passage answers a reading), abstained (it does not) or failed (it could not be judged).';
        drop index pgclarify.candidate_corpus_id_document_id_idx;
        drop table pgclarify.completion_document;
        delete from pgclarify.completion where completion.erased_at is not null;
        alter table pgclarify.completion
            drop constraint completion_finished_has_a_reply,
            drop constraint completion_cost_is_of_a_reply,
            drop column erased_at,
            add constraint completion_finished_has_a_reply check ((finished_at is null) = (reply is null)),
            add constraint completion_cost_is_of_a_reply check (cost_usd is null or reply is not null);
        comment on column pgclarify.completion.reply is 'What the model said; null while nobody knows.';
    """)
