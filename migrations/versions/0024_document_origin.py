"""Documents know the file that they were loaded from.

Revision ID: 0024
Revises: 0020
"""

from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        alter table pgclarify.document
            add column origin text collate "C"
                constraint document_origin_is_short check (octet_length(origin) <= 2600);
        create index document_corpus_id_origin_idx on pgclarify.document (corpus_id, origin) where origin <> '';
        comment on column pgclarify.document.origin is
            'The file that it was loaded from: machine:/path/file, or name/path/file if its source was given a name; '
            'and #id for one of several documents in a file. Empty if a statement or a client added it. Null if it is '
            'a row of an attached table, or was added before this column was.';
    """)


def downgrade() -> None:
    op.execute("alter table pgclarify.document drop column origin;")
