-- Written by `make generated` from pgclarify/declared. Do not edit.
-- What is known of parameters and options.

create or replace function pgclarify_private.parameters_of(operation text)
returns jsonb
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
    return case
        when parameters_of.operation in ('clarify') then '{
            "question": {"type": "string"},
            "corpus": {"type": "string"},
            "top_k": {"type": "integer", "least": 1, "most": 1000, "default": 20},
            "filter": {"type": "object"},
            "document_ids": {"type": "array"},
            "history": {"type": "array"}
        }'
        when parameters_of.operation in ('consolidate') then '{
            "run_id": {"type": "integer", "least": 1, "most": 9223372036854775807}
        }'
        when parameters_of.operation in ('search') then '{
            "question": {"type": "string"},
            "corpus": {"type": "string"},
            "top_k": {"type": "integer", "least": 1, "most": 1000, "default": 10},
            "filter": {"type": "object"},
            "document_ids": {"type": "array"}
        }'
        when parameters_of.operation in ('investigate', 'list_answers') then '{
            "question": {"type": "string"},
            "corpus": {"type": "string"},
            "filter": {"type": "object"},
            "document_ids": {"type": "array"}
        }'
        when parameters_of.operation in ('detect_ambiguity', 'rewrite') then '{
            "question": {"type": "string"},
            "history": {"type": "array"}
        }'
        when parameters_of.operation in ('clarifying_questions') then '{
            "question": {"type": "string"},
            "corpus": {"type": "string"},
            "history": {"type": "array"},
            "filter": {"type": "object"},
            "document_ids": {"type": "array"}
        }'
        when parameters_of.operation in ('reply') then '{
            "run_id": {"type": "integer", "least": 1, "most": 9223372036854775807},
            "reply": {"type": "string"},
            "ordinal": {"type": "integer", "least": 1, "most": 10}
        }'
        when parameters_of.operation in ('estimate') then '{
            "questions": {"type": "array"},
            "corpus": {"type": "string"},
            "top_k": {"type": "integer", "least": 1, "most": 1000, "default": 20},
            "filter": {"type": "object"},
            "document_ids": {"type": "array"}
        }'
    end;
end
$$;

comment on function pgclarify_private.parameters_of(text) is
'The parameters of an operation, in the form of check_options; null if there is no such operation.';

