-- Written by `make baseline` from the tables in pgclarify/schema.

CREATE TABLE pgclarify_private.applied_sql (
    is_only BOOLEAN DEFAULT true NOT NULL,
    shipped_hash TEXT NOT NULL,
    state_hash TEXT NOT NULL,
    CONSTRAINT applied_sql_pk PRIMARY KEY (is_only),
    CONSTRAINT applied_sql_has_one_row CHECK (is_only)
);
COMMENT ON TABLE pgclarify_private.applied_sql IS 'Which functions, views and policies are installed. If they are complete, an install does not change them. One row.';
COMMENT ON COLUMN pgclarify_private.applied_sql.is_only IS 'Always true: the table has one row.';
COMMENT ON COLUMN pgclarify_private.applied_sql.shipped_hash IS 'SHA-256 of the installed files. A worker of another version refuses to start.';
COMMENT ON COLUMN pgclarify_private.applied_sql.state_hash IS 'SHA-256 of the files as applied and of the catalogs afterwards; empty where CREATE EXTENSION applied them.';

CREATE TABLE pgclarify_private.batch (
    batch_id UUID DEFAULT gen_random_uuid() NOT NULL,
    model TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    remote_id TEXT,
    leased_by BIGINT,
    leased_until TIMESTAMP WITH TIME ZONE,
    due_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT batch_pk PRIMARY KEY (batch_id),
    CONSTRAINT batch_lease_has_a_holder CHECK ((leased_by is null) = (leased_until is null))
);
COMMENT ON TABLE pgclarify_private.batch IS 'A batch of model calls that was sent to an endpoint, or will be; its row is deleted when it was read.';
COMMENT ON COLUMN pgclarify_private.batch.batch_id IS 'Key. The batch carries it at the endpoint, too, so that a worker that takes it over finds it there.';
COMMENT ON COLUMN pgclarify_private.batch.model IS 'Model of its calls.';
COMMENT ON COLUMN pgclarify_private.batch.endpoint IS 'Address of the endpoint.';
ALTER TABLE pgclarify_private.batch ALTER COLUMN endpoint SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.batch.remote_id IS 'Its id at the endpoint; null until that is stored.';
ALTER TABLE pgclarify_private.batch ALTER COLUMN remote_id SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.batch.leased_by IS 'Worker that sends, looks at or reads it now; null if none does.';
COMMENT ON COLUMN pgclarify_private.batch.leased_until IS 'When another worker may do that; null without a worker.';
COMMENT ON COLUMN pgclarify_private.batch.due_at IS 'When a worker looks at it next.';
COMMENT ON COLUMN pgclarify_private.batch.created_at IS 'When its calls were gathered.';

CREATE TABLE pgclarify_private.budget_counter (
    budget_id BIGINT NOT NULL,
    period_start TIMESTAMP WITH TIME ZONE NOT NULL,
    cost_usd NUMERIC DEFAULT 0 NOT NULL,
    calls BIGINT DEFAULT 0 NOT NULL,
    CONSTRAINT budget_counter_pk PRIMARY KEY (budget_id, period_start),
    CONSTRAINT budget_counter_cost_usd_is_an_amount CHECK (cost_usd >= 0 and cost_usd < 'infinity'),
    CONSTRAINT budget_counter_calls_are_not_negative CHECK (calls >= 0)
);
COMMENT ON TABLE pgclarify_private.budget_counter IS 'What was spent of a budget in a period.';
COMMENT ON COLUMN pgclarify_private.budget_counter.budget_id IS 'The budget, which may have been removed.';
COMMENT ON COLUMN pgclarify_private.budget_counter.period_start IS 'When the period began; for total, when the budget was made.';
COMMENT ON COLUMN pgclarify_private.budget_counter.cost_usd IS 'US dollars that answered calls of this period have cost.';
COMMENT ON COLUMN pgclarify_private.budget_counter.calls IS 'How many there are.';

CREATE TABLE pgclarify_private.caller_key (
    is_only BOOLEAN DEFAULT true NOT NULL,
    inner_pad BYTEA NOT NULL,
    outer_pad BYTEA NOT NULL,
    CONSTRAINT caller_key_pk PRIMARY KEY (is_only),
    CONSTRAINT caller_key_has_one_row CHECK (is_only),
    CONSTRAINT caller_key_inner_pad_is_one_block CHECK (length(inner_pad) = 64),
    CONSTRAINT caller_key_outer_pad_is_one_block CHECK (length(outer_pad) = 64)
);
COMMENT ON TABLE pgclarify_private.caller_key IS 'The key that signs callers'' names (HMAC-SHA-256, RFC 2104), as its two padded blocks. One row.';
COMMENT ON COLUMN pgclarify_private.caller_key.is_only IS 'Always true: the table has one row.';
COMMENT ON COLUMN pgclarify_private.caller_key.inner_pad IS 'Key xor 0x36, 64 bytes.';
COMMENT ON COLUMN pgclarify_private.caller_key.outer_pad IS 'Key xor 0x5c, 64 bytes.';

CREATE TABLE pgclarify_private.change (
    change_id BIGINT GENERATED ALWAYS AS IDENTITY,
    source_id BIGINT NOT NULL,
    relation OID NOT NULL,
    keys TEXT[],
    changed_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT change_pk PRIMARY KEY (source_id, change_id)
)
 WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0);
COMMENT ON TABLE pgclarify_private.change IS 'Pending changes of an attached table. Triggers only insert rows; workers process them.';
COMMENT ON COLUMN pgclarify_private.change.change_id IS 'Order of the changes of a source.';
COMMENT ON COLUMN pgclarify_private.change.source_id IS 'The source. There is no foreign key, because it would lock the source''s row in every user''s transaction.';
COMMENT ON COLUMN pgclarify_private.change.relation IS 'The table or the partition that changed, by its oid.';
COMMENT ON COLUMN pgclarify_private.change.keys IS 'Values of the id column, as text: of one row, or some of those of a statement. Null if any row may have changed: TRUNCATE, or a missing column.';
ALTER TABLE pgclarify_private.change ALTER COLUMN keys SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.change.changed_at IS 'When it changed.';

CREATE TABLE pgclarify_private.completion (
    completion_id BIGINT GENERATED ALWAYS AS IDENTITY,
    purpose TEXT NOT NULL,
    model TEXT NOT NULL,
    parameters JSONB NOT NULL,
    prompt_version TEXT NOT NULL,
    input_hash BYTEA NOT NULL,
    sample INTEGER DEFAULT 0 NOT NULL,
    run_id BIGINT,
    reply TEXT,
    prompt_tokens INTEGER,
    completion_tokens INTEGER,
    latency_ms REAL,
    leased_by BIGINT,
    leased_until TIMESTAMP WITH TIME ZONE,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    finished_at TIMESTAMP WITH TIME ZONE,
    cost_usd NUMERIC,
    budget_ids BIGINT[],
    reserved_usd NUMERIC,
    reserved_at TIMESTAMP WITH TIME ZONE,
    erased_at TIMESTAMP WITH TIME ZONE,
    cached_tokens INTEGER,
    is_batched BOOLEAN DEFAULT false NOT NULL,
    CONSTRAINT completion_pk PRIMARY KEY (completion_id),
    CONSTRAINT completion_input_hash_is_sha256 CHECK (length(input_hash) = 32),
    CONSTRAINT completion_sample_counts_from_zero CHECK (sample >= 0),
    CONSTRAINT completion_finished_has_a_reply CHECK (case when erased_at is null then (finished_at is null) = (reply is null) else reply is null end),
    CONSTRAINT completion_lease_has_a_holder CHECK ((leased_by is null) = (leased_until is null)),
    CONSTRAINT completion_cost_is_of_a_reply CHECK (cost_usd is null or finished_at is not null),
    CONSTRAINT completion_reservation_has_a_lease CHECK (budget_ids is null or leased_by is not null),
    CONSTRAINT completion_reservation_is_whole CHECK (num_nonnulls(budget_ids, reserved_usd, reserved_at) in (0, 3)),
    CONSTRAINT completion_purpose_model_parameters_prompt_version_input_ha_key UNIQUE (purpose, model, parameters, prompt_version, input_hash, sample)
);
COMMENT ON TABLE pgclarify_private.completion IS 'The ledger: what one model replied to one rendered input. Every paid call goes through it, so nothing is paid for twice.';
COMMENT ON COLUMN pgclarify_private.completion.completion_id IS 'Key.';
COMMENT ON COLUMN pgclarify_private.completion.purpose IS 'What the reply is for: relaxation, verdict, relevance, entailment, follow_up, sample, answer, conclusion, rewriting, questions or reformulation; in evaluations also baseline_proposal, baseline_verification, baseline_answers, baseline_disambiguation, judge_support, judge_match, judge_distinct or judge_relevance.';
COMMENT ON COLUMN pgclarify_private.completion.model IS 'Model of the call.';
COMMENT ON COLUMN pgclarify_private.completion.parameters IS 'Decoding parameters.';
COMMENT ON COLUMN pgclarify_private.completion.prompt_version IS 'Version of the prompt.';
COMMENT ON COLUMN pgclarify_private.completion.input_hash IS 'SHA-256 of the rendered input and of who may see it: see read_calls.';
COMMENT ON COLUMN pgclarify_private.completion.sample IS 'Which reply to this input, from 0; plus a thousand times the option refresh of the run.';
COMMENT ON COLUMN pgclarify_private.completion.run_id IS 'The run that paid for it; null if that run is gone.';
COMMENT ON COLUMN pgclarify_private.completion.reply IS 'The model''s reply; null while there is none, or once erased.';
ALTER TABLE pgclarify_private.completion ALTER COLUMN reply SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.completion.prompt_tokens IS 'Tokens of the input; null if the endpoint did not say.';
COMMENT ON COLUMN pgclarify_private.completion.completion_tokens IS 'Tokens of the reply; null if the endpoint did not say.';
COMMENT ON COLUMN pgclarify_private.completion.latency_ms IS 'Milliseconds that the call took.';
COMMENT ON COLUMN pgclarify_private.completion.leased_by IS 'Worker that is making the call; null if none is.';
COMMENT ON COLUMN pgclarify_private.completion.leased_until IS 'When another worker may take over the call.';
COMMENT ON COLUMN pgclarify_private.completion.created_at IS 'When it was first claimed.';
COMMENT ON COLUMN pgclarify_private.completion.finished_at IS 'When the reply came; null while there is none.';
COMMENT ON COLUMN pgclarify_private.completion.cost_usd IS 'What it cost, in US dollars; null while there is no reply, or if price or tokens are not known.';
COMMENT ON COLUMN pgclarify_private.completion.budget_ids IS 'Budgets in which the call is reserved while it is made; null if there are none, or it is not being made.';
COMMENT ON COLUMN pgclarify_private.completion.reserved_usd IS 'Most that it is expected to cost; null unless it is reserved.';
COMMENT ON COLUMN pgclarify_private.completion.reserved_at IS 'When it was reserved, which determines the period; null unless it is reserved.';
COMMENT ON COLUMN pgclarify_private.completion.erased_at IS 'When its text was erased with a document; null if it was not. Its input_hash is random since then, so that an equal input is asked again.';
COMMENT ON COLUMN pgclarify_private.completion.cached_tokens IS 'How many of prompt_tokens the endpoint had in its cache; null if it did not say.';
COMMENT ON COLUMN pgclarify_private.completion.is_batched IS 'Whether it came from a batch, at half the price.';
CREATE INDEX completion_reserved_idx ON pgclarify_private.completion (reserved_at) WHERE budget_ids is not null;
CREATE INDEX completion_run_id_idx ON pgclarify_private.completion (run_id);

CREATE TABLE pgclarify_private.corpus (
    corpus_id BIGINT GENERATED ALWAYS AS IDENTITY,
    name TEXT NOT NULL,
    search_config TEXT NOT NULL,
    graph_degree INTEGER DEFAULT 16 NOT NULL,
    revision BIGINT DEFAULT 0 NOT NULL,
    owner name NOT NULL,
    reader name,
    analyst name,
    embedding_space_id BIGINT,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    graph_similarity TEXT DEFAULT 'dense' NOT NULL,
    owner_oid OID NOT NULL,
    CONSTRAINT corpus_pk PRIMARY KEY (corpus_id),
    CONSTRAINT corpus_graph_similarity_is_known CHECK (graph_similarity in ('dense', 'lexical')),
    CONSTRAINT corpus_name_is_short CHECK (length(name) between 1 and 200),
    CONSTRAINT corpus_graph_degree_is_small CHECK (graph_degree between 1 and 1000),
    CONSTRAINT corpus_name_key UNIQUE (name)
);
COMMENT ON TABLE pgclarify_private.corpus IS 'Documents that are searched together.';
COMMENT ON COLUMN pgclarify_private.corpus.corpus_id IS 'Key; also names the partition pgclarify_private.passage_<corpus_id>.';
COMMENT ON COLUMN pgclarify_private.corpus.name IS 'The name that callers use.';
COMMENT ON COLUMN pgclarify_private.corpus.search_config IS 'Text search configuration of its language, such as english; schema-qualified unless in pg_catalog.';
COMMENT ON COLUMN pgclarify_private.corpus.graph_degree IS 'Neighbors that the neighborhood graph keeps for a passage.';
COMMENT ON COLUMN pgclarify_private.corpus.revision IS 'How often its searchable content changed, without documents that have their own readers, and without changes that are still in corpus_tally.';
COMMENT ON COLUMN pgclarify_private.corpus.owner IS 'Role whose members may change and drop it.';
COMMENT ON COLUMN pgclarify_private.corpus.reader IS 'Role whose members may search it; null means only its owner.';
COMMENT ON COLUMN pgclarify_private.corpus.analyst IS 'Role whose members see everyone''s runs on it; null means no role.';
COMMENT ON COLUMN pgclarify_private.corpus.embedding_space_id IS 'The space that searches use; null until a worker has opened the first one.';
COMMENT ON COLUMN pgclarify_private.corpus.created_at IS 'When it was created.';
COMMENT ON COLUMN pgclarify_private.corpus.graph_similarity IS 'What makes passages neighbors: dense (cosine similarity of their vectors) or lexical (words they share).';
COMMENT ON COLUMN pgclarify_private.corpus.owner_oid IS 'Oid of the owner, so that another role of that name is not the owner.';

CREATE TABLE pgclarify_private.embedding_usage (
    embedding_usage_id BIGINT GENERATED ALWAYS AS IDENTITY,
    day DATE NOT NULL,
    corpus_id BIGINT,
    corpus_name TEXT,
    requested_by name NOT NULL,
    requested_by_oid OID NOT NULL,
    operation TEXT NOT NULL,
    model TEXT NOT NULL,
    texts BIGINT NOT NULL,
    tokens BIGINT NOT NULL,
    unpriced_tokens BIGINT NOT NULL,
    cost_usd NUMERIC NOT NULL,
    CONSTRAINT embedding_usage_pk PRIMARY KEY (embedding_usage_id),
    CONSTRAINT embedding_usage_key UNIQUE NULLS NOT DISTINCT (day, corpus_id, requested_by, requested_by_oid, operation, model),
    CONSTRAINT embedding_usage_operation_is_known CHECK (operation in ('embed_passages', 'embed_questions')),
    CONSTRAINT embedding_usage_counts_are_not_negative CHECK (texts >= 0 and tokens >= 0),
    CONSTRAINT embedding_usage_unpriced_tokens_are_among_tokens CHECK (unpriced_tokens between 0 and tokens),
    CONSTRAINT embedding_usage_cost_usd_is_an_amount CHECK (cost_usd >= 0 and cost_usd < 'infinity')
);
COMMENT ON TABLE pgclarify_private.embedding_usage IS 'Usage of embedding endpoints, with a row for each day, corpus, role and model.';
COMMENT ON COLUMN pgclarify_private.embedding_usage.embedding_usage_id IS 'Key.';
COMMENT ON COLUMN pgclarify_private.embedding_usage.day IS 'The day in UTC.';
COMMENT ON COLUMN pgclarify_private.embedding_usage.corpus_id IS 'The corpus, which may have been dropped; null if there was none.';
COMMENT ON COLUMN pgclarify_private.embedding_usage.corpus_name IS 'Its name when the first of these texts was embedded; null without a corpus.';
COMMENT ON COLUMN pgclarify_private.embedding_usage.requested_by IS 'Role that asked, or that owns the corpus.';
COMMENT ON COLUMN pgclarify_private.embedding_usage.requested_by_oid IS 'Oid of that role.';
COMMENT ON COLUMN pgclarify_private.embedding_usage.operation IS 'embed_passages (of a corpus), or embed_questions (also readings and answers of runs).';
COMMENT ON COLUMN pgclarify_private.embedding_usage.model IS 'The embedding model, as in embedding_space.';
COMMENT ON COLUMN pgclarify_private.embedding_usage.texts IS 'How many texts.';
COMMENT ON COLUMN pgclarify_private.embedding_usage.tokens IS 'Their tokens; half a token for each byte if the endpoint did not say.';
COMMENT ON COLUMN pgclarify_private.embedding_usage.unpriced_tokens IS 'Tokens that were embedded while the model had no price.';
COMMENT ON COLUMN pgclarify_private.embedding_usage.cost_usd IS 'Cost of the other tokens, in US dollars.';

