"""The neighborhood graph.

Revision ID: 0006
Revises: 0005
"""

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        create table pgclarify.neighborhood (
            embedding_space_id bigint not null,
            document_id text not null,
            passage_id bigint not null,
            neighbor_document_ids text[] not null,
            neighbor_ids bigint[] not null,
            similarities real[] not null,
            constraint neighborhood_pk primary key (embedding_space_id, document_id, passage_id),
            constraint neighborhood_arrays_are_parallel check (
                cardinality(neighbor_document_ids) = cardinality(neighbor_ids)
                and cardinality(similarities) = cardinality(neighbor_ids)
            )
        ) partition by list (embedding_space_id);
        create index neighborhood_neighbor_ids_idx on pgclarify.neighborhood using gin (neighbor_ids);
        comment on table pgclarify.neighborhood is
            'A passage''s nearest passages in a space, nearest first. One partition a space; view edge has one row an '
            'edge.';
        comment on column pgclarify.neighborhood.embedding_space_id is 'The space.';
        comment on column pgclarify.neighborhood.document_id is 'The passage''s document.';
        comment on column pgclarify.neighborhood.passage_id is 'The passage; never among its own neighbors.';
        comment on column pgclarify.neighborhood.neighbor_document_ids is 'Documents of the neighbors, in their order.';
        comment on column pgclarify.neighborhood.neighbor_ids is
            'The nearest passages, at most corpus.graph_degree. Indexed: when a passage goes, the lists that name it '
            'are found.';
        comment on column pgclarify.neighborhood.similarities is
            'How near each is, falling: cosine similarity, or lexical similarity from 0 to 1.';

        create table pgclarify.pending_link (
            embedding_space_id bigint not null
                constraint pending_link_embedding_space_id_fk references pgclarify.embedding_space on delete cascade,
            document_id text not null,
            passage_id bigint not null,
            added_at timestamptz not null default now(),
            constraint pending_link_pk primary key (embedding_space_id, document_id, passage_id)
        );
        comment on table pgclarify.pending_link is
            'A passage whose neighbors are to be found, or found again. Workers take rows with SKIP LOCKED.';
        comment on column pgclarify.pending_link.embedding_space_id is 'The space.';
        comment on column pgclarify.pending_link.document_id is 'The passage''s document.';
        comment on column pgclarify.pending_link.passage_id is 'The passage.';
        comment on column pgclarify.pending_link.added_at is 'Since when it waits.';

        create table pgclarify.pending_unlink (
            embedding_space_id bigint not null
                constraint pending_unlink_embedding_space_id_fk references pgclarify.embedding_space on delete cascade,
            passage_id bigint not null,
            added_at timestamptz not null default now(),
            constraint pending_unlink_pk primary key (embedding_space_id, passage_id)
        );
        comment on table pgclarify.pending_unlink is
            'A passage that is gone, or has another vector, while neighborhoods may still name it.';
        comment on column pgclarify.pending_unlink.embedding_space_id is 'The space.';
        comment on column pgclarify.pending_unlink.passage_id is 'The passage.';
        comment on column pgclarify.pending_unlink.added_at is 'Since when it waits.';

        alter table pgclarify.corpus
            add column graph_similarity text not null default 'dense'
            constraint corpus_graph_similarity_is_known check (graph_similarity in ('dense', 'lexical'));
        comment on column pgclarify.corpus.graph_similarity is
            'What makes passages neighbors: dense (cosine similarity of their vectors) or lexical (words they share).';
        alter table pgclarify.corpus_tally add column linked bigint not null default 0;
        comment on column pgclarify.corpus_tally.linked is
            'Neighborhoods added to the active space, less those removed.';
    """)


def downgrade() -> None:
    op.execute("""
        alter table pgclarify.corpus_tally drop column linked;
        alter table pgclarify.corpus drop column graph_similarity;
        drop table pgclarify.pending_unlink, pgclarify.pending_link, pgclarify.neighborhood;
    """)
