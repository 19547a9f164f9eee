-- What is wrong in the corpora and tables that the caller may see.

create or replace view pgclarify.finding as
select 'corpus' as kind, status.corpus as name, status.error as finding, null::bigint as count,
    'Remove the cause. Then workers go on by themselves; for a change of the model, set it again with alter_corpus.' as remedy
from pgclarify.corpus as status
where status.error is not null
union all
select 'documents', status.corpus, 'documents cannot be indexed', status.failed::bigint,
    'See: select id, error from pgclarify.document where error is not null.'
from pgclarify.corpus as status
where status.failed > 0
union all
select 'graph', status.corpus, 'passages have no list of neighbors, and nothing is pending',
    (status.passages - status.linked)::bigint,
    format('Build it again: select pgclarify.alter_corpus(NAME, ''{"graph": "%s"}'').', status.graph_similarity)
from pgclarify.corpus as status
-- A lone passage has no neighbors.
where status.passages > 1 and status.linked < status.passages and status.pending = 0 and status.pending_passages = 0
union all
select 'table', source.relation::text, source.error, null, 'Remove the cause, and call pgclarify.resync.'
from pgclarify.source_status as source
where source.error is not null
union all
select 'cost', usage.model, 'runs have no cost, because a model had no price', sum(usage.unpriced_runs)::bigint,
    'Add its price to pgclarify.model_price, and have a member of pgclarify_owner run: pgclarify doctor --price-runs'
from pgclarify.usage
where usage.unpriced_runs > 0
group by usage.model;

comment on view pgclarify.finding is
'What is wrong in corpora, attached tables and costs, and what to do: no row if nothing is. pgclarify doctor shows it.';
comment on column pgclarify.finding.kind is 'corpus, documents, graph, table or cost.';
comment on column pgclarify.finding.name is 'Name of the corpus, the table or the model.';
comment on column pgclarify.finding.finding is 'What is wrong.';
comment on column pgclarify.finding.count is 'How many documents, passages or runs; null for a single thing.';
comment on column pgclarify.finding.remedy is 'What to do.';
grant select on pgclarify.finding to pgclarify_reader;