CREATE TABLE pgclarify_private.endpoint_rate (
    endpoint TEXT NOT NULL,
    requests_free_at TIMESTAMP WITH TIME ZONE NOT NULL,
    tokens_free_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT endpoint_rate_pk PRIMARY KEY (endpoint)
);
COMMENT ON TABLE pgclarify_private.endpoint_rate IS 'The rates at which workers together call endpoints that have limits. A worker books time of a limit; see book_endpoint.';
COMMENT ON COLUMN pgclarify_private.endpoint_rate.endpoint IS 'The address, and the model or what the endpoint serves.';
ALTER TABLE pgclarify_private.endpoint_rate ALTER COLUMN endpoint SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.endpoint_rate.requests_free_at IS 'Until when its limit of requests is booked.';
COMMENT ON COLUMN pgclarify_private.endpoint_rate.tokens_free_at IS 'Until when its limit of tokens is booked.';

CREATE TABLE pgclarify_private.loopback (
    is_only BOOLEAN DEFAULT true NOT NULL,
    host TEXT,
    port INTEGER,
    socket_dir TEXT,
    password TEXT,
    CONSTRAINT loopback_pk PRIMARY KEY (is_only),
    CONSTRAINT loopback_has_one_row CHECK (is_only),
    CONSTRAINT loopback_port_is_a_port CHECK (port between 1 and 65535)
);
COMMENT ON TABLE pgclarify_private.loopback IS 'How a waiting call opens a second connection to this database. One row, written by pgclarify init or by CREATE EXTENSION.';
COMMENT ON COLUMN pgclarify_private.loopback.is_only IS 'Always true: the table has one row.';
COMMENT ON COLUMN pgclarify_private.loopback.host IS 'Socket directory or host name of the primary, as passed to init; null means this server.';
COMMENT ON COLUMN pgclarify_private.loopback.port IS 'Port of the primary; null means this server''s own.';
COMMENT ON COLUMN pgclarify_private.loopback.socket_dir IS 'This server''s socket directory, used if host is null; null means localhost.';
COMMENT ON COLUMN pgclarify_private.loopback.password IS 'Password of pgclarify_loopback; null if the server does not ask for one.';
ALTER TABLE pgclarify_private.loopback ALTER COLUMN password SET STATISTICS 0;

CREATE TABLE pgclarify_private.model_price (
    model TEXT NOT NULL,
    input_usd NUMERIC NOT NULL,
    output_usd NUMERIC NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    cached_input_usd NUMERIC,
    CONSTRAINT model_price_pk PRIMARY KEY (model),
    CONSTRAINT model_price_model_is_named CHECK (length(model) between 1 and 500),
    CONSTRAINT model_price_input_usd_is_a_price CHECK (input_usd >= 0 and input_usd < 'infinity'),
    CONSTRAINT model_price_output_usd_is_a_price CHECK (output_usd >= 0 and output_usd < 'infinity'),
    CONSTRAINT model_price_cached_input_usd_is_no_higher CHECK (cached_input_usd between 0 and input_usd)
);
COMMENT ON TABLE pgclarify_private.model_price IS 'Prices of models. You may insert, update and delete rows: a call costs what its row says when the reply arrives.';
COMMENT ON COLUMN pgclarify_private.model_price.model IS 'The model''s name, as workers use it.';
COMMENT ON COLUMN pgclarify_private.model_price.input_usd IS 'US dollars for a million tokens of input.';
COMMENT ON COLUMN pgclarify_private.model_price.output_usd IS 'US dollars for a million tokens of output.';
COMMENT ON COLUMN pgclarify_private.model_price.created_at IS 'When the row was inserted.';
COMMENT ON COLUMN pgclarify_private.model_price.cached_input_usd IS 'US dollars for a million tokens of input that the endpoint has cached; null if they cost input_usd.';

CREATE TABLE pgclarify_private.named_role (
    named_role_id BIGINT GENERATED ALWAYS AS IDENTITY,
    name name NOT NULL,
    role_oid OID NOT NULL,
    noted_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT named_role_pk PRIMARY KEY (named_role_id)
);
COMMENT ON TABLE pgclarify_private.named_role IS 'Which role a stored name means, where the name grants access: reader or analyst of a corpus, reader of a document, role of a budget. It is the role that had the name when it was first written. A later role of that name has no access until pgclarify init --adopt-roles. A name may have two rows, from two concurrent transactions: with a unique key, one would wait for the other.';
COMMENT ON COLUMN pgclarify_private.named_role.named_role_id IS 'Key.';
COMMENT ON COLUMN pgclarify_private.named_role.name IS 'The name.';
COMMENT ON COLUMN pgclarify_private.named_role.role_oid IS 'Oid of the role.';
COMMENT ON COLUMN pgclarify_private.named_role.noted_at IS 'When the row was written.';
CREATE INDEX named_role_name_idx ON pgclarify_private.named_role (name);

CREATE TABLE pgclarify_private.neighborhood (
    embedding_space_id BIGINT NOT NULL,
    document_id TEXT NOT NULL,
    passage_id BIGINT NOT NULL,
    neighbor_document_ids TEXT[] NOT NULL,
    neighbor_ids BIGINT[] NOT NULL,
    similarities REAL[] NOT NULL,
    CONSTRAINT neighborhood_arrays_are_parallel CHECK (cardinality(neighbor_document_ids) = cardinality(neighbor_ids) and cardinality(similarities) = cardinality(neighbor_ids))
)
 PARTITION BY list (embedding_space_id);
COMMENT ON TABLE pgclarify_private.neighborhood IS 'A passage''s nearest passages in a space, nearest first. One partition for each space.';
COMMENT ON COLUMN pgclarify_private.neighborhood.embedding_space_id IS 'The space.';
COMMENT ON COLUMN pgclarify_private.neighborhood.document_id IS 'The passage''s document.';
ALTER TABLE pgclarify_private.neighborhood ALTER COLUMN document_id SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.neighborhood.passage_id IS 'The passage; never among its own neighbors.';
COMMENT ON COLUMN pgclarify_private.neighborhood.neighbor_document_ids IS 'Documents of the neighbors, in their order.';
ALTER TABLE pgclarify_private.neighborhood ALTER COLUMN neighbor_document_ids SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.neighborhood.neighbor_ids IS 'The nearest passages, at most corpus.graph_degree. Indexed together with passage_id: when a passage is removed, the index finds its own list and those that contain it.';
COMMENT ON COLUMN pgclarify_private.neighborhood.similarities IS 'How near each neighbor is, falling: cosine similarity, or lexical similarity from 0 to 1.';

CREATE TABLE pgclarify_private.passage (
    corpus_id BIGINT NOT NULL,
    document_id TEXT NOT NULL,
    id BIGINT DEFAULT nextval('pgclarify_private.passage_id_seq') NOT NULL,
    ordinal INTEGER NOT NULL,
    heading TEXT,
    content TEXT NOT NULL,
    start_char INTEGER NOT NULL,
    end_char INTEGER NOT NULL,
    content_hash BYTEA NOT NULL,
    readers name[],
    lexemes TSVECTOR NOT NULL,
    lexeme_count INTEGER NOT NULL,
    CONSTRAINT passage_ordinal_counts_from_one CHECK (ordinal >= 1),
    CONSTRAINT passage_offsets_are_ordered CHECK (0 <= start_char and start_char < end_char)
)
 PARTITION BY list (corpus_id);
COMMENT ON TABLE pgclarify_private.passage IS 'A chunk of a document. One partition for each corpus that is not distributed.';
COMMENT ON COLUMN pgclarify_private.passage.corpus_id IS 'The corpus.';
COMMENT ON COLUMN pgclarify_private.passage.document_id IS 'The document.';
ALTER TABLE pgclarify_private.passage ALTER COLUMN document_id SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.passage.id IS 'Unique over all corpora, but never used alone to look up a passage.';
COMMENT ON COLUMN pgclarify_private.passage.ordinal IS 'Position in the document, from 1.';
COMMENT ON COLUMN pgclarify_private.passage.heading IS 'Headings above it, outermost first, joined by " > "; null if none.';
ALTER TABLE pgclarify_private.passage ALTER COLUMN heading SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.passage.content IS 'The text, exactly as in the document between the two offsets.';
ALTER TABLE pgclarify_private.passage ALTER COLUMN content SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.passage.start_char IS 'Offset of its first character in the document, from 0.';
COMMENT ON COLUMN pgclarify_private.passage.end_char IS 'Offset after its last character.';
COMMENT ON COLUMN pgclarify_private.passage.content_hash IS 'SHA-256 of title, heading and content, which are embedded.';
COMMENT ON COLUMN pgclarify_private.passage.readers IS 'Readers of the document. While its current content is not indexed, only those that could also read the earlier content.';
COMMENT ON COLUMN pgclarify_private.passage.lexemes IS 'Title, heading and content in the corpus''s language, with positions.';
ALTER TABLE pgclarify_private.passage ALTER COLUMN lexemes SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.passage.lexeme_count IS 'Number of its lexemes, with repetitions: the passage''s length in BM25.';

CREATE TABLE pgclarify_private.passage_embedding (
    embedding_space_id BIGINT NOT NULL,
    document_id TEXT NOT NULL,
    passage_id BIGINT NOT NULL,
    vector @extschema:vector@.halfvec NOT NULL
)
 PARTITION BY list (embedding_space_id);
COMMENT ON TABLE pgclarify_private.passage_embedding IS 'A passage''s vector in a space. One partition for each space, with an HNSW index over vector::halfvec(dimensions).';
COMMENT ON COLUMN pgclarify_private.passage_embedding.embedding_space_id IS 'The space.';
COMMENT ON COLUMN pgclarify_private.passage_embedding.document_id IS 'The document.';
ALTER TABLE pgclarify_private.passage_embedding ALTER COLUMN document_id SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.passage_embedding.passage_id IS 'The passage.';
COMMENT ON COLUMN pgclarify_private.passage_embedding.vector IS 'Unit length, with the space''s dimensions.';
ALTER TABLE pgclarify_private.passage_embedding ALTER COLUMN vector SET STATISTICS 0;

CREATE unlogged TABLE pgclarify_private.served_answer (
    run_id BIGINT NOT NULL,
    served_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL
);
COMMENT ON TABLE pgclarify_private.served_answer IS 'A question that an earlier run answered, until a worker has counted it. Callers only insert rows, so that no caller waits for another.';
COMMENT ON COLUMN pgclarify_private.served_answer.run_id IS 'The run that answered.';
COMMENT ON COLUMN pgclarify_private.served_answer.served_at IS 'When it was asked again.';

CREATE unlogged TABLE pgclarify_private.staged_passage (
    batch_id UUID NOT NULL,
    document_id TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    heading TEXT,
    content TEXT NOT NULL,
    start_char INTEGER NOT NULL,
    end_char INTEGER NOT NULL,
    content_hash BYTEA NOT NULL,
    vector @extschema:vector@.halfvec
);
COMMENT ON TABLE pgclarify_private.staged_passage IS 'Staging table: a worker copies passages here, and one statement then moves them into place; those of a long document arrive in parts. Unlogged, because a crash only loses work.';
COMMENT ON COLUMN pgclarify_private.staged_passage.batch_id IS 'The worker''s batch.';
COMMENT ON COLUMN pgclarify_private.staged_passage.document_id IS 'As in passage.';
COMMENT ON COLUMN pgclarify_private.staged_passage.ordinal IS 'As in passage.';
COMMENT ON COLUMN pgclarify_private.staged_passage.heading IS 'As in passage.';
ALTER TABLE pgclarify_private.staged_passage ALTER COLUMN heading SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.staged_passage.content IS 'As in passage.';
ALTER TABLE pgclarify_private.staged_passage ALTER COLUMN content SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.staged_passage.start_char IS 'As in passage.';
COMMENT ON COLUMN pgclarify_private.staged_passage.end_char IS 'As in passage.';
COMMENT ON COLUMN pgclarify_private.staged_passage.content_hash IS 'As in passage.';
COMMENT ON COLUMN pgclarify_private.staged_passage.vector IS 'As in passage_embedding; null if the document has a passage of this content_hash, whose vector is kept.';
ALTER TABLE pgclarify_private.staged_passage ALTER COLUMN vector SET STATISTICS 0;
CREATE INDEX staged_passage_batch_id_idx ON pgclarify_private.staged_passage (batch_id);

CREATE TABLE pgclarify_private.stale_statistics (
    relation_name name NOT NULL
);
COMMENT ON TABLE pgclarify_private.stale_statistics IS 'Tables whose statistics have the id of an erased document. A worker analyzes them.';
COMMENT ON COLUMN pgclarify_private.stale_statistics.relation_name IS 'The table, in this schema. It may be listed repeatedly.';

CREATE TABLE pgclarify_private.term (
    corpus_id BIGINT NOT NULL,
    lexeme TEXT NOT NULL,
    passages BIGINT NOT NULL,
    restricted_passages BIGINT DEFAULT 0 NOT NULL,
    CONSTRAINT term_pk PRIMARY KEY (corpus_id, lexeme)
)
 WITH (fillfactor = 80);
COMMENT ON TABLE pgclarify_private.term IS 'In how many passages of a corpus a lexeme occurs. BM25 needs it, and PostgreSQL''s own ranking does not have it.';
COMMENT ON COLUMN pgclarify_private.term.corpus_id IS 'The corpus.';
COMMENT ON COLUMN pgclarify_private.term.lexeme IS 'The lexeme, as in passage.lexemes.';
ALTER TABLE pgclarify_private.term ALTER COLUMN lexeme SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.term.passages IS 'How many passages have it, without the changes that are still in term_change.';
COMMENT ON COLUMN pgclarify_private.term.restricted_passages IS 'The same as passages, for documents that have their own readers.';

CREATE TABLE pgclarify_private.term_change (
    corpus_id BIGINT NOT NULL,
    lexeme TEXT NOT NULL,
    passages BIGINT NOT NULL,
    restricted_passages BIGINT DEFAULT 0 NOT NULL
);
COMMENT ON TABLE pgclarify_private.term_change IS 'Changes of term by users'' transactions; workers apply them. So a user who removes a document locks no row of term until the commit.';
COMMENT ON COLUMN pgclarify_private.term_change.corpus_id IS 'The corpus.';
COMMENT ON COLUMN pgclarify_private.term_change.lexeme IS 'The lexeme.';
ALTER TABLE pgclarify_private.term_change ALTER COLUMN lexeme SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.term_change.passages IS 'Number to add to term.passages; negative for removed passages.';
COMMENT ON COLUMN pgclarify_private.term_change.restricted_passages IS 'Number to add to term.restricted_passages.';
CREATE INDEX term_change_corpus_id_idx ON pgclarify_private.term_change (corpus_id);

CREATE TABLE pgclarify_private.worker (
    worker_id BIGINT GENERATED ALWAYS AS IDENTITY,
    host TEXT NOT NULL,
    process_id INTEGER NOT NULL,
    version TEXT NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    prompt_version TEXT NOT NULL,
    embedding_models TEXT[] DEFAULT '{}' NOT NULL,
    started_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    seen_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    is_serving BOOLEAN DEFAULT true NOT NULL,
    lease INTERVAL DEFAULT '00:00:20'::interval NOT NULL,
    CONSTRAINT worker_pk PRIMARY KEY (worker_id),
    CONSTRAINT worker_lease_is_positive CHECK (lease > '00:00:00'::interval)
);
COMMENT ON TABLE pgclarify_private.worker IS 'A worker process. It is alive while its session holds the advisory lock (1885823084, worker_id), and its last heartbeat, seen_at, is not older than its lease.';
COMMENT ON COLUMN pgclarify_private.worker.worker_id IS 'Key, and second key of the advisory lock.';
COMMENT ON COLUMN pgclarify_private.worker.host IS 'Machine it runs on.';
COMMENT ON COLUMN pgclarify_private.worker.process_id IS 'Its process there.';
COMMENT ON COLUMN pgclarify_private.worker.version IS 'Version of pgclarify.';
COMMENT ON COLUMN pgclarify_private.worker.provider IS 'openai or extractive.';
COMMENT ON COLUMN pgclarify_private.worker.model IS 'Model that judges passages.';
COMMENT ON COLUMN pgclarify_private.worker.prompt_version IS 'Version of its prompts.';
COMMENT ON COLUMN pgclarify_private.worker.embedding_models IS 'Embedding models that it has loaded.';
COMMENT ON COLUMN pgclarify_private.worker.started_at IS 'When it started.';
COMMENT ON COLUMN pgclarify_private.worker.seen_at IS 'When it last sent a heartbeat.';
COMMENT ON COLUMN pgclarify_private.worker.is_serving IS 'True if it takes runs and documents; false for a process that only leases replies of the ledger, as an evaluation does.';
COMMENT ON COLUMN pgclarify_private.worker.lease IS 'How long after seen_at it counts as alive.';

