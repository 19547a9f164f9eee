-- The tables and row types of version 0.2.0, as pgclarify.schema declared them then. What changed since is in later revisions.

-- PostgreSQL lets PUBLIC execute every new function; ours are granted one by one.
alter default privileges for role pgclarify_owner revoke execute on functions from public;

-- Columns with text of people, documents or models, and vectors of such text, have the statistics target 0. Otherwise
-- pg_statistic would keep copies of what was erased.

create sequence pgclarify_private.passage_id_seq;
comment on sequence pgclarify_private.passage_id_seq is 'Ids of passages, unique over all corpora.';

create table pgclarify_private.completion (
    completion_id bigint generated always as identity,
    purpose text not null,
    model text not null,
    parameters jsonb not null,
    prompt_version text not null,
    input_hash bytea not null,
    sample integer default 0 not null,
    run_id bigint,
    reply text,
    prompt_tokens integer,
    completion_tokens integer,
    latency_ms real,
    leased_by bigint,
    leased_until timestamptz,
    created_at timestamptz default now() not null,
    finished_at timestamptz,
    cost_usd numeric,
    budget_ids bigint[],
    reserved_usd numeric,
    reserved_at timestamptz,
    erased_at timestamptz,
    cached_tokens integer,
    constraint completion_pk primary key (completion_id),
    constraint completion_input_hash_is_sha256 check (length(input_hash) = 32),
    constraint completion_sample_counts_from_zero check (sample >= 0),
    constraint completion_finished_has_a_reply
        check (case when erased_at is null then (finished_at is null) = (reply is null) else reply is null end),
    constraint completion_lease_has_a_holder check ((leased_by is null) = (leased_until is null)),
    constraint completion_cost_is_of_a_reply check (cost_usd is null or finished_at is not null),
    constraint completion_reservation_has_a_lease check (budget_ids is null or leased_by is not null),
    constraint completion_reservation_is_whole check (num_nonnulls(budget_ids, reserved_usd, reserved_at) in (0, 3)),
    constraint completion_purpose_model_parameters_prompt_version_input_ha_key
        unique (purpose, model, parameters, prompt_version, input_hash, sample)
);
create index completion_reserved_idx on pgclarify_private.completion (reserved_at) where budget_ids is not null;
create index completion_run_id_idx on pgclarify_private.completion (run_id);
alter table pgclarify_private.completion alter column reply set statistics 0;
comment on table pgclarify_private.completion is
    'The ledger: what one model replied to one rendered input. Every paid call goes through it, so nothing is paid for twice.';
comment on column pgclarify_private.completion.completion_id is 'Key.';
comment on column pgclarify_private.completion.purpose is
    'What the reply is for: relaxation, verdict, relevance, entailment, follow_up, sample, answer, conclusion, rewriting, '
    'questions, reformulation or listing; in evaluations also baseline_proposal, baseline_verification, baseline_answers, '
    'baseline_disambiguation, judge_support, judge_match, judge_distinct or judge_relevance.';
comment on column pgclarify_private.completion.model is 'Model of the call.';
comment on column pgclarify_private.completion.parameters is 'Decoding parameters.';
comment on column pgclarify_private.completion.prompt_version is 'Version of the prompt.';
comment on column pgclarify_private.completion.input_hash is 'SHA-256 of the rendered input.';
comment on column pgclarify_private.completion.sample is
    'Which reply to this input, from 0; plus a thousand times the option refresh of the run.';
comment on column pgclarify_private.completion.run_id is 'The run that paid for it; null if that run is gone.';
comment on column pgclarify_private.completion.reply is 'The model''s reply; null while there is none, or once erased.';
comment on column pgclarify_private.completion.prompt_tokens is 'Tokens of the input; null if the endpoint did not say.';
comment on column pgclarify_private.completion.completion_tokens is 'Tokens of the reply; null if the endpoint did not say.';
comment on column pgclarify_private.completion.latency_ms is 'Milliseconds that the call took.';
comment on column pgclarify_private.completion.leased_by is 'Worker that is making the call; null if none is.';
comment on column pgclarify_private.completion.leased_until is 'When another worker may take over the call.';
comment on column pgclarify_private.completion.created_at is 'When it was first claimed.';
comment on column pgclarify_private.completion.finished_at is 'When the reply came; null while there is none.';
comment on column pgclarify_private.completion.cost_usd is
    'What it cost, in US dollars; null while there is no reply, or if price or tokens are not known.';
comment on column pgclarify_private.completion.budget_ids is
    'Budgets in which the call is reserved while it is made; null if there are none, or it is not being made.';
comment on column pgclarify_private.completion.reserved_usd is 'Most that it is expected to cost; null unless it is reserved.';
comment on column pgclarify_private.completion.reserved_at is
    'When it was reserved, which determines the period; null unless it is reserved.';
comment on column pgclarify_private.completion.erased_at is
    'When its text was erased with a document; null if it was not. Its input_hash is random since then, so that an equal '
    'input is asked again.';
comment on column pgclarify_private.completion.cached_tokens is
    'How many of prompt_tokens the endpoint had in its cache; null if it did not say.';

create table pgclarify_private.corpus (
    corpus_id bigint generated always as identity,
    name text not null,
    search_config text not null,
    graph_degree integer default 16 not null,
    revision bigint default 0 not null,
    owner name not null,
    reader name,
    analyst name,
    embedding_space_id bigint,
    created_at timestamptz default now() not null,
    graph_similarity text default 'dense' not null,
    owner_oid oid not null,
    constraint corpus_pk primary key (corpus_id),
    constraint corpus_graph_similarity_is_known check (graph_similarity in ('dense', 'lexical')),
    constraint corpus_name_is_short check (length(name) between 1 and 200),
    constraint corpus_graph_degree_is_small check (graph_degree between 1 and 1000),
    constraint corpus_name_key unique (name)
);
create index corpus_embedding_space_id_idx on pgclarify_private.corpus (embedding_space_id);
comment on table pgclarify_private.corpus is 'Documents that are searched together.';
comment on column pgclarify_private.corpus.corpus_id is 'Key; also names the partition pgclarify_private.passage_<corpus_id>.';
comment on column pgclarify_private.corpus.name is 'The name that callers use.';
comment on column pgclarify_private.corpus.search_config is
    'Text search configuration of its language, such as english; schema-qualified unless in pg_catalog.';
comment on column pgclarify_private.corpus.graph_degree is 'Neighbors that the neighborhood graph keeps for a passage.';
comment on column pgclarify_private.corpus.revision is
    'How often its searchable content changed, without documents that have their own readers, and without changes that are '
    'still in corpus_tally.';
comment on column pgclarify_private.corpus.owner is 'Role whose members may change and drop it.';
comment on column pgclarify_private.corpus.reader is 'Role whose members may search it; null means only its owner.';
comment on column pgclarify_private.corpus.analyst is 'Role whose members see everyone''s runs on it; null means no role.';
comment on column pgclarify_private.corpus.embedding_space_id is
    'The space that searches use; null until a worker has opened the first one.';
comment on column pgclarify_private.corpus.created_at is 'When it was created.';
comment on column pgclarify_private.corpus.graph_similarity is
    'What makes passages neighbors: dense (cosine similarity of their vectors) or lexical (words they share).';
comment on column pgclarify_private.corpus.owner_oid is 'Oid of the owner, so that another role of that name is not the owner.';

create table pgclarify_private.passage (
    corpus_id bigint not null,
    document_id text not null,
    id bigint default nextval('pgclarify_private.passage_id_seq') not null,
    ordinal integer not null,
    heading text,
    content text not null,
    start_char integer not null,
    end_char integer not null,
    content_hash bytea not null,
    readers name[],
    lexemes tsvector not null,
    lexeme_count integer not null,
    constraint passage_pk primary key (corpus_id, document_id, id),
    constraint passage_ordinal_counts_from_one check (ordinal >= 1),
    constraint passage_offsets_are_ordered check (0 <= start_char and start_char < end_char)
) partition by list (corpus_id);
create index passage_lexemes_idx on pgclarify_private.passage using gin (lexemes) with (gin_pending_list_limit = 256);
create index passage_readers_idx on pgclarify_private.passage using gin (coalesce(readers, '{""}'::name[])) with (fastupdate = off);
alter table pgclarify_private.passage
    alter column document_id set statistics 0,
    alter column heading set statistics 0,
    alter column content set statistics 0,
    alter column lexemes set statistics 0;
comment on table pgclarify_private.passage is 'A chunk of a document. One partition for each corpus that is not distributed.';
comment on column pgclarify_private.passage.corpus_id is 'The corpus.';
comment on column pgclarify_private.passage.document_id is 'The document.';
comment on column pgclarify_private.passage.id is 'Unique over all corpora, but never used alone to look up a passage.';
comment on column pgclarify_private.passage.ordinal is 'Position in the document, from 1.';
comment on column pgclarify_private.passage.heading is 'Headings above it, outermost first, joined by " > "; null if none.';
comment on column pgclarify_private.passage.content is 'The text, exactly as in the document between the two offsets.';
comment on column pgclarify_private.passage.start_char is 'Offset of its first character in the document, from 0.';
comment on column pgclarify_private.passage.end_char is 'Offset after its last character.';
comment on column pgclarify_private.passage.content_hash is 'SHA-256 of title, heading and content, which are embedded.';
comment on column pgclarify_private.passage.readers is
    'Readers of the document. While its current content is not indexed, only those that could also read the earlier content.';
comment on column pgclarify_private.passage.lexemes is 'Title, heading and content in the corpus''s language, with positions.';
comment on column pgclarify_private.passage.lexeme_count is 'Number of its lexemes, with repetitions: the passage''s length in BM25.';

create table pgclarify_private.passage_embedding (
    embedding_space_id bigint not null,
    document_id text not null,
    passage_id bigint not null,
    vector @extschema:vector@.halfvec not null,
    constraint passage_embedding_pk primary key (embedding_space_id, document_id, passage_id)
) partition by list (embedding_space_id);
alter table pgclarify_private.passage_embedding
    alter column document_id set statistics 0,
    alter column vector set statistics 0;
comment on table pgclarify_private.passage_embedding is
    'A passage''s vector in a space. One partition for each space, with an HNSW index over vector::halfvec(dimensions).';
comment on column pgclarify_private.passage_embedding.embedding_space_id is 'The space.';
comment on column pgclarify_private.passage_embedding.document_id is 'The document.';
comment on column pgclarify_private.passage_embedding.passage_id is 'The passage.';
comment on column pgclarify_private.passage_embedding.vector is 'Unit length, with the space''s dimensions.';

create unlogged table pgclarify_private.staged_passage (
    batch_id uuid not null,
    document_id text not null,
    ordinal integer not null,
    heading text,
    content text not null,
    start_char integer not null,
    end_char integer not null,
    content_hash bytea not null,
    vector @extschema:vector@.halfvec
);
create index staged_passage_batch_id_idx on pgclarify_private.staged_passage (batch_id);
alter table pgclarify_private.staged_passage
    alter column heading set statistics 0,
    alter column content set statistics 0,
    alter column vector set statistics 0;
comment on table pgclarify_private.staged_passage is
    'Staging table: a worker copies passages here, and one statement then moves them into place; those of a long document '
    'arrive in parts. Unlogged, because a crash only loses work.';
comment on column pgclarify_private.staged_passage.batch_id is 'The worker''s batch.';
comment on column pgclarify_private.staged_passage.document_id is 'As in passage.';
comment on column pgclarify_private.staged_passage.ordinal is 'As in passage.';
comment on column pgclarify_private.staged_passage.heading is 'As in passage.';
comment on column pgclarify_private.staged_passage.content is 'As in passage.';
comment on column pgclarify_private.staged_passage.start_char is 'As in passage.';
comment on column pgclarify_private.staged_passage.end_char is 'As in passage.';
comment on column pgclarify_private.staged_passage.content_hash is 'As in passage.';
comment on column pgclarify_private.staged_passage.vector is
    'As in passage_embedding; null if the document has a passage of this content_hash, whose vector is kept.';

create table pgclarify_private.term (
    corpus_id bigint not null,
    lexeme text not null,
    passages bigint not null,
    restricted_passages bigint default 0 not null,
    constraint term_pk primary key (corpus_id, lexeme)
) with (fillfactor = 80);
alter table pgclarify_private.term alter column lexeme set statistics 0;
comment on table pgclarify_private.term is
    'In how many passages of a corpus a lexeme occurs. BM25 needs it, and PostgreSQL''s own ranking does not have it.';
comment on column pgclarify_private.term.corpus_id is 'The corpus.';
comment on column pgclarify_private.term.lexeme is 'The lexeme, as in passage.lexemes.';
comment on column pgclarify_private.term.passages is
    'How many passages have it, without the changes that are still in term_change.';
comment on column pgclarify_private.term.restricted_passages is
    'The same as passages, for documents that have their own readers.';

create table pgclarify_private.term_change (
    corpus_id bigint not null,
    lexeme text not null,
    passages bigint not null,
    restricted_passages bigint default 0 not null
);
create index term_change_corpus_id_idx on pgclarify_private.term_change (corpus_id);
alter table pgclarify_private.term_change alter column lexeme set statistics 0;
comment on table pgclarify_private.term_change is
    'Changes of term by users'' transactions; workers apply them. So a user who removes a document locks no row of term '
    'until the commit.';
comment on column pgclarify_private.term_change.corpus_id is 'The corpus.';
comment on column pgclarify_private.term_change.lexeme is 'The lexeme.';
comment on column pgclarify_private.term_change.passages is 'Number to add to term.passages; negative for removed passages.';
comment on column pgclarify_private.term_change.restricted_passages is 'Number to add to term.restricted_passages.';

create table pgclarify_private.neighborhood (
    embedding_space_id bigint not null,
    document_id text not null,
    passage_id bigint not null,
    neighbor_document_ids text[] not null,
    neighbor_ids bigint[] not null,
    similarities real[] not null,
    constraint neighborhood_pk primary key (embedding_space_id, document_id, passage_id),
    constraint neighborhood_arrays_are_parallel
        check (cardinality(neighbor_document_ids) = cardinality(neighbor_ids) and cardinality(similarities) =
        cardinality(neighbor_ids))
) partition by list (embedding_space_id);
create index neighborhood_passage_ids_idx on pgclarify_private.neighborhood using gin (array_append(neighbor_ids, passage_id));
alter table pgclarify_private.neighborhood
    alter column document_id set statistics 0,
    alter column neighbor_document_ids set statistics 0;
comment on table pgclarify_private.neighborhood is
    'A passage''s nearest passages in a space, nearest first. One partition for each space; view edge has one row for each '
    'edge.';
comment on column pgclarify_private.neighborhood.embedding_space_id is 'The space.';
comment on column pgclarify_private.neighborhood.document_id is 'The passage''s document.';
comment on column pgclarify_private.neighborhood.passage_id is 'The passage; never among its own neighbors.';
comment on column pgclarify_private.neighborhood.neighbor_document_ids is 'Documents of the neighbors, in their order.';
comment on column pgclarify_private.neighborhood.neighbor_ids is
    'The nearest passages, at most corpus.graph_degree. Indexed together with passage_id: when a passage is removed, the '
    'index finds its own list and those that contain it.';
comment on column pgclarify_private.neighborhood.similarities is
    'How near each neighbor is, falling: cosine similarity, or lexical similarity from 0 to 1.';

