"""What a new embedding model has still to embed.

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
        create table pgclarify.pending_passage (
            embedding_space_id bigint not null
                constraint pending_passage_embedding_space_id_fk references pgclarify.embedding_space on delete cascade,
            document_id text not null,
            passage_id bigint not null,
            leased_by bigint,
            leased_until timestamptz,
            constraint pending_passage_pk primary key (embedding_space_id, document_id, passage_id),
            constraint pending_passage_lease_has_a_holder check ((leased_by is null) = (leased_until is null))
        );
        create index pending_passage_leased_by_idx
            on pgclarify.pending_passage (leased_by) where leased_by is not null;
        comment on table pgclarify.pending_passage is
            'A passage that a space which is being built beside the active one has no vector of yet. Workers lease '
            'rows with SKIP LOCKED.';
        comment on column pgclarify.pending_passage.embedding_space_id is 'The space that is being built.';
        comment on column pgclarify.pending_passage.document_id is 'The passage''s document.';
        comment on column pgclarify.pending_passage.passage_id is 'The passage.';
        comment on column pgclarify.pending_passage.leased_by is 'Worker that is embedding it; null if none is.';
        comment on column pgclarify.pending_passage.leased_until is 'When another worker may take it over.';
    """)


def downgrade() -> None:
    op.execute("drop table pgclarify.pending_passage;")
