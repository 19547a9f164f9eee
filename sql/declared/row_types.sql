-- Written by `make generated` from pgclarify/declared. Do not edit.
-- The rows that functions return. Types that exist get the columns that they lack, at the end.

do $do$
declare
    v_type record;
begin
    for v_type in
        select
            listed.type_name,
            bool_and(pg_attribute.attrelid is null) as is_new,
            string_agg(format('%I %s', listed.name, listed.type), ', ' order by listed.place) as columns,
            string_agg(format('add attribute %I %s', listed.name, listed.type), ', ' order by listed.place)
                filter (where pg_attribute.attrelid is null) as additions
        from (
            values
            ('clarification', 1, 'run_id', 'bigint'),
            ('clarification', 2, 'status', 'text'),
            ('clarification', 3, 'ordinal', 'integer'),
            ('clarification', 4, 'interpretation', 'text'),
            ('clarification', 5, 'answer', 'text'),
            ('clarification', 6, 'support', 'integer'),
            ('clarification', 7, 'cohesion', 'real'),
            ('clarification', 8, 'document_ids', 'text[]'),
            ('clarification', 9, 'citations', 'jsonb'),
            ('clarification', 10, 'is_contested', 'boolean'),
            ('clarification', 11, 'dated', 'timestamptz'),
            ('clarification', 12, 'older_hidden', 'integer'),
            ('clarification', 13, 'doubt', 'text'),
            ('clarification', 14, 'probability', 'real'),
            ('clarification', 15, 'level', 'text'),
            ('search_result', 1, 'rank', 'integer'),
            ('search_result', 2, 'passage_id', 'bigint'),
            ('search_result', 3, 'document_id', 'text'),
            ('search_result', 4, 'title', 'text'),
            ('search_result', 5, 'heading', 'text'),
            ('search_result', 6, 'content', 'text'),
            ('search_result', 7, 'score', 'double precision'),
            ('search_result', 8, 'origin', 'text'),
            ('search_result', 9, 'place', 'text'),
            ('investigation', 1, 'run_id', 'bigint'),
            ('investigation', 2, 'status', 'text'),
            ('investigation', 3, 'outcome', 'text'),
            ('investigation', 4, 'answer', 'text'),
            ('investigation', 5, 'confidence', 'real'),
            ('investigation', 6, 'steps', 'jsonb'),
            ('investigation', 7, 'document_ids', 'text[]'),
            ('investigation', 8, 'citations', 'jsonb'),
            ('proposed_question', 1, 'run_id', 'bigint'),
            ('proposed_question', 2, 'ordinal', 'integer'),
            ('proposed_question', 3, 'ambiguity_type', 'text'),
            ('proposed_question', 4, 'clarifying_question', 'text'),
            ('proposed_question', 5, 'reformulation', 'text'),
            ('proposed_question', 6, 'document_ids', 'text[]'),
            ('proposed_question', 7, 'reasoning', 'text'),
            ('proposed_question', 8, 'is_answerable', 'boolean'),
            ('proposed_question', 9, 'citations', 'jsonb'),
            ('answer', 1, 'run_id', 'bigint'),
            ('answer', 2, 'ordinal', 'integer'),
            ('answer', 3, 'answer', 'text'),
            ('answer', 4, 'variants', 'text[]'),
            ('answer', 5, 'document_ids', 'text[]'),
            ('answer', 6, 'citations', 'jsonb'),
            ('question_clarification', 1, 'question_ordinal', 'integer'),
            ('question_clarification', 2, 'question_key', 'text'),
            ('question_clarification', 3, 'question', 'text'),
            ('question_clarification', 4, 'run_id', 'bigint'),
            ('question_clarification', 5, 'status', 'text'),
            ('question_clarification', 6, 'ordinal', 'integer'),
            ('question_clarification', 7, 'interpretation', 'text'),
            ('question_clarification', 8, 'answer', 'text'),
            ('question_clarification', 9, 'support', 'integer'),
            ('question_clarification', 10, 'cohesion', 'real'),
            ('question_clarification', 11, 'document_ids', 'text[]'),
            ('question_clarification', 12, 'citations', 'jsonb'),
            ('question_clarification', 13, 'is_contested', 'boolean'),
            ('question_clarification', 14, 'stop_code', 'text'),
            ('question_clarification', 15, 'dated', 'timestamptz'),
            ('question_clarification', 16, 'older_hidden', 'integer'),
            ('question_clarification', 17, 'doubt', 'text'),
            ('question_clarification', 18, 'probability', 'real'),
            ('question_clarification', 19, 'level', 'text'),
            ('neighbor', 1, 'rank', 'integer'),
            ('neighbor', 2, 'document_id', 'text'),
            ('neighbor', 3, 'passage_id', 'bigint'),
            ('neighbor', 4, 'similarity', 'real'),
            ('run_outcome', 1, 'run_id', 'bigint'),
            ('run_outcome', 2, 'status', 'text'),
            ('run_outcome', 3, 'error', 'text'),
            ('run_outcome', 4, 'interpretations', 'integer'),
            ('run_outcome', 5, 'stop_reason', 'text'),
            ('run_outcome', 6, 'cost_usd', 'numeric'),
            ('run_outcome', 7, 'stop_code', 'text'),
            ('run_outcome', 8, 'error_code', 'text')
        ) as listed (type_name, place, name, type)
        left join pg_catalog.pg_attribute
            on pg_attribute.attrelid = to_regclass('pgclarify.' || listed.type_name)
                and pg_attribute.attname = listed.name
                and not pg_attribute.attisdropped
        group by listed.type_name
    loop
        if v_type.is_new then
            execute format('create type pgclarify.%I as (%s)', v_type.type_name, v_type.columns);
        elsif v_type.additions is not null then
            execute format('alter type pgclarify.%I %s', v_type.type_name, v_type.additions);
        end if;
    end loop;
