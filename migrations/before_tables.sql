-- What SQLAlchemy cannot declare: default privileges, a sequence with a comment, and composite types.

-- PostgreSQL lets PUBLIC execute every new function; ours are granted one by one.
alter default privileges for role pgclarify_owner revoke execute on functions from public;

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

-- The rows that functions return.

create type pgclarify.clarification as (
    run_id bigint,
    status text,
    ordinal integer,
    interpretation text,
    answer text,
    support integer,
    cohesion real,
    document_ids text[],
    citations jsonb,
    is_contested boolean
);
comment on type pgclarify.clarification is 'A reading with its answer and its evidence: a row of clarify.';
comment on column pgclarify.clarification.run_id is 'The run.';
comment on column pgclarify.clarification.status is 'succeeded or partial.';
comment on column pgclarify.clarification.ordinal is
    'Place by falling support, from 1; conservative: by falling score.';
comment on column pgclarify.clarification.interpretation is 'The reading: a question that stands alone.';
comment on column pgclarify.clarification.answer is 'Its answer.';
comment on column pgclarify.clarification.support is 'How many documents support it.';
comment on column pgclarify.clarification.cohesion is 'How much its evidence agrees, up to 1.';
comment on column pgclarify.clarification.document_ids is 'Documents that prove it, best first.';
comment on column pgclarify.clarification.citations is 'Array of objects with the columns of view citation.';
comment on column pgclarify.clarification.is_contested is
    'Whether another reading of the run may mean the same and has another answer.';

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
    is_contested boolean,
    stop_code text
);
comment on type pgclarify.question_clarification is 'A row of clarify_many.';
comment on column pgclarify.question_clarification.question_ordinal is 'Place of the question, from 1.';
comment on column pgclarify.question_clarification.question_key is 'The caller''s key of it; null without keys.';
comment on column pgclarify.question_clarification.question is 'The question.';
comment on column pgclarify.question_clarification.run_id is 'The run.';
comment on column pgclarify.question_clarification.status is
    'succeeded, partial, failed or cancelled. If there is no reading, its columns are null.';
comment on column pgclarify.question_clarification.ordinal is 'As in clarification.';
comment on column pgclarify.question_clarification.interpretation is 'As in clarification.';
comment on column pgclarify.question_clarification.answer is 'As in clarification.';
comment on column pgclarify.question_clarification.support is 'As in clarification.';
comment on column pgclarify.question_clarification.cohesion is 'As in clarification.';
comment on column pgclarify.question_clarification.document_ids is 'As in clarification.';
comment on column pgclarify.question_clarification.citations is 'As in clarification.';
comment on column pgclarify.question_clarification.is_contested is 'As in clarification.';
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
comment on column pgclarify.neighbor.similarity is 'How near it is: cosine similarity.';

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
    'The outcome of its conclusion: answered, not_in_corpus, cut_off or failed.';
comment on column pgclarify.investigation.answer is 'The answer; null unless answered.';
comment on column pgclarify.investigation.confidence is 'Confidence in the answer, above 0 and up to 1; null unless answered.';
comment on column pgclarify.investigation.steps is
    'Array of objects with the columns of view investigation_step, in order, and citations, an array of objects with the '
    'columns of view citation.';
comment on column pgclarify.investigation.document_ids is
    'Documents that the conclusion cites, best first; empty if there are none.';
comment on column pgclarify.investigation.citations is
    'The evidence of the conclusion: array of objects with the columns of view citation.';

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
    'semantic, generalize or specify.';
comment on column pgclarify.proposed_question.clarifying_question is
    'A question to the user; null if there are reformulations to choose from.';
comment on column pgclarify.proposed_question.reformulation is
    'What a user who means this would ask; null if there are questions to answer.';
comment on column pgclarify.proposed_question.document_ids is
    'Documents that answer the reformulation, best first; empty if there are none or it was not checked.';
comment on column pgclarify.proposed_question.reasoning is 'The model''s reasoning; null if it gave none.';
comment on column pgclarify.proposed_question.is_answerable is
    'Whether a document of the corpus answers the reformulation; null if it was not checked, or could not be checked.';
comment on column pgclarify.proposed_question.citations is
    'The evidence of the reformulation: array of objects with the columns of view citation.';

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
comment on column pgclarify.answer.ordinal is 'Place in the list, from 1: answers that more documents give come first.';
comment on column pgclarify.answer.answer is 'The answer, in its first spelling.';
comment on column pgclarify.answer.variants is 'All spellings that were found, the first one first.';
comment on column pgclarify.answer.document_ids is 'Documents that have the answer, best first.';
comment on column pgclarify.answer.citations is
    'The evidence of the answer: array of objects with the columns of view citation.';