create or replace function pgclarify_private.options_of(name text)
returns jsonb
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
    return case
        when options_of.name in ('clarify', 'clarify_many') then '{
            "method": {"choices": ["hybrid", "dense", "lexical"], "default": "hybrid"},
            "relax": {"type": "boolean", "default": false},
            "retrieval": {"choices": ["fixed", "adaptive"], "default": "fixed"},
            "max_passages": {"type": "integer", "least": 1, "most": 1000},
            "recall": {"type": "number", "least": 0.5, "most": 0.99},
            "reranker": {"type": "string", "keywords": ["signal", "model"], "never": ["none", "embedding"], "longest": 500},
            "consolidation": {"choices": ["default", "conservative", "hdbscan"], "default": "default"},
            "include": {"choices": ["certain", "likely", "all"]},
            "hdbscan": {"type": "object", "keys": {"embed": {"choices": ["question_answer", "question"]}, "min_cluster_size": {"type": "integer", "least": 2, "most": 1000}, "min_samples": {"type": "integer", "least": 1, "most": 1000}, "allow_single_cluster": {"type": "boolean"}, "cluster_selection_epsilon": {"type": "number", "least": 0, "most": 2}}},
            "singletons": {"choices": ["keep", "drop"], "default": "keep"},
            "prefer": {"choices": ["newest"]},
            "passages_per_call": {"type": "integer", "least": 1, "most": 100},
            "verify": {"choices": ["checks", "reader", "model", "none"], "default": "checks"},
            "ask_back": {"choices": ["when_vague"]},
            "threshold": {"type": "number", "least": 0, "most": 1},
            "refresh": {"type": "integer", "least": 0, "most": 1000000},
            "batch": {"type": "boolean"}
        }'
        when options_of.name in ('consolidate') then '{
            "consolidation": {"choices": ["default", "conservative", "hdbscan"], "default": "default"},
            "include": {"choices": ["certain", "likely", "all"]},
            "embed": {"choices": ["question_answer", "question"]},
            "min_cluster_size": {"type": "integer", "least": 2, "most": 1000},
            "min_samples": {"type": "integer", "least": 1, "most": 1000},
            "allow_single_cluster": {"type": "boolean"},
            "cluster_selection_epsilon": {"type": "number", "least": 0, "most": 2},
            "singletons": {"choices": ["keep", "drop"], "default": "keep"},
            "prefer": {"choices": ["newest"]},
            "timeout": {"type": "interval", "default": "60s"}
        }'
        when options_of.name in ('search') then '{
            "method": {"choices": ["hybrid", "dense", "lexical"], "default": "hybrid"},
            "retrieval": {"choices": ["fixed", "adaptive"], "default": "fixed"},
            "reranker": {"type": "string", "keywords": ["signal", "model"], "never": ["none", "embedding"], "longest": 500},
            "max_passages": {"type": "integer", "least": 1, "most": 1000},
            "timeout": {"type": "interval", "default": "60s"}
        }'
        when options_of.name in ('investigate') then '{
            "method": {"choices": ["hybrid", "dense", "lexical"], "default": "hybrid"},
            "retrieval": {"choices": ["adaptive", "fixed"], "default": "adaptive"},
            "reranker": {"type": "string", "keywords": ["signal", "model"], "never": ["none", "embedding"], "longest": 500, "default": "signal"},
            "top_k": {"type": "integer", "least": 1, "most": 100, "default": 10},
            "max_passages": {"type": "integer", "least": 1, "most": 1000},
            "max_steps": {"type": "integer", "least": 0, "most": 20, "default": 4},
            "max_calls": {"type": "integer", "least": 4, "most": 10000},
            "entailment": {"type": "string", "keywords": ["embedding", "model", "none"], "never": ["signal"], "longest": 500, "default": "embedding"},
            "samples": {"type": "integer", "least": 2, "most": 20, "default": 5},
            "meta": {"type": "boolean", "default": false},
            "timeout": {"type": "interval", "default": "5min"}
        }'
        when options_of.name in ('detect_ambiguity', 'rewrite') then '{
            "corpus": {"type": "string", "longest": 200},
            "threshold": {"type": "number", "least": 0, "most": 1},
            "timeout": {"type": "interval", "default": "60s"}
        }'
        when options_of.name in ('clarifying_questions') then '{
            "form": {"choices": ["split", "respond", "select"]},
            "count": {"type": "integer", "least": 1, "most": 10},
            "check": {"choices": ["drop", "mark", "none"]},
            "method": {"choices": ["hybrid", "dense", "lexical"]},
            "top_k": {"type": "integer", "least": 1, "most": 20},
            "reply": {"type": "integer", "least": 1, "most": 9223372036854775807},
            "timeout": {"type": "interval", "default": "5min"}
        }'
        when options_of.name in ('reply') then '{
            "timeout": {"type": "interval", "default": "60s"}
        }'
        when options_of.name in ('list_answers') then '{
            "method": {"choices": ["hybrid", "dense", "lexical"], "default": "hybrid"},
            "relax": {"type": "boolean", "default": false},
            "reranker": {"type": "string", "keywords": ["signal", "model"], "never": ["none", "embedding"], "longest": 500},
            "top_k": {"type": "integer", "least": 1, "most": 100, "default": 20},
            "max_answers": {"type": "integer", "least": 1, "most": 50, "default": 10},
            "timeout": {"type": "interval", "default": "5min"}
        }'
        when options_of.name in ('estimate') then '{
            "method": {"choices": ["hybrid", "dense", "lexical"], "default": "hybrid"},
            "relax": {"type": "boolean", "default": false},
            "retrieval": {"choices": ["fixed", "adaptive"], "default": "fixed"},
            "max_passages": {"type": "integer", "least": 1, "most": 1000},
            "recall": {"type": "number", "least": 0.5, "most": 0.99},
            "reranker": {"type": "string", "keywords": ["signal", "model"], "never": ["none", "embedding"], "longest": 500},
            "consolidation": {"choices": ["default", "conservative", "hdbscan"], "default": "default"},
            "include": {"choices": ["certain", "likely", "all"]},
            "hdbscan": {"type": "object", "keys": {"embed": {"choices": ["question_answer", "question"]}, "min_cluster_size": {"type": "integer", "least": 2, "most": 1000}, "min_samples": {"type": "integer", "least": 1, "most": 1000}, "allow_single_cluster": {"type": "boolean"}, "cluster_selection_epsilon": {"type": "number", "least": 0, "most": 2}}},
            "singletons": {"choices": ["keep", "drop"], "default": "keep"},
            "prefer": {"choices": ["newest"]},
            "passages_per_call": {"type": "integer", "least": 1, "most": 100},
            "verify": {"choices": ["checks", "reader", "model", "none"], "default": "checks"},
            "ask_back": {"choices": ["when_vague"]},
            "threshold": {"type": "number", "least": 0, "most": 1},
            "refresh": {"type": "integer", "least": 0, "most": 1000000},
            "batch": {"type": "boolean"},
            "timeout": {"type": "interval", "default": "60s"}
        }'
        when options_of.name in ('explain') then '{
            "detail": {"choices": ["passages", "stages"], "default": "passages"}
        }'
        when options_of.name in ('create_corpus') then '{
            "search_config": {"type": "string", "default": "english"},
            "reader": {"type": "string"},
            "analyst": {"type": "string"},
            "date_key": {"type": "string", "longest": 500},
            "folders": {"type": "array"},
            "passages_per_call": {"type": "integer", "least": 1, "most": 100}
        }'
        when options_of.name in ('alter_corpus') then '{
            "embedding_model": {"type": "string"},
            "graph": {"choices": ["rebuild"]},
            "ambiguity_classifier": {"type": "integer", "least": 1, "most": 2147483647},
            "date_key": {"type": "string", "longest": 500},
            "folders": {"type": "array"},
            "passages_per_call": {"type": "integer", "least": 1, "most": 100}
        }'
        when options_of.name in ('distribute') then '{
            "shards": {"type": "integer", "least": 0, "most": 1000, "default": 8},
            "dry_run": {"type": "boolean", "default": false}
        }'
        when options_of.name in ('attach_table') then '{
            "title": {"type": "string"},
            "uri": {"type": "string"},
            "readers": {"type": "string"},
            "dated": {"type": "string"},
            "author": {"type": "string"},
            "metadata": {"type": "array", "default": []},
            "id_prefix": {"type": "string", "default": ""},
            "dry_run": {"type": "boolean", "default": false}
        }'
        when options_of.name in ('detach_table') then '{
            "documents": {"choices": ["keep", "remove"], "default": "keep"}
        }'
        when options_of.name in ('set_budget') then '{
            "period": {"choices": ["day", "month", "total"]},
            "max_cost_usd": {"type": "number", "least": 0, "most": 1000000000000},
            "max_calls": {"type": "integer", "least": 0, "most": 1000000000000000},
            "role": {"type": "string"},
            "binds_owner": {"type": "boolean"}
        }'
    end;
end
$$;

comment on function pgclarify_private.options_of(text) is
'The options of a public function, in the form of check_options; null if it has none of its own.';