CREATE TABLE pgclarify_private.ambiguity_rule (
    ambiguity_rule_id BIGINT GENERATED ALWAYS AS IDENTITY,
    pattern TEXT NOT NULL,
    kind TEXT NOT NULL,
    corpus TEXT,
    note TEXT,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT ambiguity_rule_pk PRIMARY KEY (ambiguity_rule_id),
    CONSTRAINT ambiguity_rule_pattern_is_fit CHECK (length(pattern) between 1 and 500 and not '' ~* pattern),
    CONSTRAINT ambiguity_rule_kind_is_known CHECK (kind in ('pragmatic', 'syntactic', 'lexical')),
    CONSTRAINT ambiguity_rule_note_is_short CHECK (length(note) between 1 and 500),
    CONSTRAINT ambiguity_rule_corpus_fk FOREIGN KEY(corpus) REFERENCES pgclarify_private.corpus (name) ON DELETE CASCADE ON UPDATE CASCADE
);
COMMENT ON TABLE pgclarify_private.ambiguity_rule IS 'A question that matches a rule is ambiguous; add_ambiguity_rule and remove_ambiguity_rule write it.';
COMMENT ON COLUMN pgclarify_private.ambiguity_rule.ambiguity_rule_id IS 'Key.';
COMMENT ON COLUMN pgclarify_private.ambiguity_rule.pattern IS 'Regular expression of 1 to 500 characters, found anywhere in a question (advanced syntax, as for operator ~*: letters match in any case; \m and \M are the begin and end of a word).';
ALTER TABLE pgclarify_private.ambiguity_rule ALTER COLUMN pattern SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.ambiguity_rule.kind IS 'pragmatic (what it refers to is missing), syntactic (it is vague) or lexical (a name or word with several meanings).';
COMMENT ON COLUMN pgclarify_private.ambiguity_rule.corpus IS 'Corpus whose questions it applies to; null for all questions, also those without a corpus.';
COMMENT ON COLUMN pgclarify_private.ambiguity_rule.note IS 'Why such a question is ambiguous, shown to the user among the reasons; null for no note.';
ALTER TABLE pgclarify_private.ambiguity_rule ALTER COLUMN note SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.ambiguity_rule.created_at IS 'When it was made.';
CREATE INDEX ambiguity_rule_corpus_idx ON pgclarify_private.ambiguity_rule (corpus);

CREATE TABLE pgclarify_private.budget (
    budget_id BIGINT GENERATED ALWAYS AS IDENTITY,
    name TEXT NOT NULL,
    role_name name,
    corpus_id BIGINT,
    period TEXT NOT NULL,
    max_cost_usd NUMERIC,
    max_calls BIGINT,
    binds_owner BOOLEAN DEFAULT pg_has_role('pgclarify_owner', 'usage') NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT budget_pk PRIMARY KEY (budget_id),
    CONSTRAINT budget_name_key UNIQUE NULLS NOT DISTINCT (corpus_id, name),
    CONSTRAINT budget_name_is_short CHECK (length(name) between 1 and 100),
    CONSTRAINT budget_period_is_known CHECK (period in ('day', 'month', 'total')),
    CONSTRAINT budget_max_cost_usd_is_an_amount CHECK (max_cost_usd >= 0 and max_cost_usd < 'infinity'),
    CONSTRAINT budget_max_calls_are_not_negative CHECK (max_calls >= 0),
    CONSTRAINT budget_has_a_limit CHECK (num_nonnulls(max_cost_usd, max_calls) >= 1),
    CONSTRAINT budget_corpus_id_fk FOREIGN KEY(corpus_id) REFERENCES pgclarify_private.corpus (corpus_id) ON DELETE CASCADE
);
COMMENT ON TABLE pgclarify_private.budget IS 'Limits of spending on model calls. set_budget and remove_budget write it; budget_status shows what is left.';
COMMENT ON COLUMN pgclarify_private.budget.budget_id IS 'Key.';
COMMENT ON COLUMN pgclarify_private.budget.name IS 'Its name in the runs that it stops: 1 to 100 characters, unique among the budgets of its corpus, or among those of all corpora.';
COMMENT ON COLUMN pgclarify_private.budget.role_name IS 'The budget applies to runs of this role and its members; null for everyone''s.';
COMMENT ON COLUMN pgclarify_private.budget.corpus_id IS 'The budget applies to runs on this corpus; null for runs on all corpora, and without one.';
COMMENT ON COLUMN pgclarify_private.budget.period IS 'Period of its limits: a day or month in UTC, or all time since its creation (total).';
COMMENT ON COLUMN pgclarify_private.budget.max_cost_usd IS 'US dollars; null for no limit.';
COMMENT ON COLUMN pgclarify_private.budget.max_calls IS 'Calls; null for no limit.';
COMMENT ON COLUMN pgclarify_private.budget.binds_owner IS 'True if the owner of the corpus may not change or delete it, because a member of pgclarify_owner created it.';
COMMENT ON COLUMN pgclarify_private.budget.created_at IS 'When it was created. Earlier spending does not count.';

CREATE TABLE pgclarify_private.citation_tally (
    corpus_id BIGINT NOT NULL,
    document_id TEXT NOT NULL,
    requested_by name NOT NULL,
    citations BIGINT NOT NULL,
    runs BIGINT NOT NULL,
    last_cited_at TIMESTAMP WITH TIME ZONE NOT NULL,
    requested_by_oid OID NOT NULL,
    CONSTRAINT citation_tally_pk PRIMARY KEY (corpus_id, document_id, requested_by, requested_by_oid),
    CONSTRAINT citation_tally_citations_are_positive CHECK (citations >= 1),
    CONSTRAINT citation_tally_runs_are_positive CHECK (runs >= 1),
    CONSTRAINT citation_tally_corpus_id_fk FOREIGN KEY(corpus_id) REFERENCES pgclarify_private.corpus (corpus_id) ON DELETE CASCADE
);
COMMENT ON TABLE pgclarify_private.citation_tally IS 'How often a document was cited, for each role. Counted when a run gets its group; deleted runs still count.';
COMMENT ON COLUMN pgclarify_private.citation_tally.corpus_id IS 'The corpus.';
COMMENT ON COLUMN pgclarify_private.citation_tally.document_id IS 'The document, which may have been removed.';
COMMENT ON COLUMN pgclarify_private.citation_tally.requested_by IS 'Role that asked.';
COMMENT ON COLUMN pgclarify_private.citation_tally.citations IS 'Citations of interpretations, of steps of investigations and of listed answers.';
COMMENT ON COLUMN pgclarify_private.citation_tally.runs IS 'Runs with such citations.';
COMMENT ON COLUMN pgclarify_private.citation_tally.last_cited_at IS 'When the last of them ended.';
COMMENT ON COLUMN pgclarify_private.citation_tally.requested_by_oid IS 'Oid of that role.';

CREATE TABLE pgclarify_private.completion_document (
    completion_id BIGINT NOT NULL,
    corpus_id BIGINT NOT NULL,
    document_id TEXT NOT NULL,
    CONSTRAINT completion_document_pk PRIMARY KEY (completion_id, corpus_id, document_id),
    CONSTRAINT completion_document_completion_id_fk FOREIGN KEY(completion_id) REFERENCES pgclarify_private.completion (completion_id) ON DELETE CASCADE
);
COMMENT ON TABLE pgclarify_private.completion_document IS 'The documents in the input of a reply; erase_document uses it to find replies.';
COMMENT ON COLUMN pgclarify_private.completion_document.completion_id IS 'The row of the ledger.';
COMMENT ON COLUMN pgclarify_private.completion_document.corpus_id IS 'The corpus, which may have been dropped.';
COMMENT ON COLUMN pgclarify_private.completion_document.document_id IS 'The document, which may have been removed.';
CREATE INDEX completion_document_corpus_id_document_id_idx ON pgclarify_private.completion_document (corpus_id, document_id);

CREATE TABLE pgclarify_private.conversation (
    conversation_id BIGINT GENERATED ALWAYS AS IDENTITY,
    question TEXT NOT NULL,
    corpus_id BIGINT,
    corpus_name TEXT,
    history JSONB DEFAULT '[]' NOT NULL,
    requested_by name NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    requested_by_oid OID DEFAULT quote_ident(current_user)::regrole NOT NULL,
    CONSTRAINT conversation_pk PRIMARY KEY (conversation_id),
    CONSTRAINT conversation_history_is_an_array CHECK (jsonb_typeof(history) = 'array'),
    CONSTRAINT conversation_of_a_corpus_has_its_name CHECK (corpus_name is not null or corpus_id is null),
    CONSTRAINT conversation_corpus_id_fk FOREIGN KEY(corpus_id) REFERENCES pgclarify_private.corpus (corpus_id) ON DELETE SET NULL
);
COMMENT ON TABLE pgclarify_private.conversation IS 'A question with clarifying questions about it. It begins with the first reply, and has up to three turns.';
COMMENT ON COLUMN pgclarify_private.conversation.conversation_id IS 'Key.';
COMMENT ON COLUMN pgclarify_private.conversation.question IS 'The original question.';
ALTER TABLE pgclarify_private.conversation ALTER COLUMN question SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.conversation.corpus_id IS 'The corpus; null once it was dropped, or if there was none.';
COMMENT ON COLUMN pgclarify_private.conversation.corpus_name IS 'The corpus''s name at the time of the question; null without a corpus.';
COMMENT ON COLUMN pgclarify_private.conversation.history IS 'Turns before the question, oldest first.';
ALTER TABLE pgclarify_private.conversation ALTER COLUMN history SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.conversation.requested_by IS 'Role that asked; its members may continue.';
COMMENT ON COLUMN pgclarify_private.conversation.created_at IS 'When it began.';
COMMENT ON COLUMN pgclarify_private.conversation.requested_by_oid IS 'Oid of that role, so that another role of that name does not count.';
CREATE INDEX conversation_corpus_id_idx ON pgclarify_private.conversation (corpus_id);
CREATE INDEX conversation_requested_by_oid_conversation_id_idx ON pgclarify_private.conversation (requested_by_oid, conversation_id);

CREATE TABLE pgclarify_private.corpus_tally (
    corpus_tally_id BIGINT GENERATED ALWAYS AS IDENTITY,
    corpus_id BIGINT NOT NULL,
    documents BIGINT DEFAULT 0 NOT NULL,
    pending BIGINT DEFAULT 0 NOT NULL,
    failed BIGINT DEFAULT 0 NOT NULL,
    passages BIGINT DEFAULT 0 NOT NULL,
    restricted_documents BIGINT DEFAULT 0 NOT NULL,
    restricted_passages BIGINT DEFAULT 0 NOT NULL,
    embedded BIGINT DEFAULT 0 NOT NULL,
    lexemes BIGINT DEFAULT 0 NOT NULL,
    revision BIGINT DEFAULT 0 NOT NULL,
    linked BIGINT DEFAULT 0 NOT NULL,
    restricted_lexemes BIGINT DEFAULT 0 NOT NULL,
    graph_revision BIGINT DEFAULT 0 NOT NULL,
    pending_passages BIGINT DEFAULT 0 NOT NULL,
    CONSTRAINT corpus_tally_pk PRIMARY KEY (corpus_tally_id),
    CONSTRAINT corpus_tally_corpus_id_fk FOREIGN KEY(corpus_id) REFERENCES pgclarify_private.corpus (corpus_id) ON DELETE CASCADE
);
COMMENT ON TABLE pgclarify_private.corpus_tally IS 'Counts of a corpus as increments; their sum is the count. Writers only insert rows, so that they do not wait for each other; workers merge the rows of a corpus into one.';
COMMENT ON COLUMN pgclarify_private.corpus_tally.corpus_tally_id IS 'Key.';
COMMENT ON COLUMN pgclarify_private.corpus_tally.corpus_id IS 'The corpus.';
COMMENT ON COLUMN pgclarify_private.corpus_tally.documents IS 'Documents added, minus those removed.';
COMMENT ON COLUMN pgclarify_private.corpus_tally.pending IS 'Documents that became pending, minus those indexed.';
COMMENT ON COLUMN pgclarify_private.corpus_tally.failed IS 'Documents that cannot be indexed, minus those repaired.';
COMMENT ON COLUMN pgclarify_private.corpus_tally.passages IS 'Passages added, minus those removed.';
COMMENT ON COLUMN pgclarify_private.corpus_tally.restricted_documents IS 'The same as documents, for those that have their own readers.';
COMMENT ON COLUMN pgclarify_private.corpus_tally.restricted_passages IS 'The same as passages, for documents that have their own readers.';
COMMENT ON COLUMN pgclarify_private.corpus_tally.embedded IS 'Vectors added to the active space, minus those removed.';
COMMENT ON COLUMN pgclarify_private.corpus_tally.lexemes IS 'Lexemes added, with repetitions, minus those removed. Divided by passages, this is the average length for BM25.';
COMMENT ON COLUMN pgclarify_private.corpus_tally.revision IS 'Changes of the searchable content, without documents that have their own readers.';
COMMENT ON COLUMN pgclarify_private.corpus_tally.linked IS 'Neighborhoods added to the active space, minus those removed.';
COMMENT ON COLUMN pgclarify_private.corpus_tally.restricted_lexemes IS 'The same as lexemes, for passages that have their own readers.';
COMMENT ON COLUMN pgclarify_private.corpus_tally.graph_revision IS 'How often passages without readers of their own got neighbors.';
COMMENT ON COLUMN pgclarify_private.corpus_tally.pending_passages IS 'About how many passages pending documents have, minus those embedded.';
CREATE INDEX corpus_tally_corpus_id_idx ON pgclarify_private.corpus_tally (corpus_id);

CREATE TABLE pgclarify_private.embedding_space (
    embedding_space_id BIGINT GENERATED ALWAYS AS IDENTITY,
    corpus_id BIGINT NOT NULL,
    model TEXT NOT NULL,
    dimensions INTEGER,
    state TEXT DEFAULT 'building' NOT NULL,
    error TEXT,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    linking_document_id TEXT,
    linking_passage_id BIGINT,
    linking_passages BIGINT,
    queued_document_id TEXT,
    queued_passage_id BIGINT,
    queued_passages BIGINT DEFAULT 0 NOT NULL,
    queued_at TIMESTAMP WITH TIME ZONE,
    ingestion_held_until TIMESTAMP WITH TIME ZONE,
    paused_until TIMESTAMP WITH TIME ZONE,
    retired_at TIMESTAMP WITH TIME ZONE,
    linking_worker_id BIGINT,
    CONSTRAINT embedding_space_pk PRIMARY KEY (embedding_space_id),
    CONSTRAINT embedding_space_cursor_is_whole CHECK ((queued_document_id is null) = (queued_passage_id is null)),
    CONSTRAINT embedding_space_retired_has_a_time CHECK ((state = 'retired') = (retired_at is not null)),
    CONSTRAINT embedding_space_dimensions_fit_an_index CHECK (dimensions between 1 and 4000),
    CONSTRAINT embedding_space_state_is_known CHECK (state in ('building', 'active', 'retired')),
    CONSTRAINT embedding_space_active_has_dimensions CHECK (state <> 'active' or dimensions is not null),
    CONSTRAINT embedding_space_linking_is_whole CHECK ((linking_document_id is null) = (linking_passage_id is null) and (linking_document_id is null) = (linking_passages is null)),
    CONSTRAINT embedding_space_linking_worker_walks CHECK (linking_worker_id is null or linking_document_id is not null),
    CONSTRAINT embedding_space_corpus_id_fk FOREIGN KEY(corpus_id) REFERENCES pgclarify_private.corpus (corpus_id) ON DELETE CASCADE
);
COMMENT ON TABLE pgclarify_private.embedding_space IS 'A corpus with one embedding model.';
COMMENT ON COLUMN pgclarify_private.embedding_space.embedding_space_id IS 'Key; also names the partition pgclarify_private.passage_embedding_<embedding_space_id>.';
COMMENT ON COLUMN pgclarify_private.embedding_space.corpus_id IS 'The corpus.';
COMMENT ON COLUMN pgclarify_private.embedding_space.model IS 'Name of the embedding model.';
COMMENT ON COLUMN pgclarify_private.embedding_space.dimensions IS 'Length of its vectors; null until a worker has loaded the model.';
COMMENT ON COLUMN pgclarify_private.embedding_space.state IS 'building (being filled), active (searched) or retired (replaced).';
COMMENT ON COLUMN pgclarify_private.embedding_space.error IS 'Why no worker could open or fill it, or why documents wait for its model; null if nothing failed.';
ALTER TABLE pgclarify_private.embedding_space ALTER COLUMN error SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.embedding_space.created_at IS 'When it was created.';
COMMENT ON COLUMN pgclarify_private.embedding_space.linking_document_id IS 'While a worker links all passages by key: the document of the last linked passage; null if none does.';
ALTER TABLE pgclarify_private.embedding_space ALTER COLUMN linking_document_id SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.embedding_space.linking_passage_id IS 'The last linked passage; null if no worker links all passages.';
COMMENT ON COLUMN pgclarify_private.embedding_space.linking_passages IS 'About how many passages it still has to link; null if no worker links all passages.';
COMMENT ON COLUMN pgclarify_private.embedding_space.queued_document_id IS 'Progress of filling: passages up to this one, by document_id and id, were put into pending_passage. Empty if none was yet; null until filling begins, and for the first space of a corpus.';
ALTER TABLE pgclarify_private.embedding_space ALTER COLUMN queued_document_id SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.embedding_space.queued_passage_id IS 'The passage, together with queued_document_id.';
COMMENT ON COLUMN pgclarify_private.embedding_space.queued_passages IS 'How many passages were put there.';
COMMENT ON COLUMN pgclarify_private.embedding_space.queued_at IS 'When all passages had been queued; null before, and once nothing is left to do after the switch.';
COMMENT ON COLUMN pgclarify_private.embedding_space.ingestion_held_until IS 'Until then, documents of the corpus are not claimed, so that the space can be completed; null if they are.';
COMMENT ON COLUMN pgclarify_private.embedding_space.paused_until IS 'Until then, workers start nothing new on the corpus, so that filling can begin or searches can switch to the space; null if they do.';
COMMENT ON COLUMN pgclarify_private.embedding_space.retired_at IS 'When it was replaced or given up; null if it was not. A worker drops it a minute later.';
COMMENT ON COLUMN pgclarify_private.embedding_space.linking_worker_id IS 'Worker that builds all lists in memory. While it is alive no other worker links the space; null if none does.';
CREATE INDEX embedding_space_building_idx ON pgclarify_private.embedding_space (embedding_space_id) WHERE state = 'building';
CREATE INDEX embedding_space_corpus_id_idx ON pgclarify_private.embedding_space (corpus_id);
CREATE UNIQUE INDEX embedding_space_corpus_id_state_key ON pgclarify_private.embedding_space (corpus_id, state) WHERE state <> 'retired';
CREATE INDEX embedding_space_queued_idx ON pgclarify_private.embedding_space (embedding_space_id) WHERE queued_at is not null;
CREATE INDEX embedding_space_retired_idx ON pgclarify_private.embedding_space (embedding_space_id) WHERE state = 'retired';