create table pgclarify_private.named_role (
    named_role_id bigint generated always as identity,
    name name not null,
    role_oid oid not null,
    noted_at timestamptz default now() not null,
    constraint named_role_pk primary key (named_role_id)
);
create index named_role_name_idx on pgclarify_private.named_role (name);
comment on table pgclarify_private.named_role is
    'Which role a stored name means, where the name grants access: reader or analyst of a corpus, reader of a document, role '
    'of a budget. It is the role that had the name when it was first written. A later role of that name has no access until '
    'pgclarify init --adopt-roles. A name may have two rows, from two concurrent transactions: with a unique key, one would '
    'wait for the other.';
comment on column pgclarify_private.named_role.named_role_id is 'Key.';
comment on column pgclarify_private.named_role.name is 'The name.';
comment on column pgclarify_private.named_role.role_oid is 'Oid of the role.';
comment on column pgclarify_private.named_role.noted_at is 'When the row was written.';

create table pgclarify_private.caller_key (
    is_only boolean default true not null,
    inner_pad bytea not null,
    outer_pad bytea not null,
    constraint caller_key_pk primary key (is_only),
    constraint caller_key_has_one_row check (is_only),
    constraint caller_key_inner_pad_is_one_block check (length(inner_pad) = 64),
    constraint caller_key_outer_pad_is_one_block check (length(outer_pad) = 64)
);
comment on table pgclarify_private.caller_key is
    'The key that signs callers'' names (HMAC-SHA-256, RFC 2104), as its two padded blocks. One row.';
comment on column pgclarify_private.caller_key.is_only is 'Always true: the table has one row.';
comment on column pgclarify_private.caller_key.inner_pad is 'Key xor 0x36, 64 bytes.';
comment on column pgclarify_private.caller_key.outer_pad is 'Key xor 0x5c, 64 bytes.';

create table pgclarify_private.loopback (
    is_only boolean default true not null,
    host text,
    port integer,
    socket_dir text,
    password text,
    constraint loopback_pk primary key (is_only),
    constraint loopback_has_one_row check (is_only),
    constraint loopback_port_is_a_port check (port between 1 and 65535)
);
alter table pgclarify_private.loopback alter column password set statistics 0;
comment on table pgclarify_private.loopback is
    'How a waiting call opens a second connection to this database. One row, written by pgclarify init.';
comment on column pgclarify_private.loopback.is_only is 'Always true: the table has one row.';
comment on column pgclarify_private.loopback.host is
    'Socket directory or host name of the primary, as passed to init; null means this server.';
comment on column pgclarify_private.loopback.port is 'Port of the primary; null means this server''s own.';
comment on column pgclarify_private.loopback.socket_dir is
    'This server''s socket directory, used if host is null; null means localhost.';
comment on column pgclarify_private.loopback.password is
    'Password of pgclarify_loopback; null if the server does not ask for one.';

create table pgclarify_private.applied_sql (
    is_only boolean default true not null,
    shipped_hash text not null,
    state_hash text not null,
    constraint applied_sql_pk primary key (is_only),
    constraint applied_sql_has_one_row check (is_only)
);
comment on table pgclarify_private.applied_sql is
    'Which functions, views and policies are installed. If they are complete, an install does not change them. One row.';
comment on column pgclarify_private.applied_sql.is_only is 'Always true: the table has one row.';
comment on column pgclarify_private.applied_sql.shipped_hash is
    'SHA-256 of the installed files. A worker of another version refuses to start.';
comment on column pgclarify_private.applied_sql.state_hash is 'SHA-256 of the files as applied and of the catalogs afterwards.';

create table pgclarify_private.model_price (
    model text not null,
    input_usd numeric not null,
    output_usd numeric not null,
    created_at timestamptz default now() not null,
    cached_input_usd numeric,
    constraint model_price_pk primary key (model),
    constraint model_price_model_is_named check (length(model) between 1 and 500),
    constraint model_price_input_usd_is_a_price check (input_usd >= 0 and input_usd < 'infinity'),
    constraint model_price_output_usd_is_a_price check (output_usd >= 0 and output_usd < 'infinity'),
    constraint model_price_cached_input_usd_is_no_higher check (cached_input_usd between 0 and input_usd)
);
comment on table pgclarify_private.model_price is
    'Prices of models. You may insert, update and delete rows: a call costs what its row says when the reply arrives.';
comment on column pgclarify_private.model_price.model is 'The model''s name, as workers use it.';
comment on column pgclarify_private.model_price.input_usd is 'US dollars for a million tokens of input.';
comment on column pgclarify_private.model_price.output_usd is 'US dollars for a million tokens of output.';
comment on column pgclarify_private.model_price.created_at is 'When the row was inserted.';
comment on column pgclarify_private.model_price.cached_input_usd is
    'US dollars for a million tokens of input that the endpoint has cached; null if they cost input_usd.';

create table pgclarify_private.budget_counter (
    budget_id bigint not null,
    period_start timestamptz not null,
    cost_usd numeric default 0 not null,
    calls bigint default 0 not null,
    constraint budget_counter_pk primary key (budget_id, period_start),
    constraint budget_counter_cost_usd_is_an_amount check (cost_usd >= 0 and cost_usd < 'infinity'),
    constraint budget_counter_calls_are_not_negative check (calls >= 0)
);
comment on table pgclarify_private.budget_counter is 'What was spent of a budget in a period.';
comment on column pgclarify_private.budget_counter.budget_id is 'The budget, which may have been removed.';
comment on column pgclarify_private.budget_counter.period_start is
    'When the period began; for total, when the budget was made.';
comment on column pgclarify_private.budget_counter.cost_usd is 'US dollars that answered calls of this period have cost.';
comment on column pgclarify_private.budget_counter.calls is 'How many there are.';

create table pgclarify_private.embedding_usage (
    embedding_usage_id bigint generated always as identity,
    day date not null,
    corpus_id bigint,
    corpus_name text,
    requested_by name not null,
    requested_by_oid oid not null,
    operation text not null,
    model text not null,
    texts bigint not null,
    tokens bigint not null,
    unpriced_tokens bigint not null,
    cost_usd numeric not null,
    constraint embedding_usage_pk primary key (embedding_usage_id),
    constraint embedding_usage_key
        unique nulls not distinct (day, corpus_id, requested_by, requested_by_oid, operation, model),
    constraint embedding_usage_operation_is_known check (operation in ('embed_passages', 'embed_questions')),
    constraint embedding_usage_counts_are_not_negative check (texts >= 0 and tokens >= 0),
    constraint embedding_usage_unpriced_tokens_are_among_tokens check (unpriced_tokens between 0 and tokens),
    constraint embedding_usage_cost_usd_is_an_amount check (cost_usd >= 0 and cost_usd < 'infinity')
);
comment on table pgclarify_private.embedding_usage is
    'Usage of embedding endpoints, with a row for each day, corpus, role and model.';
comment on column pgclarify_private.embedding_usage.embedding_usage_id is 'Key.';
comment on column pgclarify_private.embedding_usage.day is 'The day in UTC.';
comment on column pgclarify_private.embedding_usage.corpus_id is
    'The corpus, which may have been dropped; null if there was none.';
comment on column pgclarify_private.embedding_usage.corpus_name is
    'Its name when the first of these texts was embedded; null without a corpus.';
comment on column pgclarify_private.embedding_usage.requested_by is 'Role that asked, or that owns the corpus.';
comment on column pgclarify_private.embedding_usage.requested_by_oid is 'Oid of that role.';
comment on column pgclarify_private.embedding_usage.operation is
    'embed_passages (of a corpus), or embed_questions (also readings and answers of runs).';
comment on column pgclarify_private.embedding_usage.model is 'The embedding model, as in embedding_space.';
comment on column pgclarify_private.embedding_usage.texts is 'How many texts.';
comment on column pgclarify_private.embedding_usage.tokens is
    'Their tokens; half a token for each byte if the endpoint did not say.';
comment on column pgclarify_private.embedding_usage.unpriced_tokens is
    'Tokens that were embedded while the model had no price.';
comment on column pgclarify_private.embedding_usage.cost_usd is 'Cost of the other tokens, in US dollars.';

create unlogged table pgclarify_private.served_answer (
    run_id bigint not null,
    served_at timestamptz default now() not null
);
comment on table pgclarify_private.served_answer is
    'A question that an earlier run answered, until a worker has counted it. Callers only insert rows, so that no caller '
    'waits for another.';
comment on column pgclarify_private.served_answer.run_id is 'The run that answered.';
comment on column pgclarify_private.served_answer.served_at is 'When it was asked again.';

create table pgclarify_private.stale_statistics (
    relation_name name not null
);
comment on table pgclarify_private.stale_statistics is
    'Tables whose statistics have the id of an erased document. A worker analyzes them.';
comment on column pgclarify_private.stale_statistics.relation_name is 'The table, in this schema. It may be listed repeatedly.';

