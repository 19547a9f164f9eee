-- Which corpora there are. drop_corpus only marks the row of a corpus, and workers remove it later (dropping.sql).

create or replace view pgclarify_private.living_corpus as
select corpus.*
from pgclarify_private.corpus
where corpus.dropped_at is null;

comment on view pgclarify_private.living_corpus is
'The corpora that were not dropped. Functions read and lock corpora through this view, so that a dropped corpus is unknown to '
'all of them; only those that remove it read the table. Roles that read views have policy corpus_is_readable instead.';
-- So that views know which corpora were dropped among those that their reader cannot see.
grant select (corpus_id) on pgclarify_private.living_corpus to pgclarify_views;
