"""Long documents are indexed part by part, and what waits is counted in passages.

Revision ID: 0021
Revises: 0020
"""

from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
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
    """)


def downgrade() -> None:
    op.execute("""
        truncate pgclarify.staged_passage;
        comment on table pgclarify.staged_passage is
            'Where a worker copies passages before one statement moves them into place. Unlogged: a crash loses '
            'nothing but work.';
        drop index pgclarify.pending_document_corpus_id_is_long_added_at_idx;
        create index pending_document_corpus_id_added_at_idx on pgclarify.pending_document (corpus_id, added_at);
        alter table pgclarify.pending_document
            drop constraint pending_document_staged_is_long,
            drop column passages,
            drop column is_long,
            drop column batch_id,
            drop column staged_passages,
            drop column staged_chars;
        alter table pgclarify.corpus_tally drop column pending_passages;
    """)