CREATE TABLE pgclarify_private.eval_run (
    eval_run_id BIGINT GENERATED ALWAYS AS IDENTITY,
    name TEXT NOT NULL,
    data_set TEXT NOT NULL,
    data_set_hash BYTEA NOT NULL,
    corpus_id BIGINT,
    corpus_name TEXT NOT NULL,
    method TEXT NOT NULL,
    settings JSONB NOT NULL,
    conditions JSONB NOT NULL,
    planned_cases INTEGER NOT NULL,
    figures JSONB,
    requested_by name DEFAULT current_user NOT NULL,
    requested_by_oid OID DEFAULT quote_ident(current_user)::regrole NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    finished_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT eval_run_pk PRIMARY KEY (eval_run_id),
    CONSTRAINT eval_run_name_is_short CHECK (length(name) between 1 and 200),
    CONSTRAINT eval_run_data_set_hash_is_sha256 CHECK (length(data_set_hash) = 32),
    CONSTRAINT eval_run_settings_is_an_object CHECK (jsonb_typeof(settings) = 'object'),
    CONSTRAINT eval_run_conditions_is_an_object CHECK (jsonb_typeof(conditions) = 'object'),
    CONSTRAINT eval_run_planned_cases_are_positive CHECK (planned_cases >= 1),
    CONSTRAINT eval_run_figures_is_an_object CHECK (jsonb_typeof(figures) = 'object'),
    CONSTRAINT eval_run_finished_has_figures CHECK ((finished_at is null) = (figures is null)),
    CONSTRAINT eval_run_corpus_id_fk FOREIGN KEY(corpus_id) REFERENCES pgclarify_private.corpus (corpus_id) ON DELETE SET NULL
);
COMMENT ON TABLE pgclarify_private.eval_run IS 'An evaluation: one method with its options over one data set. pgclarify eval run writes it, pgclarify eval remove removes it with its cases.';
COMMENT ON COLUMN pgclarify_private.eval_run.eval_run_id IS 'Key.';
COMMENT ON COLUMN pgclarify_private.eval_run.name IS 'Its name. Several may have the same name; then the latest is meant.';
COMMENT ON COLUMN pgclarify_private.eval_run.data_set IS 'Name of the data set''s file.';
COMMENT ON COLUMN pgclarify_private.eval_run.data_set_hash IS 'SHA-256 of the cases, in order. Evaluations of the same cases can be compared.';
COMMENT ON COLUMN pgclarify_private.eval_run.corpus_id IS 'The corpus; null once it was dropped.';
COMMENT ON COLUMN pgclarify_private.eval_run.corpus_name IS 'The corpus''s name when the evaluation began.';
COMMENT ON COLUMN pgclarify_private.eval_run.method IS 'An operation, such as clarify, or a baseline, such as rac.';
COMMENT ON COLUMN pgclarify_private.eval_run.settings IS 'All options of the method, as given.';
COMMENT ON COLUMN pgclarify_private.eval_run.conditions IS 'What else the figures depend on: corpus_revision, embedding_model, provider, model, prompt_version, judge, judge_version, version.';
COMMENT ON COLUMN pgclarify_private.eval_run.planned_cases IS 'How many cases it has when it is finished.';
COMMENT ON COLUMN pgclarify_private.eval_run.figures IS 'Its figures by name, each with value, low, high (the 95 % interval, null without one) and cases; null until it is finished.';
COMMENT ON COLUMN pgclarify_private.eval_run.requested_by IS 'Role that evaluated.';
COMMENT ON COLUMN pgclarify_private.eval_run.requested_by_oid IS 'Oid of that role, so that another role of that name does not count.';
COMMENT ON COLUMN pgclarify_private.eval_run.created_at IS 'When it began.';
COMMENT ON COLUMN pgclarify_private.eval_run.finished_at IS 'When its last case was judged; null while it is running, or if it was interrupted: the same command resumes it.';
CREATE INDEX eval_run_corpus_id_idx ON pgclarify_private.eval_run (corpus_id);
CREATE INDEX eval_run_unfinished_idx ON pgclarify_private.eval_run (data_set_hash) WHERE finished_at is null;

CREATE TABLE pgclarify_private.pending_document (
    corpus_id BIGINT NOT NULL,
    document_id TEXT NOT NULL,
    added_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    leased_by BIGINT,
    leased_until TIMESTAMP WITH TIME ZONE,
    passages INTEGER DEFAULT 1 NOT NULL,
    is_long BOOLEAN DEFAULT false NOT NULL,
    batch_id UUID,
    staged_passages INTEGER DEFAULT 0 NOT NULL,
    staged_chars INTEGER DEFAULT 0 NOT NULL,
    CONSTRAINT pending_document_pk PRIMARY KEY (corpus_id, document_id),
    CONSTRAINT pending_document_lease_has_a_holder CHECK ((leased_by is null) = (leased_until is null)),
    CONSTRAINT pending_document_has_passages CHECK (passages >= 1),
    CONSTRAINT pending_document_staged_is_long CHECK (is_long or batch_id is null),
    CONSTRAINT pending_document_corpus_id_fk FOREIGN KEY(corpus_id) REFERENCES pgclarify_private.corpus (corpus_id)
)
 WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0);
COMMENT ON TABLE pgclarify_private.pending_document IS 'A document whose current content is not searchable yet. Workers lease rows with SKIP LOCKED.';
COMMENT ON COLUMN pgclarify_private.pending_document.corpus_id IS 'The corpus.';
COMMENT ON COLUMN pgclarify_private.pending_document.document_id IS 'The document.';
COMMENT ON COLUMN pgclarify_private.pending_document.added_at IS 'Since when it is waiting.';
COMMENT ON COLUMN pgclarify_private.pending_document.leased_by IS 'Worker that is indexing it; null if none is.';
COMMENT ON COLUMN pgclarify_private.pending_document.leased_until IS 'When another worker may take it over.';
COMMENT ON COLUMN pgclarify_private.pending_document.passages IS 'About how many of its passages wait to be embedded; at least 1.';
COMMENT ON COLUMN pgclarify_private.pending_document.is_long IS 'Whether a worker found that it takes several steps, each for its next part.';
COMMENT ON COLUMN pgclarify_private.pending_document.batch_id IS 'Its batch in staged_passage, with the passages that are embedded already; null if there are none.';
COMMENT ON COLUMN pgclarify_private.pending_document.staged_passages IS 'How many there are.';
COMMENT ON COLUMN pgclarify_private.pending_document.staged_chars IS 'Where its next part starts; its length once all are staged.';
CREATE INDEX pending_document_added_at_idx ON pgclarify_private.pending_document (added_at) WHERE is_long;
CREATE INDEX pending_document_corpus_id_is_long_added_at_idx ON pgclarify_private.pending_document (corpus_id, is_long, added_at);
CREATE INDEX pending_document_leased_by_idx ON pgclarify_private.pending_document (leased_by) WHERE leased_by is not null;

CREATE TABLE pgclarify_private.question_group (
    question_group_id BIGINT DEFAULT ((('x'::text || "right"(replace((gen_random_uuid())::text, '-'::text, ''::text), 13)))::bit(52))::bigint NOT NULL,
    corpus_id BIGINT NOT NULL,
    embedding_model TEXT,
    leader @extschema:vector@.halfvec,
    figures TEXT[] DEFAULT '{}' NOT NULL,
    question_word TEXT,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT question_group_pk PRIMARY KEY (question_group_id),
    CONSTRAINT question_group_leader_is_of_a_model CHECK ((leader is null) = (embedding_model is null)),
    CONSTRAINT question_group_corpus_id_fk FOREIGN KEY(corpus_id) REFERENCES pgclarify_private.corpus (corpus_id) ON DELETE CASCADE
);
COMMENT ON TABLE pgclarify_private.question_group IS 'Questions of a corpus with the same meaning. Workers put finished runs into groups. For each length of vectors there is an HNSW index, created with the first vector.';
COMMENT ON COLUMN pgclarify_private.question_group.question_group_id IS 'Key, chosen at random, so that it shows neither when the group began nor how many there are.';
COMMENT ON COLUMN pgclarify_private.question_group.corpus_id IS 'The corpus that was asked.';
COMMENT ON COLUMN pgclarify_private.question_group.embedding_model IS 'The model of leader; null if the group has none.';
COMMENT ON COLUMN pgclarify_private.question_group.leader IS 'Embedding of the first question of the group. A question belongs to the group if it is near. Null if only equal wordings belong.';
ALTER TABLE pgclarify_private.question_group ALTER COLUMN leader SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.question_group.figures IS 'Figures in that question, sorted. A question with other figures belongs to another group.';
ALTER TABLE pgclarify_private.question_group ALTER COLUMN figures SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.question_group.question_word IS 'who, when, where or why, if that question has one of them; else null. A question with another one belongs to another group.';
ALTER TABLE pgclarify_private.question_group ALTER COLUMN question_word SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.question_group.created_at IS 'When it began.';
CREATE INDEX question_group_corpus_id_idx ON pgclarify_private.question_group (corpus_id);

CREATE TABLE pgclarify_private.question_wording (
    corpus_id BIGINT NOT NULL,
    wording_hash BYTEA NOT NULL,
    question_group_id BIGINT NOT NULL,
    CONSTRAINT question_wording_pk PRIMARY KEY (corpus_id, wording_hash),
    CONSTRAINT question_wording_hash_is_sha256 CHECK (length(wording_hash) = 32),
    CONSTRAINT question_wording_corpus_id_fk FOREIGN KEY(corpus_id) REFERENCES pgclarify_private.corpus (corpus_id) ON DELETE CASCADE
);
COMMENT ON TABLE pgclarify_private.question_wording IS 'Wordings of grouped questions, so that equal wordings need not be compared by meaning.';
COMMENT ON COLUMN pgclarify_private.question_wording.corpus_id IS 'The corpus that was asked.';
COMMENT ON COLUMN pgclarify_private.question_wording.wording_hash IS 'SHA-256 of the question without case, white space and punctuation.';
COMMENT ON COLUMN pgclarify_private.question_wording.question_group_id IS 'Its group.';
CREATE INDEX question_wording_question_group_id_idx ON pgclarify_private.question_wording (question_group_id);

CREATE TABLE pgclarify_private.reader_revision (
    reader_revision_id BIGINT GENERATED ALWAYS AS IDENTITY,
    corpus_id BIGINT NOT NULL,
    reader name NOT NULL,
    revision BIGINT DEFAULT 0 NOT NULL,
    graph_revision BIGINT DEFAULT 0 NOT NULL,
    is_merged BOOLEAN DEFAULT false NOT NULL,
    CONSTRAINT reader_revision_pk PRIMARY KEY (reader_revision_id),
    CONSTRAINT reader_revision_corpus_id_fk FOREIGN KEY(corpus_id) REFERENCES pgclarify_private.corpus (corpus_id) ON DELETE CASCADE
);
COMMENT ON TABLE pgclarify_private.reader_revision IS 'Changes of restricted documents, for each role in their readers, as increments; their sum is the count. Writers only insert rows; workers merge the rows of a reader into one. Changes of documents without readers are in corpus_tally.';
COMMENT ON COLUMN pgclarify_private.reader_revision.reader_revision_id IS 'Key.';
COMMENT ON COLUMN pgclarify_private.reader_revision.corpus_id IS 'The corpus.';
COMMENT ON COLUMN pgclarify_private.reader_revision.reader IS 'A role in readers of the changed documents.';
COMMENT ON COLUMN pgclarify_private.reader_revision.revision IS 'Changes of the content that it can find.';
COMMENT ON COLUMN pgclarify_private.reader_revision.graph_revision IS 'How often passages that it can read got neighbors.';
COMMENT ON COLUMN pgclarify_private.reader_revision.is_merged IS 'Whether a worker has merged earlier rows into it. Rows that writers insert wait for that.';
CREATE INDEX reader_revision_added_idx ON pgclarify_private.reader_revision (corpus_id, reader) WHERE not is_merged;
CREATE INDEX reader_revision_corpus_id_reader_idx ON pgclarify_private.reader_revision (corpus_id, reader);