end
$do$;

comment on type pgclarify.clarification is
'A reading with its answer and its evidence: a row of clarify.';
comment on column pgclarify.clarification.run_id is
'The run.';
comment on column pgclarify.clarification.status is
'How the run ended: succeeded, or partial if calls failed or a budget was spent.';
comment on column pgclarify.clarification.ordinal is
'Place, from 1: first what a model called the most likely in a reply about several passages; then those below the heading '
'nearest to the question, then by falling support; conservative: by falling score. Of those that contest each other, the '
'newest is first.';
comment on column pgclarify.clarification.interpretation is
'The reading: a question that stands alone.';
comment on column pgclarify.clarification.answer is
'Its answer.';
comment on column pgclarify.clarification.support is
'How many documents support it; of copies of one text, one counts.';
comment on column pgclarify.clarification.cohesion is
'Mean cosine similarity of the readings in its cluster to their medoid; 1 for one.';
comment on column pgclarify.clarification.document_ids is
'Documents that prove it, best first.';
comment on column pgclarify.clarification.citations is
'The passages that prove it, the medoid first: array of objects with the columns of view citation.';
comment on column pgclarify.clarification.is_contested is
'Whether another reading of the run asks the same of the same thing, and both answers cannot be right.';
comment on column pgclarify.clarification.dated is
'The newest date of the documents that it cites; null if none is known.';
comment on column pgclarify.clarification.older_hidden is
'How many older readings, which contest it, option prefer has hidden; null without the option.';
comment on column pgclarify.clarification.doubt is
'Why a check doubts the reading, which then stands after those that no check doubts: fragment (the quote is too short to prove '
'the answer), answer_not_quoted (the quote does not say the answer), beside_the_point (the quote does not speak of what the '
'reading asks) or about_another (the passage, or the quote, is about another thing than the question); null if none does.';
comment on column pgclarify.clarification.probability is
'How probably it is right, by the judge of sentences; null if a language model has read it.';
comment on column pgclarify.clarification.level is
'The narrowest value of option include that shows it: certain (it is right so often that consolidation conservative shows it), '
'likely (it is shown unless something else is asked for) or all (it is less sure, and shown only if nothing surer was read); '
'null before 0.4.0.';

comment on type pgclarify.search_result is
'A passage that fits a question: a row of search.';
comment on column pgclarify.search_result.rank is
'Place, from 1.';
comment on column pgclarify.search_result.passage_id is
'The passage.';
comment on column pgclarify.search_result.document_id is
'The document, by your own id.';
comment on column pgclarify.search_result.title is
'The document''s title; null if it has none.';
comment on column pgclarify.search_result.heading is
'Headings above the passage; null if there are none.';
comment on column pgclarify.search_result.content is
'The passage.';
comment on column pgclarify.search_result.score is
'dense: cosine similarity; lexical: BM25; hybrid: mean of both, each brought to 0 to 1; a neighbor: its similarity to the '
'passage that led to it; with a reranker: its score. Higher is better.';
comment on column pgclarify.search_result.origin is
'How it was found: dense (by its meaning), lexical (by its words) or neighbor (near another passage).';
comment on column pgclarify.search_result.place is
'Where in the document it begins, such as "page 7"; null if its file has no places.';

comment on type pgclarify.investigation is
'The result of investigate, in one row.';
comment on column pgclarify.investigation.run_id is
'The run.';
comment on column pgclarify.investigation.status is
'How the run ended: succeeded, or partial if calls failed or a budget was spent.';
comment on column pgclarify.investigation.outcome is
'The outcome of its conclusion: answered, not_in_corpus, cut_off or failed; null if it has none.';
comment on column pgclarify.investigation.answer is
'The answer; null unless answered.';
comment on column pgclarify.investigation.confidence is
'Confidence in the answer, above 0 and up to 1; null unless answered.';
comment on column pgclarify.investigation.steps is
'The steps, in order; the last one is the conclusion: array of objects with the columns of view investigation_step, and '
'citations, an array of objects with the columns of view citation.';
comment on column pgclarify.investigation.document_ids is
'Documents that the conclusion cites, best first; empty if there are none.';
comment on column pgclarify.investigation.citations is
'The evidence of the conclusion: array of objects with the columns of view citation.';

