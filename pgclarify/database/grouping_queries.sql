-- name: group_questions
-- Put finished runs into groups of questions with the same meaning.
select
    grouped, wanted_run_ids, wanted_questions, wanted_models
from pgclarify_private.group_questions(
    %(most)s, %(run_ids)s::bigint[], %(vectors)s::text[], %(skipped_models)s::text[]
);

-- name: count_served
-- Count answers that were served from earlier runs.
select pgclarify_private.count_served(%(most)s) as answers;

-- name: prune_question_groups
-- Delete groups of questions without runs.
select
    pruned, seen
from pgclarify_private.prune_question_groups(%(after)s, %(most)s);
