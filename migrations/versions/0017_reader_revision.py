"""What one role cannot read no longer shows in the revisions, counts and scores of another.

Revision ID: 0017
Revises: 0016
"""

from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Count restricted passages apart. The term counts of those that are there are applied by workers."""
    op.execute("""
        create table pgclarify.reader_revision (
            reader_revision_id bigint generated always as identity,
            corpus_id bigint not null
                constraint reader_revision_corpus_id_fk references pgclarify.corpus on delete cascade,
            reader name not null,
            revision bigint not null default 0,
            graph_revision bigint not null default 0,
            constraint reader_revision_pk primary key (reader_revision_id)
        );
        create index reader_revision_corpus_id_reader_idx on pgclarify.reader_revision (corpus_id, reader);
        comment on table pgclarify.reader_revision is
            'Changes of restricted documents, for each role in their readers, as increments: their sum is the count. '
            'Writers append; workers fold the rows of a reader into one. Changes of documents without readers are in '
            'corpus_tally.';
        comment on column pgclarify.reader_revision.reader_revision_id is 'Key.';
        comment on column pgclarify.reader_revision.corpus_id is 'The corpus.';
        comment on column pgclarify.reader_revision.reader is 'A role in readers of the documents that changed.';
        comment on column pgclarify.reader_revision.revision is 'Changes of the content that it can find.';
        comment on column pgclarify.reader_revision.graph_revision is
            'How often passages that it can read got neighbors.';

        alter table pgclarify.corpus_tally
            add column restricted_lexemes bigint not null default 0,
            add column graph_revision bigint not null default 0;
        comment on column pgclarify.corpus_tally.restricted_lexemes is
            'The same as lexemes, of passages with readers of their own.';
        comment on column pgclarify.corpus_tally.revision is
            'Changes of the searchable content without readers of its own.';
        comment on column pgclarify.corpus_tally.graph_revision is
            'How often passages without readers of their own got neighbors.';
        comment on column pgclarify.corpus.revision is
            'How often its searchable content without readers of its own changed, without what still stands in '
            'corpus_tally.';

        alter table pgclarify.term add column restricted_passages bigint not null default 0;
        comment on column pgclarify.term.restricted_passages is
            'The same as passages, of those with readers of their own.';
        alter table pgclarify.term_change add column restricted_passages bigint not null default 0;
        comment on column pgclarify.term_change.restricted_passages is
            'What to add to term.restricted_passages.';

        alter table pgclarify.run rename column linked_passages to graph_revision;
        comment on column pgclarify.run.graph_revision is
            'How often passages that its role can read had got neighbors when it was last started: a run that explores '
            'is served again only while that is so.';
        comment on column pgclarify.run.corpus_revision is
            'Revision of the corpus when it was last started, as its role sees it.';

        insert into pgclarify.term_change (corpus_id, lexeme, passages, restricted_passages)
        select passage.corpus_id, occurrence.lexeme, 0, count(*)
        from pgclarify.passage
        cross join unnest(tsvector_to_array(passage.lexemes)) as occurrence (lexeme)
        where passage.readers is not null and passage.corpus_id in (select corpus_id from pgclarify.corpus)
        group by passage.corpus_id, occurrence.lexeme;
        insert into pgclarify.corpus_tally (corpus_id, restricted_lexemes)
        select passage.corpus_id, sum(passage.lexeme_count)
        from pgclarify.passage
        where passage.readers is not null and passage.corpus_id in (select corpus_id from pgclarify.corpus)
        group by passage.corpus_id;
        -- So that runs of before go on being served.
        insert into pgclarify.corpus_tally (corpus_id, graph_revision)
        select corpus_tally.corpus_id, sum(corpus_tally.linked)
        from pgclarify.corpus_tally
        group by corpus_tally.corpus_id
        having sum(corpus_tally.linked) <> 0;
    """)


def downgrade() -> None:
    """Count everything for everyone again. No run of before is served again that should not be."""
    op.execute("""
        update pgclarify.corpus
        set revision = corpus.revision + changed.revision
        from (
            select reader_revision.corpus_id, sum(reader_revision.revision) as revision
            from pgclarify.reader_revision
            group by reader_revision.corpus_id
        ) as changed
        where changed.corpus_id = corpus.corpus_id;
        drop table pgclarify.reader_revision;

        alter table pgclarify.run rename column graph_revision to linked_passages;
        update pgclarify.run set linked_passages = null where linked_passages is not null;
        comment on column pgclarify.run.linked_passages is
            'Passages with neighbors when it was last started: a run that explores is served again only while there '
            'are as many.';
        comment on column pgclarify.run.corpus_revision is 'Revision of the corpus when it was last started.';

        delete from pgclarify.term_change where passages = 0;
        alter table pgclarify.term_change drop column restricted_passages;
        alter table pgclarify.term drop column restricted_passages;

        alter table pgclarify.corpus_tally drop column restricted_lexemes, drop column graph_revision;
        comment on column pgclarify.corpus_tally.revision is 'Changes of the searchable content.';
        comment on column pgclarify.corpus.revision is
            'How often its searchable content changed, without the changes that still stand in corpus_tally.';
    """)