CREATE TABLE pgclarify_private.run (
    run_id BIGINT GENERATED ALWAYS AS IDENTITY,
    operation TEXT NOT NULL,
    corpus_id BIGINT,
    corpus_name TEXT,
    question TEXT NOT NULL,
    relaxed_question TEXT,
    question_vector @extschema:vector@.halfvec,
    history JSONB DEFAULT '[]' NOT NULL,
    settings JSONB NOT NULL,
    parent_run_id BIGINT,
    call_id UUID,
    requested_by name NOT NULL,
    reuse_key BYTEA NOT NULL,
    status TEXT DEFAULT 'queued' NOT NULL,
    error TEXT,
    attempt INTEGER DEFAULT 0 NOT NULL,
    worker_id BIGINT,
    corpus_revision BIGINT,
    model TEXT,
    prompt_version TEXT,
    completions INTEGER,
    reused_completions INTEGER,
    prompt_tokens BIGINT,
    completion_tokens BIGINT,
    cost_usd NUMERIC,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    started_at TIMESTAMP WITH TIME ZONE,
    finished_at TIMESTAMP WITH TIME ZONE,
    stop_reason TEXT,
    graph_revision BIGINT,
    route TEXT,
    saved_completions INTEGER,
    embedding_model TEXT,
    interpretations INTEGER,
    candidates INTEGER,
    verdicts INTEGER,
    served INTEGER DEFAULT 0 NOT NULL,
    last_served_at TIMESTAMP WITH TIME ZONE,
    question_group_id BIGINT,
    is_counted BOOLEAN DEFAULT true NOT NULL,
    requested_by_oid OID DEFAULT quote_ident(current_user)::regrole NOT NULL,
    crashes INTEGER DEFAULT 0 NOT NULL,
    stop_code TEXT,
    error_code TEXT,
    budget_id BIGINT,
    cached_tokens BIGINT,
    priority INTEGER DEFAULT 0 NOT NULL,
    due_at TIMESTAMP WITH TIME ZONE,
    batched_completions BIGINT,
    reuse_saved_usd NUMERIC,
    batch_saved_usd NUMERIC,
    cache_saved_usd NUMERIC,
    CONSTRAINT run_pk PRIMARY KEY (run_id),
    CONSTRAINT run_operation_is_known CHECK (operation in ('clarify', 'consolidate', 'search', 'investigate', 'detect_ambiguity', 'rewrite', 'clarifying_questions', 'reply', 'list_answers', 'estimate')),
    CONSTRAINT run_has_a_corpus CHECK (corpus_name is not null or corpus_id is null and operation in ('detect_ambiguity', 'rewrite', 'clarifying_questions', 'reply')),
    CONSTRAINT run_route_is_known CHECK (route in ('answered', 'clarified')),
    CONSTRAINT run_stop_code_is_known CHECK (stop_code in ('not_answered', 'no_language_model', 'language', 'threshold', 'unproven', 'no_passage', 'contradicted', 'limit', 'budget', 'failed_calls')),
    CONSTRAINT run_stop_code_is_of_an_end CHECK (stop_code is null or status in ('succeeded', 'partial')),
    CONSTRAINT run_saved_completions_are_not_negative CHECK (saved_completions >= 0),
    CONSTRAINT run_interpretations_are_not_negative CHECK (interpretations >= 0),
    CONSTRAINT run_candidates_are_not_negative CHECK (candidates >= 0),
    CONSTRAINT run_verdicts_are_not_negative CHECK (verdicts >= 0),
    CONSTRAINT run_served_is_not_negative CHECK (served >= 0),
    CONSTRAINT run_crashes_is_not_negative CHECK (crashes >= 0),
    CONSTRAINT run_served_has_a_time CHECK ((served > 0) = (last_served_at is not null)),
    CONSTRAINT run_history_is_an_array CHECK (jsonb_typeof(history) = 'array'),
    CONSTRAINT run_settings_is_an_object CHECK (jsonb_typeof(settings) = 'object'),
    CONSTRAINT run_status_is_known CHECK (status in ('queued', 'running', 'succeeded', 'partial', 'failed', 'cancelled')),
    CONSTRAINT run_finished_has_an_end CHECK ((finished_at is not null) = (status in ('succeeded', 'partial', 'failed', 'cancelled'))),
    CONSTRAINT run_failed_has_an_error CHECK ((status = 'failed') = (error is not null)),
    CONSTRAINT run_error_has_a_code CHECK (error is null or error_code is not null),
    CONSTRAINT run_error_code_is_of_a_failure CHECK (error_code is null or status in ('partial', 'failed')),
    CONSTRAINT run_error_code_is_a_sqlstate CHECK (error_code ~ '^[0-9A-Z]{5}$'),
    CONSTRAINT run_running_has_a_worker CHECK (status <> 'running' or worker_id is not null),
    CONSTRAINT run_corpus_id_fk FOREIGN KEY(corpus_id) REFERENCES pgclarify_private.corpus (corpus_id) ON DELETE SET NULL,
    CONSTRAINT run_parent_run_id_fk FOREIGN KEY(parent_run_id) REFERENCES pgclarify_private.run (run_id) ON DELETE SET NULL
);
COMMENT ON TABLE pgclarify_private.run IS 'A run of an operation.';
COMMENT ON COLUMN pgclarify_private.run.run_id IS 'Key.';
COMMENT ON COLUMN pgclarify_private.run.operation IS 'clarify, consolidate, search, investigate, detect_ambiguity, rewrite, clarifying_questions, reply, list_answers or estimate.';
COMMENT ON COLUMN pgclarify_private.run.corpus_id IS 'The corpus; null once it was dropped, or if there was none.';
COMMENT ON COLUMN pgclarify_private.run.corpus_name IS 'The corpus''s name at the time of the question; null without a corpus.';
COMMENT ON COLUMN pgclarify_private.run.question IS 'The original question; for many questions of detect_ambiguity, and for estimate, a JSON array.';
ALTER TABLE pgclarify_private.run ALTER COLUMN question SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.run.relaxed_question IS 'The relaxed question, used for retrieval; null before relaxation, or if it was not relaxed.';
ALTER TABLE pgclarify_private.run ALTER COLUMN relaxed_question SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.run.question_vector IS 'Embedding of the question used for retrieval; null before it is computed.';
ALTER TABLE pgclarify_private.run ALTER COLUMN question_vector SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.run.history IS 'Turns before the question, oldest first.';
ALTER TABLE pgclarify_private.run ALTER COLUMN history SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.run.settings IS 'All parameters, with defaults filled in.';
ALTER TABLE pgclarify_private.run ALTER COLUMN settings SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.run.parent_run_id IS 'The run whose verdicts this one consolidates again, or whose question it replies to; else null.';
COMMENT ON COLUMN pgclarify_private.run.call_id IS 'The waiting call that started it. If the call ends early, the run is cancelled. Null if it was submitted.';
COMMENT ON COLUMN pgclarify_private.run.requested_by IS 'Role that asked.';
COMMENT ON COLUMN pgclarify_private.run.reuse_key IS 'SHA-256 of operation, corpus, question, settings, the requesting role, and the roles whose rights it had when the run was last started. Runs with equal keys may be reused for each other.';
COMMENT ON COLUMN pgclarify_private.run.status IS 'queued, running, succeeded, partial (valid, but some passages could not be judged, or a budget ended it), failed or cancelled.';
COMMENT ON COLUMN pgclarify_private.run.error IS 'Why it failed; null unless it did.';
ALTER TABLE pgclarify_private.run ALTER COLUMN error SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.run.attempt IS 'How often a worker has started it. Writes of earlier attempts are refused.';
COMMENT ON COLUMN pgclarify_private.run.worker_id IS 'Worker that last started it.';
COMMENT ON COLUMN pgclarify_private.run.corpus_revision IS 'Revision of the corpus, as the requesting role sees it, when the run was last started.';
COMMENT ON COLUMN pgclarify_private.run.model IS 'Model that judged.';
COMMENT ON COLUMN pgclarify_private.run.prompt_version IS 'Version of the prompts.';
COMMENT ON COLUMN pgclarify_private.run.completions IS 'Calls it paid for; null until it has ended.';
COMMENT ON COLUMN pgclarify_private.run.reused_completions IS 'Replies it took from the ledger; null until it has ended.';
COMMENT ON COLUMN pgclarify_private.run.prompt_tokens IS 'Input tokens it paid for.';
COMMENT ON COLUMN pgclarify_private.run.completion_tokens IS 'Output tokens it paid for.';
COMMENT ON COLUMN pgclarify_private.run.cost_usd IS 'What it cost, in US dollars: 0 if it paid for no call; null if the cost of a call is unknown, or before its end.';
COMMENT ON COLUMN pgclarify_private.run.created_at IS 'When it was asked.';
COMMENT ON COLUMN pgclarify_private.run.started_at IS 'When a worker last started it.';
COMMENT ON COLUMN pgclarify_private.run.finished_at IS 'When it ended; null before.';
COMMENT ON COLUMN pgclarify_private.run.stop_reason IS 'Why it stopped early; null if it did not.';
ALTER TABLE pgclarify_private.run ALTER COLUMN stop_reason SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.run.graph_revision IS 'Graph revision that the requesting role saw when the run was last started. A run that explores is only reused while this has not changed.';
COMMENT ON COLUMN pgclarify_private.run.route IS 'For ask_back when_vague: answered (the question was clear, and one pass answered it) or clarified. Null for others, and before the decision.';
COMMENT ON COLUMN pgclarify_private.run.saved_completions IS 'Calls that the route saved; null without a route.';
COMMENT ON COLUMN pgclarify_private.run.embedding_model IS 'The model of question_vector; null without a vector.';
COMMENT ON COLUMN pgclarify_private.run.interpretations IS 'Number of readings found; null unless it is a run of clarify or consolidate that succeeded or is partial.';
COMMENT ON COLUMN pgclarify_private.run.candidates IS 'Number of passages retrieved; null before its end.';
COMMENT ON COLUMN pgclarify_private.run.verdicts IS 'Number of passages judged; null before its end.';
COMMENT ON COLUMN pgclarify_private.run.served IS 'How often it was reused to answer an equal question; counted within seconds.';
COMMENT ON COLUMN pgclarify_private.run.last_served_at IS 'When it was last reused; null if it never was.';
COMMENT ON COLUMN pgclarify_private.run.question_group_id IS 'Runs on questions of the same meaning, on the same corpus, have the same group; null until a worker has assigned it, after the run''s end.';
COMMENT ON COLUMN pgclarify_private.run.is_counted IS 'False if it does not count as a question: it belongs to an evaluation, or to a session with pgclarify.count_questions off.';
COMMENT ON COLUMN pgclarify_private.run.requested_by_oid IS 'Oid of that role, so that another role of that name does not count.';
COMMENT ON COLUMN pgclarify_private.run.crashes IS 'How many workers in a row were lost while executing it, since it last stored a reply. From 2 on it is executed alone, and at 10 it fails.';
COMMENT ON COLUMN pgclarify_private.run.stop_code IS 'Why it has no result, or only a part of it, as a code; null if the result is complete, or if it has failed or is not over.';
COMMENT ON COLUMN pgclarify_private.run.error_code IS 'Why it failed, as a SQLSTATE that docs/errors.md lists; for a partial run, why calls failed; else null.';
COMMENT ON COLUMN pgclarify_private.run.budget_id IS 'The first budget that refused a call, which may have been removed; null if none did.';
COMMENT ON COLUMN pgclarify_private.run.cached_tokens IS 'How many of prompt_tokens the endpoint had in its cache.';
COMMENT ON COLUMN pgclarify_private.run.priority IS 'Queued runs with a higher priority go first: 10 if a session waits for the run, 5 if it was submitted alone, 0 in a batch.';
COMMENT ON COLUMN pgclarify_private.run.due_at IS 'No worker takes a queued run before this time; null: at once; infinity: when its calls in batches are over.';
COMMENT ON COLUMN pgclarify_private.run.batched_completions IS 'How many of completions came from batches.';
COMMENT ON COLUMN pgclarify_private.run.reuse_saved_usd IS 'What its reused replies would have cost; null if unknown.';
COMMENT ON COLUMN pgclarify_private.run.batch_saved_usd IS 'What batches have saved, against single calls; null if unknown.';
COMMENT ON COLUMN pgclarify_private.run.cache_saved_usd IS 'What cached input has saved; null if unknown.';
CREATE INDEX run_call_id_idx ON pgclarify_private.run (call_id) WHERE status in ('queued', 'running');
CREATE INDEX run_corpus_id_idx ON pgclarify_private.run (corpus_id);
CREATE INDEX run_created_at_idx ON pgclarify_private.run (created_at);
CREATE INDEX run_parent_run_id_idx ON pgclarify_private.run (parent_run_id) WHERE parent_run_id is not null;
CREATE INDEX run_question_group_id_idx ON pgclarify_private.run (question_group_id, run_id) INCLUDE (operation, corpus_id, corpus_name, requested_by, status, interpretations, served, is_counted, created_at, last_served_at, corpus_revision, requested_by_oid, stop_code) WHERE question_group_id is not null;
CREATE INDEX run_queued_idx ON pgclarify_private.run (priority desc, run_id) INCLUDE (due_at) WHERE status = 'queued';
CREATE INDEX run_requested_by_oid_run_id_idx ON pgclarify_private.run (requested_by_oid, run_id);
CREATE INDEX run_reuse_key_idx ON pgclarify_private.run (reuse_key, run_id) WHERE status = 'succeeded';
CREATE INDEX run_unfinished_idx ON pgclarify_private.run (status, created_at) WHERE status in ('queued', 'running');
CREATE INDEX run_ungrouped_idx ON pgclarify_private.run (run_id) WHERE question_group_id is null and corpus_id is not null and finished_at is not null and operation in ('clarify', 'consolidate', 'search', 'investigate', 'list_answers');
CREATE INDEX run_unpriced_idx ON pgclarify_private.run (model, finished_at) INCLUDE (run_id, completions, prompt_tokens) WHERE cost_usd is null and finished_at is not null;
CREATE INDEX run_usage_idx ON pgclarify_private.run (((created_at at time zone 'UTC')::date)) INCLUDE (created_at, corpus_id, corpus_name, requested_by, operation, model, finished_at, completions, reused_completions, prompt_tokens, completion_tokens, cost_usd, requested_by_oid, cached_tokens, batched_completions, reuse_saved_usd, batch_saved_usd, cache_saved_usd);

CREATE TABLE pgclarify_private.source (
    source_id BIGINT GENERATED ALWAYS AS IDENTITY,
    corpus_id BIGINT NOT NULL,
    relation REGCLASS NOT NULL,
    relation_name TEXT NOT NULL,
    attached_by name NOT NULL,
    id_column name NOT NULL,
    content_column name NOT NULL,
    title_column name,
    uri_column name,
    metadata_columns name[] DEFAULT '{}' NOT NULL,
    readers_column name,
    id_prefix TEXT DEFAULT '' NOT NULL,
    state TEXT DEFAULT 'loading' NOT NULL,
    error TEXT,
    layout TEXT,
    load_phase TEXT DEFAULT 'rows' NOT NULL,
    load_cursor TEXT,
    load_started_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    loaded_at TIMESTAMP WITH TIME ZONE,
    rows_added BIGINT DEFAULT 0 NOT NULL,
    rows_changed BIGINT DEFAULT 0 NOT NULL,
    rows_removed BIGINT DEFAULT 0 NOT NULL,
    rows_skipped BIGINT DEFAULT 0 NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    attached_by_oid OID NOT NULL,
    CONSTRAINT source_pk PRIMARY KEY (source_id),
    CONSTRAINT source_state_is_known CHECK (state in ('loading', 'following', 'failed', 'detached', 'removing')),
    CONSTRAINT source_load_phase_is_known CHECK (load_phase in ('rows', 'documents')),
    CONSTRAINT source_failed_has_an_error CHECK (state <> 'failed' or error is not null),
    CONSTRAINT source_corpus_id_relation_key UNIQUE (corpus_id, relation),
    CONSTRAINT source_corpus_id_fk FOREIGN KEY(corpus_id) REFERENCES pgclarify_private.corpus (corpus_id)
);
COMMENT ON TABLE pgclarify_private.source IS 'A user''s table that is attached to a corpus; its rows are documents.';
COMMENT ON COLUMN pgclarify_private.source.source_id IS 'Key; also names the function pgclarify_private.capture_<source_id>.';
COMMENT ON COLUMN pgclarify_private.source.corpus_id IS 'The corpus.';
COMMENT ON COLUMN pgclarify_private.source.relation IS 'The table; only a number once it was dropped.';
COMMENT ON COLUMN pgclarify_private.source.relation_name IS 'Its qualified name when it was attached.';
COMMENT ON COLUMN pgclarify_private.source.attached_by IS 'Role that attached it. The table is read only while that role may read it.';
COMMENT ON COLUMN pgclarify_private.source.id_column IS 'Column with the id of the document.';
COMMENT ON COLUMN pgclarify_private.source.content_column IS 'Column with its content.';
COMMENT ON COLUMN pgclarify_private.source.title_column IS 'Column with its title; null for none.';
COMMENT ON COLUMN pgclarify_private.source.uri_column IS 'Column with its address; null for none.';
COMMENT ON COLUMN pgclarify_private.source.metadata_columns IS 'Columns that become its metadata.';
COMMENT ON COLUMN pgclarify_private.source.readers_column IS 'Column with its readers; null for none.';
COMMENT ON COLUMN pgclarify_private.source.id_prefix IS 'Prefix of the id in document.id; usually empty.';
COMMENT ON COLUMN pgclarify_private.source.state IS 'loading (compared row by row), following, failed (see error), detached (its documents stay) or removing (its documents are removed).';
COMMENT ON COLUMN pgclarify_private.source.error IS 'Why it failed, or which rows cannot be documents; it stays until resync. Null if nothing is wrong.';
ALTER TABLE pgclarify_private.source ALTER COLUMN error SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.source.layout IS 'Structure of the table at the last check. Partitions and files that changed without firing a trigger are compared again. Null before the first check.';
COMMENT ON COLUMN pgclarify_private.source.load_phase IS 'While loading: rows (rows become documents), then documents (those without a row are removed).';
COMMENT ON COLUMN pgclarify_private.source.load_cursor IS 'The last id that was compared; null at the start of a phase.';
ALTER TABLE pgclarify_private.source ALTER COLUMN load_cursor SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.source.load_started_at IS 'When the last load began.';
COMMENT ON COLUMN pgclarify_private.source.loaded_at IS 'When the last load ended; null before.';
COMMENT ON COLUMN pgclarify_private.source.rows_added IS 'Documents that the last load added.';
COMMENT ON COLUMN pgclarify_private.source.rows_changed IS 'Documents that the last load changed.';
COMMENT ON COLUMN pgclarify_private.source.rows_removed IS 'Documents that the last load removed.';
COMMENT ON COLUMN pgclarify_private.source.rows_skipped IS 'Rows that the last load left without a document.';
COMMENT ON COLUMN pgclarify_private.source.created_at IS 'When it was attached.';
COMMENT ON COLUMN pgclarify_private.source.attached_by_oid IS 'Oid of that role, so that another role of that name does not count.';

