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
        create index neighborhood_passage_ids_idx
            on pgclarify.neighborhood using gin (array_append(neighbor_ids, passage_id));
        comment on table pgclarify.neighborhood is
            'A passage''s nearest passages in a space, nearest first. One partition a space; view edge has one row an '
            'edge.';
        comment on column pgclarify.neighborhood.embedding_space_id is 'The space.';
        comment on column pgclarify.neighborhood.document_id is 'The passage''s document.';
        comment on column pgclarify.neighborhood.passage_id is 'The passage; never among its own neighbors.';
        comment on column pgclarify.neighborhood.neighbor_document_ids is 'Documents of the neighbors, in their order.';
        comment on column pgclarify.neighborhood.neighbor_ids is
            'The nearest passages, at most corpus.graph_degree. Indexed together with passage_id: when a passage goes, '
            'its own list and those that name it are found.';
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
        create index pending_link_embedding_space_id_added_at_idx
            on pgclarify.pending_link (embedding_space_id, added_at);
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
        create index pending_unlink_embedding_space_id_added_at_idx
            on pgclarify.pending_unlink (embedding_space_id, added_at);
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

        alter table pgclarify.embedding_space
            add column linking_document_id text,
            add column linking_passage_id bigint,
            add column linking_passages bigint,
            add constraint embedding_space_linking_is_whole check (
                (linking_document_id is null) = (linking_passage_id is null)
                and (linking_document_id is null) = (linking_passages is null)
            );
        comment on column pgclarify.embedding_space.linking_document_id is
            'Where a worker is that links all passages by key: the document of the last one; null if none does.';
        comment on column pgclarify.embedding_space.linking_passage_id is 'The last one itself; null if none does.';
        comment on column pgclarify.embedding_space.linking_passages is
            'How many passages it has still before it, about; null if none does.';

        create type pgclarify.neighbor as (
            rank integer,
            document_id text,
            passage_id bigint,
            similarity real
        );
        comment on type pgclarify.neighbor is 'A passage near another: a row of neighbors.';
        comment on column pgclarify.neighbor.rank is 'Place among those that you may read, from 1.';
        comment on column pgclarify.neighbor.document_id is 'The document.';
        comment on column pgclarify.neighbor.passage_id is 'The passage.';
        comment on column pgclarify.neighbor.similarity is
            'How near it is: cosine similarity, or lexical similarity from 0 to 1.';

        create type pgclarify.graph_check as (
            passages bigint,
            linked bigint,
            unlinked bigint,
            pending bigint,
            self_edges bigint,
            dangling bigint,
            orphans bigint,
            gaps bigint,
            unordered bigint,
            sampled integer,
            recall double precision
        );
        comment on type pgclarify.graph_check is 'What check_graph found. One row.';
        comment on column pgclarify.graph_check.passages is 'Passages with a vector in the active space.';
        comment on column pgclarify.graph_check.linked is 'Those with a list of neighbors.';
        comment on column pgclarify.graph_check.unlinked is 'Those without one.';
        comment on column pgclarify.graph_check.pending is 'What waits for a worker: passages to link, and to unlink.';
        comment on column pgclarify.graph_check.self_edges is 'Edges from a passage to itself.';
        comment on column pgclarify.graph_check.dangling is
            'Edges from or to passages that are gone, and of which no worker is told.';
        comment on column pgclarify.graph_check.orphans is 'Vectors of passages that are gone.';
        comment on column pgclarify.graph_check.gaps is
            'Lists that are shorter than they could be; null in a graph of lexical similarity, where that is no fault.';
        comment on column pgclarify.graph_check.unordered is
            'Lists that are longer than corpus.graph_degree, name a passage twice, or are not nearest first.';
        comment on column pgclarify.graph_check.sampled is 'Lists that were compared with an exact search.';
        comment on column pgclarify.graph_check.recall is
            'Share of their true neighbors that they hold, 0 to 1; null if none were compared.';
    """)


def downgrade() -> None:
    op.execute("""
        drop type pgclarify.graph_check, pgclarify.neighbor;
        alter table pgclarify.embedding_space
            drop column linking_document_id, drop column linking_passage_id, drop column linking_passages;
        alter table pgclarify.corpus_tally drop column linked;
        alter table pgclarify.corpus drop column graph_similarity;
        drop table pgclarify.pending_unlink, pgclarify.pending_link, pgclarify.neighborhood;
    """)
