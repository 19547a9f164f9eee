"""What 0.3.0 changes in the tables of 0.2.0.

Revision ID: v0_3_0
Revises: v0_2_0
"""

from alembic import op

revision = "v0_3_0"
down_revision = "v0_2_0"
branch_labels = None
depends_on = None

_STATEMENTS: tuple[str, ...] = (
    # Rules of ambiguity name their corpus by its key, because a name is free again once its corpus is dropped.
    "alter table pgclarify_private.ambiguity_rule add column corpus_id bigint"
    " constraint ambiguity_rule_corpus_id_fk references pgclarify_private.corpus on delete cascade",
    "update pgclarify_private.ambiguity_rule set corpus_id = corpus.corpus_id"
    " from pgclarify_private.corpus where corpus.name = ambiguity_rule.corpus",
    "alter table pgclarify_private.ambiguity_rule drop constraint ambiguity_rule_corpus_fk",
    "drop index pgclarify_private.ambiguity_rule_corpus_idx",
    "create index ambiguity_rule_corpus_id_idx on pgclarify_private.ambiguity_rule (corpus_id)",
    "alter table pgclarify_private.ambiguity_rule"
    " add constraint ambiguity_rule_corpus_has_a_name check ((corpus is null) = (corpus_id is null))",
    "comment on column pgclarify_private.ambiguity_rule.corpus is"
    " 'Name of the corpus whose questions it applies to; null for all questions, also those without a corpus.'",
    "comment on column pgclarify_private.ambiguity_rule.corpus_id is"
    " 'That corpus: another one may have its name later.'",
    # drop_corpus marks a corpus, and workers remove it.
    "alter table pgclarify_private.corpus add column dropped_at timestamptz",
    "comment on column pgclarify_private.corpus.dropped_at is"
    " 'When it was dropped; null if it was not. Then it counts as missing, and workers remove it.'",
    "alter table pgclarify_private.corpus drop constraint corpus_name_key",
    "create unique index corpus_name_key on pgclarify_private.corpus (name) where dropped_at is null",
)


def upgrade() -> None:
    for statement in _STATEMENTS:
        op.execute(statement)