CREATE TABLE pgclarify_private.trained_classifier (
    trained_classifier_id BIGINT GENERATED ALWAYS AS IDENTITY,
    corpus_id BIGINT NOT NULL,
    version INTEGER NOT NULL,
    trained_by name NOT NULL,
    trained_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    shipped_version TEXT NOT NULL,
    examples INTEGER NOT NULL,
    threshold REAL NOT NULL,
    judges_questions BOOLEAN NOT NULL,
    judges_conversations BOOLEAN NOT NULL,
    figures JSONB NOT NULL,
    is_better BOOLEAN NOT NULL,
    is_used BOOLEAN DEFAULT false NOT NULL,
    weights REAL[] NOT NULL,
    CONSTRAINT trained_classifier_pk PRIMARY KEY (trained_classifier_id),
    CONSTRAINT trained_classifier_version_key UNIQUE (corpus_id, version),
    CONSTRAINT trained_classifier_version_is_positive CHECK (version >= 1),
    CONSTRAINT trained_classifier_examples_are_positive CHECK (examples >= 1),
    CONSTRAINT trained_classifier_threshold_is_a_share CHECK (threshold between 0 and 1),
    CONSTRAINT trained_classifier_judges_something CHECK (judges_questions or judges_conversations),
    CONSTRAINT trained_classifier_figures_are_an_object CHECK (jsonb_typeof(figures) = 'object' and length(figures::text) <= 10000),
    CONSTRAINT trained_classifier_shipped_version_is_short CHECK (length(shipped_version) between 1 and 100),
    CONSTRAINT trained_classifier_weights_are_finite CHECK (array_ndims(weights) = 1 and cardinality(weights) between 1 and 100000 and array_position(weights, null) is null and not weights && array['NaN', 'Infinity', '-Infinity']::real[]),
    CONSTRAINT trained_classifier_corpus_id_fk FOREIGN KEY(corpus_id) REFERENCES pgclarify_private.corpus (corpus_id) ON DELETE CASCADE
);
COMMENT ON TABLE pgclarify_private.trained_classifier IS 'A version of the classifier of ambiguity that was trained on labelled questions of a corpus.';
COMMENT ON COLUMN pgclarify_private.trained_classifier.trained_classifier_id IS 'Key.';
COMMENT ON COLUMN pgclarify_private.trained_classifier.corpus_id IS 'The corpus.';
COMMENT ON COLUMN pgclarify_private.trained_classifier.version IS 'Its number in its corpus, from 1.';
COMMENT ON COLUMN pgclarify_private.trained_classifier.trained_by IS 'Role that trained it.';
COMMENT ON COLUMN pgclarify_private.trained_classifier.trained_at IS 'When it was stored.';
COMMENT ON COLUMN pgclarify_private.trained_classifier.shipped_version IS 'Version of the classifier that ships which it corrects.';
COMMENT ON COLUMN pgclarify_private.trained_classifier.examples IS 'Different labelled questions that it was trained on.';
COMMENT ON COLUMN pgclarify_private.trained_classifier.threshold IS 'The probability from which a question counts as ambiguous, unless a caller passes another one.';
COMMENT ON COLUMN pgclarify_private.trained_classifier.judges_questions IS 'Whether it judges questions before which nothing was said.';
COMMENT ON COLUMN pgclarify_private.trained_classifier.judges_conversations IS 'Whether it judges questions with a history.';
COMMENT ON COLUMN pgclarify_private.trained_classifier.figures IS 'How well it tells ambiguous questions from clear ones, beside the classifier that ships: what eval train-ambiguity prints.';
COMMENT ON COLUMN pgclarify_private.trained_classifier.is_better IS 'Whether its F1 was higher than that of the classifier that ships, by the whole 95 % interval of the difference.';
COMMENT ON COLUMN pgclarify_private.trained_classifier.is_used IS 'Whether it judges the questions of the corpus; at most one does.';
COMMENT ON COLUMN pgclarify_private.trained_classifier.weights IS 'What it learned: single-precision numbers, in the order that pgclarify/algorithms/ambiguity/correction.py gives.';
CREATE UNIQUE INDEX trained_classifier_is_used_idx ON pgclarify_private.trained_classifier (corpus_id) WHERE is_used;

CREATE TABLE pgclarify_private.batch_request (
    run_id BIGINT NOT NULL,
    completion_id BIGINT NOT NULL,
    model TEXT NOT NULL,
    request TEXT,
    input_bytes INTEGER NOT NULL,
    max_output_tokens INTEGER NOT NULL,
    ready_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    batch_id UUID,
    is_over BOOLEAN DEFAULT false NOT NULL,
    budget_ids BIGINT[],
    reserved_usd NUMERIC,
    reserved_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT batch_request_pk PRIMARY KEY (run_id, completion_id),
    CONSTRAINT batch_request_reservation_is_whole CHECK (num_nonnulls(budget_ids, reserved_usd, reserved_at) in (0, 3)),
    CONSTRAINT batch_request_over_keeps_nothing CHECK (not is_over or request is null and budget_ids is null),
    CONSTRAINT batch_request_run_id_fk FOREIGN KEY(run_id) REFERENCES pgclarify_private.run (run_id) ON DELETE CASCADE,
    CONSTRAINT batch_request_completion_id_fk FOREIGN KEY(completion_id) REFERENCES pgclarify_private.completion (completion_id) ON DELETE CASCADE,
    CONSTRAINT batch_request_batch_id_fk FOREIGN KEY(batch_id) REFERENCES pgclarify_private.batch (batch_id)
);
COMMENT ON TABLE pgclarify_private.batch_request IS 'A call that a run leaves to a batch. The run waits in the queue until all its calls are over.';
COMMENT ON COLUMN pgclarify_private.batch_request.run_id IS 'The run that waits for the call.';
COMMENT ON COLUMN pgclarify_private.batch_request.completion_id IS 'The row of the ledger, which is the id of the call in its batch.';
COMMENT ON COLUMN pgclarify_private.batch_request.model IS 'Model of the call.';
COMMENT ON COLUMN pgclarify_private.batch_request.request IS 'Body of the call, as JSON; null once it is not needed, or erased with a document.';
ALTER TABLE pgclarify_private.batch_request ALTER COLUMN request SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.batch_request.input_bytes IS 'Bytes of the rendered input, which determine what the call may cost.';
COMMENT ON COLUMN pgclarify_private.batch_request.max_output_tokens IS 'Most output tokens that may be paid for.';
COMMENT ON COLUMN pgclarify_private.batch_request.ready_at IS 'It is put into no batch before this time.';
COMMENT ON COLUMN pgclarify_private.batch_request.batch_id IS 'The batch with the call; null if it is in none, or in one through another run.';
COMMENT ON COLUMN pgclarify_private.batch_request.is_over IS 'True if the run need not wait for it: the reply is in the ledger, or the run makes the call by itself.';
COMMENT ON COLUMN pgclarify_private.batch_request.budget_ids IS 'Budgets in which the call is reserved; null if it is not.';
COMMENT ON COLUMN pgclarify_private.batch_request.reserved_usd IS 'Most that it is expected to cost; null unless it is reserved.';
COMMENT ON COLUMN pgclarify_private.batch_request.reserved_at IS 'When it was reserved; null unless it is.';
CREATE INDEX batch_request_batch_id_idx ON pgclarify_private.batch_request (batch_id) WHERE batch_id is not null;
CREATE INDEX batch_request_completion_id_idx ON pgclarify_private.batch_request (completion_id);
CREATE INDEX batch_request_reserved_idx ON pgclarify_private.batch_request (reserved_at) WHERE budget_ids is not null;
CREATE INDEX batch_request_waiting_idx ON pgclarify_private.batch_request (model, completion_id) WHERE batch_id is null;

CREATE TABLE pgclarify_private.candidate (
    run_id BIGINT NOT NULL,
    rank INTEGER NOT NULL,
    corpus_id BIGINT NOT NULL,
    document_id TEXT NOT NULL,
    passage_id BIGINT NOT NULL,
    heading TEXT,
    score DOUBLE PRECISION NOT NULL,
    origin TEXT NOT NULL,
    via_passage_id BIGINT,
    batch INTEGER DEFAULT 1 NOT NULL,
    step_ordinal INTEGER,
    CONSTRAINT candidate_pk PRIMARY KEY (run_id, rank),
    CONSTRAINT candidate_rank_counts_from_one CHECK (rank >= 1),
    CONSTRAINT candidate_batch_counts_from_one CHECK (batch >= 1),
    CONSTRAINT candidate_step_ordinal_counts_from_one CHECK (step_ordinal >= 1),
    CONSTRAINT candidate_origin_is_known CHECK (origin in ('dense', 'lexical', 'neighbor')),
    CONSTRAINT candidate_run_id_fk FOREIGN KEY(run_id) REFERENCES pgclarify_private.run (run_id) ON DELETE CASCADE
);
COMMENT ON TABLE pgclarify_private.candidate IS 'A passage retrieved for a run.';
COMMENT ON COLUMN pgclarify_private.candidate.run_id IS 'The run.';
COMMENT ON COLUMN pgclarify_private.candidate.rank IS 'From 1: its place in the ranking or, in guided exploration, in the order in which passages were chosen.';
COMMENT ON COLUMN pgclarify_private.candidate.corpus_id IS 'The corpus.';
COMMENT ON COLUMN pgclarify_private.candidate.document_id IS 'The document.';
COMMENT ON COLUMN pgclarify_private.candidate.passage_id IS 'The passage, which may have changed or been removed.';
COMMENT ON COLUMN pgclarify_private.candidate.heading IS 'Headings above the passage when it was retrieved; null if none.';
ALTER TABLE pgclarify_private.candidate ALTER COLUMN heading SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.candidate.score IS 'dense: cosine similarity; lexical: BM25; hybrid: mean of both, each brought to 0 to 1; a neighbor: its similarity to the passage that led to it; with a reranker: its score. Higher is better.';
COMMENT ON COLUMN pgclarify_private.candidate.origin IS 'How it was found: dense, lexical or neighbor.';
COMMENT ON COLUMN pgclarify_private.candidate.via_passage_id IS 'The passage that led to it; null unless a neighbor.';
COMMENT ON COLUMN pgclarify_private.candidate.batch IS 'The batch in which it was chosen, from 1; 1 without exploration.';
COMMENT ON COLUMN pgclarify_private.candidate.step_ordinal IS 'The step of the investigation that retrieved it; null for other operations.';
CREATE INDEX candidate_corpus_id_document_id_idx ON pgclarify_private.candidate (corpus_id, document_id);

CREATE TABLE pgclarify_private.citation (
    run_id BIGINT NOT NULL,
    ordinal INTEGER NOT NULL,
    rank INTEGER NOT NULL,
    candidate_rank INTEGER NOT NULL,
    corpus_id BIGINT NOT NULL,
    document_id TEXT NOT NULL,
    passage_id BIGINT NOT NULL,
    heading TEXT,
    is_medoid BOOLEAN,
    quote TEXT NOT NULL,
    start_char INTEGER NOT NULL,
    end_char INTEGER NOT NULL,
    CONSTRAINT citation_pk PRIMARY KEY (run_id, ordinal, rank),
    CONSTRAINT citation_ordinal_counts_from_one CHECK (ordinal >= 1),
    CONSTRAINT citation_rank_counts_from_one CHECK (rank >= 1),
    CONSTRAINT citation_run_id_fk FOREIGN KEY(run_id) REFERENCES pgclarify_private.run (run_id) ON DELETE CASCADE
);
COMMENT ON TABLE pgclarify_private.citation IS 'A passage that proves a result of a run: an interpretation, a step, a clarifying question or an answer of a list. Quote and ids stay when the document is removed.';
COMMENT ON COLUMN pgclarify_private.citation.run_id IS 'The run.';
COMMENT ON COLUMN pgclarify_private.citation.ordinal IS 'Ordinal of what it proves: an interpretation, step, clarifying question or answer.';
COMMENT ON COLUMN pgclarify_private.citation.rank IS 'Place among its citations, from 1; of an interpretation, the first one is the medoid.';
COMMENT ON COLUMN pgclarify_private.citation.candidate_rank IS 'The candidate''s rank in the run; a conclusion cites candidates of other steps.';
COMMENT ON COLUMN pgclarify_private.citation.corpus_id IS 'The corpus.';
COMMENT ON COLUMN pgclarify_private.citation.document_id IS 'The document.';
COMMENT ON COLUMN pgclarify_private.citation.passage_id IS 'The passage.';
COMMENT ON COLUMN pgclarify_private.citation.heading IS 'Headings above the passage when it was cited; null if none.';
ALTER TABLE pgclarify_private.citation ALTER COLUMN heading SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.citation.is_medoid IS 'Whether it is the medoid of its interpretation''s cluster; null if it proves no interpretation.';
COMMENT ON COLUMN pgclarify_private.citation.quote IS 'The words that prove the answer, verbatim.';
ALTER TABLE pgclarify_private.citation ALTER COLUMN quote SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.citation.start_char IS 'Offset of the quote in the document, from 0.';
COMMENT ON COLUMN pgclarify_private.citation.end_char IS 'Offset of the end of the quote.';
CREATE INDEX citation_corpus_id_document_id_idx ON pgclarify_private.citation (corpus_id, document_id);

CREATE TABLE pgclarify_private.clarifying_question (
    run_id BIGINT NOT NULL,
    ordinal INTEGER NOT NULL,
    ambiguity_type TEXT,
    reasoning TEXT,
    clarifying_question TEXT,
    reformulation TEXT,
    is_answerable BOOLEAN,
    CONSTRAINT clarifying_question_pk PRIMARY KEY (run_id, ordinal),
    CONSTRAINT clarifying_question_ordinal_counts_from_one CHECK (ordinal >= 1),
    CONSTRAINT clarifying_question_ambiguity_type_is_known CHECK (ambiguity_type in ('semantic', 'generalize', 'specify')),
    CONSTRAINT clarifying_question_says_something CHECK (num_nonnulls(clarifying_question, reformulation) >= 1),
    CONSTRAINT clarifying_question_run_id_fk FOREIGN KEY(run_id) REFERENCES pgclarify_private.run (run_id) ON DELETE CASCADE
);
COMMENT ON TABLE pgclarify_private.clarifying_question IS 'A result of clarifying_questions: a question to answer, or a reformulation to choose.';
COMMENT ON COLUMN pgclarify_private.clarifying_question.run_id IS 'The run.';
COMMENT ON COLUMN pgclarify_private.clarifying_question.ordinal IS 'Place in the list, from 1.';
COMMENT ON COLUMN pgclarify_private.clarifying_question.ambiguity_type IS 'semantic (it can mean several things), generalize (something broader may be meant) or specify (something narrower may be meant).';
COMMENT ON COLUMN pgclarify_private.clarifying_question.reasoning IS 'The model''s reasoning; null if it gave none.';
ALTER TABLE pgclarify_private.clarifying_question ALTER COLUMN reasoning SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.clarifying_question.clarifying_question IS 'A question to the user; null if there are reformulations to choose from.';
ALTER TABLE pgclarify_private.clarifying_question ALTER COLUMN clarifying_question SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.clarifying_question.reformulation IS 'What a user who means this would ask; null if the model gave none.';
ALTER TABLE pgclarify_private.clarifying_question ALTER COLUMN reformulation SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.clarifying_question.is_answerable IS 'Whether a document of the corpus answers the reformulation; null if it was not checked, or could not be checked.';

CREATE TABLE pgclarify_private.detection (
    run_id BIGINT NOT NULL,
    ordinal INTEGER NOT NULL,
    question TEXT NOT NULL,
    is_ambiguous BOOLEAN NOT NULL,
    probability REAL,
    kind TEXT,
    reasons JSONB NOT NULL,
    classifier_version TEXT NOT NULL,
    CONSTRAINT detection_pk PRIMARY KEY (run_id, ordinal),
    CONSTRAINT detection_ordinal_counts_from_one CHECK (ordinal >= 1),
    CONSTRAINT detection_probability_is_a_share CHECK (probability between 0 and 1),
    CONSTRAINT detection_kind_is_known CHECK (kind in ('pragmatic', 'syntactic', 'lexical')),
    CONSTRAINT detection_reasons_are_an_array CHECK (jsonb_typeof(reasons) = 'array'),
    CONSTRAINT detection_ambiguous_has_a_kind CHECK (is_ambiguous = (kind is not null)),
    CONSTRAINT detection_run_id_fk FOREIGN KEY(run_id) REFERENCES pgclarify_private.run (run_id) ON DELETE CASCADE
);
COMMENT ON TABLE pgclarify_private.detection IS 'Whether a question was found to be ambiguous, and why.';
COMMENT ON COLUMN pgclarify_private.detection.run_id IS 'The run.';
COMMENT ON COLUMN pgclarify_private.detection.ordinal IS 'Place of the question in the run, from 1.';
COMMENT ON COLUMN pgclarify_private.detection.question IS 'The question.';
ALTER TABLE pgclarify_private.detection ALTER COLUMN question SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.detection.is_ambiguous IS 'True if the probability reaches the threshold of the run, or a rule says so.';
COMMENT ON COLUMN pgclarify_private.detection.probability IS 'Probability that it is ambiguous, from 0 to 1; 1 if a rule matched; null for a question in another language than English.';
COMMENT ON COLUMN pgclarify_private.detection.kind IS 'pragmatic (what it refers to is missing or in the history), syntactic (it is vague or under-specified) or lexical (a name or word with several meanings); null unless ambiguous.';
COMMENT ON COLUMN pgclarify_private.detection.reasons IS 'The reasons: array of objects with source (classifier, feature, rule or corpus), name and text, and for a corpus document_ids.';
ALTER TABLE pgclarify_private.detection ALTER COLUMN reasons SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.detection.classifier_version IS 'Version of the classifier.';
CREATE INDEX detection_document_ids_idx ON pgclarify_private.detection USING gin (jsonb_path_query_array(reasons, '$[*].document_ids[*]'));
ALTER INDEX pgclarify_private.detection_document_ids_idx ALTER COLUMN 1 SET STATISTICS 0;