comment on type pgclarify.proposed_question is
'A clarifying question, or a reformulation to choose: the row of clarifying_questions.';
comment on column pgclarify.proposed_question.run_id is
'The run, for reply.';
comment on column pgclarify.proposed_question.ordinal is
'Place in the list, from 1.';
comment on column pgclarify.proposed_question.ambiguity_type is
'semantic (it can mean several things), generalize (something broader may be meant) or specify (something narrower may be '
'meant); null for form split.';
comment on column pgclarify.proposed_question.clarifying_question is
'A question to the user; null if there are reformulations to choose from.';
comment on column pgclarify.proposed_question.reformulation is
'What a user who means this would ask; null if there are questions to answer, or if nothing names it.';
comment on column pgclarify.proposed_question.document_ids is
'Documents that answer the reformulation, best first; empty if there are none or it was not checked.';
comment on column pgclarify.proposed_question.reasoning is
'The model''s reasoning; null if it gave none. For form split, how many readings a reply leaves.';
comment on column pgclarify.proposed_question.is_answerable is
'Whether a document of the corpus answers the reformulation; null if it was not checked, or could not be checked.';
comment on column pgclarify.proposed_question.citations is
'The evidence of the reformulation: array of objects with the columns of view citation.';

comment on type pgclarify.answer is
'One answer of a list: the row of list_answers.';
comment on column pgclarify.answer.run_id is
'The run.';
comment on column pgclarify.answer.ordinal is
'Place in the list, from 1: answers that more documents give come first.';
comment on column pgclarify.answer.answer is
'The answer, in its first spelling.';
comment on column pgclarify.answer.variants is
'All spellings that were found, the first one first.';
comment on column pgclarify.answer.document_ids is
'Documents that have the answer, best first.';
comment on column pgclarify.answer.citations is
'The evidence of the answer: array of objects with the columns of view citation.';

comment on type pgclarify.question_clarification is
'A row of clarify_many.';
comment on column pgclarify.question_clarification.question_ordinal is
'Place of the question, from 1.';
comment on column pgclarify.question_clarification.question_key is
'The caller''s key of it; null without keys.';
comment on column pgclarify.question_clarification.question is
'The question.';
comment on column pgclarify.question_clarification.run_id is
'The run.';
comment on column pgclarify.question_clarification.status is
'succeeded, partial, failed or cancelled. If there is no reading, its columns are null.';
comment on column pgclarify.question_clarification.ordinal is
'As in clarification.';
comment on column pgclarify.question_clarification.interpretation is
'As in clarification.';
comment on column pgclarify.question_clarification.answer is
'As in clarification.';
comment on column pgclarify.question_clarification.support is
'As in clarification.';
comment on column pgclarify.question_clarification.cohesion is
'As in clarification.';
comment on column pgclarify.question_clarification.document_ids is
'As in clarification.';
comment on column pgclarify.question_clarification.citations is
'As in clarification.';
comment on column pgclarify.question_clarification.is_contested is
'As in clarification.';
comment on column pgclarify.question_clarification.stop_code is
'As in run_outcome.';
comment on column pgclarify.question_clarification.dated is
'As in clarification.';
comment on column pgclarify.question_clarification.older_hidden is
'As in clarification.';
comment on column pgclarify.question_clarification.doubt is
'As in clarification.';
comment on column pgclarify.question_clarification.probability is
'As in clarification.';
comment on column pgclarify.question_clarification.level is
'As in clarification.';

comment on type pgclarify.neighbor is
'A passage near another: a row of neighbors.';
comment on column pgclarify.neighbor.rank is
'Place among those that you may read, from 1.';
comment on column pgclarify.neighbor.document_id is
'The document, by your own id.';
comment on column pgclarify.neighbor.passage_id is
'The passage.';
comment on column pgclarify.neighbor.similarity is
'How near it is: cosine similarity.';

comment on type pgclarify.run_outcome is
'The state of a run: a row of wait.';
comment on column pgclarify.run_outcome.run_id is
'The run.';
comment on column pgclarify.run_outcome.status is
'Its state; queued or running if the timeout came first.';
comment on column pgclarify.run_outcome.error is
'Why it failed; null unless it did.';
comment on column pgclarify.run_outcome.interpretations is
'Number of readings found; 0 means that none was found, and stop_code says why. Null unless succeeded or partial, and for '
'operations without readings, such as investigations.';
comment on column pgclarify.run_outcome.stop_reason is
'Why it stopped early; null if it did not, or is not over.';
comment on column pgclarify.run_outcome.cost_usd is
'What it cost, in US dollars: 0 if it paid for no call; null if the cost of a call is unknown, or before its end.';
comment on column pgclarify.run_outcome.stop_code is
'Why it has no result, or only a part of it: not_answered if a language model judged the passages and none answers; with other '
'codes, it is unknown whether the corpus has an answer. Null if the result is complete, or if it has failed or is not over.';
comment on column pgclarify.run_outcome.error_code is
'Why it failed, as a SQLSTATE that docs/errors.md lists; for a partial run, why calls failed; else null.';
