"""Another embedding model: how far the space that is being filled with it has come, and what it has still to embed.

Revision ID: 0007
Revises: 0006
"""

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        alter table pgclarify.embedding_space
            add column queued_document_id text,
            add column queued_passage_id bigint,
            add column queued_passages bigint not null default 0,
            add column queued_at timestamptz,
            add column ingestion_held_until timestamptz,
            add column paused_until timestamptz,
            add column retired_at timestamptz,
            add constraint embedding_space_cursor_is_whole
                check ((queued_document_id is null) = (queued_passage_id is null)),
            add constraint embedding_space_retired_has_a_time check ((state = 'retired') = (retired_at is not null));
        create unique index embedding_space_corpus_id_state_key
            on pgclarify.embedding_space (corpus_id, state) where state <> 'retired';
        create index embedding_space_retired_idx
            on pgclarify.embedding_space (embedding_space_id) where state = 'retired';
        create index embedding_space_queued_idx
            on pgclarify.embedding_space (embedding_space_id) where queued_at is not null;
        comment on column pgclarify.embedding_space.error is
            'Why no worker could open or fill it; null if none has failed.';
        comment on column pgclarify.embedding_space.queued_document_id is
            'Where filling it stands: passages up to this one, by document_id and id, have been put into '
            'pending_passage. Empty if none has yet; null until filling begins, and for the first space of a corpus.';
        comment on column pgclarify.embedding_space.queued_passage_id is 'The passage, with queued_document_id.';
        comment on column pgclarify.embedding_space.queued_passages is 'How many passages that is.';
        comment on column pgclarify.embedding_space.queued_at is
            'When all passages had been queued; null until then, and once nothing is left to do after the switch.';
        comment on column pgclarify.embedding_space.ingestion_held_until is
            'Documents of the corpus are not claimed until then, so that the space gets complete; null if they are.';
        comment on column pgclarify.embedding_space.paused_until is
            'Workers begin nothing on the corpus until then, so that the space can be begun or switched to; '
            'null if they do.';
        comment on column pgclarify.embedding_space.retired_at is
            'When it was replaced or given up; null if it was not. A worker drops it a minute later.';

        create table pgclarify.pending_passage (
            embedding_space_id bigint not null
                constraint pending_passage_embedding_space_id_fk references pgclarify.embedding_space on delete cascade,
            document_id text not null,
            passage_id bigint not null,
            attempts integer not null default 0,
            retry_at timestamptz,
            leased_by bigint,
            leased_until timestamptz,
            constraint pending_passage_pk primary key (embedding_space_id, document_id, passage_id),
            constraint pending_passage_lease_has_a_holder check ((leased_by is null) = (leased_until is null))
        );
        create index pending_passage_leased_by_idx
            on pgclarify.pending_passage (leased_by) where leased_by is not null;
        comment on table pgclarify.pending_passage is
            'A passage that a space which is being built beside the active one has no vector of yet. Workers lease '
            'rows with SKIP LOCKED. Those of a large corpus are put here a thousand at a time.';
        comment on column pgclarify.pending_passage.embedding_space_id is 'The space that is being built.';
        comment on column pgclarify.pending_passage.document_id is 'The passage''s document.';
        comment on column pgclarify.pending_passage.passage_id is 'The passage.';
        comment on column pgclarify.pending_passage.attempts is
            'How often it could not be embedded. After three times it is left, and the space is not switched to.';
        comment on column pgclarify.pending_passage.retry_at is
            'When it is tried again after it could not be embedded; null if it could, or has not been tried.';
        comment on column pgclarify.pending_passage.leased_by is 'Worker that is embedding it; null if none is.';
        comment on column pgclarify.pending_passage.leased_until is 'When another worker may take it over.';

        create table pgclarify.pending_cut (
            embedding_space_id bigint not null
                constraint pending_cut_embedding_space_id_fk references pgclarify.embedding_space on delete cascade,
            document_id text not null,
            constraint pending_cut_pk primary key (embedding_space_id, document_id)
        );
        comment on table pgclarify.pending_cut is
            'A document with a passage that is longer than the space''s model reads. Once the space is searched, the '
            'document is indexed again, which cuts it into shorter ones.';
        comment on column pgclarify.pending_cut.embedding_space_id is 'The space.';
        comment on column pgclarify.pending_cut.document_id is 'The document.';
    """)


def downgrade() -> None:
    op.execute("""
        drop table pgclarify.pending_cut, pgclarify.pending_passage;
        alter table pgclarify.embedding_space
            drop constraint embedding_space_retired_has_a_time,
            drop constraint embedding_space_cursor_is_whole,
            drop column retired_at,
            drop column paused_until,
            drop column ingestion_held_until,
            drop column queued_at,
            drop column queued_passages,
            drop column queued_passage_id,
            drop column queued_document_id;
        drop index pgclarify.embedding_space_retired_idx, pgclarify.embedding_space_corpus_id_state_key;
        comment on column pgclarify.embedding_space.error is
            'Why no worker could open it; null if none has failed.';
    """)
