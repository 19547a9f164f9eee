-- What SQLAlchemy cannot declare: a sequence with a comment, and composite types.

create sequence pgclarify_private.passage_id_seq;
comment on sequence pgclarify_private.passage_id_seq is 'Ids of passages, unique over all corpora.';

create type pgclarify_private.model_call as (
    ordinal integer,
    purpose text,
    model text,
    parameters jsonb,
    prompt_version text,
    input_hash bytea,
    sample integer,
    input_bytes integer,
    max_output_tokens integer,
    document_ids text[],
    request text
);
comment on type pgclarify_private.model_call is 'A call that a worker wants to make. Table completion has the first columns.';
comment on column pgclarify_private.model_call.ordinal is 'Its place among those of one statement, from 1.';
comment on column pgclarify_private.model_call.purpose is 'What the reply is for, as in table completion.';
comment on column pgclarify_private.model_call.model is 'The model that it calls.';
comment on column pgclarify_private.model_call.parameters is 'Decoding parameters.';
comment on column pgclarify_private.model_call.prompt_version is 'The version of its prompt.';
comment on column pgclarify_private.model_call.input_hash is 'SHA-256 of its input and of who may see it.';
comment on column pgclarify_private.model_call.sample is 'Number of the reply among several to the same input.';
comment on column pgclarify_private.model_call.input_bytes is
    'Length of its input, which together with max_output_tokens determines its maximum cost.';
comment on column pgclarify_private.model_call.max_output_tokens is 'Most output tokens that may be paid for.';
comment on column pgclarify_private.model_call.document_ids is
    'The documents that its input shows, so that its reply can be erased with them.';
comment on column pgclarify_private.model_call.request is 'Its body for a batch; null for other calls.';

create type pgclarify_private.part as (
    document_ids text[],
    passages bigint,
    of_metadata jsonpath,
    of_facts jsonpath,
    fence jsonpath
);
comment on type pgclarify_private.part is 'A part of a corpus, which a question is limited to.';
comment on column pgclarify_private.part.document_ids is 'Its documents; null if they are too many to be listed.';
comment on column pgclarify_private.part.passages is 'About how many passages it has; null if they are too many to be counted.';
comment on column pgclarify_private.part.of_metadata is
    'What the metadata of its documents fit; null if the filter asks for other facts, or without one.';
comment on column pgclarify_private.part.of_facts is 'What their document_facts fit; null likewise.';
comment on column pgclarify_private.part.fence is
    'What their metadata fit besides: the filter of the roles that ask; null without one.';