create table pgclarify_private.change (
    change_id bigint generated always as identity,
    source_id bigint not null,
    relation oid not null,
    keys text[],
    changed_at timestamptz default clock_timestamp() not null,
    constraint change_pk primary key (source_id, change_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0);
alter table pgclarify_private.change alter column keys set statistics 0;
comment on table pgclarify_private.change is
    'Pending changes of an attached table. Triggers only insert rows; workers process them.';
comment on column pgclarify_private.change.change_id is 'Order of the changes of a source.';
comment on column pgclarify_private.change.source_id is
    'The source. There is no foreign key, because it would lock the source''s row in every user''s transaction.';
comment on column pgclarify_private.change.relation is 'The table or the partition that changed, by its oid.';
comment on column pgclarify_private.change.keys is
    'Values of the id column, as text: of one row, or some of those of a statement. Null if any row may have changed: '
    'TRUNCATE, or a missing column.';
comment on column pgclarify_private.change.changed_at is 'When it changed.';

create table pgclarify_private.worker (
    worker_id bigint generated always as identity,
    host text not null,
    process_id integer not null,
    version text not null,
    provider text not null,
    model text not null,
    prompt_version text not null,
    embedding_models text[] default '{}' not null,
    queue_worker_id bigint,
    started_at timestamptz default now() not null,
    seen_at timestamptz default now() not null,
    is_serving boolean default true not null,
    lease interval default '00:00:20'::interval not null,
    constraint worker_pk primary key (worker_id),
    constraint worker_lease_is_positive check (lease > '00:00:00'::interval)
);
create index worker_queue_worker_id_idx on pgclarify_private.worker (queue_worker_id);
comment on table pgclarify_private.worker is
    'A worker process. It is alive while its session holds the advisory lock (1885823084, worker_id), and its last '
    'heartbeat, seen_at, is not older than its lease.';
comment on column pgclarify_private.worker.worker_id is 'Key, and second key of the advisory lock.';
comment on column pgclarify_private.worker.host is 'Machine it runs on.';
comment on column pgclarify_private.worker.process_id is 'Its process there.';
comment on column pgclarify_private.worker.version is 'Version of pgclarify.';
comment on column pgclarify_private.worker.provider is 'openai or extractive.';
comment on column pgclarify_private.worker.model is 'Model that judges passages.';
comment on column pgclarify_private.worker.prompt_version is 'Version of its prompts.';
comment on column pgclarify_private.worker.embedding_models is 'Embedding models that it has loaded.';
comment on column pgclarify_private.worker.queue_worker_id is 'Its id in the task queue; null until it takes jobs.';
comment on column pgclarify_private.worker.started_at is 'When it started.';
comment on column pgclarify_private.worker.seen_at is 'When it last sent a heartbeat.';
comment on column pgclarify_private.worker.is_serving is
    'True if it takes runs and documents; false for a process that only leases replies of the ledger, as an evaluation does.';
comment on column pgclarify_private.worker.lease is 'How long after seen_at it counts as alive.';

create table pgclarify_private.ambiguity_rule (
    ambiguity_rule_id bigint generated always as identity,
    pattern text not null,
    kind text not null,
    corpus text,
    note text,
    created_at timestamptz default now() not null,
    constraint ambiguity_rule_pk primary key (ambiguity_rule_id),
    constraint ambiguity_rule_pattern_is_fit check (length(pattern) between 1 and 500 and not '' ~* pattern),
    constraint ambiguity_rule_kind_is_known check (kind in ('pragmatic', 'syntactic', 'lexical')),
    constraint ambiguity_rule_note_is_short check (length(note) between 1 and 500),
    constraint ambiguity_rule_corpus_fk
        foreign key (corpus) references pgclarify_private.corpus (name) on delete cascade on update cascade
);
create index ambiguity_rule_corpus_idx on pgclarify_private.ambiguity_rule (corpus);
alter table pgclarify_private.ambiguity_rule
    alter column pattern set statistics 0,
    alter column note set statistics 0;
comment on table pgclarify_private.ambiguity_rule is
    'A question that matches a rule is ambiguous; add_ambiguity_rule and remove_ambiguity_rule write it.';
comment on column pgclarify_private.ambiguity_rule.ambiguity_rule_id is 'Key.';
comment on column pgclarify_private.ambiguity_rule.pattern is
    'Regular expression of 1 to 500 characters, found anywhere in a question (advanced syntax, as for operator ~*: letters '
    'match in any case; \m and \M are the begin and end of a word).';
comment on column pgclarify_private.ambiguity_rule.kind is
    'pragmatic (what it refers to is missing), syntactic (it is vague) or lexical (a name or word with several meanings).';
comment on column pgclarify_private.ambiguity_rule.corpus is
    'Corpus whose questions it applies to; null for all questions, also those without a corpus.';
comment on column pgclarify_private.ambiguity_rule.note is
    'Why such a question is ambiguous, shown to the user among the reasons; null for no note.';
comment on column pgclarify_private.ambiguity_rule.created_at is 'When it was made.';

create table pgclarify_private.trained_classifier (
    trained_classifier_id bigint generated always as identity,
    corpus_id bigint not null,
    version integer not null,
    trained_by name not null,
    trained_at timestamptz default now() not null,
    shipped_version text not null,
    examples integer not null,
    threshold real not null,
    judges_questions boolean not null,
    judges_conversations boolean not null,
    figures jsonb not null,
    is_better boolean not null,
    is_used boolean default false not null,
    weights real[] not null,
    constraint trained_classifier_pk primary key (trained_classifier_id),
    constraint trained_classifier_version_key unique (corpus_id, version),
    constraint trained_classifier_version_is_positive check (version >= 1),
    constraint trained_classifier_examples_are_positive check (examples >= 1),
    constraint trained_classifier_threshold_is_a_share check (threshold between 0 and 1),
    constraint trained_classifier_judges_something check (judges_questions or judges_conversations),
    constraint trained_classifier_figures_are_an_object
        check (jsonb_typeof(figures) = 'object' and length(figures::text) <= 10000),
    constraint trained_classifier_shipped_version_is_short check (length(shipped_version) between 1 and 100),
    constraint trained_classifier_weights_are_finite check (
        array_ndims(weights) = 1 and cardinality(weights) between 1 and 100000
        and array_position(weights, null) is null and not weights && array['NaN', 'Infinity', '-Infinity']::real[]
    ),
    constraint trained_classifier_corpus_id_fk
        foreign key (corpus_id) references pgclarify_private.corpus (corpus_id) on delete cascade
);
create unique index trained_classifier_is_used_idx on pgclarify_private.trained_classifier (corpus_id) where is_used;
comment on table pgclarify_private.trained_classifier is
    'A version of the classifier of ambiguity that was trained on labelled questions of a corpus.';
comment on column pgclarify_private.trained_classifier.trained_classifier_id is 'Key.';
comment on column pgclarify_private.trained_classifier.corpus_id is 'The corpus.';
comment on column pgclarify_private.trained_classifier.version is 'Its number in its corpus, from 1.';
comment on column pgclarify_private.trained_classifier.trained_by is 'Role that trained it.';
comment on column pgclarify_private.trained_classifier.trained_at is 'When it was stored.';
comment on column pgclarify_private.trained_classifier.shipped_version is
    'Version of the classifier that ships which it corrects.';
comment on column pgclarify_private.trained_classifier.examples is
    'Different labelled questions that it was trained on.';
comment on column pgclarify_private.trained_classifier.threshold is
    'The probability from which a question counts as ambiguous, unless a caller passes another one.';
comment on column pgclarify_private.trained_classifier.judges_questions is
    'Whether it judges questions before which nothing was said.';
comment on column pgclarify_private.trained_classifier.judges_conversations is
    'Whether it judges questions with a history.';
comment on column pgclarify_private.trained_classifier.figures is
    'How well it tells ambiguous questions from clear ones, beside the classifier that ships: what eval '
    'train-ambiguity prints.';
comment on column pgclarify_private.trained_classifier.is_better is
    'Whether its F1 was higher than that of the classifier that ships, by the whole 95 % interval of the difference.';
comment on column pgclarify_private.trained_classifier.is_used is
    'Whether it judges the questions of the corpus; at most one does.';
comment on column pgclarify_private.trained_classifier.weights is
    'What it learned: single-precision numbers, in the order that pgclarify/algorithms/ambiguity/correction.py gives.';

create table pgclarify_private.completion_document (
    completion_id bigint not null,
    corpus_id bigint not null,
    document_id text not null,
    constraint completion_document_pk primary key (completion_id, corpus_id, document_id),
    constraint completion_document_completion_id_fk
        foreign key (completion_id) references pgclarify_private.completion (completion_id) on delete cascade
);
create index completion_document_corpus_id_document_id_idx on pgclarify_private.completion_document (corpus_id, document_id);
comment on table pgclarify_private.completion_document is
    'The documents in the input of a reply; erase_document uses it to find replies.';
comment on column pgclarify_private.completion_document.completion_id is 'The row of the ledger.';
comment on column pgclarify_private.completion_document.corpus_id is 'The corpus, which may have been dropped.';
comment on column pgclarify_private.completion_document.document_id is 'The document, which may have been removed.';

create table pgclarify_private.conversation (
    conversation_id bigint generated always as identity,
    question text not null,
    corpus_id bigint,
    corpus_name text,
    history jsonb default '[]' not null,
    requested_by name not null,
    created_at timestamptz default now() not null,
    requested_by_oid oid default quote_ident(current_user)::regrole not null,
    constraint conversation_pk primary key (conversation_id),
    constraint conversation_history_is_an_array check (jsonb_typeof(history) = 'array'),
    constraint conversation_of_a_corpus_has_its_name check (corpus_name is not null or corpus_id is null),
    constraint conversation_corpus_id_fk foreign key (corpus_id) references pgclarify_private.corpus (corpus_id) on delete set null
);
create index conversation_corpus_id_idx on pgclarify_private.conversation (corpus_id);
create index conversation_requested_by_oid_conversation_id_idx on pgclarify_private.conversation (requested_by_oid, conversation_id);
alter table pgclarify_private.conversation
    alter column question set statistics 0,
    alter column history set statistics 0;
comment on table pgclarify_private.conversation is
    'A question with clarifying questions about it. It begins with the first reply, and has up to three turns.';
comment on column pgclarify_private.conversation.conversation_id is 'Key.';
comment on column pgclarify_private.conversation.question is 'The original question.';
comment on column pgclarify_private.conversation.corpus_id is
    'The corpus; null once it was dropped, or if there was none.';
comment on column pgclarify_private.conversation.corpus_name is
    'The corpus''s name at the time of the question; null without a corpus.';
comment on column pgclarify_private.conversation.history is 'Turns before the question, oldest first.';
comment on column pgclarify_private.conversation.requested_by is 'Role that asked; its members may continue.';
comment on column pgclarify_private.conversation.created_at is 'When it began.';
comment on column pgclarify_private.conversation.requested_by_oid is
    'Oid of that role, so that another role of that name does not count.';

create table pgclarify_private.embedding_space (
    embedding_space_id bigint generated always as identity,
    corpus_id bigint not null,
    model text not null,
    dimensions integer,
    state text default 'building' not null,
    error text,
    created_at timestamptz default now() not null,
    linking_document_id text,
    linking_passage_id bigint,
    linking_passages bigint,
    queued_document_id text,
    queued_passage_id bigint,
    queued_passages bigint default 0 not null,
    queued_at timestamptz,
    ingestion_held_until timestamptz,
    paused_until timestamptz,
    retired_at timestamptz,
    linking_worker_id bigint,
    constraint embedding_space_pk primary key (embedding_space_id),
    constraint embedding_space_cursor_is_whole check ((queued_document_id is null) = (queued_passage_id is null)),
    constraint embedding_space_retired_has_a_time check ((state = 'retired') = (retired_at is not null)),
    constraint embedding_space_dimensions_fit_an_index check (dimensions between 1 and 4000),
    constraint embedding_space_state_is_known check (state in ('building', 'active', 'retired')),
    constraint embedding_space_active_has_dimensions check (state <> 'active' or dimensions is not null),
    constraint embedding_space_linking_is_whole
        check ((linking_document_id is null) = (linking_passage_id is null) and (linking_document_id is null) =
        (linking_passages is null)),
    constraint embedding_space_linking_worker_walks check (linking_worker_id is null or linking_document_id is not null),
    constraint embedding_space_corpus_id_fk foreign key (corpus_id) references pgclarify_private.corpus (corpus_id) on delete cascade
);
create index embedding_space_building_idx on pgclarify_private.embedding_space (embedding_space_id) where state = 'building';
create index embedding_space_corpus_id_idx on pgclarify_private.embedding_space (corpus_id);
create index embedding_space_queued_idx on pgclarify_private.embedding_space (embedding_space_id) where queued_at is not null;
create index embedding_space_retired_idx on pgclarify_private.embedding_space (embedding_space_id) where state = 'retired';
create unique index embedding_space_corpus_id_state_key on pgclarify_private.embedding_space (corpus_id, state) where state <> 'retired';
alter table pgclarify_private.embedding_space
    alter column error set statistics 0,
    alter column linking_document_id set statistics 0,
    alter column queued_document_id set statistics 0;
comment on table pgclarify_private.embedding_space is 'A corpus with one embedding model.';
comment on column pgclarify_private.embedding_space.embedding_space_id is
    'Key; also names the partition pgclarify_private.passage_embedding_<embedding_space_id>.';
comment on column pgclarify_private.embedding_space.corpus_id is 'The corpus.';
comment on column pgclarify_private.embedding_space.model is 'Name of the embedding model.';
comment on column pgclarify_private.embedding_space.dimensions is 'Length of its vectors; null until a worker has loaded the model.';
comment on column pgclarify_private.embedding_space.state is 'building (being filled), active (searched) or retired (replaced).';
comment on column pgclarify_private.embedding_space.error is
    'Why no worker could open or fill it, or why documents wait for its model; null if nothing failed.';
comment on column pgclarify_private.embedding_space.created_at is 'When it was created.';
comment on column pgclarify_private.embedding_space.linking_document_id is
    'While a worker links all passages by key: the document of the last linked passage; null if none does.';
comment on column pgclarify_private.embedding_space.linking_passage_id is
    'The last linked passage; null if no worker links all passages.';
comment on column pgclarify_private.embedding_space.linking_passages is
    'About how many passages it still has to link; null if no worker links all passages.';
comment on column pgclarify_private.embedding_space.linking_worker_id is
    'Worker that builds all lists in memory. While it is alive no other worker links the space; null if none does.';
comment on column pgclarify_private.embedding_space.queued_document_id is
    'Progress of filling: passages up to this one, by document_id and id, were put into pending_passage. Empty if none was '
    'yet; null until filling begins, and for the first space of a corpus.';
comment on column pgclarify_private.embedding_space.queued_passage_id is 'The passage, together with queued_document_id.';
comment on column pgclarify_private.embedding_space.queued_passages is 'How many passages were put there.';
comment on column pgclarify_private.embedding_space.queued_at is
    'When all passages had been queued; null before, and once nothing is left to do after the switch.';
comment on column pgclarify_private.embedding_space.ingestion_held_until is
    'Until then, documents of the corpus are not claimed, so that the space can be completed; null if they are.';
comment on column pgclarify_private.embedding_space.paused_until is
    'Until then, workers start nothing new on the corpus, so that filling can begin or searches can switch to the space; '
    'null if they do.';
comment on column pgclarify_private.embedding_space.retired_at is
    'When it was replaced or given up; null if it was not. A worker drops it a minute later.';

create table pgclarify_private.corpus_tally (
    corpus_tally_id bigint generated always as identity,
    corpus_id bigint not null,
    documents bigint default 0 not null,
    pending bigint default 0 not null,
    failed bigint default 0 not null,
    passages bigint default 0 not null,
    restricted_documents bigint default 0 not null,
    restricted_passages bigint default 0 not null,
    embedded bigint default 0 not null,
    lexemes bigint default 0 not null,
    revision bigint default 0 not null,
    linked bigint default 0 not null,
    restricted_lexemes bigint default 0 not null,
    graph_revision bigint default 0 not null,
    pending_passages bigint default 0 not null,
    constraint corpus_tally_pk primary key (corpus_tally_id),
    constraint corpus_tally_corpus_id_fk foreign key (corpus_id) references pgclarify_private.corpus (corpus_id) on delete cascade
);
create index corpus_tally_corpus_id_idx on pgclarify_private.corpus_tally (corpus_id);
comment on table pgclarify_private.corpus_tally is
    'Counts of a corpus as increments; their sum is the count. Writers only insert rows, so that they do not wait for each '
    'other; workers merge the rows of a corpus into one.';
comment on column pgclarify_private.corpus_tally.corpus_tally_id is 'Key.';
comment on column pgclarify_private.corpus_tally.corpus_id is 'The corpus.';
comment on column pgclarify_private.corpus_tally.documents is 'Documents added, minus those removed.';
comment on column pgclarify_private.corpus_tally.pending is 'Documents that became pending, minus those indexed.';
comment on column pgclarify_private.corpus_tally.failed is 'Documents that cannot be indexed, minus those repaired.';
comment on column pgclarify_private.corpus_tally.passages is 'Passages added, minus those removed.';
comment on column pgclarify_private.corpus_tally.restricted_documents is
    'The same as documents, for those that have their own readers.';
comment on column pgclarify_private.corpus_tally.restricted_passages is
    'The same as passages, for documents that have their own readers.';
comment on column pgclarify_private.corpus_tally.embedded is 'Vectors added to the active space, minus those removed.';
comment on column pgclarify_private.corpus_tally.lexemes is
    'Lexemes added, with repetitions, minus those removed. Divided by passages, this is the average length for BM25.';
comment on column pgclarify_private.corpus_tally.revision is
    'Changes of the searchable content, without documents that have their own readers.';
comment on column pgclarify_private.corpus_tally.linked is 'Neighborhoods added to the active space, minus those removed.';
comment on column pgclarify_private.corpus_tally.restricted_lexemes is
    'The same as lexemes, for passages that have their own readers.';
comment on column pgclarify_private.corpus_tally.graph_revision is
    'How often passages without readers of their own got neighbors.';
comment on column pgclarify_private.corpus_tally.pending_passages is
    'About how many passages pending documents have, minus those embedded.';

create table pgclarify_private.reader_revision (
    reader_revision_id bigint generated always as identity,
    corpus_id bigint not null,
    reader name not null,
    revision bigint default 0 not null,
    graph_revision bigint default 0 not null,
    is_merged boolean default false not null,
    constraint reader_revision_pk primary key (reader_revision_id),
    constraint reader_revision_corpus_id_fk foreign key (corpus_id) references pgclarify_private.corpus (corpus_id) on delete cascade
);
create index reader_revision_corpus_id_reader_idx on pgclarify_private.reader_revision (corpus_id, reader);
create index reader_revision_added_idx on pgclarify_private.reader_revision (corpus_id, reader) where not is_merged;
comment on table pgclarify_private.reader_revision is
    'Changes of restricted documents, for each role in their readers, as increments; their sum is the count. Writers only '
    'insert rows; workers merge the rows of a reader into one. Changes of documents without readers are in corpus_tally.';
comment on column pgclarify_private.reader_revision.reader_revision_id is 'Key.';
comment on column pgclarify_private.reader_revision.corpus_id is 'The corpus.';
comment on column pgclarify_private.reader_revision.reader is 'A role in readers of the changed documents.';
comment on column pgclarify_private.reader_revision.revision is 'Changes of the content that it can find.';
comment on column pgclarify_private.reader_revision.graph_revision is 'How often passages that it can read got neighbors.';
comment on column pgclarify_private.reader_revision.is_merged is
    'Whether a worker has merged earlier rows into it. Rows that writers insert wait for that.';

create table pgclarify_private.pending_document (
    corpus_id bigint not null,
    document_id text not null,
    added_at timestamptz default now() not null,
    leased_by bigint,
    leased_until timestamptz,
    passages integer default 1 not null,
    is_long boolean default false not null,
    batch_id uuid,
    staged_passages integer default 0 not null,
    staged_chars integer default 0 not null,
    constraint pending_document_pk primary key (corpus_id, document_id),
    constraint pending_document_lease_has_a_holder check ((leased_by is null) = (leased_until is null)),
    constraint pending_document_has_passages check (passages >= 1),
    constraint pending_document_staged_is_long check (is_long or batch_id is null),
    constraint pending_document_corpus_id_fk foreign key (corpus_id) references pgclarify_private.corpus (corpus_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0);
create index pending_document_corpus_id_is_long_added_at_idx on pgclarify_private.pending_document (corpus_id, is_long,
    added_at);
create index pending_document_added_at_idx on pgclarify_private.pending_document (added_at) where is_long;
create index pending_document_leased_by_idx on pgclarify_private.pending_document (leased_by) where leased_by is not null;
comment on table pgclarify_private.pending_document is
    'A document whose current content is not searchable yet. Workers lease rows with SKIP LOCKED.';
comment on column pgclarify_private.pending_document.corpus_id is 'The corpus.';
comment on column pgclarify_private.pending_document.document_id is 'The document.';
comment on column pgclarify_private.pending_document.added_at is 'Since when it is waiting.';
comment on column pgclarify_private.pending_document.leased_by is 'Worker that is indexing it; null if none is.';
comment on column pgclarify_private.pending_document.leased_until is 'When another worker may take it over.';
comment on column pgclarify_private.pending_document.passages is
    'About how many of its passages wait to be embedded; at least 1.';
comment on column pgclarify_private.pending_document.is_long is
    'Whether a worker found that it takes several steps, each for its next part.';
comment on column pgclarify_private.pending_document.batch_id is
    'Its batch in staged_passage, with the passages that are embedded already; null if there are none.';
comment on column pgclarify_private.pending_document.staged_passages is 'How many there are.';
comment on column pgclarify_private.pending_document.staged_chars is
    'Where its next part starts; its length once all are staged.';

create table pgclarify_private.eval_run (
    eval_run_id bigint generated always as identity,
    name text not null,
    data_set text not null,
    data_set_hash bytea not null,
    corpus_id bigint,
    corpus_name text not null,
    method text not null,
    settings jsonb not null,
    conditions jsonb not null,
    planned_cases integer not null,
    figures jsonb,
    requested_by name default current_user not null,
    requested_by_oid oid default quote_ident(current_user)::regrole not null,
    created_at timestamptz default now() not null,
    finished_at timestamptz,
    constraint eval_run_pk primary key (eval_run_id),
    constraint eval_run_name_is_short check (length(name) between 1 and 200),
    constraint eval_run_data_set_hash_is_sha256 check (length(data_set_hash) = 32),
    constraint eval_run_settings_is_an_object check (jsonb_typeof(settings) = 'object'),
    constraint eval_run_conditions_is_an_object check (jsonb_typeof(conditions) = 'object'),
    constraint eval_run_planned_cases_are_positive check (planned_cases >= 1),
    constraint eval_run_figures_is_an_object check (jsonb_typeof(figures) = 'object'),
    constraint eval_run_finished_has_figures check ((finished_at is null) = (figures is null)),
    constraint eval_run_corpus_id_fk foreign key (corpus_id) references pgclarify_private.corpus (corpus_id) on delete set null
);
create index eval_run_corpus_id_idx on pgclarify_private.eval_run (corpus_id);
create index eval_run_unfinished_idx on pgclarify_private.eval_run (data_set_hash) where finished_at is null;
comment on table pgclarify_private.eval_run is
    'An evaluation: one method with its options over one data set. pgclarify eval run writes it, pgclarify eval remove removes '
    'it with its cases.';
comment on column pgclarify_private.eval_run.eval_run_id is 'Key.';
comment on column pgclarify_private.eval_run.name is 'Its name. Several may have the same name; then the latest is meant.';
comment on column pgclarify_private.eval_run.data_set is 'Name of the data set''s file.';
comment on column pgclarify_private.eval_run.data_set_hash is
    'SHA-256 of the cases, in order. Evaluations of the same cases can be compared.';
comment on column pgclarify_private.eval_run.corpus_id is 'The corpus; null once it was dropped.';
comment on column pgclarify_private.eval_run.corpus_name is 'The corpus''s name when the evaluation began.';
comment on column pgclarify_private.eval_run.method is 'An operation, such as clarify, or a baseline, such as rac.';
comment on column pgclarify_private.eval_run.settings is 'All options of the method, as given.';
comment on column pgclarify_private.eval_run.conditions is
    'What else the figures depend on: corpus_revision, embedding_model, provider, model, prompt_version, judge, '
    'judge_version, version.';
comment on column pgclarify_private.eval_run.planned_cases is 'How many cases it has when it is finished.';
comment on column pgclarify_private.eval_run.figures is
    'Its figures by name, each with value, low, high (the 95 % interval, null without one) and cases; null until it is '
    'finished.';
comment on column pgclarify_private.eval_run.requested_by is 'Role that evaluated.';
comment on column pgclarify_private.eval_run.requested_by_oid is 'Oid of that role, so that another role of that name does not count.';
comment on column pgclarify_private.eval_run.created_at is 'When it began.';
comment on column pgclarify_private.eval_run.finished_at is
    'When its last case was judged; null while it is running, or if it was interrupted: the same command resumes it.';

create table pgclarify_private.budget (
    budget_id bigint generated always as identity,
    name text not null,
    role_name name,
    corpus_id bigint,
    period text not null,
    max_cost_usd numeric,
    max_calls bigint,
    binds_owner boolean default pg_has_role('pgclarify_owner', 'usage') not null,
    created_at timestamptz default now() not null,
    constraint budget_pk primary key (budget_id),
    constraint budget_name_key unique nulls not distinct (corpus_id, name),
    constraint budget_name_is_short check (length(name) between 1 and 100),
    constraint budget_period_is_known check (period in ('day', 'month', 'total')),
    constraint budget_max_cost_usd_is_an_amount check (max_cost_usd >= 0 and max_cost_usd < 'infinity'),
    constraint budget_max_calls_are_not_negative check (max_calls >= 0),
    constraint budget_has_a_limit check (num_nonnulls(max_cost_usd, max_calls) >= 1),
    constraint budget_corpus_id_fk foreign key (corpus_id) references pgclarify_private.corpus (corpus_id) on delete cascade
);
comment on table pgclarify_private.budget is
    'Limits of spending on model calls. set_budget and remove_budget write it; budget_status shows what is left.';
comment on column pgclarify_private.budget.budget_id is 'Key.';
comment on column pgclarify_private.budget.name is
    'Its name in the runs that it stops: 1 to 100 characters, unique among the budgets of its corpus, or among those of all '
    'corpora.';
comment on column pgclarify_private.budget.role_name is
    'The budget applies to runs of this role and its members; null for everyone''s.';
comment on column pgclarify_private.budget.corpus_id is
    'The budget applies to runs on this corpus; null for runs on all corpora, and without one.';
comment on column pgclarify_private.budget.period is
    'Period of its limits: a day or month in UTC, or all time since its creation (total).';
comment on column pgclarify_private.budget.max_cost_usd is 'US dollars; null for no limit.';
comment on column pgclarify_private.budget.max_calls is 'Calls; null for no limit.';
comment on column pgclarify_private.budget.binds_owner is
    'True if the owner of the corpus may not change or delete it, because a member of pgclarify_owner created it.';
comment on column pgclarify_private.budget.created_at is 'When it was created. Earlier spending does not count.';

create table pgclarify_private.question_group (
        question_group_id bigint default ((('x'::text || "right"(replace((gen_random_uuid())::text, '-'::text, ''::text),
        13)))::bit(52))::bigint not null,
    corpus_id bigint not null,
    embedding_model text,
    leader @extschema:vector@.halfvec,
    figures text[] default '{}' not null,
    question_word text,
    created_at timestamptz default now() not null,
    constraint question_group_pk primary key (question_group_id),
    constraint question_group_leader_is_of_a_model check ((leader is null) = (embedding_model is null)),
    constraint question_group_corpus_id_fk foreign key (corpus_id) references pgclarify_private.corpus (corpus_id) on delete cascade
);
create index question_group_corpus_id_idx on pgclarify_private.question_group (corpus_id);
alter table pgclarify_private.question_group
    alter column leader set statistics 0,
    alter column figures set statistics 0,
    alter column question_word set statistics 0;
comment on table pgclarify_private.question_group is
    'Questions of a corpus with the same meaning. Workers put finished runs into groups. For each length of vectors there is '
    'an HNSW index, created with the first vector.';
comment on column pgclarify_private.question_group.question_group_id is
    'Key, chosen at random, so that it shows neither when the group began nor how many there are.';
comment on column pgclarify_private.question_group.corpus_id is 'The corpus that was asked.';
comment on column pgclarify_private.question_group.embedding_model is 'The model of leader; null if the group has none.';
comment on column pgclarify_private.question_group.leader is
    'Embedding of the first question of the group. A question belongs to the group if it is near. Null if only equal '
    'wordings belong.';
comment on column pgclarify_private.question_group.figures is
    'Figures in that question, sorted. A question with other figures belongs to another group.';
comment on column pgclarify_private.question_group.question_word is
    'who, when, where or why, if that question has one of them; else null. A question with another one belongs to another '
    'group.';
comment on column pgclarify_private.question_group.created_at is 'When it began.';

create table pgclarify_private.question_wording (
    corpus_id bigint not null,
    wording_hash bytea not null,
    question_group_id bigint not null,
    constraint question_wording_pk primary key (corpus_id, wording_hash),
    constraint question_wording_hash_is_sha256 check (length(wording_hash) = 32),
    constraint question_wording_corpus_id_fk foreign key (corpus_id) references pgclarify_private.corpus (corpus_id) on delete cascade
);
create index question_wording_question_group_id_idx on pgclarify_private.question_wording (question_group_id);
comment on table pgclarify_private.question_wording is
    'Wordings of grouped questions, so that equal wordings need not be compared by meaning.';
comment on column pgclarify_private.question_wording.corpus_id is 'The corpus that was asked.';
comment on column pgclarify_private.question_wording.wording_hash is
    'SHA-256 of the question without case, white space and punctuation.';
comment on column pgclarify_private.question_wording.question_group_id is 'Its group.';

create table pgclarify_private.citation_tally (
    corpus_id bigint not null,
    document_id text not null,
    requested_by name not null,
    citations bigint not null,
    runs bigint not null,
    last_cited_at timestamptz not null,
    requested_by_oid oid not null,
    constraint citation_tally_pk primary key (corpus_id, document_id, requested_by, requested_by_oid),
    constraint citation_tally_citations_are_positive check (citations >= 1),
    constraint citation_tally_runs_are_positive check (runs >= 1),
    constraint citation_tally_corpus_id_fk foreign key (corpus_id) references pgclarify_private.corpus (corpus_id) on delete cascade
);
comment on table pgclarify_private.citation_tally is
    'How often a document was cited, for each role. Counted when a run gets its group; deleted runs still count.';
comment on column pgclarify_private.citation_tally.corpus_id is 'The corpus.';
comment on column pgclarify_private.citation_tally.document_id is 'The document, which may have been removed.';
comment on column pgclarify_private.citation_tally.requested_by is 'Role that asked.';
comment on column pgclarify_private.citation_tally.citations is
    'Citations of interpretations, of steps of investigations and of listed answers.';
comment on column pgclarify_private.citation_tally.runs is 'Runs with such citations.';
comment on column pgclarify_private.citation_tally.last_cited_at is 'When the last of them ended.';
comment on column pgclarify_private.citation_tally.requested_by_oid is 'Oid of that role.';

create table pgclarify_private.run (
    run_id bigint generated always as identity,
    operation text not null,
    corpus_id bigint,
    corpus_name text,
    question text not null,
    relaxed_question text,
    question_vector @extschema:vector@.halfvec,
    history jsonb default '[]' not null,
    settings jsonb not null,
    parent_run_id bigint,
    call_id uuid,
    requested_by name not null,
    reuse_key bytea not null,
    status text default 'queued' not null,
    error text,
    attempt integer default 0 not null,
    worker_id bigint,
    corpus_revision bigint,
    model text,
    prompt_version text,
    completions integer,
    reused_completions integer,
    prompt_tokens bigint,
    completion_tokens bigint,
    cost_usd numeric,
    created_at timestamptz default now() not null,
    started_at timestamptz,
    finished_at timestamptz,
    stop_reason text,
    graph_revision bigint,
    route text,
    saved_completions integer,
    embedding_model text,
    interpretations integer,
    candidates integer,
    verdicts integer,
    served integer default 0 not null,
    last_served_at timestamptz,
    question_group_id bigint,
    is_counted boolean default true not null,
    requested_by_oid oid default quote_ident(current_user)::regrole not null,
    crashes integer default 0 not null,
    stop_code text,
    error_code text,
    budget_id bigint,
    cached_tokens bigint,
    constraint run_pk primary key (run_id),
    constraint run_operation_is_known
        check (operation in ('clarify', 'consolidate', 'search', 'investigate', 'detect_ambiguity',
        'rewrite', 'clarifying_questions', 'reply', 'list_answers', 'estimate')),
    constraint run_has_a_corpus
        check (corpus_name is not null or corpus_id is null and operation in ('detect_ambiguity',
        'rewrite', 'clarifying_questions', 'reply')),
    constraint run_route_is_known check (route in ('answered', 'clarified')),
    constraint run_stop_code_is_known
        check (stop_code in ('not_answered', 'no_language_model', 'language', 'threshold', 'unproven', 'repeated',
        'no_passage', 'contradicted', 'limit', 'budget', 'failed_calls')),
    constraint run_stop_code_is_of_an_end check (stop_code is null or status in ('succeeded', 'partial')),
    constraint run_saved_completions_are_not_negative check (saved_completions >= 0),
    constraint run_interpretations_are_not_negative check (interpretations >= 0),
    constraint run_candidates_are_not_negative check (candidates >= 0),
    constraint run_verdicts_are_not_negative check (verdicts >= 0),
    constraint run_served_is_not_negative check (served >= 0),
    constraint run_crashes_is_not_negative check (crashes >= 0),
    constraint run_served_has_a_time check ((served > 0) = (last_served_at is not null)),
    constraint run_history_is_an_array check (jsonb_typeof(history) = 'array'),
    constraint run_settings_is_an_object check (jsonb_typeof(settings) = 'object'),
    constraint run_status_is_known check (status in ('queued', 'running', 'succeeded', 'partial', 'failed', 'cancelled')),
    constraint run_finished_has_an_end
        check ((finished_at is not null) = (status in ('succeeded', 'partial', 'failed', 'cancelled'))),
    constraint run_failed_has_an_error check ((status = 'failed') = (error is not null)),
    constraint run_error_has_a_code check (error is null or error_code is not null),
    constraint run_error_code_is_of_a_failure check (error_code is null or status in ('partial', 'failed')),
    constraint run_error_code_is_a_sqlstate check (error_code ~ '^[0-9A-Z]{5}$'),
    constraint run_running_has_a_worker check (status <> 'running' or worker_id is not null),
    constraint run_corpus_id_fk foreign key (corpus_id) references pgclarify_private.corpus (corpus_id) on delete set null,
    constraint run_parent_run_id_fk foreign key (parent_run_id) references pgclarify_private.run (run_id) on delete set null
);
create index run_call_id_idx on pgclarify_private.run (call_id) where status in ('queued', 'running');
create index run_corpus_id_idx on pgclarify_private.run (corpus_id);
create index run_created_at_idx on pgclarify_private.run (created_at);
create index run_parent_run_id_idx on pgclarify_private.run (parent_run_id) where parent_run_id is not null;
create index run_question_group_id_idx on pgclarify_private.run (question_group_id, run_id) include (operation, corpus_id,
    corpus_name, requested_by, status, interpretations, served, is_counted, created_at, last_served_at, corpus_revision,
    requested_by_oid, stop_code) where question_group_id is not null;
create index run_requested_by_oid_run_id_idx on pgclarify_private.run (requested_by_oid, run_id);
create index run_reuse_key_idx on pgclarify_private.run (reuse_key, run_id) where status = 'succeeded';
create index run_unfinished_idx on pgclarify_private.run (status, created_at) where status in ('queued', 'running');
create index run_ungrouped_idx on pgclarify_private.run (run_id) where question_group_id is null and corpus_id is not null and
    finished_at is not null and operation in ('clarify', 'consolidate', 'search', 'investigate', 'list_answers');
create index run_unpriced_idx on pgclarify_private.run (model, finished_at) include (run_id, completions, prompt_tokens) where
    cost_usd is null and finished_at is not null;
create index run_usage_idx on pgclarify_private.run (((created_at at time zone 'UTC')::date)) include (created_at, corpus_id,
    corpus_name, requested_by, operation, model, finished_at, completions, reused_completions, prompt_tokens,
    completion_tokens, cost_usd, requested_by_oid, cached_tokens);
alter table pgclarify_private.run
    alter column question set statistics 0,
    alter column relaxed_question set statistics 0,
    alter column question_vector set statistics 0,
    alter column history set statistics 0,
    alter column settings set statistics 0,
    alter column error set statistics 0,
    alter column stop_reason set statistics 0;
comment on table pgclarify_private.run is 'A run of an operation.';
comment on column pgclarify_private.run.run_id is 'Key.';
comment on column pgclarify_private.run.operation is
    'clarify, consolidate, search, investigate, detect_ambiguity, rewrite, clarifying_questions, '
    'reply, list_answers or estimate.';
comment on column pgclarify_private.run.corpus_id is
    'The corpus; null once it was dropped, or if there was none.';
comment on column pgclarify_private.run.corpus_name is 'The corpus''s name at the time of the question; null without a corpus.';
comment on column pgclarify_private.run.question is
    'The original question; for many questions of detect_ambiguity, and for estimate, a JSON array.';
comment on column pgclarify_private.run.relaxed_question is
    'The relaxed question, used for retrieval; null before relaxation, or if it was not relaxed.';
comment on column pgclarify_private.run.question_vector is 'Embedding of the question used for retrieval; null before it is computed.';
comment on column pgclarify_private.run.history is 'Turns before the question, oldest first.';
comment on column pgclarify_private.run.settings is 'All parameters, with defaults filled in.';
comment on column pgclarify_private.run.parent_run_id is
    'The run whose verdicts this one consolidates again, or whose question it replies to; else null.';
comment on column pgclarify_private.run.call_id is
    'The waiting call that started it. If the call ends early, the run is cancelled. Null if it was submitted.';
comment on column pgclarify_private.run.requested_by is 'Role that asked.';
comment on column pgclarify_private.run.reuse_key is
    'SHA-256 of operation, corpus, question, settings, the requesting role, and the roles whose rights it had when the run '
    'was last started. Runs with equal keys may be reused for each other.';
comment on column pgclarify_private.run.status is
    'queued, running, succeeded, partial (valid, but some passages could not be judged, or a budget ended it), failed or '
    'cancelled.';
comment on column pgclarify_private.run.error is 'Why it failed; null unless it did.';
comment on column pgclarify_private.run.attempt is 'How often a worker has started it. Writes of earlier attempts are refused.';
comment on column pgclarify_private.run.worker_id is 'Worker that last started it.';
comment on column pgclarify_private.run.corpus_revision is
    'Revision of the corpus, as the requesting role sees it, when the run was last started.';
comment on column pgclarify_private.run.model is 'Model that judged.';
comment on column pgclarify_private.run.prompt_version is 'Version of the prompts.';
comment on column pgclarify_private.run.completions is 'Calls it paid for; null until it has ended.';
comment on column pgclarify_private.run.reused_completions is 'Replies it took from the ledger; null until it has ended.';
comment on column pgclarify_private.run.prompt_tokens is 'Input tokens it paid for.';
comment on column pgclarify_private.run.completion_tokens is 'Output tokens it paid for.';
comment on column pgclarify_private.run.cost_usd is
    'What it cost, in US dollars: 0 if it paid for no call; null if the cost of a call is unknown, or before its end.';
comment on column pgclarify_private.run.created_at is 'When it was asked.';
comment on column pgclarify_private.run.started_at is 'When a worker last started it.';
comment on column pgclarify_private.run.finished_at is 'When it ended; null before.';
comment on column pgclarify_private.run.stop_reason is 'Why it stopped early; null if it did not.';
comment on column pgclarify_private.run.graph_revision is
    'Graph revision that the requesting role saw when the run was last started. A run that explores is only reused while '
    'this has not changed.';
comment on column pgclarify_private.run.route is
    'For ask_back auto: answered (the question was clear, and one pass answered it) or clarified. Null for others, and '
    'before the decision.';
comment on column pgclarify_private.run.saved_completions is 'Calls that the route saved; null without a route.';
comment on column pgclarify_private.run.embedding_model is
    'The model of question_vector; null without a vector, and in runs of earlier versions.';
comment on column pgclarify_private.run.interpretations is
    'Number of readings found; null unless it is a run of clarify or consolidate that succeeded or is partial.';
comment on column pgclarify_private.run.candidates is 'Number of passages retrieved; null before its end.';
comment on column pgclarify_private.run.verdicts is 'Number of passages judged; null before its end.';
comment on column pgclarify_private.run.served is 'How often it was reused to answer an equal question; counted within seconds.';
comment on column pgclarify_private.run.last_served_at is 'When it was last reused; null if it never was.';
comment on column pgclarify_private.run.question_group_id is
    'Runs on questions of the same meaning, on the same corpus, have the same group; null until a worker has assigned it, '
    'after the run''s end.';
comment on column pgclarify_private.run.is_counted is
    'False if it does not count as a question: it belongs to an evaluation, or to a session with pgclarify.count_questions '
    'off.';
comment on column pgclarify_private.run.requested_by_oid is 'Oid of that role, so that another role of that name does not count.';
comment on column pgclarify_private.run.crashes is
    'How many workers in a row were lost while executing it, since it last stored a reply. From 2 on it is executed alone, '
    'and at 10 it fails.';
comment on column pgclarify_private.run.stop_code is
    'Why it has no result, or only a part of it, as a code; null if the result is complete, or if it has failed or is not '
    'over.';
comment on column pgclarify_private.run.error_code is
    'Why it failed, as a SQLSTATE that docs/errors.md lists; for a partial run, why calls failed; else null.';
comment on column pgclarify_private.run.budget_id is
    'The first budget that refused a call, which may have been removed; null if none did.';
comment on column pgclarify_private.run.cached_tokens is 'How many of prompt_tokens the endpoint had in its cache.';

create table pgclarify_private.source (
    source_id bigint generated always as identity,
    corpus_id bigint not null,
    relation regclass not null,
    relation_name text not null,
    attached_by name not null,
    id_column name not null,
    content_column name not null,
    title_column name,
    uri_column name,
    metadata_columns name[] default '{}' not null,
    readers_column name,
    id_prefix text default '' not null,
    state text default 'loading' not null,
    error text,
    layout text,
    load_phase text default 'rows' not null,
    load_cursor text,
    load_started_at timestamptz default now() not null,
    loaded_at timestamptz,
    rows_added bigint default 0 not null,
    rows_changed bigint default 0 not null,
    rows_removed bigint default 0 not null,
    rows_skipped bigint default 0 not null,
    created_at timestamptz default now() not null,
    attached_by_oid oid not null,
    constraint source_pk primary key (source_id),
    constraint source_state_is_known check (state in ('loading', 'following', 'failed', 'detached', 'removing')),
    constraint source_load_phase_is_known check (load_phase in ('rows', 'documents')),
    constraint source_failed_has_an_error check (state <> 'failed' or error is not null),
    constraint source_corpus_id_relation_key unique (corpus_id, relation),
    constraint source_corpus_id_fk foreign key (corpus_id) references pgclarify_private.corpus (corpus_id)
);
alter table pgclarify_private.source
    alter column error set statistics 0,
    alter column load_cursor set statistics 0;
comment on table pgclarify_private.source is 'A user''s table that is attached to a corpus; its rows are documents.';
comment on column pgclarify_private.source.source_id is 'Key; also names the function pgclarify_private.capture_<source_id>.';
comment on column pgclarify_private.source.corpus_id is 'The corpus.';
comment on column pgclarify_private.source.relation is 'The table; only a number once it was dropped.';
comment on column pgclarify_private.source.relation_name is 'Its qualified name when it was attached.';
comment on column pgclarify_private.source.attached_by is
    'Role that attached it. The table is read only while that role may read it.';
comment on column pgclarify_private.source.id_column is 'Column with the id of the document.';
comment on column pgclarify_private.source.content_column is 'Column with its content.';
comment on column pgclarify_private.source.title_column is 'Column with its title; null for none.';
comment on column pgclarify_private.source.uri_column is 'Column with its address; null for none.';
comment on column pgclarify_private.source.metadata_columns is 'Columns that become its metadata.';
comment on column pgclarify_private.source.readers_column is 'Column with its readers; null for none.';
comment on column pgclarify_private.source.id_prefix is 'Prefix of the id in document.id; usually empty.';
comment on column pgclarify_private.source.state is
    'loading (compared row by row), following, failed (see error), detached (its documents stay) or removing (its documents '
    'are removed).';
comment on column pgclarify_private.source.error is
    'Why it failed, or which rows cannot be documents; it stays until resync. Null if nothing is wrong.';
comment on column pgclarify_private.source.layout is
    'Structure of the table at the last check. Partitions and files that changed without firing a trigger are compared '
    'again. Null before the first check.';
comment on column pgclarify_private.source.load_phase is
    'While loading: rows (rows become documents), then documents (those without a row are removed).';
comment on column pgclarify_private.source.load_cursor is 'The last id that was compared; null at the start of a phase.';
comment on column pgclarify_private.source.load_started_at is 'When the last load began.';
comment on column pgclarify_private.source.loaded_at is 'When the last load ended; null before.';
comment on column pgclarify_private.source.rows_added is 'Documents that the last load added.';
comment on column pgclarify_private.source.rows_changed is 'Documents that the last load changed.';
comment on column pgclarify_private.source.rows_removed is 'Documents that the last load removed.';
comment on column pgclarify_private.source.rows_skipped is 'Rows that the last load left without a document.';
comment on column pgclarify_private.source.created_at is 'When it was attached.';
comment on column pgclarify_private.source.attached_by_oid is
    'Oid of that role, so that another role of that name does not count.';

create table pgclarify_private.detection (
    run_id bigint not null,
    ordinal integer not null,
    question text not null,
    is_ambiguous boolean not null,
    probability real,
    kind text,
    reasons jsonb not null,
    classifier_version text not null,
    constraint detection_pk primary key (run_id, ordinal),
    constraint detection_ordinal_counts_from_one check (ordinal >= 1),
    constraint detection_probability_is_a_share check (probability between 0 and 1),
    constraint detection_kind_is_known check (kind in ('pragmatic', 'syntactic', 'lexical')),
    constraint detection_reasons_are_an_array check (jsonb_typeof(reasons) = 'array'),
    constraint detection_ambiguous_has_a_kind check (is_ambiguous = (kind is not null)),
    constraint detection_run_id_fk foreign key (run_id) references pgclarify_private.run (run_id) on delete cascade
);
create index detection_document_ids_idx on pgclarify_private.detection using gin (jsonb_path_query_array(reasons,
    '$[*].document_ids[*]'));
create index detection_unattributed_idx on pgclarify_private.detection (run_id) where reasons @? '$[*] ? (@.source == "corpus" &&
    !exists(@.document_ids))';
alter table pgclarify_private.detection
    alter column question set statistics 0,
    alter column reasons set statistics 0;
alter index pgclarify_private.detection_document_ids_idx alter column 1 set statistics 0;
comment on table pgclarify_private.detection is 'Whether a question was found to be ambiguous, and why.';
comment on column pgclarify_private.detection.run_id is 'The run.';
comment on column pgclarify_private.detection.ordinal is 'Place of the question in the run, from 1.';
comment on column pgclarify_private.detection.question is 'The question.';
comment on column pgclarify_private.detection.is_ambiguous is
    'True if the probability reaches the threshold of the run, or a rule says so.';
comment on column pgclarify_private.detection.probability is
    'Probability that it is ambiguous, from 0 to 1; 1 if a rule matched; null for a question in another language than English.';
comment on column pgclarify_private.detection.kind is
    'pragmatic (what it refers to is missing or in the history), syntactic (it is vague or under-specified) or lexical (a '
    'name or word with several meanings); null unless ambiguous.';
comment on column pgclarify_private.detection.reasons is
    'The reasons: array of objects with source (classifier, feature, rule or corpus), name and text, and for a corpus '
    'document_ids.';
comment on column pgclarify_private.detection.classifier_version is 'Version of the classifier.';

create table pgclarify_private.rewriting (
    run_id bigint not null,
    rewritten text not null,
    was_ambiguous boolean,
    reason text,
    constraint rewriting_pk primary key (run_id),
    constraint rewriting_run_id_fk foreign key (run_id) references pgclarify_private.run (run_id) on delete cascade
);
alter table pgclarify_private.rewriting
    alter column rewritten set statistics 0,
    alter column reason set statistics 0;
comment on table pgclarify_private.rewriting is 'The result of rewrite or reply: a question that stands alone.';
comment on column pgclarify_private.rewriting.run_id is 'The run.';
comment on column pgclarify_private.rewriting.rewritten is
    'The rewritten question; exactly the original one if it was clear or could not be rewritten.';
comment on column pgclarify_private.rewriting.was_ambiguous is
    'True if it was ambiguous even with its history; null for replies. False if it was clear. A question that was clear only '
    'with its history has a reason.';
comment on column pgclarify_private.rewriting.reason is
    'Why it was rewritten in this way, or not at all; null if there is nothing to say.';

create table pgclarify_private.evidence (
    run_id bigint not null,
    ordinal integer not null,
    rank integer not null,
    candidate_rank integer not null,
    corpus_id bigint not null,
    document_id text not null,
    passage_id bigint not null,
    heading text,
    quote text not null,
    start_char integer not null,
    end_char integer not null,
    constraint evidence_pk primary key (run_id, ordinal, rank),
    constraint evidence_ordinal_counts_from_one check (ordinal >= 1),
    constraint evidence_rank_counts_from_one check (rank >= 1),
    constraint evidence_run_id_fk foreign key (run_id) references pgclarify_private.run (run_id) on delete cascade
);
alter table pgclarify_private.evidence
    alter column heading set statistics 0,
    alter column quote set statistics 0;
comment on table pgclarify_private.evidence is
    'A passage that proves an item of a run''s list (clarifying questions, answers). Quote and ids stay when the document is '
    'removed.';
comment on column pgclarify_private.evidence.run_id is 'The run.';
comment on column pgclarify_private.evidence.ordinal is 'The item that it proves: place in the run''s list, from 1.';
comment on column pgclarify_private.evidence.rank is 'Place among its citations, from 1.';
comment on column pgclarify_private.evidence.candidate_rank is 'The candidate''s rank in the run.';
comment on column pgclarify_private.evidence.corpus_id is 'The corpus.';
comment on column pgclarify_private.evidence.document_id is 'The document.';
comment on column pgclarify_private.evidence.passage_id is 'The passage.';
comment on column pgclarify_private.evidence.heading is 'Headings above the passage when it was cited; null if none.';
comment on column pgclarify_private.evidence.quote is 'The words that prove it, verbatim.';
comment on column pgclarify_private.evidence.start_char is 'Offset of the quote in the document, from 0.';
comment on column pgclarify_private.evidence.end_char is 'Offset of the end of the quote.';

create table pgclarify_private.clarifying_question (
    run_id bigint not null,
    ordinal integer not null,
    ambiguity_type text,
    reasoning text,
    clarifying_question text,
    reformulation text,
    is_answerable boolean,
    constraint clarifying_question_pk primary key (run_id, ordinal),
    constraint clarifying_question_ordinal_counts_from_one check (ordinal >= 1),
    constraint clarifying_question_ambiguity_type_is_known check (ambiguity_type in ('semantic', 'generalize', 'specify')),
    constraint clarifying_question_says_something check (num_nonnulls(clarifying_question, reformulation) >= 1),
    constraint clarifying_question_run_id_fk foreign key (run_id) references pgclarify_private.run (run_id) on delete cascade
);
alter table pgclarify_private.clarifying_question
    alter column reasoning set statistics 0,
    alter column clarifying_question set statistics 0,
    alter column reformulation set statistics 0;
comment on table pgclarify_private.clarifying_question is
    'A result of clarifying_questions: a question to answer, or a reformulation to choose.';
comment on column pgclarify_private.clarifying_question.run_id is 'The run.';
comment on column pgclarify_private.clarifying_question.ordinal is 'Place in the list, from 1.';
comment on column pgclarify_private.clarifying_question.ambiguity_type is
    'semantic (it can mean several things), generalize (something broader may be meant) or specify (something narrower may '
    'be meant); null for schemes without types.';
comment on column pgclarify_private.clarifying_question.reasoning is 'The model''s reasoning; null for schemes without reasoning.';
comment on column pgclarify_private.clarifying_question.clarifying_question is
    'A question to the user; null if there are reformulations to choose from.';
comment on column pgclarify_private.clarifying_question.reformulation is
    'What a user who means this would ask; null if the model gave none.';
comment on column pgclarify_private.clarifying_question.is_answerable is
    'Whether a document of the corpus answers the reformulation; null if it was not checked, or could not be checked.';

create table pgclarify_private.turn (
    conversation_id bigint not null,
    ordinal integer not null,
    run_id bigint,
    form text not null,
    asked text not null,
    reply text not null,
    question text not null,
    created_at timestamptz default now() not null,
    constraint turn_pk primary key (conversation_id, ordinal),
    constraint turn_ordinal_is_one_of_three check (ordinal between 1 and 3),
    constraint turn_form_is_known check (form in ('respond', 'select')),
    constraint turn_question_is_not_blank check (question ~ '\S'),
    constraint turn_conversation_id_fk
        foreign key (conversation_id) references pgclarify_private.conversation (conversation_id) on delete cascade,
    constraint turn_run_id_fk foreign key (run_id) references pgclarify_private.run (run_id) on delete set null
);
create index turn_run_id_idx on pgclarify_private.turn (run_id);
alter table pgclarify_private.turn
    alter column asked set statistics 0,
    alter column reply set statistics 0,
    alter column question set statistics 0;
comment on table pgclarify_private.turn is
    'One turn of a conversation: the clarifying questions, the reply, and the question afterwards.';
comment on column pgclarify_private.turn.conversation_id is 'The conversation.';
comment on column pgclarify_private.turn.ordinal is 'Place in the conversation, from 1 to 3.';
comment on column pgclarify_private.turn.run_id is 'The run of clarifying_questions; null once it was deleted.';
comment on column pgclarify_private.turn.form is 'respond (the reply is in the user''s words) or select (a reformulation was chosen).';
comment on column pgclarify_private.turn.asked is 'The clarifying questions, or the reformulations to choose from, one line each.';
comment on column pgclarify_private.turn.reply is 'The reply, or the reformulation that was chosen.';
comment on column pgclarify_private.turn.question is 'The question after this turn, reformulated.';
comment on column pgclarify_private.turn.created_at is 'When the user replied.';

create table pgclarify_private.document (
    corpus_id bigint not null,
    id text not null,
    content text not null,
    title text,
    uri text,
    metadata jsonb default '{}' not null,
    readers name[],
    content_hash bytea not null,
    error text,
    created_at timestamptz default now() not null,
    updated_at timestamptz default now() not null,
    indexed_at timestamptz,
    source_id bigint,
    origin text collate "C",
    has_failed boolean generated always as (error is not null) stored,
    constraint document_pk primary key (corpus_id, id),
    constraint document_id_is_short check (length(id) between 1 and 1000 and octet_length(id) <= 2600),
    constraint document_metadata_is_an_object check (jsonb_typeof(metadata) = 'object'),
    constraint document_origin_is_short check (octet_length(origin) <= 2600),
    constraint document_corpus_id_fk foreign key (corpus_id) references pgclarify_private.corpus (corpus_id),
    constraint document_source_id_fk foreign key (source_id) references pgclarify_private.source (source_id)
);
create index document_corpus_id_origin_idx on pgclarify_private.document (corpus_id, origin) where origin <> '';
create index document_failed_idx on pgclarify_private.document (corpus_id, id) where has_failed;
create index document_source_id_id_idx on pgclarify_private.document (source_id, id) where source_id is not null;
alter table pgclarify_private.document
    alter column content set statistics 0,
    alter column title set statistics 0,
    alter column uri set statistics 0,
    alter column metadata set statistics 0,
    alter column error set statistics 0;
comment on table pgclarify_private.document is 'A document that can be cited.';
comment on column pgclarify_private.document.corpus_id is 'The corpus.';
comment on column pgclarify_private.document.id is
    'The user''s own id, as text: citations can be joined directly; cast bigint ids with document_ids::bigint[].';
comment on column pgclarify_private.document.content is 'Plain text or Markdown. Offsets of passages and citations refer to it.';
comment on column pgclarify_private.document.title is 'Null if it has none.';
comment on column pgclarify_private.document.uri is 'Address of the original, for people; null if there is none.';
comment on column pgclarify_private.document.metadata is 'Any JSON object.';
comment on column pgclarify_private.document.readers is
    'Roles that may read it; null means every reader of the corpus. A name without a role grants access to no one.';
comment on column pgclarify_private.document.content_hash is 'SHA-256 of title and content, which searches use.';
comment on column pgclarify_private.document.error is 'Why it cannot be indexed; null if nothing is wrong.';
comment on column pgclarify_private.document.has_failed is
    'Whether error has a text. That column has no statistics, and text in views uses no index.';
comment on column pgclarify_private.document.created_at is 'When it was first added.';
comment on column pgclarify_private.document.updated_at is 'When it last changed.';
comment on column pgclarify_private.document.indexed_at is 'When its content last became searchable; null if it never was.';
comment on column pgclarify_private.document.source_id is
    'The attached table of which it is a row; null if it was added in another way.';
comment on column pgclarify_private.document.origin is
    'The file that it was loaded from: machine:/path/file, or name/path/file if its source has a name; followed by #id if '
    'the file has several documents. Empty if a statement or a client added it. Null if it is a row of an attached table, or '
    'was added before this column existed.';

create table pgclarify_private.estimate (
    run_id bigint not null,
    questions bigint not null,
    distinct_questions bigint not null,
    answered bigint not null,
    sampled bigint not null,
    calls bigint not null,
    calls_at_most bigint not null,
    reused_calls bigint not null,
    prompt_tokens bigint not null,
    completion_tokens bigint not null,
    cost_usd numeric,
    constraint estimate_pk primary key (run_id),
    constraint estimate_questions_are_positive check (questions >= 1),
    constraint estimate_distinct_questions_are_questions check (distinct_questions between 1 and questions),
    constraint estimate_answered_are_distinct_questions check (answered between 0 and distinct_questions),
    constraint estimate_sampled_are_not_answered check (sampled between 0 and distinct_questions - answered),
    constraint estimate_calls_are_not_negative check (calls >= 0),
    constraint estimate_calls_at_most_are_no_less check (calls_at_most >= calls),
    constraint estimate_reused_calls_are_not_negative check (reused_calls >= 0),
    constraint estimate_prompt_tokens_are_not_negative check (prompt_tokens >= 0),
    constraint estimate_completion_tokens_are_not_negative check (completion_tokens >= 0),
    constraint estimate_cost_usd_is_not_negative check (cost_usd >= 0),
    constraint estimate_run_id_fk foreign key (run_id) references pgclarify_private.run (run_id) on delete cascade
);
comment on table pgclarify_private.estimate is 'The result of a run of estimate: what questions would cost.';
comment on column pgclarify_private.estimate.run_id is 'The run.';
comment on column pgclarify_private.estimate.questions is 'How many questions were given.';
comment on column pgclarify_private.estimate.distinct_questions is 'How many of them are different.';
comment on column pgclarify_private.estimate.answered is 'How many of these an earlier run has answered, so that they need no call.';
comment on column pgclarify_private.estimate.sampled is
    'How many of the others were examined. If not all were, the figures are scaled up from these.';
comment on column pgclarify_private.estimate.calls is
    'About how many calls of the language model would be made and paid for; equal calls count once.';
comment on column pgclarify_private.estimate.calls_at_most is
    'At most so many calls, except for calls that are repeated because their reply was invalid.';
comment on column pgclarify_private.estimate.reused_calls is 'About how many further calls are needed whose replies are in the ledger.';
comment on column pgclarify_private.estimate.prompt_tokens is 'About how many input tokens the calls have.';
comment on column pgclarify_private.estimate.completion_tokens is 'About how many output tokens they have.';
comment on column pgclarify_private.estimate.cost_usd is
    'About what the calls cost in US dollars, by the model''s price at the time of the estimate; null if it had none.';

create table pgclarify_private.eval_case (
    eval_run_id bigint not null,
    ordinal integer not null,
    case_id text not null,
    question text not null,
    gold jsonb not null,
    output jsonb not null,
    run_id bigint,
    status text not null,
    error text,
    figures jsonb not null,
    created_at timestamptz default now() not null,
    constraint eval_case_pk primary key (eval_run_id, ordinal),
    constraint eval_case_ordinal_counts_from_one check (ordinal >= 1),
    constraint eval_case_gold_is_an_object check (jsonb_typeof(gold) = 'object'),
    constraint eval_case_output_is_an_object check (jsonb_typeof(output) = 'object'),
    constraint eval_case_status_is_known check (status in ('succeeded', 'partial', 'failed')),
    constraint eval_case_failed_has_an_error check ((status = 'failed') = (error is not null)),
    constraint eval_case_figures_is_an_object check (jsonb_typeof(figures) = 'object'),
    constraint eval_case_eval_run_id_fk foreign key (eval_run_id) references pgclarify_private.eval_run (eval_run_id) on delete cascade,
    constraint eval_case_run_id_fk foreign key (run_id) references pgclarify_private.run (run_id) on delete set null
);
create index eval_case_document_ids_idx on pgclarify_private.eval_case using gin (jsonb_path_query_array(output, '$.**.document_id'));
create index eval_case_run_id_idx on pgclarify_private.eval_case (run_id) where run_id is not null;
alter table pgclarify_private.eval_case
    alter column question set statistics 0,
    alter column gold set statistics 0,
    alter column output set statistics 0,
    alter column error set statistics 0;
alter index pgclarify_private.eval_case_document_ids_idx alter column 1 set statistics 0;
comment on table pgclarify_private.eval_case is 'One question of an evaluation, with the method''s output and its figures.';
comment on column pgclarify_private.eval_case.eval_run_id is 'The evaluation.';
comment on column pgclarify_private.eval_case.ordinal is 'Place among the evaluated cases, from 1.';
comment on column pgclarify_private.eval_case.case_id is 'Its id in the data set.';
comment on column pgclarify_private.eval_case.question is 'The question.';
comment on column pgclarify_private.eval_case.gold is
    'What is known about it: interpretations (interpretation, answers, document_ids), answer_sets, wrong_answers, '
    'document_ids, is_ambiguous.';
comment on column pgclarify_private.eval_case.output is
    'The method''s output: interpretations (interpretation, answer, is_grounded, citations with document_id, passage_id, '
    'title and quote), retrieved (document_id, passage_id), questions (rewritten or asked back), notes.';
comment on column pgclarify_private.eval_case.run_id is 'The run that answered; null for baselines, or once it was deleted.';
comment on column pgclarify_private.eval_case.status is
    'succeeded, partial (some passages could not be judged) or failed, which counts as an empty output.';
comment on column pgclarify_private.eval_case.error is 'Why it failed; null unless it did.';
comment on column pgclarify_private.eval_case.figures is 'Its figures: numbers by name.';
comment on column pgclarify_private.eval_case.created_at is 'When it was judged.';

create table pgclarify_private.pending_link (
    embedding_space_id bigint not null,
    document_id text not null,
    passage_id bigint not null,
    added_at timestamptz default now() not null,
    constraint pending_link_pk primary key (embedding_space_id, document_id, passage_id),
    constraint pending_link_embedding_space_id_fk
        foreign key (embedding_space_id) references pgclarify_private.embedding_space (embedding_space_id) on delete cascade
);
create index pending_link_embedding_space_id_added_at_idx on pgclarify_private.pending_link (embedding_space_id, added_at);
comment on table pgclarify_private.pending_link is
    'A passage whose neighbors must be found, or found again. Workers take rows with SKIP LOCKED.';
comment on column pgclarify_private.pending_link.embedding_space_id is 'The space.';
comment on column pgclarify_private.pending_link.document_id is 'The passage''s document.';
comment on column pgclarify_private.pending_link.passage_id is 'The passage.';
comment on column pgclarify_private.pending_link.added_at is 'Since when it is waiting.';

create table pgclarify_private.pending_unlink (
    embedding_space_id bigint not null,
    passage_id bigint not null,
    added_at timestamptz default now() not null,
    constraint pending_unlink_pk primary key (embedding_space_id, passage_id),
    constraint pending_unlink_embedding_space_id_fk
        foreign key (embedding_space_id) references pgclarify_private.embedding_space (embedding_space_id) on delete cascade
);
create index pending_unlink_embedding_space_id_added_at_idx on pgclarify_private.pending_unlink (embedding_space_id, added_at);
comment on table pgclarify_private.pending_unlink is
    'A passage that was removed, or has a new vector, while neighborhoods may still contain it.';
comment on column pgclarify_private.pending_unlink.embedding_space_id is 'The space.';
comment on column pgclarify_private.pending_unlink.passage_id is 'The passage.';
comment on column pgclarify_private.pending_unlink.added_at is 'Since when it is waiting.';

create table pgclarify_private.pending_passage (
    embedding_space_id bigint not null,
    document_id text not null,
    passage_id bigint not null,
    attempts integer default 0 not null,
    retry_at timestamptz,
    leased_by bigint,
    leased_until timestamptz,
    constraint pending_passage_pk primary key (embedding_space_id, document_id, passage_id),
    constraint pending_passage_lease_has_a_holder check ((leased_by is null) = (leased_until is null)),
    constraint pending_passage_embedding_space_id_fk
        foreign key (embedding_space_id) references pgclarify_private.embedding_space (embedding_space_id) on delete cascade
);
create index pending_passage_leased_by_idx on pgclarify_private.pending_passage (leased_by) where leased_by is not null;
create index pending_passage_failed_idx on pgclarify_private.pending_passage (embedding_space_id) where attempts >= 3;
comment on table pgclarify_private.pending_passage is
    'A passage without a vector in a space that is being built beside the active one. Workers lease rows with SKIP LOCKED. '
    'Passages of a large corpus are put here a thousand at a time.';
comment on column pgclarify_private.pending_passage.embedding_space_id is 'The space that is being built.';
comment on column pgclarify_private.pending_passage.document_id is 'The passage''s document.';
comment on column pgclarify_private.pending_passage.passage_id is 'The passage.';
comment on column pgclarify_private.pending_passage.attempts is
    'How often it could not be embedded. After three times it is skipped, and searches do not switch to the space.';
comment on column pgclarify_private.pending_passage.retry_at is
    'When embedding it is tried again after a failure; null if it did not fail.';
comment on column pgclarify_private.pending_passage.leased_by is 'Worker that is embedding it; null if none is.';
comment on column pgclarify_private.pending_passage.leased_until is 'When another worker may take it over.';

create table pgclarify_private.pending_cut (
    embedding_space_id bigint not null,
    document_id text not null,
    constraint pending_cut_pk primary key (embedding_space_id, document_id),
    constraint pending_cut_embedding_space_id_fk
        foreign key (embedding_space_id) references pgclarify_private.embedding_space (embedding_space_id) on delete cascade
);
comment on table pgclarify_private.pending_cut is
    'A document with a passage that is too long for the space''s model. Once the space is active, the document is indexed '
    'again, and cut into shorter passages.';
comment on column pgclarify_private.pending_cut.embedding_space_id is 'The space.';
comment on column pgclarify_private.pending_cut.document_id is 'The document.';

create table pgclarify_private.listed_answer (
    run_id bigint not null,
    ordinal integer not null,
    answer text not null,
    variants text[] not null,
    created_at timestamptz default now() not null,
    constraint listed_answer_pk primary key (run_id, ordinal),
    constraint listed_answer_ordinal_counts_from_one check (ordinal >= 1),
    constraint listed_answer_answer_is_not_blank check (answer ~ '\S'),
    constraint listed_answer_variants_have_the_answer check (variants[1] = answer),
    constraint listed_answer_run_id_fk foreign key (run_id) references pgclarify_private.run (run_id) on delete cascade
);
alter table pgclarify_private.listed_answer
    alter column answer set statistics 0,
    alter column variants set statistics 0;
comment on table pgclarify_private.listed_answer is
    'One answer of a list, found with knowledge of those before it. Written when it is found.';
comment on column pgclarify_private.listed_answer.run_id is 'The run.';
comment on column pgclarify_private.listed_answer.ordinal is 'Place in the order in which answers were found, from 1.';
comment on column pgclarify_private.listed_answer.answer is 'The answer, in its first spelling.';
comment on column pgclarify_private.listed_answer.variants is 'All spellings that were found, the first one first.';
comment on column pgclarify_private.listed_answer.created_at is 'When it was found.';

create table pgclarify_private.candidate (
    run_id bigint not null,
    rank integer not null,
    corpus_id bigint not null,
    document_id text not null,
    passage_id bigint not null,
    heading text,
    score double precision not null,
    origin text not null,
    via_passage_id bigint,
    batch integer default 1 not null,
    step_ordinal integer,
    constraint candidate_pk primary key (run_id, rank),
    constraint candidate_rank_counts_from_one check (rank >= 1),
    constraint candidate_batch_counts_from_one check (batch >= 1),
    constraint candidate_step_ordinal_counts_from_one check (step_ordinal >= 1),
    constraint candidate_origin_is_known check (origin in ('dense', 'lexical', 'neighbor')),
    constraint candidate_run_id_fk foreign key (run_id) references pgclarify_private.run (run_id) on delete cascade
);
create index candidate_corpus_id_document_id_idx on pgclarify_private.candidate (corpus_id, document_id);
alter table pgclarify_private.candidate alter column heading set statistics 0;
comment on table pgclarify_private.candidate is 'A passage retrieved for a run.';
comment on column pgclarify_private.candidate.run_id is 'The run.';
comment on column pgclarify_private.candidate.rank is
    'From 1: its place in the ranking or, in guided exploration, in the order in which passages were chosen.';
comment on column pgclarify_private.candidate.corpus_id is 'The corpus.';
comment on column pgclarify_private.candidate.document_id is 'The document.';
comment on column pgclarify_private.candidate.passage_id is 'The passage, which may have changed or been removed.';
comment on column pgclarify_private.candidate.heading is 'Headings above the passage when it was retrieved; null if none.';
comment on column pgclarify_private.candidate.score is
    'dense: cosine similarity; lexical: BM25; hybrid: reciprocal rank fusion; a neighbor: its similarity to the passage that '
    'led to it; with a reranker: its score. Higher is better.';
comment on column pgclarify_private.candidate.origin is 'How it was found: dense, lexical or neighbor.';
comment on column pgclarify_private.candidate.via_passage_id is 'The passage that led to it; null unless a neighbor.';
comment on column pgclarify_private.candidate.batch is 'The batch in which it was chosen, from 1; 1 without exploration.';
comment on column pgclarify_private.candidate.step_ordinal is
    'The step of the investigation that retrieved it; null for other operations.';

create table pgclarify_private.interpretation (
    run_id bigint not null,
    ordinal integer not null,
    interpretation text not null,
    answer text not null,
    support integer not null,
    cohesion real not null,
    constraint interpretation_pk primary key (run_id, ordinal),
    constraint interpretation_ordinal_counts_from_one check (ordinal >= 1),
    constraint interpretation_is_supported check (support >= 1),
    constraint interpretation_run_id_fk foreign key (run_id) references pgclarify_private.run (run_id) on delete cascade
);
alter table pgclarify_private.interpretation
    alter column interpretation set statistics 0,
    alter column answer set statistics 0;
comment on table pgclarify_private.interpretation is 'A reading after consolidation.';
comment on column pgclarify_private.interpretation.run_id is 'The run.';
comment on column pgclarify_private.interpretation.ordinal is 'Place by falling support, from 1.';
comment on column pgclarify_private.interpretation.interpretation is 'The reading: a question that stands alone.';
comment on column pgclarify_private.interpretation.answer is 'Its answer.';
comment on column pgclarify_private.interpretation.support is 'How many documents support it.';
comment on column pgclarify_private.interpretation.cohesion is
    'Mean cosine similarity of the readings in its cluster to their medoid; 1 for a single one.';

create table pgclarify_private.stage (
    run_id bigint not null,
    ordinal integer not null,
    name text not null,
    batch integer,
    step_ordinal integer,
    started_at timestamptz not null,
    duration_ms real not null,
    rows integer,
    calls integer not null,
    reused_calls integer not null,
    prompt_tokens bigint not null,
    completion_tokens bigint not null,
    note text,
    reused_prompt_tokens bigint default 0 not null,
    reused_completion_tokens bigint default 0 not null,
    model_ms double precision default 0 not null,
    constraint stage_pk primary key (run_id, ordinal),
    constraint stage_ordinal_counts_from_one check (ordinal >= 1),
    constraint stage_name_is_known
        check (name in ('detection', 'relaxation', 'retrieval', 'neighbors', 'reranking', 'judgement', 'confirmation',
        'consolidation', 'decomposition', 'sampling', 'answering', 'reasoning', 'rewriting', 'questioning', 'checking',
        'listing')),
    constraint stage_batch_counts_from_one check (batch >= 1),
    constraint stage_step_ordinal_counts_from_one check (step_ordinal >= 1),
    constraint stage_duration_ms_is_not_negative check (duration_ms >= 0),
    constraint stage_rows_are_not_negative check (rows >= 0),
    constraint stage_calls_are_not_negative check (calls >= 0),
    constraint stage_reused_calls_are_not_negative check (reused_calls >= 0),
    constraint stage_prompt_tokens_are_not_negative check (prompt_tokens >= 0),
    constraint stage_completion_tokens_are_not_negative check (completion_tokens >= 0),
    constraint stage_reused_prompt_tokens_are_not_negative check (reused_prompt_tokens >= 0),
    constraint stage_reused_completion_tokens_are_not_negative check (reused_completion_tokens >= 0),
    constraint stage_model_ms_is_not_negative check (model_ms >= 0),
    constraint stage_run_id_fk foreign key (run_id) references pgclarify_private.run (run_id) on delete cascade
);
alter table pgclarify_private.stage alter column note set statistics 0;
comment on table pgclarify_private.stage is 'The stages of a run. Written at its end; see explain.';
comment on column pgclarify_private.stage.run_id is 'The run.';
comment on column pgclarify_private.stage.ordinal is 'Place in the order of beginning, from 1.';
comment on column pgclarify_private.stage.name is
    'detection, relaxation, retrieval, neighbors, reranking, judgement, confirmation, consolidation, decomposition, sampling, '
    'answering, reasoning, rewriting, questioning, checking or listing.';
comment on column pgclarify_private.stage.batch is 'The batch of passages, from 1; null without batches.';
comment on column pgclarify_private.stage.step_ordinal is 'The step of an investigation; null for other operations.';
comment on column pgclarify_private.stage.started_at is 'When it began.';
comment on column pgclarify_private.stage.duration_ms is 'Milliseconds that it took. Stages may overlap.';
comment on column pgclarify_private.stage.rows is
    'Number of results: passages, verdicts, interpretations, answers; null if nothing is counted.';
comment on column pgclarify_private.stage.calls is 'Calls that it paid for.';
comment on column pgclarify_private.stage.reused_calls is 'Replies that it took from the ledger.';
comment on column pgclarify_private.stage.prompt_tokens is 'Input tokens that it paid for.';
comment on column pgclarify_private.stage.completion_tokens is 'Output tokens that it paid for.';
comment on column pgclarify_private.stage.note is 'A note; null if there is none.';
comment on column pgclarify_private.stage.reused_prompt_tokens is 'Input tokens of the replies that it took from the ledger.';
comment on column pgclarify_private.stage.reused_completion_tokens is 'Output tokens of the replies that it took from the ledger.';
comment on column pgclarify_private.stage.model_ms is
    'Milliseconds that its calls took, with those whose replies are from the ledger, added up.';

create table pgclarify_private.step (
    run_id bigint not null,
    ordinal integer not null,
    kind text not null,
    question text not null,
    answer text,
    outcome text not null,
    confidence real,
    reason text,
    semantic_sets integer,
    created_at timestamptz default now() not null,
    abstention_code text,
    constraint step_pk primary key (run_id, ordinal),
    constraint step_ordinal_counts_from_one check (ordinal >= 1),
    constraint step_kind_is_known check (kind in ('direct', 'follow_up', 'conclusion')),
    constraint step_outcome_is_known
        check (outcome in ('answered', 'not_in_corpus', 'repeated', 'contradicted', 'cut_off', 'failed')),
    constraint step_confidence_is_a_share check (confidence > 0 and confidence <= 1),
    constraint step_semantic_sets_count_from_one check (semantic_sets >= 1),
    constraint step_answered_has_an_answer check ((outcome = 'answered') = (answer is not null)),
    constraint step_answer_has_a_confidence check ((answer is not null) = (confidence is not null)),
    constraint step_answer_is_not_blank check (answer ~ '\S'),
    constraint step_abstention_code_is_known
        check (abstention_code in ('not_answered', 'no_passage', 'unproven', 'limit', 'budget', 'failed_calls')),
    constraint step_abstention_has_no_evidence check (abstention_code is null or outcome = 'not_in_corpus'),
    constraint step_run_id_fk foreign key (run_id) references pgclarify_private.run (run_id) on delete cascade
);
create unique index step_conclusion_key on pgclarify_private.step (run_id) where kind = 'conclusion';
alter table pgclarify_private.step
    alter column question set statistics 0,
    alter column answer set statistics 0,
    alter column reason set statistics 0;
comment on table pgclarify_private.step is 'A question of an investigation, and its answer. Written while the run is not over.';
comment on column pgclarify_private.step.run_id is 'The run.';
comment on column pgclarify_private.step.ordinal is 'Place in the chain, from 1; the conclusion is the last one.';
comment on column pgclarify_private.step.kind is
    'direct (the question itself, without a follow-up), follow_up (a question that it depends on) or conclusion (the answer '
    'to the whole question).';
comment on column pgclarify_private.step.question is 'The question.';
comment on column pgclarify_private.step.answer is 'Its answer; null unless answered.';
comment on column pgclarify_private.step.outcome is
    'answered, not_in_corpus (there is no evidence), repeated (it was asked before), contradicted (steps contradict each '
    'other, and the evidence does not decide), cut_off (the limit on calls was reached) or failed (the model could not be '
    'reached or understood).';
comment on column pgclarify_private.step.confidence is 'Confidence in the answer, above 0 and up to 1; null unless answered.';
comment on column pgclarify_private.step.reason is
    'Why there is no answer, or a remark on the answer; null if there is nothing to say.';
comment on column pgclarify_private.step.semantic_sets is
    'How many groups of equal meaning the sampled answers form; null if no answers were sampled.';
comment on column pgclarify_private.step.created_at is 'When it was decided.';
comment on column pgclarify_private.step.abstention_code is
    'Why there is no evidence, as a code; null unless that is the outcome, and for older steps.';

create table pgclarify_private.verdict (
    run_id bigint not null,
    rank integer not null,
    outcome text not null,
    interpretation text,
    answer text,
    quote text,
    start_char integer,
    end_char integer,
    vector @extschema:vector@.halfvec,
    completion_id bigint,
    is_reused boolean not null,
    reason text,
    error text,
    created_at timestamptz default now() not null,
    abstention_code text,
    error_code text,
    constraint verdict_pk primary key (run_id, rank),
    constraint verdict_outcome_is_known check (outcome in ('grounded', 'abstained', 'failed', 'erased')),
    constraint verdict_grounded_has_a_reading
        check ((outcome = 'grounded') = (num_nonnulls(interpretation, answer, quote, start_char, end_char, vector) = 6)),
    constraint verdict_failed_has_an_error check ((outcome = 'failed') = (error is not null)),
    constraint verdict_abstained_has_a_code check ((outcome = 'abstained') = (abstention_code is not null)),
    constraint verdict_abstention_code_is_known
        check (
            abstention_code in (
                'not_answered', 'no_language_model', 'threshold', 'unproven', 'fragment', 'answer_not_quoted', 'beside_the_point',
                'about_another', 'not_confirmed'
            )
        ),
    constraint verdict_failed_has_a_code check ((outcome = 'failed') = (error_code is not null)),
    constraint verdict_error_code_is_known
        check (error_code in ('PC007', 'PC008', 'PC010', 'PC011', 'PC012', 'PC013', 'PC014', 'PC015', 'PC017', 'XX000')),
    constraint verdict_candidate_fk foreign key (run_id, rank) references pgclarify_private.candidate (run_id, rank) on delete cascade
);
alter table pgclarify_private.verdict
    alter column interpretation set statistics 0,
    alter column answer set statistics 0,
    alter column quote set statistics 0,
    alter column vector set statistics 0,
    alter column reason set statistics 0,
    alter column error set statistics 0;
comment on table pgclarify_private.verdict is 'The verdict on a candidate.';
comment on column pgclarify_private.verdict.run_id is 'The run.';
comment on column pgclarify_private.verdict.rank is 'The candidate''s rank.';
comment on column pgclarify_private.verdict.outcome is
    'grounded (the passage answers a reading), abstained (it does not), failed (it could not be judged) or erased (the '
    'verdict was erased with its document).';
comment on column pgclarify_private.verdict.interpretation is 'The reading; null unless grounded.';
comment on column pgclarify_private.verdict.answer is 'Its answer; null unless grounded.';
comment on column pgclarify_private.verdict.quote is 'The words of the passage that prove it, verbatim; null unless grounded.';
comment on column pgclarify_private.verdict.start_char is 'Offset of the quote in the document, from 0.';
comment on column pgclarify_private.verdict.end_char is 'Offset of the end of the quote.';
comment on column pgclarify_private.verdict.vector is 'f(interpretation; answer), unit length; null unless grounded.';
comment on column pgclarify_private.verdict.completion_id is 'Ledger row that it was read from; null if there was no reply.';
comment on column pgclarify_private.verdict.is_reused is 'True if that row had been paid for before.';
comment on column pgclarify_private.verdict.reason is 'Why it abstained; null unless it did.';
comment on column pgclarify_private.verdict.error is 'What went wrong; null unless failed.';
comment on column pgclarify_private.verdict.created_at is 'When it was decided.';
comment on column pgclarify_private.verdict.abstention_code is 'Why it abstained, as a code; null unless it did.';
comment on column pgclarify_private.verdict.error_code is 'What went wrong, as a SQLSTATE; null unless failed.';

create table pgclarify_private.citation (
    run_id bigint not null,
    ordinal integer not null,
    rank integer not null,
    candidate_rank integer not null,
    corpus_id bigint not null,
    document_id text not null,
    passage_id bigint not null,
    heading text,
    is_medoid boolean not null,
    quote text not null,
    start_char integer not null,
    end_char integer not null,
    constraint citation_pk primary key (run_id, ordinal, rank),
    constraint citation_rank_counts_from_one check (rank >= 1),
    constraint citation_interpretation_fk
        foreign key (run_id, ordinal) references pgclarify_private.interpretation (run_id, ordinal) on delete cascade
);
create index citation_corpus_id_document_id_idx on pgclarify_private.citation (corpus_id, document_id);
alter table pgclarify_private.citation
    alter column heading set statistics 0,
    alter column quote set statistics 0;
comment on table pgclarify_private.citation is
    'A passage that supports an interpretation. Quote and ids stay when the document is removed.';
comment on column pgclarify_private.citation.run_id is 'The run.';
comment on column pgclarify_private.citation.ordinal is 'The interpretation''s ordinal.';
comment on column pgclarify_private.citation.rank is 'Place among its citations, from 1; the first one is the medoid.';
comment on column pgclarify_private.citation.candidate_rank is 'The candidate''s rank in the run.';
comment on column pgclarify_private.citation.corpus_id is 'The corpus.';
comment on column pgclarify_private.citation.document_id is 'The document.';
comment on column pgclarify_private.citation.passage_id is 'The passage.';
comment on column pgclarify_private.citation.heading is 'Headings above the passage when it was cited; null if none.';
comment on column pgclarify_private.citation.is_medoid is 'True for the medoid of the cluster.';
comment on column pgclarify_private.citation.quote is 'The words that prove the answer, verbatim.';
comment on column pgclarify_private.citation.start_char is 'Offset of the quote in the document, from 0.';
comment on column pgclarify_private.citation.end_char is 'Offset of the end of the quote.';

create table pgclarify_private.step_citation (
    run_id bigint not null,
    step_ordinal integer not null,
    rank integer not null,
    candidate_rank integer not null,
    corpus_id bigint not null,
    document_id text not null,
    passage_id bigint not null,
    heading text,
    quote text not null,
    start_char integer not null,
    end_char integer not null,
    constraint step_citation_pk primary key (run_id, step_ordinal, rank),
    constraint step_citation_rank_counts_from_one check (rank >= 1),
    constraint step_citation_step_fk
        foreign key (run_id, step_ordinal) references pgclarify_private.step (run_id, ordinal) on delete cascade
);
alter table pgclarify_private.step_citation
    alter column heading set statistics 0,
    alter column quote set statistics 0;
comment on table pgclarify_private.step_citation is
    'A passage that proves the answer of a step. Quote and ids stay when the document is removed.';
comment on column pgclarify_private.step_citation.run_id is 'The run.';
comment on column pgclarify_private.step_citation.step_ordinal is 'The step.';
comment on column pgclarify_private.step_citation.rank is 'Place among its citations, from 1.';
comment on column pgclarify_private.step_citation.candidate_rank is
    'The candidate''s rank in the run; a conclusion cites candidates of other steps.';
comment on column pgclarify_private.step_citation.corpus_id is 'The corpus.';
comment on column pgclarify_private.step_citation.document_id is 'The document.';
comment on column pgclarify_private.step_citation.passage_id is 'The passage.';
comment on column pgclarify_private.step_citation.heading is 'Headings above the passage when it was cited; null if none.';
comment on column pgclarify_private.step_citation.quote is 'The words that prove the answer, verbatim.';
comment on column pgclarify_private.step_citation.start_char is 'Offset of the quote in the document, from 0.';
comment on column pgclarify_private.step_citation.end_char is 'Offset of the end of the quote.';
alter table pgclarify_private.corpus add constraint corpus_embedding_space_id_fk foreign key (embedding_space_id) references
    pgclarify_private.embedding_space (embedding_space_id) on delete set null;

create type pgclarify.clarification as (
    run_id bigint,
    status text,
    ordinal integer,
    interpretation text,
    answer text,
    support integer,
    cohesion real,
    document_ids text[],
    citations jsonb
);
comment on type pgclarify.clarification is 'A reading with its answer and its evidence: a row of clarify.';
comment on column pgclarify.clarification.run_id is 'The run.';
comment on column pgclarify.clarification.status is 'succeeded or partial.';
comment on column pgclarify.clarification.ordinal is 'Place by falling support, from 1.';
comment on column pgclarify.clarification.interpretation is 'The reading: a question that stands alone.';
comment on column pgclarify.clarification.answer is 'Its answer.';
comment on column pgclarify.clarification.support is 'How many documents support it.';
comment on column pgclarify.clarification.cohesion is 'How much its evidence agrees, up to 1.';
comment on column pgclarify.clarification.document_ids is 'Documents that prove it, best first.';
comment on column pgclarify.clarification.citations is 'Array of objects with the columns of view citation.';

create type pgclarify.question_clarification as (
    question_ordinal integer,
    question_key text,
    question text,
    run_id bigint,
    status text,
    ordinal integer,
    interpretation text,
    answer text,
    support integer,
    cohesion real,
    document_ids text[],
    citations jsonb,
    stop_code text
);
comment on type pgclarify.question_clarification is 'A row of clarify_many.';
comment on column pgclarify.question_clarification.question_ordinal is 'Place of the question, from 1.';
comment on column pgclarify.question_clarification.question_key is 'The caller''s key of it; null without keys.';
comment on column pgclarify.question_clarification.question is 'The question.';
comment on column pgclarify.question_clarification.run_id is 'The run.';
comment on column pgclarify.question_clarification.status is
    'succeeded, partial, failed or cancelled. If there is no reading, the columns from ordinal to citations are null.';
comment on column pgclarify.question_clarification.ordinal is 'As in clarification.';
comment on column pgclarify.question_clarification.interpretation is 'As in clarification.';
comment on column pgclarify.question_clarification.answer is 'As in clarification.';
comment on column pgclarify.question_clarification.support is 'As in clarification.';
comment on column pgclarify.question_clarification.cohesion is 'As in clarification.';
comment on column pgclarify.question_clarification.document_ids is 'As in clarification.';
comment on column pgclarify.question_clarification.citations is 'As in clarification.';
comment on column pgclarify.question_clarification.stop_code is 'As in run_outcome.';

create type pgclarify.run_outcome as (
    run_id bigint,
    status text,
    error text,
    interpretations integer,
    stop_reason text,
    cost_usd numeric,
    stop_code text,
    error_code text
);
comment on type pgclarify.run_outcome is 'A row of wait.';
comment on column pgclarify.run_outcome.run_id is 'The run.';
comment on column pgclarify.run_outcome.status is 'Its state; queued or running if the timeout came first.';
comment on column pgclarify.run_outcome.error is 'Why it failed; null unless it did.';
comment on column pgclarify.run_outcome.interpretations is
    'Number of readings found; 0 means that none was found, and stop_code says why. Null unless succeeded or partial, and '
    'for operations without readings, such as investigations.';
comment on column pgclarify.run_outcome.stop_reason is 'Why it stopped early; null if it did not, or is not over.';
comment on column pgclarify.run_outcome.cost_usd is
    'What it cost, in US dollars: 0 if it paid for no call; null if the cost of a call is unknown, or before its end.';
comment on column pgclarify.run_outcome.stop_code is
    'Why it has no result, or only a part of it, as a code; null if the result is complete, or if it has failed or is not '
    'over.';
comment on column pgclarify.run_outcome.error_code is
    'Why it failed, as a SQLSTATE that docs/errors.md lists; for a partial run, why calls failed; else null.';

create type pgclarify.search_result as (
    rank integer,
    passage_id bigint,
    document_id text,
    title text,
    heading text,
    content text,
    score double precision,
    origin text
);
comment on type pgclarify.search_result is 'A row of search.';
comment on column pgclarify.search_result.rank is 'Place, from 1.';
comment on column pgclarify.search_result.passage_id is 'The passage.';
comment on column pgclarify.search_result.document_id is 'The document.';
comment on column pgclarify.search_result.title is 'The document''s title.';
comment on column pgclarify.search_result.heading is 'Headings above the passage.';
comment on column pgclarify.search_result.content is 'The passage.';
comment on column pgclarify.search_result.score is 'As in the table candidate. Higher is better.';
comment on column pgclarify.search_result.origin is 'How it was found: dense, lexical or neighbor.';

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
comment on column pgclarify.neighbor.similarity is 'How near it is: cosine similarity, or lexical similarity from 0 to 1.';

create type pgclarify_private.graph_check as (
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
comment on type pgclarify_private.graph_check is 'The result of check_graph. One row.';
comment on column pgclarify_private.graph_check.passages is 'Passages with a vector in the active space.';
comment on column pgclarify_private.graph_check.linked is 'Passages with a list of neighbors.';
comment on column pgclarify_private.graph_check.unlinked is 'Passages without a list.';
comment on column pgclarify_private.graph_check.pending is 'Pending work: passages to link, and to unlink.';
comment on column pgclarify_private.graph_check.self_edges is 'Edges from a passage to itself.';
comment on column pgclarify_private.graph_check.dangling is 'Edges from or to removed passages that no worker will remove.';
comment on column pgclarify_private.graph_check.orphans is 'Vectors of removed passages.';
comment on column pgclarify_private.graph_check.gaps is
    'Lists that are shorter than they could be; null in a graph of lexical similarity, where that is normal.';
comment on column pgclarify_private.graph_check.unordered is
    'Lists that are longer than corpus.graph_degree, repeat a passage, or are not nearest first.';
comment on column pgclarify_private.graph_check.sampled is 'Lists that were compared with an exact search.';
comment on column pgclarify_private.graph_check.recall is
    'Share of their true neighbors that they contain, 0 to 1; null if none were compared.';

create type pgclarify.investigation as (
    run_id bigint,
    status text,
    outcome text,
    answer text,
    confidence real,
    steps jsonb,
    document_ids text[],
    citations jsonb
);
comment on type pgclarify.investigation is 'The result of investigate, in one row.';
comment on column pgclarify.investigation.run_id is 'The run.';
comment on column pgclarify.investigation.status is 'succeeded or partial.';
comment on column pgclarify.investigation.outcome is
    'The outcome of its conclusion: answered, not_in_corpus, contradicted, cut_off or failed.';
comment on column pgclarify.investigation.answer is 'The answer; null unless answered.';
comment on column pgclarify.investigation.confidence is 'Confidence in the answer, above 0 and up to 1; null unless answered.';
comment on column pgclarify.investigation.steps is
    'Array of objects with the columns of view investigation_step, in order, and citations, an array of objects with the '
    'columns of view citation.';
comment on column pgclarify.investigation.document_ids is
    'Documents that the conclusion cites, best first; empty if there are none.';
comment on column pgclarify.investigation.citations is
    'The evidence of the conclusion: array of objects with the columns of view citation.';

create type pgclarify.ambiguity as (
    run_id bigint,
    is_ambiguous boolean,
    probability real,
    kind text,
    reasons jsonb,
    ordinal integer,
    question text
);
comment on type pgclarify.ambiguity is 'Whether a question is ambiguous: the row of detect_ambiguity.';
comment on column pgclarify.ambiguity.run_id is 'The run.';
comment on column pgclarify.ambiguity.is_ambiguous is 'True if the probability reaches the threshold, or a rule says so.';
comment on column pgclarify.ambiguity.probability is
    'Probability that it is ambiguous, from 0 to 1; 1 if a rule matched; null for a question in another language than English.';
comment on column pgclarify.ambiguity.kind is 'pragmatic, syntactic or lexical; null unless ambiguous.';
comment on column pgclarify.ambiguity.reasons is
    'The reasons: array of objects with source (classifier, feature, rule or corpus), name and text.';
comment on column pgclarify.ambiguity.ordinal is 'Place of the question in the run, from 1.';
comment on column pgclarify.ambiguity.question is 'The question.';

create type pgclarify.rewritten_question as (
    run_id bigint,
    rewritten text,
    was_ambiguous boolean,
    reason text
);
comment on type pgclarify.rewritten_question is 'A question that stands alone: the row of rewrite.';
comment on column pgclarify.rewritten_question.run_id is 'The run.';
comment on column pgclarify.rewritten_question.rewritten is
    'The rewritten question; exactly the original one if it was clear or could not be rewritten.';
comment on column pgclarify.rewritten_question.was_ambiguous is
    'True if it was ambiguous even with its history. False if it was clear. A question that was clear only with its history '
    'has a reason.';
comment on column pgclarify.rewritten_question.reason is
    'Why it was rewritten in this way, or not at all; null if there is nothing to say.';

create type pgclarify.proposed_question as (
    run_id bigint,
    ordinal integer,
    ambiguity_type text,
    clarifying_question text,
    reformulation text,
    document_ids text[],
    reasoning text,
    is_answerable boolean,
    citations jsonb
);
comment on type pgclarify.proposed_question is
    'A clarifying question, or a reformulation to choose: the row of clarifying_questions.';
comment on column pgclarify.proposed_question.run_id is 'The run, for reply.';
comment on column pgclarify.proposed_question.ordinal is 'Place in the list, from 1.';
comment on column pgclarify.proposed_question.ambiguity_type is
    'semantic, generalize or specify; null for schemes without types.';
comment on column pgclarify.proposed_question.clarifying_question is
    'A question to the user; null if there are reformulations to choose from.';
comment on column pgclarify.proposed_question.reformulation is
    'What a user who means this would ask; null if the model gave none.';
comment on column pgclarify.proposed_question.document_ids is
    'Documents that answer the reformulation, best first; empty if there are none or it was not checked.';
comment on column pgclarify.proposed_question.reasoning is 'The model''s reasoning; null for schemes without reasoning.';
comment on column pgclarify.proposed_question.is_answerable is
    'Whether a document of the corpus answers the reformulation; null if it was not checked, or could not be checked.';
comment on column pgclarify.proposed_question.citations is
    'The evidence of the reformulation: array of objects with the columns of view citation.';

create type pgclarify.reformulated_question as (
    conversation_id bigint,
    turn integer,
    question text,
    turns_left integer
);
comment on type pgclarify.reformulated_question is 'The state of a conversation after a turn: the row of reply.';
comment on column pgclarify.reformulated_question.conversation_id is 'The conversation.';
comment on column pgclarify.reformulated_question.turn is 'The number of this turn, from 1 to 3.';
comment on column pgclarify.reformulated_question.question is 'The question after this turn, reformulated.';
comment on column pgclarify.reformulated_question.turns_left is 'How many more turns are possible: 2 to 0.';

create type pgclarify.answer as (
    run_id bigint,
    ordinal integer,
    answer text,
    variants text[],
    document_ids text[],
    citations jsonb
);
comment on type pgclarify.answer is 'One answer of a list: the row of list_answers.';
comment on column pgclarify.answer.run_id is 'The run.';
comment on column pgclarify.answer.ordinal is 'Place in the order in which answers were found, from 1.';
comment on column pgclarify.answer.answer is 'The answer, in its first spelling.';
comment on column pgclarify.answer.variants is 'All spellings that were found, the first one first.';
comment on column pgclarify.answer.document_ids is 'Documents that have the answer, best first.';
comment on column pgclarify.answer.citations is
    'The evidence of the answer: array of objects with the columns of view citation.';

create type pgclarify.estimation as (
    run_id bigint,
    questions bigint,
    distinct_questions bigint,
    answered bigint,
    sampled bigint,
    calls bigint,
    calls_at_most bigint,
    reused_calls bigint,
    prompt_tokens bigint,
    completion_tokens bigint,
    cost_usd numeric,
    model text
);
comment on type pgclarify.estimation is 'What questions would cost: the row of estimate.';
comment on column pgclarify.estimation.run_id is
    'The run that made the estimate; null if all questions have been answered, so that no run was needed.';
comment on column pgclarify.estimation.questions is 'How many questions were given.';
comment on column pgclarify.estimation.distinct_questions is 'How many of them are different.';
comment on column pgclarify.estimation.answered is 'How many of these an earlier run has answered, so that they need no call.';
comment on column pgclarify.estimation.sampled is
    'How many of the others were examined. If not all were, the figures are scaled up from these.';
comment on column pgclarify.estimation.calls is
    'About how many calls of the language model would be made and paid for; equal calls count once.';
comment on column pgclarify.estimation.calls_at_most is
    'At most so many calls, except for calls that are repeated because their reply was invalid.';
comment on column pgclarify.estimation.reused_calls is
    'About how many further calls are needed whose replies are in the ledger.';
comment on column pgclarify.estimation.prompt_tokens is 'About how many input tokens the calls have.';
comment on column pgclarify.estimation.completion_tokens is 'About how many output tokens they have.';
comment on column pgclarify.estimation.cost_usd is
    'About what the calls cost in US dollars; null if table model_price has no price of the model.';
comment on column pgclarify.estimation.model is 'The model that would be called; null if no run was needed.';

insert into pgclarify_private.model_price (model, input_usd, output_usd) values ('extractive', 0, 0);