create or replace function pgclarify_private.help_lines()
returns table (
    functions text[], ordinal integer, name text, kind text, type text, default_value text, minimum text, maximum text,
    choices text[], meaning text
)
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
rows 200
begin atomic
    select
        known.functions::text[], known.ordinal, known.name, known.kind, known.type, known.default_value, known.minimum,
        known.maximum, known.choices::text[], known.meaning
    from (
        values
        (
            '{clarify}', 0, 'clarify', 'function', null, null, null, null, null,
            'The readings of a vague question that the corpus answers, each with its answer and the documents that it cites'
        ),
        (
            '{clarify, search, investigate, detect_ambiguity, rewrite, list_answers}', 1, 'question', 'parameter', 'text', null,
            null, null, null, '1 to 10,000 characters'
        ),
        (
            '{clarify, search, investigate, list_answers, estimate}', 2, 'corpus', 'parameter', 'text', null, null, null, null,
            'its name; null means pgclarify.corpus, or the only one'
        ),
        ('{clarify, estimate}', 3, 'top_k', 'parameter', 'integer', '20', '1', '1000', null, 'passages to judge, 1 to 1000'),
        (
            '{clarify}', 4, 'timeout', 'parameter', 'interval', '60s', null, null, null,
            'how long to wait; null waits without limit'
        ),
        (
            '{clarify, neighbors}', 5, 'filter', 'parameter', 'jsonb', null, null, null, null,
            'only documents whose metadata fits, such as {"year": {">=": 2025}}; null means all'
        ),
        (
            '{clarify, neighbors}', 6, 'document_ids', 'parameter', 'text[]', null, null, null, null,
            'only these documents; null means all, an empty array none'
        ),
        (
            '{clarify}', 7, 'history', 'parameter', 'text[]', '{}', null, null, null,
            'earlier turns, oldest first, one element for each turn; a follow-up is first made to stand alone, as rewrite does'
        ),
        (
            '{clarify, search, investigate, list_answers, estimate, clarify_many}', 100, 'method', 'option', 'string', 'hybrid',
            null, null, '{hybrid,dense,lexical}',
            'How the first passages are found; use lexical for exact words and identifiers, dense for meaning.'
        ),
        (
            '{clarify, list_answers, estimate, clarify_many}', 100, 'relax', 'option', 'boolean', 'false', null, null, null,
            'Use true if the right passages are not found: the model first makes the question wider, in one more call, for '
            'which all others wait.'
        ),
        (
            '{clarify, search, estimate, clarify_many}', 100, 'retrieval', 'option', 'string', 'fixed', null, null,
            '{fixed,adaptive}',
            'Use adaptive if the best passages are near others: neighbors of what was found are looked at, too.'
        ),
        (
            '{clarify, estimate, clarify_many}', 100, 'max_passages', 'option', 'integer', null, '1', '1000', null,
            'Most passages that are judged or scored; raise it to find more, lower it to pay less.'
        ),
        (
            '{clarify, estimate, clarify_many}', 100, 'recall', 'option', 'number', null, '0.5', '0.99', null,
            'Reads as few of the top_k passages as keep this share of the answers that your earlier runs found in them, with a '
            'risk of 0.05; all, with a notice, if those are too few.'
        ),
        (
            '{clarify, search, list_answers, estimate, clarify_many}', 100, 'reranker', 'option', 'string', null, null, null,
            null,
            'Scores passages once more, by signal, model, endpoint: and a name, or the name of a CrossEncoder; use it if the '
            'right passages are found, but ranked too low.'
        ),
        (
            '{clarify, consolidate, estimate, clarify_many}', 100, 'consolidation', 'option', 'string', 'default', null, null,
            '{default,conservative,hdbscan}',
            'How readings are grouped; conservative shows only those that are likely right, best first, hdbscan groups by '
            'density.'
        ),
        (
            '{clarify, consolidate, estimate, clarify_many}', 100, 'include', 'option', 'string', null, null, null,
            '{certain,likely,all}',
            'How sure the readings are that come back, of those that were read: all adds the less sure ones, certain leaves '
            'out more. It makes no new run and no call. By default, those that the run shows.'
        ),
        (
            '{clarify, estimate, clarify_many}', 100, 'hdbscan', 'option', 'object', null, null, null, null,
            'Parameters of consolidation hdbscan, as one object: embed, min_cluster_size, min_samples, allow_single_cluster, '
            'cluster_selection_epsilon; help of consolidate explains them.'
        ),
        (
            '{clarify, consolidate, estimate, clarify_many}', 100, 'singletons', 'option', 'string', 'keep', null, null,
            '{keep,drop}', 'Use drop to hide readings that only one document supports.'
        ),
        (
            '{clarify, consolidate, estimate, clarify_many}', 100, 'prefer', 'option', 'string', null, null, null, '{newest}',
            'Use newest to hide readings that ask the same as a newer one, by the dates of documents, and have another answer; '
            'older_hidden counts them.'
        ),
        (
            '{clarify, estimate, clarify_many}', 100, 'passages_per_call', 'option', 'integer', null, '1', '100', null,
            'Most passages that the model reads in one call; by default as many as its trial has shown that it keeps apart. '
            'Use 1 for texts that strangers write, or for the shortest wait.'
        ),
        (
            '{clarify, estimate, clarify_many}', 100, 'verify', 'option', 'string', 'checks', null, null,
            '{checks,reader,model,none}',
            'What must confirm a reading: checks of its words against the passage; use reader for fewer wrong readings of a '
            'small model, model for fewer at more calls, none to require only the quote.'
        ),
        (
            '{clarify, estimate, clarify_many}', 100, 'ask_back', 'option', 'string', null, null, null, '{when_vague}',
            'With when_vague, a clear question is answered in one pass, and only a vague one is clarified.'
        ),
        (
            '{clarify, detect_ambiguity, rewrite, estimate, clarify_many}', 100, 'threshold', 'option', 'number', null, '0',
            '1', null, 'A question is vague if its probability is at least this; raise it to ask back less often.'
        ),
        (
            '{clarify, estimate, clarify_many}', 100, 'refresh', 'option', 'integer', null, '0', '1000000', null,
            'A new number asks the model again, although the answer is paid for.'
        ),
        (
            '{clarify, estimate, clarify_many}', 100, 'batch', 'option', 'boolean', null, null, null, null,
            'Use true with submit or dbt for answers within a day at half the price, if the endpoint has a batch API.'
        ),
        (
            '{consolidate}', 0, 'consolidate', 'function', null, null, null, null, null,
            'Cluster the verdicts of a run again, without a model call'
        ),
        (
            '{consolidate}', 1, 'run_id', 'parameter', 'bigint', null, '1', '9223372036854775807', null,
            'a clarify run that you may see, of a corpus that you may search'
        ),
        (
            '{consolidate}', 100, 'embed', 'option', 'string', null, null, null, '{question_answer,question}',
            'What consolidation hdbscan compares: by default, readings with their answers; question compares readings alone.'
        ),
        (
            '{consolidate}', 100, 'min_cluster_size', 'option', 'integer', null, '2', '1000', null,
            'Fewest readings that hdbscan takes for a group, by default 2.'
        ),
        (
            '{consolidate}', 100, 'min_samples', 'option', 'integer', null, '1', '1000', null,
            'How many readings make a dense place for hdbscan, by default 1; raise it to leave more alone.'
        ),
        (
            '{consolidate}', 100, 'allow_single_cluster', 'option', 'boolean', null, null, null, null,
            'Use true if all readings may mean the same: otherwise hdbscan finds two groups, or none.'
        ),
        (
            '{consolidate}', 100, 'cluster_selection_epsilon', 'option', 'number', null, '0', '2', null,
            'Groups closer than this cosine distance are one for hdbscan, by default 0.'
        ),
        (
            '{consolidate, search, detect_ambiguity, rewrite, reply, estimate}', 100, 'timeout', 'option', 'interval', '60s',
            null, null, null, 'How long to wait; the run goes on afterwards.'
        ),
        ('{search}', 0, 'search', 'function', null, null, null, null, null, 'The passages that fit a question best'),
        ('{search}', 3, 'top_k', 'parameter', 'integer', '10', '1', '1000', null, 'how many, 1 to 1000'),
        (
            '{search, clarifying_questions, estimate}', 4, 'filter', 'parameter', 'jsonb', null, null, null, null,
            'only documents whose metadata fits, such as {"year": {">=": 2025}}; null means all'
        ),
        (
            '{search, clarifying_questions, estimate}', 5, 'document_ids', 'parameter', 'text[]', null, null, null, null,
            'only these documents; null means all, an empty array none'
        ),
        (
            '{search}', 100, 'max_passages', 'option', 'integer', null, '1', '1000', null,
            'Most passages that are scored again, by default 100, or top_k if that is more.'
        ),
        (
            '{investigate}', 0, 'investigate', 'function', null, null, null, null, null,
            'One answer to a question that may take several steps, each with its citations'
        ),
        (
            '{investigate, list_answers}', 3, 'filter', 'parameter', 'jsonb', null, null, null, null,
            'only documents whose metadata fits, such as {"year": {">=": 2025}}; null means all'
        ),
        (
            '{investigate, list_answers}', 4, 'document_ids', 'parameter', 'text[]', null, null, null, null,
            'only these documents; null means all, an empty array none'
        ),
        (
            '{investigate}', 100, 'retrieval', 'option', 'string', 'adaptive', null, null, '{adaptive,fixed}',
            'Use adaptive if the best passages are near others: neighbors of what was found are looked at, too.'
        ),
        (
            '{investigate}', 100, 'reranker', 'option', 'string', 'signal', null, null, null,
            'Scores passages once more, by signal, model, endpoint: and a name, or the name of a CrossEncoder; use it if the '
            'right passages are found, but ranked too low.'
        ),
        (
            '{investigate}', 100, 'top_k', 'option', 'integer', '10', '1', '100', null,
            'How many passages are read; raise it to miss less, lower it to pay less.'
        ),
        (
            '{investigate}', 100, 'max_passages', 'option', 'integer', null, '1', '1000', null,
            'Most passages that are scored for each step: by default 100 with a CrossEncoder or a reranker behind an endpoint, '
            'else 32; raise it to find more, lower it to pay less.'
        ),
        (
            '{investigate}', 100, 'max_steps', 'option', 'integer', '4', '0', '20', null,
            'Most sub-questions of an investigation; 0 or 1 does not split the question.'
        ),
        (
            '{investigate}', 100, 'max_calls', 'option', 'integer', null, '4', '10000', null,
            'Most calls of the model: by default enough for all steps and samples, but not for a model that also reranks or '
            'compares answers; raise it if runs end early.'
        ),
        (
            '{investigate}', 100, 'entailment', 'option', 'string', 'embedding', null, null, null,
            'How sampled answers are compared, if the default joins different ones; none samples none, for fewer calls.'
        ),
        (
            '{investigate}', 100, 'samples', 'option', 'integer', '5', '2', '20', null,
            'How many answers are sampled from each batch of 16 passages; raise it for a finer confidence.'
        ),
        (
            '{investigate}', 100, 'meta', 'option', 'boolean', 'false', null, null, null,
            'Use true for one more call, which reads all steps with their best evidence; its answer counts if quotes prove it.'
        ),
        (
            '{investigate, clarifying_questions, list_answers}', 100, 'timeout', 'option', 'interval', '5min', null, null, null,
            'How long to wait; the run goes on afterwards.'
        ),
        (
            '{detect_ambiguity}', 0, 'detect_ambiguity', 'function', null, null, null, null, null,
            'Whether a question is ambiguous, and why'
        ),
        (
            '{detect_ambiguity}', 2, 'history', 'parameter', 'text[]', '{}', null, null, null,
            'earlier turns, oldest first, one element for each turn'
        ),
        (
            '{detect_ambiguity, rewrite}', 100, 'corpus', 'option', 'string', null, null, null, null,
            'Corpus whose rules, classifier and readings count.'
        ),
        (
            '{rewrite}', 0, 'rewrite', 'function', null, null, null, null, null,
            'Rewrite a question of a conversation so that it stands alone'
        ),
        (
            '{rewrite}', 2, 'history', 'parameter', 'text[]', '{}', null, null, null,
            'earlier turns, oldest first, one element for each turn; the last ten count'
        ),
        (
            '{clarifying_questions}', 0, 'clarifying_questions', 'function', null, null, null, null, null,
            'What to ask back about a vague question, for reply'
        ),
        (
            '{clarifying_questions}', 1, 'question', 'parameter', 'text', null, null, null, null,
            '1 to 10,000 characters; null with option reply, which has its own question'
        ),
        (
            '{clarifying_questions}', 2, 'corpus', 'parameter', 'text', null, null, null, null,
            'its name; null means no corpus for questions to respond to and with check none, else pgclarify.corpus, or the '
            'only one; null with option reply'
        ),
        (
            '{clarifying_questions}', 3, 'history', 'parameter', 'text[]', '{}', null, null, null,
            'earlier turns, oldest first; empty with option reply'
        ),
        (
            '{clarifying_questions}', 100, 'form', 'option', 'string', null, null, null, '{split,respond,select}',
            'Use select for reformulations to choose from, respond for questions of the model: by default split, where you '
            'asked clarify of this corpus before and it found two readings or more, else respond.'
        ),
        (
            '{clarifying_questions}', 100, 'count', 'option', 'integer', null, '1', '10', null,
            'How many questions or reformulations are proposed: by default 1 to respond to, 5 to select from.'
        ),
        (
            '{clarifying_questions}', 100, 'check', 'option', 'string', null, null, null, '{drop,mark,none}',
            'Use mark to keep reformulations that no document answers, none to skip the check.'
        ),
        (
            '{clarifying_questions}', 100, 'method', 'option', 'string', null, null, null, '{hybrid,dense,lexical}',
            'How the first passages are found; use lexical for exact words and identifiers, dense for meaning.'
        ),
        (
            '{clarifying_questions}', 100, 'top_k', 'option', 'integer', null, '1', '20', null,
            'Passages judged for each reformulation, by default 4; raise it to miss less.'
        ),
        (
            '{clarifying_questions}', 100, 'reply', 'option', 'integer', null, '1', '9223372036854775807', null,
            'Run of a reply, to ask back once more about the question that it made.'
        ),
        ('{reply}', 0, 'reply', 'function', null, null, null, null, null, 'Reply to clarifying questions'),
        (
            '{reply}', 1, 'run_id', 'parameter', 'bigint', null, '1', '9223372036854775807', null,
            'a run of clarifying_questions'
        ),
        ('{reply}', 2, 'reply', 'parameter', 'text', null, null, null, null, '1 to 10,000 characters'),
        (
            '{reply}', 3, 'ordinal', 'parameter', 'integer', null, '1', '10', null,
            'the place of the chosen reformulation, instead of a reply'
        ),
        (
            '{list_answers}', 0, 'list_answers', 'function', null, null, null, null, null,
            'The answers of a question that has several, each one once, with quotes'
        ),
        (
            '{list_answers}', 100, 'top_k', 'option', 'integer', '20', '1', '100', null,
            'How many passages are read; raise it to miss less, lower it to pay less.'
        ),
        (
            '{list_answers}', 100, 'max_answers', 'option', 'integer', '10', '1', '50', null,
            'Most answers; raise it if the list ends with stop_code limit.'
        ),
        (
            '{estimate}', 0, 'estimate', 'function', null, null, null, null, null,
            'What clarify, clarify_many or submit_many of these questions would ask of the language model, which is not called'
        ),
        ('{estimate}', 1, 'questions', 'parameter', 'text[]', null, null, null, null, 'each 1 to 10,000 characters'),
        ('{clarify_many}', 0, 'clarify_many', 'function', null, null, null, null, null, 'clarify for many questions at once'),
        ('{clarify_many}', 1, 'questions', 'parameter', 'text[]', null, null, null, null, 'the questions'),
        (
            '{clarify_many}', 2, 'keys', 'parameter', 'text[]', null, null, null, null,
            'your own key of each, returned with its answer'
        ),
        ('{clarify_many, submit_many}', 3, 'corpus', 'parameter', 'text', null, null, null, null, null),
        ('{clarify_many}', 4, 'top_k', 'parameter', 'integer', '20', '1', '1000', null, null),
        (
            '{clarify_many}', 5, 'timeout', 'parameter', 'interval', null, null, null, null,
            'for all together; null waits without limit'
        ),
        (
            '{clarify_many}', 6, 'filter', 'parameter', 'jsonb', null, null, null, null,
            'only documents whose metadata fits, such as {"year": {">=": 2025}}; null means all'
        ),
        (
            '{clarify_many}', 7, 'document_ids', 'parameter', 'text[]', null, null, null, null,
            'only these documents; null means all, an empty array none'
        ),
        (
            '{clarify_many}', 8, 'filters', 'parameter', 'jsonb[]', null, null, null, null,
            'instead of filter, one for each question, null for none; equal questions with equal filters are asked once'
        ),
        (
            '{clarify_many}', 9, 'history', 'parameter', 'text[]', '{}', null, null, null,
            'earlier turns, oldest first, one element for each turn; a follow-up is first made to stand alone, as rewrite does'
        ),
        (
            '{neighbors}', 0, 'neighbors', 'function', null, null, null, null, null,
            'The passages nearest to a passage, nearest first, of those that you may read'
        ),
        (
            '{neighbors, get_document}', 1, 'corpus', 'parameter', 'text', null, null, null, null,
            'its name; null means pgclarify.corpus, or the only one'
        ),
        ('{neighbors}', 2, 'document_id', 'parameter', 'text', null, null, null, null, 'its document'),
        (
            '{neighbors}', 3, 'passage_id', 'parameter', 'bigint', null, null, null, null,
            'the passage; error 42704 if you may not read it'
        ),
        (
            '{neighbors}', 4, 'k', 'parameter', 'integer', '10', null, null, null,
            'how many, 1 to 1000; a corpus keeps graph_degree of them (16), and passages that you may not read do not count'
        ),
        ('{submit}', 0, 'submit', 'function', null, null, null, null, null, 'Start an operation without waiting'),
        (
            '{submit}', 1, 'operation', 'parameter', 'text', null, null, null, null,
            'clarify, consolidate, search, investigate, detect_ambiguity, rewrite, clarifying_questions, reply, list_answers '
            'or estimate'
        ),
        ('{submit}', 2, 'question', 'parameter', 'text', null, null, null, null, 'for the operations that have one'),
        (
            '{submit}', 3, 'corpus', 'parameter', 'text', null, null, null, null,
            'its name; null means pgclarify.corpus, or the only one'
        ),
        ('{submit_many}', 0, 'submit_many', 'function', null, null, null, null, null, 'Ask many questions without waiting'),
        ('{submit_many}', 1, 'operation', 'parameter', 'text', null, null, null, null, null),
        ('{submit_many}', 2, 'questions', 'parameter', 'text[]', null, null, null, null, null),
        (
            '{wait}', 0, 'wait', 'function', null, null, null, null, null,
            'Wait until the runs are over or the timeout has passed, and return the state of each'
        ),
        ('{wait}', 1, 'run_ids', 'parameter', 'bigint[]', null, null, null, null, 'from submit, committed'),
        ('{wait}', 2, 'timeout', 'parameter', 'interval', '60s', null, null, null, 'null means no limit'),
        ('{result}', 0, 'result', 'function', null, null, null, null, null, 'The readings that a run found'),
        (
            '{result}', 1, 'run_id', 'parameter', 'bigint', null, null, null, null,
            'from submit, or any clarification that you may see'
        ),
        (
            '{result}', 2, 'include', 'parameter', 'text', null, null, null, null,
            'certain, likely or all: how sure the readings are, of those that were read; by default those that the run shows'
        ),
        (
            '{cancel}', 0, 'cancel', 'function', null, null, null, null, null,
            'Cancel runs, and return how many were not over already'
        ),
        ('{cancel}', 1, 'run_ids', 'parameter', 'bigint[]', null, null, null, null, 'yours, from submit'),
        (
            '{explain}', 0, 'explain', 'function', null, null, null, null, null,
            'What a run did, one line in each row, as a tree'
        ),
        (
            '{explain}', 1, 'run_id', 'parameter', 'bigint', null, null, null, null,
            'any run that you may see, even if it is not over'
        ),
        (
            '{explain}', 100, 'detail', 'option', 'string', 'passages', null, null, '{passages,stages}',
            'How much is shown; stages is the shortest.'
        ),
        ('{help}', 0, 'help', 'function', null, null, null, null, null, 'The functions, or the parameters and options of one'),
        (
            '{help}', 1, 'topic', 'parameter', 'text', null, null, null, null,
            'name of a function; null lists all, with one sentence each'
        ),
        (
            '{give_feedback}', 0, 'give_feedback', 'function', null, null, null, null, null,
            'Rate a reading of a run, or, without an ordinal, say that the right answer is missing'
        ),
        (
            '{give_feedback}', 1, 'run_id', 'parameter', 'bigint', null, null, null, null,
            'a run of clarify or consolidate that is over and that you may see'
        ),
        ('{give_feedback}', 2, 'ordinal', 'parameter', 'integer', null, null, null, null, 'the reading; null: what is missing'),
        (
            '{give_feedback}', 3, 'rating', 'parameter', 'text', null, null, null, null,
            'right (its answer is right), wrong (its answer is wrong) or useless (it is not wrong, but no help); null removes '
            'it'
        ),
        ('{give_feedback}', 4, 'comment', 'parameter', 'text', null, null, null, null, 'why, in at most 10,000 characters'),
        (
            '{give_feedback}', 5, 'person', 'parameter', 'text', null, null, null, null,
            'who says so, if several people share your role, in at most 200 characters; it is not checked'
        ),
        (
            '{give_feedback}', 6, 'missing', 'parameter', 'text', null, null, null, null,
            'without an ordinal: the right answer, which no reading has, in 1 to 10,000 characters; null removes it'
        ),
        ('{create_corpus}', 0, 'create_corpus', 'function', null, null, null, null, null, 'Create a corpus and return its id'),
        ('{create_corpus}', 1, 'name', 'parameter', 'text', null, null, null, null, '1 to 200 visible characters, unique'),
        (
            '{create_corpus}', 2, 'embedding_model', 'parameter', 'text', 'all-MiniLM-L6-v2', null, null, null,
            'a sentence-transformers name or a path that the workers can load; or "endpoint:" and the name of a model behind '
            'their endpoint, such as endpoint:text-embedding-3-small'
        ),
        (
            '{create_corpus}', 100, 'search_config', 'option', 'string', 'english', null, null, null,
            'Text search configuration for the language of the documents; simple if PostgreSQL has none for it.'
        ),
        (
            '{create_corpus}', 100, 'reader', 'option', 'string', null, null, null, null,
            'Role that may search the corpus; without it only its owner; pgclarify_user for all who may ask.'
        ),
        (
            '{create_corpus}', 100, 'analyst', 'option', 'string', null, null, null, null,
            'Role that sees all runs on the corpus.'
        ),
        (
            '{create_corpus}', 100, 'date_key', 'option', 'string', null, null, null, null,
            'Key of metadata with the date of each document that is added without one, such as published: an ISO date, with or '
            'without a time; or id, for the first date in its id, such as minutes/2026-04-30.md.'
        ),
        (
            '{create_corpus}', 100, 'folders', 'option', 'array', null, null, null, null,
            'Metadata of documents by the folders in their ids: texts such as "archive: status=historical". Keys that a '
            'document has itself stay.'
        ),
        (
            '{create_corpus}', 100, 'passages_per_call', 'option', 'integer', null, '1', '100', null,
            'Most passages of this corpus that a model reads in one call, even if a question asks for more; use 1 if strangers '
            'write its texts.'
        ),
        ('{alter_corpus}', 0, 'alter_corpus', 'function', null, null, null, null, null, 'Change a corpus'),
        ('{alter_corpus}', 1, 'name', 'parameter', 'text', null, null, null, null, 'a corpus that you own'),
        (
            '{alter_corpus}', 100, 'embedding_model', 'option', 'string', null, null, null, null,
            'Another model; the corpus is searched with the present one until all passages are embedded. The present name or '
            'null ends such a change.'
        ),
        (
            '{alter_corpus}', 100, 'graph', 'option', 'string', null, null, null, '{rebuild}',
            'Use rebuild to find the neighbors of all passages anew.'
        ),
        (
            '{alter_corpus}', 100, 'ambiguity_classifier', 'option', 'integer', null, '1', '2147483647', null,
            'Version that eval train-ambiguity has made; null: the shipped classifier.'
        ),
        (
            '{alter_corpus}', 100, 'date_key', 'option', 'string', null, null, null, null,
            'Key of metadata with the date of each document that is added without one, such as published: an ISO date, with or '
            'without a time; or id, for the first date in its id, such as minutes/2026-04-30.md. Documents that have their '
            'date from the former key, or none, get that of the new one, and null takes it away.'
        ),
        (
            '{alter_corpus}', 100, 'folders', 'option', 'array', null, null, null, null,
            'Metadata of documents by the folders in their ids: texts such as "archive: status=historical". Keys that a '
            'document has itself stay. They hold for documents that are added or loaded from then on; null ends them.'
        ),
        (
            '{alter_corpus}', 100, 'passages_per_call', 'option', 'integer', null, '1', '100', null,
            'Most passages of this corpus that a model reads in one call, even if a question asks for more; use 1 if strangers '
            'write its texts. Null sets no limit.'
        ),
        (
            '{drop_corpus}', 0, 'drop_corpus', 'function', null, null, null, null, null,
            'Drop a corpus with its documents and vectors, and return its id'
        ),
        ('{drop_corpus}', 1, 'name', 'parameter', 'text', null, null, null, null, 'of a corpus that you own'),
        ('{distribute}', 0, 'distribute', 'function', null, null, null, null, null, 'Experimental'),
        (
            '{distribute, add_document, attach_table, resync, detach_table}', 1, 'corpus', 'parameter', 'text', null, null,
            null, null, 'name of one that you own'
        ),
        (
            '{distribute}', 100, 'shards', 'option', 'integer', '8', '0', '1000', null,
            'How many parts the passages are distributed to, some per node; 0 brings them back to this server.'
        ),
        (
            '{distribute}', 100, 'dry_run', 'option', 'boolean', 'false', null, null, null,
            'Use true to see what would be done, and change nothing.'
        ),
        (
            '{grant_access}', 0, 'grant_access', 'function', null, null, null, null, null,
            'Let a role search a corpus, or see all runs on it'
        ),
        ('{grant_access, revoke_access}', 1, 'corpus', 'parameter', 'text', null, null, null, null, 'one that you own'),
        (
            '{grant_access}', 2, 'role', 'parameter', 'name', null, null, null, null,
            'a login role or a group; pgclarify_user opens the corpus to every role that may ask, and pgclarify_reader also to '
            'those that may only read'
        ),
        (
            '{grant_access}', 3, 'access', 'parameter', 'text', 'reader', null, null, null,
            'reader (may read documents of this corpus, and ask it as a member of pgclarify_user) or analyst (sees all runs on '
            'it)'
        ),
        (
            '{grant_access}', 4, 'filter', 'parameter', 'jsonb', null, null, null, null,
            'for a reader: it finds and sees only documents whose metadata fit, such as {"tenant": "acme"}; null means all'
        ),
        ('{revoke_access}', 0, 'revoke_access', 'function', null, null, null, null, null, 'Take back what grant_access gave'),
        (
            '{revoke_access}', 2, 'role', 'parameter', 'name', null, null, null, null,
            'the name that was granted, even if there is no such role any more'
        ),
        ('{revoke_access}', 3, 'access', 'parameter', 'text', 'reader', null, null, null, 'reader or analyst'),
        (
            '{add_document}', 0, 'add_document', 'function', null, null, null, null, null,
            'Add a document, or replace its content'
        ),
        (
            '{add_document}', 2, 'document_id', 'parameter', 'text', null, null, null, null,
            'your own id, 1 to 1000 characters in at most 2600 bytes; citations return it'
        ),
        (
            '{add_document}', 3, 'content', 'parameter', 'text', null, null, null, null,
            'plain text or Markdown, whose headings are kept with each passage, at most 10,000,000 characters'
        ),
        (
            '{add_document}', 4, 'title', 'parameter', 'text', null, null, null, null,
            'shown with citations, and searched; its first 1,000 characters are kept'
        ),
        (
            '{add_document}', 5, 'uri', 'parameter', 'text', null, null, null, null,
            'address of the original, for people, at most 10,000 characters'
        ),
        (
            '{add_document}', 6, 'metadata', 'parameter', 'jsonb', '{}', null, null, null,
            'any JSON object of at most 1,000,000 bytes'
        ),
        (
            '{add_document}', 7, 'readers', 'parameter', 'name[]', null, null, null, null,
            'at most 1,000 roles that may read it; null means every reader of the corpus'
        ),
        (
            '{add_document}', 8, 'dated', 'parameter', 'timestamptz', null, null, null, null,
            'when it was written or published, shown with citations; null takes it from the metadata, if the corpus has a '
            'date_key'
        ),
        (
            '{add_document}', 9, 'author', 'parameter', 'text', null, null, null, null,
            'who wrote it, shown with the document; its first 1,000 characters are kept'
        ),
        (
            '{get_document}', 0, 'get_document', 'function', null, null, null, null, null,
            'The row of view document with this id'
        ),
        ('{get_document}', 2, 'document_id', 'parameter', 'text', null, null, null, null, 'the id of the document'),
        ('{remove_document}', 0, 'remove_document', 'function', null, null, null, null, null, 'Remove a document at once'),
        ('{remove_document}', 1, 'corpus', 'parameter', 'text', null, null, null, null, 'its name'),
        ('{remove_document, erase_document}', 2, 'document_id', 'parameter', 'text', null, null, null, null, 'as it was added'),
        (
            '{erase_document}', 0, 'erase_document', 'function', null, null, null, null, null,
            'Remove a document and erase all text that comes from it, even if it was removed before'
        ),
        ('{erase_document}', 1, 'corpus', 'parameter', 'text', null, null, null, null, 'its name; you own it'),
        (
            '{attach_table}', 0, 'attach_table', 'function', null, null, null, null, null,
            'Make the rows of a table documents of a corpus, and keep them up to date'
        ),
        (
            '{attach_table}', 2, 'relation', 'parameter', 'regclass', null, null, null, null,
            'the table, which you must own, too'
        ),
        (
            '{attach_table}', 3, 'id_column', 'parameter', 'text', null, null, null, null,
            'smallint, integer, bigint, uuid, text or varchar, with a unique index'
        ),
        ('{attach_table}', 4, 'content_column', 'parameter', 'text', null, null, null, null, 'text or varchar'),
        ('{attach_table}', 100, 'title', 'option', 'string', null, null, null, null, 'Column with the title.'),
        ('{attach_table}', 100, 'uri', 'option', 'string', null, null, null, null, 'Column with the address.'),
        (
            '{attach_table}', 100, 'readers', 'option', 'string', null, null, null, null,
            'Column with the roles that may read the document: an array.'
        ),
        ('{attach_table}', 100, 'dated', 'option', 'string', null, null, null, null, 'Column with the date of the document.'),
        ('{attach_table}', 100, 'author', 'option', 'string', null, null, null, null, 'Column with the author.'),
        (
            '{attach_table}', 100, 'metadata', 'option', 'array', '[]', null, null, null,
            'Columns that are kept as metadata: a name, or an array of names.'
        ),
        (
            '{attach_table}', 100, 'id_prefix', 'option', 'string', '', null, null, null,
            'Text before each id, if ids of several tables would be equal.'
        ),
        (
            '{attach_table}', 100, 'dry_run', 'option', 'boolean', 'false', null, null, null,
            'Use true to read no row and change nothing, but report the steps and the problems.'
        ),
        (
            '{resync}', 0, 'resync', 'function', null, null, null, null, null,
            'Compare all rows of an attached table with its documents again, and correct the differences'
        ),
        ('{resync}', 2, 'relation', 'parameter', 'regclass', null, null, null, null, 'the table'),
        ('{detach_table}', 0, 'detach_table', 'function', null, null, null, null, null, 'Stop following a table'),
        (
            '{detach_table}', 2, 'relation', 'parameter', 'regclass', null, null, null, null,
            'the table; for a dropped one, its number from source_status.relation_oid: detach_table(''kb'', 16421)'
        ),
        (
            '{detach_table}', 100, 'documents', 'option', 'string', 'keep', null, null, '{keep,remove}',
            'Use remove to remove the documents of the table, too, in the background.'
        ),
        (
            '{add_ambiguity_rule}', 0, 'add_ambiguity_rule', 'function', null, null, null, null, null,
            'Add a rule of ambiguity, or change kind and note of the rule with that pattern'
        ),
        (
            '{add_ambiguity_rule}', 1, 'pattern', 'parameter', 'text', null, null, null, null,
            'regular expression (advanced, any case of letters) of 1 to 500 characters, found anywhere in a question'
        ),
        ('{add_ambiguity_rule}', 2, 'kind', 'parameter', 'text', null, null, null, null, 'pragmatic, syntactic or lexical'),
        (
            '{add_ambiguity_rule}', 3, 'corpus', 'parameter', 'text', null, null, null, null,
            'one that you own; null is all questions, for members of pgclarify_owner'
        ),
        ('{add_ambiguity_rule}', 4, 'note', 'parameter', 'text', null, null, null, null, 'why, in 1 to 500 characters'),
        (
            '{remove_ambiguity_rule}', 0, 'remove_ambiguity_rule', 'function', null, null, null, null, null,
            'Remove a rule of ambiguity'
        ),
        ('{remove_ambiguity_rule}', 1, 'pattern', 'parameter', 'text', null, null, null, null, 'its pattern, as it was given'),
        ('{remove_ambiguity_rule}', 2, 'corpus', 'parameter', 'text', null, null, null, null, 'as in add_ambiguity_rule'),
        (
            '{set_budget}', 0, 'set_budget', 'function', null, null, null, null, null,
            'Create a budget, or change the one of that name'
        ),
        ('{set_budget}', 1, 'name', 'parameter', 'text', null, null, null, null, '1 to 100 characters'),
        (
            '{set_budget}', 2, 'corpus', 'parameter', 'text', null, null, null, null,
            'one that you own; null is all corpora, for members of pgclarify_owner'
        ),
        (
            '{set_budget}', 100, 'period', 'option', 'string', null, null, null, '{day,month,total}',
            'Time after which the budget starts anew.'
        ),
        (
            '{set_budget}', 100, 'max_cost_usd', 'option', 'number', null, '0', '1000000000000', null,
            'Most US dollars in the period; null: no such limit.'
        ),
        (
            '{set_budget}', 100, 'max_calls', 'option', 'integer', null, '0', '1000000000000000', null,
            'Most calls of the model in the period; null: no such limit.'
        ),
        (
            '{set_budget}', 100, 'role', 'option', 'string', null, null, null, null,
            'Role that the budget is for, with its members; null: everyone.'
        ),
        (
            '{set_budget}', 100, 'binds_owner', 'option', 'boolean', null, null, null, null,
            'Whether the budget also binds members of pgclarify_owner.'
        ),
        ('{remove_budget}', 0, 'remove_budget', 'function', null, null, null, null, null, 'Remove a budget'),
        ('{remove_budget}', 1, 'name', 'parameter', 'text', null, null, null, null, 'name of the budget'),
        ('{remove_budget}', 2, 'corpus', 'parameter', 'text', null, null, null, null, 'as in set_budget')
    ) as known (
        functions, ordinal, name, kind, type, default_value, minimum, maximum, choices, meaning
    );
end;

comment on function pgclarify_private.help_lines() is
'The lines of help: each function, with its first sentence; its parameters; and its options. functions: those that have the '
'line. ordinal, and then name: place of the line in the help of a function.';