CREATE TABLE pgclarify_private.document (
    corpus_id BIGINT NOT NULL,
    id TEXT NOT NULL,
    content TEXT NOT NULL,
    title TEXT,
    uri TEXT,
    metadata JSONB DEFAULT '{}' NOT NULL,
    readers name[],
    content_hash BYTEA NOT NULL,
    error TEXT,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    indexed_at TIMESTAMP WITH TIME ZONE,
    source_id BIGINT,
    origin TEXT COLLATE "C",
    has_failed BOOLEAN GENERATED ALWAYS AS (error is not null) STORED,
    CONSTRAINT document_pk PRIMARY KEY (corpus_id, id),
    CONSTRAINT document_id_is_short CHECK (length(id) between 1 and 1000 and octet_length(id) <= 2600),
    CONSTRAINT document_metadata_is_an_object CHECK (jsonb_typeof(metadata) = 'object'),
    CONSTRAINT document_origin_is_short CHECK (octet_length(origin) <= 2600),
    CONSTRAINT document_corpus_id_fk FOREIGN KEY(corpus_id) REFERENCES pgclarify_private.corpus (corpus_id),
    CONSTRAINT document_source_id_fk FOREIGN KEY(source_id) REFERENCES pgclarify_private.source (source_id)
);
COMMENT ON TABLE pgclarify_private.document IS 'A document that can be cited.';
COMMENT ON COLUMN pgclarify_private.document.corpus_id IS 'The corpus.';
COMMENT ON COLUMN pgclarify_private.document.id IS 'The user''s own id, as text: citations can be joined directly; cast bigint ids with document_ids::bigint[].';
COMMENT ON COLUMN pgclarify_private.document.content IS 'Plain text or Markdown. Offsets of passages and citations refer to it.';
ALTER TABLE pgclarify_private.document ALTER COLUMN content SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.document.title IS 'Null if it has none.';
ALTER TABLE pgclarify_private.document ALTER COLUMN title SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.document.uri IS 'Address of the original, for people; null if there is none.';
ALTER TABLE pgclarify_private.document ALTER COLUMN uri SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.document.metadata IS 'Any JSON object.';
ALTER TABLE pgclarify_private.document ALTER COLUMN metadata SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.document.readers IS 'Roles that may read it; null means every reader of the corpus. A name without a role grants access to no one.';
COMMENT ON COLUMN pgclarify_private.document.content_hash IS 'SHA-256 of title and content, which searches use.';
COMMENT ON COLUMN pgclarify_private.document.error IS 'Why it cannot be indexed; null if nothing is wrong.';
ALTER TABLE pgclarify_private.document ALTER COLUMN error SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.document.created_at IS 'When it was first added.';
COMMENT ON COLUMN pgclarify_private.document.updated_at IS 'When it last changed.';
COMMENT ON COLUMN pgclarify_private.document.indexed_at IS 'When its content last became searchable; null if it never was.';
COMMENT ON COLUMN pgclarify_private.document.source_id IS 'The attached table of which it is a row; null if it was added in another way.';
COMMENT ON COLUMN pgclarify_private.document.origin IS 'The file that it was loaded from: machine:/path/file, or name/path/file if its source has a name; followed by #id if the file has several documents. Empty if a statement or a client added it. Null if it is a row of an attached table.';
COMMENT ON COLUMN pgclarify_private.document.has_failed IS 'Whether error has a text. That column has no statistics, and text in views uses no index.';
CREATE INDEX document_corpus_id_origin_idx ON pgclarify_private.document (corpus_id, origin) WHERE origin <> '';
CREATE INDEX document_failed_idx ON pgclarify_private.document (corpus_id, id) WHERE has_failed;
CREATE INDEX document_source_id_id_idx ON pgclarify_private.document (source_id, id) WHERE source_id is not null;

CREATE TABLE pgclarify_private.estimate (
    run_id BIGINT NOT NULL,
    questions BIGINT NOT NULL,
    distinct_questions BIGINT NOT NULL,
    answered BIGINT NOT NULL,
    sampled BIGINT NOT NULL,
    calls BIGINT NOT NULL,
    calls_at_most BIGINT NOT NULL,
    reused_calls BIGINT NOT NULL,
    prompt_tokens BIGINT NOT NULL,
    completion_tokens BIGINT NOT NULL,
    cost_usd NUMERIC,
    CONSTRAINT estimate_pk PRIMARY KEY (run_id),
    CONSTRAINT estimate_distinct_questions_are_questions CHECK (distinct_questions between 1 and questions),
    CONSTRAINT estimate_answered_are_distinct_questions CHECK (answered between 0 and distinct_questions),
    CONSTRAINT estimate_sampled_are_not_answered CHECK (sampled between 0 and distinct_questions - answered),
    CONSTRAINT estimate_calls_are_not_negative CHECK (calls >= 0),
    CONSTRAINT estimate_calls_at_most_are_no_less CHECK (calls_at_most >= calls),
    CONSTRAINT estimate_reused_calls_are_not_negative CHECK (reused_calls >= 0),
    CONSTRAINT estimate_prompt_tokens_are_not_negative CHECK (prompt_tokens >= 0),
    CONSTRAINT estimate_completion_tokens_are_not_negative CHECK (completion_tokens >= 0),
    CONSTRAINT estimate_cost_usd_is_not_negative CHECK (cost_usd >= 0),
    CONSTRAINT estimate_run_id_fk FOREIGN KEY(run_id) REFERENCES pgclarify_private.run (run_id) ON DELETE CASCADE
);
COMMENT ON TABLE pgclarify_private.estimate IS 'The result of a run of estimate: what questions would cost.';
COMMENT ON COLUMN pgclarify_private.estimate.run_id IS 'The run.';
COMMENT ON COLUMN pgclarify_private.estimate.questions IS 'How many questions were given.';
COMMENT ON COLUMN pgclarify_private.estimate.distinct_questions IS 'How many of them are different.';
COMMENT ON COLUMN pgclarify_private.estimate.answered IS 'How many of these an earlier run has answered, so that they need no call.';
COMMENT ON COLUMN pgclarify_private.estimate.sampled IS 'How many of the others were examined. If not all were, the figures are scaled up from these.';
COMMENT ON COLUMN pgclarify_private.estimate.calls IS 'About how many calls of the language model would be made and paid for; equal calls count once.';
COMMENT ON COLUMN pgclarify_private.estimate.calls_at_most IS 'At most so many calls, except for calls that are repeated because their reply was invalid.';
COMMENT ON COLUMN pgclarify_private.estimate.reused_calls IS 'About how many further calls are needed whose replies are in the ledger.';
COMMENT ON COLUMN pgclarify_private.estimate.prompt_tokens IS 'About how many input tokens the calls have.';
COMMENT ON COLUMN pgclarify_private.estimate.completion_tokens IS 'About how many output tokens they have.';
COMMENT ON COLUMN pgclarify_private.estimate.cost_usd IS 'About what the calls cost in US dollars, by the model''s price at the time of the estimate; null if it had none.';

CREATE TABLE pgclarify_private.eval_case (
    eval_run_id BIGINT NOT NULL,
    ordinal INTEGER NOT NULL,
    case_id TEXT NOT NULL,
    question TEXT NOT NULL,
    gold JSONB NOT NULL,
    output JSONB NOT NULL,
    run_id BIGINT,
    status TEXT NOT NULL,
    error TEXT,
    figures JSONB NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT eval_case_pk PRIMARY KEY (eval_run_id, ordinal),
    CONSTRAINT eval_case_ordinal_counts_from_one CHECK (ordinal >= 1),
    CONSTRAINT eval_case_gold_is_an_object CHECK (jsonb_typeof(gold) = 'object'),
    CONSTRAINT eval_case_output_is_an_object CHECK (jsonb_typeof(output) = 'object'),
    CONSTRAINT eval_case_status_is_known CHECK (status in ('succeeded', 'partial', 'failed')),
    CONSTRAINT eval_case_failed_has_an_error CHECK ((status = 'failed') = (error is not null)),
    CONSTRAINT eval_case_figures_is_an_object CHECK (jsonb_typeof(figures) = 'object'),
    CONSTRAINT eval_case_eval_run_id_fk FOREIGN KEY(eval_run_id) REFERENCES pgclarify_private.eval_run (eval_run_id) ON DELETE CASCADE,
    CONSTRAINT eval_case_run_id_fk FOREIGN KEY(run_id) REFERENCES pgclarify_private.run (run_id) ON DELETE SET NULL
);
COMMENT ON TABLE pgclarify_private.eval_case IS 'One question of an evaluation, with the method''s output and its figures.';
COMMENT ON COLUMN pgclarify_private.eval_case.eval_run_id IS 'The evaluation.';
COMMENT ON COLUMN pgclarify_private.eval_case.ordinal IS 'Place among the evaluated cases, from 1.';
COMMENT ON COLUMN pgclarify_private.eval_case.case_id IS 'Its id in the data set.';
COMMENT ON COLUMN pgclarify_private.eval_case.question IS 'The question.';
ALTER TABLE pgclarify_private.eval_case ALTER COLUMN question SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.eval_case.gold IS 'What is known about it: interpretations (interpretation, answers, document_ids), answer_sets, wrong_answers, document_ids, is_ambiguous.';
ALTER TABLE pgclarify_private.eval_case ALTER COLUMN gold SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.eval_case.output IS 'The method''s output: interpretations (interpretation, answer, is_grounded, citations with document_id, passage_id, title and quote), retrieved (document_id, passage_id), questions (rewritten or asked back), notes.';
ALTER TABLE pgclarify_private.eval_case ALTER COLUMN output SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.eval_case.run_id IS 'The run that answered; null for baselines, or once it was deleted.';
COMMENT ON COLUMN pgclarify_private.eval_case.status IS 'succeeded, partial (some passages could not be judged) or failed, which counts as an empty output.';
COMMENT ON COLUMN pgclarify_private.eval_case.error IS 'Why it failed; null unless it did.';
ALTER TABLE pgclarify_private.eval_case ALTER COLUMN error SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.eval_case.figures IS 'Its figures: numbers by name.';
COMMENT ON COLUMN pgclarify_private.eval_case.created_at IS 'When it was judged.';
CREATE INDEX eval_case_document_ids_idx ON pgclarify_private.eval_case USING gin (jsonb_path_query_array(output, '$.**.document_id'));
ALTER INDEX pgclarify_private.eval_case_document_ids_idx ALTER COLUMN 1 SET STATISTICS 0;
CREATE INDEX eval_case_run_id_idx ON pgclarify_private.eval_case (run_id) WHERE run_id is not null;

CREATE TABLE pgclarify_private.interpretation (
    run_id BIGINT NOT NULL,
    ordinal INTEGER NOT NULL,
    interpretation TEXT NOT NULL,
    answer TEXT NOT NULL,
    support INTEGER NOT NULL,
    cohesion REAL NOT NULL,
    is_contested BOOLEAN NOT NULL,
    CONSTRAINT interpretation_pk PRIMARY KEY (run_id, ordinal),
    CONSTRAINT interpretation_ordinal_counts_from_one CHECK (ordinal >= 1),
    CONSTRAINT interpretation_is_supported CHECK (support >= 1),
    CONSTRAINT interpretation_run_id_fk FOREIGN KEY(run_id) REFERENCES pgclarify_private.run (run_id) ON DELETE CASCADE
);
COMMENT ON TABLE pgclarify_private.interpretation IS 'A reading after consolidation.';
COMMENT ON COLUMN pgclarify_private.interpretation.run_id IS 'The run.';
COMMENT ON COLUMN pgclarify_private.interpretation.ordinal IS 'Place by falling support, from 1.';
COMMENT ON COLUMN pgclarify_private.interpretation.interpretation IS 'The reading: a question that stands alone.';
ALTER TABLE pgclarify_private.interpretation ALTER COLUMN interpretation SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.interpretation.answer IS 'Its answer.';
ALTER TABLE pgclarify_private.interpretation ALTER COLUMN answer SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.interpretation.support IS 'How many documents support it.';
COMMENT ON COLUMN pgclarify_private.interpretation.cohesion IS 'Mean cosine similarity of the readings in its cluster to their medoid; 1 for a single one.';
COMMENT ON COLUMN pgclarify_private.interpretation.is_contested IS 'Whether another reading of the run asks in the same words and has another answer.';

CREATE TABLE pgclarify_private.listed_answer (
    run_id BIGINT NOT NULL,
    ordinal INTEGER NOT NULL,
    answer TEXT NOT NULL,
    variants TEXT[] NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT listed_answer_pk PRIMARY KEY (run_id, ordinal),
    CONSTRAINT listed_answer_ordinal_counts_from_one CHECK (ordinal >= 1),
    CONSTRAINT listed_answer_answer_is_not_blank CHECK (answer ~ '\S'),
    CONSTRAINT listed_answer_variants_have_the_answer CHECK (variants[1] = answer),
    CONSTRAINT listed_answer_run_id_fk FOREIGN KEY(run_id) REFERENCES pgclarify_private.run (run_id) ON DELETE CASCADE
);
COMMENT ON TABLE pgclarify_private.listed_answer IS 'One answer of a list.';
COMMENT ON COLUMN pgclarify_private.listed_answer.run_id IS 'The run.';
COMMENT ON COLUMN pgclarify_private.listed_answer.ordinal IS 'Place in the list, from 1: answers that more documents give come first.';
COMMENT ON COLUMN pgclarify_private.listed_answer.answer IS 'The answer, in its first spelling.';
ALTER TABLE pgclarify_private.listed_answer ALTER COLUMN answer SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.listed_answer.variants IS 'All spellings that were found, the first one first.';
ALTER TABLE pgclarify_private.listed_answer ALTER COLUMN variants SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.listed_answer.created_at IS 'When it was stored.';

CREATE TABLE pgclarify_private.pending_cut (
    embedding_space_id BIGINT NOT NULL,
    document_id TEXT NOT NULL,
    CONSTRAINT pending_cut_pk PRIMARY KEY (embedding_space_id, document_id),
    CONSTRAINT pending_cut_embedding_space_id_fk FOREIGN KEY(embedding_space_id) REFERENCES pgclarify_private.embedding_space (embedding_space_id) ON DELETE CASCADE
);
COMMENT ON TABLE pgclarify_private.pending_cut IS 'A document with a passage that is too long for the space''s model. Once the space is active, the document is indexed again, and cut into shorter passages.';
COMMENT ON COLUMN pgclarify_private.pending_cut.embedding_space_id IS 'The space.';
COMMENT ON COLUMN pgclarify_private.pending_cut.document_id IS 'The document.';

CREATE TABLE pgclarify_private.pending_link (
    embedding_space_id BIGINT NOT NULL,
    document_id TEXT NOT NULL,
    passage_id BIGINT NOT NULL,
    added_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT pending_link_pk PRIMARY KEY (embedding_space_id, document_id, passage_id),
    CONSTRAINT pending_link_embedding_space_id_fk FOREIGN KEY(embedding_space_id) REFERENCES pgclarify_private.embedding_space (embedding_space_id) ON DELETE CASCADE
);
COMMENT ON TABLE pgclarify_private.pending_link IS 'A passage whose neighbors must be found, or found again. Workers take rows with SKIP LOCKED.';
COMMENT ON COLUMN pgclarify_private.pending_link.embedding_space_id IS 'The space.';
COMMENT ON COLUMN pgclarify_private.pending_link.document_id IS 'The passage''s document.';
COMMENT ON COLUMN pgclarify_private.pending_link.passage_id IS 'The passage.';
COMMENT ON COLUMN pgclarify_private.pending_link.added_at IS 'Since when it is waiting.';
CREATE INDEX pending_link_embedding_space_id_added_at_idx ON pgclarify_private.pending_link (embedding_space_id, added_at);

CREATE TABLE pgclarify_private.pending_passage (
    embedding_space_id BIGINT NOT NULL,
    document_id TEXT NOT NULL,
    passage_id BIGINT NOT NULL,
    attempts INTEGER DEFAULT 0 NOT NULL,
    retry_at TIMESTAMP WITH TIME ZONE,
    leased_by BIGINT,
    leased_until TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pending_passage_pk PRIMARY KEY (embedding_space_id, document_id, passage_id),
    CONSTRAINT pending_passage_lease_has_a_holder CHECK ((leased_by is null) = (leased_until is null)),
    CONSTRAINT pending_passage_embedding_space_id_fk FOREIGN KEY(embedding_space_id) REFERENCES pgclarify_private.embedding_space (embedding_space_id) ON DELETE CASCADE
);
COMMENT ON TABLE pgclarify_private.pending_passage IS 'A passage without a vector in a space that is being built beside the active one. Workers lease rows with SKIP LOCKED. Passages of a large corpus are put here a thousand at a time.';
COMMENT ON COLUMN pgclarify_private.pending_passage.embedding_space_id IS 'The space that is being built.';
COMMENT ON COLUMN pgclarify_private.pending_passage.document_id IS 'The passage''s document.';
COMMENT ON COLUMN pgclarify_private.pending_passage.passage_id IS 'The passage.';
COMMENT ON COLUMN pgclarify_private.pending_passage.attempts IS 'How often it could not be embedded. After three times it is skipped, and searches do not switch to the space.';
COMMENT ON COLUMN pgclarify_private.pending_passage.retry_at IS 'When embedding it is tried again after a failure; null if it did not fail.';
COMMENT ON COLUMN pgclarify_private.pending_passage.leased_by IS 'Worker that is embedding it; null if none is.';
COMMENT ON COLUMN pgclarify_private.pending_passage.leased_until IS 'When another worker may take it over.';
CREATE INDEX pending_passage_failed_idx ON pgclarify_private.pending_passage (embedding_space_id) WHERE attempts >= 3;
CREATE INDEX pending_passage_leased_by_idx ON pgclarify_private.pending_passage (leased_by) WHERE leased_by is not null;

