"""Corpora, their documents, passages and vectors.

Revision ID: 0003
Revises: 0002
"""

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # "halfvec" is found wherever the extension lives.
    vector_schema = (
        op.get_bind()
        .exec_driver_sql(
            "select quote_ident(n.nspname) from pg_extension e join pg_namespace n on n.oid = e.extnamespace"
            " where e.extname = 'vector'"
        )
        .scalar_one()
    )
    op.execute("""
        create table pgclarify.corpus (
            corpus_id bigint generated always as identity constraint corpus_pk primary key,
            name text not null
                constraint corpus_name_key unique
                constraint corpus_name_is_short check (length(name) between 1 and 200),
            search_config text not null,
            graph_degree integer not null default 16
                constraint corpus_graph_degree_is_small check (graph_degree between 1 and 1000),
            revision bigint not null default 0,
            owner name not null,
            reader name,
            analyst name,
            embedding_space_id bigint,
            created_at timestamptz not null default now()
        );
        comment on table pgclarify.corpus is 'A body of documents that are searched together.';
        comment on column pgclarify.corpus.corpus_id is 'Key; also names the partition pgclarify.passage_<corpus_id>.';
        comment on column pgclarify.corpus.name is 'What callers name it by.';
        comment on column pgclarify.corpus.search_config is
            'Text search configuration of its language, such as english; schema-qualified unless in pg_catalog.';
        comment on column pgclarify.corpus.graph_degree is 'Neighbors that the neighborhood graph keeps for a passage.';
        comment on column pgclarify.corpus.revision is
            'How often its searchable content changed, without the changes that still stand in corpus_tally.';
        comment on column pgclarify.corpus.owner is 'Role whose members may change and drop it.';
        comment on column pgclarify.corpus.reader is
            'Role whose members may search it; null means every pgclarify_user.';
        comment on column pgclarify.corpus.analyst is
            'Role whose members see the runs of everyone on it; null means nobody.';
        comment on column pgclarify.corpus.embedding_space_id is
            'The space that searches use; null until a worker has opened the first one.';
        comment on column pgclarify.corpus.created_at is 'When it was created.';

        create table pgclarify.embedding_space (
            embedding_space_id bigint generated always as identity constraint embedding_space_pk primary key,
            corpus_id bigint not null
                constraint embedding_space_corpus_id_fk references pgclarify.corpus on delete cascade,
            model text not null,
            dimensions integer
                constraint embedding_space_dimensions_fit_an_index check (dimensions between 1 and 4000),
            state text not null default 'building'
                constraint embedding_space_state_is_known check (state in ('building', 'active', 'retired')),
            error text,
            created_at timestamptz not null default now(),
            constraint embedding_space_active_has_dimensions check (state <> 'active' or dimensions is not null)
        );
        create index embedding_space_corpus_id_idx on pgclarify.embedding_space (corpus_id);
        create index embedding_space_building_idx
            on pgclarify.embedding_space (embedding_space_id) where state = 'building';
        comment on table pgclarify.embedding_space is 'A corpus seen through one embedding model.';
        comment on column pgclarify.embedding_space.embedding_space_id is
            'Key; also names the partition pgclarify.passage_embedding_<embedding_space_id>.';
        comment on column pgclarify.embedding_space.corpus_id is 'The corpus.';
        comment on column pgclarify.embedding_space.model is 'Name of the embedding model.';
        comment on column pgclarify.embedding_space.dimensions is
            'Length of its vectors; null until a worker has loaded the model.';
        comment on column pgclarify.embedding_space.state is
            'building (being filled), active (searched) or retired (replaced).';
        comment on column pgclarify.embedding_space.error is
            'Why no worker could open it; null if none has failed.';
        comment on column pgclarify.embedding_space.created_at is 'When it was created.';
        alter table pgclarify.corpus
            add constraint corpus_embedding_space_id_fk foreign key (embedding_space_id)
            references pgclarify.embedding_space on delete set null;
        create index corpus_embedding_space_id_idx on pgclarify.corpus (embedding_space_id);

        create table pgclarify.corpus_tally (
            corpus_tally_id bigint generated always as identity constraint corpus_tally_pk primary key,
            corpus_id bigint not null
                constraint corpus_tally_corpus_id_fk references pgclarify.corpus on delete cascade,
            documents bigint not null default 0,
            pending bigint not null default 0,
            failed bigint not null default 0,
            passages bigint not null default 0,
            restricted_documents bigint not null default 0,
            restricted_passages bigint not null default 0,
            embedded bigint not null default 0,
            lexemes bigint not null default 0,
            revision bigint not null default 0
        );
        create index corpus_tally_corpus_id_idx on pgclarify.corpus_tally (corpus_id);
        comment on table pgclarify.corpus_tally is
            'Counts of a corpus as increments: their sum is the count. Writers append, so that nobody waits for '
            'anybody''s transaction; workers fold the rows of a corpus into one.';
        comment on column pgclarify.corpus_tally.corpus_tally_id is 'Key.';
        comment on column pgclarify.corpus_tally.corpus_id is 'The corpus.';
        comment on column pgclarify.corpus_tally.documents is 'Documents added, less those removed.';
        comment on column pgclarify.corpus_tally.pending is 'Documents that became pending, less those indexed.';
        comment on column pgclarify.corpus_tally.failed is 'Documents that cannot be indexed, less those mended.';
        comment on column pgclarify.corpus_tally.passages is 'Passages added, less those removed.';
        comment on column pgclarify.corpus_tally.restricted_documents is
            'The same as documents, of those with readers of their own.';
        comment on column pgclarify.corpus_tally.restricted_passages is
            'The same as passages, of those with readers of their own.';
        comment on column pgclarify.corpus_tally.embedded is 'Vectors added to the active space, less those removed.';
        comment on column pgclarify.corpus_tally.lexemes is
            'Lexeme occurrences added, less those removed: over passages, the average length that BM25 wants.';
        comment on column pgclarify.corpus_tally.revision is 'Changes of the searchable content.';
    """)
    op.execute(f"""
        create table pgclarify.document (
            corpus_id bigint not null constraint document_corpus_id_fk references pgclarify.corpus,
            id text not null
                constraint document_id_is_short check (length(id) between 1 and 1000 and octet_length(id) <= 2600),
            content text not null,
            title text,
            uri text,
            metadata jsonb not null default '{{}}'
                constraint document_metadata_is_an_object check (jsonb_typeof(metadata) = 'object'),
            readers name[],
            content_hash bytea not null,
            error text,
            created_at timestamptz not null default now(),
            updated_at timestamptz not null default now(),
            indexed_at timestamptz,
            constraint document_pk primary key (corpus_id, id)
        );
        comment on table pgclarify.document is 'One citable document.';
        comment on column pgclarify.document.corpus_id is 'The corpus.';
        comment on column pgclarify.document.id is
            'The user''s own id, as text: citations join straight back, bigint ids by document_ids::bigint[].';
        comment on column pgclarify.document.content is
            'Plain text or Markdown. Offsets of passages and citations count in it.';
        comment on column pgclarify.document.title is 'Null if it has none.';
        comment on column pgclarify.document.uri is 'Where a person finds the original; null if nowhere.';
        comment on column pgclarify.document.metadata is 'Any JSON object.';
        comment on column pgclarify.document.readers is
            'Roles that may read it; null means every reader of the corpus. A name that is no role admits nobody.';
        comment on column pgclarify.document.content_hash is
            'SHA-256 of title and content: what a search can see of it.';
        comment on column pgclarify.document.error is 'Why it cannot be indexed; null if nothing is wrong.';
        comment on column pgclarify.document.created_at is 'When it was first added.';
        comment on column pgclarify.document.updated_at is 'When it last changed.';
        comment on column pgclarify.document.indexed_at is 'When its content last became searchable; null if never.';

        create table pgclarify.pending_document (
            corpus_id bigint not null constraint pending_document_corpus_id_fk references pgclarify.corpus,
            document_id text not null,
            added_at timestamptz not null default now(),
            leased_by bigint,
            leased_until timestamptz,
            constraint pending_document_pk primary key (corpus_id, document_id),
            constraint pending_document_lease_has_a_holder check ((leased_by is null) = (leased_until is null))
        );
        create index pending_document_corpus_id_added_at_idx on pgclarify.pending_document (corpus_id, added_at);
        create index pending_document_leased_by_idx
            on pgclarify.pending_document (leased_by) where leased_by is not null;
        comment on table pgclarify.pending_document is
            'A document whose present content is not searchable yet. Workers lease rows with SKIP LOCKED.';
        comment on column pgclarify.pending_document.corpus_id is 'The corpus.';
        comment on column pgclarify.pending_document.document_id is 'The document.';
        comment on column pgclarify.pending_document.added_at is 'Since when it waits.';
        comment on column pgclarify.pending_document.leased_by is 'Worker that is indexing it; null if none is.';
        comment on column pgclarify.pending_document.leased_until is 'When another worker may take it over.';

        create sequence pgclarify.passage_id_seq;
        comment on sequence pgclarify.passage_id_seq is 'Ids of passages, unique over all corpora.';

        -- No foreign key leads to document: attaching a partition would lock that table, and the functions that write
        -- passages lock the document's row first.
        create table pgclarify.passage (
            corpus_id bigint not null,
            document_id text not null,
            id bigint not null default nextval('pgclarify.passage_id_seq'),
            ordinal integer not null constraint passage_ordinal_counts_from_one check (ordinal >= 1),
            heading text,
            content text not null,
            start_char integer not null,
            end_char integer not null,
            content_hash bytea not null,
            readers name[],
            lexemes tsvector not null,
            lexeme_count integer not null,
            constraint passage_pk primary key (corpus_id, document_id, id),
            constraint passage_offsets_are_ordered check (0 <= start_char and start_char < end_char)
        ) partition by list (corpus_id);
        -- Without fastupdate: what is pending would be read by every search until the next vacuum, and up to 4 MB of it
        -- make the planner read the whole table instead.
        create index passage_lexemes_idx on pgclarify.passage using gin (lexemes) with (fastupdate = off);
        -- "" is the name of no role: one search finds what these roles may read and what everyone may.
        create index passage_readers_idx
            on pgclarify.passage using gin (coalesce(readers, '{{""}}'::name[])) with (fastupdate = off);
        comment on table pgclarify.passage is 'A chunk of a document. One partition a corpus.';
        comment on column pgclarify.passage.corpus_id is 'The corpus.';
        comment on column pgclarify.passage.document_id is 'The document.';
        comment on column pgclarify.passage.id is 'Unique over all corpora; nothing looks a passage up by it alone.';
        comment on column pgclarify.passage.ordinal is 'Position in the document, from 1.';
        comment on column pgclarify.passage.heading is
            'Headings above it, outermost first, joined by " > "; null if none.';
        comment on column pgclarify.passage.content is 'The text, exactly as in the document between the two offsets.';
        comment on column pgclarify.passage.start_char is 'Offset of its first character in the document, from 0.';
        comment on column pgclarify.passage.end_char is 'Offset after its last character.';
        comment on column pgclarify.passage.content_hash is
            'SHA-256 of title, heading and content: what was embedded.';
        comment on column pgclarify.passage.readers is 'Copied from the document.';
        comment on column pgclarify.passage.lexemes is
            'Title, heading and content in the corpus''s language, with positions.';
        comment on column pgclarify.passage.lexeme_count is
            'Lexeme occurrences, repeated ones counted each time: the passage''s length in BM25.';

        create table pgclarify.passage_embedding (
            embedding_space_id bigint not null,
            document_id text not null,
            passage_id bigint not null,
            vector {vector_schema}.halfvec not null,
            constraint passage_embedding_pk primary key (embedding_space_id, document_id, passage_id)
        ) partition by list (embedding_space_id);
        comment on table pgclarify.passage_embedding is
            'A passage''s vector in a space. One partition a space, with an HNSW index over '
            'vector::halfvec(dimensions).';
        comment on column pgclarify.passage_embedding.embedding_space_id is 'The space.';
        comment on column pgclarify.passage_embedding.document_id is 'The document.';
        comment on column pgclarify.passage_embedding.passage_id is 'The passage.';
        comment on column pgclarify.passage_embedding.vector is 'Unit length; as many dimensions as the space has.';

        create unlogged table pgclarify.staged_passage (
            batch_id uuid not null,
            document_id text not null,
            ordinal integer not null,
            heading text,
            content text not null,
            start_char integer not null,
            end_char integer not null,
            content_hash bytea not null,
            vector {vector_schema}.halfvec
        );
        create index staged_passage_batch_id_idx on pgclarify.staged_passage (batch_id);
        comment on table pgclarify.staged_passage is
            'Where a worker copies passages before one statement moves them into place. Unlogged: a crash loses '
            'nothing but work.';
        comment on column pgclarify.staged_passage.batch_id is 'The worker''s batch.';
        comment on column pgclarify.staged_passage.document_id is 'As in passage.';
        comment on column pgclarify.staged_passage.ordinal is 'As in passage.';
        comment on column pgclarify.staged_passage.heading is 'As in passage.';
        comment on column pgclarify.staged_passage.content is 'As in passage.';
        comment on column pgclarify.staged_passage.start_char is 'As in passage.';
        comment on column pgclarify.staged_passage.end_char is 'As in passage.';
        comment on column pgclarify.staged_passage.content_hash is 'As in passage.';
        comment on column pgclarify.staged_passage.vector is
            'As in passage_embedding; null if the document has a passage of this content_hash, whose vector stays.';

        create table pgclarify.term (
            corpus_id bigint not null,
            lexeme text not null,
            passages bigint not null,
            constraint term_pk primary key (corpus_id, lexeme)
        ) with (fillfactor = 80);
        comment on table pgclarify.term is
            'In how many passages of a corpus a lexeme occurs: what BM25 needs and PostgreSQL''s own ranking lacks.';
        comment on column pgclarify.term.corpus_id is 'The corpus.';
        comment on column pgclarify.term.lexeme is 'The lexeme, as in passage.lexemes.';
        comment on column pgclarify.term.passages is
            'Passages in which it occurs, without what still stands in term_change.';

        create table pgclarify.term_change (
            corpus_id bigint not null,
            lexeme text not null,
            passages bigint not null
        );
        create index term_change_corpus_id_idx on pgclarify.term_change (corpus_id);
        comment on table pgclarify.term_change is
            'Increments of term that users'' transactions leave; workers apply them. So that removing a document '
            'locks no row of term until the user commits.';
        comment on column pgclarify.term_change.corpus_id is 'The corpus.';
        comment on column pgclarify.term_change.lexeme is 'The lexeme.';
        comment on column pgclarify.term_change.passages is
            'What to add to term.passages; negative for removed passages.';

        grant insert on pgclarify.staged_passage to pgclarify_worker;
    """)


def downgrade() -> None:
    op.execute("""
        drop table
            pgclarify.term_change,
            pgclarify.term,
            pgclarify.staged_passage,
            pgclarify.passage_embedding,
            pgclarify.passage,
            pgclarify.pending_document,
            pgclarify.document,
            pgclarify.corpus_tally;
        drop sequence pgclarify.passage_id_seq;
        alter table pgclarify.corpus drop constraint corpus_embedding_space_id_fk;
        drop table pgclarify.embedding_space, pgclarify.corpus;
    """)