CREATE TABLE pgclarify_private.pending_unlink (
    embedding_space_id BIGINT NOT NULL,
    passage_id BIGINT NOT NULL,
    added_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT pending_unlink_pk PRIMARY KEY (embedding_space_id, passage_id),
    CONSTRAINT pending_unlink_embedding_space_id_fk FOREIGN KEY(embedding_space_id) REFERENCES pgclarify_private.embedding_space (embedding_space_id) ON DELETE CASCADE
);
COMMENT ON TABLE pgclarify_private.pending_unlink IS 'A passage that was removed, or has a new vector, while neighborhoods may still contain it.';
COMMENT ON COLUMN pgclarify_private.pending_unlink.embedding_space_id IS 'The space.';
COMMENT ON COLUMN pgclarify_private.pending_unlink.passage_id IS 'The passage.';
COMMENT ON COLUMN pgclarify_private.pending_unlink.added_at IS 'Since when it is waiting.';
CREATE INDEX pending_unlink_embedding_space_id_added_at_idx ON pgclarify_private.pending_unlink (embedding_space_id, added_at);

CREATE TABLE pgclarify_private.rewriting (
    run_id BIGINT NOT NULL,
    rewritten TEXT NOT NULL,
    was_ambiguous BOOLEAN,
    reason TEXT,
    CONSTRAINT rewriting_pk PRIMARY KEY (run_id),
    CONSTRAINT rewriting_run_id_fk FOREIGN KEY(run_id) REFERENCES pgclarify_private.run (run_id) ON DELETE CASCADE
);
COMMENT ON TABLE pgclarify_private.rewriting IS 'The result of rewrite or reply: a question that stands alone.';
COMMENT ON COLUMN pgclarify_private.rewriting.run_id IS 'The run.';
COMMENT ON COLUMN pgclarify_private.rewriting.rewritten IS 'The rewritten question; exactly the original one if it was clear or could not be rewritten.';
ALTER TABLE pgclarify_private.rewriting ALTER COLUMN rewritten SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.rewriting.was_ambiguous IS 'True if it was ambiguous even with its history; null for replies. False if it was clear. A question that was clear only with its history has a reason.';
COMMENT ON COLUMN pgclarify_private.rewriting.reason IS 'Why it was rewritten in this way, or not at all; null if there is nothing to say.';
ALTER TABLE pgclarify_private.rewriting ALTER COLUMN reason SET STATISTICS 0;

CREATE TABLE pgclarify_private.stage (
    run_id BIGINT NOT NULL,
    ordinal INTEGER NOT NULL,
    name TEXT NOT NULL,
    batch INTEGER,
    step_ordinal INTEGER,
    started_at TIMESTAMP WITH TIME ZONE NOT NULL,
    duration_ms REAL NOT NULL,
    rows INTEGER,
    calls INTEGER NOT NULL,
    reused_calls INTEGER NOT NULL,
    prompt_tokens BIGINT NOT NULL,
    completion_tokens BIGINT NOT NULL,
    note TEXT,
    reused_prompt_tokens BIGINT DEFAULT 0 NOT NULL,
    reused_completion_tokens BIGINT DEFAULT 0 NOT NULL,
    model_ms DOUBLE PRECISION DEFAULT 0 NOT NULL,
    CONSTRAINT stage_pk PRIMARY KEY (run_id, ordinal),
    CONSTRAINT stage_ordinal_counts_from_one CHECK (ordinal >= 1),
    CONSTRAINT stage_name_is_known CHECK (name in ('detection', 'relaxation', 'retrieval', 'neighbors', 'reranking', 'judgement', 'confirmation', 'consolidation', 'decomposition', 'sampling', 'answering', 'reasoning', 'rewriting', 'questioning', 'checking', 'listing')),
    CONSTRAINT stage_batch_counts_from_one CHECK (batch >= 1),
    CONSTRAINT stage_step_ordinal_counts_from_one CHECK (step_ordinal >= 1),
    CONSTRAINT stage_duration_ms_is_not_negative CHECK (duration_ms >= 0),
    CONSTRAINT stage_rows_are_not_negative CHECK (rows >= 0),
    CONSTRAINT stage_calls_are_not_negative CHECK (calls >= 0),
    CONSTRAINT stage_reused_calls_are_not_negative CHECK (reused_calls >= 0),
    CONSTRAINT stage_prompt_tokens_are_not_negative CHECK (prompt_tokens >= 0),
    CONSTRAINT stage_completion_tokens_are_not_negative CHECK (completion_tokens >= 0),
    CONSTRAINT stage_reused_prompt_tokens_are_not_negative CHECK (reused_prompt_tokens >= 0),
    CONSTRAINT stage_reused_completion_tokens_are_not_negative CHECK (reused_completion_tokens >= 0),
    CONSTRAINT stage_model_ms_is_not_negative CHECK (model_ms >= 0),
    CONSTRAINT stage_run_id_fk FOREIGN KEY(run_id) REFERENCES pgclarify_private.run (run_id) ON DELETE CASCADE
);
COMMENT ON TABLE pgclarify_private.stage IS 'The stages of a run. Written at its end; see explain.';
COMMENT ON COLUMN pgclarify_private.stage.run_id IS 'The run.';
COMMENT ON COLUMN pgclarify_private.stage.ordinal IS 'Place in the order of beginning, from 1.';
COMMENT ON COLUMN pgclarify_private.stage.name IS 'detection, relaxation, retrieval, neighbors, reranking, judgement, confirmation, consolidation, decomposition, sampling, answering, reasoning, rewriting, questioning, checking or listing.';
COMMENT ON COLUMN pgclarify_private.stage.batch IS 'The batch of passages, from 1; null without batches.';
COMMENT ON COLUMN pgclarify_private.stage.step_ordinal IS 'The step of an investigation; null for other operations.';
COMMENT ON COLUMN pgclarify_private.stage.started_at IS 'When it began.';
COMMENT ON COLUMN pgclarify_private.stage.duration_ms IS 'Milliseconds that it took. Stages may overlap.';
COMMENT ON COLUMN pgclarify_private.stage.rows IS 'Number of results: passages, verdicts, interpretations, answers; null if nothing is counted.';
COMMENT ON COLUMN pgclarify_private.stage.calls IS 'Calls that it paid for.';
COMMENT ON COLUMN pgclarify_private.stage.reused_calls IS 'Replies that it took from the ledger.';
COMMENT ON COLUMN pgclarify_private.stage.prompt_tokens IS 'Input tokens that it paid for.';
COMMENT ON COLUMN pgclarify_private.stage.completion_tokens IS 'Output tokens that it paid for.';
COMMENT ON COLUMN pgclarify_private.stage.note IS 'A note; null if there is none.';
ALTER TABLE pgclarify_private.stage ALTER COLUMN note SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.stage.reused_prompt_tokens IS 'Input tokens of the replies that it took from the ledger.';
COMMENT ON COLUMN pgclarify_private.stage.reused_completion_tokens IS 'Output tokens of the replies that it took from the ledger.';
COMMENT ON COLUMN pgclarify_private.stage.model_ms IS 'Milliseconds that its calls took, with those whose replies are from the ledger, added up.';

CREATE TABLE pgclarify_private.step (
    run_id BIGINT NOT NULL,
    ordinal INTEGER NOT NULL,
    kind TEXT NOT NULL,
    question TEXT NOT NULL,
    answer TEXT,
    outcome TEXT NOT NULL,
    confidence REAL,
    reason TEXT,
    semantic_sets INTEGER,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    abstention_code TEXT,
    CONSTRAINT step_pk PRIMARY KEY (run_id, ordinal),
    CONSTRAINT step_ordinal_counts_from_one CHECK (ordinal >= 1),
    CONSTRAINT step_kind_is_known CHECK (kind in ('direct', 'follow_up', 'conclusion')),
    CONSTRAINT step_outcome_is_known CHECK (outcome in ('answered', 'not_in_corpus', 'repeated', 'contradicted', 'cut_off', 'failed')),
    CONSTRAINT step_confidence_is_a_share CHECK (confidence > 0 and confidence <= 1),
    CONSTRAINT step_semantic_sets_count_from_one CHECK (semantic_sets >= 1),
    CONSTRAINT step_answered_has_an_answer CHECK ((outcome = 'answered') = (answer is not null)),
    CONSTRAINT step_answer_has_a_confidence CHECK ((answer is not null) = (confidence is not null)),
    CONSTRAINT step_answer_is_not_blank CHECK (answer ~ '\S'),
    CONSTRAINT step_abstention_code_is_known CHECK (abstention_code in ('not_answered', 'no_passage', 'unproven', 'limit', 'budget', 'failed_calls')),
    CONSTRAINT step_abstention_has_no_evidence CHECK (abstention_code is null or outcome = 'not_in_corpus'),
    CONSTRAINT step_run_id_fk FOREIGN KEY(run_id) REFERENCES pgclarify_private.run (run_id) ON DELETE CASCADE
);
COMMENT ON TABLE pgclarify_private.step IS 'A question of an investigation, and its answer. Written while the run is not over.';
COMMENT ON COLUMN pgclarify_private.step.run_id IS 'The run.';
COMMENT ON COLUMN pgclarify_private.step.ordinal IS 'Place in the chain, from 1; the conclusion is the last one.';
COMMENT ON COLUMN pgclarify_private.step.kind IS 'direct (the question itself, without a follow-up), follow_up (a question that it depends on) or conclusion (the answer to the whole question).';
COMMENT ON COLUMN pgclarify_private.step.question IS 'The question.';
ALTER TABLE pgclarify_private.step ALTER COLUMN question SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.step.answer IS 'Its answer; null unless answered.';
ALTER TABLE pgclarify_private.step ALTER COLUMN answer SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.step.outcome IS 'answered, not_in_corpus (there is no evidence), repeated (it was asked before), contradicted (steps contradict each other, and the evidence does not decide), cut_off (the limit on calls was reached) or failed (the model could not be reached or understood).';
COMMENT ON COLUMN pgclarify_private.step.confidence IS 'Confidence in the answer, above 0 and up to 1; null unless answered.';
COMMENT ON COLUMN pgclarify_private.step.reason IS 'Why there is no answer, or a remark on the answer; null if there is nothing to say.';
ALTER TABLE pgclarify_private.step ALTER COLUMN reason SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.step.semantic_sets IS 'How many groups of equal meaning the sampled answers form; null if no answers were sampled.';
COMMENT ON COLUMN pgclarify_private.step.created_at IS 'When it was decided.';
COMMENT ON COLUMN pgclarify_private.step.abstention_code IS 'Why there is no evidence, as a code; null unless that is the outcome.';
CREATE UNIQUE INDEX step_conclusion_key ON pgclarify_private.step (run_id) WHERE kind = 'conclusion';

CREATE TABLE pgclarify_private.turn (
    conversation_id BIGINT NOT NULL,
    ordinal INTEGER NOT NULL,
    run_id BIGINT,
    form TEXT NOT NULL,
    asked TEXT NOT NULL,
    reply TEXT NOT NULL,
    question TEXT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT turn_pk PRIMARY KEY (conversation_id, ordinal),
    CONSTRAINT turn_ordinal_is_one_of_three CHECK (ordinal between 1 and 3),
    CONSTRAINT turn_form_is_known CHECK (form in ('respond', 'select')),
    CONSTRAINT turn_question_is_not_blank CHECK (question ~ '\S'),
    CONSTRAINT turn_conversation_id_fk FOREIGN KEY(conversation_id) REFERENCES pgclarify_private.conversation (conversation_id) ON DELETE CASCADE,
    CONSTRAINT turn_run_id_fk FOREIGN KEY(run_id) REFERENCES pgclarify_private.run (run_id) ON DELETE SET NULL
);
COMMENT ON TABLE pgclarify_private.turn IS 'One turn of a conversation: the clarifying questions, the reply, and the question afterwards.';
COMMENT ON COLUMN pgclarify_private.turn.conversation_id IS 'The conversation.';
COMMENT ON COLUMN pgclarify_private.turn.ordinal IS 'Place in the conversation, from 1 to 3.';
COMMENT ON COLUMN pgclarify_private.turn.run_id IS 'The run of clarifying_questions; null once it was deleted.';
COMMENT ON COLUMN pgclarify_private.turn.form IS 'respond (the reply is in the user''s words) or select (a reformulation was chosen).';
COMMENT ON COLUMN pgclarify_private.turn.asked IS 'The clarifying questions, or the reformulations to choose from, one line each.';
ALTER TABLE pgclarify_private.turn ALTER COLUMN asked SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.turn.reply IS 'The reply, or the reformulation that was chosen.';
ALTER TABLE pgclarify_private.turn ALTER COLUMN reply SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.turn.question IS 'The question after this turn, reformulated.';
ALTER TABLE pgclarify_private.turn ALTER COLUMN question SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.turn.created_at IS 'When the user replied.';
CREATE INDEX turn_run_id_idx ON pgclarify_private.turn (run_id);

CREATE TABLE pgclarify_private.verdict (
    run_id BIGINT NOT NULL,
    rank INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    interpretation TEXT,
    answer TEXT,
    quote TEXT,
    start_char INTEGER,
    end_char INTEGER,
    vector @extschema:vector@.halfvec,
    completion_id BIGINT,
    is_reused BOOLEAN NOT NULL,
    reason TEXT,
    error TEXT,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    abstention_code TEXT,
    error_code TEXT,
    CONSTRAINT verdict_pk PRIMARY KEY (run_id, rank),
    CONSTRAINT verdict_outcome_is_known CHECK (outcome in ('grounded', 'abstained', 'failed', 'erased')),
    CONSTRAINT verdict_grounded_has_a_reading CHECK ((outcome = 'grounded') = (num_nonnulls(interpretation, answer, quote, start_char, end_char, vector) = 6)),
    CONSTRAINT verdict_failed_has_an_error CHECK ((outcome = 'failed') = (error is not null)),
    CONSTRAINT verdict_abstained_has_a_code CHECK ((outcome = 'abstained') = (abstention_code is not null)),
    CONSTRAINT verdict_abstention_code_is_known CHECK (abstention_code in ('not_answered', 'no_language_model', 'language', 'threshold', 'unproven', 'fragment', 'answer_not_quoted', 'beside_the_point', 'about_another', 'not_confirmed')),
    CONSTRAINT verdict_failed_has_a_code CHECK ((outcome = 'failed') = (error_code is not null)),
    CONSTRAINT verdict_error_code_is_known CHECK (error_code in ('PC007', 'PC008', 'PC010', 'PC011', 'PC012', 'PC013', 'PC014', 'PC015', 'PC017', 'XX000')),
    CONSTRAINT verdict_candidate_fk FOREIGN KEY(run_id, rank) REFERENCES pgclarify_private.candidate (run_id, rank) ON DELETE CASCADE
);
COMMENT ON TABLE pgclarify_private.verdict IS 'The verdict on a candidate.';
COMMENT ON COLUMN pgclarify_private.verdict.run_id IS 'The run.';
COMMENT ON COLUMN pgclarify_private.verdict.rank IS 'The candidate''s rank.';
COMMENT ON COLUMN pgclarify_private.verdict.outcome IS 'grounded (the passage answers a reading), abstained (it does not), failed (it could not be judged) or erased (the verdict was erased with its document).';
COMMENT ON COLUMN pgclarify_private.verdict.interpretation IS 'The reading; null unless grounded.';
ALTER TABLE pgclarify_private.verdict ALTER COLUMN interpretation SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.verdict.answer IS 'Its answer; null unless grounded.';
ALTER TABLE pgclarify_private.verdict ALTER COLUMN answer SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.verdict.quote IS 'The words of the passage that prove it, verbatim; null unless grounded.';
ALTER TABLE pgclarify_private.verdict ALTER COLUMN quote SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.verdict.start_char IS 'Offset of the quote in the document, from 0.';
COMMENT ON COLUMN pgclarify_private.verdict.end_char IS 'Offset of the end of the quote.';
COMMENT ON COLUMN pgclarify_private.verdict.vector IS 'f(interpretation; answer), unit length; null unless grounded.';
ALTER TABLE pgclarify_private.verdict ALTER COLUMN vector SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.verdict.completion_id IS 'Ledger row that it was read from; null if there was no reply.';
COMMENT ON COLUMN pgclarify_private.verdict.is_reused IS 'True if that row had been paid for before.';
COMMENT ON COLUMN pgclarify_private.verdict.reason IS 'Why it abstained; null unless it did.';
ALTER TABLE pgclarify_private.verdict ALTER COLUMN reason SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.verdict.error IS 'What went wrong; null unless failed.';
ALTER TABLE pgclarify_private.verdict ALTER COLUMN error SET STATISTICS 0;
COMMENT ON COLUMN pgclarify_private.verdict.created_at IS 'When it was decided.';
COMMENT ON COLUMN pgclarify_private.verdict.abstention_code IS 'Why it abstained, as a code; null unless it did.';
COMMENT ON COLUMN pgclarify_private.verdict.error_code IS 'What went wrong, as a SQLSTATE; null unless failed.';
